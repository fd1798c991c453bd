package editor

import (
	"context"
	"path"
	"slices"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/internal/notes"
	"github.com/tandem-rpc/tandem/lsp"
)

// watch follows the files of a folder, until ctx ends.
func (d *Server) watch(ctx context.Context, f *folder) {
	// Where files cannot be watched, the editor still says what it sees.
	_ = f.Watch(ctx, func(changes []notes.Change) { d.changed(f, changes...) })
}

// register asks the editor, if it can, to watch files as well: it may see what the system does not tell, on a network file system for instance.
func (c *client) register(ctx context.Context) error {
	if !c.can.watchesFiles {
		return nil
	}
	_, err := c.Watch(ctx, lsp.Watcher("**/*.{md,markdown}"), lsp.Watcher("**/.gitignore"))
	return err
}

// filesChanged reads files again that the editor says have changed.
func (d *Server) filesChanged(_ context.Context, p *protocol.DidChangeWatchedFilesParams) error {
	list := map[*folder][]string{}
	d.mu.Lock()
	folders := slices.Concat(d.folders, d.loose)
	d.mu.Unlock()
	for _, e := range p.Changes {
		if !e.URI.IsFile() {
			continue
		}
		for _, f := range folders {
			if file := e.URI.FsPath(); f.covers(file) {
				list[f] = append(list[f], file)
			}
		}
	}
	for f, files := range list {
		d.own.Go(func() {
			if f.wait(d.ctx) != nil {
				return
			}
			var paths []string
			for _, file := range files {
				if p, ok := f.Rel(file); ok && path.Base(p) != "" {
					paths = append(paths, p)
				}
			}
			if changes, err := f.Refresh(paths...); err == nil { // else the folder is closed
				d.changed(f, changes...)
			}
		})
	}
	return nil
}

// redraw has the editor ask again for what counts or marks links.
func (c *client) redraw() {
	c.RefreshSoon(protocol.MethodWorkspaceInlayHintRefresh, protocol.MethodWorkspaceCodeLensRefresh, protocol.MethodWorkspaceSemanticTokensRefresh)
}

// recounts reports whether a change may alter how many links lead to something.
func recounts(c notes.Change) bool {
	if c.Old == nil || c.New == nil || len(c.Affected) > 0 {
		return true
	}
	return !slices.EqualFunc(c.Old.Links, c.New.Links, func(a, b notes.Link) bool { return a.Kind == b.Kind && a.Dest == b.Dest })
}
