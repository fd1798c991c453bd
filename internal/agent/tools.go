package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tandem-rpc/tandem/internal/notes"
	"github.com/tandem-rpc/tandem/mcp"
)

// Hints of tools. None looks at anything but the notes, and a call made again by mistake does no more than the first: a note that is there already is no
// longer created, a version that was edited is no longer the current one.
var (
	readOnly = hints(true, false)
	writing  = hints(false, true) // create_note may overwrite, if the user agrees
)

func hints(reads, destroys bool) *mcp.ToolAnnotations {
	open, idempotent := false, true
	return &mcp.ToolAnnotations{ReadOnlyHint: &reads, DestructiveHint: &destroys, IdempotentHint: &idempotent, OpenWorldHint: &open}
}

func (s *Server) addTools() {
	mcp.AddTool(&s.tools, mcp.Tool{
		Name: "list_notes", Title: "List notes", Annotations: readOnly,
		Description: "List the notes, by path, with title and tags. Of many the first are listed, and next says how to go on. To find something, search is better.",
	}, s.listNotes)
	mcp.AddTool(&s.tools, mcp.Tool{
		Name: "read_note", Title: "Read a note", Annotations: readOnly, OutputSchema: readingSchema,
		Description: "Read the Markdown text of one note, or of one section of it, as it is in the editor if it has not been saved. The version it tells is what edit_note wants. " +
			"A long text comes in pieces: where next_offset is told there is more.",
	}, s.readNote)
	mcp.AddTool(&s.tools, mcp.Tool{
		Name: "search", Title: "Search notes", Annotations: readOnly,
		Description: "Find notes by words, also by their beginnings; #tag finds a tag. Notes with more of the words come first. Each is told with the line that fits best.",
	}, s.search)
	mcp.AddTool(&s.tools, mcp.Tool{
		Name: "outline", Title: "Outline of a note", Annotations: readOnly,
		Description: "List the headings of a note with their levels, lines and anchors. The anchor names a section for read_note, rename and links.",
	}, s.outline)
	mcp.AddTool(&s.tools, mcp.Tool{
		Name: "backlinks", Title: "Links to a note", Annotations: readOnly,
		Description: "List the links in all notes that lead to a note.",
	}, s.backlinks)
	mcp.AddTool(&s.tools, mcp.Tool{
		Name: "check_links", Title: "Check links", Annotations: readOnly,
		Description: "List what is wrong with the links and headings of one note, or of all: broken links and anchors, equal headings, unused definitions.",
	}, s.checkLinks)
	mcp.AddTool(&s.tools, mcp.Tool{
		Name: "index", Title: "Index notes", Annotations: readOnly, Task: mcp.TaskMay,
		Description: "Count the notes, their words and links, and the links that are broken. Reads every note, takes up to ten seconds and reports progress.",
	}, s.index)
}

type entry struct {
	Slug  string   `json:"slug"`
	Title string   `json:"title"`
	URI   string   `json:"uri"`
	Tags  []string `json:"tags"`
}

func entryOf(p place) entry {
	e := entry{Slug: p.name, Title: short(p.note.Title), URI: uriOf(p.name), Tags: []string{}}
	for _, t := range p.note.Tags {
		if len(e.Tags) == maxTags {
			break
		}
		if !slices.Contains(e.Tags, t.Name) {
			e.Tags = append(e.Tags, t.Name)
		}
	}
	return e
}

func tagged(n *notes.Note, tag string) bool {
	return slices.ContainsFunc(n.Tags, func(t notes.Tag) bool { return strings.EqualFold(t.Name, tag) })
}

type listInput struct {
	Tag   string `json:"tag,omitempty" jsonschema:"only notes with this tag"`
	Limit int    `json:"limit,omitempty" jsonschema:"how many notes at most, 200 if not given and never more than 1000" minimum:"0"`
	After string `json:"after,omitempty" jsonschema:"go on behind this slug, the next of the answer before"`
}

type listOutput struct {
	Notes []entry `json:"notes"`
	Next  string  `json:"next,omitempty" jsonschema:"there are more notes: call again with this as after"`
}

