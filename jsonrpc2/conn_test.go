package jsonrpc2

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-rpc/tandem/cancel"
)

func TestAnswers(t *testing.T) {
	tests := []struct {
		name, in, out string
		report        string
	}{
		{"result", request("1", "ping", ""), result("1", `"pong"`), ""},
		{"id text kept", request("1.0", "ping", ""), result("1.0", `"pong"`), ""},
		{"id beyond a double", request("9007199254740993", "ping", ""), result("9007199254740993", `"pong"`), ""},
		{"empty string id", request(`""`, "ping", ""), result(`""`, `"pong"`), ""},
		{"null id is answered", request("null", "ping", ""), result("null", `"pong"`), ""},
		{"params null are absent", request("1", "echo", "null"), result("1", "null"), ""},
		{"escaped method name", `{"jsonrpc":"2.0","id":1,"m\u0065thod":"p\u0069ng"}`, result("1", `"pong"`), ""},
		{"unknown method", request("1", "nope", ""), failure("1", -32601, "Method not found"), ""},
		{"notification as request", request("1", "note", ""), failure("1", -32601, "Method not found"), ""},
		{"not JSON", `{"jsonrpc":"2.0","id":1`, failure("null", -32700, "Parse error"), "invalid message"},
		{"two values", `{}{}`, failure("null", -32700, "Parse error"), "invalid message"},
		{"trailing comma", `{"jsonrpc":"2.0","id":1,"method":"ping",}`, failure("null", -32700, "Parse error"), "invalid message"},
		{"deep", request("1", "echo", strings.Repeat("[", 4<<20)), failure("null", -32700, "Parse error"), "invalid message"},
		{"invalid UTF-8", request("1", "echo", "[\"\xff\"]"), failure("null", -32700, "Parse error"), "invalid message"},
		{"scalar", `42`, failure("null", -32600, "Invalid Request"), "invalid message"},
		{"no version", `{"id":1,"method":"ping"}`, failure("1", -32600, "Invalid Request"), "jsonrpc"},
		{"object id", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, failure("null", -32600, "Invalid Request"), "id"},
		{"duplicate method", `{"jsonrpc":"2.0","id":1,"method":"ping","method":"echo"}`, failure("1", -32600, "Invalid Request"), "method"},
		{"capital method", `{"jsonrpc":"2.0","id":1,"Method":"ping"}`, failure("1", -32600, "Invalid Request"), "method"},
		{"empty batch", `[]`, failure("null", -32600, "Invalid Request"), ""},
		{"unexpected error is hidden", request("1", "boom", ""), failure("1", -32603, "Internal error"), "boom: unexpected EOF"},
		{"panic is contained", request("1", "panic", ""), failure("1", -32603, "Internal error"), "panic: panic in handler: secret"},
		{"lone surrogate is text", request("1", "echo", `["\ud800"]`), result("1", `["\ud800"]`), ""},
		{"number beyond a double is text", request("1", "echo", `[1e400]`), result("1", `[1e400]`), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWire(t, testMux(nil), nil)
			w.send(tt.in)
			w.want(tt.out)
			w.send(request("9", "ping", ""))
			w.want(result("9", `"pong"`))
			if err := w.close(); err != nil {
				t.Errorf("Serve: %v", err)
			}
			if tt.report != "" && w.reported(tt.report) == 0 || tt.report == "" && len(w.reports) > 0 && tt.name != "empty batch" {
				t.Errorf("reports %q, want %q", w.reports, tt.report)
			}
		})
	}
}

// A peer without handlers answers requests, and nothing that is none.
func TestNoHandlers(t *testing.T) {
	w := newWire(t, nil, nil)
	w.send("garbage", request("1", "ping", ""), note("x", ""), request("2", "y", ""))
	w.want(failure("1", -32601, "Method not found"), failure("2", -32601, "Method not found"))
	if err := w.close(); err != nil || w.reported("invalid message") != 1 {
		t.Error(err, w.reports)
	}
}

