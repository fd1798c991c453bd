package lsp_test

import (
	"context"
	"fmt"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/framework"
	"github.com/tandem-rpc/tandem/lsp"
)

// hover says how long the line under the cursor is.
func hover(ctx context.Context, p *protocol.HoverParams) (*protocol.Hover, error) {
	doc := lsp.SnapshotFrom(ctx).Document(p.TextDocument.URI)
	if doc == nil {
		return nil, nil
	}
	text := fmt.Sprintf("%d bytes", len(doc.Line(int(p.Position.Line))))
	return &protocol.Hover{Contents: lsp.Markdown(text)}, nil
}

// diagnose finds every TODO.
func diagnose(_ context.Context, doc *lsp.Document) (found []protocol.Diagnostic, err error) {
	text := doc.Text()
	for at := 0; ; at += len("TODO") {
		i := strings.Index(text[at:], "TODO")
		if i < 0 {
			return found, nil
		}
		at += i
		found = append(found, protocol.Diagnostic{Range: doc.Range(at, at+4), Message: protocol.String("still to do")})
	}
}

func Example_hello() {
	framework.Main(&lsp.Server{Name: "hello", Version: "1.0.0", Hover: hover, Diagnose: diagnose})
}
