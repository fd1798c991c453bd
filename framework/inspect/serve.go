package inspect

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"
)

//go:embed web
var files embed.FS

// assemble returns the page, and the policy of what it may do: run its own script, and ask the server it came from.
var assemble = sync.OnceValues(func() (document []byte, policy string) {
	read := func(name string) string {
		b, err := files.ReadFile("web/" + name)
		if err != nil {
			panic(err) // it is embedded
		}
		return strings.TrimSpace(string(b))
	}
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	style := read("page.css")
	script := strings.Join([]string{read("plot.js"), read("model.js"), read("view.js"), read("main.js")}, "\n\n")
	page := strings.NewReplacer("/*STYLE*/", style, "/*SCRIPT*/", script).Replace(read("page.html"))
	return []byte(page), "default-src 'none'; script-src " + hash(script) + "; style-src " + hash(style) +
		"; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
})

// ErrNotLoopback is returned by [Page.Serve] for a listener that other machines can reach.
var ErrNotLoopback = errors.New("inspect: the page is served on loopback addresses only")

// Serve serves the page until ctx ends, and closes ln. It returns nil then, and else the error of the listener.
func (p *Page) Serve(ctx context.Context, ln net.Listener) error {
	if !isLoopback(ln.Addr()) {
		_ = ln.Close()
		return fmt.Errorf("%w: %s", ErrNotLoopback, ln.Addr())
	}
	s := &http.Server{Handler: p, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	defer p.Close()
	err := s.Serve(ln)
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("inspect: %w", err)
}

// ServeHTTP serves the page at /TOKEN/ and its events at /TOKEN/events, to requests that can only come from the user.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	document, policy := assemble()
	for name, value := range map[string]string{
		"Cache-Control": "no-store", "Content-Security-Policy": policy, "Cross-Origin-Opener-Policy": "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
	} {
		h.Set(name, value)
	}
	token, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case !allowed(r):
		http.Error(w, "forbidden", http.StatusForbidden)
	case subtle.ConstantTimeCompare([]byte(token), []byte(p.token)) != 1:
		http.Error(w, "not found: the address is the one that the server printed when it began", http.StatusNotFound)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "the page can only be read", http.StatusMethodNotAllowed)
	case rest == "":
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Length", strconv.Itoa(len(document)))
		_, _ = w.Write(document)
	case rest == "events" && r.Method == http.MethodGet:
		p.stream(w, r)
	default:
		http.NotFound(w, r)
	}
}

// allowed reports whether a request came to a loopback address, under a loopback name, and from no page of another origin. The name matters
// because any site can make its own name lead here (DNS rebinding).
func allowed(r *http.Request) bool {
	if at, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); !ok || !isLoopback(at) {
		return false
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if ip, err := netip.ParseAddr(strings.Trim(host, "[]")); !(err == nil && ip.IsLoopback()) && !strings.EqualFold(host, "localhost") {
		return false
	}
	if origin := r.Header.Values("Origin"); len(origin) > 1 || len(origin) == 1 && !strings.EqualFold(origin[0], "http://"+r.Host) {
		return false
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return true
	}
	return false
}

func isLoopback(a net.Addr) bool {
	t, ok := a.(*net.TCPAddr)
	return ok && t.IP.IsLoopback()
}
