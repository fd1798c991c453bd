package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tandem-rpc/tandem/internal/notes"
	"github.com/tandem-rpc/tandem/mcp"
)

func (s *Server) addEdits() {
	mcp.AddTool(&s.tools, mcp.Tool{
		Name: "create_note", Title: "Create a note", Annotations: writing,
		Description: "Create a note. If there is another one of that slug, the user is asked before it is overwritten. To change a note use edit_note.",
	}, s.create)
	mcp.AddTool(&s.tools, mcp.Tool{
		Name: "edit_note", Title: "Edit a note", Annotations: writing, OutputSchema: noteSchema,
		Description: "Replace pieces of a note's text, or all of it. Works only on the version that read_note told: if the note has changed since, nothing is done and the current version and text are returned.",
	}, s.edit)
	mcp.AddTool(&s.tools, mcp.Tool{
		Name: "rename", Title: "Rename a note or heading", Annotations: writing,
		Description: "Give a note another slug, or one of its headings another text. All links to it are changed with it.",
	}, s.rename)
}

// Schemas of a state, and of a reading.
var (
	noteSchema    = stateSchema("")
	readingSchema = stateSchema(`"size":{"type":"integer","description":"of the whole text, in bytes"},"offset":{"type":"integer","description":"where in it the text that was read begins"},` +
		`"next_offset":{"type":"integer","description":"there is more: read on with this as offset"}`)
)

func stateSchema(more string) json.RawMessage {
	if more != "" {
		more = "," + more
	}
	return json.RawMessage(`{"type":"object","properties":{"slug":{"type":"string"},"title":{"type":"string"},"uri":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}},` +
		`"version":{"type":"string","description":"what edit_note wants"},"unsaved":{"type":"boolean","description":"an editor has text that is not in the file"}` + more +
		`},"required":["slug","title","uri","tags","version","unsaved"]}`)
}

type createInput struct {
	Slug string `json:"slug" jsonschema:"the slug of the note: its path in the folder without .md" minLength:"1" maxLength:"500"`
	Text string `json:"text" jsonschema:"its Markdown text"`
}

func (s *Server) create(ctx context.Context, in createInput) (state, error) {
	if err := mayWrite(ctx); err != nil {
		return state{}, err
	}
	f, slug, err := s.locate(ctx, in.Slug)
	if err != nil {
		return state{}, err
	}
	if old, ok := f.Note(slug); ok && old.Text == in.Text {
		return stateOf(place{f, in.Slug, old}), nil // made already, by a call whose answer was lost perhaps
	} else if ok {
		// Asked outside the lock: people take their time. The version says whether they agreed to what is overwritten.
		question := fmt.Sprintf("Overwrite the note %.200q (version %s)?", in.Slug, old.Version)
		if err := mcp.SessionFrom(ctx).Confirm(ctx, question); err != nil {
			if errors.Is(err, mcp.ErrInputRequired) || ctx.Err() != nil {
				return state{}, err
			}
			return state{}, fmt.Errorf("the note %.200q exists, and the user has not agreed to overwrite it; take another slug, or read it and use edit_note", in.Slug)
		}
		whole := notes.NoteEdits{Note: old, Edits: []notes.Edit{{Span: notes.Span{End: len(old.Text)}, New: in.Text}}}
		if err := s.change(ctx, f, "Overwrite "+in.Slug, []notes.NoteEdits{whole}, nil); err != nil {
			return state{}, err
		}
		return s.now(in.Slug, f, old.Path, in.Text), nil
	}
	p := notes.PathOf(slug)
	s.mu.Lock()
	c, err := f.Create(p, in.Text)
	s.mu.Unlock()
	if err != nil {
		return state{}, unwritten(err)
	}
	s.changed(f.Workspace, c)
	return s.now(in.Slug, f, p, in.Text), nil
}

type replacement struct {
	Old string `json:"old" jsonschema:"a piece of the text that occurs once in it" minLength:"1"`
	New string `json:"new" jsonschema:"what takes its place"`
}

type editInput struct {
	Slug    string        `json:"slug" jsonschema:"the slug of the note" minLength:"1"`
	Version string        `json:"version" jsonschema:"the version that read_note told" minLength:"1"`
	Edits   []replacement `json:"edits,omitempty" jsonschema:"pieces of the text and what takes their place"`
	Text    *string       `json:"text,omitempty" jsonschema:"the whole new text, instead of edits"`
}

func (s *Server) edit(ctx context.Context, in editInput) (*mcp.CallToolResult, error) {
	if err := mayWrite(ctx); err != nil {
		return nil, err
	}
	p, err := s.find(ctx, in.Slug)
	if err != nil {
		return nil, err
	}
	if p.note.Version != in.Version {
		return conflict(p)
	}
	edits, err := editsOf(p.note.Text, in)
	if err != nil {
		return nil, err
	}
	change := notes.NoteEdits{Note: p.note, Edits: edits}
	if err := s.change(ctx, p.Folder, "Edit "+in.Slug, []notes.NoteEdits{change}, nil); err != nil {
		if _, lost := errors.AsType[*notes.ConflictError](err); lost {
			if again, e := s.find(ctx, in.Slug); e == nil {
				return conflict(again)
			}
		}
		return nil, err
	}
	st := s.now(in.Slug, p.Folder, p.note.Path, change.Apply())
	return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text("The note has version " + st.Version + " now.")}, StructuredContent: st}, nil
}

