package mcp

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// ErrSilent is why a session ended whose client did not answer a ping in time. See Server.KeepAlive.
var ErrSilent = errors.New("mcp: the client does not answer")

// Ping asks the client for a sign of life (MCP basic utilities, ping; up to 2025-11-25). An error answer is one too.
func (ses *Session) Ping(ctx context.Context) error {
	err := ses.Call(ctx, "ping", nil, nil)
	if _, ok := errors.AsType[*jsonrpc2.Error](err); ok {
		return nil
	}
	return err
}

// keepAlive begins to ping the client. mu is held.
func (ses *Session) keepAlive() {
	if every := ses.server.KeepAlive; every > 0 && !ses.sessionless && ses.beat == nil {
		ses.beat = time.AfterFunc(every, ses.probe)
	}
}

// pinged is Ping by a goroutine of ours.
func (ses *Session) pinged(ctx context.Context) (err error) {
	defer ses.server.caught(ctx, &err)
	return ses.Ping(ctx)
}

// probe pings once, and ends the session if nothing comes back.
func (ses *Session) probe() {
	every := ses.server.KeepAlive
	ctx, stop := context.WithTimeout(context.Background(), every)
	err := ses.pinged(ctx)
	stop()
	ses.mu.Lock()
	ended := ses.ended != nil
	if !ended && err == nil {
		ses.beat.Reset(every)
	}
	ses.mu.Unlock()
	if ended || err == nil {
		return
	}
	w := ses.way.Load()
	ses.Close(ErrSilent)
	ses.server.report(context.Background(), nil, ErrSilent)
	if w != nil {
		if c, ok := rawPeer(w.Peer).(io.Closer); ok {
			_ = c.Close()
		}
	}
}
