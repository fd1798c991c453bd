package notes

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// randomNote writes a note of links, headings and titles over few names, so that
// links break, mend and change their targets often.
func randomNote(r *rand.Rand) string {
	names := []string{"a", "b", "c", "d/a", "d/e", "README", "d/README", "d", "img", "Title One", "title-two", "e"}
	pick := func() string { return names[r.IntN(len(names))] }
	fragment := func() string {
		return []string{"", "", "#h-one", "#h-two", "#h-one-1", "#here", "#H one"}[r.IntN(7)]
	}
	var b strings.Builder
	if r.IntN(4) == 0 {
		fmt.Fprintf(&b, "---\ntitle: %s\n---\n", []string{"Title One", "Title Two"}[r.IntN(2)])
	}
	for range r.IntN(8) {
		switch r.IntN(9) {
		case 0:
			fmt.Fprintf(&b, "[x](%s%s)\n\n", EscapePath(pick()), fragment())
		case 1:
			fmt.Fprintf(&b, "[x](../%s.md%s)\n\n", EscapePath(pick()), fragment())
		case 2:
			fmt.Fprintf(&b, "[x](/%s.md)\n\n", EscapePath(pick()))
		case 3, 4:
			fmt.Fprintf(&b, "[[%s%s]]\n\n", pick(), fragment())
		case 5:
			fmt.Fprintf(&b, "[r]\n\n[r]: %s.md%s\n\n", EscapePath(pick()), fragment())
		case 6:
			fmt.Fprintf(&b, "# %s\n\n", []string{"H one", "H two", "Title One"}[r.IntN(3)])
		case 7:
			b.WriteString("<a id=\"here\"></a>\n\n")
		case 8:
			fmt.Fprintf(&b, "![[%s.png]] #%s\n\n", pick(), pick())
		}
	}
	return b.String()
}

// snapshot is what a workspace says about all its notes.
func snapshot(w *Workspace) map[string][]string {
	m := make(map[string][]string)
	for _, n := range w.Notes() {
		list := []string{}
		for _, l := range n.Links {
			t := w.Resolve(n, l)
			s := fmt.Sprintf("%q -> %s %v", n.Slice(l.Span), t.Path, t.Err)
			if t.Heading != nil {
				s += "#" + t.Heading.Slug
			}
			list = append(list, s)
		}
		m[n.Path] = list
	}
	return m
}

// TestModel edits at random and holds the workspace, after each edit, to what a
// workspace says that reads the same texts afresh. Where the links of another
// note lead elsewhere after an edit, its Change must have named that note.
func TestModel(t *testing.T) {
	paths := []string{"a.md", "b.md", "c.markdown", "d/a.md", "d/e.md", "README.md", "d/README.md", "d/f/c.md", "title-two.md", "A.md"}
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			w := workspace(t, map[string]string{"a.md": randomNote(r), "d/e.md": randomNote(r), "img/c.png": "", "d/a.png": ""})
			before := snapshot(w)
			for step := range 60 {
				p := paths[r.IntN(len(paths))]
				var c Change
				var err error
				if r.IntN(4) == 0 {
					c, err = w.ClearOverlay(p)
				} else {
					c, err = w.SetOverlay(p, randomNote(r), int32(step))
				}
				if err != nil {
					t.Fatal(err)
				}
				after := snapshot(w)
				for q, links := range after {
					if old, ok := before[q]; ok && q != p && !slices.Equal(old, links) && !slices.Contains(c.Affected, q) {
						t.Fatalf("step %d: the edit of %s changed links of %s unannounced (%q):\n%q\n%q", step, p, q, c.Affected, old, links)
					}
				}
				files := map[string]string{"img/c.png": "", "d/a.png": ""}
				for _, n := range w.Notes() {
					files[n.Path] = n.Text
				}
				fresh := workspace(t, files)
				if want := snapshot(fresh); !reflect.DeepEqual(after, want) {
					t.Fatalf("step %d: got\n%v\nwant\n%v", step, after, want)
				}
				if got, want := w.Tags(), fresh.Tags(); !slices.Equal(got, want) {
					t.Fatalf("step %d: tags %v, want %v", step, got, want)
				}
				before = after
			}
			checkBacklinks(t, w)
			checkRanking(t, w)
			checkCatalog(t, w)
		})
	}
}

// checkCatalog holds what completion looks through to the notes there are.
func checkCatalog(t *testing.T, w *Workspace) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.catalog) != len(w.entries) {
		t.Fatalf("the catalog has %d notes of %d", len(w.catalog), len(w.entries))
	}
	for p, e := range w.entries {
		if l := w.catalog[e.at]; l.note != e.note() || l.path != p || l.fold != strings.ToLower(p+"\n"+e.note().Title) {
			t.Errorf("the catalog has %+v for %q", l, p)
		}
	}
}

