package mcp

import (
	"bytes"
	"context"
	"errors"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Peer is the way to a client. A *[jsonrpc2.Conn] is one; a host whose clients have no connection of their own, as HTTP's, gives another.
//
// The context given to a Peer is derived from the one that the host gave to Handle, when what is sent belongs to a request: that is how the host
// finds the stream of that request. A context that comes from no request is for the stream of the session. A context that has ended sends nothing.
//
// What a closure sends before it returns must reach the client before the answer that Handle then returns. Both methods are called by many
// goroutines at once, and must end when the session is closed. params is nil or anything that [Encode] encodes.
type Peer interface {
	// Call sends a request and waits for the result, which is decoded into result; nil drops it. An error answer is a *[jsonrpc2.Error]. When ctx
	// ends it returns the context's error, and tells the client by [Cancel].
	Call(ctx context.Context, method string, params, result any) error
	// Notify sends a notification. It may wait until there is room, not for the client.
	Notify(ctx context.Context, method string, params any) error
}

// Encode encodes the params that a [Peer] is given, or the result a closure has returned, as one line of JSON; nil is null.
func Encode(v any) ([]byte, error) {
	b, err := newCodec(nil).Append(nil, v)
	if err != nil {
		return nil, err
	}
	return bytes.ReplaceAll(b, []byte("\n"), []byte(" ")), nil
}

// entry is one payload of a host, and the context everything in it runs with.
type entry struct {
	context.Context
	session *Session
	peer    Peer
	modern  bool // the host says so
	begun   func()
	silent  []jsonrpc2.ID

	// single says that the payload is one message, which has room here for what else it needs.
	single  bool
	message *Message    // of a single one, if the host has looked into it
	id      jsonrpc2.ID // of a single request, zero if it is not known
	call    call
	extra   extra
	running entryCall
}

type entryKey struct{}

// Value implements context.Context.
func (e *entry) Value(key any) any {
	if key == (entryKey{}) {
		return e
	}
	return e.Context.Value(key)
}

// entryCall is a request of a host's payload that runs. Those of a session are a list.
type entryCall struct {
	id         jsonrpc2.ID
	method     string
	call       *call
	cancel     context.CancelCauseFunc
	silent     bool
	prev, next *entryCall
}

// NewSession makes a session for a client that is not a connection: a host keeps it, gives it what the client sends, with [Session.Handle], and
// ends it with [Session.Close]. It is served as one with initialize (up to 2025-11-25); messages of clients without go to [Server.HandleModern].
// A session that waits is no goroutine and some hundred bytes. The error says that the Server cannot be used.
func (s *Server) NewSession(peer Peer) (*Session, error) {
	s.once.Do(s.build)
	if s.invalid != nil {
		return nil, s.invalid
	}
	return s.session(peer), nil
}

func (s *Server) session(peer Peer) *Session {
	ses := &Session{server: s}
	ses.level.Store(int32(LevelWarning))
	ses.feed.send = ses.tell
	if peer != nil {
		ses.way.Store(&way{s.outward(peer)})
	}
	return ses
}

// Handle answers one payload of the client of a session that a host keeps: a message, or a batch where the revision has them. It returns what is
// owed, nil for nothing: notifications, and requests that the client cancelled. Any number of payloads may be handled at once, and cancel each other.
// Responses of the client are the host's to match with its [Peer]'s calls; here they are reported and dropped.
//
// ctx comes back in every closure and in the calls of the Peer; when it ends, so do the payload's requests. Up to 2025-11-25 the end of an HTTP request
// is no reason for that.
func (ses *Session) Handle(ctx context.Context, payload []byte) []byte {
	var peer Peer
	if w := ses.way.Load(); w != nil {
		peer = w.Peer
	}
	return ses.server.handle(&entry{Context: ctx, session: ses, peer: peer}, payload)
}

// HandleModern answers one message of a client of revision 2026-07-28 or later, which needs no session: what there is to know is in its _meta. What does
// not say so is refused. It returns what is owed, nil for nothing: notifications, and requests whose ctx has ended, which is how a host cancels them.
// Errors for a message without a readable id have none (MCP 2026-07-28, basic, responses). peer may be nil: nothing is sent but the answer.
//
// A subscriptions/listen is answered when the client has ended it by ending ctx, with nil, or the server by [Server.Close]. A host that shuts down ends
// ctx with [cancel.ErrClosing] as the cause: whatever the functions return then is still answered, and a subscriptions/listen as by Close.
func (s *Server) HandleModern(ctx context.Context, payload []byte, peer Peer) []byte {
	s.once.Do(s.build)
	if s.invalid != nil {
		return withoutID(s.broken(ctx))
	}
	out := s.handle(&entry{Context: ctx, session: s.nobody, peer: s.outward(peer), modern: true}, payload)
	if ctx.Err() != nil && !errors.Is(context.Cause(ctx), cancel.ErrClosing) {
		return nil
	}
	return withoutID(out)
}

// HandleSessionless answers one payload of a client of an earlier revision without keeping anything of it: any method may come first, and initialize
// again. Closures find a session in that revision that has no client: they can report progress through peer, and ask nothing.
func (s *Server) HandleSessionless(ctx context.Context, payload []byte, peer Peer, revision string) []byte {
	s.once.Do(s.build)
	if s.invalid != nil {
		return s.broken(ctx)
	}
	ses := s.sessionless(revision)
	return s.handle(&entry{Context: ctx, session: ses, peer: s.outward(peer)}, payload)
}

// broken answers for a Server that cannot be used.
func (s *Server) broken(ctx context.Context) []byte {
	s.report(ctx, nil, s.invalid)
	out := append([]byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":`), appendString(nil, s.invalid.Error())...)
	return append(out, "}}"...)
}

// handle gives a payload to the dispatcher that all hosts share.
func (s *Server) handle(e *entry, payload []byte) []byte {
	out := s.hosted.Handle(e, payload)
	if silent := e.silenced(); len(silent) > 0 {
		return without(out, silent)
	}
	return out
}

// silenced returns the requests that are owed no answer. All have returned; the only one has done so on this goroutine.
func (e *entry) silenced() []jsonrpc2.ID {
	if !e.single {
		e.session.mu.Lock()
		defer e.session.mu.Unlock()
	}
	return e.silent
}

// hostedOptions are those of the dispatcher of payloads.
func (s *Server) hostedOptions() *jsonrpc2.Options {
	return &jsonrpc2.Options{
		Codec: newCodec(nil),

		LongStrings: true,
		Cancel:      cancel.NewRegistry(Cancel), // within a batch; what is cancelled by another message is found in the session
		MaxBatch:    s.maxBatch(),
		Report:      s.report,
		Admit: func(ctx context.Context, r *jsonrpc2.Request) error {
			if err := admitID(ctx, r); err != nil {
				return err
			}
			if e := entryFrom(ctx); !e.modern && r.IsNotification() && r.Method == Cancel.Method {
				e.session.cancelled(peek(r, nil))
			}
			return nil
		},
		AdmitBatch: func(ctx context.Context, batch []*jsonrpc2.Request) error {
			e := entryFrom(ctx)
			if e.modern {
				return errNoBatches
			}
			return e.session.admitBatch(ctx, batch)
		},
		Capture: func(ctx context.Context, r *jsonrpc2.Request) context.Context {
			e := entryFrom(ctx)
			c := &e.call
			if e.single {
				c.x = &e.extra
			} else {
				c = &call{x: new(extra)}
			}
			c.session, c.open, c.x.entry = e.session, e.session.open.Load(), e
			if e.modern || r.IsNotification() {
				c.Context = ctx
				return c
			}
			e.session.enter(ctx, c, r)
			if e.begun != nil {
				e.begun()
			}
			return c
		},
	}
}

func entryFrom(ctx context.Context) *entry {
	if e, ok := ctx.(*entry); ok {
		return e
	}
	return ctx.Value(entryKey{}).(*entry)
}

// enter notes that a request runs, so that it can be cancelled.
func (ses *Session) enter(ctx context.Context, c *call, r *jsonrpc2.Request) {
	e := c.x.entry
	q := &e.running
	if !e.single {
		q = new(entryCall)
	}
	if q.id = e.id; q.id.IsZero() {
		q.id, _ = r.ID()
	}
	q.method, q.call = r.Method, c
	c.Context, q.cancel = context.WithCancelCause(ctx)
	c.x.running = q
	ses.mu.Lock()
	ended := ses.ended
	if q.next = ses.calls; q.next != nil {
		q.next.prev = q
	}
	ses.calls = q
	ses.mu.Unlock()
	if ended != nil {
		q.cancel(ended)
	}
}

// leave is called when the handler of a request has returned.
func (e *entry) leave(c *call) {
	q := c.x.running
	if q == nil {
		return
	}
	ses := c.session
	ses.mu.Lock()
	if q.prev != nil {
		q.prev.next = q.next
	} else {
		ses.calls = q.next
	}
	if q.next != nil {
		q.next.prev = q.prev
	}
	if q.silent {
		e.silent = append(e.silent, q.id)
	}
	ses.mu.Unlock()
	q.cancel(nil)
}

// CancelRequest cancels the requests with that id that run in a session a host keeps (MCP cancellation), and returns how many there were. They are not
// answered; the cause of their contexts is a [cancel.ByPeer]. initialize is never cancelled. Handle does this for notifications/cancelled.
func (ses *Session) CancelRequest(id jsonrpc2.ID, reason string) int {
	cause := cancel.ByPeer{Method: Cancel.Method, Reason: reason}
	ses.mu.Lock()
	defer ses.mu.Unlock()
	n := 0
	for q := ses.calls; q != nil; q = q.next {
		if q.id.Equal(id) && !Cancel.Exempts(q.method) {
			q.silent = true
			q.cancel(cause)
			n++
		}
	}
	return n
}

// cancelled does what the params of notifications/cancelled ask for.
func (ses *Session) cancelled(params []byte) {
	raw, ok := Cancel.ID(params)
	if !ok {
		return
	}
	if id, err := jsonrpc2.ParseID(raw); err == nil && !id.IsNull() {
		ses.CancelRequest(id, Cancel.Why(params))
	}
}

// Close ends a session that a host keeps: what runs in it is cancelled, with cause, or [cancel.ErrClosing] if that is nil; what comes later is refused.
// It does not wait. A connection closes its session itself.
func (ses *Session) Close(cause error) {
	if cause == nil {
		cause = cancel.ErrClosing
	}
	ses.end(cause)
	ses.mu.Lock()
	defer ses.mu.Unlock()
	for q := ses.calls; q != nil; q = q.next {
		q.cancel(cause)
	}
}

var nullID = []byte(`{"jsonrpc":"2.0","id":null,`)

// withoutID takes a null id out of an answer.
func withoutID(answer []byte) []byte {
	if !bytes.HasPrefix(answer, nullID) {
		return answer
	}
	return append([]byte(`{"jsonrpc":"2.0",`), answer[len(nullID):]...)
}

// without takes the answers to requests that were cancelled out of what the dispatcher wrote.
func without(answers []byte, ids []jsonrpc2.ID) []byte {
	if isObject(answers) {
		return nil
	}
	if len(answers) == 0 {
		return nil
	}
	out := []byte{'['}
	for i := 1; i < len(answers)-1; {
		end := skipValue(answers, i)
		one := answers[i:end]
		if !answersOneOf(one, ids) {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(out, one...)
		}
		i = skipSpace(answers, end)
		if i < len(answers) && answers[i] == ',' {
			i = skipSpace(answers, i+1)
		}
		if end == i && i < len(answers)-1 {
			return nil // never: the dispatcher writes arrays of objects
		}
	}
	if len(out) == 1 {
		return nil
	}
	return append(out, ']')
}

func answersOneOf(answer []byte, ids []jsonrpc2.ID) bool {
	var v [1][]byte
	if !pick(answer, []string{"id"}, v[:]) {
		return false
	}
	for _, id := range ids {
		if string(v[0]) == id.String() {
			return true
		}
	}
	return false
}
