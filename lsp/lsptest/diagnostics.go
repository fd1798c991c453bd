package lsptest

import (
	"encoding/json"
	"slices"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/lsp"
)

// published is what the server has published last for a document.
type published struct {
	version *int32
	items   []protocol.Diagnostic
	at      int // place in the transcript
}

// published takes textDocument/publishDiagnostics. The lock is held.
func (c *Client) published(params json.RawMessage) {
	var p protocol.PublishDiagnosticsParams
	if lsp.Codec.Unmarshal(params, &p) != nil {
		c.complain("diagnostics do not decode: %s", cut(params))
		return
	}
	f := &published{items: p.Diagnostics, at: len(c.entries) - 1}
	if v, ok := p.Version.Get(); ok {
		f.version = &v
	}
	c.found[lsp.KeyOf(p.URI)] = f
}

// pulls reports whether the client is to ask for diagnostics.
func (c *Client) pulls() bool {
	if !c.declared("textDocument.diagnostic") {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var r protocol.Registration
	return c.init.Capabilities.DiagnosticProvider != nil || c.registered(protocol.MethodTextDocumentDiagnostic, &r)
}

// Diagnostics returns what the server finds wrong with the document as it is now. Where the server wants to be asked, it is (textDocument/diagnostic); else the
// Client waits for diagnostics that are published for this version, or without a version after it was sent.
func (d *Doc) Diagnostics() []protocol.Diagnostic {
	d.c.t.Helper()
	return d.DiagnosticsOf(d.Version())
}

// DiagnosticsOf is Diagnostics for that version or a later one, which another edit may have overtaken meanwhile.
func (d *Doc) DiagnosticsOf(version int32) []protocol.Diagnostic {
	d.c.t.Helper()
	if d.c.pulls() {
		return d.Pull()
	}
	var items []protocol.Diagnostic
	d.c.await("diagnostics of "+string(d.URI()), func() bool {
		f := d.c.found[d.doc.Key()]
		if f == nil || f.version != nil && *f.version < version || f.version == nil && f.at < d.sent {
			return false
		}
		items = f.items
		return true
	})
	return slices.Clone(items)
}

// Pull asks the server for diagnostics, with the result id that it gave last (textDocument/diagnostic).
func (d *Doc) Pull() []protocol.Diagnostic {
	d.c.t.Helper()
	params := map[string]any{"textDocument": d.ID()}
	if d.pulled.id != nil {
		params["previousResultId"] = *d.pulled.id
	}
	report := Request[protocol.DocumentDiagnosticReport](d.c, protocol.MethodTextDocumentDiagnostic, params)
	switch r := report.(type) {
	case *protocol.RelatedFullDocumentDiagnosticReport:
		d.pulled.id, d.pulled.items = r.ResultID, r.Items
	case *protocol.RelatedUnchangedDocumentDiagnosticReport:
		if d.pulled.id == nil {
			d.c.fail("%s: the server says unchanged, and has said nothing before", d.URI())
		}
		d.pulled.id = &r.ResultID
	default:
		d.c.fail("%s: a report of type %T", d.URI(), report)
	}
	return slices.Clone(d.pulled.items)
}

// Until waits until the server finds what ok wants, for what depends on something else than this document: on another one, on settings. It looks at
// everything that is published or, where the server wants to be asked, asks again when it says so (workspace/diagnostic/refresh).
func (d *Doc) Until(ok func([]protocol.Diagnostic) bool) []protocol.Diagnostic {
	d.c.t.Helper()
	const refresh = "workspace/diagnostic/refresh"
	for n := d.c.Count(refresh); d.c.pulls(); n++ {
		if items := d.Pull(); ok(items) {
			return items
		}
		d.c.Await(refresh, n+1)
	}
	var items []protocol.Diagnostic
	d.c.await("such diagnostics of "+string(d.URI()), func() bool {
		f := d.c.found[d.doc.Key()]
		if f == nil || !ok(slices.Clone(f.items)) {
			return false
		}
		items = f.items
		return true
	})
	return slices.Clone(items)
}

// Messages are the texts of diagnostics, in order.
func Messages(ds []protocol.Diagnostic) []string {
	texts := make([]string, len(ds))
	for i, d := range ds {
		switch m := d.Message.(type) {
		case protocol.String:
			texts[i] = string(m)
		case *protocol.MarkupContent:
			texts[i] = m.Value
		}
	}
	return texts
}
