package mcphttp

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// Checks that come before any thought of MCP: Host and Origin.
func TestHostAndOrigin(t *testing.T) {
	const loopback, public = "127.0.0.1:4391", "192.0.2.7:443"
	for _, c := range []struct {
		name         string
		o            Options
		listen, host string
		header       header
		tls          bool
		remote       string
		want         int
	}{
		{name: "localhost", listen: loopback, host: "localhost:4391", want: 200},
		{name: "another port", listen: loopback, host: "localhost:9", want: 200},
		{name: "address", listen: loopback, host: "127.0.0.1:4391", want: 200},
		{name: "IPv6", listen: loopback, host: "[::1]:4391", want: 200},
		{name: "letters and dot", listen: loopback, host: "LocalHost.:4391", want: 200},
		{name: "another loopback address", listen: loopback, host: "127.0.0.2", want: 200},
		{name: "rebound name", listen: loopback, host: "evil.example.com", want: 403},
		{name: "rebound name and its origin", listen: loopback, host: "evil.example.com", header: header{"Origin": "http://evil.example.com"}, want: 403},
		{name: "name that begins well", listen: loopback, host: "localhost.evil.example.com", want: 403},
		{name: "name that ends well", listen: loopback, host: "evil-localhost", want: 403},
		{name: "user in host", listen: loopback, host: "localhost@evil.example.com", want: 403},
		{name: "empty host", listen: loopback, host: "", want: 403},
		{name: "forwarded host of a stranger", listen: loopback, host: "evil.example.com", header: header{"X-Forwarded-Host": "localhost"}, want: 403},
		{name: "public, any host", listen: public, host: "mcp.example.com", want: 200},
		{name: "public, listed", o: Options{Hosts: []string{"mcp.example.com"}}, listen: public, host: "MCP.example.com:443", want: 200},
		{name: "public, not listed", o: Options{Hosts: []string{"mcp.example.com"}}, listen: public, host: "other.example.com", want: 403},
		{name: "public, localhost is not listed", o: Options{Hosts: []string{"mcp.example.com"}}, listen: public, host: "localhost", want: 403},
		{name: "listed on loopback", o: Options{Hosts: []string{"mcp.example.com"}}, listen: loopback, host: "mcp.example.com", want: 200},
		{name: "localhost with a list", o: Options{Hosts: []string{"mcp.example.com"}}, listen: loopback, host: "localhost", want: 200},
		{name: "port listed", o: Options{Hosts: []string{"mcp.example.com:8443"}}, listen: public, host: "mcp.example.com:8443", want: 200},
		{name: "other port than listed", o: Options{Hosts: []string{"mcp.example.com:8443"}}, listen: public, host: "mcp.example.com", want: 403},
		{name: "names below", o: Options{Hosts: []string{"*.example.com"}}, listen: public, host: "a.b.example.com", want: 200},
		{name: "not the name itself", o: Options{Hosts: []string{"*.example.com"}}, listen: public, host: "example.com", want: 403},
		{name: "any", o: Options{Hosts: []string{"*"}}, listen: loopback, host: "whatever", want: 200},

		{name: "no origin", listen: loopback, host: "localhost", want: 200},
		{name: "own origin", listen: loopback, host: "localhost:4391", header: header{"Origin": "http://localhost:4391"}, want: 200},
		{name: "page of this machine", listen: loopback, host: "localhost:4391", header: header{"Origin": "http://localhost:6274"}, want: 200},
		{name: "page of this machine over TLS", listen: loopback, host: "localhost:4391", header: header{"Origin": "https://127.0.0.1:1"}, want: 200},
		{name: "strange origin", listen: loopback, host: "localhost:4391", header: header{"Origin": "http://evil.example.com"}, want: 403},
		{name: "null origin", listen: loopback, host: "localhost:4391", header: header{"Origin": "null"}, want: 403},
		{name: "empty origin", listen: loopback, host: "localhost:4391", header: header{"Origin": " "}, want: 403},
		{name: "no origin at all", listen: loopback, host: "localhost:4391", header: header{"Origin": "localhost"}, want: 403},
		{name: "origin with a path", listen: loopback, host: "localhost:4391", header: header{"Origin": "http://localhost:4391/x"}, want: 403},
		{name: "origin with a user", listen: loopback, host: "localhost:4391", header: header{"Origin": "http://localhost@evil.example.com"}, want: 403},
		{name: "own origin, default port", listen: public, host: "mcp.example.com", tls: true, header: header{"Origin": "https://mcp.example.com"}, want: 200},
		{name: "own origin, port written", listen: public, host: "mcp.example.com:443", tls: true, header: header{"Origin": "https://mcp.example.com"}, want: 200},
		{name: "other scheme", listen: public, host: "mcp.example.com", tls: true, header: header{"Origin": "http://mcp.example.com"}, want: 403},
		{name: "other port", listen: public, host: "mcp.example.com", tls: true, header: header{"Origin": "https://mcp.example.com:8443"}, want: 403},
		{name: "local page of a remote user", listen: public, host: "mcp.example.com", header: header{"Origin": "http://localhost:3000"}, want: 403},
		{name: "listed origin", o: Options{Origins: []string{"https://App.example.com"}}, listen: public, host: "m", header: header{"Origin": "https://app.example.com"}, want: 200},
		{name: "listed with a slash", o: Options{Origins: []string{"https://app.example.com/"}}, listen: public, host: "m", header: header{"Origin": "https://app.example.com"}, want: 200},
		{name: "not quite the listed", o: Options{Origins: []string{"https://app.example.com"}}, listen: public, host: "m", header: header{"Origin": "https://app.example.com.evil"}, want: 403},
		{name: "scheme", o: Options{Origins: []string{"chrome-extension://*"}}, listen: loopback, host: "localhost", header: header{"Origin": "chrome-extension://abcdef"}, want: 200},
		{name: "other scheme than listed", o: Options{Origins: []string{"chrome-extension://*"}}, listen: loopback, host: "localhost", header: header{"Origin": "moz-extension://abcdef"}, want: 403},
		{name: "all origins", o: Options{Origins: []string{"*"}}, listen: loopback, host: "localhost", header: header{"Origin": "https://x.example"}, want: 200},
		{name: "all origins, but null", o: Options{Origins: []string{"*"}}, listen: loopback, host: "localhost", header: header{"Origin": "null"}, want: 403},

		{name: "behind a proxy", o: Options{TrustProxy: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Hosts: []string{"mcp.example.com"}}, listen: public, remote: "10.1.2.3:999",
			host: "backend:8080", header: header{"X-Forwarded-Host": "mcp.example.com", "X-Forwarded-Proto": "https", "Origin": "https://mcp.example.com"}, want: 200},
		{name: "the proxy's word is the last", o: Options{TrustProxy: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Hosts: []string{"mcp.example.com"}}, listen: public, remote: "10.1.2.3:999",
			host: "backend:8080", header: header{"X-Forwarded-Host": "mcp.example.com, evil.example.com"}, want: 403},
		{name: "not from the proxy", o: Options{TrustProxy: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Hosts: []string{"mcp.example.com"}}, listen: public, remote: "192.0.2.1:999",
			host: "backend:8080", header: header{"X-Forwarded-Host": "mcp.example.com"}, want: 403},
		{name: "proxy on IPv6", o: Options{TrustProxy: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Hosts: []string{"mcp.example.com"}}, listen: public, remote: "[::ffff:10.1.2.3]:999",
			host: "backend:8080", header: header{"X-Forwarded-Host": "mcp.example.com"}, want: 200},
	} {
		for _, method := range []string{"POST", "GET", "DELETE", "OPTIONS"} {
			t.Run(c.name+" "+method, func(t *testing.T) {
				o := c.o
				h := New(newServer(&fixture{}), &o)
				r := httptest.NewRequest(method, "/mcp", strings.NewReader(request("1", "ping", "")))
				r.Host = c.host
				if c.remote != "" {
					r.RemoteAddr = c.remote
				}
				if !c.tls {
					r.TLS = nil
				} else {
					r = httptest.NewRequest(method, "https://x/mcp", strings.NewReader(request("1", "ping", "")))
					r.Host = c.host
				}
				for k, v := range c.header {
					r.Header.Set(k, v)
				}
				a, err := net.ResolveTCPAddr("tcp", c.listen)
				if err != nil {
					t.Fatal(err)
				}
				r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(a)))
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				passed := w.Code != 403
				if want := c.want != 403; passed != want {
					t.Errorf("status %d, want %d: %s", w.Code, c.want, w.Body)
				}
				if !passed && (w.Header().Get("Content-Type") != "application/json" || member(w.Body.String(), "error.code") != "-32600" || member(w.Body.String(), "id") != "") {
					t.Errorf("body %s", w.Body)
				}
			})
		}
	}
}

