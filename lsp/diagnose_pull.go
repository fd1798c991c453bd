package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Diagnostics for clients that ask for them (LSP 3.18, "Pull Diagnostics").

// errRetrigger answers a pull that was overtaken: the client is to ask again (DiagnosticServerCancellationData).
var errRetrigger = &jsonrpc2.Error{Code: CodeServerCancelled, Message: ServerCancelled.Message, Data: json.RawMessage(`{"retriggerRequest":true}`)}

// choose decides, once the client is known, who begins: a client that can ask for diagnostics is left to do so. One with an empty capability for it beside
// publishDiagnostics is not: @codemirror/lsp-client (6.3) announces that and never asks, and another that does can show what is published as well.
func (d *diagnoser) choose() {
	c := &d.s.client
	capability := c.capability("textDocument.diagnostic")
	empty := bytes.IndexByte(capability, '"') < 0 && c.Can("textDocument.publishDiagnostics")
	d.pulls = !d.s.srv.PushDiagnostics && c.Can("textDocument.diagnostic") && !empty
	d.board.silent = d.pulls
	d.markup = c.Can("textDocument.diagnostic.markupMessageSupport")
	d.related = c.Can("textDocument.diagnostic.relatedDocumentSupport")
}

// asked reports whether methods for pulling are served: until the client is known it is as far as the server goes.
func (d *diagnoser) asked() bool {
	return d.serves() && (d.pulls || d.s.client.raw == nil)
}

func (s *session) pullsDocument() jsonrpc2.Handler {
	if !s.diag.asked() {
		return nil
	}
	return handlerOf(byMethod()[protocol.MethodTextDocumentDiagnostic], s.diag.pullDocument)
}

func (s *session) pullsWorkspace() jsonrpc2.Handler {
	if !s.diag.asked() || s.srv.DiagnoseWorkspace == nil {
		return nil
	}
	return handlerOf(byMethod()[protocol.MethodWorkspaceDiagnostic], s.diag.pullWorkspace)
}

// serves reports whether there is something to ask for.
func (d *diagnoser) serves() bool {
	return d.s.srv.Diagnose != nil || d.s.srv.DiagnoseWorkspace != nil
}

