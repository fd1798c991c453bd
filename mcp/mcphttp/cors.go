package mcphttp

import (
	"net/http"
	"strings"
)

const (
	corsMethods = "POST, GET, DELETE, OPTIONS"
	corsHeaders = "content-type, accept, authorization, dpop, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, last-event-id, traceparent, tracestate, baggage"
	// corsExposed: without the first a page cannot go on with its session, without the others it cannot log in.
	corsExposed = "Mcp-Session-Id, WWW-Authenticate, DPoP-Nonce"
	corsMaxAge  = "600"
	// maxAsked bounds what a preflight is answered with.
	maxAsked = 64
)

// cors sets what a page needs to see an answer (Fetch, CORS protocol). The origin was checked before.
func (h *Handler) cors(header http.Header, r *http.Request) {
	header.Add("Vary", "Origin")
	if o := r.Header.Get("Origin"); o != "" {
		header["Access-Control-Allow-Origin"] = []string{o}
		header["Access-Control-Expose-Headers"] = []string{corsExposed}
	}
}

// preflight answers OPTIONS.
func (h *Handler) preflight(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	if !h.o.CORS {
		h.methodNotAllowed(w, allMethods)
		return
	}
	header.Add("Vary", "Access-Control-Request-Headers")
	header["Access-Control-Allow-Methods"] = []string{corsMethods}
	header["Access-Control-Allow-Headers"] = []string{allowedHeaders(r.Header["Access-Control-Request-Headers"])}
	header["Access-Control-Max-Age"] = []string{corsMaxAge}
	w.WriteHeader(http.StatusNoContent)
}

// allowedHeaders is our list and what was asked for of mcp-param-*, for which there is no wildcard.
func allowedHeaders(asked []string) string {
	var b strings.Builder
	b.WriteString(corsHeaders)
	n := 0
	for _, v := range asked {
		for name := range strings.SplitSeq(v, ",") {
			name = strings.ToLower(strings.Trim(name, " \t"))
			if strings.HasPrefix(name, "mcp-param-") && isHeaderName(name) && len(name) <= 128 && n < maxAsked {
				b.WriteString(", " + name)
				n++
			}
		}
	}
	return b.String()
}

// isHeaderName: a token (RFC 9110 section 5.6.2).
func isHeaderName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0) {
			return false
		}
	}
	return s != ""
}
