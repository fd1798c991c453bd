//go:build unix

package framework_test

import (
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
)

// connectOwn connects to a program that serves in its own way.
func connectOwn(t *testing.T, c *child) net.Conn {
	t.Helper()
	c.says("own way: ")
	c.says("\n")
	_, where, _ := strings.Cut(strings.TrimSpace(c.text()), "own way: ")
	peer, err := net.Dial("tcp", where)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = peer.Close() })
	exchange(t, peer, `{"jsonrpc":"2.0","id":1,"method":"echo","params":[]}`+"\n", `{"jsonrpc":"2.0","id":1,"result":[]}`+"\n")
	return peer
}

// A signal ends a way of the program's own, with the sessions there are, in good order.
func TestOwnWay(t *testing.T) {
	c := start(t, "own")
	peer := connectOwn(t, c)
	c.signal(syscall.SIGTERM)
	c.exits(0)
	if n, err := peer.Read(make([]byte, 1)); n > 0 || err == nil {
		t.Errorf("the connection is still there: %d bytes, %v", n, err)
	}
}

func TestOwnWayFails(t *testing.T) {
	c := start(t, "own", "-broken")
	c.exits(1)
	c.complains("own way is broken")
	c = start(t, "own", "--listen", "0")
	c.exits(2)
	c.complains("more than one way to serve: --listen and the program's own")
}

func TestOwnWayParent(t *testing.T) {
	parent := start(t, "idle")
	c := start(t, "own", fmt.Sprintf("--clientProcessId=%d", parent.cmd.Process.Pid))
	connectOwn(t, c)
	parent.in.Close()
	c.exits(1)
	c.says(fmt.Sprintf("parent process %d has ended", parent.cmd.Process.Pid))
}
