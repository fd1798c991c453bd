package editor

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/lsp"
)

type object = map[string]any

// patience is how long a test waits for what must come.
const patience = 3 * time.Minute

// session is a client of a Server in this process.
type session struct {
	t    *testing.T
	conn *jsonrpc2.Conn
	d    *Server
	diag chan *protocol.PublishDiagnosticsParams
	// what the user is shown
	shown chan string
	asked chan string // methods that the server has called

	hello    protocol.InitializeResult
	encoding protocol.PositionEncodingKind
	texts    map[lsp.Key]*lsp.Document // what is open
}

func start(t *testing.T, d *Server, rootURI any) *session {
	t.Helper()
	return startWith(t, d, object{"processId": nil, "rootUri": rootURI, "capabilities": object{}})
}

// startWith connects an editor that says this in initialize.
func startWith(t *testing.T, d *Server, params object) *session {
	t.Helper()
	a, b := jsonrpc2.Pipe()
	s := &session{t: t, d: d, diag: make(chan *protocol.PublishDiagnosticsParams, 100), shown: make(chan string, 100), asked: make(chan string, 100),
		encoding: protocol.PositionEncodingKindUTF16, texts: map[lsp.Key]*lsp.Document{}}
	o := &jsonrpc2.Options{MaxFrame: MaxFrame}
	m, err := d.LSP().Mount(o)
	if err != nil {
		t.Fatal(err)
	}
	server := jsonrpc2.NewConn(a, m, o)
	mux := jsonrpc2.NewMux()
	mux.HandleNotification(protocol.MethodTextDocumentPublishDiagnostics, jsonrpc2.Note(func(_ context.Context, p *protocol.PublishDiagnosticsParams) error {
		s.diag <- p
		return nil
	}))
	mux.HandleNotification(protocol.MethodWindowShowMessage, jsonrpc2.Note(func(_ context.Context, p *protocol.ShowMessageParams) error {
		s.shown <- p.Message
		return nil
	}))
	s.serve(mux)
	s.conn = jsonrpc2.NewConn(b, mux, &jsonrpc2.Options{MaxFrame: MaxFrame, Codec: lsp.Codec, Cancel: cancel.NewRegistry(lsp.Cancel)})
	done := make(chan struct{}, 2)
	for _, c := range []*jsonrpc2.Conn{server, s.conn} {
		go func() {
			_ = c.Serve(context.Background())
			done <- struct{}{}
		}()
	}
	t.Cleanup(func() {
		_ = s.conn.Close()
		<-done
		<-done
		d.Close()
	})
	s.call("initialize", params, &s.hello)
	if enc := s.hello.Capabilities.PositionEncoding; enc != "" {
		s.encoding = enc
	}
	return s
}

// serve answers what servers ask of an editor.
func (s *session) serve(mux *jsonrpc2.Mux) {
	for _, method := range []string{"client/registerCapability", "workspace/inlayHint/refresh", "workspace/codeLens/refresh"} {
		mux.HandleRequest(method, jsonrpc2.Call(func(context.Context, *json.RawMessage) (any, error) {
			select {
			case s.asked <- method:
			default:
			}
			return nil, nil
		}))
	}
	mux.HandleRequest("window/showMessageRequest", jsonrpc2.Call(func(_ context.Context, p *protocol.ShowMessageRequestParams) (any, error) {
		return p.Actions[len(p.Actions)-1], nil
	}))
	mux.HandleRequest("window/showDocument", jsonrpc2.Call(func(_ context.Context, p *protocol.ShowDocumentParams) (any, error) {
		s.shown <- string(p.URI)
		return object{"success": true}, nil
	}))
}

func (s *session) call(method string, params, result any) {
	s.t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	if err := s.conn.Call(ctx, method, params, result); err != nil {
		s.t.Fatalf("%s: %v", method, err)
	}
}

// fails is a call that must be answered with an error.
func (s *session) fails(method string, params any) error {
	s.t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	err := s.conn.Call(ctx, method, params, nil)
	if err == nil {
		s.t.Fatalf("%s succeeds", method)
	}
	return err
}

func (s *session) notify(method string, params any) {
	s.t.Helper()
	if err := s.conn.Notify(context.Background(), method, params); err != nil {
		s.t.Fatalf("%s: %v", method, err)
	}
}

func (s *session) open(u uri.URI, text string) {
	s.t.Helper()
	s.texts[lsp.KeyOf(u)] = lsp.NewDocument(u, "markdown", 1, text, s.encoding)
	s.notify("textDocument/didOpen", object{"textDocument": object{"uri": u, "languageId": "markdown", "version": 1, "text": text}})
}

