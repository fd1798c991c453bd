package lsp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.lsp.dev/protocol"
)

// ErrUnsupported is wrapped by the error of a [Client] method that needs a capability which the client does not have. Nothing was sent then.
var ErrUnsupported = errors.New("lsp: not supported by the client")

// CapabilityError says which capability is missing.
type CapabilityError struct {
	Method     string
	Capability string // path in ClientCapabilities, see [Client.Can]
}

// Error names both.
func (e *CapabilityError) Error() string {
	return fmt.Sprintf("%v: %s needs the capability %s", ErrUnsupported, e.Method, e.Capability)
}

// Unwrap returns [ErrUnsupported].
func (e *CapabilityError) Unwrap() error { return ErrUnsupported }

// Can reports whether the client has a capability, by its path in ClientCapabilities (LSP 3.18, "Initialize Request"):
//
//	if client.Can("textDocument.completion.completionItem.snippetSupport") { ... }
//
// It is there if its value is neither false nor null. Paths that are not in the specification may be asked for as well. Typed values are in
// [Client.Params]. Can is false before initialize.
func (c *Client) Can(path string) bool {
	v := c.capability(path)
	return v != nil && string(v) != "false"
}

// capability returns the value at a path, nil if it is missing or null.
func (c *Client) capability(path string) json.RawMessage {
	v := member(c.raw, "capabilities")
	for part := range strings.SplitSeq(path, ".") {
		if v == nil {
			return nil
		}
		v = member(v, part)
	}
	return v
}

// helixRefresh is how Helix spells workspace.diagnostics.refreshSupport.
const helixRefresh = "workspace.diagnostic.refreshSupport"

// require returns the error for a method that the client has no capability for.
func (c *Client) require(method string) error {
	if rt := byMethod()[method]; rt != nil && rt.needs && !c.Can(rt.client) && !(method == protocol.MethodWorkspaceDiagnosticRefresh && c.Can(helixRefresh)) {
		return &CapabilityError{Method: method, Capability: rt.client}
	}
	return nil
}

// dynamic is the path of the capability that says whether a method may be registered dynamically: all features have it in the same place. It is empty for
// methods that are not registered.
func (rt *route) dynamic() string {
	if rt.register == nil {
		return ""
	}
	parts := strings.SplitN(rt.client, ".", 3)
	if len(parts) < 2 {
		return ""
	}
	return parts[0] + "." + parts[1] + ".dynamicRegistration"
}
