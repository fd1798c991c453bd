package lsp

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/tandem-rpc/tandem/lsp/internal/rope"
)

// document is one with a text of no interest.
func document(u string) *Document {
	return newDocument(uriOf(u), KeyOf(uriOf(u)), "x", 1, "text", rope.UTF16)
}

// Documents are opened in several spellings, changed and closed in a random order; snapshots agree with a list, and old ones stay as they were.
func TestSnapshotModel(t *testing.T) {
	random := newRandom(7)
	spellings := []string{"file:///c%%3A/%d.md", "file:///C:/%d.md", "file:///c:/%d.md", "untitled:%d", "odd:%%zz%d"}
	type state struct {
		snap *Snapshot
		docs []*Document
	}
	check := func(step int, st state) {
		t.Helper()
		if got := slices.Collect(st.snap.Documents()); !slices.Equal(got, st.docs) || st.snap.Len() != len(st.docs) {
			t.Fatalf("step %d: %d documents of %d, Len is %d", step, len(got), len(st.docs), st.snap.Len())
		}
	}
	now := state{snap: &Snapshot{}}
	var old []state
	for step := range 6000 {
		// In the beginning most are opened, then most are closed.
		n, closing := random(600), random(10) < 2+step/1000
		u := fmt.Sprintf(spellings[random(len(spellings))], n)
		key := KeyOf(uriOf(u))
		at := slices.IndexFunc(now.docs, func(d *Document) bool { return d.key == key })
		if closing {
			now.snap = now.snap.without(key)
			if at >= 0 {
				now.docs = slices.Delete(slices.Clone(now.docs), at, at+1)
			}
		} else {
			d := document(u)
			now.snap = now.snap.put(d)
			if now.docs = slices.Clone(now.docs); at >= 0 {
				now.docs[at] = d
			} else {
				now.docs = append(now.docs, d)
			}
		}
		check(step, now)
		for _, spelling := range spellings {
			u := uriOf(fmt.Sprintf(spelling, n))
			key := KeyOf(u)
			var want *Document
			if i := slices.IndexFunc(now.docs, func(d *Document) bool { return d.key == key }); i >= 0 {
				want = now.docs[i]
			}
			if got := now.snap.Document(u); got != want {
				t.Fatalf("step %d: %s is %v, want %v", step, u, got, want)
			}
		}
		if step%100 == 0 {
			old = append(old, now)
		}
		if holes := now.snap.places - now.snap.open; holes > now.snap.open+maxHoles+1 {
			t.Fatalf("step %d: %d holes beside %d documents", step, holes, now.snap.open)
		}
	}
	for i, st := range old {
		check(i, st)
	}
}

// Names whose hashes are the same, or nearly, are told apart.
func TestNamesThatCollide(t *testing.T) {
	var n *names
	hashes := []uint64{0, 0, 0, 1 << 63, 1 << 60, 1 << 35, 32, 1}
	for i, h := range hashes {
		n = n.with(&name{hash: h, text: fmt.Sprint(i), place: -1}, 0)
		n = n.with(&name{hash: h, text: fmt.Sprint(i), place: i}, 0)
	}
	for i, h := range hashes {
		if place, ok := n.find(h, fmt.Sprint(i)); !ok || place != i {
			t.Errorf("%d: at %d, %v", i, place, ok)
		}
		if _, ok := n.find(h, "other"); ok {
			t.Errorf("%d: another name is found", i)
		}
	}
	for i, h := range hashes {
		before := n
		n = n.without(h, fmt.Sprint(i), 0).without(h, "other", 0)
		if _, ok := n.find(h, fmt.Sprint(i)); ok {
			t.Errorf("%d is still there", i)
		}
		if _, ok := before.find(h, fmt.Sprint(i)); !ok {
			t.Errorf("%d is gone from before", i)
		}
	}
	if n != nil {
		t.Errorf("left: %+v", n)
	}
}

// Beside 10,000 documents another one costs a few nodes of a trie and a shelf, not a copy of all names, which is 2 MB.
func TestManyDocuments(t *testing.T) {
	s := &Snapshot{}
	for i := range 10_000 {
		s = s.put(document(fmt.Sprintf("file:///home/ann/notes/%d%%20.md", i)))
	}
	const rounds = 100
	d := document("file:///home/ann/notes/another.md")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range rounds {
		s = s.put(d).put(d).without(d.key)
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / rounds; each > 100_000 {
		t.Errorf("opened, changed and closed with %d bytes", each)
	}
}

// BenchmarkOpenDocuments is one document opened, edited and closed, beside so many others.
func BenchmarkOpenDocuments(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := &Snapshot{}
			for i := range n {
				s = s.put(document(fmt.Sprintf("file:///home/ann/notes/%d.md", i)))
			}
			d := document("file:///home/ann/notes/another.md")
			b.ReportAllocs()
			for b.Loop() {
				s = s.put(d).put(d).without(d.key)
			}
		})
	}
}

// BenchmarkDocument finds a document by its URI, as every request does.
func BenchmarkDocument(b *testing.B) {
	for _, n := range []int{1, 20, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := &Snapshot{}
			for i := range n {
				s = s.put(document(fmt.Sprintf("file:///home/ann/notes/%d.md", i)))
			}
			u := uriOf(fmt.Sprintf("file:///home/ann/notes/%d.md", n/2))
			for b.Loop() {
				if s.Document(u) == nil {
					b.Fatal("not found")
				}
			}
		})
	}
}
