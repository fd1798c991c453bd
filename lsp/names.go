package lsp

import (
	"hash/maphash"
	"math/bits"
	"slices"
)

// names maps the names of open documents to their places in a snapshot. It is a hash trie whose nodes never change: another name copies the few of
// them that lead to it and shares all others, so that opening the ten-thousandth document costs about what opening the tenth does, and every
// snapshot keeps the names that it had. The nil *names is empty.
type names struct {
	has  uint32 // which of 32 ways there are, by five bits of the hash
	subs []fork // one for each bit of has
}

// fork is where a way leads: to more forks or to a name.
type fork struct {
	on   *names
	leaf *name
}

// name is a name with its place. next has those whose hash is the same.
type name struct {
	hash  uint64
	text  string
	place int
	next  *name
}

// nameSeed keeps clients from choosing names that collide.
var nameSeed = maphash.MakeSeed()

func hashName(text string) uint64 { return maphash.String(nameSeed, text) }

const nameBits = 5

// pick returns the bit of the way that a hash takes, shifted as the level wants it, and where in subs it stands.
func (n *names) pick(hash uint64) (bit uint32, i int) {
	bit = 1 << (hash & (1<<nameBits - 1))
	return bit, bits.OnesCount32(n.has & (bit - 1))
}

func (n *names) find(hash uint64, text string) (place int, ok bool) {
	for h := hash; n != nil; h >>= nameBits {
		bit, i := n.pick(h)
		if n.has&bit == 0 {
			return 0, false
		}
		w := n.subs[i]
		for l := w.leaf; l != nil; l = l.next {
			if l.text == text {
				return l.place, true
			}
		}
		n = w.on
	}
	return 0, false
}

// with returns the names with one more, or with another place for one of them. shift is 0 but for its own use.
func (n *names) with(l *name, shift uint) *names {
	if n == nil {
		n = &names{}
	}
	bit, i := n.pick(l.hash >> shift)
	if n.has&bit == 0 {
		return &names{n.has | bit, slices.Insert(slices.Clip(n.subs), i, fork{leaf: l})}
	}
	next := &names{n.has, slices.Clone(n.subs)}
	switch w := &next.subs[i]; {
	case w.on != nil:
		w.on = w.on.with(l, shift+nameBits)
	case w.leaf.hash == l.hash:
		w.leaf = &name{l.hash, l.text, l.place, w.leaf.without(l.text)}
	default: // they part further down
		var on *names
		*w = fork{on: on.with(w.leaf, shift+nameBits).with(l, shift+nameBits)}
	}
	return next
}

// without returns the names without one.
func (n *names) without(hash uint64, text string, shift uint) *names {
	if n == nil {
		return nil
	}
	bit, i := n.pick(hash >> shift)
	if n.has&bit == 0 {
		return n
	}
	w := n.subs[i]
	if w.on != nil {
		w.on = w.on.without(hash, text, shift+nameBits)
	} else {
		w.leaf = w.leaf.without(text)
	}
	if w != (fork{}) {
		next := &names{n.has, slices.Clone(n.subs)}
		next.subs[i] = w
		return next
	}
	if len(n.subs) == 1 {
		return nil
	}
	return &names{n.has &^ bit, slices.Concat(n.subs[:i], n.subs[i+1:])}
}

// without copies what comes before the one that is left out.
func (l *name) without(text string) *name {
	switch {
	case l == nil:
		return nil
	case l.text == text:
		return l.next
	}
	return &name{l.hash, l.text, l.place, l.next.without(text)}
}
