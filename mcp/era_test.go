package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

const (
	versionMember = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`
	modernMeta    = `{` + versionMember + `,"io.modelcontextprotocol/clientCapabilities":{}}`
	// signed is what dressing adds to every result of echoServer.
	signed = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"Test","version":"1.0.0"}}`
)

// modern makes a request of revision 2026-07-28. members are those of params beside _meta, with a comma in front.
func modern(id, method, members string) string { return withMeta(id, method, modernMeta, members) }

func withMeta(id, method, meta, members string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{"_meta":` + meta + members + `}}`
}

// ways are how a modern request can come: on a connection, initialized or not, and from a host.
var ways = []struct {
	name string
	ask  func(t *testing.T, s *Server) func(payload string) string
}{
	{"connection", func(t *testing.T, s *Server) func(string) string {
		w := host(t, s)
		return func(p string) string { w.send(p); return w.recv() }
	}},
	{"initialized connection", func(t *testing.T, s *Server) func(string) string {
		w := start(t, s, "2025-06-18")
		return func(p string) string { w.send(p); return w.recv() }
	}},
	{"host", func(t *testing.T, s *Server) func(string) string {
		return func(p string) string {
			return string(s.HandleModern(context.Background(), []byte(p), new(peer)))
		}
	}},
	{"host without a way back", func(t *testing.T, s *Server) func(string) string {
		return func(p string) string { return string(s.HandleModern(context.Background(), []byte(p), nil)) }
	}},
	{"middleware", func(t *testing.T, s *Server) func(string) string {
		extend := s.Extend
		s.Extend = func(m *jsonrpc2.Mux) {
			m.Use(func(h jsonrpc2.Handler) jsonrpc2.Handler {
				return jsonrpc2.HandlerFunc(func(ctx context.Context, r *jsonrpc2.Request) (any, error) { return h.Handle(ctx, r) })
			})
			if extend != nil {
				extend(m)
			}
		}
		w := host(t, s)
		return func(p string) string { w.send(p); return w.recv() }
	}},
}

func TestModernEnvelope(t *testing.T) {
	const v, c = versionMember, `"io.modelcontextprotocol/clientCapabilities":{}`
	wrong := func(what string) string {
		return `"error":{"code":-32602,"message":"Invalid params: ` + what + `"}}`
	}
	unsupported := func(requested string) string {
		return `"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"` + requested + `"}}}`
	}
	served := `"result":{"a":1,"resultType":"complete",` + signed + `}}`
	for _, x := range []struct{ name, meta, want string }{
		{"whole", `{` + v + `,` + c + `}`, served},
		{"with a client", `{` + v + `,` + c + `,"io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"}}`, served},
		{"escaped names", `{"io.modelcontextprotocol\/protocolVer\u0073ion":"2026-07-28",` + c + `}`, served},
		{"keys of others", `{"x":1,` + v + `,"com.example/y":{},` + c + `,"traceparent":"00"}`, served},
		{"no capabilities", `{` + v + `}`, wrong(`_meta must have io.modelcontextprotocol/clientCapabilities`)},
		{"null capabilities", `{` + v + `,"io.modelcontextprotocol/clientCapabilities":null}`, wrong(`io.modelcontextprotocol/clientCapabilities in _meta must be an object`)},
		{"list of capabilities", `{` + v + `,"io.modelcontextprotocol/clientCapabilities":[]}`, wrong(`io.modelcontextprotocol/clientCapabilities in _meta must be an object`)},
		{"capabilities alone", `{` + c + `}`, wrong(`_meta must have io.modelcontextprotocol/protocolVersion`)},
		{"number version", `{"io.modelcontextprotocol/protocolVersion":20260728,` + c + `}`, wrong(`io.modelcontextprotocol/protocolVersion in _meta must be a string`)},
		{"null version", `{"io.modelcontextprotocol/protocolVersion":null,` + c + `}`, wrong(`io.modelcontextprotocol/protocolVersion in _meta must be a string`)},
		{"null version alone", `{"io.modelcontextprotocol/protocolVersion":null}`, wrong(`io.modelcontextprotocol/protocolVersion in _meta must be a string`)},
		{"text client", `{` + v + `,` + c + `,"io.modelcontextprotocol/clientInfo":"x"}`, wrong(`io.modelcontextprotocol/clientInfo in _meta must be an object`)},
		{"version twice", `{` + v + `,` + v + `,` + c + `}`, wrong(`a key of the protocol stands in _meta twice`)},
		{"version twice, once escaped", `{` + v + `,"io.modelcontextprotocol/protocolVersio\u006e":"2026-07-28",` + c + `}`, wrong(`a key of the protocol stands in _meta twice`)},
		{"what is missing comes before the version", `{"io.modelcontextprotocol/protocolVersion":"v999.0.0"}`, wrong(`_meta must have io.modelcontextprotocol/clientCapabilities`)},
		{"later version", `{"io.modelcontextprotocol/protocolVersion":"v999.0.0",` + c + `}`, unsupported("v999.0.0")},
		{"earlier version", `{"io.modelcontextprotocol/protocolVersion":"1900-01-01",` + c + `}`, unsupported("1900-01-01")},
		{"version with initialize", `{"io.modelcontextprotocol/protocolVersion":"2025-11-25",` + c + `}`, unsupported("2025-11-25")},
		{"empty version", `{"io.modelcontextprotocol/protocolVersion":"",` + c + `}`, unsupported("")},
		{"unknown level", `{` + v + `,` + c + `,"io.modelcontextprotocol/logLevel":"loud"}`, wrong(`io.modelcontextprotocol/logLevel in _meta is no level`)},
		{"null level", `{` + v + `,` + c + `,"io.modelcontextprotocol/logLevel":null}`, wrong(`io.modelcontextprotocol/logLevel in _meta is no level`)},
		{"level of another case", `{` + v + `,` + c + `,"io.modelcontextprotocol/logLevel":"Info"}`, wrong(`io.modelcontextprotocol/logLevel in _meta is no level`)},
		{"level", `{` + v + `,` + c + `,"io.modelcontextprotocol/logLevel":"info"}`, served},
		{"token", `{` + v + `,` + c + `,"progressToken":0}`, served},
		{"null token", `{` + v + `,` + c + `,"progressToken":null}`, wrong(`progressToken must be a string or an integer`)},
		{"object token", `{` + v + `,` + c + `,"progressToken":{}}`, wrong(`progressToken must be a string or an integer`)},
		{"fraction token", `{` + v + `,` + c + `,"progressToken":1.5}`, wrong(`progressToken must be a string or an integer`)},
		{"token twice", `{` + v + `,` + c + `,"progressToken":1,"progressToken":1}`, wrong(`progressToken must be a string or an integer`)},
	} {
		for _, way := range ways {
			t.Run(x.name+", "+way.name, func(t *testing.T) {
				s := echoServer()
				ask := way.ask(t, s)
				want := `{"jsonrpc":"2.0","id":"a\u0062",` + x.want
				if got := ask(withMeta(`"a\u0062"`, "tools/call", x.meta, `,"name":"echo","arguments":{"a":1}`)); got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			})
		}
	}
}

