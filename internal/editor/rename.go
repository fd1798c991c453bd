package editor

import (
	"context"
	"errors"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/internal/notes"
	"github.com/tandem-rpc/tandem/lsp"
)

// move is the renaming of a file that a rename has asked the editor for.
type move struct {
	from, to string
	at       time.Time
}

func (d *Server) prepareRename(ctx context.Context, p *protocol.PrepareRenameParams) (protocol.PrepareRenameResult, error) {
	v, offset, err := d.look(ctx, &p.TextDocumentPositionParams)
	if err != nil {
		return nothing[protocol.PrepareRenameResult](err)
	}
	s, ok := v.SubjectAt(v.note, offset)
	if !ok {
		return nil, nil
	}
	if err := v.renamable(s); err != nil {
		return nil, err
	}
	return &protocol.PrepareRenamePlaceholder{Range: v.doc.Range(s.Span.Start, s.Span.End), Placeholder: s.Name}, nil
}

// renamable returns the reason, if there is one, for which a subject cannot get another name.
func (v *view) renamable(s notes.Subject) error {
	if s.Kind != notes.NoteSubject {
		return nil
	}
	if v.dir == "" {
		return lsp.RequestFailed("This note is not in a folder: it cannot be moved.")
	}
	if !v.client.can.renameFiles {
		return lsp.RequestFailed("The editor cannot rename files on behalf of a server.")
	}
	if _, stored := v.Stored(s.Note.Path); !stored {
		return lsp.RequestFailed("The note has not been saved yet.")
	}
	return nil
}

// rename gives what stands at a position another name, in every note that names it.
func (d *Server) rename(ctx context.Context, p *protocol.RenameParams) (*protocol.WorkspaceEdit, error) {
	v, offset, err := d.look(ctx, &p.TextDocumentPositionParams)
	if err != nil {
		return nothing[*protocol.WorkspaceEdit](err)
	}
	s, ok := v.SubjectAt(v.note, offset)
	if !ok {
		return nil, lsp.RequestFailed("There is nothing to rename here.")
	}
	if err := v.renamable(s); err != nil {
		return nil, err
	}
	var edits []notes.NoteEdits
	var files []protocol.DocumentChange
	switch s.Kind {
	case notes.HeadingSubject:
		edits, err = v.RenameHeading(s.Note, s.Heading, p.NewName)
	case notes.TagSubject:
		edits, err = v.RenameTag(s.Name, p.NewName)
	case notes.LabelSubject:
		edits, err = v.RenameLabel(s.Note, s.Name, p.NewName)
	case notes.NoteSubject:
		var to string
		if to, err = notes.NewPath(s.Note.Path, p.NewName); err == nil && to != s.Note.Path {
			edits, err = v.RenameNote(s.Note.Path, to)
			files = append(files, v.moveFile(s.Note, to))
		}
	}
	var conflict *notes.ConflictError
	if errors.As(err, &conflict) { // edited while this request waited
		return nil, lsp.ContentModified
	}
	if err != nil {
		return nil, lsp.RequestFailed(err.Error())
	}
	return v.workspaceEdit(edits, files...)
}

// moveFile returns the operation that moves the file of a note.
func (v *view) moveFile(n *notes.Note, to string) *protocol.RenameFile {
	op := &protocol.RenameFile{Kind: string(protocol.ResourceOperationKindRename), OldURI: v.uri(n), NewURI: v.folder.uri(to)}
	v.client.moved.Store(&move{from: n.Path, to: to, at: time.Now()})
	return op
}

// ownMove is how long after a rename the editor's question about that very move is taken for its consequence. The edits are made by then.
const ownMove = 10 * time.Second

