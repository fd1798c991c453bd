package jsonrpc2

import (
	"bytes"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
)

func TestPipe(t *testing.T) {
	a, b := Pipe()
	sent := []byte("one")
	if err := a.Write(sent, []byte("two"), nil); err != nil {
		t.Fatal(err)
	}
	sent[0] = 'X' // the pipe has its own
	if err := b.Write([]byte("back")); err != nil {
		t.Fatal(err)
	}
	if n := b.(*pipeEnd).Buffered(); n != 6 {
		t.Errorf("%d bytes buffered, want 6", n)
	}
	for _, want := range []string{"one", "two", ""} {
		if m, err := b.Read(); err != nil || string(m) != want {
			t.Errorf("got %q, %v, want %q", m, err, want)
		}
	}
	if m, err := a.Read(); err != nil || string(m) != "back" {
		t.Errorf("got %q, %v", m, err)
	}
}

func TestPipeClose(t *testing.T) {
	a, b := Pipe()
	if err := a.Write([]byte("last")); err != nil {
		t.Fatal(err)
	}
	if err := b.Write([]byte("unread")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if m, err := a.Read(); err != io.EOF {
		t.Errorf("the closed side reads %q, %v", m, err)
	}
	if err := a.Write([]byte("x")); err != io.ErrClosedPipe {
		t.Errorf("the closed side writes: %v", err)
	}
	if err := b.Write([]byte("x")); err != io.ErrClosedPipe {
		t.Errorf("the other side writes: %v", err)
	}
	if m, err := b.Read(); string(m) != "last" || err != nil {
		t.Errorf("the other side reads %q, %v", m, err)
	}
	for range 2 {
		if _, err := b.Read(); err != io.EOF {
			t.Errorf("the other side reads %v", err)
		}
	}
}

// Reads wait for a message and writes for room; Close of either side ends both.
func TestPipeWaits(t *testing.T) {
	for _, own := range []bool{true, false} {
		for what, act := range map[string]func(Transport) error{
			"read":               func(e Transport) error { _, err := e.Read(); return err },
			"write, bytes":       func(e Transport) error { return e.Write(make([]byte, pipeRoom), make([]byte, 1)) },
			"write, one message": func(e Transport) error { return e.Write(make([]byte, 2*pipeRoom), nil, []byte("x")) },
			"write, messages":    func(e Transport) error { return e.Write(make([][]byte, pipeMessages+1)...) },
		} {
			synctest.Test(t, func(t *testing.T) {
				a, b := Pipe()
				got := make(chan error, 1)
				go func() { got <- act(a) }()
				synctest.Wait()
				select {
				case err := <-got:
					t.Fatalf("%s: returned %v", what, err)
				default:
				}
				if own {
					a.Close()
				} else {
					b.Close()
				}
				want := io.ErrClosedPipe
				if what == "read" {
					want = io.EOF
				}
				if err := <-got; err != want {
					t.Errorf("%s: got %v, want %v", what, err, want)
				}
			})
		}
	}
}

// Both directions at once, more than fits: order and contents hold.
func TestPipeThrough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pipe()
		done := make(chan error)
		send := func(e Transport) {
			for i := range 1000 {
				if err := e.Write(fmt.Appendf(nil, "%d %s", i, bytes.Repeat([]byte("x"), 5000))); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}
		receive := func(e Transport) {
			for i := range 1000 {
				m, err := e.Read()
				if err != nil || !bytes.HasPrefix(m, fmt.Appendf(nil, "%d x", i)) || len(m) < 5000 {
					done <- fmt.Errorf("message %d: %.9q, %w", i, m, err)
					return
				}
			}
			done <- nil
		}
		go send(a)
		go send(b)
		go receive(a)
		go receive(b)
		for range 4 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}
