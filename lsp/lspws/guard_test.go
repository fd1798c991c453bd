package lspws

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestAdmit(t *testing.T) {
	loopback, other := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80}
	file := &net.UnixAddr{Name: "/run/s", Net: "unix"}
	for _, c := range []struct {
		name    string
		at      net.Addr
		host    string
		origins []string // of the request
		o       Options
		want    error
	}{
		{"a program", loopback, "127.0.0.1:8080", nil, Options{}, nil},
		{"a program, by name", loopback, "localhost:8080", nil, Options{}, nil},
		{"a program, IPv6", loopback, "[::1]:8080", nil, Options{}, nil},
		{"a program, trailing dot", loopback, "LOCALHOST.:8080", nil, Options{}, nil},
		{"no host", loopback, "", nil, Options{}, errHost},
		{"a host that is none", loopback, "a b", nil, Options{}, errHost},
		{"a host with a path", loopback, "localhost/x", nil, Options{}, errHost},
		{"a host with a user", loopback, "u@localhost", nil, Options{}, errHost},
		{"a rebound name", loopback, "evil.example:8080", []string{"http://evil.example:8080"}, Options{}, errHost},
		{"a name that ends like ours", loopback, "notlocalhost", nil, Options{}, errHost},
		{"a listed name", loopback, "editor.test:8080", []string{"http://editor.test:8080"}, Options{Hosts: []string{"editor.test"}}, nil},
		{"a listed name, port too", loopback, "editor.test:8080", nil, Options{Hosts: []string{"editor.test:8080"}}, nil},
		{"a listed name, other port", loopback, "editor.test:8080", nil, Options{Hosts: []string{"editor.test:9090"}}, errHost},
		{"any name", loopback, "evil.example", nil, Options{Hosts: []string{"*"}}, nil},
		{"own page", loopback, "127.0.0.1:8080", []string{"http://127.0.0.1:8080"}, Options{}, nil},
		{"own page, other case", loopback, "localhost:8080", []string{"HTTP://LocalHost:8080"}, Options{}, nil},
		{"a page of this machine", loopback, "127.0.0.1:8080", []string{"http://localhost:5173"}, Options{}, nil},
		{"a page of this machine, IPv6", loopback, "127.0.0.1:8080", []string{"https://[::1]"}, Options{}, nil},
		{"a foreign page", loopback, "127.0.0.1:8080", []string{"https://evil.example"}, Options{}, errOrigin},
		{"no origin at all", loopback, "127.0.0.1:8080", []string{"null"}, Options{}, errOrigin},
		{"an empty origin", loopback, "127.0.0.1:8080", []string{""}, Options{}, errOrigin},
		{"two origins", loopback, "127.0.0.1:8080", []string{"http://localhost", "https://evil.example"}, Options{}, errOrigin},
		{"an origin with a path", loopback, "127.0.0.1:8080", []string{"http://localhost/x"}, Options{}, errOrigin},
		{"an origin with a user", loopback, "127.0.0.1:8080", []string{"http://localhost@evil.example"}, Options{}, errOrigin},
		{"an extension", loopback, "localhost", []string{"vscode-webview://1a2b"}, Options{}, errOrigin},
		{"an extension that may", loopback, "localhost", []string{"vscode-webview://1a2b"}, Options{Origins: []string{"vscode-webview://*"}}, nil},
		{"a page that may", loopback, "localhost", []string{"https://editor.example"}, Options{Origins: []string{"https://Editor.example/"}}, nil},
		{"a page like one that may", loopback, "localhost", []string{"https://editor.example.evil"}, Options{Origins: []string{"https://editor.example"}}, errOrigin},
		{"any page", loopback, "localhost", []string{"https://evil.example"}, Options{Origins: []string{"*"}}, nil},
		{"public, own page", other, "editor.example", []string{"http://editor.example"}, Options{}, nil},
		{"public, own page, other scheme", other, "editor.example", []string{"https://editor.example"}, Options{}, errOrigin},
		{"public, own page, port named", other, "editor.example", []string{"http://editor.example:80"}, Options{}, nil},
		{"public, own page, other port", other, "editor.example:8080", []string{"http://editor.example"}, Options{}, errOrigin},
		{"public, a page of the client's machine", other, "editor.example", []string{"http://localhost"}, Options{}, errOrigin},
		{"public, another name", other, "other.example", nil, Options{Hosts: []string{"editor.example"}}, errHost},
		{"a socket file", file, "whatever", nil, Options{}, nil},
		{"a socket file, a foreign page", file, "whatever", []string{"https://evil.example"}, Options{}, errOrigin},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, c.at))
			r.Host = c.host
			r.Header["Origin"] = c.origins
			if err := c.o.admit(r); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
	t.Run("over TLS", func(t *testing.T) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host, r.TLS = "editor.example", new(tls.ConnectionState)
		r.Header.Set("Origin", "https://editor.example")
		if err := new(Options).admit(r); err != nil {
			t.Error(err)
		}
	})
}

// The handler asks before it makes a socket of anything, and tells the stranger nothing.
func TestStranger(t *testing.T) {
	var told error
	h := New(nil, &Options{Report: func(_ context.Context, err error) { told = err }})
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Origin", "https://evil.example")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusForbidden || w.Body.String() != "Host or Origin is not allowed\n" {
		t.Errorf("%d %q", w.Code, w.Body)
	}
	if !errors.Is(told, errOrigin) {
		t.Errorf("reported %v", told)
	}
}
