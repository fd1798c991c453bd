package notes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

// workspace returns a workspace in memory.
func workspace(t testing.TB, files map[string]string) *Workspace {
	t.Helper()
	w, err := New(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// folder writes files below a new directory.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for p, body := range files {
		file := filepath.Join(dir, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func open(t testing.TB, dir string, o *Options) *Workspace {
	t.Helper()
	w, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func paths(notes []*Note) string {
	var list []string
	for _, n := range notes {
		list = append(list, n.Path)
	}
	return strings.Join(list, " ")
}

func TestOpen(t *testing.T) {
	dir := folder(t, map[string]string{
		"b.md": "# B", "a.md": "# A", "sub/c.markdown": "c", "sub/pic.png": "png", "sub/D E#%.md": "d",
		".hidden/x.md": "x", "node_modules/p/README.md": "x", ".dot.md": "dot", "ä.md": "ä", "plain.txt": "t", "A.MD": "upper",
	})
	w := open(t, dir, nil)
	if got, want := paths(w.Notes()), ".dot.md A.MD a.md b.md sub/D E#%.md sub/c.markdown ä.md"; got != want {
		t.Errorf("notes = %q, want %q", got, want)
	}
	for slug, p := range map[string]string{"a": "a.md", "A.MD": "A.MD", "sub/D E#%": "sub/D E#%.md", "sub/c.markdown": "sub/c.markdown", "ä": "ä.md"} {
		if n, ok := w.Note(slug); !ok || n.Path != p || n.Slug != slug {
			t.Errorf("Note(%q) = %+v, %v", slug, n, ok)
		}
	}
	for _, slug := range []string{"", "x", "../a", "A", ".hidden/x", "/a", "a.md.md"} {
		if n, ok := w.Note(slug); ok {
			t.Errorf("Note(%q) = %+v", slug, n)
		}
	}
	if w.Dir() != dir || w.Len() != 7 {
		t.Errorf("Dir = %q, Len = %d", w.Dir(), w.Len())
	}
	if p, ok := w.Rel(filepath.Join(dir, "sub", "x.md")); !ok || p != "sub/x.md" {
		t.Errorf("Rel = %q, %v", p, ok)
	}
	if p, ok := w.Rel(filepath.Join(dir, "..", "x.md")); ok {
		t.Errorf("Rel outside = %q", p)
	}
	if got := w.Abs("sub/x.md"); got != filepath.Join(dir, "sub", "x.md") {
		t.Errorf("Abs = %q", got)
	}
}

func TestFlat(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "[b](b.md) [c](sub/c.md) [d](sub/d.md)", "b.md": "", "sub/c.md": "# C\n"})
	w := open(t, dir, &Options{Flat: true})
	if got := paths(w.Notes()); got != "a.md b.md" {
		t.Errorf("notes are %q", got)
	}
	a, _ := w.At("a.md")
	if problems := w.Check(a); len(problems) != 1 || problems[0].Path != "sub/d.md" {
		t.Errorf("problems are %+v", problems)
	}
	if changes, err := w.Refresh("sub/c.md", "sub", "."); err != nil || len(changes) != 0 {
		t.Errorf("refresh: %+v, %v", changes, err)
	}
	if got := paths(w.Notes()); got != "a.md b.md" {
		t.Errorf("after a refresh notes are %q", got)
	}
}

func TestOpenFails(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "missing"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing folder: %v", err)
	}
	if _, err := New(map[string]string{"../x.md": ""}, nil); !errors.Is(err, ErrPath) {
		t.Errorf("bad path: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	if _, err := OpenContext(ctx, folder(t, map[string]string{"a.md": "a", "b.md": "b"}), nil); err == nil || !strings.Contains(err.Error(), "enough") {
		t.Errorf("ended context: %v", err)
	}
}

func TestOpenFS(t *testing.T) {
	w, err := OpenFS(fstest.MapFS{"a.md": {Data: []byte("[b](img/b.png) [c](img/c.png) [d](img)")}, "img/b.png": {}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	n, _ := w.Note("a")
	problems := w.Check(n)
	if len(problems) != 1 || problems[0].Kind != BrokenFile || n.Slice(problems[0].Span) != "img/c.png" {
		t.Errorf("problems = %+v", problems)
	}
}

func TestSymlinks(t *testing.T) {
	outside := folder(t, map[string]string{"secret.md": "# Secret", "dir/x.md": "x"})
	dir := folder(t, map[string]string{"real.md": "# Real", "sub/a.md": "[s](../out.md) [x](../outdir/x.md) [loop](../loop/real.md)"})
	for name, target := range map[string]string{
		"out.md": filepath.Join(outside, "secret.md"), "up.md": "../" + filepath.Base(outside) + "/secret.md",
		"outdir": filepath.Join(outside, "dir"), "loop": ".", "self.md": "self.md", "in.md": "real.md", "gone.md": "nothing.md",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			if runtime.GOOS == "windows" && os.Getenv("CI") != "true" {
				t.Skip("no right to make symbolic links:", err)
			}
			t.Fatal(err)
		}
	}
	w := open(t, dir, nil)
	if got := paths(w.Notes()); got != "in.md real.md sub/a.md" {
		t.Errorf("notes = %q", got)
	}
	var skipped []string
	for _, s := range w.Skipped() {
		skipped = append(skipped, s.Path)
	}
	if got := strings.Join(skipped, " "); got != "gone.md out.md outdir self.md up.md" {
		t.Errorf("skipped = %q", got)
	}
	if !w.Linked("in.md") || !w.Linked("loop/real.md") || w.Linked("real.md") || w.Linked("sub/new.md") {
		t.Error("Linked is wrong about one of the files")
	}
	n, _ := w.Note("sub/a")
	for i, broken := range []bool{true, true, false} {
		if got := w.Resolve(n, n.Links[i]); got.Broken() != broken {
			t.Errorf("link %q: %+v", n.Links[i].Dest, got)
		}
	}
}

func TestLimits(t *testing.T) {
	files := map[string]string{"a.md": "12345678", "b.md": "123456789", "c.md": "1234", "d.md": "1", "pic.png": "12345678901234567890"}
	w, err := New(files, &Options{MaxNote: 8, MaxTotal: 13, MaxNotes: 3})
	if err != nil {
		t.Fatal(err)
	}
	if got := paths(w.Notes()); got != "a.md c.md" {
		t.Errorf("notes = %q", got)
	}
	if s := w.Skipped(); len(s) != 2 || s[0].Path != "d.md" || s[1].Path != "b.md" || !errors.Is(s[0].Err, ErrTooLarge) || !errors.Is(s[1].Err, ErrTooLarge) {
		t.Errorf("skipped = %v", s)
	}
	if _, err := w.SetOverlay("a.md", "123456789", 1); !errors.Is(err, ErrTooLarge) {
		t.Errorf("large overlay: %v", err)
	}
	if _, err := w.SetOverlay("e.md", "1", 1); err != nil {
		t.Errorf("third note: %v", err)
	}
	if _, err := w.SetOverlay("f.md", "1", 1); !errors.Is(err, ErrTooLarge) {
		t.Errorf("fourth note: %v", err)
	}
	if _, err := w.SetOverlay("c.md", "12345", 1); !errors.Is(err, ErrTooLarge) {
		t.Errorf("more than MaxTotal: %v", err)
	}
	if _, err := w.SetOverlay("c.md", "4321", 1); err != nil {
		t.Errorf("as much as before: %v", err)
	}
	dir := folder(t, map[string]string{"a.md": "12345678", "b.md": "123456789"})
	w = open(t, dir, &Options{MaxNote: 8})
	if got := paths(w.Notes()); got != "a.md" {
		t.Errorf("notes on disk = %q", got)
	}
}

func TestProgress(t *testing.T) {
	var got []string
	_, err := New(map[string]string{"a.md": "", "b.md": "", "c.md": ""}, &Options{Progress: func(done, total int) {
		got = append(got, fmt.Sprint(done, "/", total))
	}})
	if s := strings.Join(got, " "); err != nil || s != "1/3 2/3 3/3" {
		t.Errorf("progress = %q, %v", s, err)
	}
}

func TestOverlay(t *testing.T) {
	w := workspace(t, map[string]string{"a.md": "# A\n", "b.md": "[a](a.md#a) [n](new.md)", "c.md": "[[a#x]]", "d.md": "none"})
	change, err := w.SetOverlay("a.md", "# A\nmore text", 7)
	if err != nil || len(change.Affected) != 0 || change.Old.Text != "# A\n" || change.New.Text != "# A\nmore text" {
		t.Errorf("text edit: %+v, %v", change, err)
	}
	if n, _ := w.Note("a"); !n.Overlay || n.EditVersion != 7 || n != change.New {
		t.Errorf("note = %+v", n)
	}
	if n, ok := w.Stored("a.md"); !ok || n.Text != "# A\n" || n.Overlay {
		t.Errorf("stored = %+v", n)
	}
	change, _ = w.SetOverlay("a.md", "# X\n", 8)
	if want := []string{"b.md", "c.md"}; !reflect.DeepEqual(change.Affected, want) {
		t.Errorf("heading edit affects %q, want %q", change.Affected, want)
	}
	b, _ := w.Note("b")
	if got := w.Resolve(b, b.Links[0]); !errors.Is(got.Err, ErrNoHeading) || got.Note == nil {
		t.Errorf("old heading: %+v", got)
	}
	change, _ = w.SetOverlay("new.md", "new", 1)
	if change.Old != nil || !reflect.DeepEqual(change.Affected, []string{"b.md"}) {
		t.Errorf("new note: %+v", change)
	}
	if _, ok := w.Stored("new.md"); ok {
		t.Error("an unsaved note counts as stored")
	}
	if got := w.Resolve(b, b.Links[1]); got.Broken() || got.Note != change.New {
		t.Errorf("link to the new note: %+v", got)
	}
	change, _ = w.ClearOverlay("new.md")
	if change.New != nil || !reflect.DeepEqual(change.Affected, []string{"b.md"}) {
		t.Errorf("closed new note: %+v", change)
	}
	if change, _ = w.ClearOverlay("a.md"); change.New.Text != "# A\n" || change.New.Overlay {
		t.Errorf("closed note: %+v", change)
	}
	if change, err = w.ClearOverlay("a.md"); err != nil || change.Old != change.New {
		t.Errorf("closed twice: %+v, %v", change, err)
	}
	if change, err = w.ClearOverlay("nothing.md"); err != nil || change.New != nil {
		t.Errorf("never open: %+v, %v", change, err)
	}
	checkIndex(t, w)
}

func TestOverlayPaths(t *testing.T) {
	w := workspace(t, nil)
	for _, p := range []string{"", ".", "..", "../a.md", "/a.md", "a//b.md", "a/./b.md", "a/../b.md", "a\\b.md", "a\x00.md", "a\xff.md", "a.txt", "a", ".md", "a/.md"} {
		if _, err := w.SetOverlay(p, "x", 1); !errors.Is(err, ErrPath) {
			t.Errorf("SetOverlay(%q): %v", p, err)
		}
	}
	for _, p := range []string{"a.md", "ä ö#%.md", "a/b/c.MARKDOWN", "..a.md", "a/...md"} {
		if _, err := w.SetOverlay(p, "x", 1); err != nil {
			t.Errorf("SetOverlay(%q): %v", p, err)
		}
	}
	w.Close()
	if _, err := w.SetOverlay("a.md", "x", 1); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if _, err := w.ClearOverlay("a.md"); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

func TestSlugs(t *testing.T) {
	for p, slug := range map[string]string{
		"a.md": "a", "a b/c#.md": "a b/c#", "a.MD": "a.MD", "a.markdown": "a.markdown", "a.md.md": "a.md.md", "a.markdown.md": "a.markdown.md", "a.b.md": "a.b",
	} {
		if got := SlugOf(p); got != slug {
			t.Errorf("SlugOf(%q) = %q, want %q", p, got, slug)
		}
		if got := PathOf(slug); got != p {
			t.Errorf("PathOf(%q) = %q, want %q", slug, got, p)
		}
	}
}

// TestConcurrent is of use under the race detector.
func TestConcurrent(t *testing.T) {
	w := Sample()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 30 {
				p := fmt.Sprintf("new%d.md", (i+j)%4)
				switch i % 4 {
				case 0:
					w.SetOverlay(p, fmt.Sprintf("# H%d\n[[runbook]] [[new%d]]", j, i), int32(j))
				case 1:
					w.ClearOverlay(p)
				case 2:
					w.Search("deploy h1", 5)
					w.Backlinks("runbook")
				default:
					for _, n := range w.Notes() {
						w.Check(n)
						Preview(n, nil)
					}
				}
			}
		})
	}
	wg.Wait()
	checkIndex(t, w)
}

// TestRelLinks opens a folder by one name and asks for a file by others.
func TestRelLinks(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "a"})
	alias := filepath.Join(t.TempDir(), "alias")
	if err := os.Symlink(dir, alias); err != nil {
		if runtime.GOOS == "windows" && os.Getenv("CI") != "true" {
			t.Skip("no right to make symbolic links:", err)
		}
		t.Fatal(err)
	}
	w := open(t, alias, nil)
	for _, file := range []string{filepath.Join(alias, "a.md"), filepath.Join(dir, "a.md")} {
		if p, ok := w.Rel(file); !ok || p != "a.md" {
			t.Errorf("Rel(%q) = %q, %v", file, p, ok)
		}
	}
	// A hard link in other letters is what a file system that does not tell the
	// cases apart looks like.
	if err := os.Link(filepath.Join(dir, "a.md"), filepath.Join(dir, "A.MD")); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
	if p, ok := w.Rel(filepath.Join(dir, "A.MD")); !ok || p != "a.md" {
		t.Errorf("Rel in other letters = %q, %v", p, ok)
	}
	if p, ok := w.Rel(filepath.Join(dir, "B.md")); !ok || p != "B.md" {
		t.Errorf("Rel of a new file = %q, %v", p, ok)
	}
}

