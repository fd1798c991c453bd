package lsp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// notebookServer notes what it is told, and answers a hover with the cells of the notebook that a cell belongs to.
func notebookServer(log *[]string) *Server {
	doc := func(what string) func(context.Context, *Document) error {
		return func(_ context.Context, d *Document) error {
			*log = append(*log, fmt.Sprintf("%s %s v%d %q", what, d.URI(), d.Version(), d.Text()))
			return nil
		}
	}
	book := func(what string) func(context.Context, *Notebook) error {
		return func(_ context.Context, n *Notebook) error {
			*log = append(*log, fmt.Sprintf("%s %s v%d %d", what, n.URI(), n.Version(), n.Len()))
			return nil
		}
	}
	return &Server{
		DidOpen: doc("open"), DidChange: doc("change"), DidClose: doc("close"),
		DidOpenNotebook: book("open book"), DidChangeNotebook: book("change book"), DidSaveNotebook: book("save book"), DidCloseNotebook: book("close book"),
		Hover: func(ctx context.Context, p *protocol.HoverParams) (*protocol.Hover, error) {
			n := NotebookFrom(ctx, p.TextDocument.URI)
			if n == nil {
				return nil, RequestFailed("no notebook")
			}
			text := fmt.Sprintf("%s v%d %s %s:", n.Type(), n.Version(), n.Metadata(), p.TextDocument.URI)
			for i, c := range n.Cells() {
				text += fmt.Sprintf(" %d=%s/%d/%s/%s=%q", i, c.URI, c.Kind, c.Metadata, c.Summary, SnapshotFrom(ctx).Document(c.URI).Text())
			}
			return &protocol.Hover{Contents: protocol.String(text)}, nil
		},
	}
}

const (
	bookOpen = `{"notebookDocument":{"uri":"file:///n.ipynb","notebookType":"jupyter","version":1,"metadata":{"k":1},"cells":[` +
		`{"kind":1,"document":"vscode-notebook-cell:/n#a"},{"kind":2,"document":"vscode-notebook-cell:/n#b","metadata":{"m":2},"executionSummary":{"executionOrder":3}}]},` +
		`"cellTextDocuments":[{"uri":"vscode-notebook-cell:/n#a","languageId":"markdown","version":1,"text":"A"},{"uri":"vscode-notebook-cell:/n#b","languageId":"python","version":1,"text":"B"}]}`
	cellHover = `{"textDocument":{"uri":"vscode-notebook-cell:/n#%s"},"position":{"line":0,"character":0}}`
)

