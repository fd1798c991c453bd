package mcphttp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
)

// guard decides which Hosts and Origins are let in (MCP transports, security warning: Origin MUST be validated).
//
// net/http's CrossOriginProtection is no substitute: it lets a rebound name through, because there Origin and Host are equal; it lets every GET
// through; and it refuses a page of localhost:6274 that calls localhost:3000.
type guard struct {
	hosts   []hostRule
	any     bool // any host
	origins []string
	proxies []netip.Prefix
	report  func(context.Context, error)
	once    sync.Once // of the report that any host is let in
}

// hostRule is an entry of Options.Hosts, lower case.
type hostRule struct {
	name, port string // port "": any
	below      bool   // all names below it
}

func newGuard(o *Options, report func(context.Context, error)) *guard {
	g := &guard{proxies: o.TrustProxy, report: report}
	for _, h := range o.Hosts {
		if h == "*" {
			g.any = true
			continue
		}
		name, port := splitHost(h)
		rule := hostRule{name: name, port: port}
		if rest, ok := strings.CutPrefix(name, "*."); ok {
			rule.name, rule.below = rest, true
		}
		g.hosts = append(g.hosts, rule)
	}
	for _, s := range o.Origins {
		g.origins = append(g.origins, strings.ToLower(strings.TrimSuffix(s, "/")))
	}
	return g
}

// splitHost returns name and port of a Host, lower case, without brackets and trailing dot; an empty name for what is no host.
func splitHost(host string) (name, port string) {
	name = host
	if i := strings.LastIndexByte(host, ':'); i >= 0 && (host[0] == '[' && i > 0 && host[i-1] == ']' || strings.IndexByte(host, ':') == i) {
		name, port = host[:i], host[i+1:]
		if port != "" && !isPort(port) {
			return "", ""
		}
	}
	if len(name) > 1 && name[0] == '[' {
		if name[len(name)-1] != ']' {
			return "", ""
		}
		name = name[1 : len(name)-1]
		if a, err := netip.ParseAddr(name); err != nil || !a.Is6() {
			return "", ""
		}
		return strings.ToLower(name), port
	}
	name = strings.TrimSuffix(name, ".")
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c >= 0x7F || strings.IndexByte("/?#@[]\\:", c) >= 0 {
			return "", ""
		}
	}
	return strings.ToLower(name), port
}

func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && s[0] != '+' && n > 0
}

// isLocal reports whether a name is always this machine.
func isLocal(name string) bool {
	if name == "localhost" || name == "127.0.0.1" || name == "::1" {
		return true
	}
	a, err := netip.ParseAddr(name)
	return err == nil && a.Unmap().IsLoopback()
}

// onLoopback reports whether the connection a request came by is one within this machine. A listener on all addresses has such connections too,
// and a rebound name can lead there.
func onLoopback(r *http.Request) bool {
	a, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if tcp, ok := a.(*net.TCPAddr); ok {
		return tcp.IP.IsLoopback()
	}
	return false
}

// external returns scheme and host of the request as the client sees them.
func (g *guard) external(r *http.Request) (scheme, host string) {
	scheme, host = "http", r.Host
	if r.TLS != nil {
		scheme = "https"
	}
	if len(g.proxies) == 0 {
		return scheme, host
	}
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return scheme, host
	}
	from := ap.Addr().Unmap()
	for _, p := range g.proxies {
		if !p.Contains(from) {
			continue
		}
		if v := lastValue(r.Header["X-Forwarded-Host"]); v != "" {
			host = v
		}
		if v := strings.ToLower(lastValue(r.Header["X-Forwarded-Proto"])); v == "http" || v == "https" {
			scheme = v
		}
		break
	}
	return scheme, host
}

// lastValue is the value that the proxy nearest to us has set.
func lastValue(values []string) string {
	if len(values) == 0 {
		return ""
	}
	v := values[len(values)-1]
	if i := strings.LastIndexByte(v, ','); i >= 0 {
		v = v[i+1:]
	}
	return strings.Trim(v, " \t")
}

var (
	errHost   = errors.New("mcphttp: request for a host that is not allowed")
	errOrigin = errors.New("mcphttp: request of an origin that is not allowed")
	errHosts  = errors.New("mcphttp: Options.Hosts is empty: requests for any host are served")
)

// admit checks Host and Origin. stranger says that the origin is none that may, and everything else is well.
func (g *guard) admit(r *http.Request) (stranger bool, err error) {
	scheme, host := g.external(r)
	name, port := splitHost(host)
	local := onLoopback(r)
	switch {
	case g.any:
	case name == "":
		return false, fmt.Errorf("%w: %s", errHost, quote(host))
	case local && isLocal(name):
	case g.allowsHost(name, port):
	case !local && len(g.hosts) == 0:
		g.once.Do(func() { g.report(r.Context(), errHosts) })
	default:
		return false, fmt.Errorf("%w: %s", errHost, quote(host))
	}
	values := r.Header["Origin"]
	if len(values) == 0 {
		return false, nil
	}
	o, ok := parseOrigin(values[0])
	if len(values) == 1 && ok && (o.same(scheme, name, port) || local && o.local() || g.allowsOrigin(o)) {
		return false, nil
	}
	return true, fmt.Errorf("%w: %s", errOrigin, quote(strings.Join(values, ", ")))
}

func (g *guard) allowsHost(name, port string) bool {
	for _, h := range g.hosts {
		if h.port != "" && h.port != port {
			continue
		}
		if h.name == name && !h.below || h.below && strings.HasSuffix(name, "."+h.name) {
			return true
		}
	}
	return false
}

func (g *guard) allowsOrigin(o origin) bool {
	for _, a := range g.origins {
		if a == "*" || a == o.text || strings.HasSuffix(a, "://*") && strings.HasPrefix(o.text, a[:len(a)-1]) {
			return true
		}
	}
	return false
}

// quote makes what a client sent fit for a report.
func quote(s string) string {
	const most = 128
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strconv.QuoteToASCII(s)
}
