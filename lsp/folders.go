package lsp

import (
	"context"
	"slices"
	"strings"
	"sync"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// folders are the workspace folders as the client told of them.
type folders struct {
	mu   sync.Mutex
	list []protocol.WorkspaceFolder // replaced, never changed
}

// Folders returns the workspace folders: those of initialize, kept up to date with workspace/didChangeWorkspaceFolders. A client that knows of no folders
// has one, its rootUri, or none. The slice is the caller's.
func (c *Client) Folders() []protocol.WorkspaceFolder {
	c.folders.mu.Lock()
	defer c.folders.mu.Unlock()
	return slices.Clone(c.folders.list)
}

// AskFolders asks the client for the workspace folders (workspace/workspaceFolders); nil if there is none. [Client.Folders] has them without asking.
func (c *Client) AskFolders(ctx context.Context) ([]protocol.WorkspaceFolder, error) {
	var list []protocol.WorkspaceFolder
	err := c.call(ctx, protocol.MethodWorkspaceWorkspaceFolders, nil, &list)
	return list, err
}

// first takes the folders of initialize.
func (f *folders) first(p *protocol.InitializeParams) {
	list, ok := p.WorkspaceFolders.Get()
	//lint:ignore SA1019 there are clients that know no other way to name the folder
	if root := p.RootURI; !ok && root != nil {
		list = []protocol.WorkspaceFolder{{URI: *root, Name: nameOf(*root)}}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = list
}

// nameOf is what a folder is called that the client has no name for.
func nameOf(u uri.URI) string {
	path := strings.TrimRight(u.Path(), "/")
	return path[strings.LastIndexByte(path, '/')+1:]
}

// didChangeWorkspaceFolders brings the folders up to date before the user's function runs.
func (s *session) didChangeWorkspaceFolders(ctx context.Context, r *jsonrpc2.Request) (any, error) {
	if !r.HasParams() {
		return nil, jsonrpc2.ErrInvalidParams
	}
	p := new(protocol.DidChangeWorkspaceFoldersParams)
	if err := r.Decode(p); err != nil {
		return nil, err
	}
	f := &s.client.folders
	f.mu.Lock()
	next := slices.Clone(f.list)
	for _, gone := range append(slices.Clone(p.Event.Removed), p.Event.Added...) { // one that is added again has a new name
		next = slices.DeleteFunc(next, func(w protocol.WorkspaceFolder) bool { return KeyOf(w.URI) == KeyOf(gone.URI) })
	}
	f.list = append(next, p.Event.Added...)
	f.mu.Unlock()
	if s.srv.DidChangeWorkspaceFolders != nil {
		return nil, s.srv.DidChangeWorkspaceFolders(ctx, p)
	}
	return nil, nil
}
