package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tandem-rpc/tandem/internal/notes"
	"github.com/tandem-rpc/tandem/mcp"
)

func (s *Server) addPrompts() {
	slug := mcp.PromptArgument{Name: "slug", Description: "the slug of the note", Required: true}
	s.prompts.Add(mcp.Prompt{
		Name: "summarize", Title: "Summarize a note", Description: "Summarize one note.",
		Arguments: []mcp.PromptArgument{slug},
	}, s.summarize)
	s.prompts.Add(mcp.Prompt{
		Name: "review", Title: "Review a note", Description: "Review one note, or a section of it: text, structure and links.",
		Arguments: []mcp.PromptArgument{slug, {Name: "heading", Description: "the anchor of the section; all of the note if not given"}},
	}, s.review)
	s.prompts.Add(mcp.Prompt{
		Name: "connect", Title: "Connect a note", Description: "Find notes that one note should link to.",
		Arguments: []mcp.PromptArgument{slug},
	}, s.connect)
}

// note finds the note that a prompt is about.
func (s *Server) note(ctx context.Context, prompt string, a mcp.Arguments) (place, error) {
	slug, ok := a.Text("slug")
	if !ok {
		return place{}, mcp.InvalidParams("Unknown prompt or missing slug: %.100s", prompt)
	}
	p, err := s.find(ctx, slug)
	switch {
	case ctx.Err() != nil:
		return place{}, ctx.Err()
	case err != nil:
		return place{}, mcp.InvalidParams("No note has the slug %.100q", slug)
	}
	return p, nil
}

func say(description string, content ...mcp.Content) *mcp.PromptResult {
	r := &mcp.PromptResult{Description: description}
	for _, c := range content {
		r.Messages = append(r.Messages, mcp.PromptMessage{Role: mcp.RoleUser, Content: c})
	}
	return r
}

// embedded is a text of a note, or the beginning of a long one: prompts are read to their end.
func embedded(p place, text string) mcp.Content {
	text = clip(text)
	return &mcp.EmbeddedResource{Resource: mcp.ResourceContents{URI: uriOf(p.name), MIMEType: markdown, Text: text}}
}

func (s *Server) summarize(ctx context.Context, a mcp.Arguments) (any, error) {
	p, err := s.note(ctx, "summarize", a)
	if err != nil {
		return nil, err
	}
	return say("Summarize one note.", mcp.Text("Summarize the note "+uriOf(p.name)+".")), nil
}

func (s *Server) review(ctx context.Context, a mcp.Arguments) (any, error) {
	p, err := s.note(ctx, "review", a)
	if err != nil {
		return nil, err
	}
	text, what := p.note.Text, "note"
	span := notes.Span{End: len(text)}
	if anchor, ok := a.Text("heading"); ok && anchor != "" {
		h, ok := p.note.Heading(anchor)
		if !ok {
			return nil, mcp.InvalidParams("The note has no heading %.100q", anchor)
		}
		span, what = h.Section, "section of the note"
		text = p.note.Slice(span)
	}
	var found []string
	for _, x := range p.Check(p.note) {
		if span.Contains(x.Span.Start) && len(found) < 50 {
			found = append(found, fmt.Sprintf("- line %d: %s", x.Line+1, x.Message))
		}
	}
	task := "Review the following " + what + " for clarity, structure and correctness. Suggest edits as pieces of text and their replacements."
	if len(found) > 0 {
		task += "\n\nThese problems are known:\n" + strings.Join(found, "\n")
	}
	return say("Review one note.", mcp.Text(task), embedded(p, text)), nil
}

func (s *Server) connect(ctx context.Context, a mcp.Arguments) (any, error) {
	p, err := s.note(ctx, "connect", a)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, h := range p.Search(p.note.Title, 20) {
		if h.Note.Path != p.note.Path {
			list = append(list, fmt.Sprintf("- %s (%s)", p.prefix()+h.Note.Slug, short(h.Note.Title)))
		}
	}
	task := "Find places in the following note that should link to other notes, and propose the links."
	if len(list) > 0 {
		task += " These notes are about something similar:\n" + strings.Join(list, "\n")
	}
	return say("Connect one note.", mcp.Text(task), embedded(p, p.note.Text)), nil
}

// complete suggests slugs and headings, those that begin with what was typed before those that merely hold it.
func (s *Server) complete(ctx context.Context, r mcp.CompleteRequest) (*mcp.Completion, error) {
	known := []string{"summarize", "review", "connect"}
	switch {
	case r.Name == "slug" && (slices.Contains(known, r.Prompt) || r.Template == scheme+"{slug}"):
		var slugs []string
		if err := s.each(ctx, "", func(p place) error { slugs = append(slugs, p.name); return nil }); err != nil {
			return nil, err
		}
		return matching(slugs, r.Value), nil
	case r.Name == "heading" && r.Prompt == "review":
		p, err := s.find(ctx, r.Others["slug"])
		if err != nil {
			return &mcp.Completion{}, ctx.Err() // no note has been chosen
		}
		var anchors []string
		for _, h := range p.note.Headings {
			anchors = append(anchors, h.Slug)
		}
		return matching(anchors, r.Value), nil
	}
	return nil, mcp.InvalidParams("Nothing to complete there")
}

func matching(all []string, typed string) *mcp.Completion {
	var first, second []string
	typed = strings.ToLower(typed)
	for _, x := range all {
		switch lower := strings.ToLower(x); {
		case strings.HasPrefix(lower, typed):
			first = append(first, x)
		case strings.Contains(lower, typed):
			second = append(second, x)
		}
	}
	values := append(first, second...)
	return &mcp.Completion{Values: values, Total: len(values)}
}
