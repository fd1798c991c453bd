package field

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tandem-rpc/tandem/mcp"
	"github.com/tandem-rpc/tandem/mcp/mcphttp"
)

// site is an MCP server on a port of this machine.
type site struct {
	t   *testing.T
	h   *mcphttp.Handler
	url string

	mu      sync.Mutex
	reports []string
}

// fields are headers, in pairs; a value "-" takes one away.
type fields []string

// reply is a response that was read to its end.
type reply struct {
	status int
	header http.Header
	body   string
}

func host(t *testing.T, s *mcp.Server, o *mcphttp.Options, around ...func(http.Handler) http.Handler) *site {
	t.Helper()
	k := &site{t: t}
	if o == nil {
		o = new(mcphttp.Options)
	}
	o.Grace = time.Millisecond
	o.Report = func(_ context.Context, err error) {
		k.mu.Lock()
		k.reports = append(k.reports, err.Error())
		k.mu.Unlock()
	}
	k.h = mcphttp.New(s, o)
	mux := http.NewServeMux()
	k.h.Register(mux, "/mcp")
	k.h.RegisterSSE(mux, "/sse", "/messages")
	var outer http.Handler = mux
	for _, f := range around {
		outer = f(outer)
	}
	ts := httptest.NewServer(outer)
	k.url = ts.URL + "/mcp"
	t.Cleanup(func() {
		ctx, stop := context.WithTimeout(context.Background(), patience)
		defer stop()
		if err := k.h.Shutdown(ctx); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		ts.CloseClientConnections()
		ts.Close()
	})
	return k
}

// at is the same site at another path.
func (k *site) at(path string) *site {
	return &site{t: k.t, h: k.h, url: strings.TrimSuffix(k.url, "/mcp") + path}
}

func (k *site) reported() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return strings.Join(k.reports, "\n")
}

// open sends a request and returns when the header of the response is there.
func (k *site) open(ctx context.Context, method, body string, f fields) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, k.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i+1 < len(f); i += 2 {
		switch {
		case f[i] == "Host":
			r.Host = f[i+1]
		case f[i+1] == "-":
			r.Header.Del(f[i])
		default:
			r.Header.Set(f[i], f[i+1])
		}
	}
	return http.DefaultClient.Do(r)
}

