package lsp

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/lsp/internal/rope"
)

var encodings = []protocol.PositionEncodingKind{protocol.PositionEncodingKindUTF8, protocol.PositionEncodingKindUTF16, protocol.PositionEncodingKindUTF32}

// naive is a document that is a string, and looks at all of it for every question.
type naive struct {
	text string
	enc  protocol.PositionEncodingKind
}

func (n naive) width(r rune) int {
	switch {
	case n.enc == protocol.PositionEncodingKindUTF8:
		return utf8.RuneLen(r)
	case n.enc == protocol.PositionEncodingKindUTF16 && r >= 0x10000:
		return 2
	}
	return 1
}

func (n naive) offset(line, character int) int {
	at := 0
	for ; line > 0; line-- {
		i := strings.IndexAny(n.text[at:], "\r\n")
		if i < 0 {
			return len(n.text)
		}
		at += i + 1
		if n.text[at-1] == '\r' && strings.HasPrefix(n.text[at:], "\n") {
			at++
		}
	}
	for i, r := range n.text[at:] {
		if w := n.width(r); r == '\r' || r == '\n' || character < w {
			return at + i
		} else {
			character -= w
		}
	}
	return len(n.text)
}

func (n *naive) edit(l1, c1, l2, c2 int, text string) {
	a, b := n.offset(l1, c1), n.offset(l2, c2)
	a, b = min(a, b), max(a, b)
	n.text = n.text[:a] + text + n.text[b:]
}

// FuzzEdits sends scripts of edits, as the wire has them, to a document and to the naive one, in all three encodings.
func FuzzEdits(f *testing.F) {
	f.Add("hello\nworld\r\n🌍é世\r", []byte{0, 1, 0, 2, 1, 2, 3, 2, 0, 3, 0, 9, 9, 9, 4, 1, 1, 1, 5, 6})
	f.Add("", []byte{0, 0, 0, 0, 7, 1, 0, 0, 0, 2})
	f.Add(strings.Repeat("line 🌍\r\n", 300), []byte{200, 3, 100, 6, 0, 5, 5, 5, 5, 3, 255, 255, 0, 0, 8})
	inserts := []string{"", "x", "\n", "\r", "\r\n", "🌍", "é", "世界\n", "\t\"\\", "\x00", strings.Repeat("long ", 300), "a\rb\nc"}
	f.Fuzz(func(t *testing.T, text string, script []byte) {
		text = strings.ToValidUTF8(text, "\ufffd")
		for _, enc := range encodings {
			model := naive{text, enc}
			doc := NewDocument("file:///a", "x", 0, text, enc)
			for v := 1; len(script) >= 5*v && v < 60; v++ {
				s := script[5*(v-1) : 5*v]
				l1, c1, l2, c2, ins := int(s[0]), int(s[1]), int(s[2]), int(s[3]), inserts[int(s[4])%len(inserts)]
				event, err := json.Marshal([]any{edit(l1, c1, l2, c2, ins)})
				if err != nil {
					t.Fatal(err)
				}
				next, reason := doc.apply(event, int32(v))
				if reason != "" {
					t.Fatalf("%s: %s", event, reason)
				}
				before := doc.Text()
				model.edit(l1, c1, l2, c2, ins)
				if got := next.Text(); got != model.text {
					t.Fatalf("%s: %q with %s is %q, want %q", enc, before, event, got, model.text)
				}
				if doc.Text() != before {
					t.Fatal("an edit has changed the version before it")
				}
				doc = next
			}
		}
	})
}

// FuzzPosition converts any position and offset in all three encodings: nothing panics, everything lands inside the text and on a character, and what
// is such a place already comes back unchanged.
func FuzzPosition(f *testing.F) {
	f.Add("a\r\nb\rc\n🌍", uint32(0), uint32(1), 3)
	f.Add("", uint32(math.MaxUint32), uint32(math.MaxUint32), math.MinInt)
	f.Add("Hello 🌍 World!", uint32(0), uint32(7), 8)
	f.Add("\xff\xfe", uint32(0), uint32(1), 1)
	f.Fuzz(func(t *testing.T, text string, line, character uint32, offset int) {
		for _, enc := range encodings {
			d := NewDocument("file:///a", "x", 1, text, enc)
			s := d.Text()
			p := protocol.Position{Line: line, Character: character}
			at := d.Offset(p)
			if at < 0 || at > len(s) || at < len(s) && !utf8.RuneStart(s[at]) {
				t.Fatalf("%s: %q: offset of %v is %d", enc, s, p, at)
			}
			if want := (naive{s, enc}).offset(clamp(line), clamp(character)); at != want {
				t.Fatalf("%s: %q: offset of %v is %d, want %d", enc, s, p, at, want)
			}
			back := d.Position(at)
			if d.Offset(back) != at {
				t.Fatalf("%s: %q: %d becomes %v becomes %d", enc, s, at, back, d.Offset(back))
			}
			q := d.Position(offset)
			if int(q.Line) >= d.Lines() || d.Position(d.Offset(q)) != q {
				t.Fatalf("%s: %q: %d becomes %v becomes %v", enc, s, offset, q, d.Position(d.Offset(q)))
			}
			start, end := d.Offsets(protocol.Range{Start: p, End: q})
			if start > end || d.In(protocol.Range{Start: q, End: p}) != s[start:end] {
				t.Fatalf("%s: %q: %v to %v is %d to %d", enc, s, p, q, start, end)
			}
			_ = d.Line(clamp(line))
			_ = d.Slice(offset, at)
		}
	})
}

