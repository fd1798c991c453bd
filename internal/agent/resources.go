package agent

import (
	"context"

	"github.com/tandem-rpc/tandem/mcp"
)

const markdown = "text/markdown"

func (s *Server) list(ctx context.Context) ([]mcp.Resource, error) {
	var out []mcp.Resource
	err := s.each(ctx, "", func(p place) error {
		size := int64(len(p.note.Text))
		out = append(out, mcp.Resource{URI: uriOf(p.name), Name: p.name, Title: p.note.Title, MIMEType: markdown, Size: &size})
		return nil
	})
	return out, err
}

func templates(context.Context) ([]mcp.Template, error) {
	return []mcp.Template{{URITemplate: scheme + "{slug}", Name: "note", Title: "A note", Description: "The text of one note, by its slug.", MIMEType: markdown}}, nil
}

func (s *Server) read(ctx context.Context, uri string) (any, error) {
	name, ok := nameOf(uri)
	if !ok {
		return nil, mcp.ResourceNotFound(uri)
	}
	p, err := s.find(ctx, name)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, mcp.ResourceNotFound(uri)
	}
	return []mcp.ResourceContents{{URI: uri, MIMEType: markdown, Text: p.note.Text}}, nil
}

// subscribe takes subscriptions to any URI of a note: one that is not there yet may come.
func (s *Server) subscribe(_ context.Context, uri string) error {
	if name, ok := nameOf(uri); !ok || name == "" {
		return mcp.ResourceNotFound(uri)
	}
	return nil
}