// Every method with params of every kind, in both eras.
func TestParamsOfEveryMethod(t *testing.T) {
	methods := map[string]string{ // members that make the params good
		"initialize": `,"protocolVersion":"2025-11-25"`, "ping": ``, "server/discover": ``, "subscriptions/listen": `,"notifications":5`,
		"tools/list": ``, "tools/call": `,"name":"x"`, "resources/list": ``, "resources/templates/list": ``, "resources/read": `,"uri":"a"`,
		"resources/subscribe": `,"uri":"a"`, "resources/unsubscribe": `,"uri":"a"`, "prompts/list": ``, "prompts/get": `,"name":"x"`,
		"completion/complete": `,"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}`, "logging/setLevel": `,"level":"info"`, "no/such": ``,
	}
	needs := map[string]bool{
		"tools/call": true, "resources/read": true, "resources/subscribe": true, "resources/unsubscribe": true, "prompts/get": true,
		"completion/complete": true, "logging/setLevel": true,
	}
	server := func() *Server {
		s := full()
		s.Subscriber = func(context.Context, string) error { return nil }
		return s
	}
	for method, members := range methods {
		span := spanOf(method)
		for _, c := range []struct {
			name, params   string
			legacy, modern int // the error code, 0 for a result
		}{
			{"absent", ``, 0, -32602},
			{"null", `,"params":null`, 0, -32602},
			{"list", `,"params":[]`, -32602, -32602},
			{"object", `,"params":{}`, 0, -32602},
			{"number", `,"params":5`, -32600, -32600},
			{"string", `,"params":"x"`, -32600, -32600},
			{"null meta", `,"params":{"_meta":null` + members + `}`, 1, -32602},
			{"list as meta", `,"params":{"_meta":[]` + members + `}`, 1, -32602},
			{"meta twice", `,"params":{"_meta":{},"_meta":{}` + members + `}`, -32602, -32602},
			{"good", `,"params":{"x":1` + members + `}`, 1, -32602},
			{"modern", `,"params":{"_meta":` + modernMeta + members + `}`, 2, 2},
		} {
			payload := `{"jsonrpc":"2.0","id":1,"method":"` + method + `"` + c.params + `}`
			check := func(era, got string, want int) {
				t.Helper()
				if want == 0 && needs[method] {
					want = -32602
				}
				if want == 2 { // it is a modern request, whoever takes it
					switch {
					case !span.has(rev20260728) || method == "no/such":
						want = -32601
					case method == "subscriptions/listen":
						want = -32602 // what it is to listen to is no object
					default:
						want = 0
					}
				} else if want != -32600 && era == "legacy" {
					switch {
					case !span.has(rev20251125) || method == "no/such":
						want = -32601
					case method == "initialize":
						want = -32600 // a second one
					}
				}
				if want == 1 {
					want = 0
				}
				if _, code := errorCode(t, got); code != want {
					t.Errorf("%s, %s params, %s: got %s, want code %d", method, c.name, era, got, want)
				}
			}
			w := start(t, server(), "2025-11-25")
			w.send(payload)
			check("legacy", w.recv(), c.legacy)
			check("modern", string(server().HandleModern(context.Background(), []byte(payload), new(peer))), c.modern)
			_ = w.close()
		}
	}
}

