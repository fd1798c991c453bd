package field

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// cancelStress makes calls whose contexts end at random moments, before, in and after the write, and reads what was written with a strict reader.
func cancelStress(t *testing.T, f jsonrpc2.Framing, calls int) {
	a, b := net.Pipe()
	conn := jsonrpc2.NewConn(jsonrpc2.Open(a, f), nil, &jsonrpc2.Options{Cancel: cancel.NewRegistry(cancel.Convention{Method: "cancel", Param: "id"})})
	var wg sync.WaitGroup
	wg.Go(func() { _ = conn.Serve(context.Background()) })
	var data []byte
	wg.Go(func() { data, _ = io.ReadAll(bufio.NewReader(b)) })
	var callers sync.WaitGroup
	for w := range 8 {
		callers.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(w), 30))
			for range calls / 8 {
				ctx, stop := context.WithTimeout(context.Background(), time.Duration(rnd.IntN(200))*time.Microsecond)
				err := conn.Call(ctx, "slow", []string{"éééé"}, nil)
				stop()
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v", err)
				}
			}
		})
	}
	callers.Wait()
	_ = conn.Close()
	wg.Wait()
	messages, err := unframe(f, data)
	if err != nil {
		t.Errorf("after %d messages: %v", len(messages), err)
	}
	if len(messages) == 0 {
		t.Error("nothing was written")
	}
}
