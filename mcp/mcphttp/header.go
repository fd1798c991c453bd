package mcphttp

import (
	"encoding/base64"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
)

// Headers of the protocol, as net/http spells them.
const (
	headerVersion = "Mcp-Protocol-Version"
	headerSession = "Mcp-Session-Id"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
	headerParam   = "Mcp-Param-"
	headerLast    = "Last-Event-Id"
)

// single returns the value of a header that may come more than once if it says the same each time. ok is false if it does not.
func single(values []string) (value string, ok bool) {
	if len(values) == 0 {
		return "", true
	}
	value = strings.Trim(values[0], " \t")
	for _, v := range values[1:] {
		if strings.Trim(v, " \t") != value {
			return "", false
		}
	}
	return value, true
}

const (
	codedPrefix = "=?base64?"
	codedSuffix = "?="
)

// decodeValue returns what a header value stands for (MCP 2026-07-28, streamable HTTP, value encoding): itself, or what is in the base64 between
// "=?base64?" and "?=". Both must be there, in that case, for it to be encoded. ok is false for what is badly encoded, and for bytes that
// may not stand in a header.
func decodeValue(v string) (value string, ok bool) {
	v = strings.Trim(v, " \t")
	for i := range len(v) {
		if c := v[i]; c != '\t' && (c < ' ' || c > '~') {
			return "", false
		}
	}
	if len(v) < len(codedPrefix)+len(codedSuffix) || !strings.HasPrefix(v, codedPrefix) || !strings.HasSuffix(v, codedSuffix) {
		return v, true
	}
	b, err := base64.StdEncoding.Strict().DecodeString(v[len(codedPrefix) : len(v)-len(codedSuffix)])
	if err != nil || !utf8.Valid(b) {
		return "", false
	}
	return string(b), true
}

// mismatch is the error -32020 (MCP 2026-07-28, streamable HTTP, server validation). what is words of ours.
func mismatch(what string) *jsonrpc2.Error {
	return &jsonrpc2.Error{Code: mcp.CodeHeaderMismatch, Message: "Header mismatch: " + what}
}

// modernProblem checks a modern request in the order in which clients are told: what is missing in the body, then what headers say otherwise, then
// the version, the method, its name and its parameters. status 0: nothing is wrong.
func (h *Handler) modernProblem(r *http.Request, m *mcp.Message) (status int, err *jsonrpc2.Error) {
	if err = m.Envelope(); err != nil {
		return http.StatusBadRequest, err
	}
	if v, ok := single(r.Header[headerVersion]); !ok || v != m.Version {
		return http.StatusBadRequest, mismatch("MCP-Protocol-Version is not the protocolVersion in _meta")
	}
	if err = h.server.Supported(m); err != nil {
		return http.StatusBadRequest, err
	}
	if v, ok := single(r.Header[headerMethod]); !ok || v != m.Method {
		return http.StatusBadRequest, mismatch("Mcp-Method is not the method")
	}
	if !h.server.Serves(m.Version, m.Method) {
		return http.StatusNotFound, jsonrpc2.ErrMethodNotFound
	}
	if err = checkName(r.Header[headerName], m); err != nil {
		return http.StatusBadRequest, err
	}
	if m.Method == "tools/call" {
		if err = h.checkParams(r, m); err != nil {
			return http.StatusBadRequest, err
		}
	}
	return 0, nil
}

// named reports whether a method is about one thing, whose name is repeated in Mcp-Name.
func named(method string) bool {
	switch method {
	case "tools/call", "prompts/get", "resources/read":
		return true
	}
	return strings.HasPrefix(method, "tasks/")
}

func checkName(values []string, m *mcp.Message) *jsonrpc2.Error {
	if !named(m.Method) {
		return nil
	}
	target, ok := m.Target()
	if len(values) == 0 {
		if ok {
			return mismatch("Mcp-Name is missing")
		}
		return nil // both are: what is wrong with the params is said elsewhere
	}
	if v, same := single(values); same {
		if v, good := decodeValue(v); good && ok && v == target {
			return nil
		}
	}
	return mismatch("Mcp-Name is not what the request is about")
}
