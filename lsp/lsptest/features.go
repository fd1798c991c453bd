package lsptest

import (
	"slices"

	"go.lsp.dev/protocol"
)

// The requests that most tests make, at the place of a text in the document. All others are made with [Client.Call] or [Request].

// Hover is what the editor shows at text, nil for nothing.
func (d *Doc) Hover(text string) *protocol.Hover {
	d.c.t.Helper()
	return Request[*protocol.Hover](d.c, protocol.MethodTextDocumentHover, &protocol.HoverParams{TextDocumentPositionParams: d.Place(text)})
}

// HoverText is the text of [Doc.Hover], "" for nothing.
func (d *Doc) HoverText(text string) string {
	d.c.t.Helper()
	h := d.Hover(text)
	if h == nil {
		return ""
	}
	switch c := h.Contents.(type) {
	case *protocol.MarkupContent:
		return c.Value
	case protocol.String:
		return string(c)
	}
	d.c.fail("contents of type %T: use Hover", h.Contents)
	return ""
}

// Complete is what may come behind text.
func (d *Doc) Complete(text string) *protocol.CompletionList {
	d.c.t.Helper()
	p := &protocol.CompletionParams{TextDocumentPositionParams: protocol.TextDocumentPositionParams{TextDocument: d.ID(), Position: d.After(text)}}
	switch r := Request[protocol.CompletionResult](d.c, protocol.MethodTextDocumentCompletion, p).(type) {
	case *protocol.CompletionList:
		return r
	case protocol.CompletionItemSlice:
		return &protocol.CompletionList{Items: r}
	}
	return new(protocol.CompletionList)
}

// Labels are the labels of [Doc.Complete], in the order of the server.
func (d *Doc) Labels(text string) []string {
	d.c.t.Helper()
	var labels []string
	for _, item := range d.Complete(text).Items {
		labels = append(labels, item.Label)
	}
	return labels
}

// Definition is where the thing at text is defined. Links come as the locations they lead to.
func (d *Doc) Definition(text string) []protocol.Location {
	d.c.t.Helper()
	p := &protocol.DefinitionParams{TextDocumentPositionParams: d.Place(text)}
	switch r := Request[protocol.DefinitionResult](d.c, protocol.MethodTextDocumentDefinition, p).(type) {
	case *protocol.Location:
		return []protocol.Location{*r}
	case protocol.LocationSlice:
		return slices.Clone(r)
	case protocol.DefinitionLinkSlice:
		var all []protocol.Location
		for _, l := range r {
			all = append(all, protocol.Location{URI: l.TargetURI, Range: l.TargetSelectionRange})
		}
		return all
	}
	return nil
}

// References are the uses of the thing at text, its declaration included.
func (d *Doc) References(text string) []protocol.Location {
	d.c.t.Helper()
	p := &protocol.ReferenceParams{TextDocumentPositionParams: d.Place(text), Context: protocol.ReferenceContext{IncludeDeclaration: true}}
	return Request[[]protocol.Location](d.c, protocol.MethodTextDocumentReferences, p)
}

// Rename is the edit that gives the thing at text another name; see [Client.Apply].
func (d *Doc) Rename(text, name string) *protocol.WorkspaceEdit {
	d.c.t.Helper()
	p := &protocol.RenameParams{TextDocumentPositionParams: d.Place(text), NewName: name}
	return Request[*protocol.WorkspaceEdit](d.c, protocol.MethodTextDocumentRename, p)
}

// Actions are what can be done about text, and about the diagnostics given.
func (d *Doc) Actions(text string, about ...protocol.Diagnostic) []protocol.CommandOrCodeAction {
	d.c.t.Helper()
	p := &protocol.CodeActionParams{TextDocument: d.ID(), Range: d.Range(text), Context: protocol.CodeActionContext{Diagnostics: about}}
	return Request[[]protocol.CommandOrCodeAction](d.c, protocol.MethodTextDocumentCodeAction, p)
}

// Format has the server format the document, with tabs of four columns, and applies what it answers.
func (d *Doc) Format() {
	d.c.t.Helper()
	p := &protocol.DocumentFormattingParams{TextDocument: d.ID(), Options: protocol.FormattingOptions{TabSize: 4}}
	d.ApplyEdits(Request[[]protocol.TextEdit](d.c, protocol.MethodTextDocumentFormatting, p))
}

// Execute runs a command of the server (workspace/executeCommand) and decodes what it returns; a nil result drops it.
func (c *Client) Execute(command string, result any, args ...any) {
	c.t.Helper()
	p := map[string]any{"command": command}
	if len(args) > 0 {
		p["arguments"] = args
	}
	c.Call(protocol.MethodWorkspaceExecuteCommand, p, result)
}
