package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tandem-rpc/tandem/internal/notes"
	"github.com/tandem-rpc/tandem/mcp"
)

// readOnly are the hints of tools that change nothing and look at nothing but the notes.
var readOnly = func() *mcp.ToolAnnotations {
	yes, no := true, false
	return &mcp.ToolAnnotations{ReadOnlyHint: &yes, IdempotentHint: &yes, OpenWorldHint: &no}
}()

func (l *library) addTools(box *mcp.Toolbox) {
	mcp.AddTool(box, mcp.Tool{
		Name: "list_notes", Title: "List notes", Annotations: readOnly,
		Description: "List the notes, by path, with title and tags.",
	}, l.listNotes)
	mcp.AddTool(box, mcp.Tool{
		Name: "read_note", Title: "Read a note", Annotations: readOnly,
		Description: "Read the Markdown text of one note.",
	}, l.readNote)
	mcp.AddTool(box, mcp.Tool{
		Name: "search", Title: "Search notes", Annotations: readOnly,
		Description: "Find notes by words; #tag finds a tag. Best matches first.",
	}, l.search)
	mcp.AddTool(box, mcp.Tool{
		Name: "index", Title: "Index notes", Annotations: readOnly,
		Description: "Read every note, count words and links and find broken links. Slow; reports progress.",
	}, l.index)
}

type listInput struct {
	Tag string `json:"tag,omitempty" jsonschema:"only notes with this tag"`
}

type entry struct {
	Slug  string   `json:"slug"`
	Title string   `json:"title"`
	URI   string   `json:"uri"`
	Tags  []string `json:"tags"`
}

type listOutput struct {
	Notes []entry `json:"notes"`
}

func (l *library) listNotes(_ context.Context, in listInput) (listOutput, error) {
	out := listOutput{Notes: []entry{}}
	tag := strings.TrimPrefix(in.Tag, "#")
	for _, n := range l.Notes() {
		e := entry{Slug: n.Slug, Title: n.Title, URI: uriOf(n.Slug), Tags: []string{}}
		for _, t := range n.Tags {
			if !slices.Contains(e.Tags, t.Name) {
				e.Tags = append(e.Tags, t.Name)
			}
		}
		if tag == "" || slices.ContainsFunc(e.Tags, func(t string) bool { return strings.EqualFold(t, tag) }) {
			out.Notes = append(out.Notes, e)
		}
	}
	return out, nil
}

type readInput struct {
	Slug string `json:"slug" jsonschema:"the slug of the note, as list_notes and search give it"`
}

// readNote returns the text alone: a model reads Markdown better than JSON.
func (l *library) readNote(_ context.Context, in readInput) (string, error) {
	n, ok := l.Note(in.Slug)
	if !ok {
		return "", fmt.Errorf("no note has the slug %.100q; list_notes shows all slugs", in.Slug)
	}
	return n.Text, nil
}

const maxHits = 100

type searchInput struct {
	Query string `json:"query" jsonschema:"words to look for"`
	Limit int    `json:"limit,omitempty" jsonschema:"how many notes at most, 20 if not given"`
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

func (l *library) search(_ context.Context, in searchInput) (searchOutput, error) {
	if strings.TrimSpace(in.Query) == "" {
		return searchOutput{}, fmt.Errorf("the query is empty")
	}
	out := searchOutput{Hits: []hit{}}
	for _, h := range l.Search(in.Query, min(in.Limit, maxHits)) {
		out.Hits = append(out.Hits, hit{h.Note.Slug, h.Note.Title, h.Line + 1, h.Snippet})
	}
	return out, nil
}

// The pause makes the tool slow enough to watch on a sample that is read in no time.
const defaultPause, maxPause = 100, 5000

type indexInput struct {
	PauseMS int `json:"pause_ms,omitempty" jsonschema:"milliseconds to wait before each note, to watch the progress; 100 if not given"`
}

type indexOutput struct {
	Notes  int `json:"notes"`
	Words  int `json:"words"`
	Links  int `json:"links"`
	Broken int `json:"broken"`
}

func (l *library) index(ctx context.Context, in indexInput) (indexOutput, error) {
	pause := defaultPause
	if in.PauseMS > 0 {
		pause = min(in.PauseMS, maxPause)
	}
	all := l.Notes()
	var out indexOutput
	for i, n := range all {
		if err := wait(ctx, time.Duration(pause)*time.Millisecond); err != nil {
			return out, err
		}
		l.count(&out, n)
		if err := mcp.Progress(ctx, float64(i+1), float64(len(all)), n.Slug); err != nil {
			return out, err
		}
	}
	_ = mcp.SessionFrom(ctx).Log(ctx, mcp.LevelInfo, "index", fmt.Sprintf("%d notes indexed", out.Notes)) // nobody may listen
	return out, nil
}

func (l *library) count(out *indexOutput, n *notes.Note) {
	out.Notes++
	out.Words += len(strings.Fields(n.Text))
	out.Links += len(n.Links)
	for _, p := range l.Check(n) {
		if p.Kind.Broken() {
			out.Broken++
		}
	}
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
