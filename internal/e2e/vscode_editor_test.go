//go:build !race && !poison

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestVSCode: somebody edits notes in VS Code, which runs in Chromium, with the
// extension of demo-lsp packed and installed as its README says. The server is
// started by vscode-languageclient and ends with code 0.
//
// With E2E_PICTURES=DIR in the environment it leaves a picture there, vscode.png.
func TestVSCode(t *testing.T) {
	argv := chromium(t, "vscode.mjs")
	code := need(t, "code-server")
	pack := need(t, "vsce")
	if runtime.GOOS == "windows" {
		t.Fatal("the exit code of the server is taken with a shell")
	}
	server := build(t, "cmd/demo-lsp")
	extension := vsix(t, pack)
	for _, transport := range []string{"stdio", "pipe"} {
		t.Run(transport, func(t *testing.T) {
			dir := t.TempDir()
			folder := filepath.Join(dir, "notes") // a name for the picture
			if err := os.Rename(notes(t), folder); err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{
				"one.md": "# One\n\n😀😀 is a #draft of one\n",
				"two.md": "# Two\n\n😀 so is this #draft\n",
			} {
				if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			recorder, recording := record(t, server, folder)
			status := filepath.Join(dir, "status")
			settings := map[string]any{
				"tandemNotes.server.path":                          reporting(t, dir, recorder, status),
				"tandemNotes.server.transport":                     transport,
				"chat.disableAIFeatures":                           true,
				"files.autoSave":                                   "off",
				"extensions.autoCheckUpdates":                      false,
				"editor.hover.delay":                               100,
				"telemetry.telemetryLevel":                         "off",
				"window.commandCenter":                             false,
				"workbench.secondarySideBar.defaultVisibility":     "hidden",
				"workbench.startupEditor":                          "none",
				"workbench.welcomePage.walkthroughs.openOnInstall": false,
			}
			url, end := workbench(t, code, dir, extension, settings)
			script := append(argv, url, folder)
			if pictures := os.Getenv("E2E_PICTURES"); pictures != "" && transport == "stdio" {
				picture, err := filepath.Abs(filepath.Join(pictures, "vscode.png"))
				if err != nil {
					t.Fatal(err)
				}
				script = append(script, picture)
			}
			runChecks(t, client(t, script...))
			end()
			checkStatus(t, status, map[string]string{"stdio": "--stdio", "pipe": "--pipe="}[transport])
			recording.replaySaved(t)
		})
	}
}

// vsix packs the extension of cmd/demo-lsp in a copy of its folder.
var vsix = func() func(t *testing.T, pack []string) string {
	var once sync.Once
	var path string
	var failed error
	return func(t *testing.T, pack []string) string {
		once.Do(func() {
			source := filepath.Join("..", "..", "cmd", "demo-lsp", "vscode")
			dir := filepath.Join(scratch, "extension")
			modules, err := filepath.Abs(filepath.Join(source, "node_modules"))
			if failed = err; failed != nil {
				return
			}
			if failed = os.Mkdir(dir, 0o700); failed != nil {
				return
			}
			for _, name := range []string{"package.json", "extension.js", "README.md", "LICENSE", ".vscodeignore"} {
				text, err := os.ReadFile(filepath.Join(source, name))
				if err == nil {
					err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
				}
				if failed = err; failed != nil {
					return
				}
			}
			if failed = os.Symlink(modules, filepath.Join(dir, "node_modules")); failed != nil {
				return
			}
			cmd := client(t, append(pack, "package", "--no-dependencies", "--out", "extension.vsix")...)
			cmd.Dir = dir
			// The script that bundles the extension is run by npm with tools of that folder.
			cmd.Env = append(cmd.Env, "PATH="+filepath.Dir(pack[0])+string(os.PathListSeparator)+os.Getenv("PATH"))
			if out, err := cmd.CombinedOutput(); err != nil {
				failed = fmt.Errorf("vsce package: %w\n%s", err, out)
			}
			path = filepath.Join(dir, "extension.vsix")
		})
		if failed != nil {
			t.Fatal(failed)
		}
		return path
	}
}()

// reporting makes a command that runs the server and writes its arguments and
// its exit code to a file.
func reporting(t *testing.T, dir, server, status string) string {
	t.Helper()
	path := filepath.Join(dir, "server")
	script := fmt.Sprintf("#!/bin/sh\necho \"start $*\" >>'%s'\n'%s' \"$@\"\necho \"end $?\" >>'%[1]s'\n", status, server)
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// checkStatus: two servers were started with the flag of the transport, and both
// ended with code 0: the first when the extension restarted it, the second with
// the editor. The new one may start before the old one has ended.
func checkStatus(t *testing.T, path, flag string) {
	t.Helper()
	for end := time.Now().Add(3 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		text, err := os.ReadFile(path)
		got := string(text)
		if strings.Count(got, "start "+flag) == 2 && strings.Count(got, "end 0\n") == 2 && strings.Count(got, "\n") == 4 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("servers: %q, %v", got, err)
		}
	}
}

// workbench starts VS Code's server with an extension. end ends it.
func workbench(t *testing.T, code []string, dir, extension string, settings any) (url string, end func()) {
	t.Helper()
	text, err := json.Marshal(settings)
	if err == nil {
		err = os.MkdirAll(filepath.Join(dir, "user", "User"), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "user", "User", "settings.json"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	argv := append(code, "--user-data-dir", filepath.Join(dir, "user"), "--extensions-dir", filepath.Join(dir, "extensions"))
	if out, err := client(t, append(argv, "--install-extension", extension)...).CombinedOutput(); err != nil {
		t.Fatalf("install: %v\n%s", err, tail(string(out), 4000))
	}
	cmd := client(t, append(argv, "--bind-addr", "127.0.0.1:0", "--auth", "none", "--disable-telemetry", "--disable-update-check",
		"--disable-workspace-trust", "--disable-getting-started-override")...)
	said := new(bytes.Buffer)
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	found, done := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(done)
		for lines := bufio.NewScanner(r); lines.Scan(); {
			fmt.Fprintln(said, lines.Text())
			if at := regexp.MustCompile(`HTTP server listening on (http://\S*[^/\s])`).FindStringSubmatch(lines.Text()); at != nil {
				found <- at[1]
			}
		}
	}()
	ended := false
	end = func() {
		if ended {
			return
		}
		ended = true
		interrupt(t, cmd)
		_ = w.Close()
		<-done
		if t.Failed() {
			t.Logf("VS Code:\n%s", tail(withoutTraces(said.String()), 4000))
		}
	}
	t.Cleanup(end)
	select {
	case url = <-found:
	case <-time.After(3 * time.Minute):
		t.Fatal("VS Code does not say where it is")
	}
	return url, end
}

// withoutTraces drops what VS Code says about the native add-ons it can do without.
func withoutTraces(log string) string {
	var kept strings.Builder
	for line := range strings.Lines(log) {
		if s := strings.TrimSpace(line); !strings.HasPrefix(s, "→") && !strings.HasPrefix(s, "at ") && !strings.HasPrefix(s, "'/") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}
