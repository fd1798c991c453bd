package field

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/lsp"
	"github.com/tandem-rpc/tandem/mcp"
)

// Ids of every kind can be cancelled, falsy ones too. MCP answers nothing to what was cancelled, LSP an error, and the cause says who did it.
func TestCancelByID(t *testing.T) {
	for name, c := range map[string]struct{ id, by string }{
		"36: zero": {"0", "0"}, "36: empty string": {`""`, `""`}, "53: number": {"5", "5"}, "53: string": {`"5"`, `"5"`},
		"53: float for an integer": {"5", "5.0"}, "53: integer for an exponent": {"5e2", "500"}, "53: beyond a double": {"9007199254740993", "9007199254740993"},
		"53: escaped": {`"a"`, `"\u0061"`}, "36: negative": {"-1", "-1"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				causes := make(chan error, 2)
				s := tools()
				s.Caller = func(ctx context.Context, _ string, _ mcp.Arguments) (any, error) {
					<-ctx.Done()
					causes <- context.Cause(ctx)
					return mcp.TextResult("too late"), nil
				}
				k := startMCP(t, s)
				k.send(call(c.id, "slow", ""))
				expect(t, "while it runs", k.heard(), "")
				k.send(note("notifications/cancelled", `{"requestId":`+c.by+`,"reason":"enough"}`))
				expect(t, "MCP", k.heard(), "")
				var peer cancel.ByPeer
				if cause := <-causes; !errors.As(cause, &peer) || peer.Reason != "enough" {
					t.Errorf("the cause is %v", cause)
				}
				if left, err := k.end(); err != nil || len(left) > 0 {
					t.Errorf("at the end: %q, %v", left, err)
				}

				k = startLSP(t, &lsp.Server{Hover: func(ctx context.Context, _ *protocol.HoverParams) (*protocol.Hover, error) {
					<-ctx.Done()
					return nil, ctx.Err()
				}})
				k.send(request(c.id, "textDocument/hover", `{"textDocument":{"uri":"file:///a"},"position":{"line":0,"character":0}}`))
				k.heard()
				k.send(note("$/cancelRequest", `{"id":`+c.by+`}`))
				expect(t, "LSP", k.heard(), c.id+":-32800")
				_, _ = k.end()
			})
		})
	}
}

// A cancellation that names nothing is no event: no answer, no end, and the next request is served.
func TestCancelNothing(t *testing.T) {
	for name, params := range map[string]string{
		"58: unknown number": `{"id":999}`, "58: unknown string": `{"id":"x"}`, "58: the number as a string": `{"id":"5"}`, "58: no id": `{}`,
		"58: null": `{"id":null}`, "58: object": `{"id":{}}`, "58: list": `{"id":[5]}`, "58: bool": `{"id":true}`, "58: positional": `[5]`, "58: no params": ``,
		"58: params null": `null`, "58: id twice": `{"id":5,"id":5}`, "58: another case": `{"ID":5,"Id":5}`, "58: finished": `{"id":"hello"}`,
		"58: deeper": `{"params":{"id":5}}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := listen(t, jsonrpc2.Header, plain)
				k.send(request("5", "wait", ""))
				for range 3 {
					k.send(note("cancel", params), note("cancel", params))
				}
				k.send(request("6", "ping", ""))
				expect(t, "after it", k.heard(), "6:ok")
				k.send(note("cancel", `{"id":5}`))
				expect(t, "cancelled at last", k.heard(), "5:-32800")
				k.send(note("cancel", `{"id":5}`), request("7", "ping", ""))
				expect(t, "after the answer", k.heard(), "7:ok")
				_, _ = k.end()

				k = startLSP(t, editor())
				k.send(note("$/cancelRequest", params), request("2", "shutdown", ""))
				expect(t, "LSP", k.heard(), "2:ok")
				_, _ = k.end()
			})
		})
	}
}

// A slow request holds up neither what comes behind it nor the cancellation of itself, however many there are, and one whose handler has not
// started can be cancelled too.
func TestCancelOvertakes(t *testing.T) {
	for name, running := range map[string]int{"60: all run": 0, "60: one at a time": 1, "60: three at a time": 3} {
		t.Run(name, func(t *testing.T) {
			inBoth(t, func(t *testing.T, f jsonrpc2.Framing) {
				k := listen(t, f, plain, func(o *jsonrpc2.Options) { o.MaxRunning = running })
				const n = 64
				for id := range n {
					k.send(request(fmt.Sprint(id), "wait", ""))
				}
				if running == 0 {
					k.send(request("100", "ping", ""))
					expect(t, "a new one", k.heard(), "100:ok")
				}
				var want []string
				for id := range n {
					k.send(note("cancel", fmt.Sprintf(`{"id":%d}`, n-1-id)))
					want = append(want, fmt.Sprintf("%d:-32800", id))
				}
				got := strings.Fields(answers(k.heard()))
				if len(got) != n {
					t.Errorf("%d of %d were answered", len(got), n)
				}
				for _, w := range want {
					if !strings.Contains(" "+strings.Join(got, " ")+" ", " "+w+" ") {
						t.Errorf("no %s", w)
					}
				}
				k.send(request("101", "ping", ""))
				expect(t, "after all", k.heard(), "101:ok")
				_, _ = k.end()
			})
		})
	}
	// In one write, with no time between the request and its cancellation.
	t.Run("60: in one write", func(t *testing.T) {
		inBoth(t, func(t *testing.T, f jsonrpc2.Framing) {
			k := listen(t, f, plain)
			k.send(request("5", "wait", ""), note("cancel", `{"id":5}`), request("6", "ping", ""))
			expect(t, "both", k.heard(), "5:-32800 6:ok")
			_, _ = k.end()
		})
	})
}

// A request that ends in the moment it is cancelled is answered once, in LSP, or at most once, in MCP.
func TestCancelRaces(t *testing.T) {
	for _, c := range []struct {
		name       string
		convention cancel.Convention
		least      int
	}{
		{"53: answered", cancel.Convention{Method: "cancel", Param: "id", Code: -32800}, 1},
		{"53: silent", cancel.Convention{Method: "cancel", Param: "id", Silent: true}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := jsonrpc2.NewMux()
				m.HandleRequest("work", jsonrpc2.HandlerFunc(func(ctx context.Context, _ *jsonrpc2.Request) (any, error) {
					select {
					case <-ctx.Done():
						return nil, ctx.Err()
					case <-time.After(time.Millisecond):
						return 1, nil
					}
				}))
				k := listen(t, jsonrpc2.Lines, func(o *jsonrpc2.Options) (*jsonrpc2.Mux, error) {
					o.Cancel = cancel.NewRegistry(c.convention)
					return m, nil
				})
				for id := range 500 {
					k.send(request(fmt.Sprint(id), "work", ""))
					time.Sleep(time.Duration(id%3) * time.Millisecond / 2) // on the fake clock, so that both are due at once
					k.send(note("cancel", fmt.Sprintf(`{"id":%d}`, id)))
					got := k.heard()
					time.Sleep(2 * time.Millisecond)
					if got = append(got, k.heard()...); len(got) > 1 || len(got) < c.least {
						t.Fatalf("request %d has %d answers: %q", id, len(got), got)
					}
				}
				if _, err := k.end(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
