package lsptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/lsp"
)

// Server is what a [Client] can be connected to: an [lsp.Server], or anything else that makes a session for each connection.
type Server interface {
	// Mount makes the session of one connection and returns its methods. It fills o.
	Mount(o *jsonrpc2.Options) (*jsonrpc2.Mux, error)
}

// ErrClosed is the error of requests that were not answered because the connection has ended.
var ErrClosed = errors.New("lsptest: the connection has ended")

// Client is an editor for tests. Make one with [New]. Methods that cannot do what they are for fail the test and do not return, so they are for the goroutine of
// the test; [Client.Try], [Client.Go] and the methods that only look are for any.
type Client struct {
	t    T
	o    Options
	end  jsonrpc2.Transport
	ctx  context.Context // of answers that are being given
	stop context.CancelFunc
	work sync.WaitGroup

	init protocol.InitializeResult
	can  any // the client's capabilities, as decoded JSON
	enc  protocol.PositionEncodingKind

	mu      sync.Mutex
	out     [][]byte // to be written
	wake    chan struct{}
	begun   bool // initialize was answered
	closing bool // by us
	gone    bool // nothing comes any more
	last    int64
	waiting map[string]*Pending // by the text of the id
	entries []Entry
	arrived chan struct{} // closed when something has come
	read    map[string]int
	docs    map[lsp.Key]*Doc
	files   map[lsp.Key]*lsp.Document // texts that are not open
	found   map[lsp.Key]*published
	works   []*Work
	parts   map[protocol.ProgressToken][]json.RawMessage
	regs    []protocol.Registration
	reports []error
}

// New connects a client to a server in memory and introduces it: initialize, initialized. At the end of the test it says goodbye, shutdown and exit, and waits
// for the server to be done. A nil o is the zero Options.
func New(t T, s Server, o *Options) *Client {
	t.Helper()
	c := newClient(t, o)
	jo := &jsonrpc2.Options{Report: c.report}
	mux, err := s.Mount(jo)
	if err != nil {
		t.Fatalf("lsptest: mount: %v", err)
	}
	mux.HandleRequest(syncMethod, jsonrpc2.HandlerFunc(func(context.Context, *jsonrpc2.Request) (any, error) { return nil, nil }))
	theirs, ours := jsonrpc2.Pipe()
	conn := jsonrpc2.NewConn(theirs, mux, jo)
	c.work.Go(func() { _ = conn.Serve(context.Background()) }) // what matters of its error is reported, or seen here
	c.begin(ours)
	return c
}

// Connect is [New] for a server at the other end of a transport, a process with its standard input and output for example.
func Connect(t T, transport jsonrpc2.Transport, o *Options) *Client {
	t.Helper()
	c := newClient(t, o)
	c.begin(transport)
	return c
}

func newClient(t T, o *Options) *Client {
	t.Helper()
	c := &Client{
		t: t, enc: protocol.PositionEncodingKindUTF16,
		wake: make(chan struct{}, 1), arrived: make(chan struct{}),
		waiting: make(map[string]*Pending), read: make(map[string]int),
		docs: make(map[lsp.Key]*Doc), files: make(map[lsp.Key]*lsp.Document), found: make(map[lsp.Key]*published),
		parts: make(map[protocol.ProgressToken][]json.RawMessage),
	}
	if o != nil {
		c.o = *o
	}
	c.o.fill()
	c.ctx, c.stop = context.WithCancel(context.Background())
	return c
}

func (c *Client) begin(end jsonrpc2.Transport) {
	c.t.Helper()
	c.end = end
	c.work.Go(c.readAll)
	c.work.Go(c.writeAll)
	c.t.Cleanup(c.Close)
	if c.o.Manual {
		return
	}
	params, err := c.o.Params()
	if err != nil {
		c.t.Fatalf("lsptest: %v", err)
	}
	b, err := lsp.Codec.Marshal(params)
	if err != nil {
		c.t.Fatalf("lsptest: initialize: %v", err)
	}
	c.Initialize(json.RawMessage(b))
}

// Initialize does the handshake with these params. New has done it unless [Options.Manual] is set.
func (c *Client) Initialize(params any) *protocol.InitializeResult {
	c.t.Helper()
	raw, err := encode(params)
	if err != nil {
		c.fail("initialize: %v", err)
	}
	var said struct {
		Capabilities any `json:"capabilities"`
	}
	if err := json.Unmarshal(raw, &said); err != nil {
		c.fail("initialize: %v", err)
	}
	c.can = said.Capabilities
	c.Call(protocol.MethodInitialize, json.RawMessage(raw), &c.init)
	if enc := c.init.Capabilities.PositionEncoding; enc != "" {
		c.enc = enc
	}
	c.mu.Lock()
	c.begun = true
	for u, text := range c.o.Files {
		c.files[lsp.KeyOf(u)] = lsp.NewDocument(u, "", 0, text, c.enc)
	}
	c.mu.Unlock()
	c.Notify(protocol.MethodInitialized, &protocol.InitializedParams{})
	return &c.init
}

