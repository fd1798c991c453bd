package mcp

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

func TestModernResults(t *testing.T) {
	type shape struct {
		A    int    `json:"a"`
		Meta Meta   `json:"_meta,omitempty"`
		Kind string `json:"resultType,omitempty"`
	}
	for _, c := range []struct {
		name   string
		result any
		want   string // "": Internal error
	}{
		{"nothing", nil, `{"resultType":"complete",` + signed + `}`},
		{"empty list", []int{}, `{"resultType":"complete",` + signed + `}`},
		{"empty object", struct{}{}, `{"resultType":"complete",` + signed + `}`},
		{"text", TextResult("t"), `{"content":[{"type":"text","text":"t"}],"isError":false,"resultType":"complete",` + signed + `}`},
		{"result", &CallToolResult{IsError: true}, `{"content":[],"isError":true,"resultType":"complete",` + signed + `}`},
		{"result with meta", &CallToolResult{Meta: Meta{"k": 1}}, `{"content":[],"isError":false,"_meta":{"k":1,"io.modelcontextprotocol/serverInfo":{"name":"Test","version":"1.0.0"}},"resultType":"complete"}`},
		{"result with any value", &CallToolResult{StructuredContent: []int{1}}, `{"content":[],"structuredContent":[1],"isError":false,"resultType":"complete",` + signed + `}`},
		{"null as content", &CallToolResult{StructuredContent: json.RawMessage("null")}, `{"content":[],"structuredContent":null,"isError":false,"resultType":"complete",` + signed + `}`},
		{"own", shape{A: 1}, `{"a":1,"resultType":"complete",` + signed + `}`},
		{"own with empty meta", json.RawMessage(` {"_meta": { } , "a":1} `), `{"_meta": { "io.modelcontextprotocol/serverInfo":{"name":"Test","version":"1.0.0"}} , "a":1,"resultType":"complete"}`},
		{"own with meta", shape{A: 1, Meta: Meta{"k": "}"}}, `{"a":1,"_meta":{"k":"}","io.modelcontextprotocol/serverInfo":{"name":"Test","version":"1.0.0"}},"resultType":"complete"}`},
		{"own, signed", json.RawMessage(`{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"X"}}}`), `{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"X"}},"resultType":"complete"}`},
		{"own, typed", shape{A: 1, Kind: "special"}, `{"a":1,"resultType":"special",` + signed + `}`},
		{"number", 5, ""},
		{"list", []int{1}, ""},
		{"string", "s", ""},
		{"not encodable", func() {}, ""},
	} {
		for _, way := range ways {
			t.Run(c.name+", "+way.name, func(t *testing.T) {
				reported := make(chan error, 10)
				s := echoServer()
				s.Caller = func(context.Context, string, Arguments) (any, error) { return c.result, nil }
				s.Reporter = func(_ context.Context, _ *jsonrpc2.Request, err error) { reported <- err }
				got := way.ask(t, s)(modern("1", "tools/call", `,"name":"x"`))
				want := `{"jsonrpc":"2.0","id":1,"result":` + c.want + `}`
				if c.want == "" {
					want = `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error"}}`
					if err := <-reported; err == nil {
						t.Error("no error")
					}
				}
				if got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			})
		}
	}
}

// The same server says nothing of all that in the other revisions.
func TestLegacyResultsAreBare(t *testing.T) {
	for _, rev := range Versions {
		s := full()
		s.Cache = Caching{Tools: CacheHint{TTL: time.Hour, Public: true}, Read: CacheHint{TTL: time.Hour}}
		s.Reader = func(ctx context.Context, uri string) (any, error) {
			SetCache(ctx, CacheHint{TTL: time.Minute})
			return []ResourceContents{{URI: uri}}, nil
		}
		s.Caller = func(context.Context, string, Arguments) (any, error) { return TextResult("x"), nil }
		s.Extensions = map[string]any{"com.example/x": struct{}{}}
		w := start(t, s, rev)
		for _, m := range []string{
			`"tools/list"`, `"tools/call","params":{"name":"x"}`, `"resources/list"`, `"resources/templates/list"`, `"resources/read","params":{"uri":"a"}`,
			`"prompts/list"`, `"prompts/get","params":{"name":"x"}`, `"ping"`, `"logging/setLevel","params":{"level":"info"}`,
			`"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}}`,
		} {
			w.send(`{"jsonrpc":"2.0","id":1,"method":` + m + `}`)
			got := w.recv()
			for _, member := range []string{"resultType", "ttlMs", "cacheScope", "serverInfo", "extensions", "error"} {
				if strings.Contains(got, `"`+member+`"`) {
					t.Errorf("%s, %s: %s", rev, m, got)
				}
			}
		}
	}
}