// Two peers that answer each other's garbage must come to an end.
func TestGarbageStorm(t *testing.T) {
	w := newWire(t, testMux(nil), nil)
	for range 3 * maxBad {
		w.send("garbage")
	}
	w.send(request("1", "ping", ""), "garbage")
	for range maxBad {
		w.want(failure("null", -32700, "Parse error"))
	}
	w.wantAny(result("1", `"pong"`), failure("null", -32700, "Parse error")) // a good message ends the row
	_ = w.close()
	if n := w.reported("too many in a row"); n != 1 {
		t.Errorf("reported %d times", n)
	}
}

func TestBatches(t *testing.T) {
	ping := func(id string) string { return request(id, "ping", "") }
	tests := []struct {
		name string
		o    Options
		in   string
		out  string // "": nothing
	}{
		{"order of the requests", Options{}, `[` + request("1", "echo", "[1]") + `,` + note("note", "") + `,` + ping("2") + `]`, `[` + result("1", "[1]") + `,` + result("2", `"pong"`) + `]`},
		{"of one", Options{}, `[` + ping("1") + `]`, `[` + result("1", `"pong"`) + `]`},
		{"notifications only", Options{}, `[` + note("note", "") + `,` + note("what", "") + `]`, ""},
		{"invalid entries", Options{}, `[1,` + ping("1") + `,{"jsonrpc":"2.0","id":7}]`,
			`[` + failure("null", -32600, "Invalid Request") + `,` + result("1", `"pong"`) + `,` + failure("7", -32600, "Invalid Request") + `]`},
		{"at the limit", Options{MaxBatch: 2}, `[` + ping("1") + `,` + ping("2") + `]`, `[` + result("1", `"pong"`) + `,` + result("2", `"pong"`) + `]`},
		{"over the limit", Options{MaxBatch: 2}, `[` + ping("1") + `,` + ping("2") + `,` + ping("3") + `]`, failure("null", -32600, "Invalid Request")},
		{"refused", Options{MaxBatch: NoBatch}, `[` + ping("1") + `]`, failure("null", -32600, "Invalid Request")},
		{"refused by the front end", Options{AdmitBatch: func(_ context.Context, b []*Request) error {
			if len(b) == 2 && b[1].Method == "ping" {
				return Errorf(-32001, "no")
			}
			return nil
		}}, `[3,` + ping("1") + `]`, failure("null", -32001, "no")},
		{"error and panic", Options{}, `[` + request("1", "boom", "") + `,` + request("2", "panic", "") + `,` + ping("3") + `]`,
			`[` + failure("1", -32603, "Internal error") + `,` + failure("2", -32603, "Internal error") + `,` + result("3", `"pong"`) + `]`},
		{"largest results give way", Options{MaxFrame: 260}, `[` + request("1", "echo", `["`+strings.Repeat("x", 60)+`"]`) + `,` + request("2", "echo", `["`+strings.Repeat("y", 40)+`"]`) + `]`,
			`[` + result("1", `["`+strings.Repeat("x", 60)+`"]`) + `,` + result("2", `["`+strings.Repeat("y", 40)+`"]`) + `]`},
		{"responses to nobody", Options{}, `[{"jsonrpc":"2.0","id":1,"result":1},{"jsonrpc":"1.0","method":"x"}]`, ""},
		{"responses among requests", Options{}, `[{"jsonrpc":"2.0","id":1,"result":1},` + ping("2") + `]`, `[` + result("2", `"pong"`) + `]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := tt.o
			w := newWire(t, testMux(nil), &o)
			w.send(tt.in, ping("99"))
			if tt.out == "" {
				w.want(result("99", `"pong"`))
			} else {
				w.wantAny(tt.out, result("99", `"pong"`))
			}
			if err := w.close(); err != nil {
				t.Error(err)
			}
			d := NewDispatcher(testMux(nil), &tt.o)
			if got := string(d.Handle(context.Background(), []byte(tt.in))); got != tt.out {
				t.Errorf("Dispatcher: got  %s\nwant %s", got, tt.out)
			}
		})
	}
}

// A batch whose entries each fit and which is too large as a whole gives up its largest results.
func TestBatchTooLarge(t *testing.T) {
	m := NewMux()
	for name, size := range map[string]int{"small": 10, "middle": 100, "large": 150} {
		m.HandleRequest(name, Call(func(context.Context, *struct{}) (string, error) { return strings.Repeat("x", size), nil }))
	}
	w := newWire(t, m, &Options{MaxFrame: 260})
	w.send(`[` + request("1", "small", "") + `,` + request("2", "large", "") + `,` + request("3", "small", "") + `]`)
	w.want(`[` + result("1", `"xxxxxxxxxx"`) + `,` + failure("2", -32603, "Internal error") + `,` + result("3", `"xxxxxxxxxx"`) + `]`)
	_ = w.close()
	if w.reported(`large: answer to "large" in a batch`) != 1 {
		t.Error(w.reports)
	}
}

func TestOversizedResult(t *testing.T) {
	m := NewMux()
	m.HandleRequest("big", Call(func(context.Context, *struct{}) (string, error) { return strings.Repeat("x", 500), nil }))
	w := newWire(t, m, &Options{MaxFrame: 120})
	w.send(request("1", "big", ""))
	w.want(failure("1", -32603, "Internal error"))
	_ = w.close()
	if w.reported("big: ") != 1 {
		t.Error(w.reports)
	}
}

// What cannot be encoded becomes an Internal error, and a line stays a line.
func TestEncoding(t *testing.T) {
	results := map[string]any{
		"chan":       make(chan int),
		"raw":        json.RawMessage(`{"a":`),
		"rawTwo":     json.RawMessage(`1 2`),
		"marshaller": badMarshaller{},
		"panics":     panickingMarshaller{},
	}
	m := NewMux()
	for name, v := range results {
		m.HandleRequest(name, HandlerFunc(func(context.Context, *Request) (any, error) { return v, nil }))
	}
	m.HandleRequest("lines", HandlerFunc(func(context.Context, *Request) (any, error) { return json.RawMessage("{\n\"a\":\r\n1}\n"), nil }))
	m.HandleRequest("badData", HandlerFunc(func(context.Context, *Request) (any, error) {
		return nil, Errorf(7, "m").WithData(make(chan int))
	}))
	m.HandleRequest("nil", HandlerFunc(func(context.Context, *Request) (any, error) { return json.RawMessage(nil), nil }))
	w := newWire(t, m, nil)
	for name := range results {
		w.send(request("1", name, ""))
		w.want(failure("1", -32603, "Internal error"))
		if w.reported(name+": ") == 0 {
			t.Errorf("%s not reported: %q", name, w.reports)
		}
	}
	w.send(request("2", "badData", ""), request("3", "lines", ""), request("4", "nil", ""))
	w.wantAny(failure("2", -32603, "Internal error"), result("3", "{ \"a\":\r 1} "), result("4", "null"))
	_ = w.close()
}

type badMarshaller struct{}

func (badMarshaller) MarshalJSON() ([]byte, error) { return []byte("{x"), nil }

type panickingMarshaller struct{}

func (panickingMarshaller) MarshalJSON() ([]byte, error) { panic("no") }

func TestTypedParams(t *testing.T) {
	type object struct {
		Name  string `json:"name"`
		Count int    `json:"count"`
	}
	m := NewMux()
	m.HandleRequest("object", Call(func(_ context.Context, p *object) (string, error) { return fmt.Sprint(p.Name, p.Count), nil }))
	m.HandleRequest("optional", Call(func(_ context.Context, p *object) (string, error) { return p.Name, nil }, Optional))
	m.HandleRequest("list", Call(func(_ context.Context, p *[]int) (int, error) { return len(*p), nil }))
	m.HandleRequest("pointer", Call(func(_ context.Context, p **object) (bool, error) { return *p == nil, nil }))
	m.HandleRequest("none", Call(func(context.Context, *struct{}) (string, error) { return "ok", nil }))
	m.HandleRequest("raw", Call(func(_ context.Context, p *json.RawMessage) (string, error) { return string(*p), nil }))
	invalid := func(detail string) string { return failure("1", -32602, "Invalid params"+detail) }
	tests := []struct{ name, method, params, want string }{
		{"fits", "object", `{"name":"a","count":2}`, result("1", `"a2"`)},
		{"absent", "object", "", invalid("")},
		{"null", "object", "null", invalid("")},
		{"array for object", "object", "[]", invalid("")},
		{"wrong type names the place", "object", `{"count":"secret"}`, invalid(": count: want int")},
		{"other case is another member", "object", `{"Name":"a"}`, result("1", `"0"`)},
		{"member with NUL is another", "object", `{"name\u0000":"a"}`, result("1", `"0"`)},
		{"optional absent", "optional", "", result("1", `""`)},
		{"optional array", "optional", "[]", invalid("")},
		{"list", "list", "[1,2]", result("1", "2")},
		{"object for list", "list", "{}", invalid("")},
		{"pointer absent", "pointer", "", result("1", "true")},
		{"pointer object", "pointer", "{}", result("1", "false")},
		{"none takes anything", "none", `[1]`, result("1", `"ok"`)},
		{"raw", "raw", `[1, 2]`, result("1", `"[1, 2]"`)},
		{"raw absent", "raw", "", result("1", `""`)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := NewDispatcher(m, nil)
			if got := string(d.Handle(context.Background(), []byte(request("1", tt.method, tt.params)))); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			w := newWire(t, m, nil)
			w.send(request("1", tt.method, tt.params))
			w.want(tt.want)
			_ = w.close()
		})
	}
}

func TestInboundCancel(t *testing.T) {
	conventions := cancel.NewRegistry(answered, silent)
	cancelled := failure("1", -32800, "Request cancelled")
	tests := []struct {
		name string
		send []string
		want []string
	}{
		{"answered by the convention", []string{request("1", "wait", ""), note("$/cancel", `{"id":1}`)}, []string{cancelled}},
		{"handler's own answer stands", []string{request("1", "stubborn", ""), note("$/cancel", `{"id":1}`)}, []string{result("1", `"anyway"`)}},
		{"by meaning of the id", []string{request("1", "wait", ""), note("$/cancel", `{"id":1.0}`)}, []string{cancelled}},
		{"silent", []string{request("1", "wait", ""), note("$/silence", `{"id":1}`), request("2", "ping", "")}, []string{result("2", `"pong"`)}},
		{"silent whatever the handler says", []string{request("1", "stubborn", ""), note("$/silence", `{"id":1}`), request("2", "ping", "")}, []string{result("2", `"pong"`)}},
		{"twice", []string{request("1", "wait", ""), note("$/cancel", `{"id":1}`), note("$/cancel", `{"id":1}`)}, []string{cancelled}},
		{"string is not number", []string{request("1", "wait", ""), note("$/cancel", `{"id":"1"}`), request("2", "ping", ""), note("$/cancel", `{"id":1}`)},
			[]string{result("2", `"pong"`), cancelled}},
		{"duplicate ids", []string{request("1", "wait", ""), request("1", "wait", ""), note("$/cancel", `{"id":1}`)}, []string{cancelled, cancelled}},
		{"nonsense", []string{note("$/cancel", ""), note("$/cancel", `[1]`), note("$/cancel", `{"id":{}}`), note("$/cancel", `{}`), request("2", "ping", "")}, []string{result("2", `"pong"`)}},
		{"duplicated member is no id", []string{request("1", "wait", ""), note("$/cancel", `{"id":1,"id":1}`), request("2", "ping", ""), note("$/cancel", `{"id":1}`)},
			[]string{result("2", `"pong"`), cancelled}},
		{"with an id it is a request", []string{request("3", "$/cancel", `{"id":1}`)}, []string{failure("3", -32601, "Method not found")}},
		{"in a batch", []string{`[` + request("1", "wait", "") + `,` + note("$/cancel", `{"id":1}`) + `]`}, []string{`[` + cancelled + `]`}},
		{"silent in a batch", []string{`[` + request("1", "wait", "") + `,` + note("$/silence", `{"id":1}`) + `,` + request("2", "ping", "") + `]`}, []string{`[` + result("2", `"pong"`) + `]`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWire(t, testMux(nil), &Options{Cancel: conventions})
				for _, frame := range tt.send {
					w.send(frame)
					synctest.Wait() // a request that is cancelled before it starts never does
				}
				w.wantAny(tt.want...)
				if err := w.close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A request that is cancelled while it waits behind others is answered at once and never starts.
func TestCancelQueued(t *testing.T) {
	for _, tt := range []struct{ name, first string }{{"behind the lane", note("hold", "")}, {"behind running requests", request("0", "gate", "")}} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				open := make(chan struct{})
				started := 0
				m := testMux(open)
				m.HandleRequest("count", HandlerFunc(func(context.Context, *Request) (any, error) { started++; return nil, nil }))
				w := newWire(t, m, &Options{Cancel: cancel.NewRegistry(answered, silent), MaxRunning: 1})
				w.send(tt.first, request("1", "count", ""), request("2", "count", ""), note("$/cancel", `{"id":1}`), note("$/silence", `{"id":2}`))
				w.want(failure("1", -32800, "Request cancelled"))
				synctest.Wait() // the silent cancellation shows nothing
				close(open)
				if !strings.Contains(tt.first, "hold") {
					w.want(result("0", `"through"`))
				}
				w.send(request("3", "ping", ""))
				w.want(result("3", `"pong"`))
				_ = w.close()
				if started != 0 {
					t.Errorf("%d cancelled requests ran", started)
				}
			})
		})
	}
}

// With a convention that is only listened to, a queued request still runs and chooses its answer.
func TestCancelQueuedBare(t *testing.T) {
	bubble(t, func(t *testing.T) {
		open := make(chan struct{})
		w := newWire(t, testMux(open), &Options{MaxRunning: 1})
		w.conn.OnCancel("cancel", "requestId")
		w.send(request("0", "gate", ""), request("1", "stubborn", ""), note("cancel", `{"requestId":1}`))
		synctest.Wait()
		close(open)
		w.want(result("0", `"through"`), result("1", `"anyway"`))
		_ = w.close()
	})
}

func TestCauses(t *testing.T) {
	bubble(t, func(t *testing.T) {
		causes := make(chan error, 1)
		m := NewMux()
		m.HandleRequest("wait", HandlerFunc(func(ctx context.Context, r *Request) (any, error) {
			inner, stop := context.WithTimeout(ctx, time.Hour) // a derived context learns the cause too
			defer stop()
			<-inner.Done()
			causes <- context.Cause(inner)
			return nil, ctx.Err()
		}))
		reason := cancel.Convention{Method: "c", Param: "id", Reason: "why", Silent: true}
		w := newWire(t, m, &Options{Cancel: cancel.NewRegistry(reason)})
		w.send(request("1", "wait", ""))
		synctest.Wait() // a request that is cancelled before it starts never does
		w.send(note("c", `{"id":1,"why":"bored"}`))
		if by, ok := errors.AsType[cancel.ByPeer](<-causes); !ok || by.Reason != "bored" || by.Method != "c" {
			t.Errorf("cause %v", by)
		}
		w.send(request("2", "wait", ""))
		synctest.Wait()
		if n := w.conn.Cancel(NumberID(2)); n != 1 {
			t.Errorf("Cancel found %d", n)
		}
		if by, ok := errors.AsType[cancel.ByPeer](<-causes); !ok || by.Method != "" {
			t.Errorf("cause %v", by)
		}
		w.want(failure("2", -32603, "Internal error"))
		w.send(request("3", "wait", ""))
		synctest.Wait()
		go w.peer.Close()
		if err := <-causes; !errors.Is(err, cancel.ErrClosing) {
			t.Errorf("cause %v", err)
		}
		<-w.err
	})
}

func TestOutboundCalls(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWire(t, testMux(nil), nil)
		ctx := context.Background()
		calls := make([]*Pending, 9)
		for i := range calls {
			calls[i] = w.conn.Go(ctx, "m", nil)
			w.want(request(fmt.Sprint(i+1), "m", ""))
		}
		w.send(
			`{"jsonrpc":"2.0","id":2,"result":null}`,
			`{"jsonrpc":"2.0","id":1.0,"error":{"code":-5,"message":"no","data":[1]}}`,
			`{"jsonrpc":"1.0","id":3,"result":1}`,
			`{"jsonrpc":"2.0","id":4,"result":1,"error":{"code":1,"message":"m"}}`,
			`{"jsonrpc":"2.0","id":5}`,
			`{"jsonrpc":"2.0","id":6,"error":{"code":"1","message":"m"}}`,
			`{"jsonrpc":"2.0","id":7,"error":{"Code":1,"message":"m"}}`,
			`[{"jsonrpc":"2.0","id":8,"result":"a"},{"jsonrpc":"2.0","id":"9","result":"other id"}]`,
			`{"jsonrpc":"2.0","id":2,"result":"second answer"}`,
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"your fault"}}`,
			`{"jsonrpc":"2.0","id":77,"result":1}`,
		)
		if _, err := calls[0].Result(); err == nil || err.Error() != "no (-5)" || string(err.(*Error).Data) != "[1]" {
			t.Error(err)
		}
		if raw, err := calls[1].Result(); err != nil || string(raw) != "null" {
			t.Error(string(raw), err)
		}
		for _, p := range calls[2:7] {
			if err := p.Wait(nil); !errors.Is(err, ErrInvalidResponse) {
				t.Errorf("%s: %v", p.ID(), err)
			}
		}
		var s string
		if err := calls[7].Wait(&s); err != nil || s != "a" {
			t.Error(s, err)
		}
		synctest.Wait()
		if w.reported("without an id, code -32700") != 1 || w.reported("no request of ours") != 2 {
			t.Error(w.reports)
		}
		_ = w.close()
		if err := calls[8].Wait(nil); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		if err := w.conn.Notify(ctx, "late", nil); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		if err := w.conn.Call(ctx, "late", nil, nil); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	})
}

