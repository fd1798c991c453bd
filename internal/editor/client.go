package editor

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/lsp"
)

// client is one editor.
type client struct {
	*lsp.Client
	d       *Server
	folders []*folder // under Server.mu
	can     abilities

	moved   atomic.Pointer[move] // the last note that a rename moved
	painted painted
}

// abilities are what the editor has said it can do, as far as answers depend on it.
type abilities struct {
	documentChanges, renameFiles, createFiles   bool
	labelDetails, insertReplace                 bool
	definitionLinks, related, unnecessary       bool
	watchesFiles, nestedSymbols, actionLiterals bool
	tokenDeltas, hintTooltips, linkTooltips     bool
	symbolRanges                                bool
}

func yes(b *bool) bool { return b != nil && *b }

func abilitiesOf(c *protocol.ClientCapabilities) (a abilities) {
	if w := c.Workspace; w != nil {
		if e := w.WorkspaceEdit; e != nil {
			a.documentChanges = yes(e.DocumentChanges)
			a.renameFiles = a.documentChanges && slices.Contains(e.ResourceOperations, protocol.ResourceOperationKindRename)
			a.createFiles = a.documentChanges && slices.Contains(e.ResourceOperations, protocol.ResourceOperationKindCreate)
		}
		a.symbolRanges = w.Symbol != nil && slices.Contains(w.Symbol.ResolveSupport.Properties, "location.range")
		a.watchesFiles = w.DidChangeWatchedFiles != nil && yes(w.DidChangeWatchedFiles.DynamicRegistration)
	}
	if t := c.TextDocument; t != nil {
		if t.Completion != nil && t.Completion.CompletionItem != nil {
			a.labelDetails = yes(t.Completion.CompletionItem.LabelDetailsSupport)
			a.insertReplace = yes(t.Completion.CompletionItem.InsertReplaceSupport)
		}
		a.definitionLinks = t.Definition != nil && yes(t.Definition.LinkSupport)
		a.nestedSymbols = t.DocumentSymbol != nil && yes(t.DocumentSymbol.HierarchicalDocumentSymbolSupport)
		a.actionLiterals = t.CodeAction != nil && len(t.CodeAction.CodeActionLiteralSupport.CodeActionKind.ValueSet) > 0
		full, ok := t.SemanticTokens.Requests.Full.(*protocol.ClientSemanticTokensRequestFullDelta)
		a.tokenDeltas = ok && yes(full.Delta)
		a.hintTooltips = t.InlayHint != nil && slices.Contains(t.InlayHint.ResolveSupport.Properties, "tooltip")
		a.linkTooltips = t.DocumentLink != nil && yes(t.DocumentLink.TooltipSupport)
		if p := t.PublishDiagnostics; p != nil {
			a.related = yes(p.RelatedInformation)
			a.unnecessary = slices.Contains(p.TagSupport.ValueSet, protocol.DiagnosticTagUnnecessary)
		}
	}
	return a
}

