package notes

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// tree returns the files below dir with their contents.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		files[filepath.ToSlash(rel)] = string(body)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestCreate(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "[n](<new/ä b.md>)"})
	w := open(t, dir, nil)
	c, err := w.Create("new/ä b.md", "# New\n")
	if err != nil || c.Old != nil || c.New.Title != "New" || !reflect.DeepEqual(c.Affected, []string{"a.md"}) {
		t.Fatalf("change = %+v, %v", c, err)
	}
	if n, ok := w.Note("new/ä b"); !ok || n != c.New {
		t.Errorf("note = %+v", n)
	}
	if _, err := w.Create("new/ä b.md", "again"); !errors.Is(err, ErrExists) {
		t.Errorf("second Create: %v", err)
	}
	// A file the workspace has not seen yet counts as well.
	if err := os.WriteFile(filepath.Join(dir, "b.md"), []byte("b"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Create("b.md", "x"); !errors.Is(err, ErrExists) {
		t.Errorf("Create over a new file: %v", err)
	}
	if n, ok := w.Note("b"); !ok || n.Text != "b" {
		t.Errorf("the new file was not taken in: %+v", n)
	}
	want := map[string]string{"a.md": "[n](<new/ä b.md>)", "b.md": "b", "new/ä b.md": "# New\n"}
	if got := tree(t, dir); !reflect.DeepEqual(got, want) {
		t.Errorf("files = %q", got)
	}
	checkIndex(t, w)
}

func TestWrite(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "# A\n"})
	file := filepath.Join(dir, "a.md")
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	w := open(t, dir, nil)
	a, _ := w.Note("a")
	c, err := w.Write("a.md", "# B\n", a.Version)
	if err != nil || c.Old != a || c.New.Text != "# B\n" {
		t.Fatalf("change = %+v, %v", c, err)
	}
	info, err := os.Stat(file)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("mode = %v, %v", info.Mode(), err)
	}
	var conflict *ConflictError
	if _, err := w.Write("a.md", "# C\n", a.Version); !errors.As(err, &conflict) || conflict.Current.Text != "# B\n" || conflict.Want != a.Version {
		t.Errorf("stale write: %v", err)
	}
	// A change on disk that nobody has told the workspace of is a conflict too.
	if err := os.WriteFile(file, []byte("other"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write("a.md", "# C\n", c.New.Version); !errors.As(err, &conflict) || conflict.Current.Text != "other" {
		t.Errorf("write over a foreign change: %v", err)
	}
	if n, _ := w.Note("a"); n.Text != "other" {
		t.Errorf("after the conflict the note is %q", n.Text)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write("a.md", "x", conflict.Current.Version); !errors.As(err, &conflict) || conflict.Current != nil {
		t.Errorf("write of a deleted note: %v", err)
	}
	if _, err := w.Write("nothing.md", "x", ""); !errors.Is(err, ErrNotFound) {
		t.Errorf("write of a missing note: %v", err)
	}
	if got := tree(t, dir); len(got) != 0 {
		t.Errorf("files = %q", got)
	}
}

func TestWriteUnsaved(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "disk"})
	w := open(t, dir, nil)
	c, err := w.SetOverlay("a.md", "unsaved", 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write("a.md", "x", c.New.Version); !errors.Is(err, ErrUnsaved) {
		t.Errorf("Write: %v", err)
	}
	if _, err := w.Remove("a.md", c.Old.Version); !errors.Is(err, ErrUnsaved) {
		t.Errorf("Remove: %v", err)
	}
	if _, err := w.Move("a.md", "b.md"); !errors.Is(err, ErrUnsaved) {
		t.Errorf("Move: %v", err)
	}
	// What the editor saves while the note is open shows once it is closed.
	if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte("saved"), 0o644); err != nil {
		t.Fatal(err)
	}
	if c, err = w.ClearOverlay("a.md"); err != nil || c.New.Text != "saved" {
		t.Errorf("closed: %+v, %v", c, err)
	}
}