// Server is what the server said of itself in initialize.
func (c *Client) Server() protocol.ServerInfo { return c.init.ServerInfo }

// Capabilities are those that the server announced in initialize. What it has registered since is in [Client.Registrations].
func (c *Client) Capabilities() *protocol.ServerCapabilities { return &c.init.Capabilities }

// Encoding is how positions are counted in this session.
func (c *Client) Encoding() protocol.PositionEncodingKind { return c.enc }

// Close says goodbye, unless that has been said, and waits for the server to be done with the connection. It fails the test if the server does not answer, does
// not end, or has reported something. The test's cleanup calls it; closing again does nothing.
func (c *Client) Close() {
	c.t.Helper()
	c.mu.Lock()
	if c.closing {
		c.mu.Unlock()
		return
	}
	c.closing = true
	polite := c.begun && !c.gone
	c.mu.Unlock()
	if polite {
		err := c.Try(protocol.MethodShutdown, nil, nil)
		var answer *jsonrpc2.Error
		if err != nil && !errors.As(err, &answer) { // the test may have sent it itself, and then it is refused or answered again
			c.t.Errorf("lsptest: shutdown: %v%s", err, c.tail())
		}
		c.send("", protocol.MethodExit, nil)
		if err := c.wait(func() bool { return c.gone }); err != nil {
			c.t.Errorf("lsptest: the server does not close the connection after exit: %v", err)
		}
	}
	c.Kill()
	c.mu.Lock()
	reports := c.reports
	c.reports = nil
	c.mu.Unlock()
	for _, err := range reports {
		c.t.Errorf("lsptest: the server reports: %v", err)
	}
}

// Kill closes the connection without a word, as an editor that crashes, and waits for the server to be done with it.
func (c *Client) Kill() {
	c.t.Helper()
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	c.stop()
	_ = c.end.Close()
	c.poke()
	done := make(chan struct{})
	go func() {
		c.work.Wait()
		close(done)
	}()
	late := time.NewTimer(c.o.Timeout)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
		c.t.Errorf("lsptest: the server is not done %v after the connection has ended", c.o.Timeout)
	}
}

// report takes what the server reports.
func (c *Client) report(_ context.Context, r *jsonrpc2.Request, err error) {
	if r != nil {
		err = fmt.Errorf("%s: %w", r.Method, err)
	}
	if p, ok := errors.AsType[*jsonrpc2.PanicError](err); ok {
		err = fmt.Errorf("%w\n%s", err, p.Stack)
	}
	if c.o.Report != nil {
		c.o.Report(err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reports = append(c.reports, err)
}

// fail fails the test with what was said last, as that mostly tells why.
func (c *Client) fail(format string, args ...any) {
	c.t.Helper()
	c.t.Fatalf("lsptest: %s%s", fmt.Sprintf(format, args...), c.tail())
}

const (
	tailEntries = 8
	tailLine    = 300
)

// tail is the end of the transcript, for failures.
func (c *Client) tail() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	for _, err := range c.reports {
		fmt.Fprintf(&b, "\nthe server reports: %v", err)
	}
	if len(c.entries) > 0 {
		b.WriteString("\nthe last messages:")
	}
	for _, e := range c.entries[max(0, len(c.entries)-tailEntries):] {
		s := e.String()
		if len(s) > tailLine {
			s = strings.ToValidUTF8(s[:tailLine], "") + "..."
		}
		b.WriteString("\n  " + s)
	}
	return b.String()
}

// wait waits until something is so; ok is called with the lock held, when something has come.
func (c *Client) wait(ok func() bool) error {
	late := time.NewTimer(c.o.Timeout)
	defer late.Stop()
	for {
		c.mu.Lock()
		if ok() {
			c.mu.Unlock()
			return nil
		}
		arrived, gone := c.arrived, c.gone
		c.mu.Unlock()
		if gone {
			return ErrClosed
		}
		select {
		case <-arrived:
		case <-late.C:
			return fmt.Errorf("not within %v", c.o.Timeout)
		}
	}
}

// await is wait for something whose absence fails the test.
func (c *Client) await(what string, ok func() bool) {
	c.t.Helper()
	if err := c.wait(ok); err != nil {
		c.fail("no %s: %v", what, err)
	}
}