// edit replaces the first old in an open document.
func (s *session) edit(u uri.URI, old, text string) {
	s.t.Helper()
	doc := s.texts[lsp.KeyOf(u)]
	at := strings.Index(doc.Text(), old)
	if at < 0 {
		s.t.Fatalf("%q is not in %s", old, u)
	}
	next := lsp.NewDocument(u, "markdown", doc.Version()+1, doc.Text()[:at]+text+doc.Text()[at+len(old):], s.encoding)
	s.texts[lsp.KeyOf(u)] = next
	s.notify("textDocument/didChange", object{
		"textDocument":   object{"uri": u, "version": next.Version()},
		"contentChanges": []object{{"range": doc.Range(at, at+len(old)), "text": text}},
	})
}

// shut closes a document.
func (s *session) shut(u uri.URI) {
	s.t.Helper()
	delete(s.texts, lsp.KeyOf(u))
	s.notify("textDocument/didClose", object{"textDocument": object{"uri": u}})
}

// doc is a document as it is open, or as its file is.
func (s *session) doc(u uri.URI) *lsp.Document {
	s.t.Helper()
	if doc := s.texts[lsp.KeyOf(u)]; doc != nil {
		return doc
	}
	text, err := os.ReadFile(u.FsPath())
	if err != nil {
		s.t.Fatal(err)
	}
	return lsp.NewDocument(u, "markdown", 0, string(text), s.encoding)
}

// cursor is the place of a request: a document and where in it the mark '¦' would stand, which comes behind the first before.
func (s *session) cursor(u uri.URI, before string) object {
	s.t.Helper()
	doc := s.doc(u)
	i := strings.Index(doc.Text(), before)
	if i < 0 {
		s.t.Fatalf("%q is not in %s", before, u)
	}
	return object{"textDocument": object{"uri": u}, "position": doc.Position(i + len(before))}
}

// apply returns the text of a document after edits.
func (s *session) apply(u uri.URI, edits []protocol.TextEdit) string {
	s.t.Helper()
	doc := s.doc(u)
	sort.SliceStable(edits, func(i, j int) bool { return doc.Offset(edits[i].Range.Start) > doc.Offset(edits[j].Range.Start) })
	text := doc.Text()
	for _, e := range edits {
		start, end := doc.Offsets(e.Range)
		text = text[:start] + e.NewText + text[end:]
	}
	return text
}

// after returns what a workspace edit makes of each document, by its path below dir, and the operations on files as "create a.md".
func (s *session) after(dir string, e *protocol.WorkspaceEdit) map[string]string {
	s.t.Helper()
	out := map[string]string{}
	name := func(u uri.URI) string {
		rel, err := filepath.Rel(dir, u.FsPath())
		if err != nil {
			s.t.Fatal(err)
		}
		return filepath.ToSlash(rel)
	}
	for u, edits := range e.Changes {
		out[name(u)] = s.apply(u, edits)
	}
	for _, c := range e.DocumentChanges {
		switch c := c.(type) {
		case *protocol.TextDocumentEdit:
			u := c.TextDocument.URI
			var edits []protocol.TextEdit
			for _, x := range c.Edits {
				edits = append(edits, *x.(*protocol.TextEdit))
			}
			if _, made := out["create "+name(u)]; made {
				out[name(u)] = edits[0].NewText
				continue
			}
			doc := s.texts[lsp.KeyOf(u)]
			switch v := c.TextDocument.Version; {
			case doc == nil && v != nil:
				s.t.Errorf("%s is not open and edited in version %d", u, *v)
			case doc != nil && (v == nil || *v != doc.Version()):
				s.t.Errorf("%s is edited in another version than %d", u, doc.Version())
			}
			out[name(u)] = s.apply(u, edits)
		case *protocol.RenameFile:
			out["rename "+name(c.OldURI)] = name(c.NewURI)
		case *protocol.CreateFile:
			out["create "+name(c.URI)] = ""
		}
	}
	return out
}

// diagnostics waits for diagnostics of the document with this many entries.
func (s *session) diagnostics(u uri.URI, n int) []protocol.Diagnostic {
	s.t.Helper()
	late := time.After(patience)
	last := -1
	for {
		select {
		case p := <-s.diag:
			if lsp.KeyOf(p.URI) != lsp.KeyOf(u) {
				continue
			}
			if last = len(p.Diagnostics); last == n {
				return p.Diagnostics
			}
		case <-late:
			s.t.Fatalf("no %d diagnostics for %s, the last were %d", n, u, last)
		}
	}
}

// messages is diagnostics, of which it returns what they say.
func (s *session) messages(u uri.URI, n int) (out []string) {
	s.t.Helper()
	for _, d := range s.diagnostics(u, n) {
		out = append(out, string(d.Message.(protocol.String)))
	}
	return out
}

func (s *session) at(method string, u uri.URI, line, character int, result any) {
	s.t.Helper()
	s.call(method, object{"textDocument": object{"uri": u}, "position": object{"line": line, "character": character}}, result)
}

func folderOf(t testing.TB, files map[string]string) (dir string, u func(string) uri.URI) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, func(name string) uri.URI { return uri.File(filepath.Join(dir, name)) }
}