// TestOverlayAgain gives the text a note has already.
func TestOverlayAgain(t *testing.T) {
	w := workspace(t, map[string]string{"a.md": "# A\n[b](b.md)"})
	first, err := w.SetOverlay("a.md", "# A\n[b](b.md)", 1)
	if err != nil || !first.New.Overlay || first.New.EditVersion != 1 || first.Old.Overlay {
		t.Fatalf("change = %+v, %v", first, err)
	}
	second, err := w.SetOverlay("a.md", "# A\n[b](b.md)", 2)
	if err != nil || second.New.EditVersion != 2 || first.New.EditVersion != 1 || len(second.New.Links) != 1 {
		t.Fatalf("change = %+v, %v", second, err)
	}
	if hits := w.Search("a", 1); len(hits) != 1 || hits[0].Note != second.New {
		t.Errorf("hits = %+v", hits)
	}
	checkIndex(t, w)
}

// TestManyHeadings follows many links to as many headings and anchors.
func TestManyHeadings(t *testing.T) {
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, "[x](#h-%d) <a id=\"a%d\"></a> [y](#a%d)\n\n# H %d\n", i, i, i, i)
	}
	w := workspace(t, map[string]string{"a.md": b.String()})
	n, _ := w.Note("a")
	if p := w.Check(n); len(p) != 0 || len(n.Links) != 40_000 {
		t.Errorf("%d links, problems %.3v", len(n.Links), p)
	}
}
