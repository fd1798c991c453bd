package lsp

import (
	"context"
	"errors"
	"fmt"

	lspjsonrpc2 "go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// FromServer makes a [Server] of an implementation of the Server interface of go.lsp.dev/protocol, which then runs on this engine:
//
//	framework.Main(lsp.FromServer(impl))
//
// What changes for the implementation is what goes on around it. Notifications reach it one at a time in the order they came, requests side by side, each
// after the notifications before it. The lifecycle is enforced, and so are exit codes and the end with the editor; Exit is called before the connection
// closes, and Shutdown once. Cancelled requests are answered -32800 whatever error they return; a panic is "Internal error" and ends nothing; params that do not
// decode, or lack what they must have, are answered -32602. Errors of go.lsp.dev/jsonrpc2 reach the client as they are, all others as "Internal error" and the Reporter in full. Params belong
// to the implementation, which may keep them. Methods that are not in the specification go to its method Request; what that answers "Method not
// found" is ignored if it was a notification.
//
// Capabilities are those of its own result of Initialize. Its way back is in every context, [protocol.ClientFromContext] finds it, and [ProtocolClient].
//
// The fields of the result may be set, to move to them one by one: a function that is set serves its method in place of the implementation. DidOpen and the
// other functions that only take note run before the implementation's; Initialize runs after, and may change its result. [SnapshotFrom] has the documents in
// either case.
//
// impl serves all connections. See [FromServers] for one that is made for each.
func FromServer(impl protocol.Server) *Server {
	return FromServers(func(protocol.Client) protocol.Server { return impl })
}

// FromServers is [FromServer] with an implementation for each connection, which create returns when the connection is mounted. client is the other side of
// it, and can be called once initialize has come.
func FromServers(create func(client protocol.Client) protocol.Server) *Server {
	return &Server{from: create}
}

// adopt makes the implementation of the session, if it has one.
func (s *session) adopt() {
	if s.srv.from == nil {
		return
	}
	s.guest = &protocolClient{&s.client}
	s.impl = s.srv.from(s.guest)
}

// adapter makes the handler of a method of an implementation.
type adapter func(*session) jsonrpc2.HandlerFunc

// adapt returns the handler of a method where there is an implementation. h is the one that there is without.
func (s *session) adapt(rt *route, h jsonrpc2.Handler) jsonrpc2.Handler {
	a := adapters()[rt.method]
	if s.impl == nil || a == nil || rt.serve.handler != nil && h != nil {
		return h
	}
	theirs := a(s)
	switch {
	case h == nil:
		return theirs
	case rt.kind == request:
		return h
	case rt.method == protocol.MethodWindowWorkDoneProgressCancel: // it is handled by who reads, and that is no place for functions of users
		return jsonrpc2.HandlerFunc(func(ctx context.Context, r *jsonrpc2.Request) (any, error) {
			p := new(protocol.WorkDoneProgressCancelParams)
			if err := r.Decode(p); err != nil {
				return nil, err
			}
			s.spawn(func() {
				ctx := s.scope(s.ctx)
				s.fail(ctx, nil, guestError(ctx, s.impl.WorkDoneProgressCancel(s.guestContext(ctx), p)))
			})
			return h.Handle(ctx, r)
		})
	case rt.method == protocol.MethodExit: // ours closes the connection
		return jsonrpc2.HandlerFunc(func(ctx context.Context, r *jsonrpc2.Request) (any, error) {
			_, err := theirs(ctx, r)
			_, e := h.Handle(ctx, r)
			return nil, errors.Join(err, e)
		})
	}
	return jsonrpc2.HandlerFunc(func(ctx context.Context, r *jsonrpc2.Request) (any, error) {
		_, err := h.Handle(ctx, r)
		_, e := theirs(s.scope(ctx), r) // with the documents as they are now
		return nil, errors.Join(err, e)
	})
}

// rest serves what is not in the specification.
func (s *session) rest(ctx context.Context, r *jsonrpc2.Request) (any, error) {
	var params protocol.LSPAny
	if raw := r.Params(); raw != nil {
		params = protocol.LSPAny(append([]byte(nil), raw...))
	}
	result, err := s.impl.Request(s.guestContext(ctx), r.Method, params)
	if err = guestError(ctx, err); r.IsNotification() && errors.Is(err, jsonrpc2.ErrMethodNotFound) {
		return nil, nil
	}
	return result, err
}

func (s *session) guestContext(ctx context.Context) context.Context {
	return protocol.WithClient(ctx, s.guest)
}

// guestInitialize has the implementation answer initialize.
func (s *session) guestInitialize(ctx context.Context, p *protocol.InitializeParams, res *protocol.InitializeResult) error {
	theirs, err := s.impl.Initialize(s.guestContext(ctx), p)
	if err != nil {
		return guestError(ctx, err)
	}
	if theirs == nil {
		return fmt.Errorf("lsp: %T.Initialize has no result", s.impl)
	}
	*res = *theirs
	return nil
}

// guestShutdown tells the implementation. One that has nothing to do is content.
func (s *session) guestShutdown(ctx context.Context) error {
	err := guestError(ctx, s.impl.Shutdown(s.guestContext(ctx)))
	if errors.Is(err, jsonrpc2.ErrMethodNotFound) {
		return nil
	}
	return err
}

// guestError is an error of an implementation as this engine knows errors.
func guestError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ended := ctx.Err(); ended != nil {
		return ended // whatever was made of it on the way
	}
	if e, ok := errors.AsType[*lspjsonrpc2.Error](err); ok {
		return (&jsonrpc2.Error{Code: jsonrpc2.Code(e.Code), Message: e.Message, Data: append([]byte(nil), e.Data...)}).WithCause(err)
	}
	return err
}
