package mcphttp

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
)

// want is what a POST is answered with.
type want struct {
	status int
	code   string // of the error; "": a result; "-": no body
	id     string // as text; "": none
}

func (w want) check(t *testing.T, a answer) {
	t.Helper()
	body := a.body
	if len(a.events) > 0 {
		body = a.events[len(a.events)-1].data
	}
	if a.status != w.status {
		t.Errorf("status %d, want %d: %s", a.status, w.status, body)
	}
	if w.code == "-" {
		if a.body != "" {
			t.Errorf("body %s", a.body)
		}
		return
	}
	if got := member(body, "error.code"); got != w.code {
		t.Errorf("code %s, want %s: %s", got, w.code, body)
	}
	if got := member(body, "id"); got != w.id {
		t.Errorf("id %s, want %s: %s", got, w.id, body)
	}
	if len(a.events) == 0 && a.header.Get("Content-Type") != "application/json" {
		t.Errorf("Content-Type %q", a.header.Get("Content-Type"))
	}
}

// What is wrong with a POST before it is a message of any era.
func TestPostStatuses(t *testing.T) {
	f := serve(t, &Options{MaxBody: 1000, MaxHeader: 4000})
	for _, c := range []struct {
		name, body string
		header     header
		want       want
	}{
		{"ping", request("1", "ping", ""), nil, want{200, "", "1"}},
		{"no Content-Type", request("1", "ping", ""), header{"Content-Type": "-"}, want{200, "", "1"}},
		{"text", request("1", "ping", ""), header{"Content-Type": "text/plain"}, want{415, "-32600", ""}},
		{"form", request("1", "ping", ""), header{"Content-Type": "application/x-www-form-urlencoded"}, want{415, "-32600", ""}},
		{"other charset", request("1", "ping", ""), header{"Content-Type": "application/json; charset=iso-8859-1"}, want{415, "-32600", ""}},
		{"compressed", request("1", "ping", ""), header{"Content-Encoding": "gzip"}, want{415, "-32600", ""}},
		{"empty body", "", nil, want{400, "-32700", ""}},
		{"blank body", "  \n ", nil, want{400, "-32700", ""}},
		{"no JSON", "{not json", nil, want{400, "-32700", ""}},
		{"byte order mark", "\ufeff" + request("1", "ping", ""), nil, want{200, "", "1"}},
		{"byte order mark twice", "\ufeff\ufeff" + request("1", "ping", ""), nil, want{400, "-32700", ""}},
		{"two messages", request("1", "ping", "") + request("2", "ping", ""), nil, want{400, "-32700", ""}},
		{"bad UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", nil, want{400, "-32700", ""}},
		{"too deep", strings.Repeat("[", 512) + "1", nil, want{400, "-32700", ""}},
		{"too large", request("1", "ping", `{"x":"`+strings.Repeat("y", 1000)+`"}`), nil, want{413, "-32600", ""}},
		{"large headers", request("1", "ping", ""), header{"X-Padding": strings.Repeat("x", 4000)}, want{431, "-32600", ""}},
		{"scalar", "42", nil, want{400, "-32600", ""}},
		{"null", "null", nil, want{400, "-32600", ""}},
		{"string", `"ping"`, nil, want{400, "-32600", ""}},
		{"empty object", "{}", nil, want{400, "-32600", ""}},
		{"no version", `{"id":1,"method":"ping"}`, nil, want{400, "-32600", "1"}},
		{"other version", `{"jsonrpc":"1.0","id":"a","method":"ping"}`, nil, want{400, "-32600", `"a"`}},
		{"object id", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, nil, want{400, "-32600", ""}},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, nil, want{400, "-32600", "null"}},
		{"other letters", `{"jsonrpc":"2.0","id":1,"Method":"ping"}`, nil, want{400, "-32600", "1"}},
		{"duplicate member", `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}`, nil, want{400, "-32600", "1"}},
		{"scalar params", `{"jsonrpc":"2.0","id":1,"method":"ping","params":5}`, nil, want{400, "-32600", "1"}},
		{"empty array", "[]", nil, want{400, "-32600", "null"}},
		{"Accept of a page", request("1", "ping", ""), header{"Accept": "text/html"}, want{406, "-32600", "1"}},
		{"Accept JSON", request("1", "ping", ""), header{"Accept": "application/json"}, want{200, "", "1"}},
		{"Accept stream", request("1", "ping", ""), header{"Accept": "text/event-stream"}, want{200, "", "1"}},
		{"Accept anything", request("1", "ping", ""), header{"Accept": "*/*"}, want{200, "", "1"}},
		{"no Accept", request("1", "ping", ""), header{"Accept": "-"}, want{200, "", "1"}},
		{"notification, whatever Accept", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, header{"Accept": "text/html"}, want{202, "-", ""}},
	} {
		t.Run(c.name, func(t *testing.T) { c.want.check(t, f.do("POST", c.body, c.header)) })
	}
	for _, method := range []string{"PUT", "PATCH", "HEAD", "TRACE"} {
		if a := f.do(method, "", header{"Accept": "text/html"}); a.status != 405 || a.header.Get("Allow") != "POST, GET, DELETE, OPTIONS" {
			t.Errorf("%s: %d %q", method, a.status, a.header.Get("Allow"))
		}
	}
	// What cannot be said is dropped, which is no reason to fail.
	if a := f.do("POST", call("1", "steps", `{}`), header{"Accept": "application/json"}); a.status != 200 || !strings.Contains(a.body, `"text":"done "`) {
		t.Errorf("JSON only: %+v", a)
	}
	eventually(t, "it is reported", func() bool { return f.reported("takes no stream") })
	if a := f.do("POST", request("1", "ping", ""), header{"Accept": "text/event-stream"}); len(a.events) != 1 {
		t.Errorf("stream only: %+v", a)
	}
}

