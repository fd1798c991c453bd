//go:build sid

package e2e

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// esc is the escape key, in a notation that does not become another key with
// what follows.
const esc = "\x1b[27u"

// escapes are what a terminal does not show.
var escapes = regexp.MustCompile("\x1b\\[[0-9;?:]*[a-zA-Z]")

// TestHelix: somebody types in Helix, which has no scripts: what the server
// recorded says when to go on, and the files what came of it.
//
// Debian 12 has no Helix, so this is for sid.sh alone.
func TestHelix(t *testing.T) {
	hx := need(t, "hx")
	server := build(t, "cmd/demo-lsp")
	t.Parallel()

	folder, dir := notes(t), t.TempDir()
	check := headings(t, folder, "😀😀 ")
	record, screen := filepath.Join(dir, "record"), filepath.Join(dir, "screen")
	program, ended := witnessed(t, server, "--record", record)
	config, err := os.ReadFile(configuration(t, "Helix", "toml", program))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "helix"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"config.toml": "[editor]\nauto-pairs = false\nauto-completion = false\n", "languages.toml": string(config)} {
		if err := os.WriteFile(filepath.Join(dir, "helix", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	// A terminal with a size, which script(1) is as long as its own input lasts.
	cmd := client(t, "script", "-qfec", `stty rows 40 cols 120; exec "$E2E_HELIX" "$E2E_FILE"`, screen)
	cmd.Dir = folder
	cmd.Env = append(cmd.Env, "XDG_CONFIG_HOME="+dir, "E2E_HELIX="+hx[0], "E2E_FILE="+filepath.Join(folder, "index.md"),
		"LC_ALL=C.UTF-8", "TERM=xterm-256color", "COLORTERM=truecolor")
	keys, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	at, drawn := 0, 0 // what was recorded, and drawn, before the last keys
	file := func(path string) string {
		text, _ := os.ReadFile(path)
		return string(text)
	}
	until := func(what string, holds func() bool) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("still waiting for %s; the record ends with\n%s\nand the screen with\n%q",
					what, tail(file(record), 3000), tail(file(screen), 1000))
			}
		}
	}
	press := func(s string) {
		t.Helper()
		at, drawn = len(file(record)), len(file(screen))
		if _, err := io.WriteString(keys, s); err != nil {
			t.Fatal(err)
		}
	}
	// recorded: the server has said or heard something since the last keys.
	recorded := func(words string) {
		t.Helper()
		until(words, func() bool { return strings.Contains(file(record)[at:], words) })
	}
	// shown: the editor has drawn something since the last keys.
	shown := func(words string) {
		t.Helper()
		until(words, func() bool { return strings.Contains(escapes.ReplaceAllString(file(screen)[drawn:], ""), words) })
	}
	saved := func(name, want string) {
		t.Helper()
		until(name+": "+want, func() bool { return file(filepath.Join(folder, name)) == want })
	}

	recorded(`no such note: \\\"missing.md`)
	press("2ggf( k") // on the link, what it leads to
	recorded("Other note")
	press(esc + "3ggI𝄞é " + esc + "3ggf(lt)cother.md" + esc) // the link, behind more characters of other lengths
	recorded(`\"items\":[]`)
	press(":w\r")
	index := "# Index\n😀 see [other](other.md) é\n𝄞é 😀😀 but [gone](other.md)\n"
	saved("index.md", index)

	press("o🙂🙂 [more](ot\x18") // and the key for the menu
	recorded(`\"label\":\"Other note`)
	shown("Other") // a key before that would call the menu off
	press("\x0e")
	recorded("completionItem/resolve") // Helix asks for more about what is selected
	press("\r)" + esc + ":w\r")
	saved("index.md", index+"🙂🙂 [more](other.md)\n")

	press(":o guide.md\r")
	recorded("guide.md")
	press("3ggfO r")
	shown("rename-to:")
	press("\x15New name\r")
	recorded("new-name")
	press(":wa\r")
	until("the other note to be saved", func() bool { return strings.Contains(file(filepath.Join(folder, "cites.md")), "new-name") })
	press(":qa\r")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	check()
	ended()
}
