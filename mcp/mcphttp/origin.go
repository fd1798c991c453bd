package mcphttp

import "strings"

// origin is the value of an Origin header (RFC 6454 section 7).
type origin struct {
	text         string // lower case, as it is compared with Options.Origins
	scheme, host string
	port         string
}

// parseOrigin reads an origin: scheme, "://", host and maybe a port, nothing more. null, and what is none, is false.
func parseOrigin(s string) (origin, bool) {
	text := strings.ToLower(strings.Trim(s, " \t"))
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || rest == "" || !isScheme(scheme) {
		return origin{}, false
	}
	host, port := splitHost(rest)
	if host == "" || strings.HasSuffix(rest, ":") || strings.HasSuffix(rest, ".") {
		return origin{}, false
	}
	return origin{text: text, scheme: scheme, host: host, port: port}, true
}

func isScheme(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !('a' <= c && c <= 'z' || i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.')) {
			return false
		}
	}
	return s != ""
}

// same reports whether o is the origin of a URL with that scheme, host and port.
func (o origin) same(scheme, host, port string) bool {
	return o.scheme == scheme && o.host == host && portOf(scheme, o.port) == portOf(scheme, port)
}

// local: a page that this machine serves itself.
func (o origin) local() bool { return (o.scheme == "http" || o.scheme == "https") && isLocal(o.host) }

func portOf(scheme, port string) string {
	switch {
	case port != "":
		return port
	case scheme == "https":
		return "443"
	}
	return "80"
}
