package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/internal/editor"
	"github.com/tandem-rpc/tandem/internal/joint"
	"github.com/tandem-rpc/tandem/internal/try"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/lsp"
	"github.com/tandem-rpc/tandem/mcp"
)

// tryTimeout ends a conversation that hangs.
const tryTimeout = 30 * time.Second

// tryServer starts this program as a server and has the conversation that a client would have with it.
func tryServer(ctx context.Context, out io.Writer, root string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "demo-mcp-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	socket := filepath.Join(dir, "s")
	args := []string{"--stdio", "-lsp", "unix:" + socket}
	if root != "" {
		args = append(args, "-root", root)
	}
	command := exec.Command(self, args...)
	var errs bytes.Buffer // also where it says that it listens
	command.Stderr = &errs
	ctx, stop := context.WithTimeout(ctx, tryTimeout)
	defer stop()

	c := &client{progress: make(chan string, 64), agent: joint.NewAgent(), root: root, socket: socket}
	err = try.Run(ctx, &try.Peer{
		Command: command, Framing: jsonrpc2.Lines, Conventions: []cancel.Convention{mcp.Cancel}, Mux: c.mux(), Out: out,
	}, c.talk)
	if err != nil {
		_, _ = os.Stderr.Write(errs.Bytes())
	}
	return err
}

// client is the other side of the conversation.
type client struct {
	progress chan string // tokens, one for each report; when it is full more are of no interest
	agent    *joint.Agent
	root     string // of the notes; empty: the sample
	socket   string // for editors
}

type progressParams struct {
	Token json.RawMessage `json:"progressToken"`
}

// reported waits for a report with that token.
func (c *client) reported(token string, failed <-chan error) error {
	for {
		select {
		case got := <-c.progress:
			if got == token {
				return nil
			}
		case err := <-failed:
			return errors.Join(errors.New("the call ended before it reported progress"), err)
		}
	}
}

func (c *client) mux() *jsonrpc2.Mux {
	m := jsonrpc2.NewMux()
	c.agent.Handle(m)
	m.HandleNotification("notifications/progress", jsonrpc2.Note(func(_ context.Context, p *progressParams) error {
		select {
		case c.progress <- string(p.Token):
		default:
		}
		return nil
	}))
	return m
}

func (c *client) talk(ctx context.Context, s *try.Session) error {
	for _, step := range []struct {
		title string
		do    func(context.Context, *try.Session) error
	}{
		{"Open the session", c.open},
		{"What tools are there?", c.list},
		{"Search the notes", c.search},
		{"A slow tool that reports progress", c.slow},
		{"A slow tool that is cancelled: nothing comes back", c.cancelled},
		{"Calls that are wrong", c.wrong},
		{"A person joins: an editor connects to the same process, and has a note open", c.together},
	} {
		s.Step("%s", step.title)
		if err := step.do(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", step.title, err)
		}
	}
	return nil
}

type object = map[string]any

func (c *client) open(ctx context.Context, s *try.Session) error {
	return c.agent.Hello(ctx, s.Conn, "demo-mcp -try")
}

// together has an editor with one of the notes open.
func (c *client) together(ctx context.Context, s *try.Session) error {
	w, err := open(c.root)
	if err != nil {
		return err
	}
	defer w.Close()
	all := w.Notes()
	if len(all) == 0 {
		s.Note("there is no note to open")
		return nil
	}
	u := editor.SampleURI(all[0].Path)
	if c.root != "" {
		u = uri.File(w.Abs(all[0].Path))
	}
	p, m := joint.NewPerson(u, 1, all[0].Text), jsonrpc2.NewMux()
	p.Handle(m)
	conn, leave, err := s.Join(ctx, "editor", c.socket, &try.Peer{Framing: jsonrpc2.Header, Conventions: []cancel.Convention{lsp.Cancel}, Codec: lsp.Codec, Mux: m})
	if err != nil {
		return err
	}
	defer leave()
	if err := p.Hello(ctx, conn, "demo-mcp -try"); err != nil {
		return err
	}
	if err := joint.Talk(ctx, s, p, conn, c.agent, s.Conn, all[0].Slug); err != nil {
		return err
	}
	return p.Bye(ctx, conn)
}

func (c *client) list(ctx context.Context, s *try.Session) error {
	var list struct{ Tools []struct{ Name string } }
	if err := s.Conn.Call(ctx, "tools/list", nil, &caseless{&list}); err != nil {
		return err
	}
	for _, t := range list.Tools {
		s.Note("a tool: %s", t.Name)
	}
	return nil
}

// toolResult is the part of a CallToolResult that this client looks at.
type toolResult struct {
	Content []struct{ Text string }
	IsError bool
}

func callTool(ctx context.Context, s *try.Session, name string, arguments, meta object) (toolResult, error) {
	params := object{"name": name, "arguments": arguments}
	if meta != nil {
		params["_meta"] = meta
	}
	var res toolResult
	err := s.Conn.Call(ctx, "tools/call", params, &caseless{&res})
	return res, err
}

func (c *client) search(ctx context.Context, s *try.Session) error {
	res, err := callTool(ctx, s, "search", object{"query": "deploy", "limit": 2}, nil)
	if err == nil && res.IsError {
		err = errors.New("the search failed")
	}
	return err
}

func (c *client) slow(ctx context.Context, s *try.Session) error {
	start := time.Now()
	done := make(chan error, 1)
	go func() {
		_, err := callTool(ctx, s, "index", object{"pause_ms": 40}, object{"progressToken": "index-1"})
		done <- err
	}()
	if err := c.reported(`"index-1"`, done); err != nil {
		return err
	}
	if err := <-done; err != nil {
		return err
	}
	s.Note("it took %v", time.Since(start).Round(time.Millisecond))
	return nil
}

func (c *client) cancelled(ctx context.Context, s *try.Session) error {
	call, stop := context.WithCancel(ctx)
	defer stop()
	failed := make(chan error, 1)
	go func() {
		_, err := callTool(call, s, "index", object{"pause_ms": 1000}, object{"progressToken": 2})
		failed <- err
	}()
	if err := c.reported("2", failed); err != nil {
		return err
	}
	stop() // it is running, and this is the way to say that nobody wants the result any more
	if err := <-failed; !errors.Is(err, context.Canceled) {
		return fmt.Errorf("want a cancelled call, got: %w", err)
	}
	start := time.Now()
	if err := s.Conn.Call(ctx, "ping", nil, nil); err != nil {
		return err
	}
	s.Note("the server is free again: a ping took %v", time.Since(start).Round(time.Microsecond))
	return nil
}

func (c *client) wrong(ctx context.Context, s *try.Session) error {
	res, err := callTool(ctx, s, "search", object{"query": 5}, nil)
	switch {
	case err != nil:
		return err
	case !res.IsError:
		return errors.New("a number was taken for a query")
	}
	s.Note("wrong arguments are a result that the model reads and learns from")
	if _, err := callTool(ctx, s, "delete_everything", object{}, nil); !errors.Is(err, jsonrpc2.ErrInvalidParams) {
		return fmt.Errorf("want an invalid params error, got: %w", err)
	}
	s.Note("a tool that does not exist is a protocol error")
	return nil
}

// caseless decodes a result into a struct without tags.
type caseless struct{ v any }

func (c *caseless) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, c.v) }
