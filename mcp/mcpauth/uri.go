package mcpauth

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// parseResource checks a canonical server URI (MCP 2026-07-28, authorization, canonical server URI; RFC 8707 section 2).
func parseResource(s string) (*url.URL, error) {
	u, err := parseHTTPS(s)
	if err != nil {
		return nil, err
	}
	if strings.Contains(s, "?") {
		return nil, errors.New("it must have no query")
	}
	return u, nil
}

// parseHTTPS parses an absolute https URL, or http with a loopback host. The error does not quote the URL.
func parseHTTPS(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, errors.New("it is not a URL")
	case u.Host == "" || u.Hostname() == "" || u.Opaque != "":
		return nil, errors.New("it must be an absolute URL")
	case u.User != nil:
		return nil, errors.New("it must have no user-info")
	case strings.Contains(s, "#"):
		return nil, errors.New("it must have no fragment")
	case u.Scheme == "https":
	case u.Scheme == "http" && isLoopback(u.Hostname()):
	default:
		return nil, errors.New("it must be https, or http on a loopback address")
	}
	return u, nil
}

// isLoopback reports whether a host, as a URL names it, is this machine.
func isLoopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}

// normalAudience is the form in which audiences are compared: scheme and host have no case, a default port and a lone slash after the host mean
// nothing. Clients send https://host/ for https://host. Everything else counts byte for byte, and what is no URL is left alone.
func normalAudience(s string) string {
	scheme, authority, rest, ok := splitURI(s)
	if !ok {
		return s
	}
	if rest == "/" {
		rest = ""
	}
	return scheme + "://" + authority + rest
}

// splitURI cuts an http or https URI into scheme, authority without a default port, both in lower case, and the rest.
func splitURI(s string) (scheme, authority, rest string, ok bool) {
	scheme, after, ok := strings.Cut(s, "://")
	scheme = strings.ToLower(scheme)
	if !ok || scheme != "https" && scheme != "http" {
		return "", "", "", false
	}
	end := strings.IndexAny(after, "/?#")
	if end < 0 {
		end = len(after)
	}
	authority, rest = strings.ToLower(after[:end]), after[end:]
	port := ":443"
	if scheme == "http" {
		port = ":80"
	}
	authority = strings.TrimSuffix(authority, port)
	return scheme, authority, rest, authority != ""
}

// normalTarget is the form in which the htu of a DPoP proof is compared (RFC 9449 section 4.3, step 9): query and fragment are ignored, syntax and
// scheme are normalized (RFC 3986 sections 6.2.2 and 6.2.3), and so is one slash at the end.
func normalTarget(s string) (string, bool) {
	scheme, authority, rest, ok := splitURI(s)
	if !ok || strings.Contains(authority, "@") {
		return "", false
	}
	if end := strings.IndexAny(rest, "?#"); end >= 0 {
		rest = rest[:end]
	}
	return scheme + "://" + authority + strings.TrimSuffix(normalPercent(rest), "/"), true
}

// normalPercent decodes percent-encoded unreserved characters and writes the others in upper case (RFC 3986 section 6.2.2).
func normalPercent(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' || i+2 >= len(s) {
			b.WriteByte(s[i])
			continue
		}
		hi, lo := unhex(s[i+1]), unhex(s[i+2])
		if hi < 0 || lo < 0 {
			b.WriteByte(s[i])
			continue
		}
		i += 2
		if ch := byte(hi<<4 | lo); isAlnum(ch) || strings.IndexByte("-._~", ch) >= 0 {
			b.WriteByte(ch)
		} else {
			b.WriteString("%" + digits[hi:hi+1] + digits[lo:lo+1])
		}
	}
	return b.String()
}

func unhex(b byte) int {
	switch {
	case b >= '0' && b <= '9':
		return int(b - '0')
	case b >= 'a' && b <= 'f':
		return int(b-'a') + 10
	case b >= 'A' && b <= 'F':
		return int(b-'A') + 10
	}
	return -1
}

// requestPath is the path the client asked for, before any http.StripPrefix.
func requestPath(r *http.Request) string {
	if strings.HasPrefix(r.RequestURI, "/") {
		path, _, _ := strings.Cut(r.RequestURI, "?")
		return path
	}
	return r.URL.EscapedPath()
}

// configError names the option that is wrong.
func configError(option string, err error) error {
	return fmt.Errorf("mcpauth: %s: %w", option, err)
}
