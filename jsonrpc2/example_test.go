package jsonrpc2_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// connect serves two peers on the two ends of a pipe and returns them with what closes both.
func connect(a, b *jsonrpc2.Mux) (*jsonrpc2.Conn, *jsonrpc2.Conn, func()) {
	left, right := jsonrpc2.Pipe()
	x, y := jsonrpc2.NewConn(left, a, nil), jsonrpc2.NewConn(right, b, nil)
	var wg sync.WaitGroup
	for _, c := range []*jsonrpc2.Conn{x, y} {
		wg.Go(func() { _ = c.Serve(context.Background()) })
	}
	return x, y, func() { x.Close(); y.Close(); wg.Wait() }
}

// Two peers on one connection: each serves and calls the other.
func Example() {
	type sum struct {
		Total int `json:"total"`
	}
	left := jsonrpc2.NewMux()
	left.HandleRequest("sum", jsonrpc2.Call(func(_ context.Context, p *struct {
		Values []int `json:"values"`
	}) (sum, error) {
		var s sum
		for _, v := range p.Values {
			s.Total += v
		}
		return s, nil
	}))
	right := jsonrpc2.NewMux()
	right.HandleRequest("status", jsonrpc2.Call(func(context.Context, *struct{}) (string, error) { return "ready", nil }))

	a, b, stop := connect(left, right)
	defer stop()

	var total sum
	err := b.Call(context.Background(), "sum", map[string]any{"values": []int{1, 2, 4}}, &total)
	fmt.Println(total.Total, err)

	var status string
	err = a.Call(context.Background(), "status", nil, &status)
	fmt.Println(status, err)
	// Output:
	// 7 <nil>
	// ready <nil>
}

// A notification handler returns only an error, as there is no response; the error goes to Options.Report.
func ExampleMux_HandleNotification() {
	done := make(chan struct{})
	mux := jsonrpc2.NewMux()
	mux.HandleNotification("log", jsonrpc2.Note(func(_ context.Context, p *struct {
		Message string `json:"message"`
	}) error {
		fmt.Println(p.Message)
		close(done)
		return nil
	}))
	_, b, stop := connect(mux, nil)
	defer stop()
	_ = b.Notify(context.Background(), "log", map[string]string{"message": "hello"})
	<-done
	// Output: hello
}

// A handler chooses the error that goes on the wire by returning an *Error.
func ExampleErrorf() {
	type operands struct {
		Value, By int
	}
	mux := jsonrpc2.NewMux()
	mux.HandleRequest("divide", jsonrpc2.Call(func(_ context.Context, p *operands) (int, error) {
		if p.By == 0 {
			return 0, jsonrpc2.Errorf(jsonrpc2.CodeInvalidParams, "Cannot divide by zero.")
		}
		return p.Value / p.By, nil
	}))
	d := jsonrpc2.NewDispatcher(mux, nil)
	fmt.Printf("%s\n", d.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"divide","params":{"Value":6,"By":3}}`)))
	fmt.Printf("%s\n", d.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":2,"method":"divide","params":{"Value":6,"By":0}}`)))
	fmt.Printf("%s\n", d.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":3,"method":"divide","params":{"Value":"six","By":1}}`)))
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":2}
	// {"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Cannot divide by zero."}}
	// {"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"Invalid params: Value: want int"}}
}

// A convention of cancellation is the method of a notification and the member that holds the id. The handler chooses the answer.
func ExampleConn_OnCancel() {
	started := make(chan struct{})
	mux := jsonrpc2.NewMux()
	mux.HandleRequest("run", jsonrpc2.Call(func(ctx context.Context, p *struct{ Items []string }) ([]string, error) {
		close(started)
		for range p.Items {
			select {
			case <-time.After(time.Hour): // process one item
			case <-ctx.Done():
				return nil, jsonrpc2.Errorf(-32000, "Request canceled.")
			}
		}
		return p.Items, nil
	}))
	a, b, stop := connect(mux, nil)
	defer stop()
	a.OnCancel("cancel", "requestId")
	a.OnCancel("$/cancelRequest", "id") // another protocol's

	call := b.Go(context.Background(), "run", map[string]any{"Items": []string{"a", "b"}})
	<-started
	_ = b.Notify(context.Background(), "cancel", map[string]any{"requestId": call.ID()})
	fmt.Println(call.Wait(nil))
	// Output: Request canceled. (-32000)
}

