// Package joint is what the demos show with -try of a person and an agent at the same notes: a conversation of two clients with one process.
package joint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/internal/try"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/lsp"
	"github.com/tandem-rpc/tandem/mcp"
)

type object = map[string]any

// Person has one note open, in an editor that lets the server edit it.
type Person struct {
	uri uri.URI

	mu   sync.Mutex
	conn *jsonrpc2.Conn
	doc  *lsp.Document
}

// NewPerson makes the person for a note that is going to be open with that text. Positions are counted in UTF-8.
func NewPerson(u uri.URI, version int32, text string) *Person {
	return &Person{uri: u, doc: lsp.NewDocument(u, "markdown", version, text, protocol.PositionEncodingKindUTF8)}
}

// Handle adds to m what the editor does.
func (p *Person) Handle(m *jsonrpc2.Mux) {
	m.HandleRequest(protocol.MethodWorkspaceApplyEdit, jsonrpc2.Call(p.apply))
}

// Capabilities are those of the editor.
func (p *Person) Capabilities() object {
	return object{"applyEdit": true, "workspaceEdit": object{"documentChanges": true}}
}

// apply makes an edit that the server asks for.
func (p *Person) apply(ctx context.Context, a *protocol.ApplyWorkspaceEditParams) (*protocol.ApplyWorkspaceEditResult, error) {
	p.mu.Lock()
	doc := p.doc
	p.mu.Unlock()
	text := doc.Text()
	for _, c := range a.Edit.DocumentChanges {
		change, ok := c.(*protocol.TextDocumentEdit)
		if !ok || change.TextDocument.URI != p.uri {
			return &protocol.ApplyWorkspaceEditResult{}, nil
		}
		for _, e := range slices.Backward(change.Edits) { // they are in order
			edit, ok := e.(*protocol.TextEdit)
			if !ok {
				return &protocol.ApplyWorkspaceEditResult{}, nil
			}
			text = text[:doc.Offset(edit.Range.Start)] + edit.NewText + text[doc.Offset(edit.Range.End):]
		}
	}
	if err := p.write(ctx, text); err != nil {
		return nil, err
	}
	return &protocol.ApplyWorkspaceEditResult{Applied: true}, nil
}

// write has the note have another text.
func (p *Person) write(ctx context.Context, text string) error {
	p.mu.Lock()
	p.doc = lsp.NewDocument(p.uri, "markdown", p.doc.Version()+1, text, protocol.PositionEncodingKindUTF8)
	conn, version := p.conn, p.doc.Version()
	p.mu.Unlock()
	return conn.Notify(ctx, protocol.MethodTextDocumentDidChange, object{
		"textDocument": object{"uri": p.uri, "version": version}, "contentChanges": []object{{"text": text}},
	})
}

func (p *Person) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.doc.Text()
}

// Hello introduces the editor, with no folder open, and opens the note.
func (p *Person) Hello(ctx context.Context, conn *jsonrpc2.Conn, name string) error {
	err := conn.Call(ctx, protocol.MethodInitialize, object{
		"processId": nil, "clientInfo": object{"name": name, "version": "0.1.0"}, "rootUri": nil,
		"capabilities": object{"general": object{"positionEncodings": []string{"utf-8"}}, "workspace": p.Capabilities()},
	}, nil)
	if err == nil {
		err = conn.Notify(ctx, protocol.MethodInitialized, object{})
	}
	if err != nil {
		return err
	}
	return conn.Notify(ctx, protocol.MethodTextDocumentDidOpen, object{"textDocument": object{
		"uri": p.uri, "languageId": "markdown", "version": p.doc.Version(), "text": p.text(),
	}})
}

// Bye ends the editor's session.
func (p *Person) Bye(ctx context.Context, conn *jsonrpc2.Conn) error {
	if err := conn.Call(ctx, protocol.MethodShutdown, nil, nil); err != nil {
		return err
	}
	return conn.Notify(ctx, protocol.MethodExit, nil)
}

// Agent is the other one.
type Agent struct {
	updated chan string // URIs
}

