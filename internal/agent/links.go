package agent

import (
	"context"

	"github.com/tandem-rpc/tandem/internal/notes"
)

type backlinksInput struct {
	Slug  string `json:"slug" jsonschema:"the slug of the note, as list_notes and search give it" minLength:"1"`
	After string `json:"after,omitempty" jsonschema:"go on behind the links of this note, the next of the answer before"`
}

type backlink struct {
	Slug    string `json:"slug" jsonschema:"of the note with the link"`
	Title   string `json:"title"`
	Line    int    `json:"line" jsonschema:"counted from 1"`
	Link    string `json:"link" jsonschema:"as it is written"`
	Heading string `json:"heading,omitempty" jsonschema:"that the link leads to"`
}

type backlinksOutput struct {
	Links []backlink `json:"links"`
	Next  string     `json:"next,omitempty" jsonschema:"there are more links: call again with this as after"`
	More  bool       `json:"more,omitempty" jsonschema:"a note has more links than are listed"`
}

func (s *Server) backlinks(ctx context.Context, in backlinksInput) (backlinksOutput, error) {
	out := backlinksOutput{Links: []backlink{}}
	p, err := s.find(ctx, in.Slug)
	if err != nil {
		return out, err
	}
	after := ""
	if in.After != "" {
		_, slug, err := s.locate(ctx, in.After)
		if err != nil {
			return out, err
		}
		after = notes.PathOf(slug)
	}
	list := p.Backlinks(p.note.Slug) // ordered by the notes' paths
	for begin, end := 0, 0; begin < len(list); begin = end {
		for end = begin; end < len(list) && list[end].Note == list[begin].Note; end++ {
		}
		of := list[begin:end]
		if of[0].Note.Path <= after {
			continue
		}
		if len(out.Links) > 0 && len(out.Links)+len(of) > maxListed {
			out.Next = out.Links[len(out.Links)-1].Slug
			break
		}
		for _, b := range of[:min(len(of), maxListed)] {
			l := backlink{Slug: p.prefix() + b.Note.Slug, Title: short(b.Note.Title), Line: b.Link.Line + 1, Link: short(b.Note.Slice(b.Link.Span))}
			if b.Heading != nil {
				l.Heading = short(b.Heading.Text)
			}
			out.Links = append(out.Links, l)
		}
		out.More = out.More || len(of) > maxListed
	}
	return out, nil
}

type checkInput struct {
	Slug  string `json:"slug,omitempty" jsonschema:"the slug of the note; all notes if not given"`
	After string `json:"after,omitempty" jsonschema:"of all notes those behind this one, the next of the answer before"`
}

type problem struct {
	Slug    string `json:"slug"`
	Line    int    `json:"line" jsonschema:"counted from 1"`
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Text    string `json:"text" jsonschema:"what it is about, as it is written"`
}

type checkOutput struct {
	Problems []problem `json:"problems"`
	More     bool      `json:"more" jsonschema:"there are others that are not listed"`
	Next     string    `json:"next,omitempty" jsonschema:"other notes have problems: call again with this as after"`
}

func (s *Server) checkLinks(ctx context.Context, in checkInput) (checkOutput, error) {
	out := checkOutput{Problems: []problem{}}
	before := in.After // the note checked before
	check := func(p place) error {
		found := p.Check(p.note)
		if len(out.Problems) > 0 && len(out.Problems)+len(found) > maxListed {
			out.More, out.Next = true, before
			return errEnough
		}
		before = p.name
		for _, x := range found[:min(len(found), maxListed)] {
			out.Problems = append(out.Problems, problem{p.name, x.Line + 1, x.Kind.String(), x.Message, short(p.note.Slice(x.Span))})
		}
		out.More = out.More || len(found) > maxListed
		return ctx.Err()
	}
	if in.Slug == "" {
		return out, s.each(ctx, in.After, check)
	}
	p, err := s.find(ctx, in.Slug)
	if err != nil {
		return out, err
	}
	return out, check(p)
}