// A cancellation whose id stands deeper in the params is an ordinary notification that calls Cancel.
func ExampleConn_Cancel() {
	started := make(chan struct{})
	mux := jsonrpc2.NewMux()
	mux.HandleRequest("run", jsonrpc2.HandlerFunc(func(ctx context.Context, _ *jsonrpc2.Request) (any, error) {
		close(started)
		<-ctx.Done()
		return "stopped", nil
	}))
	mux.HandleNotification("custom/cancel", jsonrpc2.Note(func(ctx context.Context, p *struct {
		Request struct {
			ID jsonrpc2.ID `json:"id"`
		} `json:"request"`
	}) error {
		fmt.Println("cancelled:", jsonrpc2.ConnFrom(ctx).Cancel(p.Request.ID))
		return nil
	}))
	_, b, stop := connect(mux, nil)
	defer stop()

	call := b.Go(context.Background(), "run", nil)
	<-started
	_ = b.Notify(context.Background(), "custom/cancel", map[string]any{"request": map[string]any{"id": call.ID()}})
	result, err := call.Result()
	fmt.Println(string(result), err)
	// Output:
	// cancelled: 1
	// "stopped" <nil>
}

// Outbound requests need Serve to run. When the connection ends those that are open fail with ErrClosed.
func ExampleConn_Go() {
	mux := jsonrpc2.NewMux()
	mux.HandleRequest("workspace/status", jsonrpc2.Call(func(_ context.Context, p *struct{ Workspace string }) (string, error) {
		return p.Workspace + " is clean", nil
	}))
	mux.HandleRequest("sleep", jsonrpc2.HandlerFunc(func(ctx context.Context, _ *jsonrpc2.Request) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	_, b, stop := connect(mux, nil)
	defer stop()

	call := b.Go(context.Background(), "workspace/status", map[string]string{"Workspace": "/project"})
	var status string
	fmt.Println(call.Wait(&status), status)

	open := b.Go(context.Background(), "sleep", nil)
	b.Close()
	fmt.Println(errors.Is(open.Wait(nil), jsonrpc2.ErrClosed))
	// Output:
	// <nil> /project is clean
	// true
}

// The end of a call's context ends the wait at once, and tells the other side by the convention the connection speaks.
func ExampleConn_Call() {
	left, right := jsonrpc2.Pipe()
	convention := cancel.Convention{Method: "$/cancelRequest", Param: "id", Code: -32800}
	why := make(chan string, 1)
	mux := jsonrpc2.NewMux()
	mux.HandleRequest("slow", jsonrpc2.HandlerFunc(func(ctx context.Context, _ *jsonrpc2.Request) (any, error) {
		<-ctx.Done()
		if by, ok := errors.AsType[cancel.ByPeer](context.Cause(ctx)); ok {
			why <- by.Method
		}
		return nil, ctx.Err()
	}))
	server := jsonrpc2.NewConn(left, mux, &jsonrpc2.Options{Cancel: cancel.NewRegistry(convention)})
	client := jsonrpc2.NewConn(right, nil, &jsonrpc2.Options{Cancel: cancel.NewRegistry(convention)})
	var wg sync.WaitGroup
	wg.Go(func() { _ = server.Serve(context.Background()) })
	wg.Go(func() { _ = client.Serve(context.Background()) })

	ctx, stop := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer stop()
	fmt.Println(client.Call(ctx, "slow", nil, nil))
	fmt.Println("the handler was ended by", <-why)
	client.Close()
	wg.Wait()
	// Output:
	// context deadline exceeded
	// the handler was ended by $/cancelRequest
}

// A batch holds requests and notifications; there is a Pending for each request, in order.
func ExampleConn_Batch() {
	mux := jsonrpc2.NewMux()
	for _, name := range []string{"status", "configuration"} {
		mux.HandleRequest("workspace/"+name, jsonrpc2.Call(func(context.Context, *struct{}) (string, error) { return name, nil }))
	}
	_, b, stop := connect(mux, nil)
	defer stop()

	calls, err := b.Batch(context.Background(),
		jsonrpc2.Entry{Method: "workspace/status"},
		jsonrpc2.Entry{Method: "progress", Params: map[string]int{"percent": 42}, Notification: true},
		jsonrpc2.Entry{Method: "workspace/configuration"},
	)
	fmt.Println(len(calls), err)
	for _, c := range calls {
		result, err := c.Result()
		fmt.Println(string(result), err)
	}
	// Output:
	// 2 <nil>
	// "status" <nil>
	// "configuration" <nil>
}

// An inbound batch is answered with one array, whose entries stand in the order of the requests; notifications have none.
func ExampleDispatcher() {
	mux := jsonrpc2.NewMux()
	for _, name := range []string{"slow", "fast"} {
		mux.HandleRequest(name, jsonrpc2.HandlerFunc(func(context.Context, *jsonrpc2.Request) (any, error) { return name, nil }))
	}
	d := jsonrpc2.NewDispatcher(mux, nil)
	fmt.Printf("%s\n", d.Handle(context.Background(), []byte(`[
		{"jsonrpc":"2.0","id":1,"method":"slow"},
		{"jsonrpc":"2.0","method":"progress"},
		{"jsonrpc":"2.0","id":2,"method":"fast"}
	]`)))
	fmt.Println(d.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","method":"progress"}`)) == nil)
	// Output:
	// [{"jsonrpc":"2.0","id":1,"result":"slow"},{"jsonrpc":"2.0","id":2,"result":"fast"}]
	// true
}

// Middleware wraps every handler.
func ExampleMux_Use() {
	mux := jsonrpc2.NewMux()
	mux.Use(func(next jsonrpc2.Handler) jsonrpc2.Handler {
		return jsonrpc2.HandlerFunc(func(ctx context.Context, r *jsonrpc2.Request) (any, error) {
			id, _ := r.ID()
			fmt.Println("request", id, r.Method)
			return next.Handle(ctx, r)
		})
	})
	mux.HandleRequest("ping", jsonrpc2.Call(func(context.Context, *struct{}) (string, error) { return "pong", nil }))
	d := jsonrpc2.NewDispatcher(mux, nil)
	fmt.Printf("%s\n", d.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":"a","method":"ping"}`)))
	// Output:
	// request "a" ping
	// {"jsonrpc":"2.0","id":"a","result":"pong"}
}

// Absent params, an empty object and an empty array are three different things for a handler that looks.
func ExampleRequest_Params() {
	mux := jsonrpc2.NewMux()
	mux.HandleRequest("show", jsonrpc2.HandlerFunc(func(_ context.Context, r *jsonrpc2.Request) (any, error) {
		return fmt.Sprintf("%q %t", r.Params(), r.HasParams()), nil
	}))
	d := jsonrpc2.NewDispatcher(mux, nil)
	for _, params := range []json.RawMessage{nil, json.RawMessage(`,"params":{}`), json.RawMessage(`,"params":[]`), json.RawMessage(`,"params":null`)} {
		fmt.Printf("%s\n", d.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"show"`+string(params)+`}`)))
	}
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":"\"\" false"}
	// {"jsonrpc":"2.0","id":1,"result":"\"{}\" true"}
	// {"jsonrpc":"2.0","id":1,"result":"\"[]\" true"}
	// {"jsonrpc":"2.0","id":1,"result":"\"\" false"}
}
