//go:build unix

package framework_test

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tandem-rpc/tandem/framework"
)

func TestListenTCP(t *testing.T) {
	for name, test := range map[string]struct {
		address string
		remote  bool
		want    string // the host; "" for a refusal
	}{
		"loopback":         {"127.0.0.1:0", false, "127.0.0.1"},
		"name":             {"localhost:0", false, "127.0.0.1"},
		"port":             {"0", false, "127.0.0.1"},
		"colon and port":   {":0", false, "127.0.0.1"},
		"every address":    {"0.0.0.0:0", false, ""},
		"every IPv6":       {"[::]:0", false, ""},
		"documentation":    {"192.0.2.1:0", false, ""},
		"every, asked for": {"0.0.0.0:0", true, "0.0.0.0"},
	} {
		t.Run(name, func(t *testing.T) {
			if test.remote && testing.Short() {
				t.Log("this one is open to other machines for a moment")
			}
			ln, err := framework.Listen(test.address, test.remote)
			if test.want == "" {
				if !errors.Is(err, framework.ErrNotLoopback) || !strings.Contains(err.Error(), test.address) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer ln.Close()
			host, _, _ := net.SplitHostPort(ln.Addr().String())
			if host != test.want && !net.ParseIP(host).IsLoopback() && !test.remote {
				t.Errorf("listens on %s, want %s", ln.Addr(), test.want)
			}
		})
	}
	for _, bad := range []string{"127.0.0.1:notaport", "127.0.0.1:70000", "not a host name:1", "unix:", "unix:@abstract", "a:b:c"} {
		if ln, err := framework.Listen(bad, false); err == nil {
			t.Errorf("%q: listens on %v", bad, ln.Addr())
			ln.Close()
		} else if !strings.HasPrefix(err.Error(), "framework: ") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestListenUnix(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s")
	ln, err := framework.Listen("unix:"+path, false)
	if err != nil {
		t.Fatal(err)
	}
	if at, err := os.Stat(path); err != nil || at.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("the socket is %v, %v, want mode 0600", at.Mode(), err)
	}
	if got := ln.Addr().String(); got != path {
		t.Errorf("the address is %q, want %q", got, path)
	}
	if _, err := framework.Listen("unix:"+path, false); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("a second listener: %v", err)
	}
	go func() {
		if c, err := ln.Accept(); err == nil { // the question whether it is in use
			c.Close()
		}
		if c, err := ln.Accept(); err == nil {
			_, _ = io.WriteString(c, "hello")
			c.Close()
		}
	}()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(c); err != nil || string(b) != "hello" {
		t.Errorf("got %q, %v", b, err)
	}
	c.Close()
	for range 2 {
		_ = ln.Close()
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("files left: %v, %v", left, err)
	}
}

func TestListenUnixStaleSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	ln, err := framework.Listen("unix:"+path, false)
	if err != nil {
		t.Fatal(err)
	}
	// Somebody else takes the place: their file must stay.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	other := listen(t, "unix", path)
	ln.Close()
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the other's socket is gone: %v", err)
	}
	other.Close()
}

func TestListenUnixSparesFiles(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "notes.md"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(file, []byte("precious"), 0o600), os.Symlink(file, link)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, link, dir, filepath.Join(dir, "none", "s")} {
		if ln, err := framework.Listen("unix:"+path, false); err == nil {
			t.Errorf("%s: listens", path)
			ln.Close()
		}
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "precious" {
		t.Errorf("the file is %q, %v", b, err)
	}
}