func TestOutboundParams(t *testing.T) {
	w := newWire(t, nil, &Options{MaxFrame: 1000})
	ctx := context.Background()
	for _, bad := range []any{1, "s", true, json.RawMessage("null"), json.RawMessage("{"), make(chan int)} {
		if err := w.conn.Notify(ctx, "m", bad); err == nil {
			t.Errorf("params %v were sent", bad)
		}
		if err := w.conn.Call(ctx, "m", bad, nil); err == nil {
			t.Errorf("params %v were sent", bad)
		}
	}
	if err := w.conn.Notify(ctx, "m", []string{strings.Repeat("x", 1000)}); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	done, stop := context.WithCancel(ctx)
	stop()
	if err := w.conn.Call(done, "m", nil, nil); err != context.Canceled {
		t.Error(err)
	}
	for _, p := range []any{nil, []int{}, map[string]int{}, struct{}{}, json.RawMessage("[ 1 ]")} {
		if err := w.conn.Notify(ctx, "m", p); err != nil {
			t.Error(err)
		}
	}
	w.want(note("m", ""), note("m", "[]"), note("m", "{}"), note("m", "{}"), note("m", "[ 1 ]"))
	w.conn.Go(ctx, "m", nil)
	w.want(request("1", "m", "")) // what was refused has used no id
	_ = w.close()
}