// What a client sends in one era changes nothing in the other.
func TestErasSideBySide(t *testing.T) {
	s := echoServer()
	s.Caller = func(ctx context.Context, name string, _ Arguments) (any, error) {
		ses := SessionFrom(ctx)
		return map[string]any{"revision": ses.Revision(), "client": ses.Client().Name, "sampling": ses.Capabilities().Sampling != nil}, nil
	}
	w := host(t, s)
	legacy := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}`
	call := func(meta string) string {
		return withMeta("1", "tools/call", `{`+versionMember+`,`+meta+`}`, `,"name":"x"`)
	}
	able := call(`"io.modelcontextprotocol/clientInfo":{"name":"able","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"sampling":{}}`)
	plain := call(`"io.modelcontextprotocol/clientCapabilities":{}`)
	ableAnswer := `{"jsonrpc":"2.0","id":1,"result":{"client":"able","revision":"2026-07-28","sampling":true,"resultType":"complete",` + signed + `}}`
	plainAnswer := `{"jsonrpc":"2.0","id":1,"result":{"client":"","revision":"2026-07-28","sampling":false,"resultType":"complete",` + signed + `}}`
	for range 2 {
		w.send(able)
		w.want(ableAnswer)
		w.send(plain)
		w.want(plainAnswer) // nothing is left of the request before
	}
	w.send(legacy)
	w.want(`{"jsonrpc":"2.0","id":2,` + notInitialized)
	w.send(modern("3", "initialize", `,"protocolVersion":"2025-06-18"`))
	w.want(`{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"Method not found"}}`)
	w.send(hello)
	w.want(helloAnswer)
	w.send(legacy)
	w.want(`{"jsonrpc":"2.0","id":2,"result":{"client":"t","revision":"2025-06-18","sampling":false}}`)
	w.send(able)
	w.want(ableAnswer)
	w.send(modern("3", "ping", ``))
	w.want(`{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"Method not found"}}`)
	w.send(`{"jsonrpc":"2.0","id":4,"method":"server/discover","params":{}}`)
	w.want(`{"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"Method not found"}}`)
	w.sync()
}

