package notes

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func slugs(hits []Hit) string {
	var list []string
	for _, h := range hits {
		list = append(list, h.Note.Slug)
	}
	return strings.Join(list, " ")
}

func TestSearch(t *testing.T) {
	w := workspace(t, map[string]string{
		"title.md":   "# Deploy\nnothing else here at all\n",
		"heading.md": "# X\n## Deploy\nnothing else here at all\n",
		"text.md":    "# Y\nnothing else here but one deploy somewhere\n",
		"long.md":    "# Z\ndeploy " + strings.Repeat("other words ", 300),
		"prefix.md":  "# V\nthe deployment went well\n",
		"both.md":    "# W\nroll out and deploy with care\n",
		"tag.md":     "# T\nsomething #deploy\n",
		"umlaut.md":  "# Größe\nÄpfel und Birnen\n",
		"cjk.md":     "# 日本語の文書\n",
		"quiet.md":   "# Q\nsilence\n",
	})
	tests := []struct{ query, want string }{
		{"deploy", "title tag heading both text prefix long"},
		{"DEPLOY", "title tag heading both text prefix long"},
		{"#deploy", "tag"},
		{"deploym", "prefix"},
		{"deploy care", "both title tag heading text prefix long"},
		{"größe", "umlaut"},
		{"ÄPFEL", "umlaut"},
		{"文書", "cjk"},
		{"quiet", "quiet"}, // by path
		{"xyzzy", ""},
		{"", ""},
		{"  ! ? ", ""},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			if got := slugs(w.Search(tt.query, 0)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if got := slugs(w.Search("deploy", 2)); got != "title tag" {
		t.Errorf("with limit 2: %q", got)
	}
	for range 20 {
		if a, b := w.Search("deploy care nothing", 0), w.Search("deploy care nothing", 0); !reflect.DeepEqual(a, b) {
			t.Fatal("equal queries differ")
		}
	}
}

func TestSearchPlace(t *testing.T) {
	w := workspace(t, map[string]string{
		"a.md": "# T\nroll here\n\n  roll and back here  \nback\n",
		"b.md": "# Long\n" + strings.Repeat("é word ", 100) + "needle" + strings.Repeat(" word é", 100) + "\n",
	})
	h := w.Search("roll back", 1)[0]
	if h.Line != 3 || h.Snippet != "roll and back here" || h.Note.Slice(h.Span) != "roll" {
		t.Errorf("hit = line %d, %q, %q", h.Line, h.Snippet, h.Note.Slice(h.Span))
	}
	h = w.Search("needle", 1)[0]
	if !strings.HasPrefix(h.Snippet, "…") || !strings.HasSuffix(h.Snippet, "…") || !strings.Contains(h.Snippet, "needle") || len(h.Snippet) > maxSnippet+10 {
		t.Errorf("snippet = %q", h.Snippet)
	}
}

func TestSearchFollowsEdits(t *testing.T) {
	w := workspace(t, map[string]string{"a.md": "apple", "b.md": "banana"})
	check := func(query, want string) {
		t.Helper()
		if got := slugs(w.Search(query, 0)); got != want {
			t.Errorf("%q: got %q, want %q", query, got, want)
		}
	}
	check("apple", "a")
	w.SetOverlay("a.md", "cherry", 1)
	check("apple", "")
	check("cherry", "a")
	w.SetOverlay("c.md", "cherry banana", 1)
	check("cherry", "a c")
	w.ClearOverlay("a.md")
	w.ClearOverlay("c.md")
	check("cherry", "")
	check("apple", "a")
	check("banana", "b")
}

// TestSearchIndexStaysSmall edits one note many times: what the edits leave
// behind must not pile up, nor change the ranking.
func TestSearchIndexStaysSmall(t *testing.T) {
	w := workspace(t, map[string]string{"a.md": "common apple", "b.md": "common banana"})
	before := w.Search("common apple", 0)
	for i := range 10_000 {
		if _, err := w.SetOverlay("a.md", fmt.Sprintf("common word%d", i), int32(i)); err != nil {
			t.Fatal(err)
		}
		if got := slugs(w.Search(fmt.Sprintf("word%d", i), 1)); got != "a" {
			t.Fatalf("edit %d: %q", i, got)
		}
	}
	x := w.search
	if len(x.docs) > 4200 || len(x.lists) > 4200 {
		t.Errorf("%d documents and %d terms for two notes", len(x.docs), len(x.lists))
	}
	for id, p := range x.lists {
		if len(p.list) > 16 {
			t.Errorf("term %q has %d postings", x.counter.names[id], len(p.list))
		}
	}
	w.ClearOverlay("a.md")
	if after := w.Search("common apple", 0); !reflect.DeepEqual(before, after) {
		t.Errorf("ranking drifted: %+v, want %+v", after, before)
	}
}

func TestTerms(t *testing.T) {
	long := strings.Repeat("x", 200)
	var got []string
	terms("Hello, wörld_1! a-b 日本 "+long+" ÉÉ", func(term []byte, at int) bool {
		got = append(got, fmt.Sprintf("%s@%d", term, at))
		return true
	})
	want := []string{"hello@0", "wörld_1@7", "a@17", "b@19", "日@21", "本@24", strings.Repeat("x", maxTerm) + "@28", "éé@229"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	n := 0
	terms("a b c", func([]byte, int) bool { n++; return n < 2 })
	if n != 2 {
		t.Errorf("called %d times after false", n)
	}
}

// TestCounter counts terms of every length, in documents of several counters: each
// keeps its own name and number.
func TestCounter(t *testing.T) {
	var words []string
	for n := 1; n <= 24; n++ {
		words = append(words, strings.Repeat("x", n), strings.Repeat("x", n-1)+"y", strings.Repeat("x", n-1)+"é")
	}
	for i := range 3000 { // grows the table
		words = append(words, fmt.Sprintf("w%d", i), fmt.Sprintf("a_long_word_%d_with_an_end", i))
	}
	c := newCounter(0)
	ids := make(map[uint32]string)
	for _, word := range words {
		id := c.find([]byte(word), true).id
		if other, taken := ids[id]; taken {
			t.Fatalf("%q and %q are one term", word, other)
		}
		ids[id] = word
	}
	for id, word := range ids {
		if e := c.find([]byte(word), false); e == nil || e.id != id || c.names[id-1] != word {
			t.Fatalf("%q is lost", word)
		}
	}
	if c.find([]byte("nothing"), false) != nil {
		t.Error("found a term nobody has added")
	}
	for _, base := range []uint32{0, 1 << 31, 1<<32 - 1} { // the last wraps around
		c.base = base / 2
		for range 2 {
			d := c.count(Parse("n.md", "xx xx yes"))
			if len(d.terms) != 4 { // xx, yes, n, md
				t.Fatalf("terms: %+v", d.terms)
			}
			for _, tc := range d.terms {
				if want := map[string]uint16{"xx": 2, "yes": 1, "n": weightTitle + weightPath, "md": weightPath}[c.names[tc.term]]; tc.count != want {
					t.Errorf("%q counts %d, want %d", c.names[tc.term], tc.count, want)
				}
			}
		}
	}
}

// TestPosting packs numbers of documents and counts up to their limits, and terms.
func TestPosting(t *testing.T) {
	for _, doc := range []uint32{0, 1, maxDocs - 1} {
		for count, want := range map[uint16]float64{1: 1, maxCount - 1: maxCount - 1, maxCount: maxCount, maxCount + 1: maxCount, 65535: maxCount} {
			if p := newPosting(doc, count); p.doc() != doc || p.count() != want {
				t.Errorf("document %d, count %d: got %d, %v", doc, count, p.doc(), p.count())
			}
		}
	}
	if 3*maxNotes+4096 >= maxDocs {
		t.Error("numbers of documents run out before they are given anew")
	}
	want := []termCount{{0, 1}, {1<<32 - 1, 65535}, {300, 2}}
	var got []termCount
	unpack(document{terms: want}.pack([]byte(nil)), func(term uint32, count uint16) { got = append(got, termCount{term, count}) })
	if !reflect.DeepEqual(got, want) {
		t.Errorf("unpacked %v, want %v", got, want)
	}
}

// TestLonger holds the words that begin with another to what a look at all of
// them finds, with words that nobody uses any more among them.
func TestLonger(t *testing.T) {
	files := map[string]string{"gone.md": "kalo karagone kax"}
	for i := range 40 {
		files[fmt.Sprintf("n%d.md", i)] = fmt.Sprintf("ka kalo%d karakalo%d k%d mi", i, i%7, i)
	}
	w := workspace(t, files)
	w.SetOverlay("gone.md", "nothing", 1)
	w.Search("x", 1) // takes it in
	x := w.search
	for _, prefix := range []string{"k", "ka", "kal", "karakalo", "karakalo6", "karag", "kax", "mi", "zz", strings.Repeat("k", 300)} {
		var want []string
		for id, name := range x.counter.names {
			if strings.HasPrefix(name, prefix) && name != prefix && x.living(x.lists[id].list) > 0 {
				want = append(want, name)
			}
		}
		slices.SortFunc(want, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
		for _, limit := range []int{1, 3, 10, 64, 1000} {
			var got []string
			for _, id := range x.longer(prefix, limit) {
				got = append(got, x.counter.names[id])
			}
			if !slices.Equal(got, want[:min(limit, len(want))]) {
				t.Errorf("%.10q, at most %d: got %q, want %q", prefix, limit, got, want)
			}
		}
	}
}
