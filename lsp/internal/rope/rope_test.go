package rope

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// The model: a plain string, and every question answered by looking at all of
// it.

func modelSum(s string) (u16, runes, breaks int) {
	for i, r := range s {
		runes++
		u16++
		if r >= 0x10000 {
			u16++
		}
		if r == '\n' && (i == 0 || s[i-1] != '\r') || r == '\r' {
			breaks++
		}
	}
	return u16, runes, breaks
}

// modelLines returns start and end of the content of each line.
func modelLines(s string) (lines [][2]int) {
	start := 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\r' && i+1 < len(s) && s[i+1] == '\n':
			lines = append(lines, [2]int{start, i})
			i++
			start = i + 1
		case s[i] == '\r' || s[i] == '\n':
			lines = append(lines, [2]int{start, i})
			start = i + 1
		}
	}
	return append(lines, [2]int{start, len(s)})
}

func units(s string, u Unit) int {
	u16, runes, _ := modelSum(s)
	return [...]int{len(s), u16, runes}[u]
}

func modelOffset(s string, line, character int, u Unit) int {
	lines := modelLines(s)
	if line < 0 {
		return 0
	}
	if line >= len(lines) {
		return len(s)
	}
	at, end := lines[line][0], lines[line][1]
	for at < end {
		_, size := utf8.DecodeRuneInString(s[at:])
		n := units(s[at:at+size], u)
		if character < n {
			break
		}
		character -= n
		at += size
	}
	return at
}

func modelPosition(s string, off int, u Unit) (line, character int) {
	off = min(max(off, 0), len(s))
	for off > 0 && off < len(s) && !utf8.RuneStart(s[off]) {
		off--
	}
	lines := modelLines(s)
	for line+1 < len(lines) && lines[line+1][0] <= off {
		line++
	}
	return line, units(s[lines[line][0]:min(off, lines[line][1])], u)
}

// check compares everything about t with the model and looks at the invariants
// of the tree.
func check(t *testing.T, text Text, s string, rnd *rand.Rand) {
	t.Helper()
	if got := text.String(); got != s {
		t.Fatalf("text is %q, want %q", clip(got), clip(s))
	}
	u16, runes, breaks := modelSum(s)
	sum := text.Sum()
	if sum.Bytes != len(s) || sum.UTF16 != u16 || sum.Runes != runes || sum.Breaks != breaks {
		t.Fatalf("sum of %q is %+v, want %d bytes, %d UTF-16, %d runes, %d breaks", clip(s), sum, len(s), u16, runes, breaks)
	}
	if text.root != nil {
		sound(t, text.root, true)
	}
	for range 4 {
		a, b := rnd.IntN(len(s)+3)-1, rnd.IntN(len(s)+3)-1
		lo := min(max(min(a, b), 0), len(s))
		hi := max(lo, min(max(a, b), len(s)))
		if got := text.Slice(lo, hi); got != s[lo:hi] {
			t.Fatalf("Slice(%d, %d) = %q, want %q", lo, hi, clip(got), clip(s[lo:hi]))
		}
		for u := Bytes; u <= Runes; u++ {
			l, c := text.Position(a, u)
			if ml, mc := modelPosition(s, a, u); l != ml || c != mc {
				t.Fatalf("%q: Position(%d, %d) = %d:%d, want %d:%d", clip(s), a, u, l, c, ml, mc)
			}
			line, char := rnd.IntN(breaks+3)-1, rnd.IntN(40)-1
			got, want := text.Offset(line, char, u), modelOffset(s, line, char, u)
			if got != want {
				t.Fatalf("%q: Offset(%d, %d, %d) = %d, want %d", clip(s), line, char, u, got, want)
			}
		}
	}
}

func clip(s string) string {
	if len(s) > 300 {
		return s[:300] + "..."
	}
	return s
}

