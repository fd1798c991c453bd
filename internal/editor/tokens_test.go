package editor

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/lsp/lsptest"
)

// tokensOrDelta is the answer to a request for what has changed.
type tokensOrDelta struct {
	ResultID string                        `json:"resultId"`
	Data     []uint32                      `json:"data"`
	Edits    []protocol.SemanticTokensEdit `json:"edits"`
}

// What has changed since the last tokens, put into those, gives the tokens of the text as it is now.
func TestTokenDeltas(t *testing.T) {
	text := strings.Repeat("text [b](b.md) and [[gone]] #tag\n", 50)
	x := join(t, map[string]string{"a.md": text, "b.md": "# B\n"})
	c := x.editor(nil)
	doc := c.Open(x.u("a.md"), text)
	ask := func(method string, params object) tokensOrDelta {
		t.Helper()
		params["textDocument"] = object{"uri": doc.URI()}
		return lsptest.Request[tokensOrDelta](c, "textDocument/semanticTokens/"+method, params)
	}
	held := ask("full", object{})
	if held.ResultID == "" || len(held.Data) != 5*3*50 {
		t.Fatalf("tokens: id %q, %d numbers", held.ResultID, len(held.Data))
	}
	if got := ask("full/delta", object{"previousResultId": held.ResultID}); got.Edits == nil || len(got.Edits) > 0 || got.ResultID == "" {
		t.Errorf("nothing has changed: %+v", got)
	} else {
		held.ResultID = got.ResultID
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 40 {
		lines := strings.SplitAfter(doc.Text(), "\n")
		n := random.IntN(len(lines) - 1)
		at := protocol.Position{Line: uint32(n)}
		r := protocol.Range{Start: at, End: at}
		if i%3 == 0 {
			r.End.Line++ // delete it
		}
		doc.EditRange(r, []string{"", "x", "[[new]] ", "[b](b.md)\n"}[i%4])
		got := ask("full/delta", object{"previousResultId": held.ResultID})
		if got.Edits == nil {
			t.Fatalf("edit %d: everything is sent: %+v", i, got)
		}
		sent := 0
		for _, e := range got.Edits {
			held.Data = slices.Concat(held.Data[:e.Start], e.Data, held.Data[e.Start+e.DeleteCount:])
			sent += len(e.Data)
		}
		held.ResultID = got.ResultID
		if sent > 20 {
			t.Errorf("edit %d: %d numbers are sent", i, sent)
		}
		if i%10 == 0 {
			if all := ask("full", object{}); !slices.Equal(all.Data, held.Data) {
				t.Fatalf("edit %d: tokens are\n%v, want\n%v", i, held.Data, all.Data)
			} else {
				held.ResultID = all.ResultID
			}
		}
	}
	if got := ask("full/delta", object{"previousResultId": "unknown"}); got.Edits != nil || len(got.Data) == 0 {
		t.Errorf("since an unknown result: %+v", got)
	}
	part := ask("range", object{"range": protocol.Range{End: protocol.Position{Line: 3}}})
	if n := len(part.Data); n == 0 || n > 5*3*4 || part.ResultID != "" {
		t.Errorf("tokens of three lines: %d numbers, id %q", n, part.ResultID)
	}
	// Nothing is kept of a note that is closed, nor of one that was not open.
	doc.Close()
	if got := ask("full/delta", object{"previousResultId": held.ResultID}); got.Edits != nil {
		t.Errorf("after closing: %+v", got)
	}
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	for _, cl := range x.d.clients {
		cl.painted.mu.Lock()
		if n := len(cl.painted.of); n > 0 {
			t.Errorf("tokens of %d notes are kept", n)
		}
		cl.painted.mu.Unlock()
	}
}

func TestRepaint(t *testing.T) {
	for _, tt := range []struct{ old, now, want string }{
		{"", "", "none"}, {"abc", "abc", "none"}, {"", "ab", "0 0 ab"}, {"ab", "", "0 2 "},
		{"aaa", "aa", "2 1 "}, {"aa", "aaa", "2 0 a"}, {"abcd", "axyd", "1 2 xy"}, {"abab", "ab", "2 2 "},
	} {
		numbers := func(s string) (out []uint32) {
			for _, r := range s {
				out = append(out, uint32(r))
			}
			return out
		}
		got := "none"
		if e, ok := repaint(numbers(tt.old), numbers(tt.now)); ok {
			got = fmt.Sprintf("%d %d ", e.Start, e.DeleteCount)
			for _, n := range e.Data {
				got += string(rune(n))
			}
		}
		if got != tt.want {
			t.Errorf("%q to %q: %q, want %q", tt.old, tt.now, got, tt.want)
		}
	}
}