// willRename returns the edits that keep links whole when the user moves files or directories.
func (d *Server) willRename(ctx context.Context, p *protocol.RenameFilesParams) (*protocol.WorkspaceEdit, error) {
	if err := d.settleAll(ctx); err != nil {
		return nil, err
	}
	moves := map[*folder][]notes.Move{}
	for _, file := range p.Files {
		from, to := uri.URI(file.OldURI), uri.URI(file.NewURI)
		if !from.IsFile() || !to.IsFile() {
			continue
		}
		f := d.folderOf(from.FsPath())
		if f == nil || !f.covers(to.FsPath()) {
			continue // what leaves the folder takes its links along
		}
		if err := f.wait(ctx); err != nil {
			return nil, err
		}
		old, ok1 := f.Rel(from.FsPath())
		now, ok2 := f.Rel(to.FsPath())
		if ok1 && ok2 {
			moves[f] = append(moves[f], notes.Move{From: old, To: now})
		}
	}
	c := d.client(ctx)
	var all *protocol.WorkspaceEdit
	for f, list := range moves {
		if m := c.moved.Swap(nil); m != nil && len(list) == 1 && list[0] == (notes.Move{From: m.from, To: m.to}) && time.Since(m.at) < ownMove {
			continue
		}
		edits, err := f.RenameFiles(list)
		if err != nil {
			return nil, lsp.RequestFailed(err.Error())
		}
		e, err := d.over(ctx, f).workspaceEdit(edits)
		if err != nil {
			return nil, err
		}
		all = merge(all, e)
	}
	return all, nil
}

func merge(a, b *protocol.WorkspaceEdit) *protocol.WorkspaceEdit {
	if a == nil {
		return b
	}
	a.DocumentChanges = append(a.DocumentChanges, b.DocumentChanges...)
	for u, edits := range b.Changes {
		a.Changes[u] = edits
	}
	return a
}

// didRename reads files again at once that were moved; the watcher would take a moment.
func (d *Server) didRename(ctx context.Context, p *protocol.RenameFilesParams) error {
	var changed protocol.DidChangeWatchedFilesParams
	for _, file := range p.Files {
		for _, u := range []string{file.OldURI, file.NewURI} {
			changed.Changes = append(changed.Changes, protocol.FileEvent{URI: uri.URI(u)})
		}
	}
	return d.filesChanged(ctx, &changed)
}

// didCreate and didDelete read at once what the editor has made or deleted.
func (d *Server) didCreate(ctx context.Context, p *protocol.CreateFilesParams) error {
	var changed protocol.DidChangeWatchedFilesParams
	for _, file := range p.Files {
		changed.Changes = append(changed.Changes, protocol.FileEvent{URI: uri.URI(file.URI)})
	}
	return d.filesChanged(ctx, &changed)
}

func (d *Server) didDelete(ctx context.Context, p *protocol.DeleteFilesParams) error {
	var changed protocol.DidChangeWatchedFilesParams
	for _, file := range p.Files {
		changed.Changes = append(changed.Changes, protocol.FileEvent{URI: uri.URI(file.URI)})
	}
	return d.filesChanged(ctx, &changed)
}

// linkedRanges are the places in a note where a label stands, for editors that type at all of them at once: those that spell it the same way.
func (d *Server) linkedRanges(ctx context.Context, p *protocol.LinkedEditingRangeParams) (*protocol.LinkedEditingRanges, error) {
	v, offset, err := d.look(ctx, &p.TextDocumentPositionParams)
	if err != nil {
		return nothing[*protocol.LinkedEditingRanges](err)
	}
	s, ok := v.SubjectAt(v.note, offset)
	if !ok || s.Kind != notes.LabelSubject {
		return nil, nil
	}
	pattern := `[^\[\]\\\r\n]+`
	out := &protocol.LinkedEditingRanges{WordPattern: &pattern}
	for _, u := range v.Uses(s) {
		if u.Note.Path == v.note.Path && v.note.Slice(u.Span) == v.note.Slice(s.Span) {
			out.Ranges = append(out.Ranges, v.doc.Range(u.Span.Start, u.Span.End))
		}
	}
	if len(out.Ranges) < 2 {
		return nil, nil
	}
	return out, nil
}

// folderOf returns the folder that a file, or a directory, lies in, nil if there is none.
func (d *Server) folderOf(file string) *folder {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, f := range d.folders {
		if f.covers(file) {
			return f
		}
	}
	for _, f := range d.loose {
		if f.covers(file) {
			return f
		}
	}
	return nil
}

// renamed is what the server is asked about before and after files are moved: notes, and directories, which may hold some.
func renamed() protocol.FileOperationRegistrationOptions {
	scheme := "file"
	return protocol.FileOperationRegistrationOptions{Filters: []protocol.FileOperationFilter{
		{Scheme: &scheme, Pattern: protocol.FileOperationPattern{Glob: "**/*"}},
	}}
}
