package lsptest

import (
	"path"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/lsp"
)

// Doc is a document that is, or was, open in the editor. Its text is that of the editor, edits of the server included. Methods are for the goroutine of the test.
type Doc struct {
	c *Client

	// Under Client.mu.
	doc  *lsp.Document
	open bool
	sent int // place in the transcript of the message with the newest text

	pulled struct { // the last answer to textDocument/diagnostic
		id    *string
		items []protocol.Diagnostic
	}
}

// languages are the language ids of file name extensions (LSP 3.18, "Text Document Language Identifiers").
var languages = map[string]string{
	".c": "c", ".cc": "cpp", ".cpp": "cpp", ".cs": "csharp", ".css": "css", ".go": "go", ".html": "html", ".java": "java", ".js": "javascript", ".json": "json",
	".jsx": "javascriptreact", ".lua": "lua", ".md": "markdown", ".php": "php", ".py": "python", ".rb": "ruby", ".rs": "rust", ".sh": "shellscript", ".sql": "sql",
	".swift": "swift", ".toml": "toml", ".ts": "typescript", ".tsx": "typescriptreact", ".xml": "xml", ".yaml": "yaml", ".yml": "yaml",
}

// Open opens a document with that text, as version 1. Its language follows from the extension, "plaintext" where that says nothing.
func (c *Client) Open(u uri.URI, text string) *Doc {
	c.t.Helper()
	language := languages[path.Ext(string(u))]
	if language == "" {
		language = "plaintext"
	}
	return c.OpenAs(u, language, text)
}

// OpenAs opens a document with a language id of its own.
func (c *Client) OpenAs(u uri.URI, language, text string) *Doc {
	c.t.Helper()
	if kind, open := c.sync(); !open && !c.o.Lenient {
		c.fail("the server does not ask to be told of open documents (textDocumentSync is %v)", kind)
	}
	d := &Doc{c: c, doc: lsp.NewDocument(u, language, 1, text, c.enc)}
	c.mu.Lock()
	have := c.docs[d.doc.Key()] != nil
	if !have {
		c.openLocked(d)
	}
	c.mu.Unlock()
	if have {
		c.fail("%s is open already", u)
	}
	return d
}

func (c *Client) openLocked(d *Doc) {
	c.docs[d.doc.Key()], d.open = d, true
	d.sent = c.sendTyped(protocol.MethodTextDocumentDidOpen, &protocol.DidOpenTextDocumentParams{TextDocument: protocol.TextDocumentItem{
		URI: d.doc.URI(), LanguageID: protocol.LanguageKind(d.doc.Language()), Version: d.doc.Version(), Text: d.doc.Text(),
	}})
}

// sendTyped sends a notification of the client's own making. The lock is held.
func (c *Client) sendTyped(method string, params any) int {
	raw, err := encode(params)
	if err != nil {
		c.complain("%s: %v", method, err)
	}
	return c.sendLocked(compose("", method, raw))
}