// The end of a call's context tells the other side, unless the method is exempt, and a late answer is dropped.
func TestOutboundCancel(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := cancel.Convention{Method: "stop", Param: "requestId", Reason: "reason", Exempt: []string{"initialize"}}
		w := newWire(t, nil, &Options{Cancel: cancel.NewRegistry(c)})
		ctx, stop := context.WithTimeout(context.Background(), time.Second)
		defer stop()
		if err := w.conn.Call(ctx, "slow", nil, nil); err != context.DeadlineExceeded {
			t.Error(err)
		}
		w.want(request("1", "slow", ""), note("stop", `{"requestId":1,"reason":"deadline exceeded"}`))
		w.send(result("1", "7")) // too late
		ctx, stop = context.WithCancel(context.Background())
		p := w.conn.Go(ctx, "initialize", nil)
		stop()
		if err := p.Wait(nil); err != context.Canceled {
			t.Error(err)
		}
		p = w.conn.Go(context.Background(), "slow", nil)
		p.Cancel()
		p.Cancel()
		if err := p.Wait(nil); err != context.Canceled {
			t.Error(err)
		}
		w.want(request("2", "initialize", ""), request("3", "slow", ""), note("stop", `{"requestId":3}`))
		_ = w.close()
		if len(w.reports) > 0 {
			t.Error(w.reports)
		}
	})
}

