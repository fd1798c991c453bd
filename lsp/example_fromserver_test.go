package lsp_test

import (
	"context"
	"fmt"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/lsp"
	"github.com/tandem-rpc/tandem/lsp/lsptest"
)

// legacy is a server that was written for go.lsp.dev/protocol.
type legacy struct {
	protocol.UnimplementedServer
	client protocol.Client
}

func (l *legacy) Initialize(context.Context, *protocol.InitializeParams) (*protocol.InitializeResult, error) {
	return &protocol.InitializeResult{Capabilities: protocol.ServerCapabilities{
		TextDocumentSync: protocol.TextDocumentSyncKindIncremental,
		HoverProvider:    protocol.Boolean(true),
	}}, nil
}

func (l *legacy) DidOpen(ctx context.Context, p *protocol.DidOpenTextDocumentParams) error {
	return l.client.ShowMessage(ctx, &protocol.ShowMessageParams{Type: protocol.MessageTypeInfo, Message: "opened " + string(p.TextDocument.URI)})
}

func (l *legacy) Hover(context.Context, *protocol.HoverParams) (*protocol.Hover, error) {
	return &protocol.Hover{Contents: protocol.String("old")}, nil
}

// A server that is there already, in order and with a lifecycle; a program has framework.Main(server). Its methods can be replaced one by one.
func ExampleFromServers() {
	server := lsp.FromServers(func(client protocol.Client) protocol.Server { return &legacy{client: client} })
	server.Completion = func(ctx context.Context, p *protocol.CompletionParams) (*protocol.CompletionList, error) {
		doc := lsp.SnapshotFrom(ctx).Document(p.TextDocument.URI)
		return &protocol.CompletionList{Items: []protocol.CompletionItem{{Label: doc.Text()}}}, nil
	}
	err := lsptest.Run(context.Background(), func(t lsptest.T) {
		c := lsptest.New(t, server, nil)
		doc := c.Open("file:///a.txt", "text")
		fmt.Println(doc.HoverText("text"), doc.Labels("text"))
		fmt.Println(c.Shown())
	})
	fmt.Println(err)
	// Output:
	// old [text]
	// [opened file:///a.txt]
	// <nil>
}
