package notes

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestMask(t *testing.T) {
	deep := strings.Repeat("> ", maxNesting)
	tests := []struct{ name, text, want string }{
		{"plain", "# a\n- b\n", "# a\n- b\n"},
		{"bom", "\uFEFF# a", "   # a"},
		{"front matter", "---\na: b\n---\n# c", "   \n    \n   \n# c"},
		{"deep enough", deep + "a", deep + "a"},
		{"too deep", deep + "> > a", deep + "x > a"},
		{"too deep numbers", strings.Repeat("1. ", maxNesting) + "12) 3. a", strings.Repeat("1. ", maxNesting) + "12x 3. a"},
		{"too far in", strings.Repeat(" ", maxIndent+1) + "- a", strings.Repeat(" ", maxIndent+1) + "x a"},
		{"thematic break", strings.Repeat("* ", maxNesting), strings.Repeat("* ", maxNesting)},
		{"not markers", "-a\n1a\n1234567890123. x\n--- \n", "-a\n1a\n1234567890123. x\n--- \n"},
		{"few blank lines", "a\n\n\n\n\nb", "a\n\n\n\n\nb"},
		{"many blank lines", "a\n\n \n\r\n\n\n\n\nb", "a\n\n \n\r\n   \nb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			front, _ := frontMatter(tt.text)
			got := string(mask(nil, tt.text, front))
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if len(got) != len(tt.text) {
				t.Errorf("%d bytes became %d", len(tt.text), len(got))
			}
		})
	}
}

func TestStartsDestination(t *testing.T) {
	long := strings.Repeat("a", maxDest+10)
	for line, want := range map[string]bool{
		"a)": true, "a b": true, " a)": true, "": true, "\n": true, "a": true, "<a b>": true, "<a\\>b>": true, "<a": false, "<a<b>": false, "<a\n>": false,
		"a(b)c)": true, "(((": true, strings.Repeat("(", maxParens+1): false, strings.Repeat("\\(", maxParens+1) + ")": true, long: false, long[:maxDest-1] + ")": true, "<" + long + ">": false,
	} {
		if got := startsDestination([]byte(line)); got != want {
			t.Errorf("startsDestination(%q) = %v", clip(line), got)
		}
	}
}

func TestDestination(t *testing.T) {
	for line, want := range map[string]string{
		"a b": "a", "a": "a", "": "", " ": "", "<a b> c": "a b", "<>": "", "<a": "", "<a<b>": "", "<a\\>b>": "a\\>b",
	} {
		dest, after, ok := destination([]byte(line), 0)
		got := ""
		if ok {
			got = line[dest.Start:dest.End]
		}
		if got != want || after > len(line) {
			t.Errorf("destination(%q) = %q, %d, %v", line, got, after, ok)
		}
	}
}

func TestTitleIn(t *testing.T) {
	for line, want := range map[string]string{
		`"a"`: "a", `'a b'  `: "a b", "(a)": "a", `"a\"b"`: `a\"b`, `"a`: "", `"a" b`: "", "a": "", "": "", `""`: "",
	} {
		start, end, ok := titleIn([]byte(line), 0)
		got := ""
		if ok {
			got = line[start:end]
		}
		if got != want {
			t.Errorf("titleIn(%q) = %q, %v", line, got, ok)
		}
	}
}

func TestExternal(t *testing.T) {
	for dest, want := range map[string]bool{
		"https://a": true, "mailto:a@b": true, "//host/a": true, "x-y+z.1:a": true, "C:\\a": true, "": false, "a.md": false, "#a:b": false,
		"a/b:c": false, "1a:b": false, ":a": false, "a b:c": false, "ä:b": false, "/a:b": false, "./a:b": false,
	} {
		if got := external(dest); got != want {
			t.Errorf("external(%q) = %v", dest, got)
		}
	}
}

func TestUnescape(t *testing.T) {
	for s, want := range map[string]string{
		"a%20b": "a b", "%C3%A4": "ä", "100%": "100%", "100%.md": "100%.md", "%41%zz%42": "A%zzB", "%ff": "%ff", "%zz%ff": "%zz%ff", "%": "%", "a+b": "a+b", "%2E%2e": "..",
	} {
		if got := unescape(s); got != want {
			t.Errorf("unescape(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestSlugify(t *testing.T) {
	for s, want := range map[string]string{
		"Hello, World!": "hello-world", " a  b ": "a--b", "C++ & Go": "c--go", "snake_case-x": "snake_case-x", "ÄÖ ß": "äö-ß", "日本 語": "日本-語",
		"a\tb\nc": "a-b-c", "1.2.3": "123", "": "", "!?": "", "e\u0301": "e\u0301",
	} {
		if got := Slugify(s); got != want {
			t.Errorf("Slugify(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestDiff(t *testing.T) {
	for _, tt := range []struct{ old, new, want string }{
		{"", "", ""}, {"a b", "a b", ""}, {"a", "b", "-a +b"}, {"a c", "a b c d", "+b +d"}, {"a b c", "b", "-a -c"}, {"", "x", "+x"},
	} {
		var got []string
		diff(strings.Fields(tt.old), strings.Fields(tt.new), func(k string, add bool) {
			got = append(got, map[bool]string{true: "+", false: "-"}[add]+k)
		})
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("diff of %q and %q = %q, want %q", tt.old, tt.new, s, tt.want)
		}
	}
}

func TestUpdate(t *testing.T) {
	m := make(map[string][]string)
	update(m, "k", "a", true)
	update(m, "k", "b", true)
	update(m, "k", "a", false)
	update(m, "k", "missing", false)
	if !slices.Equal(m["k"], []string{"b"}) {
		t.Errorf("list = %q", m["k"])
	}
	if update(m, "k", "b", false); len(m) != 0 {
		t.Errorf("map = %q", m)
	}
}

func TestKinds(t *testing.T) {
	for k, want := range map[fmt.Stringer]string{
		Inline: "inline", Reference: "reference", Wiki: "wiki", Auto: "auto", LinkKind(99): "unknown",
		BrokenNote: "broken-note", UnusedDefinition: "unused-definition",
	} {
		if got := k.String(); got != want {
			t.Errorf("%d is called %q, want %q", k, got, want)
		}
	}
	if !OutsideLink.Broken() || DuplicateHeading.Broken() {
		t.Error("Broken is wrong about its border")
	}
}

func TestNoteEditsApply(t *testing.T) {
	n := Parse("a.md", "hello world")
	e := NoteEdits{n, []Edit{{Span{0, 1}, "J"}, {Span{5, 5}, ","}, {Span{6, 11}, ""}}}
	if got := e.Apply(); got != "Jello, " {
		t.Errorf("Apply = %q", got)
	}
	if got := (NoteEdits{Note: n}).Apply(); got != n.Text {
		t.Errorf("no edits: %q", got)
	}
}

func TestSample(t *testing.T) {
	w := Sample()
	for slug, text := range map[string]string{"welcome": "Welcome to the team!", "deploy": "Deploys run on Fridays."} {
		if n, ok := w.Note(slug); !ok || n.Text != text {
			t.Errorf("%s = %+v", slug, n)
		}
	}
	kinds := make(map[ProblemKind]int)
	for _, n := range w.Notes() {
		for _, p := range w.Check(n) {
			kinds[p.Kind]++
		}
		checkNote(t, n)
	}
	if len(kinds) != 2 || kinds[BrokenNote] != 1 || kinds[BrokenHeading] != 1 {
		t.Errorf("problems = %v", kinds)
	}
	if s := w.Skipped(); len(s) != 0 {
		t.Errorf("skipped = %v", s)
	}
}