func TestOutboundBatch(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWire(t, nil, &Options{MaxBatch: 3})
		ctx := context.Background()
		over, stop := context.WithCancel(ctx)
		stop()
		if _, err := w.conn.Batch(ctx); !errors.Is(err, ErrBatchSize) {
			t.Error(err)
		}
		if _, err := w.conn.Batch(ctx, make([]Entry, 4)...); !errors.Is(err, ErrBatchSize) {
			t.Error(err)
		}
		if _, err := w.conn.Batch(ctx, Entry{Method: "a"}, Entry{Method: "b", Params: 1}); !errors.Is(err, ErrParams) || !strings.Contains(err.Error(), "entry 1") {
			t.Error(err)
		}
		calls, err := w.conn.Batch(ctx, Entry{Method: "gone", Context: over, Params: 1}, Entry{Method: "n", Notification: true}, Entry{Method: "a"})
		if err != nil || len(calls) != 2 || calls[0].Wait(nil) != context.Canceled || !calls[0].ID().IsZero() {
			t.Error(calls, err)
		}
		w.want(`[` + note("n", "") + `,` + request("1", "a", "") + `]`)
		w.send(`[` + result("1", "5") + `]`)
		if raw, err := calls[1].Result(); string(raw) != "5" {
			t.Error(err)
		}
		if calls, err := w.conn.Batch(over, Entry{Method: "a"}); err != nil || len(calls) != 1 {
			t.Error(err) // nothing was sent
		}
		_ = w.close()
		if _, err := w.conn.Batch(ctx, Entry{Method: "n", Notification: true}); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	})
}

