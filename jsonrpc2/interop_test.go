package jsonrpc2_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	xrpc "golang.org/x/exp/jsonrpc2"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// These tests talk to golang.org/x/exp/jsonrpc2, an independent implementation
// of the specification, in both roles and both framings. Theirs has no framing
// by lines, so newlineFramer below adds it.

// interopLimit bounds a test; a healthy one takes milliseconds.
const interopLimit = 2 * time.Minute

// cancelMethod is the notification with which either side cancels a request.
const cancelMethod = "test/cancel"

const cancelledCode = -32800

// interops are the ways the two are joined.
var interops = []struct {
	name    string
	framing jsonrpc2.Framing
	framer  xrpc.Framer
	join    func(t *testing.T) (ours, theirs io.ReadWriteCloser)
}{
	{"header over TCP", jsonrpc2.Header, xrpc.HeaderFramer(), overTCP},
	{"header in memory", jsonrpc2.Header, xrpc.HeaderFramer(), inMemory},
	{"lines over TCP", jsonrpc2.Lines, newlineFramer{}, overTCP},
	{"lines in memory", jsonrpc2.Lines, newlineFramer{}, inMemory},
}

func overTCP(t *testing.T) (ours, theirs io.ReadWriteCloser) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	theirs, err = net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	ours, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return ours, theirs
}

func inMemory(*testing.T) (ours, theirs io.ReadWriteCloser) { return net.Pipe() }

// dialed is a stream that is already open, as x/exp wants to be given it.
type dialed struct{ rwc io.ReadWriteCloser }

func (d dialed) Dial(context.Context) (io.ReadWriteCloser, error) { return d.rwc, nil }

// binder gives a new connection its options.
type binder func(*xrpc.Connection) xrpc.ConnectionOptions

func (b binder) Bind(_ context.Context, c *xrpc.Connection) (xrpc.ConnectionOptions, error) {
	return b(c), nil
}

// echoed is what travels: every kind of value, text outside ASCII and the BMP.
type echoed struct {
	N    int64             `json:"n"`
	F    float64           `json:"f"`
	Text string            `json:"text"`
	List []any             `json:"list"`
	Map  map[string]string `json:"map"`
	None *int              `json:"none"`
}

var sample = echoed{
	N: 1<<53 + 1, F: -2.5e-7, Text: "héllo 世界 😀 \u0000\u2028 </script> \\ \"",
	List: []any{true, "x", nil, []any{1.5}}, Map: map[string]string{"": "empty", "ключ": "v"},
}

// served is what the handlers of one side have seen.
type served struct {
	mu      sync.Mutex
	notes   []int
	started atomic.Int64 // hanging requests
	ended   atomic.Int64
}

func (s *served) note(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = append(s.notes, n)
}

func (s *served) noted() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.notes
}

type note struct {
	N int `json:"n"`
}