func (s *Server) listNotes(ctx context.Context, in listInput) (listOutput, error) {
	out := listOutput{Notes: []entry{}}
	tag := strings.TrimPrefix(in.Tag, "#")
	limit := atMost(in.Limit, 200, maxListed)
	err := s.each(ctx, in.After, func(p place) error {
		switch {
		case tag != "" && !tagged(p.note, tag):
		case len(out.Notes) == limit:
			out.Next = out.Notes[limit-1].Slug
			return errEnough
		default:
			out.Notes = append(out.Notes, entryOf(p))
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

type readInput struct {
	Slug    string `json:"slug" jsonschema:"the slug of the note, as list_notes and search give it" minLength:"1"`
	Section string `json:"section,omitempty" jsonschema:"the anchor of a heading, as outline tells it: only that section is read"`
	Offset  int    `json:"offset,omitempty" jsonschema:"where to begin, in bytes: the next_offset of the answer before" minimum:"0"`
}

// reading is a state with what was read of the text.
type reading struct {
	state
	Size   int `json:"size"` // of all of it, in bytes
	Offset int `json:"offset,omitempty"`
	Next   int `json:"next_offset,omitempty"`
}

// readNote returns the text as it is: a model reads Markdown better than JSON.
func (s *Server) readNote(ctx context.Context, in readInput) (*mcp.CallToolResult, error) {
	p, err := s.find(ctx, in.Slug)
	if err != nil {
		return nil, err
	}
	span := notes.Span{End: len(p.note.Text)}
	if in.Section != "" {
		h, err := p.heading(in.Section)
		if err != nil {
			return nil, err
		}
		span = h.Section
	}
	r := reading{state: stateOf(p), Size: len(p.note.Text), Offset: span.Start}
	if in.Offset > 0 {
		if in.Offset < span.Start || in.Offset > span.End {
			return nil, fmt.Errorf("offset %d is outside of what is read, from %d to %d: give the next_offset that read_note told of this version", in.Offset, span.Start, span.End)
		}
		r.Offset = in.Offset
	}
	text := clip(p.note.Text[r.Offset:span.End])
	content := []mcp.Content{mcp.Text(strings.ToValidUTF8(text, "\uFFFD"))} // the offset may be within a character
	if end := r.Offset + len(text); end < span.End {
		r.Next = end
		content = append(content, mcp.Text(fmt.Sprintf("This is not all of it: %d bytes follow. Read on with offset %d.", span.End-end, end)))
	}
	return &mcp.CallToolResult{Content: content, StructuredContent: r}, nil
}

type searchInput struct {
	Query string `json:"query" jsonschema:"words to look for"`
	Limit int    `json:"limit,omitempty" jsonschema:"how many notes at most, 20 if not given and never more than 100" minimum:"0"`
}

type hit struct {
	Slug    string `json:"slug"`
	Title   string `json:"title"`
	Line    int    `json:"line" jsonschema:"counted from 1"`
	Snippet string `json:"snippet"`
}

type searchOutput struct {
	Hits []hit `json:"hits"`
	More bool  `json:"more,omitempty" jsonschema:"there are others: give a higher limit, or more words"`
}

func (s *Server) search(ctx context.Context, in searchInput) (searchOutput, error) {
	out := searchOutput{Hits: []hit{}}
	if strings.TrimSpace(in.Query) == "" {
		return out, errors.New("the query is empty: give words to look for, or a #tag; list_notes lists all notes")
	}
	folders, err := s.folders(ctx)
	if err != nil {
		return out, err
	}
	limit := atMost(in.Limit, 20, maxHits)
	type scored struct {
		hit
		score float64
	}
	var found []scored
	for i, f := range folders {
		for _, h := range f.Search(in.Query, limit+1) {
			found = append(found, scored{hit{name(folders, i, h.Note.Slug), short(h.Note.Title), h.Line + 1, h.Snippet}, h.Score})
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
	}
	if out.More = len(found) > limit; out.More {
		found = found[:limit]
	}
	for _, h := range found {
		out.Hits = append(out.Hits, h.hit)
	}
	return out, nil
}

type outlineInput struct {
	Slug string `json:"slug" jsonschema:"the slug of the note, as list_notes and search give it" minLength:"1"`
	Line int    `json:"from_line,omitempty" jsonschema:"only headings from this line on: the next_line of the answer before" minimum:"0"`
}

type heading struct {
	Level  int    `json:"level"`
	Text   string `json:"text"`
	Anchor string `json:"anchor"`
	Line   int    `json:"line" jsonschema:"counted from 1"`
}

type outlineOutput struct {
	Slug     string    `json:"slug"`
	Title    string    `json:"title"`
	Headings []heading `json:"headings"`
	Next     int       `json:"next_line,omitempty" jsonschema:"there are more headings: call again with this as from_line"`
}

func (s *Server) outline(ctx context.Context, in outlineInput) (outlineOutput, error) {
	p, err := s.find(ctx, in.Slug)
	if err != nil {
		return outlineOutput{}, err
	}
	out := outlineOutput{Slug: p.name, Title: short(p.note.Title), Headings: []heading{}}
	for _, h := range p.note.Headings {
		switch {
		case h.Line+1 < in.Line:
		case len(out.Headings) == maxListed:
			out.Next = h.Line + 1
			return out, nil
		default:
			out.Headings = append(out.Headings, heading{h.Level, short(h.Text), h.Slug, h.Line + 1})
		}
	}
	return out, nil
}
