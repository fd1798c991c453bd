package agent

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/tandem-rpc/tandem/mcp"
)

// Hints of tools. None looks at anything but the notes.
var (
	readOnly    = hints(true, false, true)
	adding      = hints(false, false, false)
	overwriting = hints(false, true, false)
)

func hints(reads, destroys, idempotent bool) *mcp.ToolAnnotations {
	open := false
	return &mcp.ToolAnnotations{ReadOnlyHint: &reads, DestructiveHint: &destroys, IdempotentHint: &idempotent, OpenWorldHint: &open}
}

func (s *Server) addTools() {
	mcp.AddTool(&s.tools, mcp.Tool{
		Name: "list_notes", Title: "List notes", Annotations: readOnly,
		Description: "List the notes, by path, with title and tags.",
	}, s.listNotes)
	mcp.AddTool(&s.tools, mcp.Tool{
		Name: "read_note", Title: "Read a note", Annotations: readOnly, OutputSchema: noteSchema,
		Description: "Read the Markdown text of one note, as it is in the editor if it has not been saved. The version it tells is what edit_note wants.",
	}, s.readNote)
	mcp.AddTool(&s.tools, mcp.Tool{
		Name: "search", Title: "Search notes", Annotations: readOnly,
		Description: "Find notes by words; #tag finds a tag. Best matches first.",
	}, s.search)
	mcp.AddTool(&s.tools, mcp.Tool{
		Name: "outline", Title: "Outline of a note", Annotations: readOnly,
		Description: "List the headings of a note with their levels, lines and anchors.",
	}, s.outline)
	mcp.AddTool(&s.tools, mcp.Tool{
		Name: "backlinks", Title: "Links to a note", Annotations: readOnly,
		Description: "List the links in all notes that lead to a note.",
	}, s.backlinks)
	mcp.AddTool(&s.tools, mcp.Tool{
		Name: "check_links", Title: "Check links", Annotations: readOnly,
		Description: "List what is wrong with the links and headings of one note, or of all.",
	}, s.checkLinks)
	mcp.AddTool(&s.tools, mcp.Tool{
		Name: "index", Title: "Index notes", Annotations: readOnly, Task: mcp.TaskMay,
		Description: "Read every note, count words and links and find broken links. Slow; reports progress.",
	}, s.index)
}

type one struct {
	Slug string `json:"slug" jsonschema:"the slug of the note, as list_notes and search give it" minLength:"1"`
}

type entry struct {
	Slug  string   `json:"slug"`
	Title string   `json:"title"`
	URI   string   `json:"uri"`
	Tags  []string `json:"tags"`
}

func entryOf(p place) entry {
	e := entry{Slug: p.name, Title: p.note.Title, URI: uriOf(p.name), Tags: []string{}}
	for _, t := range p.note.Tags {
		if !slices.Contains(e.Tags, t.Name) {
			e.Tags = append(e.Tags, t.Name)
		}
	}
	return e
}

type listInput struct {
	Tag string `json:"tag,omitempty" jsonschema:"only notes with this tag"`
}

type listOutput struct {
	Notes []entry `json:"notes"`
}

func (s *Server) listNotes(ctx context.Context, in listInput) (listOutput, error) {
	out := listOutput{Notes: []entry{}}
	tag := strings.TrimPrefix(in.Tag, "#")
	err := s.each(ctx, func(p place) error {
		e := entryOf(p)
		if tag == "" || slices.ContainsFunc(e.Tags, func(t string) bool { return strings.EqualFold(t, tag) }) {
			out.Notes = append(out.Notes, e)
		}
		return nil
	})
	return out, err
}

// state is what is known of a note besides its text.
type state struct {
	entry
	Version string `json:"version"`
	Unsaved bool   `json:"unsaved"`
}

func stateOf(p place) state { return state{entryOf(p), p.note.Version, p.note.Overlay} }

// readNote returns the text as it is: a model reads Markdown better than JSON.
func (s *Server) readNote(ctx context.Context, in one) (*mcp.CallToolResult, error) {
	p, err := s.find(ctx, in.Slug)
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text(p.note.Text)}, StructuredContent: stateOf(p)}, nil
}

const maxHits = 100

type searchInput struct {
	Query string `json:"query" jsonschema:"words to look for"`
	Limit int    `json:"limit,omitempty" jsonschema:"how many notes at most, 20 if not given" minimum:"0"`
}

