package mcp

import (
	"context"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Cancel is how MCP cancels a request (MCP cancellation): by notifications/cancelled with the requestId, no answer to what was cancelled, and
// never for initialize.
var Cancel = cancel.Convention{
	Method: "notifications/cancelled",
	Param:  "requestId",
	Reason: "reason",
	Silent: true,
	Exempt: []string{"initialize"},
}

// Protocol returns "mcp".
func (s *Server) Protocol() string { return "mcp" }

// Framing returns the framing of MCP over stdio: one message a line.
func (s *Server) Framing() jsonrpc2.Framing { return jsonrpc2.Lines }

// Conventions returns [Cancel].
func (s *Server) Conventions() []cancel.Convention { return []cancel.Convention{Cancel} }

// Opaque names what a server makes up and a client sends back: ids of tasks, cursors (MCP 2025-11-25, "Tasks" and "Pagination") and the state of a request
// that needs more input (MCP 2026-07-28). Replays compare without them.
func (s *Server) Opaque() []string {
	return []string{"**.taskId", "**.nextCursor", "**.requestState"}
}

// Secrets names what lets whoever has it go on in the name of somebody else: the state of a request that needs more input (MCP 2026-07-28), and the id of a
// task, which is all it takes to read its result where clients are not told apart. They are kept out of logs.
func (s *Server) Secrets() []string { return []string{"requestState", "taskId"} }

// Superseded names the notifications that say that something is no longer as it was (MCP 2025-11-25, "Resources", "Tools", "Prompts"). Several in a row say
// no more than one, and a server may join them.
func (s *Server) Superseded() []string {
	return append(changedMethods[:len(changedMethods):len(changedMethods)], updatedMethod+":params.uri")
}

// Mount prepares one connection: it makes a new [Session] and sets in o what that needs, calling what was set there before as well. The Mux is
// shared by all connections of the Server. The session adds to Handle what MCP asks of a connection: initialize first, once, and nothing but
// ping before it; batches only in the revision that has them; cancellation, progress, logging. Requests of revision 2026-07-28, which say so in
// their _meta, are served beside that, initialized or not: the era is chosen message by message.
func (s *Server) Mount(o *jsonrpc2.Options) (*jsonrpc2.Mux, error) {
	s.once.Do(s.build)
	if s.invalid != nil {
		return nil, s.invalid
	}
	ses := s.session(nil)

	o.Codec = newCodec(o.Codec)
	o.LongStrings = true
	o.MaxBatch = s.maxBatch()
	if o.Overloaded == nil {
		o.Overloaded = errOverloaded
	}
	switch {
	case o.Cancel == nil:
		o.Cancel = cancel.NewRegistry(Cancel)
	default:
		if _, known := o.Cancel.LookupString(Cancel.Method); !known {
			o.Cancel = o.Cancel.Clone()
			o.Cancel.Add(Cancel)
		}
	}
	admit, admitAll, capture, report, onClose := o.Admit, o.AdmitBatch, o.Capture, o.Report, o.OnClose
	o.Admit = func(ctx context.Context, r *jsonrpc2.Request) error {
		if admit != nil {
			if err := admit(ctx, r); err != nil {
				return err
			}
		}
		return ses.admit(ctx, r)
	}
	o.AdmitBatch = func(ctx context.Context, batch []*jsonrpc2.Request) error {
		if admitAll != nil {
			if err := admitAll(ctx, batch); err != nil {
				return err
			}
		}
		return ses.admitBatch(ctx, batch)
	}
	o.Capture = func(ctx context.Context, r *jsonrpc2.Request) context.Context {
		if capture != nil {
			ctx = capture(ctx, r)
		}
		return &call{Context: ctx, session: ses, open: ses.open.Load()}
	}
	if s.Reporter != nil {
		o.Report = func(ctx context.Context, r *jsonrpc2.Request, err error) {
			s.Reporter(ctx, r, err)
			if report != nil {
				report(ctx, r, err)
			}
		}
	}
	o.OnClose = func(c *jsonrpc2.Conn, err error) {
		ses.end(cancel.ErrClosing)
		if onClose != nil {
			onClose(c, err)
		}
	}
	return s.mux, nil
}

// admit sees the messages in the order they came, before anything of them runs. Whether a request may come is decided when its turn has come, by the
// gate: what follows an initialize waits for it, and is refused after all if that fails.
func (ses *Session) admit(ctx context.Context, r *jsonrpc2.Request) error {
	if err := admitID(ctx, r); err != nil {
		return err
	}
	if r.Method == "initialize" && !r.IsNotification() {
		if rev, err := ses.server.demanded(peek(r, nil)); err == nil {
			ses.asking.Store(uint32(rev)) // for batches behind it
		}
	}
	return nil
}

func (ses *Session) admitBatch(ctx context.Context, batch []*jsonrpc2.Request) error {
	if err := admitBatch(ctx, batch); err != nil {
		return err
	}
	rev := revision(ses.asking.Load())
	if t := ses.terms.Load(); t != nil {
		rev = t.revision
	}
	if !rev.batches() {
		return errNoBatches
	}
	return nil
}
