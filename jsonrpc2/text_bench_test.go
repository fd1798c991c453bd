package jsonrpc2

import (
	"math/rand"
	"strings"
	"testing"
)

// sourceText is text of n bytes like that of programs: mostly ASCII, a line feed after sixty bytes, some quotes, a little beyond ASCII.
func sourceText(n int) string {
	r := rand.New(rand.NewSource(7))
	words := []string{"func ", "return ", "value", " := ", "range ", "items", "(ctx, ", "err", ") {", "}", "if ", " != nil ", "// note ", "0x1f", "string"}
	var b strings.Builder
	col := 0
	for b.Len() < n {
		w := words[r.Intn(len(words))]
		switch x := r.Intn(400); {
		case x < 4:
			w = `"q"`
		case x < 6:
			w = "é→"
		}
		b.WriteString(w)
		if col += len(w); col > 60 {
			b.WriteByte('\n')
			col = 0
		}
	}
	return strings.ToValidUTF8(b.String()[:n], "")
}

func BenchmarkText(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"source", sourceText(1 << 20)}, {"source80", sourceText(80)}, {"source4K", sourceText(4 << 10)},
		{"plain", strings.Repeat("abcdefgh", 1<<17)}, {"lines", strings.Repeat("0123456\n", 1<<17)}, {"quotes", strings.Repeat("\"a", 1<<19)},
		{"chinese", strings.Repeat("測試", 1<<17)}, {"mixed", strings.Repeat("größer ", 1<<17)},
	} {
		quoted := AppendString(nil, c.text)
		out := make([]byte, 0, 8<<20)
		run := func(name string, f func()) {
			b.Run(name+"/"+c.name, func(b *testing.B) {
				b.SetBytes(int64(len(c.text)))
				for b.Loop() {
					f()
				}
			})
		}
		run("Append", func() { AppendString(out, c.text) })
		run("Unquote", func() { AppendUnquoted(out, quoted[1:len(quoted)-1]) })
		run("Skip", func() { SkipString(quoted, 0) })
		run("Check", func() { skipString(quoted, 1) })
		run("CheckAndDecode", func() { skipDecoding(quoted, 1, len(quoted)) })
	}
}

// BenchmarkUnquoteYoung decodes on goroutines of their own, as most arguments of requests that wait are: what it needs of the stack, that has to grow first.
func BenchmarkUnquoteYoung(b *testing.B) {
	quoted := AppendString(nil, sourceText(4<<10))
	done := make(chan string)
	b.SetBytes(4 << 10)
	for b.Loop() {
		go func() { done <- Unquote(quoted[1 : len(quoted)-1]) }()
		<-done
	}
}
