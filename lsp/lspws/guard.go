package lspws

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

var (
	errHost   = errors.New("lspws: request for a host that is not allowed")
	errOrigin = errors.New("lspws: request of an origin that is not allowed")
)

// admit checks Host and Origin. The check of the WebSocket library is not enough: it lets every page in whose origin equals the host that is asked for, and
// after DNS rebinding that is so for a page that was loaded from elsewhere.
func (o *Options) admit(r *http.Request) error {
	at, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	local, file := false, false
	switch a := at.(type) {
	case *net.TCPAddr:
		local = a.IP.IsLoopback()
	case *net.UnixAddr:
		local, file = true, true // no browser can call it
	}
	name, port := splitHost(r.Host)
	switch {
	case file:
	case name == "":
		return fmt.Errorf("%w: %q", errHost, cut(r.Host))
	case local && isLocal(name):
	case allowsHost(o.Hosts, name, port):
	case !local && len(o.Hosts) == 0:
	default:
		return fmt.Errorf("%w: %q", errHost, cut(r.Host))
	}
	values := r.Header.Values("Origin")
	if len(values) == 0 {
		return nil
	}
	u, err := url.Parse(values[0])
	if len(values) == 1 && err == nil && u.Scheme != "" && u.Host != "" && u.User == nil && u.Path == "" {
		n, p := splitHost(u.Host)
		scheme := strings.ToLower(u.Scheme)
		web := scheme == "http" || scheme == "https"
		own := "http"
		if r.TLS != nil {
			own = "https"
		}
		switch {
		case web && n != "" && n == name && portOf(scheme, p) == portOf(own, port):
			return nil
		case web && local && isLocal(n):
			return nil
		case allowsOrigin(o.Origins, scheme+"://"+strings.ToLower(u.Host)):
			return nil
		}
	}
	return fmt.Errorf("%w: %q", errOrigin, cut(strings.Join(values, ", ")))
}

// cut keeps long texts of a stranger out of logs.
func cut(s string) string { return s[:min(len(s), 256)] }

func portOf(scheme, port string) string {
	switch {
	case port != "":
		return port
	case scheme == "https":
		return "443"
	}
	return "80"
}

// splitHost returns name and port of a Host, lower case, without brackets and trailing dot; an empty name for what is no host.
func splitHost(host string) (name, port string) {
	u, err := url.Parse("http://" + host)
	if err != nil || u.User != nil || u.Host != host {
		return "", ""
	}
	return strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), u.Port()
}

// isLocal reports whether a name is always this machine.
func isLocal(name string) bool {
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	a, err := netip.ParseAddr(name)
	return err == nil && a.Unmap().IsLoopback()
}

func allowsHost(hosts []string, name, port string) bool {
	for _, h := range hosts {
		n, p := splitHost(h)
		if h == "*" || n == name && (p == "" || p == port) {
			return true
		}
	}
	return false
}

func allowsOrigin(origins []string, origin string) bool {
	for _, a := range origins {
		a = strings.ToLower(strings.TrimSuffix(a, "/"))
		if a == "*" || a == origin || strings.HasSuffix(a, "://*") && strings.HasPrefix(origin, a[:len(a)-1]) {
			return true
		}
	}
	return false
}