func TestWriteRefuses(t *testing.T) {
	outside := t.TempDir()
	dir := folder(t, map[string]string{"a.md": "a", "sub/b.md": "b", ".git/x.md": "x"})
	for name, target := range map[string]string{"link.md": "a.md", "out": outside, "in": "sub", "dangling.md": "nothing.md"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	w := open(t, dir, nil)
	before := tree(t, filepath.Join(dir, "sub"))
	for _, p := range []string{
		"../x.md", "/x.md", "a.txt", "x", ".git/y.md", ".x.md", "node_modules/y.md", "link.md", "dangling.md", "out/x.md", "in/b.md", "in/new.md",
		"a\x01.md", "a:b.md", "a?.md", "dir /x.md", "dir./x.md", strings.Repeat("x", 300) + ".md", "a\\b.md", "a\xff.md",
	} {
		if _, err := w.Create(p, "x"); !errors.Is(err, ErrPath) {
			t.Errorf("Create(%q): %v", p, err)
		}
		if _, err := w.Write(p, "x", "y"); !errors.Is(err, ErrPath) {
			t.Errorf("Write(%q): %v", p, err)
		}
		if _, err := w.Remove(p, "y"); !errors.Is(err, ErrPath) {
			t.Errorf("Remove(%q): %v", p, err)
		}
		if _, err := w.Move("a.md", p); !errors.Is(err, ErrPath) {
			t.Errorf("Move to %q: %v", p, err)
		}
	}
	if _, err := w.Create("u.md", "\xff"); err == nil {
		t.Error("invalid UTF-8 was written")
	}
	if got := tree(t, outside); len(got) != 0 {
		t.Errorf("outside: %q", got)
	}
	if got := tree(t, filepath.Join(dir, "sub")); !reflect.DeepEqual(got, before) {
		t.Errorf("sub: %q", got)
	}
	if _, err := Sample().Create("x.md", "x"); !errors.Is(err, ErrReadOnly) {
		t.Errorf("sample: %v", err)
	}
	w.Close()
	if _, err := w.Create("x.md", "x"); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// A fullDisk accepts some bytes and then has no room.
type fullDisk struct {
	io.Writer
	room int
}

func (d *fullDisk) Write(p []byte) (int, error) {
	n, err := d.Writer.Write(p[:min(len(p), d.room)])
	d.room -= n
	if err == nil && n < len(p) {
		err = syscall.ENOSPC
	}
	return n, err
}

func TestWriteFullDisk(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "precious"})
	w := open(t, dir, &Options{Wrap: func(out io.Writer) io.Writer { return &fullDisk{out, 3} }})
	a, _ := w.Note("a")
	if _, err := w.Write("a.md", "replacement", a.Version); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "a.md") {
		t.Errorf("Write: %v", err)
	}
	if _, err := w.Create("b.md", "replacement"); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Create: %v", err)
	}
	if got := tree(t, dir); !reflect.DeepEqual(got, map[string]string{"a.md": "precious"}) {
		t.Errorf("files = %q", got)
	}
	if n, _ := w.Note("a"); n.Text != "precious" || w.Len() != 1 {
		t.Errorf("note = %q, %d notes", n.Text, w.Len())
	}
}

// TestWriteRace has two writers edit one note from the same version: exactly one
// may win each round, and the other learns the winner's text.
func TestWriteRace(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "0"})
	w := open(t, dir, nil)
	for round := range 20 {
		base, _ := w.Note("a")
		var wg sync.WaitGroup
		results := make([]error, 4)
		for i := range results {
			wg.Go(func() { _, results[i] = w.Write("a.md", fmt.Sprintf("%d by %d", round, i), base.Version) })
		}
		wg.Wait()
		winner := -1
		for i, err := range results {
			if err == nil {
				if winner >= 0 {
					t.Fatal("two writers won")
				}
				winner = i
			}
		}
		want := fmt.Sprintf("%d by %d", round, winner)
		for i, err := range results {
			var conflict *ConflictError
			if i != winner && (!errors.As(err, &conflict) || conflict.Current.Text != want) {
				t.Fatalf("loser %d: %v", i, err)
			}
		}
		if n, _ := w.Note("a"); n.Text != want || tree(t, dir)["a.md"] != want {
			t.Fatalf("text = %q, want %q", n.Text, want)
		}
	}
}

func TestRemove(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "a", "b.md": "[a](a.md)"})
	w := open(t, dir, nil)
	a, _ := w.Note("a")
	var conflict *ConflictError
	if _, err := w.Remove("a.md", "0"); !errors.As(err, &conflict) {
		t.Errorf("wrong version: %v", err)
	}
	c, err := w.Remove("a.md", a.Version)
	if err != nil || c.New != nil || !reflect.DeepEqual(c.Affected, []string{"b.md"}) {
		t.Errorf("change = %+v, %v", c, err)
	}
	if _, err := w.Remove("a.md", a.Version); !errors.Is(err, ErrNotFound) {
		t.Errorf("second Remove: %v", err)
	}
	if got := tree(t, dir); len(got) != 1 {
		t.Errorf("files = %q", got)
	}
}

