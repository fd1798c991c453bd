package lsptest_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/internal/leak"
	"github.com/tandem-rpc/tandem/lsp"
)

func TestMain(m *testing.M) { leak.Main(m) }

// todo is a server for texts: each TODO is a diagnostic, words can be completed and renamed, a hover shows the word.
func todo() *lsp.Server {
	return &lsp.Server{
		Name: "todo", Version: "1.0.0",
		Diagnose: func(_ context.Context, doc *lsp.Document) ([]protocol.Diagnostic, error) {
			found := []protocol.Diagnostic{}
			for start := range spans(doc.Text(), "TODO") {
				found = append(found, protocol.Diagnostic{
					Range: doc.Range(start, start+4), Severity: protocol.DiagnosticSeverityHint, Message: protocol.String("something is left to do"),
				})
			}
			return found, nil
		},
		Hover: func(ctx context.Context, p *protocol.HoverParams) (*protocol.Hover, error) {
			doc := lsp.SnapshotFrom(ctx).Document(p.TextDocument.URI)
			w, ok := word(doc, p.Position)
			if !ok {
				return nil, nil
			}
			return &protocol.Hover{Contents: lsp.PlainText(doc.In(w)), Range: &w}, nil
		},
		Completion: func(ctx context.Context, p *protocol.CompletionParams) (*protocol.CompletionList, error) {
			doc := lsp.SnapshotFrom(ctx).Document(p.TextDocument.URI)
			list := new(protocol.CompletionList)
			for _, w := range strings.Fields(doc.Text()) {
				list.Items = append(list.Items, protocol.CompletionItem{Label: w})
			}
			return list, nil
		},
		Definition: func(ctx context.Context, p *protocol.DefinitionParams) (protocol.DefinitionResult, error) {
			doc := lsp.SnapshotFrom(ctx).Document(p.TextDocument.URI)
			w, _ := word(doc, p.Position)
			start := strings.Index(doc.Text(), doc.In(w))
			return protocol.LocationSlice{{URI: doc.URI(), Range: doc.Range(start, start+len(doc.In(w)))}}, nil
		},
		References: func(ctx context.Context, p *protocol.ReferenceParams) ([]protocol.Location, error) {
			doc := lsp.SnapshotFrom(ctx).Document(p.TextDocument.URI)
			w, _ := word(doc, p.Position)
			var all []protocol.Location
			for start := range spans(doc.Text(), doc.In(w)) {
				all = append(all, protocol.Location{URI: doc.URI(), Range: doc.Range(start, start+len(doc.In(w)))})
			}
			return all, nil
		},
		Rename: func(ctx context.Context, p *protocol.RenameParams) (*protocol.WorkspaceEdit, error) {
			doc := lsp.SnapshotFrom(ctx).Document(p.TextDocument.URI)
			w, ok := word(doc, p.Position)
			if !ok {
				return nil, lsp.RequestFailed("no word here")
			}
			var edits []protocol.TextEdit
			for start := range spans(doc.Text(), doc.In(w)) {
				edits = append(edits, protocol.TextEdit{Range: doc.Range(start, start+len(doc.In(w))), NewText: p.NewName})
			}
			return &protocol.WorkspaceEdit{Changes: map[uri.URI][]protocol.TextEdit{doc.URI(): edits}}, nil
		},
		CodeAction: func(_ context.Context, p *protocol.CodeActionParams) ([]protocol.CommandOrCodeAction, error) {
			var all []protocol.CommandOrCodeAction
			for range p.Context.Diagnostics {
				all = append(all, &protocol.CodeAction{Title: "Do it"})
			}
			return all, nil
		},
		Formatting: func(ctx context.Context, p *protocol.DocumentFormattingParams) ([]protocol.TextEdit, error) {
			doc := lsp.SnapshotFrom(ctx).Document(p.TextDocument.URI)
			var edits []protocol.TextEdit
			for start := range spans(doc.Text(), "  ") {
				edits = append(edits, protocol.TextEdit{Range: doc.Range(start, start+2), NewText: " "})
			}
			return edits, nil
		},
		Commands: map[string]func(context.Context, []json.RawMessage) (any, error){
			"count": func(ctx context.Context, args []json.RawMessage) (any, error) { return len(args), nil },
		},
	}
}

// spans yields where part stands in text.
func spans(text, part string) func(func(int) bool) {
	return func(yield func(int) bool) {
		for at := 0; part != ""; {
			i := strings.Index(text[at:], part)
			if i < 0 || !yield(at+i) {
				return
			}
			at += i + len(part)
		}
	}
}

// word is the word at a position.
func word(doc *lsp.Document, p protocol.Position) (protocol.Range, bool) {
	text, at := doc.Text(), doc.Offset(p)
	start, end := at, at
	for start > 0 && !blank(text[:start], true) {
		_, n := utf8.DecodeLastRuneInString(text[:start])
		start -= n
	}
	for end < len(text) && !blank(text[end:], false) {
		_, n := utf8.DecodeRuneInString(text[end:])
		end += n
	}
	return doc.Range(start, end), start < end
}

func blank(s string, last bool) bool {
	if last {
		return strings.ContainsRune(" \n", rune(s[len(s)-1]))
	}
	return strings.ContainsRune(" \n", rune(s[0]))
}