func TestCacheHints(t *testing.T) {
	s := full()
	s.Resources = func(ctx context.Context) ([]Resource, error) { return nil, nil }
	s.Lister = func(ctx context.Context) ([]Tool, error) {
		SetCache(ctx, CacheHint{TTL: 1500 * time.Microsecond, Public: true})
		return nil, nil
	}
	s.Caller = func(ctx context.Context, name string, _ Arguments) (any, error) {
		SetCache(ctx, CacheHint{TTL: time.Hour}) // is of no use here
		return TextResult(name), nil
	}
	s.Reader = func(ctx context.Context, uri string) (any, error) {
		switch uri {
		case "kept":
			SetCache(ctx, CacheHint{TTL: time.Minute, Public: true})
		case "stale":
			SetCache(ctx, CacheHint{TTL: time.Minute, Public: true})
			callFrom(ctx).uncached()
		case "negative":
			SetCache(ctx, CacheHint{TTL: -time.Minute})
		}
		return nil, nil
	}
	s.Cache.Discover = CacheHint{TTL: time.Second}
	s.Cache.Prompts = CacheHint{Public: true}
	s.Cache.Templates = CacheHint{TTL: time.Hour, Public: true}
	s.Cache.Read = CacheHint{TTL: 2 * time.Second}
	s.Cache.Tools = CacheHint{TTL: time.Hour}
	for _, way := range ways[:3] {
		ask := way.ask(t, s)
		for _, c := range []struct{ method, members, ttl, scope string }{
			{"server/discover", ``, `1000`, `"private"`},
			{"tools/list", ``, `1`, `"public"`},
			{"resources/list", ``, `0`, `"private"`},
			{"resources/templates/list", ``, `3600000`, `"public"`},
			{"prompts/list", ``, `0`, `"public"`},
			{"resources/read", `,"uri":"x"`, `2000`, `"private"`},
			{"resources/read", `,"uri":"kept"`, `60000`, `"public"`},
			{"resources/read", `,"uri":"stale"`, `0`, `"private"`},
			{"resources/read", `,"uri":"negative"`, `0`, `"private"`},
			{"tools/call", `,"name":"x"`, ``, ``},
			{"prompts/get", `,"name":"x"`, ``, ``},
			{"completion/complete", `,"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}`, ``, ``},
		} {
			got := ask(modern("1", c.method, c.members))
			if ttl, scope := member(t, got, "result", "ttlMs"), member(t, got, "result", "cacheScope"); ttl != c.ttl || scope != c.scope {
				t.Errorf("%s, %s%s: got %s", way.name, c.method, c.members, got)
			}
			if kind := member(t, got, "result", "resultType"); kind != `"complete"` {
				t.Errorf("%s, %s: got %s", way.name, c.method, got)
			}
			if name := member(t, got, "result", "_meta", MetaServer, "name"); name != `"Full"` {
				t.Errorf("%s, %s: got %s", way.name, c.method, got)
			}
		}
	}
	// For nobody.
	SetCache(context.Background(), CacheHint{TTL: time.Hour})
	s.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
}

func TestDiscover(t *testing.T) {
	s := full()
	s.Title, s.Description, s.WebsiteURL, s.Icons, s.Instructions = "Title", "What it is", "https://example.com", []Icon{{Src: "https://example.com/i.png"}}, "Ask."
	s.ListChanged = true
	s.Subscriber = func(context.Context, string) error { return nil }
	s.Extensions = map[string]any{"com.example/x": map[string]int{"n": 1}}
	want := `{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},` +
		`"prompts":{"listChanged":true},"completions":{},"logging":{},"extensions":{"com.example/x":{"n":1}}},"instructions":"Ask.",` +
		`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"Full","title":"Title","version":"1","description":"What it is","websiteUrl":"https://example.com","icons":[{"src":"https://example.com/i.png"}]}},` +
		`"resultType":"complete","ttlMs":0,"cacheScope":"private"}}`
	for _, way := range ways {
		if got := way.ask(t, s)(modern("1", "server/discover", ``)); got != want {
			t.Errorf("%s: got  %s\nwant %s", way.name, got, want)
		}
	}
	short := `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"Full","title":"Title","version":"1"}}}}`
	if got := string(s.HandleModern(context.Background(), []byte(modern("1", "prompts/list", ``)), nil)); !strings.HasSuffix(got, short) {
		t.Errorf("got %s", got)
	}
}

// A resource that is not there has a code of its own in the revisions with initialize, and the URI as data in all.
func TestResourceNotFoundByRevision(t *testing.T) {
	s := full()
	s.Reader = func(_ context.Context, uri string) (any, error) { return nil, ResourceNotFound(uri) }
	rest := `,"message":"Resource not found","data":{"uri":"no:such"}}}`
	for _, way := range ways {
		if got, want := way.ask(t, s)(modern("1", "resources/read", `,"uri":"no:such"`)), `{"jsonrpc":"2.0","id":1,"error":{"code":-32602`+rest; got != want {
			t.Errorf("%s: got %s", way.name, got)
		}
	}
	for _, rev := range Versions {
		w := start(t, s, rev)
		w.send(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"no:such"}}`)
		w.want(`{"jsonrpc":"2.0","id":1,"error":{"code":-32002` + rest)
	}
}
