package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

func initWith(encodings ...string) string {
	b, _ := json.Marshal(object("processId", nil, "rootUri", nil, "capabilities", object("general", object("positionEncodings", encodings))))
	return string(b)
}

func TestNegotiation(t *testing.T) {
	for _, tt := range []struct {
		name string
		init string
		want string // announced
		used protocol.PositionEncodingKind
	}{
		{"no list", plainInit, "", "utf-16"},
		{"empty list", initWith(), "", "utf-16"},
		{"Neovim", initWith("utf-8", "utf-16", "utf-32"), "utf-8", "utf-8"},
		{"Eglot", initWith("utf-32", "utf-8", "utf-16"), "utf-32", "utf-32"},
		{"VS Code", initWith("utf-16"), "utf-16", "utf-16"},
		{"unknown first", initWith("utf-7", "utf-8"), "utf-8", "utf-8"},
		{"none known", initWith("ebcdic"), "utf-16", "utf-16"},
		{"null", `{"capabilities":{"general":null}}`, "", "utf-16"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var used protocol.PositionEncodingKind
			p := connect(t, &Server{Hover: func(ctx context.Context, p *protocol.HoverParams) (*protocol.Hover, error) {
				used = ClientFrom(ctx).Encoding()
				return nil, nil
			}})
			res := p.init(tt.init)
			if got := string(res.Capabilities.PositionEncoding); got != tt.want {
				t.Errorf("announced %q, want %q", got, tt.want)
			}
			p.call("textDocument/hover", hoverParams, nil)
			if used != tt.used {
				t.Errorf("used %q, want %q", used, tt.used)
			}
		})
	}
	t.Run("chosen by the server", func(t *testing.T) {
		choice := protocol.PositionEncodingKindUTF32
		p := connect(t, &Server{Hover: showText, Initialize: func(_ context.Context, _ *protocol.InitializeParams, r *protocol.InitializeResult) error {
			r.Capabilities.PositionEncoding = choice
			return nil
		}})
		p.init(initWith("utf-8", "utf-32"))
		p.open("file:///a", 1, "🌍b")
		p.change("file:///a", 2, edit(0, 1, 0, 2, "x"))
		if got, _ := p.text("file:///a"); got != "🌍x" {
			t.Errorf("text is %q", got)
		}
	})
	t.Run("chosen wrongly", func(t *testing.T) {
		p := connect(t, &Server{Initialize: func(_ context.Context, _ *protocol.InitializeParams, r *protocol.InitializeResult) error {
			r.Capabilities.PositionEncoding = "utf-7"
			return nil
		}})
		wantCode(t, p.try("initialize", plainInit, nil), jsonrpc2.CodeInternalError)
	})
}

