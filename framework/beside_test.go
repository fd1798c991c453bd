//go:build unix

package framework_test

import (
	"bufio"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestBeside has a program serve standard input and output, a port and a socket at once.
func TestBeside(t *testing.T) {
	for name, end := range map[string]func(*child){
		"main connection ends": func(c *child) { c.in.Close(); c.exits(0) },
		"signal":               func(c *child) { _ = c.cmd.Process.Signal(syscall.SIGTERM); c.exits(0) },
	} {
		t.Run(name, func(t *testing.T) {
			socket := filepath.Join(t.TempDir(), "s")
			t.Setenv("TANDEM_FRAMEWORK_SOCKET", "unix:"+socket)
			c := start(t, "beside")
			c.says("serving http://")
			c.says("listening on " + socket)
			c.send(ask + "\n")
			if got := c.line(); got != answer {
				t.Errorf("main: %s", got)
			}
			_, rest, _ := strings.Cut(c.text(), "serving http://")
			address, _, _ := strings.Cut(rest, "/page")
			if s, err := new(page).get(t, "tcp", address, "/p"); err != nil || s != "POST /p ?" {
				t.Errorf("the port: %q %v", s, err)
			}
			other, err := net.Dial("unix", socket)
			if err != nil {
				t.Fatal(err)
			}
			defer other.Close()
			exchange(t, other, ask+"\n", answer+"\n")
			end(c)
			if s, err := bufio.NewReader(other).ReadString('\n'); err == nil {
				t.Errorf("the socket says %q", s)
			}
			if _, err := net.Dial("unix", socket); err == nil {
				t.Error("the socket is still there")
			}
		})
	}
	t.Run("cannot listen", func(t *testing.T) {
		t.Setenv("TANDEM_FRAMEWORK_SOCKET", "192.0.2.1:1")
		c := start(t, "beside")
		c.exits(1)
		c.complains(`address is not a loopback one: "192.0.2.1:1"`)
	})
}