// client returns the editor that a message comes from.
func (d *Server) client(ctx context.Context) *client {
	lc := lsp.ClientFrom(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.clients[lc]; c != nil {
		return c
	}
	return &client{Client: lc, d: d}
}

// initialize begins to read the folders that the editor has open. It does not wait for that, and one that cannot be read is no reason to refuse the
// session.
func (d *Server) initialize(ctx context.Context, p *protocol.InitializeParams, _ *protocol.InitializeResult) error {
	c := &client{Client: lsp.ClientFrom(ctx), d: d, can: abilitiesOf(&p.Capabilities)}
	dirs := rootDirs(p)
	if d.root != "" {
		dirs = []string{d.root}
	}
	for _, dir := range dirs {
		c.folders = append(c.folders, d.folder(dir))
	}
	d.mu.Lock()
	d.clients[c.Client] = c
	d.mu.Unlock()
	if conn := c.Conn(); conn != nil {
		d.own.Go(func() {
			select {
			case <-conn.Done():
			case <-d.ctx.Done():
			}
			c.leave()
		})
	}
	return nil
}

// leave takes what the editor had open out of the workspaces.
func (c *client) leave() {
	d := c.d
	d.mu.Lock()
	delete(d.clients, c.Client)
	folders := c.folders
	c.folders = nil
	d.mu.Unlock()
	for _, f := range folders {
		d.leave(f)
	}
	d.requeue()
}

// requeue settles all documents anew in the background: they may belong elsewhere now, or be open no more.
func (d *Server) requeue() {
	d.mu.Lock()
	for _, s := range d.slots {
		d.queue(s)
	}
	d.mu.Unlock()
}

// rootDirs are the paths of the folders on disk that the client names.
func rootDirs(p *protocol.InitializeParams) []string {
	var uris []uri.URI
	if folders, ok := p.WorkspaceFolders.Get(); ok {
		for _, f := range folders {
			uris = append(uris, f.URI)
		}
	}
	//lint:ignore SA1019 there are clients that know no other way to name the folder
	if root := p.RootURI; root != nil && len(uris) == 0 {
		uris = append(uris, *root)
	}
	var dirs []string
	for _, u := range uris {
		if dir, ok := dirOf(u); ok && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	//lint:ignore SA1019 and some have but a path
	if root, ok := p.RootPath.Get(); ok && len(uris) == 0 {
		if dir, ok := dirOf(uri.File(root)); ok {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// dirOf returns the path of a folder, unless it is the whole disk.
func dirOf(u uri.URI) (string, bool) {
	if !u.IsFile() || len(u.Path()) <= 1 {
		return "", false
	}
	return u.FsPath(), true
}

// slowFolder is how long a folder may take to be read before the user is shown that it does.
const slowFolder = 200 * time.Millisecond

// initialized tells the user about folders that take long to read, or cannot be.
func (d *Server) initialized(ctx context.Context) error {
	c := d.client(ctx)
	d.mu.Lock()
	folders := slices.Clone(c.folders)
	d.mu.Unlock()
	if err := c.register(ctx); err != nil {
		_ = c.LogMessage(ctx, protocol.MessageTypeInfo, "The editor does not watch files; changes on disk are found without it.")
	}
	for _, f := range folders {
		if err := c.announce(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

func (c *client) announce(ctx context.Context, f *folder) error {
	soon, stop := context.WithTimeout(ctx, slowFolder)
	defer stop()
	if f.wait(soon) != nil && ctx.Err() == nil {
		work := c.Begin(ctx, lsp.Work{Title: "Reading notes", Percent: true})
		defer work.End("")
		for tick := time.NewTicker(slowFolder); ; {
			select {
			case <-f.ready:
			case <-ctx.Done():
			case <-tick.C:
				if done, total := f.read.Load(), f.total.Load(); total > 0 {
					work.Report(fmt.Sprintf("%d/%d", done, total), int(100*done/total))
				}
				continue
			}
			tick.Stop()
			break
		}
	}
	if err := f.wait(ctx); err != nil {
		return err
	}
	if f.err != nil {
		return c.ShowMessage(ctx, protocol.MessageTypeWarning, fmt.Sprintf("The folder %q cannot be read: links are not checked.", f.dir))
	}
	return nil
}

// foldersChanged follows the editor's folders.
func (d *Server) foldersChanged(ctx context.Context, p *protocol.DidChangeWorkspaceFoldersParams) error {
	if d.root != "" {
		return nil
	}
	c := d.client(ctx)
	for _, removed := range p.Event.Removed {
		dir, _ := dirOf(removed.URI)
		d.mu.Lock()
		i := slices.IndexFunc(c.folders, func(f *folder) bool { return f.dir == dir })
		var gone *folder
		if i >= 0 {
			gone = c.folders[i]
			c.folders = slices.Delete(c.folders, i, i+1)
		}
		d.mu.Unlock()
		if gone != nil {
			d.leave(gone)
		}
	}
	for _, added := range p.Event.Added {
		dir, ok := dirOf(added.URI)
		if !ok {
			continue
		}
		f := d.folder(dir)
		d.mu.Lock()
		known := slices.Contains(c.folders, f)
		if !known {
			c.folders = append(c.folders, f)
		}
		d.mu.Unlock()
		if known {
			d.leave(f)
			continue
		}
		d.own.Go(func() {
			_ = c.announce(d.ctx, f) // the connection may end meanwhile
		})
	}
	d.requeue()
	c.RediagnoseWorkspace()
	return nil
}
