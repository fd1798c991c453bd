// Command golsp is the language server of benchserver on the RPC layer of go.lsp.dev/protocol, for comparison.
//
//	golsp [-serial]
//
// By default it is set up as protocol.NewServer does it: every message on a goroutine of its own, so that edits of one document can change places. -serial
// leaves that out: messages are handled one after the other on the goroutine that reads, and none can be cancelled while one is handled.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

type stdio struct{}

func (stdio) Read(p []byte) (int, error)  { return os.Stdin.Read(p) }
func (stdio) Write(p []byte) (int, error) { return os.Stdout.Write(p) }
func (stdio) Close() error                { return os.Stdin.Close() }

type codec struct{}

func (codec) Marshal(v any) ([]byte, error)      { return protocol.Marshal(v) }
func (codec) Unmarshal(data []byte, v any) error { return protocol.Unmarshal(data, v) }

type server struct {
	protocol.UnimplementedServer
	list   *protocol.CompletionList
	active atomic.Int64

	mu  sync.Mutex
	doc document
}

func (*server) Initialize(context.Context, *protocol.InitializeParams) (*protocol.InitializeResult, error) {
	return &protocol.InitializeResult{Capabilities: protocol.ServerCapabilities{
		TextDocumentSync:   protocol.TextDocumentSyncKindIncremental,
		HoverProvider:      protocol.Boolean(true),
		DefinitionProvider: protocol.Boolean(true),
		CompletionProvider: &protocol.CompletionOptions{},
	}}, nil
}

func (*server) Shutdown(context.Context) error { return nil }

func (s *server) DidOpen(_ context.Context, p *protocol.DidOpenTextDocumentParams) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doc.set(p.TextDocument.Version, p.TextDocument.Text)
	return nil
}

func (s *server) DidChange(_ context.Context, p *protocol.DidChangeTextDocumentParams) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range p.ContentChanges {
		switch c := c.(type) {
		case *protocol.TextDocumentContentChangePartial:
			s.doc.replace(c.Range, c.Text)
		case *protocol.TextDocumentContentChangeWholeDocument:
			s.doc.set(p.TextDocument.Version, c.Text)
		}
	}
	s.doc.version = p.TextDocument.Version
	return nil
}

func (s *server) Hover(_ context.Context, p *protocol.HoverParams) (*protocol.Hover, error) {
	text := fmt.Sprintf("active=%d", s.active.Load())
	if p.Position.Line != 99 {
		s.mu.Lock()
		text = s.doc.summary(p.Position.Line == 0)
		s.mu.Unlock()
	}
	return &protocol.Hover{Contents: &protocol.MarkupContent{Kind: protocol.MarkupKindPlainText, Value: text}}, nil
}

func (s *server) Completion(context.Context, *protocol.CompletionParams) (protocol.CompletionResult, error) {
	return s.list, nil
}

func (s *server) Definition(ctx context.Context, _ *protocol.DefinitionParams) (protocol.DefinitionResult, error) {
	s.active.Add(1)
	defer s.active.Add(-1)
	<-ctx.Done()
	return nil, ctx.Err()
}

func candidates(n int) *protocol.CompletionList {
	list := &protocol.CompletionList{Items: make([]protocol.CompletionItem, n)}
	for i := range list.Items {
		name := fmt.Sprintf("candidateNumber%04d", i)
		list.Items[i] = protocol.CompletionItem{
			Label: name, Kind: protocol.CompletionItemKindFunction,
			Detail:        protocol.NewOptional("func(ctx context.Context, n int) error"),
			Documentation: protocol.String(fmt.Sprintf("Does the work of candidate number %d.", i)),
			SortText:      protocol.NewOptional(fmt.Sprintf("%04d", i)), InsertText: protocol.NewOptional(name),
		}
	}
	return list
}

func main() {
	serial := flag.Bool("serial", false, "handle messages one after the other")
	flag.Parse()
	s := &server{list: candidates(1000)}
	stream := jsonrpc2.NewStream(stdio{})
	var conn jsonrpc2.Conn
	if *serial {
		conn = jsonrpc2.NewConn(stream, jsonrpc2.WithCodec(codec{}))
		conn.Go(context.Background(), protocol.ServerHandler(s, jsonrpc2.MethodNotFoundHandler))
	} else {
		_, conn, _ = protocol.NewServer(context.Background(), s, stream)
	}
	<-conn.Done()
}
