package lsptest

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/lsp"
)

// needs are the capabilities without which a server must not send a request.
var needs = map[string]string{
	protocol.MethodWorkspaceConfiguration:       "workspace.configuration",
	protocol.MethodWorkspaceWorkspaceFolders:    "workspace.workspaceFolders",
	protocol.MethodWorkspaceApplyEdit:           "workspace.applyEdit",
	protocol.MethodWindowWorkDoneProgressCreate: "window.workDoneProgress",
	protocol.MethodWindowShowDocument:           "window.showDocument.support",
	"workspace/codeLens/refresh":                "workspace.codeLens.refreshSupport",
	"workspace/semanticTokens/refresh":          "workspace.semanticTokens.refreshSupport",
	"workspace/inlayHint/refresh":               "workspace.inlayHint.refreshSupport",
	"workspace/inlineValue/refresh":             "workspace.inlineValue.refreshSupport",
	"workspace/diagnostic/refresh":              "workspace.diagnostics.refreshSupport",
	"workspace/foldingRange/refresh":            "workspace.foldingRange.refreshSupport",
	"workspace/textDocumentContent/refresh":     "workspace.textDocumentContent",
	protocol.MethodWindowShowMessageRequest:     "",
	protocol.MethodClientRegisterCapability:     "",
	protocol.MethodClientUnregisterCapability:   "",
}

// declared reports whether the client has declared a capability, a path of names.
func (c *Client) declared(path string) bool {
	v := c.can
	for name := range strings.SplitSeq(path, ".") {
		object, ok := v.(map[string]any)
		if !ok {
			return false
		}
		v = object[name]
	}
	return v != nil && v != false
}

// reply answers a request of the server.
func (c *Client) reply(m *message) {
	v, err := c.answer(m.Method, m.Params)
	var result json.RawMessage
	if err == nil {
		result, err = encode(v)
	}
	out := append(append([]byte(`{"jsonrpc":"2.0","id":`), m.ID...), ',')
	switch {
	case err != nil:
		e := &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: err.Error()}
		_ = errors.As(err, &e)
		b, _ := json.Marshal(map[string]any{"code": int64(e.Code), "message": e.Message})
		out = append(append(out, `"error":`...), b...)
	case result == nil:
		out = append(out, `"result":null`...)
	default:
		out = append(append(out, `"result":`...), result...)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sendLocked(append(out, '}'))
	c.arrivedLocked() // what has been done for the answer may be waited for
}

func (c *Client) answer(method string, params json.RawMessage) (any, error) {
	if f := c.o.Answer[method]; f != nil {
		if v, err := f(c.ctx, params); err != errUnasked {
			return v, err
		}
	}
	need, known := needs[method]
	if !known {
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "the client has no " + method}
	}
	if need != "" && !c.o.Lenient && !c.declared(need) {
		c.complain("the server sent %s, but the client has not declared %s", method, need)
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "the client has not declared " + need}
	}
	switch method {
	case protocol.MethodWorkspaceConfiguration:
		var p protocol.ConfigurationParams
		if err := decodeParams(params, &p); err != nil {
			return nil, err
		}
		values := make([]any, len(p.Items))
		c.mu.Lock()
		defer c.mu.Unlock()
		for i, item := range p.Items {
			section := ""
			if item.Section != nil {
				section = *item.Section
			}
			values[i] = setting(c.o.Settings, section)
		}
		return values, nil
	case protocol.MethodWorkspaceWorkspaceFolders:
		if len(c.o.Folders) == 0 {
			return nil, nil
		}
		return c.o.Folders, nil
	case protocol.MethodWindowShowMessageRequest:
		var p protocol.ShowMessageRequestParams
		if err := decodeParams(params, &p); err != nil {
			return nil, err
		}
		if c.o.Choose == nil {
			return nil, nil
		}
		title := c.o.Choose(&p)
		if title == "" {
			return nil, nil
		}
		if !slices.ContainsFunc(p.Actions, func(a protocol.MessageActionItem) bool { return a.Title == title }) {
			c.complain("the user is to choose %q, which is no button of %s", title, cut(params))
		}
		return map[string]string{"title": title}, nil
	case protocol.MethodWindowShowDocument:
		return map[string]bool{"success": true}, nil
	case protocol.MethodClientRegisterCapability:
		return nil, c.register(params)
	case protocol.MethodClientUnregisterCapability:
		return nil, c.unregister(params)
	case protocol.MethodWorkspaceApplyEdit:
		var p protocol.ApplyWorkspaceEditParams
		if err := decodeParams(params, &p); err != nil {
			return nil, err
		}
		if err := c.apply(&p.Edit); err != nil {
			reason := err.Error()
			return &protocol.ApplyWorkspaceEditResult{FailureReason: &reason}, nil
		}
		return &protocol.ApplyWorkspaceEditResult{Applied: true}, nil
	}
	return nil, nil
}

// complain fails the test from a goroutine that is not its own.
func (c *Client) complain(format string, args ...any) {
	c.t.Errorf("lsptest: "+format, args...)
}

func decodeParams(raw json.RawMessage, v any) error {
	if lsp.Codec.Unmarshal(raw, v) != nil {
		return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "params do not decode"}
	}
	return nil
}

// setting finds a section, nil if there is none.
func setting(settings map[string]any, section string) any {
	if section == "" {
		if settings == nil {
			return nil
		}
		return settings
	}
	if v, ok := settings[section]; ok {
		return v
	}
	for i := range len(section) {
		if section[i] != '.' {
			continue
		}
		if below, ok := settings[section[:i]].(map[string]any); ok {
			if v := setting(below, section[i+1:]); v != nil {
				return v
			}
		}
	}
	return nil
}

// Configure is the user who changes the settings: they answer workspace/configuration from now on, and the server is told (workspace/didChangeConfiguration).
func (c *Client) Configure(settings map[string]any) {
	c.t.Helper()
	c.mu.Lock()
	c.o.Settings = settings
	c.mu.Unlock()
	c.Notify(protocol.MethodWorkspaceDidChangeConfiguration, map[string]any{"settings": settings})
}

func (c *Client) register(params json.RawMessage) error {
	var p protocol.RegistrationParams
	if err := decodeParams(params, &p); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range p.Registrations {
		if slices.ContainsFunc(c.regs, func(have protocol.Registration) bool { return have.ID == r.ID }) {
			c.complain("the server registered the id %q twice", r.ID)
		}
		c.regs = append(c.regs, r)
	}
	return nil
}

func (c *Client) unregister(params json.RawMessage) error {
	var p protocol.UnregistrationParams
	if err := decodeParams(params, &p); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, u := range p.Unregisterations {
		n := len(c.regs)
		c.regs = slices.DeleteFunc(c.regs, func(r protocol.Registration) bool { return r.ID == u.ID && r.Method == u.Method })
		if len(c.regs) == n {
			c.complain("the server took back %q of %q, which it had not registered", u.ID, u.Method)
		}
	}
	return nil
}

// Registrations are what the server has registered and not taken back (client/registerCapability).
func (c *Client) Registrations() []protocol.Registration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.regs)
}

// Registered waits until the server has registered a method and returns the registration.
func (c *Client) Registered(method string) protocol.Registration {
	c.t.Helper()
	var found protocol.Registration
	c.await("registration of "+method, func() bool { return c.registered(method, &found) })
	return found
}

// registered looks for a registration. The lock is held.
func (c *Client) registered(method string, found *protocol.Registration) bool {
	for _, r := range c.regs {
		if r.Method == method {
			*found = r
			return true
		}
	}
	return false
}
