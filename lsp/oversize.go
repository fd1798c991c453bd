package lsp

import (
	"context"
	"errors"
	"fmt"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// reports is Options.Report of the connection: it shows the user that a message was too large. The editor gets an error without an id for it, which it
// cannot put to any document, while the text of one is missing from then on.
func (s *session) reports(next func(context.Context, *jsonrpc2.Request, error)) func(context.Context, *jsonrpc2.Request, error) {
	return func(ctx context.Context, r *jsonrpc2.Request, err error) {
		if m, ok := errors.AsType[*jsonrpc2.MessageError](err); ok && m.Limit > 0 {
			s.tellLimit(m.Limit)
		}
		if next != nil {
			next(ctx, r, err)
		}
	}
}

// tellLimit runs on the goroutine that reads, which must not wait for the client. One message is enough for what is skipped while it is under way.
func (s *session) tellLimit(limit int) {
	if !s.ready.Load() || s.ctx.Err() != nil || !s.telling.CompareAndSwap(false, true) {
		return
	}
	s.spawn(func() {
		defer s.telling.Store(false)
		text := fmt.Sprintf("%s: a message from the editor was over the limit of %s and has been skipped. If it had the text of a document, that document is out of sync.", s.srv.Name, size(limit))
		s.fail(s.ctx, nil, s.client.ShowMessage(s.ctx, protocol.MessageTypeError, text))
	})
}

// size is a number of bytes for people.
func size(n int) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