type hit struct {
	Slug    string `json:"slug"`
	Title   string `json:"title"`
	Line    int    `json:"line"` // counted from 1
	Snippet string `json:"snippet"`
}

type searchOutput struct {
	Hits []hit `json:"hits"`
}

func (s *Server) search(ctx context.Context, in searchInput) (searchOutput, error) {
	out := searchOutput{Hits: []hit{}}
	if strings.TrimSpace(in.Query) == "" {
		return out, errors.New("the query is empty")
	}
	folders, err := s.folders(ctx)
	if err != nil {
		return out, err
	}
	limit := min(in.Limit, maxHits)
	type scored struct {
		hit
		score float64
	}
	var found []scored
	for i, f := range folders {
		for _, h := range f.Search(in.Query, limit) {
			found = append(found, scored{hit{name(folders, i, h.Note.Slug), h.Note.Title, h.Line + 1, h.Snippet}, h.Score})
		}
	}
	if len(folders) > 1 { // scores of different folders can hardly be compared, but there is nothing better
		slices.SortStableFunc(found, func(a, b scored) int {
			switch {
			case a.score > b.score:
				return -1
			case a.score < b.score:
				return 1
			}
			return 0
		})
		if limit > 0 && len(found) > limit {
			found = found[:limit]
		}
	}
	for _, h := range found {
		out.Hits = append(out.Hits, h.hit)
	}
	return out, nil
}

type heading struct {
	Level  int    `json:"level"`
	Text   string `json:"text"`
	Anchor string `json:"anchor"`
	Line   int    `json:"line"` // counted from 1
}

type outlineOutput struct {
	Slug     string    `json:"slug"`
	Title    string    `json:"title"`
	Headings []heading `json:"headings"`
}

func (s *Server) outline(ctx context.Context, in one) (outlineOutput, error) {
	p, err := s.find(ctx, in.Slug)
	if err != nil {
		return outlineOutput{}, err
	}
	out := outlineOutput{Slug: p.name, Title: p.note.Title, Headings: []heading{}}
	for _, h := range p.note.Headings {
		out.Headings = append(out.Headings, heading{h.Level, h.Text, h.Slug, h.Line + 1})
	}
	return out, nil
}

type backlink struct {
	Slug    string `json:"slug"` // of the note with the link
	Title   string `json:"title"`
	Line    int    `json:"line"` // counted from 1
	Link    string `json:"link"` // as written
	Heading string `json:"heading,omitempty"`
}

type backlinksOutput struct {
	Links []backlink `json:"links"`
}

func (s *Server) backlinks(ctx context.Context, in one) (backlinksOutput, error) {
	out := backlinksOutput{Links: []backlink{}}
	p, err := s.find(ctx, in.Slug)
	if err != nil {
		return out, err
	}
	prefix := strings.TrimSuffix(p.name, p.note.Slug)
	for _, b := range p.Backlinks(p.note.Slug) {
		l := backlink{Slug: prefix + b.Note.Slug, Title: b.Note.Title, Line: b.Link.Line + 1, Link: b.Note.Slice(b.Link.Span)}
		if b.Heading != nil {
			l.Heading = b.Heading.Text
		}
		out.Links = append(out.Links, l)
	}
	return out, nil
}

type checkInput struct {
	Slug string `json:"slug,omitempty" jsonschema:"the slug of the note; all notes if not given"`
}

type problem struct {
	Slug    string `json:"slug"`
	Line    int    `json:"line"` // counted from 1
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Text    string `json:"text"` // that it is about, as written
}

// maxProblems bounds what is listed at once.
const maxProblems = 1000

type checkOutput struct {
	Problems []problem `json:"problems"`
	More     bool      `json:"more"` // there are others that are not listed
}

func (s *Server) checkLinks(ctx context.Context, in checkInput) (checkOutput, error) {
	out := checkOutput{Problems: []problem{}}
	check := func(p place) error {
		for _, x := range p.Check(p.note) {
			if len(out.Problems) == maxProblems {
				out.More = true
				return nil
			}
			out.Problems = append(out.Problems, problem{p.name, x.Line + 1, x.Kind.String(), x.Message, p.note.Slice(x.Span)})
		}
		return ctx.Err()
	}
	if in.Slug == "" {
		return out, s.each(ctx, check)
	}
	p, err := s.find(ctx, in.Slug)
	if err != nil {
		return out, err
	}
	return out, check(p)
}
