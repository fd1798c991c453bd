package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/internal/editor"
	"github.com/tandem-rpc/tandem/internal/joint"
	"github.com/tandem-rpc/tandem/internal/notes"
	"github.com/tandem-rpc/tandem/internal/try"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/lsp"
	"github.com/tandem-rpc/tandem/mcp"
)

// tryTimeout ends a conversation that hangs.
const tryTimeout = 30 * time.Second

// tryServer starts this program as a server and has the conversation that an editor would have with it, about the sample.
func tryServer(ctx context.Context, out io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "demo-lsp-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	e := newPerson()
	e.socket = filepath.Join(dir, "s")
	var errs bytes.Buffer // also where it says that it listens
	command := exec.Command(self, "--stdio", "-mcp", "unix:"+e.socket)
	command.Stderr = &errs
	ctx, stop := context.WithTimeout(ctx, tryTimeout)
	defer stop()
	err = try.Run(ctx, &try.Peer{
		Command: command, Framing: jsonrpc2.Header, Conventions: []cancel.Convention{lsp.Cancel}, Codec: lsp.Codec, Mux: e.mux(), Out: out,
	}, e.talk)
	if err != nil {
		_, _ = os.Stderr.Write(errs.Bytes())
	}
	return err
}

// person is the other side of the conversation, with an editor. It has one note open.
type person struct {
	doc         *lsp.Document // to find positions in
	joint       *joint.Person
	socket      string // for agents
	diagnostics chan *protocol.PublishDiagnosticsParams
	progress    chan protocol.ProgressToken
}

const (
	opened = "handbook.md" // of the sample: it has a link to a note that nobody has written
	broken = "services.md" // this one
	whole  = "runbook.md"  // what it becomes
)

func newPerson() *person {
	note, _ := notes.Sample().At(opened)
	e := &person{
		diagnostics: make(chan *protocol.PublishDiagnosticsParams, 64),
		progress:    make(chan protocol.ProgressToken, 64),
	}
	e.doc = lsp.NewDocument(editor.SampleURI(opened), "markdown", 1, note.Text, protocol.PositionEncodingKindUTF8)
	e.joint = joint.NewPerson(e.doc.URI(), 2, strings.Replace(e.doc.Text(), broken, whole, 1))
	return e
}

// mux is what an editor answers: it shows diagnostics and progress, and accepts progress that the server begins by itself.
func (e *person) mux() *jsonrpc2.Mux {
	m := jsonrpc2.NewMux()
	e.joint.Handle(m)
	m.HandleNotification(protocol.MethodTextDocumentPublishDiagnostics, jsonrpc2.Note(func(_ context.Context, p *protocol.PublishDiagnosticsParams) error {
		select {
		case e.diagnostics <- p:
		default: // nobody looks
		}
		return nil
	}))
	m.HandleNotification(protocol.MethodProgress, jsonrpc2.Note(func(_ context.Context, p *protocol.ProgressParams) error {
		select {
		case e.progress <- p.Token:
		default:
		}
		return nil
	}))
	m.HandleRequest(protocol.MethodWindowWorkDoneProgressCreate, jsonrpc2.Call(func(context.Context, *protocol.WorkDoneProgressCreateParams) (any, error) {
		return nil, nil
	}))
	return m
}

func (e *person) talk(ctx context.Context, s *try.Session) error {
	for _, step := range []struct {
		title string
		do    func(context.Context, *try.Session) error
	}{
		{"Open the session", e.begin},
		{"Open a note: its broken link is found", e.open},
		{"Hover over a link: the note behind it", e.hover},
		{"Mend the broken link: the diagnostic goes", e.mend},
		{"A command that reports progress", e.reindex},
		{"A slow command that is cancelled", e.cancelled},
		{"Requests that are wrong", e.wrong},
		{"An agent joins: it works at the same notes, in the same process", e.together},
		{"Close the session", e.end},
	} {
		s.Step("%s", step.title)
		if err := step.do(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", step.title, err)
		}
	}
	return nil
}

type object = map[string]any

func (e *person) begin(ctx context.Context, s *try.Session) error {
	var hello protocol.InitializeResult
	err := s.Conn.Call(ctx, protocol.MethodInitialize, object{
		"processId":  os.Getpid(),
		"clientInfo": object{"name": "demo-lsp -try", "version": "0.1.0"},
		"rootUri":    nil,
		"capabilities": object{
			"general":   object{"positionEncodings": []string{"utf-8", "utf-16"}},
			"window":    object{"workDoneProgress": true},
			"workspace": e.joint.Capabilities(),
		},
	}, &hello)
	if err != nil {
		return err
	}
	if got := hello.Capabilities.PositionEncoding; got != protocol.PositionEncodingKindUTF8 {
		return fmt.Errorf("the server counts in %q", string(got))
	}
	return s.Conn.Notify(ctx, protocol.MethodInitialized, object{})
}

func (e *person) open(ctx context.Context, s *try.Session) error {
	err := s.Conn.Notify(ctx, protocol.MethodTextDocumentDidOpen, object{"textDocument": object{
		"uri": e.doc.URI(), "languageId": "markdown", "version": 1, "text": e.doc.Text(),
	}})
	if err != nil {
		return err
	}
	n, err := e.diagnosed(ctx, 1)
	if err == nil && n == 0 {
		err = errors.New("no diagnostic")
	}
	return err
}

