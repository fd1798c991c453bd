package lsptest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/lsp"
	"github.com/tandem-rpc/tandem/lsp/lsptest"
)

// everything is a server that has every feature and finds nothing.
func everything() *lsp.Server {
	s := &lsp.Server{Name: "everything"}
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		f := v.Field(i)
		switch name := v.Type().Field(i).Name; {
		case f.Kind() != reflect.Func, !f.CanSet(), slices.Contains([]string{"Initialize", "Initialized", "Shutdown", "Reporter", "Extend"}, name):
		case strings.HasSuffix(name, "Diagnostic"): // Diagnose does it
		default:
			t := f.Type()
			f.Set(reflect.MakeFunc(t, func([]reflect.Value) []reflect.Value {
				out := make([]reflect.Value, t.NumOut())
				for i := range out {
					out[i] = reflect.Zero(t.Out(i))
				}
				return out
			}))
		}
	}
	s.Options.SemanticTokens.Legend = protocol.SemanticTokensLegend{TokenTypes: []string{"type"}, TokenModifiers: []string{}}
	s.Options.OnTypeFormatting.FirstTriggerCharacter = "}"
	return s
}

func recordings(t *testing.T) []string {
	files, err := filepath.Glob("testdata/sessions/*.jsonl")
	if err != nil || len(files) != 11 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	return files
}

// empties are arrays that say something by being there and empty. The typed params have them; only their encoder leaves them out.
var empties = map[string]func(*protocol.InitializeParams) bool{
	"codemirror-lsp-client-6.3.0 capabilities.textDocument.completion.completionItemKind.valueSet": func(p *protocol.InitializeParams) bool {
		v := p.Capabilities.TextDocument.Completion.CompletionItemKind.ValueSet
		return v != nil && len(v) == 0
	},
	"vim-9.0-ale-3.3.0 capabilities.textDocument.codeAction.codeActionLiteralSupport.codeActionKind.valueSet": func(p *protocol.InitializeParams) bool {
		v := p.Capabilities.TextDocument.CodeAction.CodeActionLiteralSupport.CodeActionKind.ValueSet
		return v != nil && len(v) == 0
	},
}

// foreign are the members of client capabilities that editors send although no revision of the protocol has them, by their paths.
var foreign = map[string][]string{
	"emacs-30.2-lsp-mode-10.0.0": {"capabilities.textDocument.completion.completionItem.resolveAdditionalTextEditsSupport"},
	"helix-25.07.1":              {"capabilities.workspace.diagnostic"},
	"neovim-0.7.2":               {"capabilities.callHierarchy", "capabilities.workspace.symbol.hierarchicalWorkspaceSymbolSupport"},
}

// Real editors' sessions: everything they say is understood, and what they declare arrives whole.
func TestRecordings(t *testing.T) {
	for _, file := range recordings(t) {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec := lsptest.LoadRecording(t, file)
			s := everything()
			var params *protocol.InitializeParams
			var raw json.RawMessage
			s.Initialize = func(ctx context.Context, p *protocol.InitializeParams, _ *protocol.InitializeResult) error {
				params, raw = p, lsp.ClientFrom(ctx).RawParams()
				return nil
			}
			r := lsptest.Replay(t, s, rec, nil)
			for _, x := range r.Exchanges {
				if x.Err != nil && !errors.Is(x.Err, lsp.RequestCancelled) {
					t.Errorf("%s: %v", x.Method, x.Err)
				}
			}
			if params == nil {
				t.Fatal("initialize was not called")
			}
			if want := rec.Params("initialize"); string(raw) != string(want) {
				t.Errorf("raw params are not those that came: %s", raw)
			}
			again, err := lsp.Codec.Marshal(params)
			if err != nil {
				t.Fatal(err)
			}
			sent, kept := leaves(t, raw), leaves(t, again)
			for _, path := range slices.Sorted(maps.Keys(sent)) {
				if empty := empties[name+" "+path]; empty != nil && sent[path] == "[]" && empty(params) {
					continue
				}
				if sent[path] == "null" && kept[path] == "" { // as good as not there, for members that may be left out
					continue
				}
				if kept[path] == sent[path] || slices.ContainsFunc(foreign[name], func(f string) bool { return strings.HasPrefix(path, f+".") || path == f }) {
					continue
				}
				t.Errorf("%s was %s and is %q", path, sent[path], kept[path])
			}
			for _, f := range foreign[name] {
				if !slices.ContainsFunc(slices.Collect(maps.Keys(sent)), func(path string) bool { return strings.HasPrefix(path, f) }) {
					t.Errorf("the editor does not send %s", f)
				}
			}
		})
	}
}

// leaves are the values of a JSON text that hold no others, by path. Empty arrays and objects are leaves too.
func leaves(t *testing.T, raw []byte) map[string]string {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			if len(v) == 0 {
				all[path] = "{}"
			}
			for name, m := range v {
				walk(strings.TrimPrefix(path+"."+name, "."), m)
			}
		case []any:
			if len(v) == 0 {
				all[path] = "[]"
			}
			for i, e := range v {
				walk(fmt.Sprintf("%s[%d]", path, i), e)
			}
		default:
			b, _ := json.Marshal(v)
			all[path] = string(b)
		}
	}
	walk("", v)
	return all
}

