// Package jsonrpc2 is a JSON-RPC 2.0 peer: both ends of one connection send requests and notifications, answer them, cancel them, and batch them.
//
// # A peer
//
// A [Mux] holds handlers by method name, a [Transport] carries messages, and a [Conn] connects the two:
//
//	mux := jsonrpc2.NewMux()
//	mux.HandleRequest("sum", jsonrpc2.Call(func(ctx context.Context, p *struct{ Values []int }) (Total, error) { ... }))
//	mux.HandleNotification("log", jsonrpc2.Note(func(ctx context.Context, p *Entry) error { ... }))
//
//	conn := jsonrpc2.NewConn(jsonrpc2.Open(rwc, jsonrpc2.Lines), mux, nil)
//	err := conn.Serve(ctx) // until the input ends
//
// [Call] and [Note] make handlers of plain functions: params are decoded into a new value for each call, and what a function needs to know beyond them
// is in its context ([RequestFrom], [ConnFrom]). A handler that wants the raw params implements [Handler]. Everything a peer may ask of the other side is
// a method of Conn: [Conn.Call], [Conn.Go], [Conn.Notify], [Conn.Batch]. Handlers may use them freely.
//
// # Without a connection
//
// A [Dispatcher] answers payloads, bytes in, bytes out, for transports that pair a request with its response.
//
// # Errors
//
// A handler that returns an *[Error] chooses code, message and data. Any other error, and a panic, is "Internal error" on the wire and goes in full to
// [Options.Report]; nothing that was not meant for the peer reaches it. Messages that are not JSON are answered with [CodeParseError], those that are no
// requests with [CodeInvalidRequest], unknown methods with [CodeMethodNotFound], params that do not fit with [CodeInvalidParams].
//
// # Order
//
// How a handler is scheduled is said where it is registered. Notifications are [Ordered] and requests [Concurrent] unless told otherwise, and this holds:
//
//  1. Ordered messages are handled one at a time, in the order they came.
//  2. A Concurrent request starts after every Ordered message that came before it has been handled.
//  3. [Options.Capture] runs in the order the messages came relative to all Ordered handlers: what it captures is exactly the state at its message's
//     place in the stream, even if the request has to wait and later messages have been handled by then.
//  4. Notifications that a handler sends before it returns reach the wire before its answer, and nothing of it follows the answer.
//
// Responses and cancellations never wait behind requests. A handler that calls the other side and waits gives its place to another one meanwhile. An
// Ordered handler that waits holds up what comes after it, but never responses, so it may call too.
//
// # Cancellation
//
// JSON-RPC 2.0 has no cancellation. The convention of a protocol is data, a [cancel.Convention]: [Conn.OnCancel] listens to one, [Options.Cancel] also speaks
// it and decides what a cancelled request is answered. A handler's context ends when its request is cancelled, and [context.Cause] tells why: a [cancel.ByPeer]
// if the other side asked for it, [cancel.ErrClosing] if the connection is ending.
//
// # Limits
//
// Everything a peer can make grow is bounded by [Options]: the size of a message and of its header, nesting, batches, running and waiting handlers, bytes
// read and not handled, bytes encoded and not written. A connection that is at a limit stops reading, and so slows the peer down; it never hurts others.
package jsonrpc2
