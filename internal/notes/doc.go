// Package notes is a workspace of Markdown notes: it reads a folder, knows how
// the notes link to each other, finds broken links and searches the text. It
// knows no protocol; the demo servers put one language server and one MCP
// server on top of it.
//
// # Opening
//
// [Open] reads a folder, [OpenFS] any file system, [New] a map, and [Sample]
// needs nothing at all:
//
//	w, err := notes.Open("/home/ann/notes", nil)
//	if err != nil { ... }
//	defer w.Close()
//
// # Notes
//
// [Workspace.Notes] lists the notes by path, [Workspace.Note] finds one by its
// slug and [Workspace.At] by its path. Paths are relative to the root and
// slash-separated. A slug is the path without ".md" ([SlugOf], [PathOf]); put
// it into a URI with url.PathEscape. [Workspace.Rel] and [Workspace.Abs]
// translate from and to absolute file paths.
//
// A [Note] is immutable, and all its positions are byte offsets into Note.Text:
// headings, links, tags, definitions and front matter each carry a [Span], and
// [Note.Position] gives line and column of an offset.
//
// # Links
//
// [Workspace.Resolve] follows a link to a note and heading, or tells why it
// cannot: the error is one of [ErrNoNote], [ErrNoHeading], [ErrNoFile] and
// [ErrOutside]. [Workspace.Check] lists all problems of a note,
// [Workspace.Backlinks] who links to it. [Note.LinkAt] finds the link under a
// cursor and [Preview] the text to show for it. Links with a scheme or a host
// are never checked and never fetched.
//
// # Unsaved text
//
// [Workspace.SetOverlay] puts the text of an open editor over a note and
// [Workspace.ClearOverlay] takes it away. Both return a [Change] that names the
// other notes whose links the edit may have mended or broken.
//
// # Files
//
// [Workspace.Watch] follows the folder, [Workspace.Refresh] reads single files
// again. [Workspace.Create], [Workspace.Write], [Workspace.Remove] and
// [Workspace.Move] change it: each in one step that leaves the old file or the
// new one, never a part, and a write names the version it is meant for, so that
// of two writers one gets a [ConflictError] with the current note. What
// .gitignore files exclude, hidden directories and node_modules are passed over.
//
// # Editing
//
// [Workspace.RenameHeading] and [Workspace.RenameNote] return the edits that
// keep all links whole, [Workspace.Complete] what can follow at a cursor,
// [Workspace.Suggest] what a broken link may have meant. They change nothing
// themselves: an editor applies the edits, or [NoteEdits.Apply] does.
//
// # Bounds
//
// Any text is accepted: invalid UTF-8, CRLF, a million brackets. Sizes are
// bounded by [Options]. A path that leaves the root is refused, and so is a
// symbolic link out of it.
//
// All methods of Workspace are safe for concurrent use, and the zero Options
// are good ones.
package notes
