package lsp

import (
	"context"
	"errors"
	"fmt"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// ErrNotApplied is wrapped by the error of ApplyEdit when the client answered that it did not apply the edit.
var ErrNotApplied = errors.New("lsp: client did not apply the edit")

// EditError is what the client says of an edit that it did not apply.
type EditError struct {
	Reason       string  // for logs; the client's text. May be empty
	FailedChange *uint32 // which of the changes failed, where the client says so
}

// Error quotes the reason.
func (e *EditError) Error() string {
	text := ErrNotApplied.Error()
	if e.Reason != "" {
		text = fmt.Sprintf("%s: %q", text, e.Reason)
	}
	if e.FailedChange != nil {
		text = fmt.Sprintf("%s (change %d)", text, *e.FailedChange)
	}
	return text
}

// Unwrap returns [ErrNotApplied].
func (e *EditError) Unwrap() error { return ErrNotApplied }

// ApplyEdit asks the client to change documents (workspace/applyEdit). label is what the user sees in the undo list. If the client does not, the error
// is an [*EditError] with its reason. It needs the capability workspace.applyEdit. [Edits] makes edits that are refused for documents which have changed
// meanwhile.
func (c *Client) ApplyEdit(ctx context.Context, label string, edit protocol.WorkspaceEdit) error {
	p := &protocol.ApplyWorkspaceEditParams{Edit: edit}
	if label != "" {
		p.Label = &label
	}
	var r protocol.ApplyWorkspaceEditResult
	if err := c.call(ctx, protocol.MethodWorkspaceApplyEdit, p, &r); err != nil {
		return err
	}
	if r.Applied {
		return nil
	}
	e := &EditError{FailedChange: r.FailedChange}
	if r.FailureReason != nil {
		e.Reason = *r.FailureReason
	}
	return e
}

// Edits gathers changes of documents and files into a WorkspaceEdit in the form that the client understands. Changes of a [Document] carry its version: the
// client refuses them if the user has typed on meanwhile. The zero value is ready to use; it is for one goroutine at a time.
type Edits struct{ list []protocol.DocumentChange }

// Change adds edits of an open document, with positions in its text. The edits must not overlap.
func (e *Edits) Change(d *Document, edits ...protocol.TextEdit) *Edits {
	version := d.Version()
	return e.change(d.URI(), &version, edits)
}

// ChangeFile adds edits of a document that need not be open. They carry no version.
func (e *Edits) ChangeFile(u uri.URI, edits ...protocol.TextEdit) *Edits {
	return e.change(u, nil, edits)
}

func (e *Edits) change(u uri.URI, version *int32, edits []protocol.TextEdit) *Edits {
	c := &protocol.TextDocumentEdit{Edits: make([]protocol.TextDocumentEditElement, len(edits))}
	c.TextDocument.URI, c.TextDocument.Version = u, version
	for i := range edits {
		c.Edits[i] = &edits[i]
	}
	e.list = append(e.list, c)
	return e
}

// Create adds a new file.
func (e *Edits) Create(u uri.URI, options *protocol.CreateFileOptions) *Edits {
	e.list = append(e.list, &protocol.CreateFile{Kind: "create", URI: u, Options: options})
	return e
}

// Rename adds another name for a file or folder.
func (e *Edits) Rename(from, to uri.URI, options *protocol.RenameFileOptions) *Edits {
	e.list = append(e.list, &protocol.RenameFile{Kind: "rename", OldURI: from, NewURI: to, Options: options})
	return e
}

// Delete adds the end of a file or folder.
func (e *Edits) Delete(u uri.URI, options *protocol.DeleteFileOptions) *Edits {
	e.list = append(e.list, &protocol.DeleteFile{Kind: "delete", URI: u, Options: options})
	return e
}

// For returns the edit for a client. One without workspace.workspaceEdit.documentChanges gets changes by URI, without versions. Operations on files need
// workspace.workspaceEdit.resourceOperations to name them; else the error wraps [ErrUnsupported].
func (e *Edits) For(c *Client) (protocol.WorkspaceEdit, error) {
	versions := c.Can("workspace.workspaceEdit.documentChanges")
	edit := protocol.WorkspaceEdit{}
	for _, change := range e.list {
		text, ok := change.(*protocol.TextDocumentEdit)
		if !ok {
			if kind := operation(change); !c.operates(kind) {
				return protocol.WorkspaceEdit{}, &CapabilityError{
					Method: protocol.MethodWorkspaceApplyEdit, Capability: "workspace.workspaceEdit.resourceOperations with " + kind,
				}
			}
			continue
		}
		if versions {
			continue
		}
		if edit.Changes == nil {
			edit.Changes = map[uri.URI][]protocol.TextEdit{}
		}
		u := text.TextDocument.URI
		for _, t := range text.Edits {
			edit.Changes[u] = append(edit.Changes[u], *t.(*protocol.TextEdit))
		}
	}
	if versions {
		edit.DocumentChanges = e.list
	}
	return edit, nil
}

func operation(c protocol.DocumentChange) string {
	switch c := c.(type) {
	case *protocol.CreateFile:
		return c.Kind
	case *protocol.RenameFile:
		return c.Kind
	case *protocol.DeleteFile:
		return c.Kind
	}
	return ""
}

// operates reports whether the client can do an operation on files in an edit.
func (c *Client) operates(kind string) bool {
	if !c.Can("workspace.workspaceEdit.documentChanges") {
		return false
	}
	list := c.capability("workspace.workspaceEdit.resourceOperations")
	for e, i := nextElement(list, 0); e != nil; e, i = nextElement(list, i) {
		if s, ok := text(e); ok && s == kind {
			return true
		}
	}
	return false
}