// ourMux is the engine's side: what the other side calls.
func ourMux(s *served) *jsonrpc2.Mux {
	mux := jsonrpc2.NewMux()
	mux.HandleRequest("echo", jsonrpc2.Call(func(_ context.Context, p *echoed) (*echoed, error) { return p, nil }))
	mux.HandleRequest("fail", jsonrpc2.HandlerFunc(func(context.Context, *jsonrpc2.Request) (any, error) {
		return nil, jsonrpc2.Errorf(-32050, "nö").WithData(map[string]int{"why": 7})
	}))
	mux.HandleRequest("hang", jsonrpc2.HandlerFunc(func(ctx context.Context, _ *jsonrpc2.Request) (any, error) {
		s.started.Add(1)
		defer s.ended.Add(1)
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	mux.HandleNotification("note", jsonrpc2.Note(func(_ context.Context, p *note) error {
		s.note(p.N)
		return nil
	}))
	mux.HandleRequest("noted", jsonrpc2.HandlerFunc(func(context.Context, *jsonrpc2.Request) (any, error) {
		return s.noted(), nil
	}))
	return mux
}

// theirHandler is the same in x/exp, which runs one handler at a time.
func theirHandler(s *served, conn *xrpc.Connection) xrpc.Handler {
	return xrpc.HandlerFunc(func(ctx context.Context, r *xrpc.Request) (any, error) {
		switch r.Method {
		case "echo":
			return r.Params, nil
		case "fail":
			return nil, xrpc.NewError(-32050, "nö")
		case "hang":
			s.started.Add(1)
			go func() {
				defer s.ended.Add(1)
				<-ctx.Done()
				_ = conn.Respond(r.ID, nil, xrpc.NewError(cancelledCode, "cancelled there"))
			}()
			return nil, xrpc.ErrAsyncResponse
		case "note":
			var p note
			if err := json.Unmarshal(r.Params, &p); err != nil {
				return nil, err
			}
			s.note(p.N)
			return nil, nil
		case "noted":
			return s.noted(), nil
		}
		return nil, xrpc.ErrNotHandled
	})
}

// theirCancel is the preempter of x/exp: it sees a cancel before the queue.
type theirCancel struct{ conn *xrpc.Connection }

func (c theirCancel) Preempt(_ context.Context, r *xrpc.Request) (any, error) {
	if r.Method != cancelMethod {
		return nil, xrpc.ErrNotHandled
	}
	var p struct {
		ID int64 `json:"id"`
	}
	if err := json.Unmarshal(r.Params, &p); err != nil {
		return nil, err
	}
	c.conn.Cancel(xrpc.Int64ID(p.ID))
	return nil, nil
}

// joined is one connection with a peer of each kind at its ends.
type joined struct {
	ctx         context.Context
	ours        *jsonrpc2.Conn
	theirs      *xrpc.Connection
	here, there served // what ours and theirs handled
	outcome     chan error
}

// interop joins the two. Both sides serve and both can call. At the end of the
// test the connection is closed from our side, and both ends must come to rest.
func interop(t *testing.T, i int) *joined {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), interopLimit)
	j := &joined{ctx: ctx, outcome: make(chan error, 1)}
	ours, theirs := interops[i].join(t)

	j.ours = jsonrpc2.NewConn(jsonrpc2.Open(ours, interops[i].framing), ourMux(&j.here), &jsonrpc2.Options{
		Cancel: cancel.NewRegistry(cancel.Convention{Method: cancelMethod, Param: "id", Code: cancelledCode}),
	})
	go func() { j.outcome <- j.ours.Serve(j.ctx) }()

	var err error
	j.theirs, err = xrpc.Dial(j.ctx, dialed{theirs}, binder(func(conn *xrpc.Connection) xrpc.ConnectionOptions {
		return xrpc.ConnectionOptions{
			Framer: interops[i].framer, Preempter: theirCancel{conn}, Handler: theirHandler(&j.there, conn),
		}
	}))
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		defer stop()
		if err := j.ours.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		select {
		case err := <-j.outcome:
			if err != nil {
				t.Errorf("Serve: %v", err)
			}
		case <-j.ctx.Done():
			t.Error("Serve did not return after Close")
		}
		_ = j.theirs.Close() // it complains about the stream we closed
	})
	return j
}

// eachInterop runs a test for every way of joining the two.
func eachInterop(t *testing.T, test func(t *testing.T, j *joined)) {
	t.Helper()
	for i, way := range interops {
		t.Run(way.name, func(t *testing.T) { test(t, interop(t, i)) })
	}
}

// their asks our side from theirs and decodes the answer.
func (j *joined) their(method string, params, result any) error {
	return j.theirs.Call(j.ctx, method, params).Await(j.ctx, result)
}

// wire is the error object that x/exp received.
func wire(t *testing.T, err error) (code int64, message string, data json.RawMessage) {
	t.Helper()
	text, merr := json.Marshal(err)
	if merr != nil {
		t.Fatal(merr)
	}
	var w struct {
		Code    int64
		Message string
		Data    json.RawMessage
	}
	if uerr := json.Unmarshal(text, &w); uerr != nil {
		t.Fatalf("%T %v is no wire error: %v", err, err, uerr)
	}
	return w.Code, w.Message, w.Data
}

// reached waits until a counter has the wanted value.
func reached(t *testing.T, ctx context.Context, what string, n *atomic.Int64, want int64) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for n.Load() != want {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s: %d, want %d", what, n.Load(), want)
		}
	}
}