// NewAgent makes the agent.
func NewAgent() *Agent { return &Agent{make(chan string, 64)} }

// Handle adds to m what the agent listens to.
func (a *Agent) Handle(m *jsonrpc2.Mux) {
	m.HandleNotification("notifications/resources/updated", jsonrpc2.Note(func(_ context.Context, p *struct {
		URI string `json:"uri"`
	}) error {
		select {
		case a.updated <- p.URI:
		default: // nobody looks
		}
		return nil
	}))
	m.HandleNotification("notifications/resources/list_changed", jsonrpc2.Note(func(context.Context, *struct{}) error { return nil }))
}

// Hello introduces the agent.
func (a *Agent) Hello(ctx context.Context, conn *jsonrpc2.Conn, name string) error {
	err := conn.Call(ctx, "initialize", object{
		"protocolVersion": mcp.Versions[0], "capabilities": object{}, "clientInfo": object{"name": name, "version": "0.1.0"},
	}, nil)
	if err != nil {
		return err
	}
	return conn.Notify(ctx, "notifications/initialized", nil)
}

// result is what the conversation looks at in the result of a tool.
type result struct {
	Content           []struct{ Text string }
	StructuredContent struct {
		Version string
		Unsaved bool
	}
	IsError bool
}

func (r *result) UnmarshalJSON(b []byte) error {
	type plain result // decoded without regard to case
	return json.Unmarshal(b, (*plain)(r))
}

func tool(ctx context.Context, conn *jsonrpc2.Conn, name string, arguments object) (result, error) {
	var r result
	err := conn.Call(ctx, "tools/call", object{"name": name, "arguments": arguments}, &r)
	return r, err
}

// Talk is the conversation. Both have introduced themselves; person is where the note is open, which the agent calls slug.
func Talk(ctx context.Context, s *try.Session, p *Person, person *jsonrpc2.Conn, a *Agent, agent *jsonrpc2.Conn, slug string) error {
	p.mu.Lock()
	p.conn = person
	p.mu.Unlock()
	const typed, mended = "A line that is typed and not saved.", "A line that an agent has edited."
	var read result
	for _, step := range []struct {
		title string
		do    func() error
	}{
		{"The person types, and the agent reads what is not saved", func() (err error) {
			if err = p.write(ctx, p.text()+"\n"+typed+"\n"); err != nil {
				return err
			}
			for read, err = tool(ctx, agent, "read_note", object{"slug": slug}); err == nil; read, err = tool(ctx, agent, "read_note", object{"slug": slug}) {
				if len(read.Content) == 1 && strings.Contains(read.Content[0].Text, typed) {
					s.Note("unsaved: %v", read.StructuredContent.Unsaved)
					break
				}
			}
			return err
		}},
		{"The agent edits the note, and the edit appears in the editor", func() error {
			r, err := tool(ctx, agent, "edit_note", object{"slug": slug, "version": read.StructuredContent.Version, "edits": []object{{"old": typed, "new": mended}}})
			switch {
			case err != nil:
				return err
			case r.IsError || !strings.Contains(p.text(), mended):
				return errors.New("the edit has not come")
			}
			s.Note("the editor shows: %s", mended)
			return nil
		}},
		{"Another edit of what was read before is refused, with the note as it is now", func() error {
			r, err := tool(ctx, agent, "edit_note", object{"slug": slug, "version": read.StructuredContent.Version, "text": "overwritten"})
			if err == nil && !r.IsError {
				err = errors.New("it was not refused")
			}
			return err
		}},
		{"The agent asks to be told when the person types", func() error {
			if err := agent.Call(ctx, "resources/subscribe", object{"uri": "notes://" + slug}, nil); err != nil {
				return err
			}
			if err := p.write(ctx, p.text()+"And on.\n"); err != nil {
				return err
			}
			select {
			case u := <-a.updated:
				s.Note("%s has changed", u)
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}},
	} {
		s.Step("%s", step.title)
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.title, err)
		}
	}
	return nil
}
