package lsp

import (
	"context"

	"go.lsp.dev/protocol"
)

// ProtocolClient returns the client that the context of a handler belongs to as the Client interface of go.lsp.dev/protocol has it, for code that was written
// for that. It is never nil; for a context of something else its methods return [ErrNoClient]. Like the methods of [Client] they return
// [ErrUnsupported] for what the client cannot do.
func ProtocolClient(ctx context.Context) protocol.Client {
	if c, ok := protocol.ClientFromContext(ctx); ok {
		return c
	}
	return &protocolClient{ClientFrom(ctx)}
}

// protocolClient is a Client with the methods of that interface.
type protocolClient struct{ c *Client }

func (p *protocolClient) Progress(ctx context.Context, params *protocol.ProgressParams) error {
	return p.c.notify(ctx, protocol.MethodProgress, params)
}

func (p *protocolClient) LogTrace(ctx context.Context, params *protocol.LogTraceParams) error {
	return p.c.notify(ctx, protocol.MethodLogTrace, params)
}

func (p *protocolClient) RegisterCapability(ctx context.Context, params *protocol.RegistrationParams) error {
	return p.c.call(ctx, protocol.MethodClientRegisterCapability, params, nil)
}

func (p *protocolClient) UnregisterCapability(ctx context.Context, params *protocol.UnregistrationParams) error {
	return p.c.call(ctx, protocol.MethodClientUnregisterCapability, params, nil)
}

func (p *protocolClient) ShowMessage(ctx context.Context, params *protocol.ShowMessageParams) error {
	return p.c.notify(ctx, protocol.MethodWindowShowMessage, params)
}

func (p *protocolClient) ShowMessageRequest(ctx context.Context, params *protocol.ShowMessageRequestParams) (*protocol.MessageActionItem, error) {
	return answered[*protocol.MessageActionItem](ctx, p, protocol.MethodWindowShowMessageRequest, params)
}

func (p *protocolClient) LogMessage(ctx context.Context, params *protocol.LogMessageParams) error {
	return p.c.notify(ctx, protocol.MethodWindowLogMessage, params)
}

func (p *protocolClient) ShowDocument(ctx context.Context, params *protocol.ShowDocumentParams) (*protocol.ShowDocumentResult, error) {
	return answered[*protocol.ShowDocumentResult](ctx, p, protocol.MethodWindowShowDocument, params)
}

func (p *protocolClient) WorkDoneProgressCreate(ctx context.Context, params *protocol.WorkDoneProgressCreateParams) error {
	return p.c.call(ctx, protocol.MethodWindowWorkDoneProgressCreate, params, nil)
}

func (p *protocolClient) Telemetry(ctx context.Context, params protocol.LSPAny) error {
	return p.c.notify(ctx, protocol.MethodTelemetryEvent, params)
}

func (p *protocolClient) PublishDiagnostics(ctx context.Context, params *protocol.PublishDiagnosticsParams) error {
	return p.c.notify(ctx, protocol.MethodTextDocumentPublishDiagnostics, params)
}

func (p *protocolClient) Configuration(ctx context.Context, params *protocol.ConfigurationParams) ([]protocol.LSPAny, error) {
	return answered[[]protocol.LSPAny](ctx, p, protocol.MethodWorkspaceConfiguration, params)
}

func (p *protocolClient) WorkspaceFolders(ctx context.Context) ([]protocol.WorkspaceFolder, error) {
	return answered[[]protocol.WorkspaceFolder](ctx, p, protocol.MethodWorkspaceWorkspaceFolders, nil)
}

func (p *protocolClient) ApplyEdit(ctx context.Context, params *protocol.ApplyWorkspaceEditParams) (*protocol.ApplyWorkspaceEditResult, error) {
	return answered[*protocol.ApplyWorkspaceEditResult](ctx, p, protocol.MethodWorkspaceApplyEdit, params)
}

func (p *protocolClient) CodeLensRefresh(ctx context.Context) error {
	return p.c.call(ctx, protocol.MethodWorkspaceCodeLensRefresh, nil, nil)
}

func (p *protocolClient) FoldingRangeRefresh(ctx context.Context) error {
	return p.c.call(ctx, protocol.MethodWorkspaceFoldingRangeRefresh, nil, nil)
}

func (p *protocolClient) SemanticTokensRefresh(ctx context.Context) error {
	return p.c.call(ctx, protocol.MethodWorkspaceSemanticTokensRefresh, nil, nil)
}

func (p *protocolClient) InlineValueRefresh(ctx context.Context) error {
	return p.c.call(ctx, protocol.MethodWorkspaceInlineValueRefresh, nil, nil)
}

func (p *protocolClient) InlayHintRefresh(ctx context.Context) error {
	return p.c.call(ctx, protocol.MethodWorkspaceInlayHintRefresh, nil, nil)
}

func (p *protocolClient) DiagnosticRefresh(ctx context.Context) error {
	return p.c.call(ctx, protocol.MethodWorkspaceDiagnosticRefresh, nil, nil)
}

func (p *protocolClient) TextDocumentContentRefresh(ctx context.Context, params *protocol.TextDocumentContentRefreshParams) error {
	return p.c.call(ctx, protocol.MethodWorkspaceTextDocumentContentRefresh, params, nil)
}

// answered calls the client for a result.
func answered[R any](ctx context.Context, p *protocolClient, method string, params any) (result R, err error) {
	err = p.c.call(ctx, method, params, &result)
	return result, err
}