func TestInteropTheyCall(t *testing.T) {
	eachInterop(t, func(t *testing.T, j *joined) {
		var got echoed
		if err := j.their("echo", &sample, &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, sample) {
			t.Errorf("echo = %+v, want %+v", got, sample)
		}
		code, message, data := wire(t, j.their("fail", nil, nil))
		if code != -32050 || message != "nö" || string(data) != `{"why":7}` {
			t.Errorf("fail = %d %q %s", code, message, data)
		}
		if code, _, _ := wire(t, j.their("lacking", nil, nil)); code != int64(jsonrpc2.CodeMethodNotFound) {
			t.Errorf("unknown method: code %d", code)
		}
		if code, _, _ := wire(t, j.their("echo", []int{1}, nil)); code != int64(jsonrpc2.CodeInvalidParams) {
			t.Errorf("array for an object: code %d", code)
		}
	})
}

func TestInteropWeCall(t *testing.T) {
	eachInterop(t, func(t *testing.T, j *joined) {
		var got echoed
		if err := j.ours.Call(j.ctx, "echo", &sample, &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, sample) {
			t.Errorf("echo = %+v, want %+v", got, sample)
		}
		var failure *jsonrpc2.Error
		if err := j.ours.Call(j.ctx, "fail", nil, nil); !errors.As(err, &failure) || failure.Code != -32050 || failure.Message != "nö" {
			t.Errorf("fail = %v", err)
		}
		if err := j.ours.Call(j.ctx, "lacking", nil, nil); !errors.Is(err, jsonrpc2.ErrMethodNotFound) {
			t.Errorf("unknown method: %v", err)
		}
	})
}

func TestInteropLargeMessages(t *testing.T) {
	large := echoed{Text: strings.Repeat("0123456789 é 世 😀\n", 1<<16)[:1<<20]}
	eachInterop(t, func(t *testing.T, j *joined) {
		var mine, yours echoed
		if err := j.ours.Call(j.ctx, "echo", &large, &mine); err != nil {
			t.Fatal(err)
		}
		if err := j.their("echo", &large, &yours); err != nil {
			t.Fatal(err)
		}
		if mine.Text != large.Text || yours.Text != large.Text {
			t.Error("the text came back changed")
		}
	})
}

// TestInteropBothAtOnce: both sides have calls in flight with the same small
// integers as ids, so a peer with one table for both directions would mix them.
func TestInteropBothAtOnce(t *testing.T) {
	const calls = 300
	eachInterop(t, func(t *testing.T, j *joined) {
		pending := make([]*jsonrpc2.Pending, calls)
		await := make([]*xrpc.AsyncCall, calls)
		var senders sync.WaitGroup
		senders.Go(func() {
			for n := range calls {
				pending[n] = j.ours.Go(j.ctx, "echo", &echoed{N: int64(n), Text: "ours"})
			}
		})
		senders.Go(func() {
			for n := range calls {
				await[n] = j.theirs.Call(j.ctx, "echo", &echoed{N: int64(n), Text: "theirs"})
			}
		})
		senders.Wait()
		for n := range calls {
			var mine, yours echoed
			if err := pending[n].Wait(&mine); err != nil {
				t.Fatalf("our call %d: %v", n, err)
			}
			if err := await[n].Await(j.ctx, &yours); err != nil {
				t.Fatalf("their call %d: %v", n, err)
			}
			if mine.N != int64(n) || mine.Text != "ours" || yours.N != int64(n) || yours.Text != "theirs" {
				t.Fatalf("call %d: ours %+v, theirs %+v", n, mine, yours)
			}
		}
	})
}

