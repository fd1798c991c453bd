package rope

import "slices"

// Replace returns the text with the bytes from start to end replaced by s.
// Offsets are clamped to the text, swapped if they are in the wrong order, and
// moved down to the start of the character they stand in. Bytes of s that are
// not UTF-8 become U+FFFD.
func (t Text) Replace(start, end int, s string) Text {
	if start > end {
		start, end = end, start
	}
	start, end = t.Align(start), t.Align(end)
	s = Valid(s)
	if start == end && s == "" {
		return t
	}
	if t.root == nil {
		return New(s)
	}
	list := t.root.replace(nil, start, end, s)
	if len(list) == 0 {
		return Text{}
	}
	root := grow(list)
	for len(root.kids) == 1 {
		root = root.kids[0]
	}
	return Text{root}
}

// replace appends to out the nodes, of the height of n, that take the place of
// n: none if nothing is left, several if n has become too big for one.
func (n *node) replace(out []*node, start, end int, s string) []*node {
	if n.kids == nil {
		return n.replaceLeaf(out, start, end, s)
	}
	i, off := 0, 0
	for i < len(n.kids)-1 && start > off+n.kids[i].sum.Bytes {
		off += n.kids[i].sum.Bytes
		i++
	}
	j, joff := i, off
	for end > joff+n.kids[j].sum.Bytes {
		joff += n.kids[j].sum.Bytes
		j++
	}
	kids := make([]*node, i, len(n.kids)+1)
	copy(kids, n.kids)
	if i == j {
		kids = n.kids[i].replace(kids, start-off, end-off, s)
	} else {
		kids = n.kids[i].replace(kids, start-off, n.kids[i].sum.Bytes, s)
		kids = n.kids[j].replace(kids, 0, end-joff, "")
	}
	last := len(kids)
	kids = mend(append(kids, n.kids[j+1:]...), i, last)
	if len(kids) == 0 || len(kids) > maxKids {
		return group(out, kids)
	}
	// The usual case: as many children, nearly all of them the same. Only those
	// around the place that changed are added up again.
	from, behind := max(i-1, 0), max(len(n.kids)-j-2, 0)
	sum := n.sum.less(total(n.kids[from : len(n.kids)-behind]))
	fresh := total(kids[from : len(kids)-behind])
	sum.Bytes += fresh.Bytes
	sum.UTF16 += fresh.UTF16
	sum.Runes += fresh.Runes
	sum.Breaks += fresh.Breaks
	sum.firstLF, sum.lastCR = kids[0].sum.firstLF, kids[len(kids)-1].sum.lastCR
	return append(out, &node{kids: kids, sum: sum})
}

func (n *node) replaceLeaf(out []*node, start, end int, s string) []*node {
	head, tail := n.text[:start], n.text[end:]
	switch size := len(head) + len(s) + len(tail); {
	case size == 0:
		return out
	case size <= maxLeaf:
		return append(out, leaf(head+s+tail))
	case len(s) <= 2*maxLeaf:
		return leaves(out, head+s+tail)
	}
	// A big insertion keeps its own memory: only the ends are new leaves.
	for _, part := range [...]string{head, s, tail} {
		out = leaves(out, part)
	}
	return out
}

// mend joins small neighbours around kids[from:to], the part that is new, so
// that deleting does not leave a tree of crumbs.
func mend(kids []*node, from, to int) []*node {
	from = max(from-1, 0)
	for i := min(to, len(kids)-1) - 1; i >= from; i-- {
		a, b := kids[i], kids[i+1]
		switch {
		case a.kids == nil && a.sum.Bytes+b.sum.Bytes <= maxLeaf/2:
			kids[i] = leaf(a.text + b.text)
		case a.kids != nil && len(a.kids)+len(b.kids) <= maxKids/2:
			kids[i] = inner(slices.Concat(a.kids, b.kids))
		default:
			continue
		}
		kids = slices.Delete(kids, i+1, i+2)
	}
	return kids
}

// leaves appends s, in pieces of about equal size that end between characters.
func leaves(out []*node, s string) []*node {
	if len(s) == 0 {
		return out
	}
	const aim = maxLeaf - 8 // a cut moved out of a character makes the rest longer
	n := (len(s) + aim - 1) / aim
	if len(s) <= maxLeaf {
		n = 1
	}
	for ; n > 1; n-- {
		cut := len(s) / n
		for cut > 0 && !boundary(s, cut) {
			cut--
		}
		out = append(out, leaf(s[:cut]))
		s = s[cut:]
	}
	return append(out, leaf(s))
}

// boundary reports whether s can be cut at i: not inside a character, and, as a
// matter of tidiness, not inside CR LF.
func boundary(s string, i int) bool {
	return s[i]&0xc0 != 0x80 && !(s[i] == '\n' && s[i-1] == '\r')
}

func leaf(s string) *node { return &node{sum: measure(s), text: s} }

func inner(kids []*node) *node { return &node{kids: kids, sum: total(kids)} }

func total(kids []*node) (sum Sum) {
	for _, k := range kids {
		sum = sum.add(k.sum)
	}
	return sum
}

// group appends inner nodes for the kids, about equally full.
func group(out, kids []*node) []*node {
	if len(kids) == 0 {
		return out
	}
	for n := (len(kids) + maxKids - 1) / maxKids; n > 1; n-- {
		cut := len(kids) / n
		out = append(out, inner(kids[:cut:cut]))
		kids = kids[cut:]
	}
	return append(out, inner(kids))
}

// grow puts levels on top of the nodes until there is one.
func grow(list []*node) *node {
	for len(list) > 1 {
		list = group(nil, list)
	}
	return list[0]
}
