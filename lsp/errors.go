package lsp

import (
	"errors"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Error codes that LSP 3.18 defines beyond those of JSON-RPC 2.0 ("Response Message", ErrorCodes and LSPErrorCodes).
const (
	CodeServerNotInitialized jsonrpc2.Code = -32002 // a request came before initialize
	CodeUnknownErrorCode     jsonrpc2.Code = -32001
	CodeRequestFailed        jsonrpc2.Code = -32803 // a request that is in order failed, and the message is for people
	CodeServerCancelled      jsonrpc2.Code = -32802 // the server gave up a request that allows it
	CodeContentModified      jsonrpc2.Code = -32801 // the document has changed under the request
	CodeRequestCancelled     jsonrpc2.Code = -32800 // the client cancelled the request
)

// Errors for handlers to return. They are values to share: use errors.Is, which compares codes, and [jsonrpc2.Error.WithCause] to say more locally.
var (
	// ContentModified answers a request whose result would be of no use because the document has changed meanwhile. Clients drop the answer or
	// ask again. See [Fresh].
	ContentModified = &jsonrpc2.Error{Code: CodeContentModified, Message: "Content modified"}
	// ServerCancelled answers a request that the server gave up. The client may ask again (LSP 3.17 and later, textDocument/diagnostic and
	// others that say so).
	ServerCancelled = &jsonrpc2.Error{Code: CodeServerCancelled, Message: "Server cancelled the request"}
	// RequestCancelled is the answer of a request that the client cancelled. A handler that returns its context's error gets it by itself.
	RequestCancelled = &jsonrpc2.Error{Code: CodeRequestCancelled, Message: "Request cancelled"}
)

// ErrNoClient is returned by the methods of a [Client] that belongs to no connection.
var ErrNoClient = errors.New("lsp: no client connected")

// RequestFailed returns an error that answers a request with code -32803 and a message that the editor may show to its user.
func RequestFailed(message string) *jsonrpc2.Error {
	return &jsonrpc2.Error{Code: CodeRequestFailed, Message: message}
}

// The refusals of the lifecycle (LSP 3.18, "Lifecycle Messages"). They are made once: a refusal allocates nothing.
var (
	errNotInitialized = &jsonrpc2.Error{Code: CodeServerNotInitialized, Message: "Server not initialized"}
	errInitialized    = &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "Server is initialized already"}
	errShutDown       = &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "Server is shut down"}
	errNullID         = &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "Invalid Request"}
)

// Cancel is the cancellation of LSP 3.18: the notification $/cancelRequest names a request by its id, and the request is still answered, by default
// with code -32800 (RequestCancelled). The lifecycle requests are no work that could be given up, so they are exempt.
var Cancel = cancel.Convention{
	Method:  "$/cancelRequest",
	Param:   "id",
	Code:    int64(CodeRequestCancelled),
	Message: RequestCancelled.Message,
	Exempt:  []string{"initialize", "shutdown"},
}