func TestChanges(t *testing.T) {
	const a = "file:///a"
	tests := []struct {
		name   string
		enc    string
		text   string
		events []any
		want   string
	}{
		{"insert", "utf-16", "ab", []any{edit(0, 1, 0, 1, "X")}, "aXb"},
		{"delete", "utf-16", "abc", []any{edit(0, 1, 0, 2, "")}, "ac"},
		{"whole text", "utf-16", "abc", []any{object("text", "new")}, "new"},
		{"whole text with range null", "utf-16", "abc", []any{object("range", nil, "text", "new")}, "new"},
		{"one after the other", "utf-16", "abc", []any{edit(0, 0, 0, 0, "12"), edit(0, 1, 0, 3, ""), object("text", "x\ny"), edit(1, 1, 1, 1, "z")}, "x\nyz"},
		{"no events", "utf-16", "abc", []any{}, "abc"},
		{"after an astral character, UTF-16", "utf-16", "🌍b", []any{edit(0, 2, 0, 3, "x")}, "🌍x"},
		{"after an astral character, UTF-8", "utf-8", "🌍b", []any{edit(0, 4, 0, 5, "x")}, "🌍x"},
		{"after an astral character, UTF-32", "utf-32", "🌍b", []any{edit(0, 1, 0, 2, "x")}, "🌍x"},
		{"inside a surrogate pair", "utf-16", "🌍b", []any{edit(0, 1, 0, 1, "x")}, "x🌍b"},
		{"inside a byte sequence", "utf-8", "é🌍b", []any{edit(0, 3, 0, 5, "x")}, "éx🌍b"},
		{"reversed", "utf-16", "abcd", []any{edit(0, 3, 0, 1, "X")}, "aXd"},
		{"beyond the line", "utf-16", "ab\ncd", []any{edit(0, 99, 0, 99, "X")}, "abX\ncd"},
		{"beyond the line with CR LF", "utf-16", "ab\r\ncd", []any{edit(0, 99, 0, 99, "X")}, "abX\r\ncd"},
		{"beyond the text", "utf-16", "ab\n", []any{edit(99, 5, 99, 9, "X")}, "ab\nX"},
		{"last line", "utf-16", "ab\n", []any{edit(1, 0, 1, 0, "X")}, "ab\nX"},
		{"line end and all", "utf-16", "a\r\nb\rc\n", []any{edit(0, 1, 1, 0, "")}, "ab\rc\n"},
		{"CR alone ends a line", "utf-16", "a\rb", []any{edit(1, 0, 1, 1, "X")}, "a\rX"},
		{"the end of numbers", "utf-16", "ab\ncd", []any{edit(0, 0, 4294967295, 4294967295, "X")}, "X"},
		{"numbers with a point", "utf-16", "abc", []any{json.RawMessage(`{"range":{"start":{"line":0.0,"character":1.0},"end":{"line":0,"character":2e0}},"text":"X"}`)}, "aXc"},
		{"lone surrogate", "utf-16", "ab", []any{json.RawMessage(`{"range":{"start":{"line":0,"character":1},"end":{"line":0,"character":1}},"text":"\ud83c"}`)}, "a\ufffdb"},
		{"rangeLength is ignored", "utf-16", "abc", []any{json.RawMessage(`{"rangeLength":77,"range":{"start":{"line":0,"character":1},"end":{"line":0,"character":2}},"text":"X"}`)}, "aXc"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := connect(t, &Server{Hover: showText})
			p.init(initWith(tt.enc))
			p.open(a, 1, tt.text)
			p.change(a, 2, tt.events...)
			if got, v := p.text(a); got != tt.want || v != 2 {
				t.Errorf("version %d is %q, want %q", v, got, tt.want)
			}
		})
	}
}

// Changes that cannot be true leave the text alone, say so, and take effect again once the whole text has come.
func TestOutOfSync(t *testing.T) {
	const a = "file:///a"
	tests := []struct {
		name  string
		event string
		v     int
	}{
		{"negative line", `{"range":{"start":{"line":5,"character":9},"end":{"line":-1,"character":4294967296}},"text":"x"}`, 4},
		{"number too big", `{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":4294967296}},"text":"x"}`, 4},
		{"fraction", `{"range":{"start":{"line":0.5,"character":0},"end":{"line":0,"character":0}},"text":"x"}`, 4},
		{"no end", `{"range":{"start":{"line":0,"character":0}},"text":"x"}`, 4},
		{"range is a string", `{"range":"all","text":"x"}`, 4},
		{"no text", `{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}}}`, 4},
		{"text is a number", `{"text":7}`, 4},
		{"text is null", `{"text":null}`, 4},
		{"version went back", `{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"text":"x"}`, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var rep reports
			changes := 0
			p := connect(t, &Server{Hover: showText, Reporter: rep.add, DidChange: func(context.Context, *Document) error { changes++; return nil }})
			p.init(plainInit)
			p.open(a, 3, "old")
			p.change(a, tt.v, edit(0, 0, 0, 0, "not applied either"), json.RawMessage(tt.event))
			if got, v := p.text(a); got != "old" || v != 3 {
				t.Errorf("version %d is %q", v, got)
			}
			p.change(a, 5, edit(0, 0, 0, 0, "edit in another text"))
			if got, v := p.text(a); got != "old" || v != 3 {
				t.Errorf("after another edit version %d is %q", v, got)
			}
			if changes != 0 {
				t.Errorf("DidChange ran %d times", changes)
			}
			if l := receive(t, p.logs); l.Type != protocol.MessageTypeWarning || !strings.Contains(l.Message, `"file:///a"`) {
				t.Errorf("logged %+v", l)
			}
			var d *DocumentError
			if errs := rep.list(); len(errs) != 2 || !errors.As(errs[0], &d) || d.URI != a {
				t.Errorf("reported %v", errs)
			}
			if n := len(p.logs); n != 0 {
				t.Errorf("the client's log got %d more lines", n)
			}
			p.change(a, 6, object("text", "fresh"), edit(0, 5, 0, 5, "!"))
			if got, v := p.text(a); got != "fresh!" || v != 6 {
				t.Errorf("after the whole text version %d is %q", v, got)
			}
		})
	}
}

