package framework_test

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/framework"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// workers is a protocol of its own, in full: a line a message, "run" works through items, and a "cancel" notification that names the request in
// requestId stops it. What a cancelled request is answered with is the handler's choice. Nothing below knows of it.
type workers struct {
	started chan string // the items that are being worked on
}

func (workers) Protocol() string          { return "workers" }
func (workers) Framing() jsonrpc2.Framing { return jsonrpc2.Lines }

func (workers) Conventions() []cancel.Convention {
	return []cancel.Convention{{Method: "cancel", Param: "requestId"}}
}

func (w workers) Mount(*jsonrpc2.Options) (*jsonrpc2.Mux, error) {
	m := jsonrpc2.NewMux()
	m.HandleRequest("sum", jsonrpc2.Call(func(_ context.Context, p *struct {
		Values []int `json:"values"`
	}) (map[string]int, error) {
		total := 0
		for _, v := range p.Values {
			total += v
		}
		return map[string]int{"total": total}, nil
	}))
	m.HandleRequest("run", jsonrpc2.Call(func(ctx context.Context, p *struct {
		Items []string `json:"items"`
	}) ([]string, error) {
		for _, item := range p.Items {
			select {
			case w.started <- item:
			case <-ctx.Done():
				var byPeer cancel.ByPeer
				if errors.As(context.Cause(ctx), &byPeer) {
					return nil, &jsonrpc2.Error{Code: -32000, Message: "Request canceled."}
				}
				return nil, ctx.Err()
			}
		}
		return p.Items, nil
	}))
	// A cancellation that no convention describes.
	m.HandleNotification("custom/cancel", jsonrpc2.Note(func(ctx context.Context, p *struct {
		Request struct {
			ID jsonrpc2.ID `json:"id"`
		} `json:"request"`
	}) error {
		jsonrpc2.ConnFrom(ctx).Cancel(p.Request.ID)
		return nil
	}))
	return m, nil
}

func TestThirdProtocol(t *testing.T) {
	w := workers{make(chan string)}
	a, b := net.Pipe()
	done := make(chan error, 1)
	var rt framework.Runtime
	go func() { done <- rt.ServeConn(context.Background(), a, w) }()

	exchange(t, b, `{"jsonrpc":"2.0","id":1,"method":"sum","params":{"values":[1,2,39]}}`+"\n", `{"jsonrpc":"2.0","id":1,"result":{"total":42}}`+"\n")
	for name, test := range map[string]struct{ send, want string }{
		"convention":     {`{"jsonrpc":"2.0","method":"cancel","params":{"requestId":42}}`, `{"jsonrpc":"2.0","id":42,"error":{"code":-32000,"message":"Request canceled."}}`},
		"own":            {`{"jsonrpc":"2.0","method":"custom/cancel","params":{"request":{"id":42}}}`, `{"jsonrpc":"2.0","id":42,"error":{"code":-32000,"message":"Request canceled."}}`},
		"other spelling": {`{"jsonrpc":"2.0","method":"cancel","params":{"requestId":42.0}}`, `{"jsonrpc":"2.0","id":42,"error":{"code":-32000,"message":"Request canceled."}}`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := b.Write([]byte(`{"jsonrpc":"2.0","id":42,"method":"run","params":{"items":["a","b"]}}` + "\n")); err != nil {
				t.Fatal(err)
			}
			<-w.started // the first item; nobody takes the second
			exchange(t, b, test.send+"\n", test.want+"\n")
		})
	}
	b.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
