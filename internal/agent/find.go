package agent

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
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
		return Folder{}, "", errors.New("no folder is open in an editor: ask the user to open one")
	}
	for _, f := range folders[1:] {
		if slug, ok := strings.CutPrefix(name, "@"+f.Name+"/"); ok {
			return f, slug, nil
		}
	}
	return folders[0], name, nil
}

// prefix is what clients put before the slugs of the note's folder.
func (p place) prefix() string { return strings.TrimSuffix(p.name, p.note.Slug) }

// heading finds a heading by its anchor. The error is for the model.
func (p place) heading(anchor string) (*notes.Heading, error) {
	h, ok := p.note.Heading(anchor)
	if !ok {
		return nil, fmt.Errorf("the note has no heading with the anchor %.100q; outline shows them", anchor)
	}
	return h, nil
}

// find finds a note. The error is for the model.
func (s *Server) find(ctx context.Context, name string) (place, error) {
	f, slug, err := s.locate(ctx, name)
	if err != nil {
		return place{}, err
	}
	n, ok := f.Note(slug)
	if !ok {
		return place{}, s.unknown(ctx, name)
	}
	return place{f, name, n}, nil
}

// unknown says that there is no such note, and which one could be meant: models give URIs, file names and names without their directory.
func (s *Server) unknown(ctx context.Context, name string) error {
	meant := name
	if slug, ok := nameOf(name); ok {
		meant = slug
	}
	meant = strings.TrimSuffix(strings.TrimPrefix(meant, "/"), ".md")
	var exact, near []string
	err := s.each(ctx, "", func(p place) error {
		switch {
		case strings.EqualFold(p.name, meant):
			exact = append(exact, p.name)
		case len(near) < 3 && strings.EqualFold(path.Base(p.name), path.Base(meant)):
			near = append(near, p.name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	hint := ""
	if list := append(exact, near...); len(list) > 0 {
		hint = fmt.Sprintf("; did you mean %.200q?", list[:min(len(list), 3)])
	}
	return fmt.Errorf("no note has the slug %.100q%s; list_notes shows all slugs", name, hint)
}

// errEnough ends each.
var errEnough = errors.New("enough")

// each calls f for all notes of all folders, those behind a name if it is not empty, until f returns an error, which errEnough is not.
func (s *Server) each(ctx context.Context, after string, f func(place) error) error {
	folders, err := s.folders(ctx)
	if err != nil {
		return err
	}
	behind := ""
	var skip *notes.Workspace // folders up to this one
	if after != "" && len(folders) > 0 {
		folder, slug, err := s.locate(ctx, after)
		if err != nil {
			return err
		}
		behind, skip = notes.PathOf(slug), folder.Workspace
	}
	for i, folder := range folders {
		if skip != nil && folder.Workspace != skip {
			continue
		}
		for _, n := range folder.Notes() {
			if skip != nil && n.Path <= behind {
				continue
			}
			if err := f(place{folder, name(folders, i, n.Slug), n}); err == errEnough {
				return nil
			} else if err != nil {
				return err
			}
		}
		skip = nil
	}
	return nil
}
