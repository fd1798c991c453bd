package main

import (
	"context"
	"net/url"
	"strings"

	"github.com/tandem-rpc/tandem/internal/notes"
	"github.com/tandem-rpc/tandem/mcp"
)

const (
	scheme   = "notes://"
	markdown = "text/markdown"
)

// library is what the functions of the server share.
type library struct{ *notes.Workspace }

// newServer makes an MCP server for the notes of w.
func newServer(w *notes.Workspace) *mcp.Server {
	l := &library{w}
	var box mcp.Toolbox
	l.addTools(&box)
	return &mcp.Server{
		Name: "demo-mcp", Title: "Notes", Version: "0.1.0",
		Instructions: "A folder of Markdown notes. Start with search or list_notes, then read_note. Slugs identify notes.",
		Lister:       box.List,
		Caller:       box.Call,
		Resources:    l.resources,
		Templates:    templates,
		Reader:       l.read,
		Prompts:      prompts,
		Prompter:     l.prompt,
		Completer:    l.complete,
		Logging:      true,
	}
}

// uriOf returns the URI of a note. The slug is one segment of the path, so a blank or a slash in it is escaped.
func uriOf(slug string) string { return scheme + url.PathEscape(slug) }

// at finds the note that a URI names.
func (l *library) at(uri string) (*notes.Note, bool) {
	rest, ok := strings.CutPrefix(uri, scheme)
	if !ok {
		return nil, false
	}
	slug, err := url.PathUnescape(rest)
	if err != nil {
		return nil, false
	}
	return l.Note(slug)
}

func (l *library) resources(context.Context) ([]mcp.Resource, error) {
	var out []mcp.Resource
	for _, n := range l.Notes() {
		size := int64(len(n.Text))
		out = append(out, mcp.Resource{URI: uriOf(n.Slug), Name: n.Slug, Title: n.Title, MIMEType: markdown, Size: &size})
	}
	return out, nil
}

func templates(context.Context) ([]mcp.Template, error) {
	return []mcp.Template{{URITemplate: scheme + "{slug}", Name: "note", Title: "A note", Description: "The text of one note, by its slug.", MIMEType: markdown}}, nil
}

func (l *library) read(_ context.Context, uri string) (any, error) {
	n, ok := l.at(uri)
	if !ok {
		return nil, mcp.ResourceNotFound(uri)
	}
	return []mcp.ResourceContents{{URI: uri, MIMEType: markdown, Text: n.Text}}, nil
}

func prompts(context.Context) ([]mcp.Prompt, error) {
	return []mcp.Prompt{{
		Name: "summarize", Title: "Summarize a note", Description: "Summarize one note.",
		Arguments: []mcp.PromptArgument{{Name: "slug", Description: "the slug of the note", Required: true}},
	}}, nil
}

func (l *library) prompt(_ context.Context, name string, arguments mcp.Arguments) (any, error) {
	slug, ok := arguments.Text("slug")
	if name != "summarize" || !ok {
		return nil, mcp.InvalidParams("Unknown prompt or missing slug: %.100s", name)
	}
	if _, ok := l.Note(slug); !ok {
		return nil, mcp.InvalidParams("No note has the slug %.100q", slug)
	}
	return &mcp.PromptResult{
		Description: "Summarize one note.",
		Messages:    []mcp.PromptMessage{{Role: mcp.RoleUser, Content: mcp.Text("Summarize the note " + uriOf(slug) + ".")}},
	}, nil
}

// complete suggests slugs, those that begin with what was typed before those that merely hold it.
func (l *library) complete(_ context.Context, r mcp.CompleteRequest) (*mcp.Completion, error) {
	isNote := r.Prompt == "summarize" || r.Template == scheme+"{slug}"
	if !isNote || r.Name != "slug" {
		return nil, mcp.InvalidParams("Nothing to complete there")
	}
	var first, second []string
	typed := strings.ToLower(r.Value)
	for _, n := range l.Notes() {
		switch slug := strings.ToLower(n.Slug); {
		case strings.HasPrefix(slug, typed):
			first = append(first, n.Slug)
		case strings.Contains(slug, typed):
			second = append(second, n.Slug)
		}
	}
	values := append(first, second...)
	return &mcp.Completion{Values: values, Total: len(values)}, nil
}
