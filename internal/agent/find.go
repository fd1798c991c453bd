package agent

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/tandem-rpc/tandem/internal/notes"
)

// place is a note where it is.
type place struct {
	Folder
	name string // what clients call the note
	note *notes.Note
}

const scheme = "notes://"

// name is what clients call a note of the folder i.
func name(folders []Folder, i int, slug string) string {
	if i == 0 {
		return slug
	}
	return "@" + folders[i].Name + "/" + slug
}

// uriOf returns the URI of a note. The name is one segment of the path, so a blank or a slash in it is escaped.
func uriOf(name string) string { return scheme + url.PathEscape(name) }

// nameOf is the reverse of uriOf.
func nameOf(uri string) (string, bool) {
	rest, ok := strings.CutPrefix(uri, scheme)
	if !ok {
		return "", false
	}
	name, err := url.PathUnescape(rest)
	return name, err == nil
}

// folders returns the folders as they are once editors' texts have been taken over.
func (s *Server) folders(ctx context.Context) ([]Folder, error) {
	if s.o.Editors != nil {
		if err := s.o.Editors.Settle(ctx); err != nil {
			return nil, err
		}
	}
	return s.o.Folders(ctx)
}

// locate finds the folder that a name belongs to, and the slug there.
func (s *Server) locate(ctx context.Context, name string) (Folder, string, error) {
	folders, err := s.folders(ctx)
	if err != nil {
		return Folder{}, "", err
	}
	if len(folders) == 0 {
		return Folder{}, "", fmt.Errorf("no folder is open in an editor")
	}
	for _, f := range folders[1:] {
		if slug, ok := strings.CutPrefix(name, "@"+f.Name+"/"); ok {
			return f, slug, nil
		}
	}
	return folders[0], name, nil
}

// find finds a note. The error is for the model.
func (s *Server) find(ctx context.Context, name string) (place, error) {
	f, slug, err := s.locate(ctx, name)
	if err != nil {
		return place{}, err
	}
	n, ok := f.Note(slug)
	if !ok {
		return place{}, fmt.Errorf("no note has the slug %.100q; list_notes shows all slugs", name)
	}
	return place{f, name, n}, nil
}

// each calls f for all notes of all folders.
func (s *Server) each(ctx context.Context, f func(place) error) error {
	folders, err := s.folders(ctx)
	if err != nil {
		return err
	}
	for i, folder := range folders {
		for _, n := range folder.Notes() {
			if err := f(place{folder, name(folders, i, n.Slug), n}); err != nil {
				return err
			}
		}
	}
	return nil
}
