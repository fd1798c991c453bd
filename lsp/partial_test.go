package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

func at(line uint32) protocol.Location {
	return protocol.Location{URI: "file:///a", Range: protocol.Range{Start: protocol.Position{Line: line}, End: protocol.Position{Line: line}}}
}

// streamed calls a method with a token or without one and returns the values that came under the token, and the result.
func streamed(t *testing.T, srv *Server, method, token string) (parts []string, result string, err error) {
	t.Helper()
	srv.Extend = func(m *jsonrpc2.Mux) {
		m.HandleRequest("barrier", jsonrpc2.HandlerFunc(func(ctx context.Context, _ *jsonrpc2.Request) (any, error) {
			return nil, ClientFrom(ctx).Conn().Call(ctx, "barrier", nil, nil)
		}))
	}
	p := dial(t, srv)
	p.mux.HandleRequest("barrier", jsonrpc2.HandlerFunc(func(context.Context, *jsonrpc2.Request) (any, error) { return nil, nil }))
	var mu sync.Mutex
	p.mux.HandleNotification("$/progress", jsonrpc2.Note(func(_ context.Context, v *protocol.ProgressParams) error {
		mu.Lock()
		defer mu.Unlock()
		if v.Token != protocol.String("t") {
			t.Errorf("token is %v", v.Token)
		}
		parts = append(parts, string(v.Value))
		return nil
	}))
	p.start()
	p.init(ableInit)
	params := `{"textDocument":{"uri":"file:///a"},"position":{"line":0,"character":0},"context":{"includeDeclaration":true},"query":"q","previousResultId":"0","previousResultIds":[],` +
		`"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"partialResultToken":` + token + `}`
	var raw json.RawMessage
	err = p.try(method, params, &raw)
	p.call("barrier", nil, nil) // the client has handled what came before
	mu.Lock()
	defer mu.Unlock()
	return parts, string(raw), err
}

