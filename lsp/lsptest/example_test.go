package lsptest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/lsp"
	"github.com/tandem-rpc/tandem/lsp/lsptest"
)

// shouts finds fault with capital letters, and has a command that asks before it does something about them.
var shouts = &lsp.Server{
	Name: "shouts",
	Diagnose: func(_ context.Context, doc *lsp.Document) ([]protocol.Diagnostic, error) {
		found := []protocol.Diagnostic{}
		for _, w := range strings.Fields(doc.Text()) {
			if len(w) > 1 && w == strings.ToUpper(w) {
				at := strings.Index(doc.Text(), w)
				found = append(found, protocol.Diagnostic{Range: doc.Range(at, at+len(w)), Message: protocol.String("do not shout " + w)})
			}
		}
		return found, nil
	},
	Commands: map[string]func(context.Context, []json.RawMessage) (any, error){
		"whisper": func(ctx context.Context, args []json.RawMessage) (any, error) {
			c := lsp.ClientFrom(ctx)
			answer, err := c.Ask(ctx, protocol.MessageTypeInfo, "Sure?", "Yes", "No")
			if err != nil || answer != "Yes" {
				return nil, err
			}
			var edit protocol.WorkspaceEdit
			for doc := range c.Documents().Documents() {
				edit.DocumentChanges = append(edit.DocumentChanges, &protocol.TextDocumentEdit{
					TextDocument: protocol.OptionalVersionedTextDocumentIdentifier{TextDocumentIdentifier: protocol.TextDocumentIdentifier{URI: doc.URI()}},
					Edits: []protocol.TextDocumentEditElement{
						&protocol.TextEdit{Range: doc.Range(0, doc.Len()), NewText: strings.ToLower(doc.Text())},
					},
				})
			}
			return nil, c.ApplyEdit(ctx, "Whisper", edit)
		},
	},
}

// In a test, t is the *testing.T, and the function that Run is given here is its body.
func Example() {
	err := lsptest.Run(context.Background(), func(t lsptest.T) {
		c := lsptest.New(t, shouts, &lsptest.Options{Choose: lsptest.Picks("No", "Yes")})
		doc := c.Open("file:///a.txt", "please LISTEN to me")
		fmt.Println(lsptest.Messages(doc.Diagnostics()))

		doc.Edit("please", "NOW")
		fmt.Println(lsptest.Messages(doc.Diagnostics()))

		c.Execute("whisper", nil) // no
		fmt.Println(doc.Text())
		c.Execute("whisper", nil) // yes
		fmt.Println(doc.Text())
		fmt.Println(lsptest.Messages(doc.Diagnostics()))
	})
	fmt.Println(err)
	// Output:
	// [do not shout LISTEN]
	// [do not shout NOW do not shout LISTEN]
	// NOW LISTEN to me
	// now listen to me
	// []
	// <nil>
}

// A transcript tells who said what.
func ExampleClient_Text() {
	err := lsptest.Run(context.Background(), func(t lsptest.T) {
		c := lsptest.New(t, shouts, &lsptest.Options{Preset: lsptest.Minimal, Encodings: []protocol.PositionEncodingKind{"utf-8"}})
		c.Open("file:///a.txt", "OH").Diagnostics()
		for line := range strings.Lines(c.Text()) {
			fmt.Printf("%.64s\n", strings.TrimSpace(line))
		}
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// -> initialize {"capabilities":{"general":{"positionEncodings":["
	// <- result {"capabilities":{"executeCommandProvider":{"commands":
	// -> initialized {}
	// -> textDocument/didOpen {"textDocument":{"languageId":"plaintext
	// <- textDocument/publishDiagnostics {"diagnostics":[{"message":"d
}
