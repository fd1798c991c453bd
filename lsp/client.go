package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Client is the other side of a connection: its requests and notifications from the server, typed. Handlers may call it and wait, as answers never queue
// behind anything. All methods may be called by many goroutines at once. Requests end with ctx, and then tell the client so.
//
// Methods check nothing of the client's capabilities, which are in [Client.Params]; progress is the exception, see [Client.Begin].
type Client struct {
	s      *session
	params *protocol.InitializeParams
	raw    json.RawMessage
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
// them. It does not wait.
func (c *Client) Rediagnose(uris ...uri.URI) {
	if c.s != nil {
		c.s.diag.again(uris)
	}
}

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
	return conn.Notify(ctx, method, params)
}

func (c *Client) call(ctx context.Context, method string, params, result any) error {
	conn := c.Conn()
	if conn == nil {
		return ErrNoClient
	}
	return conn.Call(ctx, method, params, result)
}

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

// ShowDocument asks the client to show a resource (window/showDocument) and reports whether it did.
func (c *Client) ShowDocument(ctx context.Context, p *protocol.ShowDocumentParams) (bool, error) {
	var r protocol.ShowDocumentResult
	err := c.call(ctx, protocol.MethodWindowShowDocument, p, &r)
	return r.Success, err
}

// PublishDiagnostics sends diagnostics (textDocument/publishDiagnostics). [Server.Diagnose] needs no call of it.
func (c *Client) PublishDiagnostics(ctx context.Context, p *protocol.PublishDiagnosticsParams) error {
	return c.notify(ctx, protocol.MethodTextDocumentPublishDiagnostics, p)
}

// Configuration asks for settings (workspace/configuration) and returns one raw value for each item, null for a setting the client does not have. A
// client that answers with another number of values is an error.
func (c *Client) Configuration(ctx context.Context, items ...protocol.ConfigurationItem) ([]json.RawMessage, error) {
	var values []json.RawMessage
	if err := c.call(ctx, protocol.MethodWorkspaceConfiguration, &protocol.ConfigurationParams{Items: items}, &values); err != nil {
		return nil, err
	}
	if len(values) != len(items) {
		return nil, fmt.Errorf("lsp: client answered %d settings for %d", len(values), len(items))
	}
	return values, nil
}

// Setting asks for one section of the settings and decodes it into v. A client that does not have it leaves v as it is.
func (c *Client) Setting(ctx context.Context, section string, v any) error {
	item := protocol.ConfigurationItem{}
	item.Section = &section
	values, err := c.Configuration(ctx, item)
	if err != nil || string(values[0]) == "null" {
		return err
	}
	if err := Codec.Unmarshal(values[0], v); err != nil {
		return fmt.Errorf("lsp: setting %q: %w", section, err)
	}
	return nil
}

// ErrNotApplied is wrapped by the error of ApplyEdit when the client answered that it did not apply the edit.
var ErrNotApplied = errors.New("lsp: client did not apply the edit")

// ApplyEdit asks the client to change documents (workspace/applyEdit). label is what the user sees in the undo list.
func (c *Client) ApplyEdit(ctx context.Context, label string, edit protocol.WorkspaceEdit) error {
	p := &protocol.ApplyWorkspaceEditParams{Edit: edit}
	if label != "" {
		p.Label = &label
	}
	var r protocol.ApplyWorkspaceEditResult
	if err := c.call(ctx, protocol.MethodWorkspaceApplyEdit, p, &r); err != nil {
		return err
	}
	if r.Applied {
		return nil
	}
	if r.FailureReason != nil && *r.FailureReason != "" {
		return fmt.Errorf("%w: %q", ErrNotApplied, *r.FailureReason)
	}
	return ErrNotApplied
}

// Folders returns the workspace folders as they are now (workspace/workspaceFolders), nil if there is none.
func (c *Client) Folders(ctx context.Context) ([]protocol.WorkspaceFolder, error) {
	var folders []protocol.WorkspaceFolder
	err := c.call(ctx, protocol.MethodWorkspaceWorkspaceFolders, nil, &folders)
	return folders, err
}

// Register tells the client about methods that are served from now on (client/registerCapability).
func (c *Client) Register(ctx context.Context, rs ...protocol.Registration) error {
	return c.call(ctx, protocol.MethodClientRegisterCapability, &protocol.RegistrationParams{Registrations: rs}, nil)
}

// Unregister takes registrations back (client/unregisterCapability).
func (c *Client) Unregister(ctx context.Context, us ...protocol.Unregistration) error {
	return c.call(ctx, protocol.MethodClientUnregisterCapability, &protocol.UnregistrationParams{Unregisterations: us}, nil)
}

// Refresh asks the client to ask again for what it shows of all documents. what is one of the methods that do so: workspace/semanticTokens/refresh,
// workspace/codeLens/refresh, workspace/inlayHint/refresh, workspace/inlineValue/refresh, workspace/foldingRange/refresh,
// workspace/diagnostic/refresh.
func (c *Client) Refresh(ctx context.Context, what string) error { return c.call(ctx, what, nil, nil) }

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