// pullDocument answers textDocument/diagnostic. A document that has been looked at since it changed last is not looked at again.
func (d *diagnoser) pullDocument(ctx context.Context, p *protocol.DocumentDiagnosticParams) (protocol.DocumentDiagnosticReport, error) {
	if !d.pulls {
		return nil, jsonrpc2.ErrMethodNotFound
	}
	k := KeyOf(p.TextDocument.URI)
	var others []Key
	var err error
	if doc := SnapshotFrom(ctx).Document(p.TextDocument.URI); doc != nil && d.s.srv.Diagnose != nil {
		k = doc.key
		others, err = d.current(ctx, doc)
	} else if d.s.srv.DiagnoseWorkspace != nil {
		err = d.inspect(ctx, nil)
	}
	if err != nil {
		return nil, pullError(ctx, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	var related map[uri.URI]protocol.FullDocumentDiagnosticReportOrUnchangedDocumentDiagnosticReport
	if d.related {
		related = d.relatives(k, others)
	} else if len(others) > 0 {
		d.askAgain()
		d.board.forget(others...)
	}
	full, same := d.report(k, p.PreviousResultID)
	if same != nil {
		return &protocol.RelatedUnchangedDocumentDiagnosticReport{UnchangedDocumentDiagnosticReport: *same, RelatedDocuments: related}, nil
	}
	return &protocol.RelatedFullDocumentDiagnosticReport{FullDocumentDiagnosticReport: *full, RelatedDocuments: related}, nil
}

// current brings the board up to date with a document.
func (d *diagnoser) current(ctx context.Context, doc *Document) (others []Key, err error) {
	d.mu.Lock()
	p := d.docs[doc.key]
	if p == nil || p.doc != doc {
		d.mu.Unlock()
		return nil, errOvertaken
	}
	turn, found := p.turn, p.found
	d.mu.Unlock()
	if found == turn {
		return nil, nil
	}
	return d.examine(ctx, p, doc, turn)
}

// forget drops what is known of documents of which nothing is known any more.
func (d *diagnoser) forget(keys []Key) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.board.forget(keys...)
}

// pullError is what the client is told. The end of the request's own context stays what it is.
func pullError(ctx context.Context, err error) error {
	if errors.Is(err, errOvertaken) && ctx.Err() == nil {
		return errRetrigger
	}
	return err
}

// report is the result for one document: full, or the same as the client has. mu is held.
func (d *diagnoser) report(k Key, previous *string) (*protocol.FullDocumentDiagnosticReport, *protocol.UnchangedDocumentDiagnosticReport) {
	list := d.spell(d.board.all(k))
	id := d.board.resultID(list)
	if previous != nil && *previous == id {
		return nil, &protocol.UnchangedDocumentDiagnosticReport{Kind: string(protocol.DocumentDiagnosticReportKindUnchanged), ResultID: id}
	}
	return &protocol.FullDocumentDiagnosticReport{Kind: string(protocol.DocumentDiagnosticReportKindFull), ResultID: &id, Items: list}, nil
}

// relatives are the reports of the documents that a document has a part in, and of those in which it has none any more. mu is held.
func (d *diagnoser) relatives(k Key, others []Key) map[uri.URI]protocol.FullDocumentDiagnosticReportOrUnchangedDocumentDiagnosticReport {
	out := map[uri.URI]protocol.FullDocumentDiagnosticReportOrUnchangedDocumentDiagnosticReport{}
	add := func(other Key) {
		if sh := d.board.sheets[other]; sh != nil {
			full, _ := d.report(other, nil)
			out[d.spelling(other, sh.uri)] = full
		}
	}
	for other := range d.board.spread[k] {
		add(other)
	}
	for _, other := range others {
		add(other)
	}
	d.board.forget(others...)
	if len(out) == 0 {
		return nil
	}
	return out
}

// spelling is the client's own spelling of the URI of a document that is open.
func (d *diagnoser) spelling(k Key, u uri.URI) uri.URI {
	if doc := d.s.docs.Load().ByKey(k); doc != nil {
		return doc.uri
	}
	return u
}

// pullWorkspace answers workspace/diagnostic: every open document, and what DiagnoseWorkspace finds. Documents that the client has something of and
// that are not heard of any more are reported without diagnostics.
func (d *diagnoser) pullWorkspace(ctx context.Context, p *protocol.WorkspaceDiagnosticParams) (*protocol.WorkspaceDiagnosticReport, error) {
	if !d.pulls {
		return nil, jsonrpc2.ErrMethodNotFound
	}
	w := &workspacePull{d: d, known: map[Key]*protocol.PreviousResultId{}, said: map[Key]string{}}
	for i := range p.PreviousResultIds {
		w.known[KeyOf(p.PreviousResultIds[i].URI)] = &p.PreviousResultIds[i]
	}
	if d.s.srv.Diagnose != nil {
		for doc := range SnapshotFrom(ctx).Documents() {
			others, err := d.current(ctx, doc)
			d.forget(others)
			if err != nil {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				if !errors.Is(err, errOvertaken) { // the client asks for what has changed by itself
					d.s.fail(ctx, nil, err)
				}
				continue
			}
			if err := w.tell(ctx, doc.key); err != nil {
				return nil, err
			}
		}
	}
	if d.s.srv.DiagnoseWorkspace != nil {
		if err := d.inspect(ctx, func(k Key) error { return w.tell(ctx, k) }); err != nil {
			return nil, pullError(ctx, err)
		}
	}
	return w.finish(ctx)
}

// workspacePull is one workspace/diagnostic on its way.
type workspacePull struct {
	d     *diagnoser
	known map[Key]*protocol.PreviousResultId
	said  map[Key]string // result ids told by now
}

// tell reports a document, at once if the client takes parts.
func (w *workspacePull) tell(ctx context.Context, k Key) error {
	d := w.d
	var previous *string
	var u uri.URI
	if known := w.known[k]; known != nil {
		previous, u = &known.Value, known.URI
	}
	d.mu.Lock()
	if sh := d.board.sheets[k]; sh != nil {
		u = sh.uri
	}
	var version *int32
	if p := d.docs[k]; p != nil {
		u = p.doc.uri
		v := p.doc.version
		version = &v
	}
	full, same := d.report(k, previous)
	d.mu.Unlock()
	var item protocol.WorkspaceDocumentDiagnosticReport
	id := ""
	if same != nil {
		id = same.ResultID
		item = &protocol.WorkspaceUnchangedDocumentDiagnosticReport{UnchangedDocumentDiagnosticReport: *same, URI: u, Version: version}
	} else {
		id = *full.ResultID
		item = &protocol.WorkspaceFullDocumentDiagnosticReport{FullDocumentDiagnosticReport: *full, URI: u, Version: version}
	}
	if w.said[k] == id {
		return nil
	}
	w.said[k] = id
	return Stream(ctx, item)
}

// finish reports what is known and has not been told, and makes the answer.
func (w *workspacePull) finish(ctx context.Context) (*protocol.WorkspaceDiagnosticReport, error) {
	w.d.mu.Lock()
	var rest []Key
	for k, sh := range w.d.board.sheets {
		if len(sh.parts) > 0 && w.d.docs[k] == nil {
			rest = append(rest, k)
		}
	}
	w.d.mu.Unlock()
	for k := range w.known {
		if w.d.s.docs.Load().ByKey(k) == nil {
			rest = append(rest, k)
		}
	}
	for _, k := range rest {
		if err := w.tell(ctx, k); err != nil {
			return nil, err
		}
	}
	return &protocol.WorkspaceDiagnosticReport{}, nil // and what Stream was given
}

// askAgain has the client ask again, if it can be told to.
func (d *diagnoser) askAgain() {
	if d.s.ctx.Err() == nil {
		d.s.client.RefreshSoon(protocol.MethodWorkspaceDiagnosticRefresh)
	}
}