// The columns of a line with a character outside the basic plane, in every encoding (LSP 3.18, "Position").
func TestColumns(t *testing.T) {
	const line = "Hello 🌍 World!"
	want := map[protocol.PositionEncodingKind][]int{ // offset for each column, the last for all beyond
		"utf-8":  {0, 1, 2, 3, 4, 5, 6, 6, 6, 6, 10, 11, 12, 13, 14, 15, 16, 17, 17},
		"utf-16": {0, 1, 2, 3, 4, 5, 6, 6, 10, 11, 12, 13, 14, 15, 16, 17, 17},
		"utf-32": {0, 1, 2, 3, 4, 5, 6, 10, 11, 12, 13, 14, 15, 16, 17, 17},
	}
	for _, enc := range encodings {
		d := NewDocument("file:///a", "x", 1, line+"\nnext", enc)
		if d.Encoding() != enc {
			t.Errorf("encoding is %q", d.Encoding())
		}
		for c := range 41 {
			offsets := want[enc]
			o := offsets[min(c, len(offsets)-1)]
			if got := d.Offset(protocol.Position{Character: uint32(c)}); got != o {
				t.Errorf("%s: column %d is at %d, want %d", enc, c, got, o)
			}
		}
	}
}

func TestEndOfText(t *testing.T) {
	for text, want := range map[string]protocol.Position{
		"":          {},
		"a":         {Character: 1},
		"a\n":       {Line: 1},
		"a\nbc":     {Line: 1, Character: 2},
		"a\r\n\r\n": {Line: 2},
	} {
		d := NewDocument("file:///a", "x", 1, text, "utf-16")
		if got := d.Position(len(text)); got != want {
			t.Errorf("end of %q is %v, want %v", text, got, want)
		}
		if got := d.Offset(protocol.Position{Line: uint32(d.Lines())}); got != len(text) {
			t.Errorf("the line after the last of %q is at %d", text, got)
		}
	}
}

func TestDocument(t *testing.T) {
	d := NewDocument("file:///C:/a.md", "markdown", 7, "one\r\ntwo\nthree", "no such encoding")
	if d.URI() != "file:///C:/a.md" || d.Key() != KeyOf("file:///c%3A/a.md") || d.Language() != "markdown" || d.Version() != 7 || !d.Synced() || d.Encoding() != "utf-16" {
		t.Errorf("document is %+v", d)
	}
	if d.Len() != 14 || d.Lines() != 3 || d.Line(0) != "one" || d.Line(1) != "two" || d.Line(2) != "three" || d.Line(3) != "" || d.Line(-1) != "" {
		t.Errorf("lines are %q %q %q", d.Line(0), d.Line(1), d.Line(2))
	}
	if got := d.Range(8, 5); got != (protocol.Range{Start: protocol.Position{Line: 1}, End: protocol.Position{Line: 1, Character: 3}}) {
		t.Errorf("range is %v", got)
	}
	if got := d.In(d.Range(5, 8)); got != "two" {
		t.Errorf("range covers %q", got)
	}
	all := ""
	for c := range d.Chunks() {
		all += c
	}
	if all != d.Text() || d.Slice(-5, 100) != all {
		t.Errorf("chunks are %q", all)
	}
	for in, want := range map[string]string{"a\xffb": "a\ufffdb", "\xa6\x8d\xa40": "\ufffd0"} {
		if got := NewDocument("a", "", 0, in, "utf-8").Text(); got != want {
			t.Errorf("invalid UTF-8 becomes %q, want %q", got, want)
		}
	}
}

// Open documents must not take much more than their text (the tree shares the memory of the string it was made of).
func TestOpenSharesText(t *testing.T) {
	text := strings.Repeat("0123456789abcde\n", 100<<10/16)
	d := NewDocument("file:///a", "x", 1, text, "utf-16")
	got := testing.AllocsPerRun(1000, func() { _ = d.Text() })
	if got != 0 {
		t.Errorf("Text of a document as opened allocates %v times", got)
	}
	bytes := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			newDocument(d.uri, d.key, "x", 1, text, rope.UTF16)
		}
	}).AllocedBytesPerOp()
	if limit := int64(len(text) * 3 / 10); bytes > limit {
		t.Errorf("opening %d bytes takes %d more, limit %d", len(text), bytes, limit)
	}
}

// BenchmarkDidChange is one keystroke from the params on the wire to the new snapshot.
func BenchmarkDidChange(b *testing.B) {
	for _, size := range []int{10 << 10, 10 << 20} {
		for _, open := range []int{1, 1000} {
			b.Run(fmt.Sprintf("%dKiB/%dopen", size>>10, open), func(b *testing.B) {
				s := newSession(&Server{})
				docs := s.docs.Load()
				for i := range open {
					u := fmt.Sprintf("file:///notes/%d.md", i)
					text := "x"
					if i == 0 {
						text = strings.Repeat("func main() { fmt.Println(\"hello\") }\n", size/37)
					}
					docs = docs.put(newDocument(uriOf(u), KeyOf(uriOf(u)), "x", 0, text, rope.UTF16))
				}
				s.docs.Store(docs)
				on := []byte(`{"textDocument":{"uri":"file:///notes/0.md","version":7},"contentChanges":[{"range":{"start":{"line":100,"character":10},"end":{"line":100,"character":10}},"text":"x"}]}`)
				off := []byte(`{"textDocument":{"uri":"file:///notes/0.md","version":7},"contentChanges":[{"range":{"start":{"line":100,"character":10},"end":{"line":100,"character":11}},"text":""}]}`)
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					params := on
					if i%2 == 1 {
						params = off
					}
					it, events, err := readItem(params, "contentChanges")
					if err != nil {
						b.Fatal(err)
					}
					version, _ := readVersion(it.version)
					docs := s.docs.Load()
					next, reason := docs.Document(it.uri).apply(events, version)
					if reason != "" {
						b.Fatal(reason)
					}
					s.docs.Store(docs.put(next))
				}
			})
		}
	}
}