func modernRequest(id, method, members string) string {
	return request(id, method, `{`+modernMeta+members+`}`)
}

func modernHeader(method, name string) header {
	h := header{"Mcp-Protocol-Version": modernVersion, "Mcp-Method": method}
	if name != "" {
		h["Mcp-Name"] = name
	}
	return h
}

func TestModernStatuses(t *testing.T) {
	f := serveWith(t, nil, func(f *fixture) {
		f.srv.Extend = func(m *jsonrpc2.Mux) {
			m.HandleRequest("x/missing", jsonrpc2.HandlerFunc(func(context.Context, *jsonrpc2.Request) (any, error) {
				return nil, &jsonrpc2.Error{Code: mcp.CodeMissingCapability, Message: "Missing", Data: []byte(`{"requiredCapabilities":{"sampling":{}}}`)}
			}))
		}
	})
	list := modernRequest("1", "tools/list", "")
	callEcho := modernRequest("1", "tools/call", `,"name":"echo","arguments":{}`)
	with := func(h header, more ...string) header {
		out := header{}
		for k, v := range h {
			out[k] = v
		}
		for i := 0; i < len(more); i += 2 {
			out[more[i]] = more[i+1]
		}
		return out
	}
	meta := func(m string) string { return request("1", "tools/list", `{"_meta":`+m+`}`) }
	good := modernHeader("tools/list", "")
	for _, c := range []struct {
		name, body string
		header     header
		want       want
	}{
		{"list", list, good, want{200, "", "1"}},
		{"header of the era, no _meta", request("1", "tools/list", ""), good, want{400, "-32602", "1"}},
		{"header of the era, no version", meta(`{"io.modelcontextprotocol/clientCapabilities":{}}`), good, want{400, "-32602", "1"}},
		{"capabilities alone, no header", meta(`{"io.modelcontextprotocol/clientCapabilities":{}}`), nil, want{400, "-32602", "1"}},
		{"no capabilities", meta(`{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`), good, want{400, "-32602", "1"}},
		{"version is a number", meta(`{"io.modelcontextprotocol/protocolVersion":5,"io.modelcontextprotocol/clientCapabilities":{}}`), good, want{400, "-32602", "1"}},
		{"version is null, no header", meta(`{"io.modelcontextprotocol/protocolVersion":null,"io.modelcontextprotocol/clientCapabilities":{}}`), nil, want{400, "-32602", "1"}},
		{"no header", list, nil, want{400, "-32020", "1"}},
		{"legacy header", list, with(good, "Mcp-Protocol-Version", "2025-11-25"), want{400, "-32020", "1"}},
		{"unknown version in _meta", strings.Replace(list, modernVersion, "v999", 1), good, want{400, "-32020", "1"}},
		{"unknown version in both", strings.Replace(list, modernVersion, "v999", 1), with(good, "Mcp-Protocol-Version", "v999"), want{400, "-32022", "1"}},
		{"legacy version in both", strings.Replace(list, modernVersion, "2025-11-25", 1), with(good, "Mcp-Protocol-Version", "2025-11-25"), want{400, "-32022", "1"}},
		{"ancient version in both", strings.Replace(list, modernVersion, "1900-01-01", 1), with(good, "Mcp-Protocol-Version", "1900-01-01"), want{400, "-32022", "1"}},
		{"no Mcp-Method", list, with(good, "Mcp-Method", "-"), want{400, "-32020", "1"}},
		{"wrong Mcp-Method", list, with(good, "Mcp-Method", "prompts/list"), want{400, "-32020", "1"}},
		{"other letters in Mcp-Method", list, with(good, "Mcp-Method", "TOOLS/LIST"), want{400, "-32020", "1"}},
		{"blanks around Mcp-Method", list, with(good, "Mcp-Method", "  tools/list "), want{200, "", "1"}},
		{"other letters in the name of the header", list, header{"mcp-protocol-version": modernVersion, "MCP-METHOD": "tools/list"}, want{200, "", "1"}},
		{"unknown method", modernRequest("1", "no/such", ""), modernHeader("no/such", ""), want{404, "-32601", "1"}},
		{"initialize", modernRequest("1", "initialize", ""), modernHeader("initialize", ""), want{404, "-32601", "1"}},
		{"ping", modernRequest("1", "ping", ""), modernHeader("ping", ""), want{404, "-32601", "1"}},
		{"setLevel", modernRequest("1", "logging/setLevel", ""), modernHeader("logging/setLevel", ""), want{404, "-32601", "1"}},
		{"subscribe", modernRequest("1", "resources/subscribe", ""), modernHeader("resources/subscribe", ""), want{404, "-32601", "1"}},
		{"feature that is off", modernRequest("1", "prompts/list", ""), modernHeader("prompts/list", ""), want{404, "-32601", "1"}},
		{"discover", modernRequest("1", "server/discover", ""), modernHeader("server/discover", ""), want{200, "", "1"}},
		{"discover without anything", request("1", "server/discover", ""), nil, want{400, "-32602", "1"}},
		{"listen without anything", request("1", "subscriptions/listen", "{}"), nil, want{400, "-32602", "1"}},
		{"call", callEcho, modernHeader("tools/call", "echo"), want{200, "", "1"}},
		{"no Mcp-Name", callEcho, modernHeader("tools/call", ""), want{400, "-32020", "1"}},
		{"wrong Mcp-Name", callEcho, modernHeader("tools/call", "other"), want{400, "-32020", "1"}},
		{"blanks around Mcp-Name", callEcho, modernHeader("tools/call", " echo  "), want{200, "", "1"}},
		{"encoded Mcp-Name", callEcho, modernHeader("tools/call", "=?base64?ZWNobw==?="), want{200, "", "1"}},
		{"badly encoded Mcp-Name", callEcho, modernHeader("tools/call", "=?base64?ZWNobw?="), want{400, "-32020", "1"}},
		{"no name in the body", modernRequest("1", "tools/call", ""), modernHeader("tools/call", "echo"), want{400, "-32020", "1"}},
		{"no name anywhere", modernRequest("1", "tools/call", ""), modernHeader("tools/call", ""), want{200, "-32602", "1"}},
		{"name of a resource", modernRequest("1", "resources/read", `,"uri":"note:a"`), modernHeader("resources/read", "note:a"), want{200, "", "1"}},
		{"wrong name of a resource", modernRequest("1", "resources/read", `,"uri":"note:a"`), modernHeader("resources/read", "note:b"), want{400, "-32020", "1"}},
		{"unknown tool", modernRequest("1", "tools/call", `,"name":"none"`), modernHeader("tools/call", "none"), want{200, "-32602", "1"}},
		{"bad cursor", modernRequest("1", "tools/list", `,"cursor":5`), good, want{200, "-32602", "1"}},
		{"level that is none", strings.Replace(list, `"_meta":{`, `"_meta":{"io.modelcontextprotocol/logLevel":"loud",`, 1), good, want{200, "-32602", "1"}},
		{"capability that is missing", modernRequest("1", "x/missing", ""), modernHeader("x/missing", ""), want{400, "-32021", "1"}},
		{"session id is ignored", list, with(good, "Mcp-Session-Id", "nope"), want{200, "", "1"}},
		{"event id is ignored", list, with(good, "Last-Event-Id", "a_1"), want{200, "", "1"}},
		{"notification", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,` + modernMeta + `}}`, nil, want{202, "-", ""}},
		{"notification, header alone", `{"jsonrpc":"2.0","method":"notifications/x"}`, header{"Mcp-Protocol-Version": modernVersion}, want{202, "-", ""}},
		{"response", `{"jsonrpc":"2.0","id":1,"result":{}}`, header{"Mcp-Protocol-Version": modernVersion}, want{400, "-32600", "1"}},
		{"batch", `[` + list + `]`, good, want{400, "-32600", ""}},
		{"batch, no header", `[` + list + `]`, nil, want{400, "-32600", "null"}},
		{"null id", strings.Replace(list, `"id":1`, `"id":null`, 1), good, want{400, "-32600", ""}},
		{"string id", strings.Replace(list, `"id":1`, `"id":"\u0061"`, 1), good, want{200, "", `"\u0061"`}},
		{"large id", strings.Replace(list, `"id":1`, `"id":9007199254740993`, 1), good, want{200, "", "9007199254740993"}},
		{"listen, JSON only", modernRequest("1", "subscriptions/listen", `,"notifications":{}`), with(modernHeader("subscriptions/listen", ""), "Accept", "application/json"), want{406, "-32600", "1"}},
		{"bad listen", modernRequest("1", "subscriptions/listen", `,"notifications":5`), modernHeader("subscriptions/listen", ""), want{200, "-32602", "1"}},
		{"error, stream only", modernRequest("1", "no/such", ""), with(modernHeader("no/such", ""), "Accept", "text/event-stream"), want{404, "-32601", "1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := f.do("POST", c.body, c.header)
			c.want.check(t, a)
			if a.header.Get("Mcp-Session-Id") != "" {
				t.Error("a session id")
			}
			if c.want.code == "-32022" && (member(a.body, "error.data.supported") != `["2026-07-28"]` || member(a.body, "error.data.requested") == "") {
				t.Errorf("data: %s", a.body)
			}
		})
	}
	for _, method := range []string{"GET", "DELETE"} {
		if a := f.do(method, "", header{"Mcp-Protocol-Version": modernVersion}); a.status != 405 || a.header.Get("Allow") != "POST, OPTIONS" {
			t.Errorf("%s: %+v", method, a)
		}
	}
	if n := f.h.Sessions(); n != 0 {
		t.Errorf("%d sessions", n)
	}
	// Two headers that say the same are one, that differ are none.
	for second, status := range map[string]int{"tools/list": 200, "tools/call": 400} {
		resp := f.twice(list, good, "Mcp-Method", second)
		if resp != status {
			t.Errorf("Mcp-Method %s twice: %d", second, resp)
		}
	}
}

func TestLegacyStatuses(t *testing.T) {
	lenient := serve(t, nil)
	strict := serve(t, &Options{RequireSession: true})
	stateless := serve(t, &Options{Stateless: true})
	adopting := serve(t, &Options{AdoptUnknownSessions: true})
	listed := request("1", "tools/list", "")
	level := request("1", "logging/setLevel", `{"level":"info"}`)
	missing, gone, ok := want{400, "-32600", "1"}, want{404, "-32600", "1"}, want{200, "", "1"}
	for _, c := range []struct {
		name, body                           string
		header                               header
		lenient, strict, stateless, adopting want
	}{
		{"list without id", listed, nil, ok, missing, ok, ok},
		{"call without id", call("1", "echo", `{}`), nil, ok, missing, ok, ok},
		{"read without id", request("1", "resources/read", `{"uri":"note:a"}`), nil, ok, missing, ok, ok},
		{"setLevel without id", level, nil, missing, missing, want{200, "-32601", "1"}, missing},
		{"unknown method without id", request("1", "no/such", ""), nil, missing, missing, want{200, "-32601", "1"}, missing},
		{"initialized without id", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil, want{202, "-", ""}, want{400, "-32600", ""}, want{202, "-", ""}, want{202, "-", ""}},
		{"response without id", `{"jsonrpc":"2.0","id":1,"result":{}}`, nil, want{202, "-", ""}, missing, want{202, "-", ""}, want{202, "-", ""}},
		{"empty id", listed, header{"Mcp-Session-Id": ""}, ok, missing, ok, ok},
		{"unknown id", listed, header{"Mcp-Session-Id": "nope"}, gone, gone, ok, ok},
		{"unknown id, setLevel", level, header{"Mcp-Session-Id": "nope"}, gone, gone, want{200, "-32601", "1"}, gone},
		{"unknown id, notification", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, header{"Mcp-Session-Id": "nope"}, want{404, "-32600", ""}, want{404, "-32600", ""}, want{202, "-", ""}, want{202, "-", ""}},
		{"id with a blank", listed, header{"Mcp-Session-Id": "a b"}, gone, gone, ok, ok},
		{"endless id", listed, header{"Mcp-Session-Id": strings.Repeat("a", 129)}, gone, gone, ok, ok},
		{"unknown version", listed, header{"Mcp-Protocol-Version": "2099-01-01"}, missing, missing, missing, missing},
		{"unknown version with an id", listed, header{"Mcp-Protocol-Version": "2099-01-01", "Mcp-Session-Id": "nope"}, missing, missing, missing, missing},
		{"modern version with an id", listed, header{"Mcp-Protocol-Version": modernVersion, "Mcp-Session-Id": "nope"}, missing, missing, missing, missing},
		{"known version", listed, header{"Mcp-Protocol-Version": "2025-06-18"}, ok, missing, ok, ok},
		{"unknown version, initialize", strings.Replace(initialize, `"id":0`, `"id":1`, 1), header{"Mcp-Protocol-Version": "2099-01-01"}, missing, missing, missing, missing},
		{"bad initialize", request("1", "initialize", `{"protocolVersion":5}`), nil, want{200, "-32602", "1"}, want{200, "-32602", "1"}, ok, want{200, "-32602", "1"}},
	} {
		for name, x := range map[string]struct {
			f    *fixture
			want want
		}{"lenient": {lenient, c.lenient}, "strict": {strict, c.strict}, "stateless": {stateless, c.stateless}, "adopting": {adopting, c.adopting}} {
			t.Run(c.name+", "+name, func(t *testing.T) {
				a := x.f.do("POST", c.body, c.header)
				x.want.check(t, a)
				if a.header.Get("Mcp-Session-Id") != "" {
					t.Error("a session id")
				}
				if v := c.header["Mcp-Protocol-Version"]; v != "" && a.status == 400 && v != "2025-06-18" && !strings.Contains(member(a.body, "error.data.supported"), "2025-11-25") {
					t.Errorf("data: %s", a.body)
				}
			})
		}
	}
	for _, f := range []*fixture{lenient, strict, stateless, adopting} {
		if n := f.h.Sessions(); n != 0 {
			t.Errorf("%d sessions", n)
		}
	}
	for _, c := range []struct {
		f              *fixture
		method, accept string
		id             string
		status         int
	}{
		{lenient, "GET", "text/event-stream", "", 400}, {lenient, "GET", "text/event-stream", "nope", 404}, {lenient, "GET", "application/json", "nope", 406},
		{lenient, "GET", "text/html", "", 406}, {lenient, "GET", "-", "nope", 404}, {lenient, "DELETE", "-", "", 400}, {lenient, "DELETE", "-", "nope", 404},
		{stateless, "GET", "text/html", "", 405}, {stateless, "GET", "-", "nope", 405}, {stateless, "DELETE", "-", "nope", 405},
	} {
		h := header{"Accept": c.accept}
		if c.id != "" {
			h["Mcp-Session-Id"] = c.id
		}
		if a := c.f.do(c.method, "", h); a.status != c.status || c.status == 405 && a.header.Get("Allow") != "POST, OPTIONS" {
			t.Errorf("%+v: %d %s", c, a.status, a.body)
		}
	}
	if a := stateless.do("POST", initialize, nil); a.status != 200 || !strings.Contains(a.body, `"protocolVersion"`) || a.header.Get("Mcp-Session-Id") != "" {
		t.Errorf("stateless initialize: %+v", a)
	}
}

func TestPath(t *testing.T) {
	f := serve(t, nil)
	fixed := New(f.srv, &Options{Path: "/api/mcp"})
	for path, want := range map[string]int{"/api/mcp": 200, "/api/mcp/": 200, "/api": 404, "/api/mcp/x": 404, "/": 404} {
		if got := direct(fixed, "POST", path, request("1", "ping", "")); got.Code != want || want == 404 && member(got.Body.String(), "error.code") != "-32600" {
			t.Errorf("%s: %d %s", path, got.Code, got.Body)
		}
	}
	// A mux must not redirect.
	for _, path := range []string{"/mcp", "/mcp/"} {
		resp, err := f.ts.Client().Post(f.ts.URL+path, "application/json", strings.NewReader(request("1", "ping", "")))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != 200 || resp.Request.URL.Path != path {
			t.Errorf("%s: %d at %s", path, resp.StatusCode, resp.Request.URL)
		}
	}
}

func TestBatch(t *testing.T) {
	f := serve(t, nil)
	old := f.connect("2025-03-26")
	ping := func(n int) string { return request(fmt.Sprint(n), "ping", "") }
	a := old.post(`[` + ping(1) + `,{"jsonrpc":"2.0","method":"notifications/x"},` + ping(2) + `,5]`)
	if a.status != 200 || strings.Count(a.body, `"result":{}`) != 2 || !strings.Contains(a.body, "-32600") {
		t.Errorf("%d %s", a.status, a.body)
	}
	a = old.post(`[` + call("1", "steps", `{}`) + `,` + ping(2) + `]`)
	if len(a.events) != 4 || a.events[3].data[0] != '[' {
		t.Errorf("as a stream: %+v", a)
	}
	many := strings.Repeat(ping(1)+",", 100) + ping(1)
	new := f.connect("2025-06-18")
	for _, c := range []struct {
		name string
		c    *client
		body string
		want want
	}{
		{"notifications", old, `[{"jsonrpc":"2.0","method":"notifications/x"}]`, want{202, "-", ""}},
		{"responses", old, `[{"jsonrpc":"2.0","id":99,"result":{}}]`, want{202, "-", ""}},
		{"empty", old, `[]`, want{400, "-32600", "null"}},
		{"too many", old, `[` + many + `]`, want{400, "-32600", "null"}},
		{"with initialize", old, `[` + ping(1) + `,` + initialize + `]`, want{400, "-32600", "null"}},
		{"with a modern request", old, `[` + ping(1) + `,` + modernRequest("2", "tools/list", "") + `]`, want{400, "-32600", "null"}},
		{"later revision", new, `[` + ping(1) + `]`, want{400, "-32600", "null"}},
	} {
		t.Run(c.name, func(t *testing.T) { c.want.check(t, c.c.post(c.body)) })
	}
	// Without a session the revision that has them is meant where none is named.
	if a := f.do("POST", `[`+ping(1)+`]`, nil); a.status != 200 || a.body[0] != '[' {
		t.Errorf("without session: %d %s", a.status, a.body)
	}
	if a := f.do("POST", `[`+ping(1)+`]`, header{"Mcp-Protocol-Version": "2025-06-18"}); a.status != 400 {
		t.Errorf("without session, later revision: %d %s", a.status, a.body)
	}
	// A response in a batch reaches who waits for it.
	r := old.stream("POST", call("7", "ask", `{}`))
	m := r.message()
	a = old.post(`[{"jsonrpc":"2.0","id":` + member(m, "id") + `,"result":{"content":{"text":"batched"}}},` + ping(1) + `]`)
	if a.status != 200 || strings.Count(a.body, `"result"`) != 1 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if m := r.message(); !strings.Contains(m, "said batched") {
		t.Errorf("%s", m)
	}
	r.end()
}