// sync is how the server wants documents: the kind of changes, and whether it wants to be told at all.
func (c *Client) sync() (protocol.TextDocumentSyncKind, bool) {
	switch s := c.init.Capabilities.TextDocumentSync.(type) {
	case protocol.TextDocumentSyncKind:
		return s, s != protocol.TextDocumentSyncKindNone
	case *protocol.TextDocumentSyncOptions:
		kind := protocol.TextDocumentSyncKindNone
		if s.Change != nil {
			kind = *s.Change
		}
		return kind, s.OpenClose != nil && *s.OpenClose
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var r protocol.Registration
	if !c.registered(protocol.MethodTextDocumentDidOpen, &r) {
		return protocol.TextDocumentSyncKindNone, false
	}
	kind := protocol.TextDocumentSyncKindNone
	if c.registered(protocol.MethodTextDocumentDidChange, &r) {
		var o protocol.TextDocumentChangeRegistrationOptions
		if lsp.Codec.Unmarshal(r.RegisterOptions, &o) == nil {
			kind = o.SyncKind
		}
	}
	return kind, true
}

// Document is the document as it is now. It has methods to convert positions.
func (d *Doc) Document() *lsp.Document {
	d.c.mu.Lock()
	defer d.c.mu.Unlock()
	return d.doc
}

// URI is the document's URI as it was opened.
func (d *Doc) URI() uri.URI { return d.Document().URI() }

// ID names the document in params.
func (d *Doc) ID() protocol.TextDocumentIdentifier {
	return protocol.TextDocumentIdentifier{URI: d.URI()}
}

// Text is the document's text as it is now.
func (d *Doc) Text() string { return d.Document().Text() }

// Version is the version of the text as it is now. Every edit adds one.
func (d *Doc) Version() int32 { return d.Document().Version() }

// offset is where text stands in the document. It must stand there once only: else the test would say less than it seems to.
func (d *Doc) offset(doc *lsp.Document, text string) int {
	d.c.t.Helper()
	all := doc.Text()
	switch n := strings.Count(all, text); {
	case n == 0 || text == "":
		d.c.fail("%q is not in %s version %d:\n%s", text, doc.URI(), doc.Version(), cut([]byte(all)))
	case n > 1:
		d.c.fail("%q is %d times in %s version %d: take more of the text around it", text, n, doc.URI(), doc.Version())
	}
	return strings.Index(all, text)
}

// At is the position at the start of text, which must be in the document once.
func (d *Doc) At(text string) protocol.Position {
	d.c.t.Helper()
	doc := d.Document()
	return doc.Position(d.offset(doc, text))
}

// After is the position behind text, which must be in the document once.
func (d *Doc) After(text string) protocol.Position {
	d.c.t.Helper()
	doc := d.Document()
	return doc.Position(d.offset(doc, text) + len(text))
}

// Range is the range of text, which must be in the document once.
func (d *Doc) Range(text string) protocol.Range {
	d.c.t.Helper()
	doc := d.Document()
	start := d.offset(doc, text)
	return doc.Range(start, start+len(text))
}

// In is the text that a range covers.
func (d *Doc) In(r protocol.Range) string { return d.Document().In(r) }

// Place is the document and a position in it, at the start of text, as most params want it.
func (d *Doc) Place(text string) protocol.TextDocumentPositionParams {
	d.c.t.Helper()
	return protocol.TextDocumentPositionParams{TextDocument: d.ID(), Position: d.At(text)}
}

// Save tells the server that the document was saved, with its text if the server wants that (textDocument/didSave).
func (d *Doc) Save() {
	d.c.t.Helper()
	d.mustBeOpen()
	p := &protocol.DidSaveTextDocumentParams{TextDocument: d.ID()}
	if s, ok := d.c.init.Capabilities.TextDocumentSync.(*protocol.TextDocumentSyncOptions); ok {
		if o, ok := s.Save.(*protocol.SaveOptions); ok && o.IncludeText != nil && *o.IncludeText {
			text := d.Text()
			p.Text = &text
		}
	}
	d.c.Notify(protocol.MethodTextDocumentDidSave, p)
}

// Close closes the document. It can be opened again with [Client.Open], as another Doc.
func (d *Doc) Close() {
	d.c.t.Helper()
	d.mustBeOpen()
	d.c.mu.Lock()
	defer d.c.mu.Unlock()
	d.closeLocked()
	d.c.files[d.doc.Key()] = d.doc
}

func (d *Doc) closeLocked() {
	d.open = false
	delete(d.c.docs, d.doc.Key())
	d.sent = d.c.sendTyped(protocol.MethodTextDocumentDidClose, &protocol.DidCloseTextDocumentParams{
		TextDocument: protocol.TextDocumentIdentifier{URI: d.doc.URI()},
	})
}

func (d *Doc) mustBeOpen() {
	d.c.t.Helper()
	d.c.mu.Lock()
	open := d.open
	d.c.mu.Unlock()
	if !open {
		d.c.fail("%s is not open", d.URI())
	}
}

// File returns the text of a document that is open, of one that was, or of one of [Options.Files], as it is now. ok is false for what does not exist.
func (c *Client) File(u uri.URI) (text string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := lsp.KeyOf(u)
	if d := c.docs[k]; d != nil {
		return d.doc.Text(), true
	}
	if f := c.files[k]; f != nil {
		return f.Text(), true
	}
	return "", false
}