func TestNoListOfChanges(t *testing.T) {
	for _, params := range []string{
		`{"textDocument":{"uri":"file:///a","version":2}}`,
		`{"textDocument":{"uri":"file:///a","version":2},"contentChanges":null}`,
		`{"textDocument":{"uri":"file:///a","version":2},"contentChanges":{"text":"x"},"y":[{"text":"z"}]}`,
		`{"contentChanges":"x","textDocument":{"uri":"file:///a","version":2}}`,
	} {
		p := connect(t, &Server{Hover: showText})
		p.init(plainInit)
		p.open("file:///a", 1, "old")
		p.notify("textDocument/didChange", params)
		if got, v := p.text("file:///a"); got != "old" || v != 1 {
			t.Errorf("%s: version %d is %q", params, v, got)
		}
		receive(t, p.logs)
	}
}

func TestSyncedIsTold(t *testing.T) {
	d := NewDocument("file:///a", "x", 1, "old", protocol.PositionEncodingKindUTF16)
	bad, reason := d.apply([]byte(`[{"text":1}]`), 2)
	if bad.Synced() || reason == "" || bad.Text() != "old" || bad.Version() != 1 || !d.Synced() {
		t.Errorf("after a bad change: synced %v, %q, %q", bad.Synced(), reason, bad.Text())
	}
	good, reason := bad.apply([]byte(`[{"text":"new"}]`), 3)
	if !good.Synced() || reason != "" || good.Text() != "new" {
		t.Errorf("after the whole text: synced %v, %q, %q", good.Synced(), reason, good.Text())
	}
}

func TestVersions(t *testing.T) {
	const a = "file:///a"
	p := connect(t, &Server{Hover: showText})
	p.init(plainInit)
	p.open(a, 1, "")
	p.change(a, 7, edit(0, 0, 0, 0, "gaps are fine;"))
	p.change(a, 7, edit(0, 0, 0, 0, "so is the same;"))
	p.notify("textDocument/didChange", `{"textDocument":{"uri":"file:///a","version":null},"contentChanges":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"text":"and null;"}]}`)
	if got, v := p.text(a); got != "and null;so is the same;gaps are fine;" || v != 7 {
		t.Errorf("version %d is %q", v, got)
	}
}

// Members may come in any order, and the changes before the document they are of.
func TestMemberOrder(t *testing.T) {
	p := connect(t, &Server{Hover: showText})
	p.init(plainInit)
	p.open("file:///a", 1, "")
	for v, params := range []string{
		`{"contentChanges":[{"text":"one"}],"textDocument":{"uri":"file:///a","version":2}}`,
		`{"textDocument":{"version":3,"uri":"file:///a"},"contentChanges":[{"text":"two"}],"extra":[1,{}]}`,
		`{"extra":{"contentChanges":[]},"textDocument":{"version":4,"uri":"file:///a"},"contentChanges" : [ { "text" : "three" } ] , "x":null}`,
	} {
		p.notify("textDocument/didChange", params)
		if got, version := p.text("file:///a"); version != v+2 || got != []string{"one", "two", "three"}[v] {
			t.Errorf("%s: version %d is %q", params, version, got)
		}
	}
}

