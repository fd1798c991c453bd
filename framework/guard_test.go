package framework_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/tandem-rpc/tandem/framework"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Within a process, standard streams that somebody has replaced are served as they are, and put back.
func TestServeStdioReplacedStreams(t *testing.T) {
	stdin, stdout, stderr := os.Stdin, os.Stdout, os.Stderr
	defer func() { os.Stdin, os.Stdout, os.Stderr = stdin, stdout, stderr }()
	pipe := func() (r, w *os.File) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close(); w.Close() })
		return r, w
	}
	inR, inW := pipe()
	outR, outW := pipe()
	errR, errW := pipe()
	os.Stdin, os.Stdout, os.Stderr = inR, outW, errW

	fe := newFront(jsonrpc2.Lines)
	fe.mount = func(_ *jsonrpc2.Options, m *jsonrpc2.Mux) error {
		m.HandleRequest("say", jsonrpc2.HandlerFunc(func(context.Context, *jsonrpc2.Request) (any, error) {
			fmt.Println("stray")
			return true, nil
		}))
		return nil
	}
	var rt framework.Runtime
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- rt.ServeStdio(ctx, fe) }()
	if _, err := io.WriteString(inW, `{"jsonrpc":"2.0","id":1,"method":"say"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	want := `{"jsonrpc":"2.0","id":1,"result":true}` + "\n"
	got := make([]byte, len(want))
	if _, err := io.ReadFull(outR, got); err != nil || string(got) != want {
		t.Errorf("standard output has %q, %v", got, err)
	}
	if err := rt.ServeStdio(context.Background(), fe); err != framework.ErrStdioBusy {
		t.Errorf("a second one: %v", err)
	}
	cancel() // the input stays open
	if err := <-done; err != context.Canceled {
		t.Errorf("ServeStdio returned %v", err)
	}
	if os.Stdout != outW {
		t.Error("standard output was not put back")
	}
	if _, err := fmt.Println("mine again"); err != nil {
		t.Error(err)
	}
	outW.Close()
	errW.Close()
	rest, _ := io.ReadAll(outR)
	stray, _ := io.ReadAll(errR)
	if string(rest) != "mine again\n" || !bytes.Equal(stray, []byte("stray\n")) {
		t.Errorf("standard output then has %q, standard error %q", rest, stray)
	}
}
