package lsp

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// RefreshInterval is how long [Client.RefreshSoon] waits for more calls before it asks the client.
const RefreshInterval = 100 * time.Millisecond

// refresher gathers requests to refresh.
type refresher struct {
	mu      sync.Mutex
	pending map[string]*pendingRefresh
}

type pendingRefresh struct{ again bool } // called for while the client has not answered

// Refresh asks the client to ask again for what it shows of all documents, and waits for the answer. what is one of the methods that do so:
// workspace/semanticTokens/refresh, workspace/codeLens/refresh, workspace/inlayHint/refresh, workspace/inlineValue/refresh,
// workspace/foldingRange/refresh, workspace/diagnostic/refresh. Each needs the capability of its name, workspace.codeLens.refreshSupport for one.
func (c *Client) Refresh(ctx context.Context, what string) error {
	if err := c.refreshes(what); err != nil && c.Conn() != nil {
		return err
	}
	return c.call(ctx, what, nil, nil)
}

// refreshes checks the name of a method.
func (c *Client) refreshes(what string) error {
	if rt := byMethod()[what]; rt == nil || rt.way != toClient || !strings.HasSuffix(what, "/refresh") || what == protocol.MethodWorkspaceTextDocumentContentRefresh {
		return fmt.Errorf("lsp: %q does not refresh anything", what)
	}
	return nil
}

// RefreshSoon is [Client.Refresh] without waiting: calls within [RefreshInterval] become one request, there is never more than one for each method, and what
// goes wrong is reported. Methods that the client does not support are left out, so a server may just name all it has use for. Without any it is
// all of them.
func (c *Client) RefreshSoon(what ...string) {
	if c.s == nil {
		return
	}
	if len(what) == 0 {
		for i := range routes() {
			if m := routes()[i].method; c.refreshes(m) == nil {
				what = append(what, m)
			}
		}
	}
	for _, m := range what {
		if err := c.refreshes(m); err != nil {
			c.s.fail(c.s.ctx, nil, err)
		} else if c.require(m) == nil {
			c.refreshSoon(m)
		}
	}
}

func (c *Client) refreshSoon(what string) {
	r := &c.refresh
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.pending[what]; p != nil {
		p.again = true
		return
	}
	if r.pending == nil {
		r.pending = map[string]*pendingRefresh{}
	}
	p := &pendingRefresh{}
	r.pending[what] = p
	c.s.spawn(func() {
		for {
			t := time.NewTimer(RefreshInterval)
			select {
			case <-t.C:
			case <-c.s.ctx.Done():
				t.Stop()
			}
			r.mu.Lock()
			p.again = false
			r.mu.Unlock()
			if c.s.ctx.Err() == nil {
				c.s.fail(c.s.ctx, nil, c.call(c.s.ctx, what, nil, nil))
			}
			r.mu.Lock()
			if !p.again || c.s.ctx.Err() != nil {
				delete(r.pending, what)
				r.mu.Unlock()
				return
			}
			r.mu.Unlock()
		}
	})
}

// RefreshContent tells the client that a document of [Server.TextDocumentContent] has a new text (workspace/textDocumentContent/refresh). It needs the
// capability workspace.textDocumentContent.
func (c *Client) RefreshContent(ctx context.Context, u uri.URI) error {
	return c.call(ctx, protocol.MethodWorkspaceTextDocumentContentRefresh, &protocol.TextDocumentContentRefreshParams{URI: u}, nil)
}