func TestNotebooks(t *testing.T) {
	var log []string
	p := connect(t, notebookServer(&log))
	p.init(ableInit)
	hover := func(cell string) string {
		t.Helper()
		var h protocol.Hover
		p.call("textDocument/hover", fmt.Sprintf(cellHover, cell), &h)
		return string(h.Contents.(protocol.String))
	}
	steps := []struct {
		name, method, params string
		log                  []string
		ask                  string // a cell
		want                 string
	}{
		{"open", "didOpen", bookOpen, []string{`open vscode-notebook-cell:/n#a v1 "A"`, `open vscode-notebook-cell:/n#b v1 "B"`, `open book file:///n.ipynb v1 2`},
			"b", `jupyter v1 {"k":1} vscode-notebook-cell:/n#b: 0=vscode-notebook-cell:/n#a/1//="A" 1=vscode-notebook-cell:/n#b/2/{"m":2}/{"executionOrder":3}="B"`},
		{"texts", "didChange", `{"notebookDocument":{"uri":"file:///n.ipynb","version":2},"change":{"cells":{"textContent":[` +
			`{"document":{"uri":"vscode-notebook-cell:/n#b","version":2},"changes":[{"range":{"start":{"line":0,"character":1},"end":{"line":0,"character":1}},"text":"!"}]}]}}}`,
			[]string{`change vscode-notebook-cell:/n#b v2 "B!"`, `change book file:///n.ipynb v2 2`},
			"a", `jupyter v2 {"k":1} vscode-notebook-cell:/n#a: 0=vscode-notebook-cell:/n#a/1//="A" 1=vscode-notebook-cell:/n#b/2/{"m":2}/{"executionOrder":3}="B!"`},
		{"metadata and data", "didChange", `{"notebookDocument":{"uri":"file:///n.ipynb","version":3},"change":{"metadata":{"k":9},"cells":{"data":[` +
			`{"kind":1,"document":"vscode-notebook-cell:/n#b"}]}}}`,
			[]string{`change book file:///n.ipynb v3 2`},
			"a", `jupyter v3 {"k":9} vscode-notebook-cell:/n#a: 0=vscode-notebook-cell:/n#a/1//="A" 1=vscode-notebook-cell:/n#b/1//="B!"`},
		{"structure", "didChange", `{"notebookDocument":{"uri":"file:///n.ipynb","version":4},"change":{"cells":{"structure":{"array":{"start":0,"deleteCount":1,"cells":[` +
			`{"kind":2,"document":"vscode-notebook-cell:/n#c"}]},"didOpen":[{"uri":"vscode-notebook-cell:/n#c","languageId":"python","version":1,"text":"C"}],` +
			`"didClose":[{"uri":"vscode-notebook-cell:/n#a"}]}}}}`,
			[]string{`close vscode-notebook-cell:/n#a v1 "A"`, `open vscode-notebook-cell:/n#c v1 "C"`, `change book file:///n.ipynb v4 2`},
			"c", `jupyter v4 {"k":9} vscode-notebook-cell:/n#c: 0=vscode-notebook-cell:/n#c/2//="C" 1=vscode-notebook-cell:/n#b/1//="B!"`},
		{"a place outside", "didChange", `{"notebookDocument":{"uri":"file:///n.ipynb","version":5},"change":{"cells":{"structure":{"array":{"start":99,"deleteCount":4294967295}}}}}`,
			[]string{`change book file:///n.ipynb v5 2`}, "c", `jupyter v5 {"k":9} vscode-notebook-cell:/n#c: 0=vscode-notebook-cell:/n#c/2//="C" 1=vscode-notebook-cell:/n#b/1//="B!"`},
		{"save", "didSave", `{"notebookDocument":{"uri":"file:///n.ipynb"}}`, []string{`save book file:///n.ipynb v5 2`}, "", ""},
		{"close, with one cell forgotten", "didClose", `{"notebookDocument":{"uri":"file:///n.ipynb"},"cellTextDocuments":[{"uri":"vscode-notebook-cell:/n#b"}]}`,
			[]string{`close vscode-notebook-cell:/n#b v2 "B!"`, `close vscode-notebook-cell:/n#c v1 "C"`, `close book file:///n.ipynb v5 2`}, "", ""},
	}
	for _, s := range steps {
		log = nil
		p.notify("notebookDocument/"+s.method, s.params)
		got := ""
		if s.ask != "" {
			got = hover(s.ask)
		} else {
			_ = p.try("textDocument/hover", fmt.Sprintf(cellHover, "none"), nil)
		}
		if got != s.want || !slices.Equal(log, s.log) {
			t.Errorf("%s: told %q, want %q\nhover %s\nwant  %s", s.name, log, s.log, got, s.want)
		}
	}
	wantCode(t, p.try("textDocument/hover", fmt.Sprintf(cellHover, "b"), nil), CodeRequestFailed)
}

