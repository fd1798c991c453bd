package lsp

import (
	"context"
	"fmt"
	"reflect"
	"strconv"
	"sync/atomic"

	"go.lsp.dev/protocol"
)

// Registration is a method that was registered dynamically and can be taken back.
type Registration struct {
	c      *Client
	id     string
	method string
	gone   atomic.Bool
}

// Register tells the client that a method is served from now on (client/registerCapability). options are the registration options that LSP 3.18 has for the
// method, a pointer to them, or nil for none: protocol.HoverRegistrationOptions for textDocument/hover. With [Options].Dynamic the functions of the Server
// are registered without a call of this.
//
// Methods that are registered together go by the name of the specification: textDocument/semanticTokens, notebookDocument/sync. A client that does not allow
// it for the method gets an error that wraps [ErrUnsupported]; options of another type, and a method that the specification does not register, are
// errors as well. Extensions of the protocol can be registered by calling the client through [Client.Conn].
func (c *Client) Register(ctx context.Context, method string, options any) (*Registration, error) {
	rt := registrable(method)
	if rt == nil {
		return nil, fmt.Errorf("lsp: %q cannot be registered", method)
	}
	r := protocol.Registration{Method: method}
	if options != nil {
		if t := reflect.TypeOf(options); t != reflect.TypeOf(rt.register) && t != reflect.PointerTo(reflect.TypeOf(rt.register)) {
			return nil, fmt.Errorf("lsp: %s takes %T, not %T", method, rt.register, options)
		}
		raw, err := Codec.Marshal(options)
		if err != nil {
			return nil, fmt.Errorf("lsp: options of %s: %w", method, err)
		}
		r.RegisterOptions = raw
	}
	if c.s == nil {
		return nil, ErrNoClient
	}
	if can := rt.dynamic(); !c.Can(can) {
		return nil, &CapabilityError{Method: method, Capability: can}
	}
	r.ID = "tandem-" + strconv.FormatInt(c.ids.Add(1), 10)
	err := c.call(ctx, protocol.MethodClientRegisterCapability, &protocol.RegistrationParams{Registrations: []protocol.Registration{r}}, nil)
	if err != nil {
		return nil, err
	}
	return &Registration{c: c, id: r.ID, method: method}, nil
}

// registrable finds the row of a method by the name under which it is registered.
func registrable(method string) *route {
	for i := range routes() {
		if rt := &routes()[i]; rt.register != nil && (rt.under == method || rt.under == "" && rt.method == method) {
			return rt
		}
	}
	return nil
}

// Unregister takes the registration back (client/unregisterCapability). A second call does nothing, and neither does one on nil.
func (r *Registration) Unregister(ctx context.Context) error {
	if r == nil || !r.gone.CompareAndSwap(false, true) {
		return nil
	}
	return r.c.call(ctx, protocol.MethodClientUnregisterCapability, &protocol.UnregistrationParams{
		Unregisterations: []protocol.Unregistration{{ID: r.id, Method: r.method}},
	}, nil)
}

// Watch has the client tell [Server.DidChangeWatchedFiles] about changes of files, until the registration is taken back. It needs the capability
// workspace.didChangeWatchedFiles.dynamicRegistration; there is no other way to ask for it. A pattern relative to a folder is sent only to clients with
// workspace.didChangeWatchedFiles.relativePatternSupport.
func (c *Client) Watch(ctx context.Context, watchers ...protocol.FileSystemWatcher) (*Registration, error) {
	const method, relative = protocol.MethodWorkspaceDidChangeWatchedFiles, "workspace.didChangeWatchedFiles.relativePatternSupport"
	for _, w := range watchers {
		if _, ok := w.GlobPattern.(*protocol.RelativePattern); ok && !c.Can(relative) {
			return nil, &CapabilityError{Method: method, Capability: relative}
		}
	}
	return c.Register(ctx, method, protocol.DidChangeWatchedFilesRegistrationOptions{Watchers: watchers})
}

// Watcher watches the files that match a glob pattern, "**/*.md", in all folders. kinds are the changes to be told of; none means all.
func Watcher(glob string, kinds ...protocol.WatchKind) protocol.FileSystemWatcher {
	w := protocol.FileSystemWatcher{GlobPattern: protocol.Pattern(glob)}
	for _, k := range kinds {
		w.Kind |= k
	}
	return w
}

// registerLater sends the registrations that take the place of capabilities. Nobody waits for the answer.
func (s *session) registerLater() {
	rs := s.later
	if len(rs) == 0 {
		return
	}
	s.spawn(func() {
		err := s.client.call(s.ctx, protocol.MethodClientRegisterCapability, &protocol.RegistrationParams{Registrations: rs}, nil)
		s.fail(s.ctx, nil, err)
	})
}
