package lsp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/lsp"
)

// session mounts a server and returns a function that sends it one message and prints what it answers.
func session(s *lsp.Server) func(message string) {
	o := new(jsonrpc2.Options)
	m, err := s.Mount(o)
	if err != nil {
		panic(err)
	}
	d := jsonrpc2.NewDispatcher(m, o)
	return func(message string) {
		if answer := d.Handle(context.Background(), []byte(message)); answer != nil {
			fmt.Println(string(answer))
		}
	}
}

func Example() {
	send := session(&lsp.Server{Name: "hello", Version: "1.0.0", Hover: hover})
	send(`{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///a"},"position":{"line":0,"character":0}}}`)
	send(`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}`)
	send(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///a","languageId":"text","version":1,"text":"hello\nworld\n"}}}`)
	send(`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///a","version":2},"contentChanges":[{"range":{"start":{"line":1,"character":5},"end":{"line":1,"character":5}},"text":" of text"}]}}`)
	send(`{"jsonrpc":"2.0","id":3,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///a"},"position":{"line":1,"character":0}}}`)
	send(`{"jsonrpc":"2.0","id":4,"method":"shutdown"}`)
	// Output:
	// {"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"Server not initialized"}}
	// {"jsonrpc":"2.0","id":2,"result":{"capabilities":{"textDocumentSync":{"openClose":true,"change":2},"hoverProvider":true},"serverInfo":{"name":"hello","version":"1.0.0"}}}
	// {"jsonrpc":"2.0","id":3,"result":{"contents":{"kind":"markdown","value":"13 bytes"}}}
	// {"jsonrpc":"2.0","id":4,"result":null}
}

func ExampleDocument() {
	doc := lsp.NewDocument("file:///a.txt", "text", 1, "Hello 🌍 World!\n", protocol.PositionEncodingKindUTF16)
	at := doc.Offset(protocol.Position{Line: 0, Character: 8}) // behind the globe, which is two UTF-16 units
	fmt.Printf("%q at %d\n", doc.Text()[at:at+6], at)
	fmt.Println(doc.Position(at))
	fmt.Println(doc.Position(1000))
	// Output:
	// " World" at 10
	// {0 8}
	// {1 0}
}

func ExampleKeyOf() {
	fmt.Println(lsp.KeyOf("file:///C:/notes/a%20b.md") == lsp.KeyOf("file:///c%3A/notes/a b.md"))
	fmt.Println(lsp.KeyOf("file:///notes/a%23b.md") == lsp.KeyOf("file:///notes/a#b.md"))
	// Output:
	// true
	// false
}

func ExampleClient_Begin() {
	_ = &lsp.Server{
		Commands: map[string]func(context.Context, []json.RawMessage) (any, error){
			"index": func(ctx context.Context, _ []json.RawMessage) (any, error) {
				files := []string{"a.md", "b.md", "c.md"}
				work := lsp.ClientFrom(ctx).Begin(ctx, lsp.Work{Title: "Indexing", Percent: true, Cancellable: true})
				defer work.End("done")
				for i, f := range files {
					select {
					case <-time.After(time.Second): // a slow file
					case <-work.Context().Done(): // the user has had enough
						return nil, work.Context().Err()
					}
					work.Report(f, 100*(i+1)/len(files))
				}
				return len(files), nil
			},
		},
	}
}

func ExampleFresh() {
	_ = &lsp.Server{
		References: func(ctx context.Context, p *protocol.ReferenceParams) ([]protocol.Location, error) {
			var found []protocol.Location
			for range 1000 { // files to search
				if err := lsp.Fresh(ctx, p.TextDocument.URI); err != nil {
					return nil, err // the place asked about is somewhere else by now
				}
				if err := ctx.Err(); err != nil {
					return nil, err
				}
			}
			return found, nil
		},
	}
}