func TestTwoOrigins(t *testing.T) {
	f := serve(t, nil)
	req, _ := http.NewRequest("POST", f.ts.URL+"/mcp", strings.NewReader(request("1", "ping", "")))
	req.Header["Origin"] = []string{f.ts.URL, "http://evil.example.com"}
	resp, err := f.ts.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 403 {
		t.Errorf("status %d", resp.StatusCode)
	}
}

// That any host is let in is said once.
func TestAnyHostIsReported(t *testing.T) {
	n := 0
	h := New(newServer(&fixture{}), &Options{Report: func(_ context.Context, err error) {
		if strings.Contains(err.Error(), "Hosts is empty") {
			n++
		}
	}})
	for range 3 {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/mcp", nil))
	}
	if n != 1 {
		t.Errorf("reported %d times", n)
	}
}

// A request with a good token may come from any page; a token that is none opens nothing.
func TestOriginWithToken(t *testing.T) {
	protect := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if t := r.Header.Get("Authorization"); t == "Bearer bad" {
				w.WriteHeader(401)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	principal := func(r *http.Request) (string, time.Time) {
		if r.Header.Get("Authorization") == "Bearer good" {
			return "ada", time.Time{}
		}
		return "", time.Time{}
	}
	f := serve(t, &Options{OriginWithToken: true, Protect: protect, Principal: principal, CORS: true})
	for _, c := range []struct {
		token string
		want  int
	}{{"Bearer good", 200}, {"Bearer bad", 401}, {"Bearer unknown", 403}, {"-", 403}} {
		a := f.do("POST", request("1", "ping", ""), header{"Origin": "https://anywhere.example", "Authorization": c.token})
		if a.status != c.want {
			t.Errorf("%s: %d %s", c.token, a.status, a.body)
		}
	}
	if a := f.do("OPTIONS", "", header{"Origin": "https://anywhere.example", "Access-Control-Request-Method": "POST"}); a.status != 204 {
		t.Errorf("preflight: %d", a.status)
	}
}

func TestCORS(t *testing.T) {
	f := serve(t, &Options{CORS: true, Origins: []string{"https://app.example.com"}})
	origin := header{"Origin": "https://app.example.com"}
	a := f.do("OPTIONS", "", header{"Origin": "https://app.example.com", "Access-Control-Request-Method": "POST",
		"Access-Control-Request-Headers": "Mcp-Param-Region, x-evil, mcp-param-two, mcp-param-bad name"})
	allowed := a.header.Get("Access-Control-Allow-Headers")
	if a.status != 204 || a.body != "" || a.header.Get("Access-Control-Allow-Origin") != "https://app.example.com" || a.header.Get("Access-Control-Max-Age") != "600" ||
		a.header.Get("Access-Control-Allow-Methods") != "POST, GET, DELETE, OPTIONS" || !strings.Contains(strings.Join(a.header.Values("Vary"), ","), "Origin") {
		t.Errorf("preflight: %+v", a)
	}
	for _, name := range []string{"content-type", "accept", "authorization", "dpop", "mcp-protocol-version", "mcp-session-id", "mcp-method", "mcp-name", "last-event-id",
		"traceparent", "tracestate", "baggage", "mcp-param-region", "mcp-param-two"} {
		if !strings.Contains(", "+allowed+",", ", "+name+",") {
			t.Errorf("%s is not allowed: %s", name, allowed)
		}
	}
	if strings.Contains(allowed, "evil") || strings.Contains(allowed, "bad") {
		t.Errorf("allowed: %s", allowed)
	}
	for name, a := range map[string]answer{
		"result":  f.do("POST", initialize, origin),
		"error":   f.do("POST", "{", origin),
		"missing": f.do("GET", "", header{"Origin": "https://app.example.com", "Mcp-Session-Id": "nope"}),
	} {
		exposed := a.header.Get("Access-Control-Expose-Headers")
		if a.header.Get("Access-Control-Allow-Origin") != "https://app.example.com" || a.header.Get("Vary") != "Origin" || !strings.Contains(exposed, "Mcp-Session-Id") ||
			!strings.Contains(exposed, "WWW-Authenticate") || a.header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: %+v", name, a.header)
		}
	}
	if a := f.do("OPTIONS", "", header{"Origin": "https://evil.example.com"}); a.status != 403 || a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("strange origin: %+v", a)
	}
	off := serve(t, nil)
	if a := off.do("OPTIONS", "", nil); a.status != 405 || a.header.Get("Allow") == "" || a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("off: %+v", a)
	}
}

func FuzzOrigin(f *testing.F) {
	for _, s := range []string{"http://localhost:6274", "null", "https://a.example", "chrome-extension://abc", "http://[::1]:1", "http://localhost@evil", "://", "http://a:b:c"} {
		f.Add(s, "localhost:1")
	}
	f.Fuzz(func(t *testing.T, s, host string) {
		name, port := splitHost(host)
		if strings.ContainsAny(name, "/@?#\\ \t") || len(port) > 5 {
			t.Errorf("host %q is %q, %q", host, name, port)
		}
		o, ok := parseOrigin(s)
		if !ok {
			return
		}
		if o.scheme == "" || o.host == "" || strings.ContainsAny(o.host, "/@?#\\ ") {
			t.Errorf("origin %q is %+v", s, o)
		}
		if again, ok := parseOrigin(o.text); !ok || again != o {
			t.Errorf("%q: %+v, then %+v", s, o, again)
		}
		if o.local() && !isLocal(o.host) {
			t.Errorf("%q is local", s)
		}
	})
}
