package inspect

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestWhoMaySee(t *testing.T) {
	w := newWorld(t, nil)
	host := strings.Split(strings.TrimPrefix(w.url, "http://"), "/")[0]
	port := host[strings.LastIndex(host, ":"):]
	path := "/" + w.page.token + "/"
	for _, tt := range []struct {
		name, method, path, host string
		header                   map[string]string
		status                   int
	}{
		{"the page", "GET", path, host, nil, 200},
		{"its head", "HEAD", path, host, nil, 200},
		{"by address", "GET", path, "127.0.0.1" + port, nil, 200},
		{"by IPv6 address", "GET", path, "[::1]" + port, nil, 200},
		{"capitals", "GET", path, "LocalHost" + port, nil, 200},
		{"without port", "GET", path, "localhost", nil, 200},
		{"from itself", "GET", path, host, map[string]string{"Origin": "http://" + host, "Sec-Fetch-Site": "same-origin"}, 200},
		{"typed in", "GET", path, host, map[string]string{"Sec-Fetch-Site": "none"}, 200},

		{"no token", "GET", "/", host, nil, 404},
		{"another token", "GET", "/" + strings.Repeat("0", len(w.page.token)) + "/", host, nil, 404},
		{"part of it", "GET", "/" + w.page.token[:len(w.page.token)-1] + "/", host, nil, 404},
		{"token in the query", "GET", "/?" + w.page.token, host, nil, 404},
		{"no token for the events", "GET", "/events", host, nil, 404},
		{"anything else", "GET", path + "page.js", host, nil, 404},
		{"climbing", "GET", path + "../../etc/passwd", host, nil, 404},
		{"post", "POST", path, host, nil, 405},
		{"post of events", "POST", path + "events", host, nil, 405},
		{"delete", "DELETE", path, host, nil, 405},
		{"preflight", "OPTIONS", path, host, nil, 405},
		{"rebound name", "GET", path, "evil.example" + port, nil, 403},
		{"rebound name that looks right", "GET", path, "localhost.evil.example" + port, nil, 403},
		{"another address", "GET", path, "192.0.2.1" + port, nil, 403},
		{"other origin", "GET", path, host, map[string]string{"Origin": "http://evil.example"}, 403},
		{"other port", "GET", path, host, map[string]string{"Origin": "http://localhost:1"}, 403},
		{"null origin", "GET", path, host, map[string]string{"Origin": "null"}, 403},
		{"https of the same", "GET", path, host, map[string]string{"Origin": "https://" + host}, 403},
		{"in a frame of another site", "GET", path, host, map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"same site is not same origin", "GET", path + "events", host, map[string]string{"Sec-Fetch-Site": "same-site"}, 403},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), tt.method, "http://"+host+tt.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.URL.Path = tt.path
			r.Host = tt.host
			for name, value := range tt.header {
				r.Header.Set(name, value)
			}
			res, err := w.client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			body, _ := io.ReadAll(res.Body)
			if res.StatusCode != tt.status {
				t.Errorf("status %d, want %d", res.StatusCode, tt.status)
			}
			if strings.Contains(string(body), w.page.token) {
				t.Error("the answer has the token in it")
			}
			if csp := res.Header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'; script-src 'sha256-") ||
				res.Header.Get("Referrer-Policy") != "no-referrer" || res.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("headers %v", res.Header)
			}
		})
	}
}

// TestDocument: the page is whole and loads nothing.
func TestDocument(t *testing.T) {
	document, policy := assemble()
	page := string(document)
	for _, never := range []string{"/*STYLE*/", "/*SCRIPT*/", "http://", "https://", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", " style=", " onclick"} {
		if strings.Contains(strings.ReplaceAll(page, "http://www.w3.org/2000/svg", ""), never) {
			t.Errorf("the page has %q", never)
		}
	}
	if strings.Count(page, "<script>") != 1 || strings.Count(page, "src=") > 0 {
		t.Error("the page has more than its own script")
	}
	if strings.Contains(policy, "unsafe") {
		t.Errorf("policy %s", policy)
	}
}

type elsewhere struct{ net.Listener }

func (elsewhere) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80} }

func TestLoopbackOnly(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := New(nil)
	if err := p.Serve(t.Context(), elsewhere{ln}); !errors.Is(err, ErrNotLoopback) {
		t.Errorf("Serve elsewhere: %v", err)
	}
	if _, err := ln.Accept(); err == nil {
		t.Error("the listener is open")
	}
	// In a server of one's own: what counts is where the request came in.
	for addr, status := range map[net.Addr]int{
		nil: 403, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80}: 403, &net.UnixAddr{Name: "x"}: 403, &net.TCPAddr{IP: net.IPv6loopback, Port: 80}: 200,
	} {
		r := httptest.NewRequest("GET", "http://localhost/"+p.token+"/", nil)
		if addr != nil {
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, addr))
		}
		rec := httptest.NewRecorder()
		p.ServeHTTP(rec, r)
		if rec.Code != status {
			t.Errorf("at %v: %d", addr, rec.Code)
		}
	}
}

func TestTokensDiffer(t *testing.T) {
	a, b := New(nil), New(nil)
	if a.token == b.token || len(a.token) != 32 {
		t.Errorf("tokens %q and %q", a.token, b.token)
	}
	if u := a.URL(&net.TCPAddr{IP: net.IPv6loopback, Port: 7}); u != "http://[::1]:7/"+a.token+"/" {
		t.Error(u)
	}
	if u := a.URL(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7}); u != "http://localhost:7/"+a.token+"/" {
		t.Error(u)
	}
}
