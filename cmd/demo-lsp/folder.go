package main

import (
	"strings"

	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/internal/notes"
)

// folder is a workspace whose notes have URIs: those of their files, or below sampleRoot for one that is not on disk.
type folder struct{ *notes.Workspace }

const sampleRoot = "/sample/"

// path turns a URI into the path of a note in the workspace. For what is not in it, an unsaved text perhaps, it makes a name up; see holds.
func (f *folder) path(u uri.URI) string {
	if u.IsFile() {
		if f.Dir() != "" {
			if p, ok := f.Rel(u.FsPath()); ok {
				return p
			}
		} else if p, ok := strings.CutPrefix(u.Path(), sampleRoot); ok {
			return p
		}
	}
	return elsewhere
}

// elsewhere is no path that a note can have.
const elsewhere = "../elsewhere.md"

// holds reports whether the path is in the workspace, or could be.
func (f *folder) holds(p string) bool { return p != elsewhere && notes.IsNote(p) }

func (f *folder) uri(p string) uri.URI {
	if f.Dir() != "" {
		return uri.File(f.Abs(p))
	}
	u, err := uri.From(uri.Components{Scheme: "file", Path: sampleRoot + p})
	if err != nil {
		return "" // no path of a note gives one
	}
	return u
}