// checkBacklinks compares Backlinks with a look at every link of every note.
func checkBacklinks(t *testing.T, w *Workspace) {
	t.Helper()
	for _, target := range w.Notes() {
		var want, got []string
		for _, n := range w.Notes() {
			for _, l := range n.Links {
				if w.Resolve(n, l).Note == target {
					want = append(want, fmt.Sprint(n.Path, l.Span))
				}
			}
		}
		for _, b := range w.Backlinks(target.Slug) {
			got = append(got, fmt.Sprint(b.Note.Path, b.Link.Span))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("backlinks of %s: got %q, want %q", target.Path, got, want)
		}
	}
}

// checkRanking compares searches with those of a workspace without a past.
func checkRanking(t *testing.T, w *Workspace) {
	t.Helper()
	files := make(map[string]string)
	for _, n := range w.Notes() {
		files[n.Path] = n.Text
	}
	fresh := workspace(t, files)
	for _, query := range []string{"one", "title h", "t", "#a", "x readme two"} {
		got, want := w.Search(query, 0), fresh.Search(query, 0)
		if slugs(got) != slugs(want) {
			t.Fatalf("%q: got %q, want %q", query, slugs(got), slugs(want))
		}
		for i := range got {
			if got[i].Score != want[i].Score || got[i].Snippet != want[i].Snippet {
				t.Fatalf("%q: got %+v, want %+v", query, got[i], want[i])
			}
		}
	}
}

// TestModelRename moves random notes of random workspaces and looks whether all
// links still lead where they did.
func TestModelRename(t *testing.T) {
	for seed := range uint64(80) {
		r := rand.New(rand.NewPCG(seed, 2))
		files := map[string]string{"img/c.png": "", "d/a.png": ""}
		for _, p := range []string{"a.md", "b.md", "d/e.md", "README.md", "d/README.md", "d/f/c.md"} {
			files[p] = randomNote(r)
		}
		w := workspace(t, files)
		from := []string{"a.md", "d/e.md", "d/f/c.md", "b.md"}[r.IntN(4)]
		to := []string{"new.md", "d/new.md", "x/y/new name.md", "d/f/g/n#1.md"}[r.IntN(4)]
		edits, err := w.RenameNote(from, to)
		if err != nil {
			t.Fatal(err)
		}
		moved := applied(w, edits)
		moved[to] = moved[from]
		delete(moved, from)
		after := workspace(t, moved)
		for _, n := range w.Notes() {
			now := n.Path
			if now == from {
				now = to
			}
			m, _ := after.At(now)
			if len(m.Links) != len(n.Links) {
				t.Fatalf("seed %d: %s has %d links, had %d:\n%s", seed, now, len(m.Links), len(n.Links), m.Text)
			}
			for i, l := range n.Links {
				was, is := w.Resolve(n, l), after.Resolve(m, m.Links[i])
				want := was.Path
				if was.Note != nil && want == from {
					want = to
				}
				if was.Err == nil && (is.Err != nil || is.Path != want) {
					t.Errorf("seed %d, %s to %s: %s in %s led to %q, now %s leads to %q, %v",
						seed, from, to, n.Slice(l.Span), n.Path, was.Path, m.Slice(m.Links[i].Span), is.Path, is.Err)
				}
			}
		}
	}
}

// TestModelRenameHeading does the same with headings.
func TestModelRenameHeading(t *testing.T) {
	renamed := 0
	for seed := range uint64(80) {
		r := rand.New(rand.NewPCG(seed, 3))
		files := map[string]string{}
		for _, p := range []string{"a.md", "b.md", "d/e.md", "README.md", "d/README.md", "d/f/c.md"} {
			files[p] = randomNote(r)
		}
		w := workspace(t, files)
		for _, n := range w.Notes() {
			if len(n.Headings) == 0 {
				continue
			}
			h := &n.Headings[r.IntN(len(n.Headings))]
			edits, err := w.RenameHeading(n, h, []string{"H two", "Brand new", "*H* one"}[r.IntN(3)])
			if err != nil {
				t.Fatal(err)
			}
			renamed++
			after := workspace(t, applied(w, edits))
			was, is := strings.Split(targets(w, same), "\n"), strings.Split(targets(after, same), "\n")
			for i := range was { // a broken link may have been mended by chance
				if was[i] != is[i] && !strings.HasSuffix(was[i], "true") {
					t.Errorf("seed %d: heading %q of %s: %q became %q", seed, h.Text, n.Path, was[i], is[i])
				}
			}
		}
	}
	if renamed < 50 {
		t.Errorf("only %d headings were renamed", renamed)
	}
}
