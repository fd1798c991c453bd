package notes

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
)

// corpus makes notes of about 2 KB each with prose over a Zipf-like vocabulary,
// headings, tags and links to other notes.
func corpus(notes int) map[string]string {
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.1, 8, 20_000)
	word := func() string {
		n := zipf.Uint64()
		var b strings.Builder
		for ok := true; ok; ok = n > 0 {
			b.WriteString([]string{"ka", "lo", "mi", "ten", "su", "ra", "vel", "no"}[n%8])
			n /= 8
		}
		return b.String()
	}
	files := make(map[string]string, notes)
	for i := range notes {
		var b strings.Builder
		fmt.Fprintf(&b, "---\ntags: [t%d, %s]\n---\n# Note %d %s\n\n", i%50, word(), i, word())
		for s := range 5 {
			fmt.Fprintf(&b, "## Section %d %s\n\n", s, word())
			for range 40 {
				b.WriteString(word())
				b.WriteByte(' ')
			}
			fmt.Fprintf(&b, "see [other](n%d.md#section-1) and [[n%d]].\n\n- %s #%s\n- *%s* `code`\n\n", r.IntN(notes), r.IntN(notes), word(), word(), word())
		}
		files[fmt.Sprintf("d%d/n%d.md", i%100, i)] = b.String()
	}
	return files
}

const benchNotes = 10_000

func size(files map[string]string) (n int64) {
	for _, body := range files {
		n += int64(len(body))
	}
	return n
}

// BenchmarkOpen is the first index of 10,000 notes from disk.
func BenchmarkOpen(b *testing.B) {
	files := corpus(benchNotes)
	dir := folder(b, files)
	b.SetBytes(size(files))
	b.ReportAllocs()
	runtime.GC()
	defer cpuTime(b)()
	for b.Loop() {
		w, err := Open(dir, nil)
		if err != nil {
			b.Fatal(err)
		}
		w.Close()
	}
}

// BenchmarkParse is one note of 2 KB.
func BenchmarkParse(b *testing.B) {
	body := corpus(100)["d7/n7.md"]
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		Parse("n.md", body)
	}
}

// BenchmarkParseHuge is one note of 20 MB.
func BenchmarkParseHuge(b *testing.B) {
	var s strings.Builder
	for s.Len() < 20<<20 {
		for _, body := range corpus(200) {
			s.WriteString(body)
		}
	}
	b.SetBytes(int64(s.Len()))
	b.ReportAllocs()
	for b.Loop() {
		Parse("n.md", s.String())
	}
}

// BenchmarkKeystroke is an edit of one of 10,000 notes with its problems.
func BenchmarkKeystroke(b *testing.B) {
	files := corpus(benchNotes)
	w := workspace(b, files)
	body := files["d7/n7.md"]
	i := 0
	defer cpuTime(b)()
	for b.Loop() {
		i++
		c, err := w.SetOverlay("d7/n7.md", body+"x"[:i%2], int32(i))
		if err != nil {
			b.Fatal(err)
		}
		w.Check(c.New)
	}
}

// BenchmarkSearch is a query of two words over 10,000 notes.
func BenchmarkSearch(b *testing.B) {
	w := workspace(b, corpus(benchNotes))
	for _, query := range []string{"loka tensu", "kamilo", "ka lo mi", "ka lo mi ten su ra vel no", "#t7", "ten"} {
		b.Run(query, func(b *testing.B) {
			defer cpuTime(b)()
			for b.Loop() {
				w.Search(query, 20)
			}
		})
	}
}

// BenchmarkBacklinks is the links to one of 10,000 notes.
func BenchmarkBacklinks(b *testing.B) {
	w := workspace(b, corpus(benchNotes))
	for b.Loop() {
		w.Backlinks("d7/n7")
	}
}

// BenchmarkComplete offers notes out of 10,000, with nothing typed and with a
// few letters.
func BenchmarkComplete(b *testing.B) {
	w := workspace(b, corpus(benchNotes))
	for _, text := range []string{"[[", "[[no", "[[ten", "[x](", "[x](../d7/n"} {
		c, err := w.SetOverlay("d7/n7.md", text, 1)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(text, func(b *testing.B) {
			defer cpuTime(b)()
			for b.Loop() {
				w.Complete(c.New, len(text), 50)
			}
		})
	}
}

// BenchmarkRenameHeading renames a heading that 1,000 notes link to.
func BenchmarkRenameHeading(b *testing.B) {
	files := map[string]string{"a.md": "# A\n## Old\n"}
	for i := range 1000 {
		files[fmt.Sprintf("n%d.md", i)] = "text [x](a.md#old) text\n"
	}
	w := workspace(b, files)
	n, _ := w.Note("a")
	for b.Loop() {
		if edits, err := w.RenameHeading(n, &n.Headings[1], "New"); err != nil || len(edits) != 1001 {
			b.Fatal(len(edits), err)
		}
	}
}