func TestMove(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "# A", "b.md": "[a](a.md) [n](new/a.md)"})
	w := open(t, dir, nil)
	changes, err := w.Move("a.md", "new/a.md")
	if err != nil || len(changes) != 2 || changes[0].New != nil || changes[1].New.Path != "new/a.md" {
		t.Fatalf("changes = %+v, %v", changes, err)
	}
	if _, err := w.Move("new/a.md", "b.md"); !errors.Is(err, ErrExists) {
		t.Errorf("Move onto a note: %v", err)
	}
	if _, err := w.Move("a.md", "c.md"); !errors.Is(err, ErrNotFound) {
		t.Errorf("Move of nothing: %v", err)
	}
	if got := tree(t, dir); got["new/a.md"] != "# A" || len(got) != 2 {
		t.Errorf("files = %q", got)
	}
	if n, ok := w.Note("new/a"); !ok || n.Text != "# A" {
		t.Errorf("note = %+v", n)
	}
	checkIndex(t, w)
}

func TestRefresh(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "[b](sub/b.md) ![p](p.png)", "sub/b.md": "# B", "sub/c.md": "c"})
	w := open(t, dir, nil)
	write := func(p, body string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, p)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, p), []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	refresh := func(paths ...string) string {
		t.Helper()
		changes, err := w.Refresh(paths...)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, c := range changes {
			sign := "~"
			if c.Old == nil && c.New != nil {
				sign = "+"
			} else if c.New == nil && c.Old != nil {
				sign = "-"
			}
			list = append(list, sign+c.Path+fmt.Sprint(c.Affected))
		}
		return strings.Join(list, " ")
	}
	check := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	check(refresh("."), "")
	write("sub/c.md", "c2")
	write("d.md", "d")
	write("p.png", "")
	write(".hidden/x.md", "x")
	check(refresh("sub/c.md", "d.md"), "+d.md[] ~sub/c.md[]")
	check(refresh("p.png", "p.png"), "~p.png[a.md]")
	check(refresh(".hidden/x.md", ".hidden"), "")
	if err := os.RemoveAll(filepath.Join(dir, "sub")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "p.png")); err != nil {
		t.Fatal(err)
	}
	check(refresh("sub"), "-sub/b.md[a.md] -sub/c.md[]")
	check(refresh("."), "~p.png[a.md]")
	if _, err := w.SetOverlay("d.md", "open", 1); err != nil {
		t.Fatal(err)
	}
	write("d.md", "d2")
	check(refresh("."), "")
	if n, _ := w.Stored("d.md"); n.Text != "d2" {
		t.Errorf("stored = %q", n.Text)
	}
	if n, _ := w.Note("d"); n.Text != "open" {
		t.Errorf("note = %q", n.Text)
	}
	if _, err := w.Refresh("../x"); !errors.Is(err, ErrPath) {
		t.Errorf("outside: %v", err)
	}
	checkIndex(t, w)
}

// TestWriteMeets has a write meet an edit of the file that nobody had noticed: it
// is refused, and whoever follows the workspace is told of the edit all the same.
func TestWriteMeets(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "# A", "b.md": "[a](a.md#a)"})
	w := open(t, dir, nil)
	a, _ := w.Note("a")
	for _, text := range []string{"# First", "# Theirs"} {
		if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		var conflict *ConflictError
		if _, err := w.Write("a.md", "# Mine", a.Version); !errors.As(err, &conflict) || conflict.Current.Text != text {
			t.Fatalf("Write: %v", err)
		}
	}
	changes, err := w.Refresh("a.md")
	if err != nil || len(changes) != 1 || changes[0].Old != a || changes[0].New.Text != "# Theirs" || !reflect.DeepEqual(changes[0].Affected, []string{"b.md"}) {
		t.Errorf("changes = %+v, %v", changes, err)
	}
	if changes, err := w.Refresh("a.md"); err != nil || len(changes) != 0 {
		t.Errorf("told again: %+v, %v", changes, err)
	}
	theirs, _ := w.Note("a")
	if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte("# Third"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write("a.md", "# Mine", theirs.Version); err == nil {
		t.Fatal("written over what nobody has seen")
	}
	third, _ := w.Note("a")
	if _, err := w.Write("a.md", "# Theirs", third.Version); err != nil {
		t.Fatal(err)
	}
	// What the workspace wrote is told by who had it written.
	if changes, err := w.Refresh("."); err != nil || len(changes) != 0 {
		t.Errorf("after a write: %+v, %v", changes, err)
	}
}
