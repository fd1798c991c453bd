//go:build unix

package framework_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tandem-rpc/tandem/framework"
)

func TestUsageErrors(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		says string
	}{
		"node-ipc":          {[]string{"--node-ipc"}, "--node-ipc needs Node.js at both ends: use --stdio, --pipe or --socket"},
		"two ways":          {[]string{"--stdio", "--socket=1"}, "more than one way to serve: --stdio and --socket"},
		"port out of range": {[]string{"--port", "70000"}, "--socket 70000: not a port"},
		"negative process":  {[]string{"--clientProcessId=-3"}, "--clientProcessId -3"},
		"level":             {[]string{"-log-level", "loud"}, `--log-level "loud"`},
		"argument":          {[]string{"serve\x1b[31m"}, `unexpected argument "serve\x1b[31m"`},
		"remote alone":      {[]string{"-listen-remote"}, "--listen-remote: needs --listen"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := start(t, "lines", test.args...)
			c.exits(2)
			c.complains(test.says)
		})
	}
	t.Run("unknown flag", func(t *testing.T) {
		t.Parallel()
		c := start(t, "lines", "--tcp")
		c.exits(2)
		c.says("flag provided but not defined: -tcp")
		c.says("clientProcessId PID")
	})
	t.Run("help", func(t *testing.T) {
		t.Parallel()
		c := start(t, "lines", "--help")
		c.exits(0)
		c.says("listen ADDR")
	})
}

func TestCannotServe(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(plain, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		args []string
		says string
	}{
		"pipe that is not there": {[]string{"--pipe=/nonexistent/x.sock"}, "connect to pipe"},
		"port nobody listens on": {[]string{"--socket", unusedPort(t)}, "connection refused"},
		"remote address":         {[]string{"--listen", "0.0.0.0:0"}, "not a loopback"},
		"a file":                 {[]string{"--listen", "unix:" + plain}, "is not a socket"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := start(t, "lines", test.args...)
			c.exits(1)
			c.complains(test.says)
		})
	}
	t.Cleanup(func() {
		if b, err := os.ReadFile(plain); err != nil || string(b) != "precious" {
			t.Errorf("the file is now %q, %v", b, err)
		}
	})
}

// unusedPort is one that nobody listens on, nor will: it is the near end of a connection.
func unusedPort(t *testing.T) string {
	c := dial(t, listen(t, "tcp", "127.0.0.1:0").Addr().String())
	_, port, _ := net.SplitHostPort(c.LocalAddr().String())
	return port
}

// The flags with which editors hand over a connection all connect to them.
func TestConnects(t *testing.T) {
	for _, flags := range []string{"--socket=PORT", "--socket PORT", "-port PORT", "--port=PORT", "--pipe=PATH", "-pipe PATH"} {
		t.Run(flags, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "s")
			var ln net.Listener
			if strings.Contains(flags, "PATH") {
				ln = listen(t, "unix", path)
			} else {
				ln = listen(t, "tcp", "127.0.0.1:0")
				_, path, _ = net.SplitHostPort(ln.Addr().String())
			}
			c := start(t, "both", strings.Fields(strings.NewReplacer("PORT", path, "PATH", path).Replace(flags))...)
			peer, err := ln.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer peer.Close()
			exchange(t, peer, header(`{"jsonrpc":"2.0","id":1,"method":"echo","params":[]}`), header(`{"jsonrpc":"2.0","id":1,"result":[]}`))
			peer.Close()
			c.exits(0)
		})
	}
}

func TestListenServesBothFramings(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "0", "unix:PATH"} {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "s")
			c := start(t, "both", "--listen", strings.Replace(address, "PATH", path, 1), "--stats")
			c.says("listening on ")
			c.says("\n")
			network, where := "unix", path
			if address != "unix:PATH" {
				network = "tcp"
				_, where, _ = strings.Cut(strings.TrimSpace(c.text()), "listening on ")
			}
			for _, frame := range []func(string) string{header, func(s string) string { return s + "\n" }} {
				peer, err := net.Dial(network, where)
				if err != nil {
					t.Fatal(err)
				}
				defer peer.Close()
				exchange(t, peer, frame(`{"jsonrpc":"2.0","id":1,"method":"echo","params":[]}`), frame(`{"jsonrpc":"2.0","id":1,"result":[]}`))
			}
			c.signal(syscall.SIGTERM)
			c.exits(0)
			c.says("echo  ")
			if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the socket file is still there: %v", err)
			}
		})
	}
}

func TestParentByFlag(t *testing.T) {
	parent := start(t, "idle")
	c := start(t, "lines", fmt.Sprintf("--clientProcessId=%d", parent.cmd.Process.Pid))
	c.send(`{"jsonrpc":"2.0","id":1,"method":"hold"}`, "\n")
	c.line()
	parent.in.Close()
	c.exits(1) // with its input open and a handler running
	c.complains(fmt.Sprintf("parent process %d has ended", parent.cmd.Process.Pid))
}

// A parent that has ended and whom nobody has waited for is still there for signals.
func TestParentIsZombie(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	parent, err := os.StartProcess(os.Args[0], os.Args[:1], &os.ProcAttr{
		Env: append(os.Environ(), programVariable+"=idle"), Files: []*os.File{r, os.Stderr, os.Stderr}})
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	c := start(t, "lines", fmt.Sprintf("--clientProcessId=%d", parent.Pid))
	c.send(`{"jsonrpc":"2.0","id":1,"method":"echo","params":[]}`, "\n")
	c.line()
	w.Close()
	if zombiesShow {
		c.exits(1)
	}
	if _, err := parent.Wait(); err != nil {
		t.Fatal(err)
	}
	c.exits(1)
}

func TestParentWasNeverThere(t *testing.T) {
	gone := start(t, "idle")
	gone.in.Close()
	gone.exits(0)
	c := start(t, "lines", "--clientProcessId", fmt.Sprint(gone.cmd.Process.Pid))
	c.exits(1)
	c.complains("has ended")
}

func TestParentByMessage(t *testing.T) {
	parent := start(t, "idle")
	c := start(t, "lines")
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"parent","params":{"PID":%d}}`, parent.cmd.Process.Pid), "\n")
	if got, want := c.line(), `{"jsonrpc":"2.0","id":1,"result":true}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	parent.in.Close()
	c.exits(1)
	c.complains("has ended")
}

func TestStats(t *testing.T) {
	c := start(t, "lines", "--stats")
	c.send(`{"jsonrpc":"2.0","id":1,"method":"echo","params":[]}`, "\n", `{"jsonrpc":"2.0","id":1,"method":"nothing"}`, "\n")
	c.in.Close()
	c.exits(0)
	c.says("echo")
}

func TestConfigBesideOtherFlags(t *testing.T) {
	fs := flag.NewFlagSet("demo", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	var c framework.Config
	c.Register(fs)
	root := fs.String("root", ".", "")
	if err := fs.Parse([]string{"-root", "/notes", "--stdio", "-log-level=debug", "--clientProcessId=12"}); err != nil {
		t.Fatal(err)
	}
	if *root != "/notes" || !c.Stdio || c.LogLevel != "debug" || c.ParentID != 12 {
		t.Errorf("root %q, %+v", *root, c)
	}
	if err := c.Check(); err != nil {
		t.Error(err)
	}
	var out bytes.Buffer
	fs.SetOutput(&out)
	fs.PrintDefaults()
	if !strings.Contains(out.String(), "-pipe NAME") {
		t.Errorf("no help for --pipe: %s", out.String())
	}
}
