package cancel_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/tandem-rpc/tandem/cancel"
)

// A connection that understands two conventions and speaks the first.
func Example() {
	r := cancel.NewRegistry(cancel.Convention{
		Method: "notifications/cancelled", Param: "requestId", Reason: "reason",
		Silent: true, Exempt: []string{"initialize"},
	})
	r.OnCancel("cancel", "id")

	// Inbound: the peer sent {"method":"notifications/cancelled","params":...}.
	params := []byte(`{"requestId":"a-7","reason":"window closed"}`)
	if c, ok := r.Lookup([]byte("notifications/cancelled")); ok {
		if id, ok := c.ID(params); ok {
			ctx, end := context.WithCancelCause(context.Background())
			end(cancel.ByPeer{Method: c.Method, Reason: c.Why(params)})
			fmt.Printf("request %s: %v\n", id, context.Cause(ctx))
		}
	}

	// Outbound: our own call with id 12 was given up.
	if c, ok := r.Spoken(); ok && !c.Exempts("tools/call") {
		fmt.Printf("send %s %s\n", c.Method, c.Params([]byte("12"), "timed out"))
	}
	// Output:
	// request "a-7": request cancelled by peer with "notifications/cancelled": "window closed"
	// send notifications/cancelled {"requestId":12,"reason":"timed out"}
}

// A protocol of one's own takes one line. It listens only.
func ExampleRegistry_OnCancel() {
	var r cancel.Registry
	r.OnCancel("cancel", "requestId")

	c, _ := r.LookupString("cancel")
	for _, params := range []string{`{"requestId":7}`, `{"requestId":null}`, `{"requestId":[7]}`, `[7]`} {
		id, ok := c.ID([]byte(params))
		fmt.Printf("%s: %s %v\n", params, id, ok)
	}
	_, speaks := r.Spoken()
	fmt.Println("speaks:", speaks)
	// Output:
	// {"requestId":7}: 7 true
	// {"requestId":null}: null true
	// {"requestId":[7]}:  false
	// [7]:  false
	// speaks: false
}

// A handler tells a peer that lost interest from a connection that closes.
func ExampleByPeer() {
	work := func(ctx context.Context) string {
		<-ctx.Done()
		var byPeer cancel.ByPeer
		switch cause := context.Cause(ctx); {
		case errors.As(cause, &byPeer):
			return "nobody wants it any more: " + byPeer.Reason
		case errors.Is(cause, cancel.ErrClosing):
			return "save and leave"
		default:
			return "local reason"
		}
	}
	for _, cause := range []error{cancel.ByPeer{Reason: "undo"}, cancel.ErrClosing, nil} {
		ctx, end := context.WithCancelCause(context.Background())
		end(cause)
		fmt.Println(work(ctx))
	}
	// Output:
	// nobody wants it any more: undo
	// save and leave
	// local reason
}