// do reads the response too.
func (k *site) do(method, body string, f ...string) reply {
	k.t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	resp, err := k.open(ctx, method, body, f)
	if err != nil {
		k.t.Fatalf("%s %s: %v", method, clip(body), err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		k.t.Fatalf("%s %s: %v", method, clip(body), err)
	}
	return reply{resp.StatusCode, resp.Header, string(b)}
}

// begin makes a session and returns its id.
func (k *site) begin(version string, f ...string) string {
	k.t.Helper()
	r := k.do("POST", strings.Replace(mcpHello, "2025-06-18", version, 1), f...)
	id := r.header.Get("Mcp-Session-Id")
	if r.status != 200 || id == "" {
		k.t.Fatalf("initialize: %d %s", r.status, r.body)
	}
	if r := k.do("POST", mcpReady, append(f, "Mcp-Session-Id", id)...); r.status != 202 || r.body != "" {
		k.t.Fatalf("152: %d %q", r.status, r.body)
	}
	return id
}

// stream opens a stream, whose lines the function returned gives out; "" is the end.
func (k *site) stream(method, body string, f ...string) (line func() string, end func()) {
	k.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	resp, err := k.open(ctx, method, body, f)
	if err != nil {
		stop()
		k.t.Fatal(err)
	}
	if ct := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || ct != "text/event-stream" {
		stop()
		k.t.Fatalf("%s %s: %d, %s", method, clip(body), resp.StatusCode, ct)
	}
	late := time.AfterFunc(patience, stop)
	lines := bufio.NewReader(resp.Body)
	line = func() string {
		for {
			text, err := lines.ReadString('\n')
			if err != nil {
				return ""
			}
			if text = strings.TrimSuffix(text, "\n"); text != "" && text != ": " {
				return text
			}
		}
	}
	end = func() { late.Stop(); stop(); _ = resp.Body.Close() }
	k.t.Cleanup(end)
	return line, end
}

// code is the code of the error in a body, "ok" for a result, and the id beside it; "" if there is no body.
func (r reply) code() string {
	if r.body == "" {
		return ""
	}
	var m struct {
		ID     json.RawMessage
		Result json.RawMessage
		Error  struct{ Code int }
	}
	if json.Unmarshal([]byte(r.body), &m) != nil {
		return r.body
	}
	id := "none"
	if m.ID != nil {
		id = string(m.ID)
	}
	if m.Result != nil {
		return id + ":ok"
	}
	return fmt.Sprint(id, ":", m.Error.Code)
}

// Each message that cannot be served has a status and a JSON-RPC error, before anything else is said, and the next one is served.
func TestHTTPRefusals(t *testing.T) {
	k := host(t, tools(), nil)
	id := k.begin("2025-06-18")
	deep := strings.Repeat("[", 2_000_000) + strings.Repeat("]", 2_000_000)
	session, stranger := fields{"Mcp-Session-Id", id}, fields{"Mcp-Session-Id", "nope"}
	for _, c := range []struct {
		name, method, body string
		f                  fields
		status             int
		want               string
	}{
		{"15: comma behind", "POST", request("2", "tools/list", "") + ",", session, 400, "none:-32700"},
		{"15: two messages", "POST", request("2", "tools/list", "") + "\n" + request("3", "tools/list", ""), session, 400, "none:-32700"},
		{"16: positional params", "POST", request("9", "ping", `["a","b"]`), session, 200, "9:-32602"},
		{"16: unknown method", "POST", request("9", "no/such", ""), session, 200, "9:-32601"},
		{"17: no method", "POST", `{"jsonrpc":"2.0","id":1,"params":{}}`, session, 400, "1:-32600"},
		{"17: wrong version", "POST", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, session, 400, "1:-32600"},
		{"17: scalar", "POST", `5`, session, 400, "none:-32600"},
		{"17: no JSON", "POST", `{bad`, session, 400, "none:-32700"},
		{"17: nothing", "POST", ``, session, 400, "none:-32700"},
		{"18: invalid UTF-8", "POST", "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"t\":\"x\xff\xfe\"}}}", session, 400, "none:-32700"},
		{"33: id null", "POST", request("null", "tools/list", "{}"), session, 400, "null:-32600"},
		{"34: id that cannot be read", "POST", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, session, 400, "none:-32600"},
		{"34: no such path", "POST", request("1", "ping", ""), fields{"Origin", "null"}, 403, "none:-32600"},
		{"35: unknown notification", "POST", note("notifications/whatever", ""), session, 202, ""},
		{"42: error of nothing", "POST", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`, session, 202, ""},
		{"47: response to nothing", "POST", `{"jsonrpc":"2.0","id":424242,"result":{}}`, session, 202, ""},
		{"49: batch", "POST", "[" + ping + "," + ping + "]", session, 400, "null:-32600"},
		{"50: batch of notifications", "POST", "[" + mcpReady + "," + mcpReady + "]", fields{"Mcp-Protocol-Version", "2025-03-26"}, 202, ""},
		{"83: ping without session", "POST", ping, nil, 200, "1:ok"},
		{"91: unknown version", "POST", strings.Replace(mcpHello, "2025-06-18", "2099-01-01", 1), nil, 200, `"hello":ok`},
		{"91: version is a number", "POST", strings.Replace(mcpHello, `"2025-06-18"`, "5", 1), nil, 200, `"hello":-32602`},
		{"95: discover", "POST", request("1", "server/discover", "{}"), session, 200, "1:-32601"},
		{"145: unknown session, POST", "POST", request("1", "tools/list", ""), stranger, 404, "1:-32600"},
		{"145: unknown session, GET", "GET", "", stranger, 404, "none:-32600"},
		{"145: unknown session, DELETE", "DELETE", "", stranger, 404, "none:-32600"},
		{"145: unknown session and a token", "POST", request("1", "tools/list", ""), append(stranger, "Authorization", "Bearer x"), 404, "1:-32600"},
		{"146: unknown session, stream wanted", "POST", call("1", "progress", ""), append(stranger, "Accept", "text/event-stream"), 404, "1:-32600"},
		{"146: wrong Accept", "POST", call("1", "progress", ""), append(session, "Accept", "text/html"), 406, "1:-32600"},
		{"148: no Accept", "POST", mcpReady, append(session, "Accept", "-"), 202, ""},
		{"152: notification", "POST", mcpReady, session, 202, ""},
		{"153: result without id", "POST", `{"jsonrpc":"2.0","result":{}}`, session, 202, ""},
		{"155: Host", "GET", "", append(session, "Host", "evil.example"), 403, "none:-32600"},
		{"155: Host of an old client", "POST", ping, fields{"Host", "localhost.evil.example"}, 403, "none:-32600"},
		{"155: Origin", "POST", mcpHello, fields{"Origin", "http://evil.example"}, 403, "none:-32600"},
		{"202: Host", "POST", mcpHello, fields{"Host", "attacker.example"}, 403, "none:-32600"},
		{"202: Host with our port", "POST", mcpHello, fields{"Host", "attacker.example:" + k.url[strings.LastIndex(k.url, ":")+1:len(k.url)-4]}, 403, "none:-32600"},
		{"199: brackets", "POST", deep, session, 400, "none:-32700"},
		{"199: brackets in params", "POST", request("1", "ping", `{"a":`+deep[:3_999_000]+"}"), session, 400, "none:-32700"},
		{"199: 40,000 levels", "POST", request("1", "tools/call", `{"name":"echo","arguments":{"t":`+strings.Repeat("[", 40_000)+strings.Repeat("]", 40_000)+`}}`), session, 400, "none:-32700"},
		{"200: NUL at the end of a name", "POST", `{"jsonrpc":"2.0","id":1,"method":"ping","method\u0000":"tools/call"}`, session, 200, "1:ok"},
		{"204: unknown tool", "POST", call("3", "nope", ""), session, 200, "3:-32602"},
		{"24: too large", "POST", strings.Repeat(" ", mcphttp.DefaultMaxBody+1), session, 413, "none:-32600"},
		{"25: header without end", "POST", ping, append(session, "X-A", strings.Repeat("9", 100_000)), 431, "none:-32600"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := k.do(c.method, c.body, c.f...)
			if got := r.code(); r.status != c.status || got != c.want {
				t.Errorf("got %d %s, want %d %s", r.status, clip(got), c.status, c.want)
			}
			if ct := r.header.Get("Content-Type"); r.body != "" && ct != "application/json" {
				t.Errorf("Content-Type %q", ct)
			}
			if strings.Contains(r.body, "nope") && !strings.Contains(c.name, "tool") {
				t.Errorf("it repeats what was sent: %s", r.body)
			}
			if r := k.do("POST", ping, "Mcp-Session-Id", id); r.code() != "1:ok" {
				t.Errorf("afterwards: %d %s", r.status, r.body)
			}
		})
	}
}

// One id for everything, at once and in one session: everybody gets what is theirs, as JSON and as streams.
func TestHTTPSameIDs(t *testing.T) {
	s := tools()
	s.Caller = func(ctx context.Context, _ string, a mcp.Arguments) (any, error) {
		v, _ := a.Text("v")
		if strings.HasSuffix(v, "s") {
			_ = mcp.Progress(ctx, 1, 2, v)
		}
		time.Sleep(time.Millisecond)
		return mcp.TextResult("<" + v + ">"), nil
	}
	k := host(t, s, nil)
	id := k.begin("2025-06-18")
	for round := range 5 {
		var wg sync.WaitGroup
		for i := range 12 {
			wg.Go(func() {
				v := fmt.Sprint(round, "-", i, []string{"s", "j"}[i%2])
				r := k.do("POST", request("1", "tools/call", `{"name":"x","arguments":{"v":"`+v+`"},"_meta":{"progressToken":1}}`), "Mcp-Session-Id", id)
				if r.status != 200 || strings.Count(r.body, "<"+v+">") != 1 || strings.Count(r.body, "<") != 1 || strings.Count(r.body, `"id":1`) != 1 {
					t.Errorf("44: %s: %d %s", v, r.status, r.body)
				}
			})
		}
		wg.Wait()
	}
}

// A session is of who began it: for others it is not there, whatever they do.
func TestHTTPSessionsHaveOwners(t *testing.T) {
	k := host(t, tools(), &mcphttp.Options{Principal: func(r *http.Request) (string, time.Time) { return r.Header.Get("X-Who"), time.Time{} }})
	id := k.begin("2025-06-18", "X-Who", "ada")
	line, _ := k.stream("GET", "", "X-Who", "ada", "Mcp-Session-Id", id)
	_ = line
	for _, who := range []string{"bob", "-", "ADA"} {
		for _, c := range []struct{ method, body string }{
			{"POST", request("1", "tools/list", "")}, {"POST", mcpReady}, {"POST", `{"jsonrpc":"2.0","id":1,"result":{}}`}, {"GET", ""}, {"DELETE", ""},
		} {
			if r := k.do(c.method, c.body, "X-Who", who, "Mcp-Session-Id", id); r.status != 404 {
				t.Errorf("156: %s %s of %s: %d %s", c.method, c.body, who, r.status, r.body)
			}
		}
	}
	if r := k.do("POST", request("1", "tools/list", ""), "X-Who", "ada", "Mcp-Session-Id", id); r.status != 200 {
		t.Errorf("156: the owner: %d %s", r.status, r.body)
	}
}

// What a stream is made of: one line of data an event, ids and priming only for those who know them, and whoever comes back is let in.
func TestHTTPStreams(t *testing.T) {
	s := tools()
	s.ListChanged = true
	k := host(t, s, nil)
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		t.Run("161: "+version, func(t *testing.T) {
			id := k.begin(version)
			body := request("1", "tools/call", `{"name":"progress","arguments":{},"_meta":{"progressToken":"a\u2028b\u0085c"}}`)
			r := k.do("POST", body, "Mcp-Session-Id", id, "Accept", "text/event-stream")
			primed := false
			messages := 0
			for _, block := range strings.Split(strings.TrimSuffix(r.body, "\n\n"), "\n\n") {
				has := map[string]string{}
				for line := range strings.SplitSeq(block, "\n") {
					name, value, ok := strings.Cut(line, ": ")
					if _, twice := has[name]; !ok || twice || strings.ContainsAny(line, "\r\ufeff") {
						t.Errorf("164: line %q of %q", line, block)
					}
					has[name] = value
				}
				if data := has["data"]; data != "" {
					messages++
					if !json.Valid([]byte(data)) || has["event"] != "message" {
						t.Errorf("164: %q", block)
					}
				} else if _, ok := has["data"]; ok {
					primed = true
				}
			}
			if want := version >= "2025-11-25"; primed != want || messages != 4 {
				t.Errorf("161: primed %v, %d messages: %s", primed, messages, r.body)
			}
		})
	}
	t.Run("159: a second GET", func(t *testing.T) {
		id := k.begin("2025-06-18")
		for range 5 { // the streams before are not closed, as if their clients had lost the network
			line, _ := k.stream("GET", "", "Mcp-Session-Id", id)
			s.Changed(mcp.Tools)
			for text := ""; !strings.Contains(text, "list_changed"); {
				if text = line(); text == "" {
					t.Fatal("159: the stream ended")
				}
			}
		}
	})
	t.Run("72: the endpoint of the old transport", func(t *testing.T) {
		line, end := k.at("/sse").stream("GET", "")
		first, endpoint := line(), line()
		if first != "event: endpoint" || !strings.HasPrefix(endpoint, "data: /messages?sessionId=") {
			t.Fatalf("72: %q %q", first, endpoint)
		}
		old := k.at(strings.TrimPrefix(endpoint, "data: "))
		old.do("POST", mcpHello)
		old.do("POST", mcpReady)
		s.Changed(mcp.Tools)
		for seen := ""; !strings.Contains(seen, "list_changed"); {
			if seen = line(); seen == "" || strings.Contains(seen, "endpoint") {
				t.Fatalf("72: %q", seen)
			}
		}
		end()
	})
}

// hiding is the writer of a middleware that counts bytes, and tells what it wraps.
type hiding struct {
	http.ResponseWriter
	written *bytes.Buffer
}

func (h hiding) Write(p []byte) (int, error) { h.written.Write(p); return h.ResponseWriter.Write(p) }
func (h hiding) Unwrap() http.ResponseWriter { return h.ResponseWriter }
func hidden(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(hiding{w, new(bytes.Buffer)}, r) })
}

// Events leave at once, also through middleware and with the traffic logged.
func TestHTTPEventsAreNotHeldBack(t *testing.T) {
	s := tools()
	s.ListChanged = true
	s.Caller = func(ctx context.Context, _ string, _ mcp.Arguments) (any, error) {
		err := mcp.Progress(ctx, 1, 2, "")
		<-ctx.Done()
		return nil, err
	}
	k := host(t, s, &mcphttp.Options{Tap: devNull{}}, hidden, hidden)
	id := k.begin("2025-11-25")
	line, _ := k.stream("GET", "", "Mcp-Session-Id", id)
	for range 3 {
		s.Changed(mcp.Tools)
		for text := ""; !strings.Contains(text, "list_changed"); {
			if text = line(); text == "" {
				t.Fatal("206: nothing came")
			}
		}
	}
	// A request that goes on: its first event is there before it ends.
	line, end := k.stream("POST", request("1", "tools/call", `{"name":"slow","arguments":{},"_meta":{"progressToken":1}}`), "Mcp-Session-Id", id, "Accept", "text/event-stream")
	defer end()
	for text := ""; !strings.Contains(text, `"progress":1`); {
		if text = line(); text == "" {
			t.Fatal("206: no progress")
		}
	}
	k.do("POST", note("notifications/cancelled", `{"requestId":1}`), "Mcp-Session-Id", id)
	for line() != "" { // what was cancelled ends without an answer
	}
}

type devNull struct{}

func (devNull) Inbound([]byte)  {}
func (devNull) Outbound([]byte) {}