// One document under many spellings, and its own spelling kept.
func TestSpellings(t *testing.T) {
	spellings := []string{"file:///c%3A/Us%20ers/a%23b.txt", "file:///C:/Us%20ers/a%23b.txt", "file:///c%3a/Us%20ers/a%23b.txt", "file:///C%3A/Us%20ers/a%23b.txt"}
	for _, opened := range spellings {
		var seen []string
		p := connect(t, &Server{Hover: showText, DidChange: func(_ context.Context, d *Document) error {
			seen = append(seen, string(d.URI()))
			return nil
		}})
		p.init(plainInit)
		p.open(opened, 1, "")
		for i, u := range spellings {
			p.change(u, i+2, edit(0, 0, 0, 0, "x"))
			if got, v := p.text(u); got != strings.Repeat("x", i+1) || v != i+2 {
				t.Errorf("opened as %q, version %d under %q is %q", opened, v, u, got)
			}
		}
		for _, u := range seen {
			if u != opened {
				t.Errorf("opened as %q, called %q", opened, u)
			}
		}
		p.notify("textDocument/didClose", object("textDocument", object("uri", spellings[0])))
		wantCode(t, p.try("textDocument/hover", object("textDocument", object("uri", opened), "position", object("line", 0, "character", 0)), nil), CodeRequestFailed)
	}
}

func TestOddURIs(t *testing.T) {
	p := connect(t, &Server{Hover: showText})
	p.init(plainInit)
	uris := []string{"untitled:Untitled-1", "vscode-notebook-cell:/x/y.ipynb#W0sZ", "vscode-notebook-cell:/x/y.ipynb#W1sZ", "file://server/share/x", "file:///a/%FF", "file:///a%20b", "file:///é", "no scheme"}
	for i, u := range uris {
		p.open(u, i, u)
	}
	for i, u := range uris {
		if u == "no scheme" { // the decoder makes a file of it; it must only do no harm
			continue
		}
		if got, v := p.text(u); got != u || v != i {
			t.Errorf("version %d of %q is %q", v, u, got)
		}
	}
}

func TestOpenAndClose(t *testing.T) {
	const a, b = "file:///a", "file:///b"
	var events []string
	note := func(what string) func(context.Context, *Document) error {
		return func(ctx context.Context, d *Document) error {
			now := SnapshotFrom(ctx).Document(d.URI())
			events = append(events, fmt.Sprintf("%s %s %d %v %d", what, d.URI(), d.Version(), now == d, SnapshotFrom(ctx).Len()))
			return nil
		}
	}
	var rep reports
	p := connect(t, &Server{Hover: showText, DidOpen: note("open"), DidChange: note("change"), DidSave: note("save"), DidClose: note("close"), Reporter: rep.add})
	res := p.init(plainInit)
	sync := res.Capabilities.TextDocumentSync.(*protocol.TextDocumentSyncOptions)
	if !*sync.OpenClose || *sync.Change != protocol.TextDocumentSyncKindIncremental || sync.Save != protocol.Boolean(true) {
		t.Errorf("announced %+v", sync)
	}
	p.open(a, 1, "one")
	p.open(b, 1, "two")
	p.change(a, 2, object("text", "uno"))
	p.notify("textDocument/didSave", object("textDocument", object("uri", a)))
	p.open(a, 5, "again") // without a close
	p.notify("textDocument/didClose", object("textDocument", object("uri", a)))
	p.notify("textDocument/didClose", object("textDocument", object("uri", a)))
	p.notify("textDocument/didSave", object("textDocument", object("uri", a)))
	p.change(a, 9, object("text", "closed"))
	p.notify("textDocument/didChange", `{"textDocument":{"version":1},"contentChanges":[]}`)
	p.notify("textDocument/didOpen", `{"textDocument":{"uri":"file:///c","version":1}}`)
	if got, _ := p.text(b); got != "two" {
		t.Errorf("the other document is %q", got)
	}
	want := "open file:///a 1 true 1|open file:///b 1 true 2|change file:///a 2 true 2|save file:///a 2 true 2|open file:///a 5 true 2|close file:///a 5 false 1"
	if got := strings.Join(events, "|"); got != want {
		t.Errorf("events:\n%s\nwant:\n%s", got, want)
	}
	if errs := rep.list(); len(errs) != 6 {
		t.Errorf("reported %v", errs)
	}
}

