package field

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/lsp"
)

func didOpen(uri, text string) string {
	t, _ := json.Marshal(text)
	return note("textDocument/didOpen", `{"textDocument":{"uri":"`+uri+`","languageId":"x","version":1,"text":`+string(t)+`}}`)
}

func didChange(uri string, version int, span, text string) string {
	return note("textDocument/didChange", fmt.Sprintf(`{"textDocument":{"uri":"%s","version":%d},"contentChanges":[{"range":%s,"text":%q}]}`, uri, version, span, text))
}

func span(l1, c1, l2, c2 int64) string {
	return fmt.Sprintf(`{"start":{"line":%d,"character":%d},"end":{"line":%d,"character":%d}}`, l1, c1, l2, c2)
}

// Changes that cannot be true leave the text as it is, and the next query is answered; positions that are merely outside are moved to an edge.
func TestChangesThatCannotBe(t *testing.T) {
	const uri = "file:///a"
	for _, c := range []struct {
		name, change, want string
	}{
		{"81: version goes back", didChange(uri, 1, span(0, 0, 0, 0), "x"), "a🌍b\n"},
		{"193: negative line", didChange(uri, 3, span(5, 9, -1, 4294967296), "x"), "a🌍b\n"},
		{"193: negative character", didChange(uri, 3, span(0, -1, 0, 0), "x"), "a🌍b\n"},
		{"193: beyond uinteger", didChange(uri, 3, span(0, 0, 0, 4294967296), "x"), "a🌍b\n"},
		{"193: beyond int64", didChange(uri, 3, strings.Replace(span(0, 0, 0, 1), ":1}", ":99999999999999999999}", 1), "x"), "a🌍b\n"},
		{"193: a string", didChange(uri, 3, strings.Replace(span(0, 0, 0, 1), ":1}", `:"1"}`, 1), "x"), "a🌍b\n"},
		{"193: start after end", didChange(uri, 3, span(0, 1, 0, 0), "x"), "x🌍b\n"},
		{"189: inside a surrogate pair", didChange(uri, 3, span(0, 2, 0, 2), "x"), "ax🌍b\n"},
		{"189: behind it", didChange(uri, 3, span(0, 3, 0, 4), "x"), "a🌍x\n"},
		{"190: beyond the line", didChange(uri, 3, span(0, 99, 0, 99), "x"), "a🌍bx\n"},
		{"191: the end of the text", didChange(uri, 3, span(1, 0, 1, 0), "x"), "a🌍b\nx"},
		{"191: beyond the text", didChange(uri, 3, span(9, 0, 9, 0), "x"), "a🌍b\nx"},
		{"191: the largest positions", didChange(uri, 3, span(0, 0, math.MaxUint32, math.MaxUint32), "x"), "x"},
		{"193: another document", didChange("file:///b", 3, span(0, 0, 0, 0), "x"), "a🌍b\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := startLSP(t, editor())
				k.send(didOpen(uri, "a🌍b\n"))
				k.send(note("textDocument/didChange", `{"textDocument":{"uri":"`+uri+`","version":2},"contentChanges":[]}`), c.change)
				k.heard()
				if _, got := k.document(uri); got != c.want {
					t.Errorf("the text is %q, want %q", got, c.want)
				}
				if c.want == "a🌍b\n" && len(k.reported()) == 0 {
					t.Error("nobody was told")
				}
				if _, err := k.end(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Every column of every text is an offset and back in all encodings, and nothing panics.
func TestPositions(t *testing.T) {
	encodings := []protocol.PositionEncodingKind{"utf-8", "utf-16", "utf-32"}
	texts := map[string]string{
		"189: emoji": "Hello 🌍 World!", "190: Cyrillic": "абвгдежз", "191: empty": "", "191: one line": "a\n", "191: no line end": "a\nb",
		"194: mixed line ends": "a\r\nb\rc\n", "194: only CR": "\r\r\r", "194: CR at the end": "a\r", "189: combining": "e\u0301\u200d🌍\ufe0f", "194: LF CR": "a\n\rb",
	}
	rnd := rand.New(rand.NewPCG(189, 194))
	alphabet := []rune("ab\r\né你😀\u0301")
	for i := range 50 {
		var b strings.Builder
		for range rnd.IntN(60) {
			b.WriteRune(alphabet[rnd.IntN(len(alphabet))])
		}
		texts[fmt.Sprintf("190: random %d", i)] = b.String()
	}
	columns := []uint32{math.MaxUint32, math.MaxInt32, math.MaxInt32 + 1, 1 << 16}
	for c := range uint32(41) {
		columns = append(columns, c)
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			for _, enc := range encodings {
				d := lsp.NewDocument("file:///a", "x", 1, text, enc)
				for _, line := range append(columns, 0, 1, 2, 3) {
					for _, c := range columns {
						o := d.Offset(protocol.Position{Line: line, Character: c})
						if o < 0 || o > len(text) || o < len(text) && !utf8.RuneStart(text[o]) {
							t.Fatalf("%s %d:%d is offset %d", enc, line, c, o)
						}
						if p := d.Position(o); d.Offset(p) != o || p.Line > line {
							t.Fatalf("%s %d:%d is offset %d, which is %d:%d", enc, line, c, o, p.Line, p.Character)
						}
					}
				}
				for o := -2; o <= len(text)+2; o++ {
					if got := d.Offset(d.Position(o)); got < 0 || got > len(text) {
						t.Fatalf("%s offset %d comes back as %d", enc, o, got)
					}
				}
				_ = d.Position(math.MaxInt)
				_ = d.Position(math.MinInt)
				_ = d.Line(-1) + d.Line(math.MaxInt) // 192: no such line, and no panic
			}
		})
	}
	for _, c := range []struct {
		name            string
		line, character uint32
		want            int
	}{
		{"194: 0:1", 0, 1, 1}, {"194: 0:2", 0, 2, 1}, {"194: 0:99", 0, 99, 1}, {"194: 1:0", 1, 0, 3}, {"194: 1:9", 1, 9, 4}, {"194: 2:0", 2, 0, 5}, {"194: 3:0", 3, 0, 7}, {"194: 9:0", 9, 0, 7},
		{"192: 0:0", 0, 0, 0},
	} {
		if got := lsp.NewDocument("file:///a", "x", 1, "a\r\nb\rc\n", "utf-16").Offset(protocol.Position{Line: c.line, Character: c.character}); got != c.want {
			t.Errorf("%s is offset %d, want %d", c.name, got, c.want)
		}
	}
}

// One document has many spellings, and a different document has none of them.
func TestURISpellings(t *testing.T) {
	for _, c := range []struct {
		name   string
		opened string
		asked  []string
		other  []string
	}{
		{"196: drive", "file:///c%3A/Us%20ers/a%23b.txt", []string{"file:///C:/Us%20ers/a%23b.txt", "file:///c:/Us%20ers/a%23b.txt", "file:///C%3a/Us%20ers/a%23b.txt", "file:///c%3a/Us%20ers/a%23b.txt"},
			[]string{"file:///d:/Us%20ers/a%23b.txt", "file:///c:/Us%20ers/a%23B.txt"}},
		{"198: plain drive", "file:///c:/a", []string{"file:///c%3A/a", "file:///C:/a"}, []string{"file:///c:/a/", "file:///c:/b"}},
		{"196: no drive", "file:///home/u/%C3%A9.txt", []string{"file:///home/u/%c3%a9.txt", "file:///home/u/é.txt"}, []string{"file:///Home/u/%C3%A9.txt"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := startLSP(t, editor())
				k.send(didOpen(c.opened, "text"))
				version := 2
				for _, u := range append(c.asked, c.opened) {
					k.send(didChange(u, version, span(0, 0, 0, 0), "x"))
					if v, text := k.document(u); int(v) != version || text != strings.Repeat("x", version-1)+"text" {
						t.Errorf("%s: version %d is %q", u, v, text)
					}
					version++
				}
				for _, u := range c.other {
					k.send(request("1", "textDocument/hover", `{"textDocument":{"uri":"`+u+`"},"position":{"line":0,"character":0}}`))
					expect(t, u, k.heard(), "1:-32803")
				}
				_, _ = k.end()
			})
		})
	}
}