// Each form of result: in parts for a client that gave a token, as a whole for one that did not.
func TestStream(t *testing.T) {
	locations := func(lines ...uint32) (l []protocol.Location) {
		for _, n := range lines {
			l = append(l, at(n))
		}
		return l
	}
	text := func(v any) string {
		b, err := Codec.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	item := func(label string) protocol.CompletionItem { return protocol.CompletionItem{Label: label} }
	tests := []struct {
		name, method string
		srv          *Server
		parts        []any
		last         any // result with a token
		whole        any // result without one
	}{
		{"a list", "textDocument/references", &Server{References: func(ctx context.Context, _ *protocol.ReferenceParams) ([]protocol.Location, error) {
			return locations(3), errors.Join(Stream(ctx, at(1)), Stream(ctx, at(2)), Stream[protocol.Location](ctx))
		}}, []any{locations(1), locations(2), locations(3)}, []int{}, locations(1, 2, 3)},
		{"nothing but parts", "textDocument/references", &Server{References: func(ctx context.Context, _ *protocol.ReferenceParams) ([]protocol.Location, error) {
			return nil, Stream(ctx, at(1), at(2))
		}}, []any{locations(1, 2)}, []int{}, locations(1, 2)},
		{"no parts", "textDocument/references", &Server{References: func(context.Context, *protocol.ReferenceParams) ([]protocol.Location, error) {
			return locations(1), nil
		}}, nil, locations(1), locations(1)},
		{"a union, its last part one location", "textDocument/definition", &Server{Definition: func(ctx context.Context, _ *protocol.DefinitionParams) (protocol.DefinitionResult, error) {
			l := at(2)
			return &l, Stream(ctx, at(1))
		}}, []any{locations(1), locations(2)}, []int{}, locations(1, 2)},
		{"a union, nil", "textDocument/documentSymbol", &Server{DocumentSymbol: func(ctx context.Context, _ *protocol.DocumentSymbolParams) (protocol.DocumentSymbolResult, error) {
			return nil, Stream(ctx, protocol.DocumentSymbol{Name: "n"})
		}}, []any{[]protocol.DocumentSymbol{{Name: "n"}}}, []int{}, []protocol.DocumentSymbol{{Name: "n"}}},
		{"a completion list", "textDocument/completion", &Server{Completion: func(ctx context.Context, _ *protocol.CompletionParams) (*protocol.CompletionList, error) {
			return &protocol.CompletionList{IsIncomplete: true, Items: []protocol.CompletionItem{item("b")}}, Stream(ctx, item("a"))
		}}, []any{[]protocol.CompletionItem{item("a")}, []protocol.CompletionItem{item("b")}}, &protocol.CompletionList{IsIncomplete: true, Items: []protocol.CompletionItem{}},
			&protocol.CompletionList{IsIncomplete: true, Items: []protocol.CompletionItem{item("a"), item("b")}}},
		{"semantic tokens", "textDocument/semanticTokens/full", &Server{SemanticTokens: func(ctx context.Context, _ *protocol.SemanticTokensParams) (*protocol.SemanticTokens, error) {
			return nil, Stream[uint32](ctx, 0, 1, 2, 3, 4)
		}}, []any{map[string]any{"data": []int{0, 1, 2, 3, 4}}}, &protocol.SemanticTokens{Data: []uint32{}}, &protocol.SemanticTokens{Data: []uint32{0, 1, 2, 3, 4}}},
		{"edits of semantic tokens", "textDocument/semanticTokens/full/delta", &Server{SemanticTokensDelta: func(ctx context.Context, _ *protocol.SemanticTokensDeltaParams) (protocol.SemanticTokensDeltaResult, error) {
			return &protocol.SemanticTokensDelta{}, Stream(ctx, protocol.SemanticTokensEdit{Start: 5})
		}}, []any{map[string]any{"edits": []protocol.SemanticTokensEdit{{Start: 5}}}}, &protocol.SemanticTokensDelta{Edits: []protocol.SemanticTokensEdit{}},
			&protocol.SemanticTokensDelta{Edits: []protocol.SemanticTokensEdit{{Start: 5}}}},
		{"inline completions, whose params have no place for a token", "textDocument/inlineCompletion", &Server{InlineCompletion: func(ctx context.Context, _ *protocol.InlineCompletionParams) (protocol.InlineCompletionResult, error) {
			i := protocol.InlineCompletionItem{InsertText: protocol.String("x")}
			return &protocol.InlineCompletionList{Items: []protocol.InlineCompletionItem{i}}, Stream(ctx, i)
		}}, nil, []any{map[string]any{"insertText": "x"}, map[string]any{"insertText": "x"}}, []any{map[string]any{"insertText": "x"}, map[string]any{"insertText": "x"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var want []string
			for _, p := range tt.parts {
				want = append(want, text(p))
			}
			parts, result, err := streamed(t, tt.srv, tt.method, `"t"`)
			if err != nil || !reflect.DeepEqual(parts, want) || result != text(tt.last) {
				t.Errorf("with a token: %s, then %s, %v; want %s, then %s", parts, result, err, want, text(tt.last))
			}
			parts, result, err = streamed(t, tt.srv, tt.method, `null`)
			if err != nil || len(parts) != 0 || result != text(tt.whole) {
				t.Errorf("without: %s, then %s, %v; want %s", parts, result, err, text(tt.whole))
			}
		})
	}
}

func TestStreamErrors(t *testing.T) {
	var got error
	var streaming bool
	serve := func(f func(context.Context) error) *Server {
		return &Server{
			References: func(ctx context.Context, _ *protocol.ReferenceParams) ([]protocol.Location, error) {
				got, streaming = f(ctx), Streaming(ctx)
				return nil, nil
			},
			Hover: func(ctx context.Context, _ *protocol.HoverParams) (*protocol.Hover, error) {
				got, streaming = f(ctx), Streaming(ctx)
				return nil, nil
			},
		}
	}
	if err := Stream(context.Background(), 1); !errors.Is(err, ErrNoStream) {
		t.Errorf("outside of a handler: %v", err)
	}
	_, _, _ = streamed(t, serve(func(ctx context.Context) error { return Stream(ctx, at(1)) }), "textDocument/hover", `"t"`)
	if !errors.Is(got, ErrNoStream) || streaming {
		t.Errorf("in a hover: %v", got)
	}
	_, _, _ = streamed(t, serve(func(ctx context.Context) error { return Stream(ctx, "x") }), "textDocument/references", `"t"`)
	if got == nil || !strings.Contains(got.Error(), "string") || !streaming {
		t.Errorf("parts of the wrong type: %v", got)
	}
	_, _, _ = streamed(t, serve(func(ctx context.Context) error {
		ended, stop := context.WithCancel(ctx)
		stop()
		return Stream(ended, at(1))
	}), "textDocument/references", `null`)
	if !errors.Is(got, context.Canceled) || streaming {
		t.Errorf("cancelled: %v", got)
	}
	var late context.Context
	parts, _, _ := streamed(t, serve(func(ctx context.Context) error { late = ctx; return Stream(ctx, at(1)) }), "textDocument/references", `"t"`)
	if err := Stream(late, at(2)); err == nil || len(parts) != 1 {
		t.Errorf("after the answer: %v, %d parts", err, len(parts))
	}
	// An error after parts is the answer.
	_, _, err := streamed(t, &Server{References: func(ctx context.Context, _ *protocol.ReferenceParams) ([]protocol.Location, error) {
		_ = Stream(ctx, at(1))
		return nil, RequestFailed("no")
	}}, "textDocument/references", `"t"`)
	wantCode(t, err, CodeRequestFailed)
	// Parts of one kind and a result of another cannot be put together.
	var rep reports
	_, _, err = streamed(t, &Server{Reporter: rep.add, Definition: func(ctx context.Context, _ *protocol.DefinitionParams) (protocol.DefinitionResult, error) {
		return protocol.DefinitionLinkSlice{{}}, Stream(ctx, at(1))
	}}, "textDocument/definition", `null`)
	wantCode(t, err, jsonrpc2.CodeInternalError)
}

// Many goroutines may search and stream at once.
func TestStreamTogether(t *testing.T) {
	for _, token := range []string{`"t"`, `null`} {
		parts, result, err := streamed(t, &Server{References: func(ctx context.Context, _ *protocol.ReferenceParams) ([]protocol.Location, error) {
			var all sync.WaitGroup
			for i := range 20 {
				all.Go(func() { _ = Stream(ctx, at(uint32(i)), at(uint32(i+100))) })
			}
			all.Wait()
			return nil, nil
		}}, "textDocument/references", token)
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprint(parts, result)
		for i := range 20 {
			if !strings.Contains(text, fmt.Sprintf(`"line":%d,`, i+100)) {
				t.Errorf("part %d is missing", i)
			}
		}
	}
}

func TestRawParams(t *testing.T) {
	var got []string
	srv := &Server{
		Hover: func(ctx context.Context, p *protocol.HoverParams) (*protocol.Hover, error) {
			got = append(got, string(RawParams(ctx)))
			return nil, nil
		},
		DidOpen: func(ctx context.Context, _ *Document) error { got = append(got, string(RawParams(ctx))); return nil },
		Commands: map[string]func(context.Context, []json.RawMessage) (any, error){"c": func(ctx context.Context, _ []json.RawMessage) (any, error) {
			got = append(got, string(RawParams(ctx)))
			return nil, nil
		}},
	}
	p := connect(t, srv)
	p.init(plainInit)
	const open = `{"textDocument":{"uri":"file:///A%3a","languageId":"x","version":1,"text":"t"},"vendor":1}`
	const hover = `{"textDocument":{"uri":"file:///a"},"position":{"line":0,"character":0},"vendor":[2]}`
	const run = `{"command":"c","vendor":{"x":null}}`
	p.notify("textDocument/didOpen", open)
	p.call("textDocument/hover", hover, nil)
	p.call("workspace/executeCommand", run, nil)
	if want := []string{open, hover, run}; !reflect.DeepEqual(got, want) {
		t.Errorf("raw params are %q, want %q", got, want)
	}
	if RawParams(context.Background()) != nil {
		t.Error("raw params of nothing")
	}
}