// A server that does not understand an editor fails the test that replays it.
func TestReplayFails(t *testing.T) {
	rec, err := lsptest.ReadRecording(strings.NewReader(`{"dir":"c2s","msg":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}}
{"dir":"s2c","msg":{"jsonrpc":"2.0","id":1,"result":{"capabilities":{}}}}
{"dir":"c2s","msg":{"jsonrpc":"2.0","id":2,"method":"textDocument/hover","params":{"textDocument":7}}}
{"dir":"c2s","msg":{"jsonrpc":"2.0","id":3,"method":"no/such"}}
`))
	if err != nil {
		t.Fatal(err)
	}
	err = lsptest.Run(t.Context(), func(t lsptest.T) {
		r := lsptest.Replay(t, todo(), rec, nil)
		if len(r.Exchanges) != 3 || len(r.Misunderstood()) != 1 || r.Exchanges[0].Recorded == nil {
			t.Errorf("%+v", r.Exchanges)
		}
		if !errors.Is(r.Exchanges[2].Err, jsonrpc2.ErrMethodNotFound) {
			t.Errorf("no/such: %v", r.Exchanges[2].Err)
		}
	})
	if err == nil || !strings.Contains(err.Error(), "textDocument/hover") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
}

// The server's questions are answered as the editor answered them, one after the other, and others by the script.
func TestReplayAnswers(t *testing.T) {
	rec, err := lsptest.ReadRecording(strings.NewReader(`
{"dir":"c2s","msg":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}}
{"dir":"s2c","msg":{"jsonrpc":"2.0","id":1,"method":"workspace/configuration","params":{"items":[{"section":"a"}]}}}
{"dir":"c2s","msg":{"jsonrpc":"2.0","id":1,"result":["first"]}}
{"dir":"s2c","msg":{"jsonrpc":"2.0","id":2,"method":"workspace/configuration","params":{"items":[{"section":"a"}]}}}
{"dir":"c2s","msg":{"jsonrpc":"2.0","id":2,"result":["second"]}}
{"dir":"s2c","msg":{"jsonrpc":"2.0","id":3,"method":"client/registerCapability","params":{"registrations":[]}}}
{"dir":"c2s","msg":{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"no"}}}
{"dir":"c2s","msg":{"jsonrpc":"2.0","id":7,"method":"workspace/executeCommand","params":{"command":"all"}}}
{"dir":"s2c","msg":{"jsonrpc":"2.0","id":7,"result":null}}
{"dir":"c2s","msg":{"jsonrpc":"2.0","id":8,"method":"shutdown"}}
{"dir":"s2c","msg":{"jsonrpc":"2.0","id":8,"result":null}}
{"dir":"c2s","msg":{"jsonrpc":"2.0","method":"exit"}}
`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	s := asking()
	s.Commands["all"] = func(ctx context.Context, _ []json.RawMessage) (any, error) {
		for _, section := range []string{"a", "a", "a", "b"} {
			var v json.RawMessage
			err := lsp.ClientFrom(ctx).Conn().Call(ctx, "workspace/configuration", map[string]any{"items": []any{map[string]any{"section": section}}}, &v)
			got = append(got, fmt.Sprintf("%s %v", v, err))
		}
		err := lsp.ClientFrom(ctx).Conn().Call(ctx, "client/registerCapability", json.RawMessage(`{"registrations":[]}`), nil)
		got = append(got, fmt.Sprint(errors.Is(err, jsonrpc2.ErrMethodNotFound)))
		return nil, nil
	}
	lsptest.Replay(t, s, rec, &lsptest.Options{Settings: map[string]any{"b": "script"}})
	want := []string{`["first"] <nil>`, `["second"] <nil>`, `["second"] <nil>`, `["script"] <nil>`, "true"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReadRecording(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "\n\n", "no messages"},
		{"no JSON", "{", "line 1 is no JSON object"},
		{"no direction", "\n{}", "line 2 has no direction"},
		{"no message", `{"dir":"c2s","msg":7}`, "line 1: the message is no JSON object"},
		{"cut", `{"direction":"inbound","message":"{}","truncated":true}`, "not whole"},
		{"not recorded", `{"direction":"inbound"}`, "not whole"},
		{"redaction failed", `{"direction":"inbound","message":"[redaction failed]"}`, "no JSON object"},
	} {
		if _, err := lsptest.ReadRecording(strings.NewReader(c.text)); !errors.Is(err, lsptest.ErrRecording) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	rec, err := lsptest.ReadRecording(strings.NewReader(`{"kind":"header","format":"tandem-traffic","version":1}
{"kind":"open","connection":"a","protocol":"mcp"}
{"direction":"inbound","connection":"a","protocol":"mcp","message":"{\"method\":\"other\"}"}
{"direction":"inbound","connection":"b","protocol":"lsp","message":"{\"method\":\"one\",\"params\":[1]}"}
{"direction":"inbound","connection":"c","protocol":"lsp","message":"{\"method\":\"other\"}"}
{"direction":"outbound","connection":"b","protocol":"lsp","message":"{\"method\":\"theirs\"}"}
{"kind":"timing","connection":"b","direction":"inbound"}
{"direction":"inbound","connection":"b","protocol":"lsp","message":"{\"method\":\"two\"}"}
{"kind":"end"}
`))
	if err != nil {
		t.Fatal(err)
	}
	if got := rec.Methods(); !slices.Equal(got, []string{"one", "two"}) || len(rec.Messages) != 3 {
		t.Errorf("methods %q of %d messages", got, len(rec.Messages))
	}
	if got := rec.Params("one"); string(got) != "[1]" {
		t.Errorf("params %s", got)
	}
	if got := rec.Params("none"); got != nil {
		t.Errorf("params %s", got)
	}
}
