package main

import (
	"context"
	"fmt"
	"hash/crc32"
	"sync/atomic"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/lsp"
)

// languageServer hovers version and length of a document, with a checksum at line 0 and the number of waiting definitions at line 99, completes to a
// thousand items, and finds definitions only when they are cancelled.
func languageServer() *lsp.Server {
	var active atomic.Int64
	list := candidates(1000)
	return &lsp.Server{
		Name: "benchserver", Version: "1.0.0",
		Hover: func(ctx context.Context, p *protocol.HoverParams) (*protocol.Hover, error) {
			if p.Position.Line == 99 {
				return &protocol.Hover{Contents: lsp.PlainText(fmt.Sprintf("active=%d", active.Load()))}, nil
			}
			d := lsp.SnapshotFrom(ctx).Document(p.TextDocument.URI)
			if d == nil {
				return nil, lsp.RequestFailed("document is not open")
			}
			text := fmt.Sprintf("v=%07d len=%d", d.Version(), d.Len())
			if p.Position.Line == 0 {
				sum := crc32.NewIEEE()
				for chunk := range d.Chunks() {
					_, _ = sum.Write([]byte(chunk)) // never fails
				}
				text += fmt.Sprintf(" crc=%08x", sum.Sum32())
			}
			return &protocol.Hover{Contents: lsp.PlainText(text)}, nil
		},
		Completion: func(context.Context, *protocol.CompletionParams) (*protocol.CompletionList, error) {
			return list, nil
		},
		Definition: func(ctx context.Context, _ *protocol.DefinitionParams) (protocol.DefinitionResult, error) {
			active.Add(1)
			defer active.Add(-1)
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}
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
