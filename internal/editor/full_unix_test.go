//go:build unix

package editor

import (
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/lsp/lsptest"
)

// No room is left for a text that an agent writes: it is told so, nothing is lost, and nothing is left lying around. What goes to an editor needs no room.
func TestFullDisk(t *testing.T) {
	x := join(t, map[string]string{"a.md": "# A\nprecious\n", "b.md": "# B\n[new](new.md)\n"})
	c := x.editor(patient())
	doc := c.Open(x.u("b.md"), x.file("b.md"))
	c.Sync()
	long := strings.Repeat("long text\n", 40_000)

	const room = 256 << 10
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	full := before
	full.Cur = room
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &full); err != nil {
		t.Fatal(err)
	}
	restore := func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
			t.Error(err)
		}
		signal.Reset(syscall.SIGXFSZ)
	}
	t.Cleanup(restore)

	_, note, _ := x.call("read_note", map[string]any{"slug": "a"})
	text, _, failed := x.call("edit_note", map[string]any{"slug": "a", "version": note["version"], "text": long})
	if !failed || !strings.Contains(text, "a.md") {
		t.Errorf("an edit: %s", text)
	}
	if text, _, failed := x.call("create_note", map[string]any{"slug": "new", "text": long}); !failed || !strings.Contains(text, "new.md") {
		t.Errorf("a new note: %s", text)
	}
	if got, _, _ := x.call("read_note", map[string]any{"slug": "a"}); got != "# A\nprecious\n" || x.file("a.md") != got {
		t.Errorf("the note is %q, the file %q", got, x.file("a.md"))
	}
	list, err := os.ReadDir(x.dir)
	if err != nil || len(list) != 2 {
		t.Errorf("the folder has %v, %v", list, err)
	}
	if found := doc.Diagnostics(); len(found) != 1 {
		t.Errorf("the link to the note that was not made: %q", lsptest.Messages(found))
	}
	_, note, _ = x.call("read_note", map[string]any{"slug": "b"})
	if text, _, failed := x.call("edit_note", map[string]any{"slug": "b", "version": note["version"], "text": "# Changed\n"}); failed {
		t.Errorf("an edit of an open note: %s", text)
	}
	if got := doc.Text(); got != "# Changed\n" {
		t.Errorf("the editor has %q", got)
	}
	// With room again, the same is done.
	restore()
	if text, _, failed := x.call("create_note", map[string]any{"slug": "new", "text": "# New\n"}); failed {
		t.Error(text)
	}
	doc.SetText("[new](new.md)\n")
	doc.Until(func(found []protocol.Diagnostic) bool { return len(found) == 0 })
}
