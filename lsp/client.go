package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Client is the other side of a connection: its requests and notifications from the server, typed. Handlers may call it and wait, as answers never queue
// behind anything. All methods may be called by many goroutines at once.
//
// Requests end with ctx, and then tell the client so; a client that never answers holds up nobody else. [Server.ClientTimeout] bounds all that do not wait
// for a person. A request that needs a capability which the client does not have is not sent; its error wraps [ErrUnsupported].
type Client struct {
	s      *session
	params *protocol.InitializeParams
	raw    json.RawMessage

	settings settings
	folders  folders
	refresh  refresher
	ids      atomic.Int64 // of registrations
}

// ClientFrom returns the client that the context of a handler belongs to. It is never nil; for a context of something else its methods return
// [ErrNoClient].
func ClientFrom(ctx context.Context) *Client {
	if sc := scopeFrom(ctx); sc != nil {
		return &sc.s.client
	}
	return &Client{}
}

// Params returns what the client said in initialize: its name, folders, capabilities. It is nil before that, and must not be changed.
func (c *Client) Params() *protocol.InitializeParams { return c.params }

// RawParams returns the params of initialize as they came, with the members that the specification does not know.
func (c *Client) RawParams() json.RawMessage { return c.raw }

// Encoding returns the position encoding of the session.
func (c *Client) Encoding() protocol.PositionEncodingKind {
	if c.s == nil {
		return protocol.PositionEncodingKindUTF16
	}
	return kindOf(c.s.unit)
}

// Documents returns the documents that are open now, which may be newer than those of [SnapshotFrom].
func (c *Client) Documents() *Snapshot {
	if c.s == nil {
		return &Snapshot{}
	}
	return c.s.docs.Load()
}

// Rediagnose has [Server.Diagnose] look at open documents again, because something else that it depends on has changed. Without arguments it is all of
// them, and the workspace. It does not wait.
func (c *Client) Rediagnose(uris ...uri.URI) {
	if c.s != nil {
		c.s.diag.again(uris)
	}
}

// RediagnoseWorkspace has [Server.DiagnoseWorkspace] look again, because something has changed that is not open, and leaves open documents alone. It does
// not wait. A client that asks for diagnostics is told to ask (workspace/diagnostic/refresh), at most once each [RefreshInterval].
func (c *Client) RediagnoseWorkspace() {
	if c.s != nil {
		c.s.diag.workspaceAgain()
	}
}

// PullsDiagnostics reports whether the client asks for diagnostics (LSP 3.18, "Pull Diagnostics") and is not sent them. It is known once initialize has
// been answered.
func (c *Client) PullsDiagnostics() bool { return c.s != nil && c.s.diag.pulls }

// Conn returns the connection, for methods that have no function here, or nil.
func (c *Client) Conn() *jsonrpc2.Conn {
	if c.s == nil {
		return nil
	}
	return c.s.conn.Load()
}

func (c *Client) notify(ctx context.Context, method string, params any) error {
	conn := c.Conn()
	if conn == nil {
		return ErrNoClient
	}
	if err := c.require(method); err != nil {
		return err
	}
	return conn.Notify(ctx, method, params)
}

func (c *Client) call(ctx context.Context, method string, params, result any) error {
	conn := c.Conn()
	if conn == nil {
		return ErrNoClient
	}
	if err := c.require(method); err != nil {
		return err
	}
	defer lend(ctx)()
	if d := c.s.srv.ClientTimeout; d > 0 && method != protocol.MethodWindowShowMessageRequest && method != protocol.MethodWindowShowDocument {
		limited, stop := context.WithTimeoutCause(ctx, d, ErrClientTimeout)
		defer stop()
		err := conn.Call(limited, method, params, result)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil && context.Cause(limited) == ErrClientTimeout {
			return fmt.Errorf("lsp: %s: %w within %v", method, ErrClientTimeout, d)
		}
		return err
	}
	return conn.Call(ctx, method, params, result)
}

// ErrClientTimeout is wrapped by the error of a request that the client has not answered within [Server.ClientTimeout].
var ErrClientTimeout = errors.New("no answer from the client")

// ShowMessage shows text to the user (window/showMessage).
func (c *Client) ShowMessage(ctx context.Context, typ protocol.MessageType, text string) error {
	return c.notify(ctx, protocol.MethodWindowShowMessage, &protocol.ShowMessageParams{Type: typ, Message: text})
}

// LogMessage writes text to the client's log for the server (window/logMessage).
func (c *Client) LogMessage(ctx context.Context, typ protocol.MessageType, text string) error {
	return c.notify(ctx, protocol.MethodWindowLogMessage, &protocol.LogMessageParams{Type: typ, Message: text})
}

// Ask shows text with buttons and returns the title of the one the user pressed, "" for none (window/showMessageRequest).
func (c *Client) Ask(ctx context.Context, typ protocol.MessageType, text string, titles ...string) (string, error) {
	p := &protocol.ShowMessageRequestParams{Type: typ, Message: text}
	for _, t := range titles {
		p.Actions = append(p.Actions, protocol.MessageActionItem{Title: t})
	}
	var chosen struct {
		Title string `json:"title"`
	}
	err := c.call(ctx, protocol.MethodWindowShowMessageRequest, p, &chosen)
	return chosen.Title, err
}

// ShowDocument asks the client to show a resource (window/showDocument) and reports whether it did. It needs the capability window.showDocument.support.
func (c *Client) ShowDocument(ctx context.Context, p *protocol.ShowDocumentParams) (bool, error) {
	var r protocol.ShowDocumentResult
	err := c.call(ctx, protocol.MethodWindowShowDocument, p, &r)
	return r.Success, err
}

// PublishDiagnostics sends diagnostics (textDocument/publishDiagnostics). [Server.Diagnose] needs no call of it.
func (c *Client) PublishDiagnostics(ctx context.Context, p *protocol.PublishDiagnosticsParams) error {
	return c.notify(ctx, protocol.MethodTextDocumentPublishDiagnostics, p)
}

// Telemetry sends an event that the client passes on as it is (telemetry/event). event must encode as an object or an array.
func (c *Client) Telemetry(ctx context.Context, event any) error {
	return c.notify(ctx, protocol.MethodTelemetryEvent, event)
}

// LogTrace sends a trace line ($/logTrace) if the client has asked for traces with $/setTrace or in initialize; detail only if for verbose ones.
func (c *Client) LogTrace(ctx context.Context, message, detail string) error {
	if c.s == nil {
		return ErrNoClient
	}
	level := c.s.trace.Load()
	if level == nil || *level != protocol.TraceValueMessages && *level != protocol.TraceValueVerbose {
		return nil
	}
	p := &protocol.LogTraceParams{Message: message}
	if detail != "" && *level == protocol.TraceValueVerbose {
		p.Verbose = &detail
	}
	return c.notify(ctx, protocol.MethodLogTrace, p)
}