func sound(t *testing.T, n *node, root bool) (depth int) {
	t.Helper()
	if n.kids == nil {
		if n.text == "" || len(n.text) > maxLeaf || n.sum != measure(n.text) {
			t.Fatalf("leaf of %d bytes, sum %+v", len(n.text), n.sum)
		}
		return 0
	}
	if len(n.kids) > maxKids || len(n.kids) == 0 || root && len(n.kids) == 1 {
		t.Fatalf("inner node with %d children", len(n.kids))
	}
	var sum Sum
	for i, k := range n.kids {
		d := sound(t, k, false)
		if i > 0 && d != depth {
			t.Fatalf("depths %d and %d side by side", depth, d)
		}
		depth = d
		sum = sum.add(k.sum)
	}
	if sum != n.sum {
		t.Fatalf("sum %+v, children add up to %+v", n.sum, sum)
	}
	return depth + 1
}

var scraps = []string{"a", "\n", "\r", "\r\n", "é", "\u2028", "世", "🌍", "👩‍👩", "word ", "\t", "\n\n", "\r\r\n", strings.Repeat("x", 700), strings.Repeat("line 🌍\r\n", 400), strings.Repeat("ab\r", 100), "", "e\u0301", "\x00"}

// Random edits of every kind, against the model, with the old versions kept to
// see that no edit reaches them.
func TestEdits(t *testing.T) {
	for seed := range uint64(24) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			var old Text
			var oldText string
			s := strings.Repeat(scraps[rnd.IntN(len(scraps))], rnd.IntN(40))
			text := New(s)
			for step := range 120 {
				start := rnd.IntN(len(s) + 1)
				end := min(start+rnd.IntN(1+[]int{1, 10, 3000, 40000}[rnd.IntN(4)]), len(s))
				for start > 0 && start < len(s) && !utf8.RuneStart(s[start]) {
					start--
				}
				for end > 0 && end < len(s) && !utf8.RuneStart(s[end]) {
					end--
				}
				end = max(end, start)
				ins := scraps[rnd.IntN(len(scraps))]
				if rnd.IntN(3) == 0 {
					ins = ""
				}
				if rnd.IntN(2) == 0 {
					text = text.Replace(start, end, ins)
				} else {
					text = text.Replace(end, start, ins) // the wrong way round
				}
				s = s[:start] + ins + s[end:]
				check(t, text, s, rnd)
				if step == 20 {
					old, oldText = text, s
				}
			}
			check(t, old, oldText, rnd)
		})
	}
}

// Every offset and column of a text with all kinds of line ends, cut into
// leaves at every place.
func TestEveryPlace(t *testing.T) {
	const s = "a\r\nb\rc\n\n\r\r\n🌍é\n\rz世\r"
	for cut := range len(s) + 1 {
		if cut < len(s) && !utf8.RuneStart(s[cut]) {
			continue
		}
		text := Text{inner(append(leaves(nil, s[:cut]), leaves(nil, s[cut:])...))}
		for u := Bytes; u <= Runes; u++ {
			for off := -2; off < len(s)+3; off++ {
				l, c := text.Position(off, u)
				if ml, mc := modelPosition(s, off, u); l != ml || c != mc {
					t.Errorf("cut %d: Position(%d, %d) = %d:%d, want %d:%d", cut, off, u, l, c, ml, mc)
				}
			}
			for line := -1; line < 12; line++ {
				for char := -1; char < 8; char++ {
					got, want := text.Offset(line, char, u), modelOffset(s, line, char, u)
					if got != want {
						t.Errorf("cut %d: Offset(%d, %d, %d) = %d, want %d", cut, line, char, u, got, want)
					}
				}
			}
		}
		for line, span := range modelLines(s) {
			if text.LineStart(line) != span[0] || text.LineEnd(line) != span[1] {
				t.Errorf("cut %d: line %d is %d to %d, want %v", cut, line, text.LineStart(line), text.LineEnd(line), span)
			}
		}
	}
}

func TestExtremes(t *testing.T) {
	for _, s := range []string{"", "a", "🌍", "\n", "\r\n", "a\r\nb\rc\n", strings.Repeat("a世\n", 2000)} {
		text := New(s)
		for u := Bytes; u <= Runes; u++ {
			for _, v := range []int{math.MinInt, -1, 0, 1, math.MaxInt32, math.MaxInt} {
				for _, w := range []int{math.MinInt, -1, 0, 1, math.MaxInt32, math.MaxInt} {
					if got, want := text.Offset(v, w, u), modelOffset(s, v, w, u); got != want {
						t.Errorf("Offset(%d, %d) = %d, want %d", v, w, got, want)
					}
					text.Slice(v, w)
				}
				l, c := text.Position(v, u)
				if ml, mc := modelPosition(s, v, u); l != ml || c != mc {
					t.Errorf("Position(%d) = %d:%d, want %d:%d", v, l, c, ml, mc)
				}
				text.LineEnd(v)
				text.LineStart(v)
			}
		}
		if got := text.Replace(math.MinInt, math.MaxInt, "x").String(); got != "x" {
			t.Errorf("replacing all of %q gives %q", s, got)
		}
		if got := text.Replace(math.MaxInt, math.MinInt, "").Len(); got != 0 {
			t.Errorf("deleting all of %q leaves %d bytes", s, got)
		}
	}
}