// conflict tells the model what the note is by now: in words, as JSON for programs, and its text. Results that are errors have no structured content.
func conflict(p place) (*mcp.CallToolResult, error) {
	text, cut := clip(p.note.Text), ""
	if len(text) < len(p.note.Text) {
		cut = fmt.Sprintf(", the first %d bytes of it", len(text))
	}
	now, err := json.Marshal(struct {
		Conflict bool `json:"conflict"`
		state
	}{true, stateOf(p)})
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{
		IsError: true,
		Content: []mcp.Content{
			mcp.Text(fmt.Sprintf("Nothing was done: the note has been changed meanwhile, its version is %s now. Its current text follows%s. Make the edit for it.", p.note.Version, cut)),
			mcp.Text(string(now)),
			&mcp.EmbeddedResource{Resource: mcp.ResourceContents{URI: uriOf(p.name), MIMEType: markdown, Text: text}},
		},
	}, nil
}

// editsOf makes edits of what the model wants.
func editsOf(text string, in editInput) ([]notes.Edit, error) {
	switch {
	case in.Text != nil && len(in.Edits) > 0:
		return nil, errors.New("give edits or text, not both")
	case in.Text != nil:
		return []notes.Edit{{Span: notes.Span{End: len(text)}, New: *in.Text}}, nil
	case len(in.Edits) == 0:
		return nil, errors.New("there is nothing to do: give edits, or text")
	}
	out := make([]notes.Edit, 0, len(in.Edits))
	for i, e := range in.Edits {
		at := strings.Index(text, e.Old)
		switch {
		case at < 0:
			return nil, fmt.Errorf("edits[%d]: the text has no %.200q; old must be exactly what read_note shows, blanks and line breaks too", i, e.Old)
		case strings.Contains(text[at+1:], e.Old):
			return nil, fmt.Errorf("edits[%d]: the text has %.200q more than once; give more of what is around it", i, e.Old)
		}
		out = append(out, notes.Edit{Span: notes.Span{Start: at, End: at + len(e.Old)}, New: e.New})
	}
	return ordered(out)
}

type renameInput struct {
	Slug    string `json:"slug" jsonschema:"the slug of the note" minLength:"1"`
	Heading string `json:"heading,omitempty" jsonschema:"the anchor of a heading, as outline tells it; without it the note is renamed"`
	To      string `json:"to" jsonschema:"the new slug, or the new text of the heading" minLength:"1" maxLength:"500"`
}

type renameOutput struct {
	Slug    string   `json:"slug"`
	Changed []string `json:"changed" jsonschema:"slugs of the notes that were edited, as they were before"`
	More    int      `json:"more,omitempty" jsonschema:"how many others were edited"`
}

func (s *Server) rename(ctx context.Context, in renameInput) (renameOutput, error) {
	out := renameOutput{Slug: in.Slug, Changed: []string{}}
	if err := mayWrite(ctx); err != nil {
		return out, err
	}
	p, err := s.find(ctx, in.Slug)
	if err != nil {
		return out, err
	}
	prefix := p.prefix()
	var edits []notes.NoteEdits
	var move *notes.Move
	if in.Heading != "" {
		h, err := p.heading(in.Heading)
		if err != nil {
			return out, err
		}
		if edits, err = p.RenameHeading(p.note, h, in.To); err != nil {
			return out, explain(err)
		}
	} else {
		to, ok := strings.CutPrefix(in.To, prefix)
		if !ok {
			return out, fmt.Errorf("a note cannot leave its folder: the new slug must begin with %q", prefix)
		}
		move = &notes.Move{From: p.note.Path, To: notes.PathOf(to)}
		if path.Clean(move.To) != move.To {
			return out, fmt.Errorf("%.200q is no slug", in.To)
		}
		out.Slug = prefix + notes.SlugOf(move.To)
		edits, err = p.RenameNote(move.From, move.To)
	}
	if err != nil {
		return out, explain(err)
	}
	// A symbolic link to a note is edited where it leads.
	edits = slices.DeleteFunc(edits, func(e notes.NoteEdits) bool { return e.Note.Path != p.note.Path && p.Linked(e.Note.Path) })
	out.More = max(0, len(edits)-maxListed)
	for _, e := range edits[:len(edits)-out.More] {
		out.Changed = append(out.Changed, prefix+e.Note.Slug)
	}
	return out, s.change(ctx, p.Folder, "Rename "+in.Slug, edits, move)
}
