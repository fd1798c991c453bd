package mcp

import (
	"errors"
	"fmt"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Error codes of MCP 2026-07-28. Others of -32020 to -32099 are not for use.
const (
	CodeHeaderMismatch     jsonrpc2.Code = -32020 // a header of an HTTP request says something else than its body
	CodeMissingCapability  jsonrpc2.Code = -32021 // the request needs a capability that the client did not declare; data.requiredCapabilities names it
	CodeUnsupportedVersion jsonrpc2.Code = -32022 // the revision in _meta is not spoken; data.supported has those that are
)

// CodeResourceNotFound is the error code for a resource URI that names nothing (MCP resources, error handling; revisions up to 2025-11-25).
// [ResourceNotFound] makes the whole error. Clients of 2026-07-28 get it as -32602.
const CodeResourceNotFound jsonrpc2.Code = -32002

var (
	// ErrProgress is returned by [Progress] for a value that is not a finite number above the one before.
	ErrProgress = errors.New("mcp: progress must be finite and increase")
	// ErrNoSession is returned by methods of a [Session] that need a client when there is none: outside a hosted session, before initialize,
	// and after the end.
	ErrNoSession = errors.New("mcp: no session")
	// ErrNoRequests is returned by [Session.Call] in revision 2026-07-28, where a server sends no requests.
	ErrNoRequests = errors.New("mcp: the revision has no requests from server to client")
)

// ResourceNotFound is the error a Reader returns for a URI that names nothing: code -32002, with the URI as data.
func ResourceNotFound(uri string) error {
	data := append(appendString([]byte(`{"uri":`), uri), '}')
	return &jsonrpc2.Error{Code: CodeResourceNotFound, Message: "Resource not found", Data: data}
}

// UnknownTool is the error a Caller returns for a name that names nothing: code -32602 (MCP tools, error handling).
func UnknownTool(name string) error {
	return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "Unknown tool: " + clip(name)}
}

// InvalidParams is an error with code -32602, for an unknown prompt or an argument that is missing.
func InvalidParams(format string, args ...any) error {
	return jsonrpc2.Errorf(jsonrpc2.CodeInvalidParams, format, args...)
}

var errNotInitialized = &jsonrpc2.Error{
	Code:    jsonrpc2.CodeInvalidRequest,
	Message: "Invalid Request: the session is not initialized: send initialize first, or name the revision in _meta of each request",
}

// errOverloaded is what a request beyond Options.MaxPending gets: -32000 to -32019 are not for new uses (MCP 2026-07-28, basic, error codes).
var errOverloaded = &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: "Too many concurrent requests"}

var errInitialized = &jsonrpc2.Error{
	Code:    jsonrpc2.CodeInvalidRequest,
	Message: "Invalid Request: the session is already initialized",
}

var (
	errCarriesInitialize = jsonrpc2.ErrInvalidRequest.WithCause(errors.New("mcp: initialize in a batch"))
	errNoBatches         = jsonrpc2.ErrInvalidRequest.WithCause(errors.New("mcp: the revision of the session has no batches"))
	errNullID            = jsonrpc2.ErrInvalidRequest.WithCause(errors.New("mcp: the id of a request must not be null"))
)

// batchError says what is wrong with Server.Batch.
func batchError(n int) error {
	return fmt.Errorf("mcp: Server.Batch is %d: want a number of entries, 0 for DefaultBatch, or NoBatch (%d)", n, NoBatch)
}

// clip shortens what the peer named, so that an error never carries more than a line of it.
func clip(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	for i := range s { // the last rune boundary
		if i > most {
			return s[:i] + "…"
		}
	}
	return s
}