func TestInvalidUTF8(t *testing.T) {
	if got := New("a\xffb\xf0\x9f").String(); got != "a\ufffdb\ufffd" {
		t.Errorf("New gives %q", got)
	}
	if got := New("ab").Replace(1, 1, "\xc3").Replace(4, 4, "\xa9").String(); got != "a\ufffd\ufffdb" {
		t.Errorf("Replace gives %q: two halves must not become one character", got)
	}
	if got := New("a🌍b").Replace(2, 4, "x").String(); got != "ax🌍b" {
		t.Errorf("offsets inside a character give %q", got)
	}
}

// Cuts move out of characters, which must not make another piece too big.
func TestLeafSize(t *testing.T) {
	for _, scrap := range []string{"é", "世", "🌍", "\r\n", "a🌍\r\n"} {
		for n := range 4200 / len(scrap) {
			for _, k := range leaves(nil, "xy"[:n%3]+strings.Repeat(scrap, n)) {
				if len(k.text) > maxLeaf {
					t.Fatalf("%d times %q gives a leaf of %d bytes", n, scrap, len(k.text))
				}
			}
		}
	}
}

// Deleting most of a big text one character a time must not leave a tree of
// tiny leaves.
func TestCrumbs(t *testing.T) {
	text := New(strings.Repeat("0123456789\n", 20000))
	rnd := rand.New(rand.NewPCG(7, 7))
	for text.Len() > 2000 {
		at := rnd.IntN(text.Len())
		text = text.Replace(at, at+100, "")
	}
	n := 0
	for range text.Chunks() {
		n++
	}
	if n > 40 {
		t.Errorf("%d bytes in %d leaves", text.Len(), n)
	}
}

func FuzzEdits(f *testing.F) {
	f.Add("a\r\nb🌍\rc\n", 1, 3, "\n", 2, 9, "x\r")
	f.Add("", 0, 0, "\r", 1, 1, "\n")
	f.Fuzz(func(t *testing.T, s string, a, b int, ins string, c, d int, ins2 string) {
		s = strings.ToValidUTF8(s, "\ufffd")
		text := New(s)
		for _, e := range []struct {
			start, end int
			ins        string
		}{{a, b, ins}, {c, d, ins2}, {b, c, strings.Repeat(ins, 200)}} {
			start, end := text.Align(e.start), text.Align(e.end)
			if start > end {
				start, end = end, start
			}
			text = text.Replace(e.start, e.end, e.ins)
			s = s[:start] + strings.ToValidUTF8(e.ins, "\ufffd") + s[end:]
			check(t, text, s, rand.New(rand.NewPCG(uint64(a), uint64(b))))
		}
	})
}

// Typing, the way an editor reports it: convert a position, replace, measure.
// The cost must hardly depend on the size.
func BenchmarkTyping(b *testing.B) {
	for _, size := range []int{10 << 10, 100 << 10, 1 << 20, 10 << 20} {
		for name, line := range map[string]string{"ascii": "func main() { fmt.Println(\"hello\") }\n", "mixed": "größe := \"Grüße an die 世界 🌍\"\n"} {
			b.Run(fmt.Sprintf("%s/%dKiB", name, size>>10), func(b *testing.B) {
				text := New(strings.Repeat(line, size/len(line)))
				b.ReportAllocs()
				at := text.Lines() / 2
				for i := 0; b.Loop(); i++ {
					off := text.Offset(at, i%20, UTF16)
					if i%2 == 0 {
						text = text.Replace(off, off, "x")
					} else {
						text = text.Replace(off-1, off, "")
					}
				}
			})
		}
	}
}