func TestInteropNotificationsInOrder(t *testing.T) {
	const count = 500
	eachInterop(t, func(t *testing.T, j *joined) {
		for n := range count {
			if err := j.ours.Notify(j.ctx, "note", &note{n}); err != nil {
				t.Fatal(err)
			}
			if err := j.theirs.Notify(j.ctx, "note", &note{n}); err != nil {
				t.Fatal(err)
			}
		}
		// A request after them is handled after them, on either side.
		var here, there []int
		if err := j.their("noted", nil, &here); err != nil {
			t.Fatal(err)
		}
		if err := j.ours.Call(j.ctx, "noted", nil, &there); err != nil {
			t.Fatal(err)
		}
		for name, got := range map[string][]int{"ours": here, "theirs": there} {
			if len(got) != count {
				t.Fatalf("%s: %d of %d notes before the request", name, len(got), count)
			}
			for n, v := range got {
				if v != n {
					t.Fatalf("%s: note %d has number %d", name, n, v)
				}
			}
		}
	})
}

func TestInteropTheyCancel(t *testing.T) {
	const hung = 32
	eachInterop(t, func(t *testing.T, j *joined) {
		calls := make([]*xrpc.AsyncCall, hung)
		for n := range calls {
			calls[n] = j.theirs.Call(j.ctx, "hang", nil)
		}
		reached(t, j.ctx, "started", &j.here.started, hung)
		if err := j.their("echo", &sample, nil); err != nil {
			t.Errorf("a call beside those that hang: %v", err)
		}
		for _, c := range calls {
			if err := j.theirs.Notify(j.ctx, cancelMethod, map[string]any{"id": c.ID().Raw()}); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range calls {
			if code, _, _ := wire(t, c.Await(j.ctx, nil)); code != cancelledCode {
				t.Errorf("cancelled call: code %d", code)
			}
		}
		reached(t, j.ctx, "ended", &j.here.ended, hung)
	})
}

func TestInteropWeCancel(t *testing.T) {
	eachInterop(t, func(t *testing.T, j *joined) {
		ctx, stop := context.WithCancel(j.ctx)
		calls := make([]*jsonrpc2.Pending, 16)
		for n := range calls {
			calls[n] = j.ours.Go(ctx, "hang", nil)
		}
		reached(t, j.ctx, "started", &j.there.started, int64(len(calls)))
		stop()
		for _, c := range calls {
			if err := c.Wait(nil); !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled call: %v", err)
			}
		}
		reached(t, j.ctx, "ended", &j.there.ended, int64(len(calls)))
		// Their answers to what we gave up come late and harm nothing.
		if err := j.ours.Call(j.ctx, "echo", &sample, nil); err != nil {
			t.Error(err)
		}
	})
}

// TestInteropTheyLeave: the other side closes while it owes us an answer.
func TestInteropTheyLeave(t *testing.T) {
	eachInterop(t, func(t *testing.T, j *joined) {
		call := j.ours.Go(j.ctx, "hang", nil)
		reached(t, j.ctx, "started", &j.there.started, 1)
		// It waits for its own handlers, which wait for our cancel: in the
		// background, until our end is closed as well.
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			_ = j.theirs.Close()
		}()
		if err := call.Wait(nil); !errors.Is(err, jsonrpc2.ErrClosed) {
			t.Errorf("call to a peer that left: %v", err)
		}
		select {
		case <-gone:
		case <-j.ctx.Done():
			t.Error("their side did not come to rest")
		}
	})
}

// newlineFramer is x/exp's jsonrpc2 with one message a line.
type newlineFramer struct{}

func (newlineFramer) Reader(r io.Reader) xrpc.Reader { return &lineReader{bufio.NewReader(r)} }
func (newlineFramer) Writer(w io.Writer) xrpc.Writer { return lineWriter{w} }

type lineReader struct{ in *bufio.Reader }

func (r *lineReader) Read(ctx context.Context) (xrpc.Message, int64, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	line, err := r.in.ReadBytes('\n')
	if err != nil {
		return nil, int64(len(line)), err
	}
	msg, err := xrpc.DecodeMessage(bytes.TrimSpace(line))
	return msg, int64(len(line)), err
}

type lineWriter struct{ out io.Writer }

func (w lineWriter) Write(ctx context.Context, msg xrpc.Message) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	data, err := xrpc.EncodeMessage(msg)
	if err != nil {
		return 0, fmt.Errorf("encode: %w", err)
	}
	n, err := w.out.Write(append(data, '\n'))
	return int64(n), err
}