// The Session of a modern request is good for that request: it sends no requests, and nothing once the request is answered.
func TestModernSession(t *testing.T) {
	kept := make(chan context.Context, 1)
	s := echoServer()
	s.Caller = func(ctx context.Context, _ string, _ Arguments) (any, error) {
		ses := SessionFrom(ctx)
		if ses != SessionFrom(ctx) || ses.Params() != nil {
			t.Error("not the session it was")
		}
		if err := ses.Call(ctx, "roots/list", nil, nil); !errors.Is(err, ErrNoRequests) {
			t.Errorf("Call: %v", err)
		}
		if err := ses.Notify(ctx, "notifications/custom", map[string]int{"a": 1}); err != nil {
			t.Errorf("Notify: %v", err)
		}
		kept <- ctx
		return nil, nil
	}
	w := host(t, s)
	w.send(modern("1", "tools/call", `,"name":"x"`))
	w.want(`{"jsonrpc":"2.0","method":"notifications/custom","params":{"a":1}}`)
	w.want(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete",` + signed + `}}`)
	ctx := <-kept
	if err := SessionFrom(ctx).Notify(context.Background(), "notifications/late", nil); err != nil {
		t.Error(err)
	}
	if err := SessionFrom(ctx).Call(ctx, "roots/list", nil, nil); !errors.Is(err, ErrNoRequests) {
		t.Error(err)
	}
	w.send(hello)
	w.want(helloAnswer)
	w.sync()
}

// Methods and notifications that the program adds are of both eras too.
func TestExtendModern(t *testing.T) {
	noted := make(chan string, 10)
	s := echoServer()
	s.Extend = func(m *jsonrpc2.Mux) {
		m.HandleRequest("custom/sum", jsonrpc2.Call(func(ctx context.Context, p *struct{ N []int }) (map[string]any, error) {
			return map[string]any{"sum": p.N[0] + p.N[1], "revision": SessionFrom(ctx).Revision()}, nil
		}))
		m.HandleNotification("custom/note", jsonrpc2.Note(func(_ context.Context, p *struct{ Text string }) error {
			noted <- p.Text
			return nil
		}))
	}
	w := host(t, s)
	w.send(modern("1", "custom/sum", `,"n":[1,2]`))
	if _, code := errorCode(t, w.recv()); code == 0 {
		t.Error("names must match exactly")
	}
	w.send(modern("1", "custom/sum", `,"N":[1,2]`))
	w.want(`{"jsonrpc":"2.0","id":1,"result":{"revision":"2026-07-28","sum":3,"resultType":"complete",` + signed + `}}`)
	w.send(withMeta("1", "custom/sum", `{`+versionMember+`}`, `,"N":[1,2]`))
	if _, code := errorCode(t, w.recv()); code != -32602 {
		t.Error("the envelope was not looked at")
	}
	w.send(`{"jsonrpc":"2.0","method":"custom/note","params":{"Text":"legacy, too early"}}`)
	w.send(`{"jsonrpc":"2.0","method":"custom/note","params":{"_meta":` + modernMeta + `,"Text":"modern"}}`)
	if got := <-noted; got != "modern" {
		t.Errorf("got %q", got)
	}
	w.send(hello)
	w.recv()
	w.send(`{"jsonrpc":"2.0","method":"custom/note","params":{"Text":"legacy"}}`)
	if got := <-noted; got != "legacy" {
		t.Errorf("got %q", got)
	}
}

// peer is a way back that keeps what is sent.
type peer struct {
	mu   sync.Mutex
	sent []string
	tell func(ctx context.Context, method string, params any) error
	call func(ctx context.Context, method string, params, result any) error
}

func (p *peer) Notify(ctx context.Context, method string, params any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if p.tell != nil {
		return p.tell(ctx, method, params)
	}
	b, err := Encode(params)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, method+" "+string(b))
	return err
}

func (p *peer) Call(ctx context.Context, method string, params, result any) error {
	if p.call != nil {
		return p.call(ctx, method, params, result)
	}
	return errors.New("nobody answers")
}

func (p *peer) all() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.sent...)
}

func member(t *testing.T, message string, path ...string) string {
	t.Helper()
	raw := json.RawMessage(message)
	for _, name := range path {
		var m map[string]json.RawMessage
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatalf("%s in %s: %v", strings.Join(path, "."), message, err)
		}
		raw = m[name]
	}
	return string(raw)
}