// diagnosed waits for the diagnostics of a version and returns how many there are.
func (e *person) diagnosed(ctx context.Context, version int32) (int, error) {
	for {
		select {
		case p := <-e.diagnostics:
			if v, _ := p.Version.Get(); v == version {
				return len(p.Diagnostics), nil
			}
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// at is a position in the open note, of the first place that has the text.
func (e *person) at(text string) protocol.Position {
	return e.doc.Position(strings.Index(e.doc.Text(), text))
}

func (e *person) hoverParams() object {
	return object{"textDocument": object{"uri": e.doc.URI()}, "position": e.at("(welcome.md)")}
}

func (e *person) hover(ctx context.Context, s *try.Session) error {
	var h protocol.Hover
	if err := s.Conn.Call(ctx, protocol.MethodTextDocumentHover, e.hoverParams(), &h); err != nil {
		return err
	}
	text, ok := h.Contents.(*protocol.MarkupContent)
	if !ok {
		return errors.New("no hover")
	}
	s.Note("it reads: %s", strings.TrimSpace(text.Value))
	return nil
}

func (e *person) mend(ctx context.Context, s *try.Session) error {
	start := strings.Index(e.doc.Text(), broken)
	err := s.Conn.Notify(ctx, protocol.MethodTextDocumentDidChange, object{
		"textDocument":   object{"uri": e.doc.URI(), "version": 2},
		"contentChanges": []object{{"range": e.doc.Range(start, start+len(broken)), "text": whole}},
	})
	if err != nil {
		return err
	}
	n, err := e.diagnosed(ctx, 2)
	if err == nil && n != 0 {
		err = fmt.Errorf("%d diagnostics are left", n)
	}
	return err
}

func command(pauseMs int, token any) object {
	return object{"command": editor.Reindex, "arguments": []object{{"pauseMs": pauseMs}}, "workDoneToken": token}
}

func (e *person) reindex(ctx context.Context, s *try.Session) error {
	start := time.Now()
	err := s.Conn.Call(ctx, protocol.MethodWorkspaceExecuteCommand, command(20, "check-1"), nil)
	if err == nil {
		err = e.reported(ctx, protocol.String("check-1"))
	}
	s.Note("it took %v", time.Since(start).Round(time.Millisecond))
	return err
}

// reported waits for a report with that token.
func (e *person) reported(ctx context.Context, token protocol.ProgressToken) error {
	for {
		select {
		case got := <-e.progress:
			if got == token {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (e *person) cancelled(ctx context.Context, s *try.Session) error {
	call := s.Conn.Go(ctx, protocol.MethodWorkspaceExecuteCommand, command(200, 2))
	if err := e.reported(ctx, protocol.Integer(2)); err != nil {
		return err
	}
	call.Cancel() // it is running, and this is the way to say that nobody wants the result any more
	if err := call.Wait(nil); !errors.Is(err, context.Canceled) {
		return fmt.Errorf("want a cancelled call, got: %w", err)
	}
	start := time.Now()
	if err := s.Conn.Call(ctx, protocol.MethodTextDocumentHover, e.hoverParams(), nil); err != nil {
		return err
	}
	s.Note("the server is free again: a hover took %v", time.Since(start).Round(time.Microsecond))
	return nil
}

func (e *person) wrong(ctx context.Context, s *try.Session) error {
	params := e.hoverParams()
	params["position"] = "line 7"
	if err := s.Conn.Call(ctx, protocol.MethodTextDocumentHover, params, nil); !errors.Is(err, jsonrpc2.ErrInvalidParams) {
		return fmt.Errorf("want an invalid params error, got: %w", err)
	}
	if err := s.Conn.Call(ctx, "notes/polish", nil, nil); !errors.Is(err, jsonrpc2.ErrMethodNotFound) {
		return fmt.Errorf("want a method not found error, got: %w", err)
	}
	if err := s.Conn.Call(ctx, protocol.MethodInitialize, object{}, nil); !errors.Is(err, jsonrpc2.ErrInvalidRequest) {
		return fmt.Errorf("want an invalid request error, got: %w", err)
	}
	s.Note("all three are answered, and the session goes on")
	return nil
}

func (e *person) together(ctx context.Context, s *try.Session) error {
	a, m := joint.NewAgent(), jsonrpc2.NewMux()
	a.Handle(m)
	agent, leave, err := s.Join(ctx, "agent", e.socket, &try.Peer{Framing: jsonrpc2.Lines, Conventions: []cancel.Convention{mcp.Cancel}, Mux: m})
	if err != nil {
		return err
	}
	defer leave()
	if err := a.Hello(ctx, agent, "demo-lsp -try"); err != nil {
		return err
	}
	return joint.Talk(ctx, s, e.joint, s.Conn, a, agent, notes.SlugOf(opened))
}

func (e *person) end(ctx context.Context, s *try.Session) error {
	if err := s.Conn.Call(ctx, protocol.MethodShutdown, nil, nil); err != nil {
		return err
	}
	return s.Conn.Notify(ctx, protocol.MethodExit, nil)
}
