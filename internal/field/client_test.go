package field

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// What is no response to a call of ours ends nothing, is told to somebody, and leaves the call open for its own response.
func TestStrayResponses(t *testing.T) {
	for _, c := range []struct{ name, stray string }{
		{"39: string for a number", `{"jsonrpc":"2.0","id":"1","result":{}}`},
		{"39: another number", `{"jsonrpc":"2.0","id":2,"result":{}}`},
		{"39: zero", `{"jsonrpc":"2.0","id":0,"result":{}}`},
		{"42: id null", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`},
		{"42: id null, result", `{"jsonrpc":"2.0","id":null,"result":1}`},
		{"42: no id", `{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}`},
		{"42: object for an id", `{"jsonrpc":"2.0","id":{},"result":1}`},
		{"47: never asked", `{"jsonrpc":"2.0","id":424242,"result":{}}`},
		{"47: in a batch", `[{"jsonrpc":"2.0","id":424242,"result":{}},{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"m"}}]`},
		{"118: no JSON", `{"jsonrpc":"2.0","id":1,"result":{bad}}`},
		{"118: cut", `{"jsonrpc":"2.0","id":1,"res`},
		{"153: result without id", `{"jsonrpc":"2.0","result":{}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBoth(t, func(t *testing.T, f jsonrpc2.Framing) {
				k := listen(t, f, plain)
				call := k.conn.Go(context.Background(), "ask", nil)
				k.heard()
				for range 300 { // none of them blocks the reader
					k.send(c.stray)
				}
				k.heard()
				if len(k.reported()) == 0 {
					t.Error("nobody was told")
				}
				k.send(`{"jsonrpc":"2.0","id":1,"result":"good"}`, request("2", "ping", ""))
				expect(t, "the reader goes on", k.heard(), "2:ok")
				if got, err := call.Result(); string(got) != `"good"` || err != nil {
					t.Errorf("the call: %s, %v", got, err)
				}
				if _, err := k.end(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A call that is never answered ends by its deadline, and with the connection.
func TestUnansweredCalls(t *testing.T) {
	inBoth(t, func(t *testing.T, f jsonrpc2.Framing) {
		k := listen(t, f, plain)
		ctx, stop := context.WithTimeout(context.Background(), time.Second)
		defer stop()
		began := time.Now()
		k.send(`{"jsonrpc":"2.0","id":"1","result":{}}`) // 39: not the id that was asked
		if err := k.conn.Call(ctx, "ask", nil, nil); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("39: %v after %v", err, time.Since(began))
		}
		pending := k.conn.Go(context.Background(), "ask", nil)
		k.heard()
		_, _ = k.end()
		if _, err := pending.Result(); !errors.Is(err, jsonrpc2.ErrClosed) {
			t.Errorf("163: %v", err)
		}
	})
}

// A client answers what a server asks: what it does not know and what it cannot read are errors, not silence.
func TestClientsAnswer(t *testing.T) {
	inBoth(t, func(t *testing.T, f jsonrpc2.Framing) {
		m := jsonrpc2.NewMux()
		m.HandleRequest("workspace/configuration", jsonrpc2.Call(func(_ context.Context, p *struct{ Items []string }) (int, error) {
			return len(p.Items), nil
		}))
		k := listen(t, f, func(*jsonrpc2.Options) (*jsonrpc2.Mux, error) { return m, nil })
		k.send(request("1", "client/unknown", "{}"), request("2", "workspace/configuration", "5"), request("3", "workspace/configuration", "[5]"),
			request("4", "workspace/configuration", `{"Items":5}`), request("5", "workspace/configuration", `{"Items":["a"]}`))
		expect(t, "117", k.heard(), "1:-32601 2:-32600 3:-32602 4:-32602 5:ok")
		_, _ = k.end()
	})
}

// Two peers that answer each other's garbage come to an end.
func TestNoStorm(t *testing.T) {
	for _, f := range framings {
		t.Run(f.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := listen(t, f, plain)
				heard := 0
				for range 1000 {
					k.send("garbage")
					heard += len(k.heard())
				}
				if heard == 0 || heard > 100 {
					t.Errorf("14: %d answers", heard)
				}
				k.send(ping)
				expect(t, "14: still there", k.heard(), "1:ok")
				if n := strings.Count(strings.Join(k.reported(), "\n"), "too many in a row"); n != 1 {
					t.Errorf("14: told %d times", n)
				}
				_, _ = k.end()
			})
		})
	}
}