func TestMessagesQuote(t *testing.T) {
	e := &DocumentError{Method: "textDocument/didChange", URI: "file:///a\nb\x1b[31m", Reason: "not open"}
	if got := e.Error(); strings.ContainsAny(got, "\n\x1b") {
		t.Errorf("%q passes the client's text on", got)
	}
}

func TestEmptySnapshot(t *testing.T) {
	for _, s := range []*Snapshot{nil, {}, SnapshotFrom(context.Background())} {
		if s.Len() != 0 || s.Document("file:///a") != nil || s.ByKey(KeyOf("file:///a")) != nil {
			t.Error("an empty snapshot has something")
		}
		for range s.Documents() {
			t.Error("an empty snapshot yields something")
		}
	}
	if Fresh(context.Background(), "file:///a") != nil {
		t.Error("no document is not fresh")
	}
}

func TestFresh(t *testing.T) {
	enter, leave := make(chan struct{}), make(chan struct{})
	p := connect(t, &Server{Hover: func(ctx context.Context, p *protocol.HoverParams) (*protocol.Hover, error) {
		before := Fresh(ctx, p.TextDocument.URI)
		enter <- struct{}{}
		<-leave
		return nil, errors.Join(before, Fresh(ctx, p.TextDocument.URI))
	}, DidChange: func(context.Context, *Document) error { leave <- struct{}{}; return nil }})
	p.init(plainInit)
	p.open("file:///a", 1, "")
	h := p.conn.Go(context.Background(), "textDocument/hover", raw(hoverParams))
	<-enter
	p.change("file:///a", 2, edit(0, 0, 0, 0, "x"))
	wantCode(t, h.Wait(nil), CodeContentModified)
}

// 2,000 edits with hovers between them: every hover sees the text of its place in the stream, whatever else runs.
func TestOrder(t *testing.T) {
	const a = "file:///a"
	p := connect(t, &Server{Hover: showText, Diagnose: func(context.Context, *Document) ([]protocol.Diagnostic, error) { return nil, nil }})
	p.init(plainInit)
	p.open(a, 0, "")
	model := ""
	type asked struct {
		pending *jsonrpc2.Pending
		version int
		text    string
	}
	var hovers []asked
	for v := 1; v <= 2000; v++ {
		s := string(rune('a' + v%26))
		at := (v * 7919) % (len(model) + 1)
		p.change(a, v, edit(0, at, 0, at, s))
		model = model[:at] + s + model[at:]
		if v%10 == 0 || v > 1950 {
			h := p.conn.Go(context.Background(), "textDocument/hover", raw(`{"textDocument":{"uri":"file:///a"},"position":{"line":0,"character":0}}`))
			hovers = append(hovers, asked{h, v, model})
		}
	}
	for _, h := range hovers {
		var res protocol.Hover
		if err := h.pending.Wait(&res); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Version int
			Text    string
		}
		if err := json.Unmarshal([]byte(res.Contents.(protocol.String)), &got); err != nil {
			t.Fatal(err)
		}
		if got.Version != h.version || got.Text != h.text {
			t.Fatalf("hover behind version %d saw version %d", h.version, got.Version)
		}
	}
}