// What clients get wrong is told to their log, and nothing breaks.
func TestNotebookMistakes(t *testing.T) {
	for _, tt := range []struct{ name, method, params, want string }{
		{"change of one that is not open", "didChange", `{"notebookDocument":{"uri":"file:///x","version":2},"change":{}}`, "not open"},
		{"save of one that is not open", "didSave", `{"notebookDocument":{"uri":"file:///x"}}`, "not open"},
		{"close of one that is not open", "didClose", `{"notebookDocument":{"uri":"file:///x"}}`, "not open"},
		{"opened twice", "didOpen", bookOpen, "a second time"},
		{"a version that went back", "didChange", `{"notebookDocument":{"uri":"file:///n.ipynb","version":-1},"change":{"cells":null}}`, "went back"},
		{"text of a cell that is not open", "didChange", `{"notebookDocument":{"uri":"file:///n.ipynb","version":2},"change":{"cells":{"textContent":[{"document":{"uri":"x:y","version":1},"changes":[]}]}}}`, "not open"},
		{"text without a place", "didChange", `{"notebookDocument":{"uri":"file:///n.ipynb","version":2},"change":{"cells":{"textContent":[{"document":{"uri":"vscode-notebook-cell:/n#a","version":1},"changes":7}]}}}`, "no list"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log []string
			p := connect(t, notebookServer(&log))
			p.init(ableInit)
			p.notify("notebookDocument/didOpen", bookOpen)
			p.notify("notebookDocument/"+tt.method, tt.params)
			if l := receive(t, p.logs); !strings.Contains(l.Message, tt.want) {
				t.Errorf("the log says %q", l.Message)
			}
		})
	}
	var rep reports
	srv := notebookServer(new([]string))
	srv.Reporter = rep.add
	p := connect(t, srv)
	p.init(ableInit)
	for _, method := range []string{"didOpen", "didChange", "didSave", "didClose"} {
		for _, params := range []string{`{}`, `[]`, `{"notebookDocument":7}`, `{"notebookDocument":{"uri":7}}`} {
			p.notify("notebookDocument/"+method, params)
		}
	}
	p.notify("notebookDocument/didOpen", `{"notebookDocument":{"uri":"file:///x","cells":[7,{},{"document":3}]},"cellTextDocuments":[7,{},{"uri":"y:z"}]}`)
	wantCode(t, p.try("textDocument/hover", `{"textDocument":{"uri":"y:z"},"position":{"line":0,"character":0}}`, nil), CodeRequestFailed)
	if n := len(rep.list()); n != 16 {
		t.Errorf("%d failures are reported, want 16", n)
	}
}

func TestNotebooksAreDiagnosed(t *testing.T) {
	p := connect(t, &Server{
		DidOpenNotebook: func(context.Context, *Notebook) error { return nil },
		Diagnose: func(ctx context.Context, d *Document) ([]protocol.Diagnostic, error) {
			if n := NotebookFrom(ctx, d.URI()); n == nil || n.Index(d.URI()) < 0 {
				t.Errorf("%s is in no notebook", d.URI())
			}
			return nil, nil
		},
	})
	p.init(`{"processId":null,"rootUri":null,"capabilities":{}}`)
	p.notify("notebookDocument/didOpen", bookOpen)
	var got []uri.URI
	for range 2 {
		got = append(got, receive(t, p.diagnostics).URI)
	}
	slices.Sort(got)
	if len(got) != 2 || got[0] != "vscode-notebook-cell:/n#a" {
		t.Errorf("diagnosed %v", got)
	}
}

func TestNotebooksFrom(t *testing.T) {
	for range NotebooksFrom(context.Background()) {
		t.Error("a notebook from nowhere")
	}
	if NotebookFrom(context.Background(), "file:///a") != nil {
		t.Error("a notebook from nowhere")
	}
	n := 0
	p := connect(t, &Server{Options: Options{Notebooks: protocol.NotebookDocumentSyncOptions{NotebookSelector: []protocol.NotebookSelector{
		&protocol.NotebookDocumentFilterWithNotebook{Notebook: protocol.String("jupyter")},
	}}}, Hover: func(ctx context.Context, _ *protocol.HoverParams) (*protocol.Hover, error) {
		for b := range NotebooksFrom(ctx) {
			if b.Key() == KeyOf("FILE:///n.ipynb") {
				n++
			}
		}
		return nil, nil
	}})
	p.init(plainInit)
	p.notify("notebookDocument/didOpen", bookOpen)
	p.call("textDocument/hover", hoverParams, nil)
	if n != 1 {
		t.Errorf("found %d notebooks", n)
	}
}
