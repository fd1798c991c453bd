package mcp

import (
	"context"
	"errors"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Delivery is a payload that a host has looked at with [Inspect] and hands over with what it knows, so that it is not looked at again and the answer goes
// where the host wants it. [Session.Handle], [Server.HandleModern] and [Server.HandleSessionless] are the plain ways to do the same, and say the rest.
type Delivery struct {
	// Message is what Inspect has found. With its Borrow the payload's memory may be used again afterwards.
	Message *Message
	// Session is the session it belongs to. Nil: none, and then it is of Revision.
	Session *Session
	// Revision is that of a message without session: one of [ModernVersions], whatever stands in the message, or of [Versions].
	Revision string
	// Peer is the way back to the client where there is no session, which has its own; nil: there is none.
	Peer Peer
	// Begun, if set, is called when a request of a session can be cancelled by what is handed over from then on, for each request of a batch. A host that
	// answers a message before it was handled waits for it, or for the end of Deliver, where it is not called for what is refused.
	Begun func()
}

// Deliver answers a payload. The answer is appended to dst; nil: nothing is owed.
func (s *Server) Deliver(ctx context.Context, d Delivery, dst []byte) []byte {
	s.once.Do(s.build)
	e := &entry{Context: ctx, session: d.Session, begun: d.Begun}
	if k := d.Message.Kind; k == jsonrpc2.KindRequest || k == jsonrpc2.KindNotification {
		e.single, e.id = true, d.Message.ID
		if d.Message.picked {
			e.message = d.Message
		}
	}
	switch {
	case s.invalid != nil:
		return append(dst, s.broken(ctx)...)
	case d.Session != nil:
		if w := d.Session.way.Load(); w != nil {
			e.peer = w.Peer
		}
	default:
		e.peer = s.outward(d.Peer)
		if e.modern = revisionNamed(d.Revision).modern(); e.modern {
			e.session = s.nobody
		} else {
			e.session = s.sessionless(d.Revision)
		}
	}
	n := len(dst)
	out := s.hosted.HandleInspected(e, &d.Message.Message, dst)
	if out == nil || e.modern && ctx.Err() != nil && !errors.Is(context.Cause(ctx), cancel.ErrClosing) {
		return nil
	}
	silent := e.silenced()
	answer := out[n:]
	if len(silent) > 0 {
		if answer = without(answer, silent); answer == nil {
			return nil
		}
	}
	if e.modern {
		answer = withoutID(answer)
	}
	if len(answer) == len(out)-n {
		return out
	}
	return append(out[:n], answer...)
}

// sessionless makes the session that a legacy message without one runs in.
func (s *Server) sessionless(revision string) *Session {
	ses := s.session(nil)
	ses.sessionless = true
	ses.terms.Store(&terms{revision: s.spoken.negotiate(revision)})
	ses.open.Store(true)
	return ses
}
