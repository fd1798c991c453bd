package framework_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/tandem-rpc/tandem/framework"
)

// patience is how long anything in another process may take before a test gives up.
const patience = time.Minute

func header(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }

func listen(t *testing.T, network, address string) net.Listener {
	t.Helper()
	ln, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	return ln
}

// exchange sends and compares what comes back.
func exchange(t *testing.T, peer net.Conn, send, want string) {
	t.Helper()
	_ = peer.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(peer, send); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(want))
	if n, err := io.ReadFull(peer, got); err != nil {
		t.Fatalf("%v after %q", err, got[:n])
	}
	if string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// serve runs Serve on a loopback listener; the function it returns waits for its end.
func serve(t *testing.T, rt *framework.Runtime, fes ...framework.FrontEnd) (address string, wait func() error) {
	t.Helper()
	ln := listen(t, "tcp", "127.0.0.1:0")
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	go func() { result <- rt.Serve(ctx, ln, fes...) }()
	t.Cleanup(cancel)
	return ln.Addr().String(), func() error {
		t.Helper()
		select {
		case err := <-result:
			return err
		case <-time.After(patience):
			t.Fatal("Serve goes on")
			return nil
		}
	}
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return c
}

// closed waits for the other side to close, and returns what it sent until then.
func closed(t *testing.T, c net.Conn) string {
	t.Helper()
	b, err := io.ReadAll(c)
	if err != nil && !strings.Contains(err.Error(), "reset") {
		t.Fatalf("the connection is not closed: %v", err)
	}
	return string(b)
}

const (
	ask    = `{"jsonrpc":"2.0","id":1,"method":"echo","params":[]}`
	answer = `{"jsonrpc":"2.0","id":1,"result":[]}`
)