// Pending and slots: with one slot, a handler that calls back lets another run meanwhile.
func TestCallGivesItsSlotBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := testMux(nil)
		m.HandleRequest("outer", HandlerFunc(func(ctx context.Context, r *Request) (any, error) {
			var s string
			err := ConnFrom(ctx).Call(ctx, "inner", nil, &s)
			return s, err
		}))
		w := newWire(t, m, &Options{MaxRunning: 1})
		w.send(request("1", "outer", ""))
		w.want(request("1", "inner", ""))
		w.send(request("2", "ping", ""))
		w.want(result("2", `"pong"`))
		w.send(result("1", `"in"`))
		w.want(result("1", `"in"`))
		_ = w.close()
	})
}

func TestServeOnce(t *testing.T) {
	w := newWire(t, nil, nil)
	w.send(request("1", "x", ""))
	w.want(failure("1", -32601, "Method not found"))
	if err := w.conn.Serve(context.Background()); err != ErrServing {
		t.Error(err)
	}
	_ = w.close()
	if err := w.conn.Serve(context.Background()); err != ErrServing {
		t.Error(err)
	}
	a, b := Pipe()
	c := NewConn(a, nil, nil)
	c.Close()
	if err := c.Serve(context.Background()); err != ErrClosed {
		t.Error(err)
	}
	if _, err := b.Read(); err != io.EOF {
		t.Error(err)
	}
	<-c.Done()
}
