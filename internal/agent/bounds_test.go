package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tandem-rpc/tandem/internal/notes"
	"github.com/tandem-rpc/tandem/mcp/mcptest"
)

// structured runs a tool that has to succeed, and decodes its structured content.
func structured(t *testing.T, c *mcptest.Client, tool string, arguments map[string]any, out any) {
	t.Helper()
	r, err := c.CallTool(t.Context(), tool, arguments)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	if r.IsError {
		t.Fatalf("%s: %.300s", tool, r.Content[0].Text)
	}
	if err := json.Unmarshal(r.Structured, out); err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
}

func inMemory(t *testing.T, files map[string]string) *notes.Workspace {
	t.Helper()
	w, err := notes.New(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// Lists that are long come in pages, which have everything once whatever comes and goes in between.
func TestPages(t *testing.T) {
	files := map[string]string{"hub.md": "# Hub\n"}
	for i := range 2500 {
		files[fmt.Sprintf("n%04d.md", i)] = fmt.Sprintf("# Note %d\n[hub](hub.md) [gone](gone.md) #odd%d\n", i, i%2)
	}
	w := inMemory(t, files)
	c := mcptest.New(t, New(Options{Folders: Fixed(w)}).Server, nil)
	for name, test := range map[string]struct {
		tool      string
		arguments map[string]any
		list      string
		want      int
		pages     int
	}{
		"notes":        {"list_notes", map[string]any{"limit": 1e6}, "notes", 2501, 3},
		"usual limit":  {"list_notes", map[string]any{}, "notes", 2501, 13},
		"with a tag":   {"list_notes", map[string]any{"tag": "#ODD1", "limit": 500}, "notes", 1250, 3},
		"exactly full": {"list_notes", map[string]any{"tag": "odd1", "limit": 625}, "notes", 1250, 2},
		"links":        {"backlinks", map[string]any{"slug": "hub"}, "links", 2500, 3},
		"problems":     {"check_links", map[string]any{}, "problems", 2500, 3},
	} {
		t.Run(name, func(t *testing.T) {
			var all []string
			pages, after := 0, ""
			for ok := true; ok; ok = after != "" {
				arguments := map[string]any{}
				for k, v := range test.arguments {
					arguments[k] = v
				}
				if after != "" {
					arguments["after"] = after
				}
				var page map[string]json.RawMessage
				structured(t, c, test.tool, arguments, &page)
				var list []struct{ Slug string }
				if err := json.Unmarshal(page[test.list], &list); err != nil {
					t.Fatal(err)
				}
				for _, x := range list {
					all = append(all, x.Slug)
				}
				pages++
				after = ""
				if next := page["next"]; next != nil {
					if err := json.Unmarshal(next, &after); err != nil {
						t.Fatal(err)
					}
				}
			}
			if len(all) != test.want || pages != test.pages || !slices.IsSorted(all) || len(slices.Compact(all)) != test.want {
				t.Errorf("%d of %d, in %d pages, sorted: %v", len(all), test.want, pages, slices.IsSorted(all))
			}
		})
	}
	var page listOutput
	structured(t, c, "list_notes", map[string]any{"limit": 2, "after": "n0001x"}, &page) // gone meanwhile, or never there
	if len(page.Notes) != 2 || page.Notes[0].Slug != "n0002" || page.Next != "n0003" {
		t.Errorf("behind a note that is gone: %+v", page)
	}
	resources, err := c.Resources(t.Context())
	if err != nil || len(resources) != 2501 {
		t.Errorf("%d resources, %v", len(resources), err)
	}
	var hits searchOutput
	structured(t, c, "search", map[string]any{"query": "note", "limit": 3}, &hits)
	if len(hits.Hits) != 3 || !hits.More {
		t.Errorf("%d hits, more: %v", len(hits.Hits), hits.More)
	}
}

// Pages go on through folders.
func TestPagesOfFolders(t *testing.T) {
	one, two := inMemory(t, map[string]string{"b.md": "", "c.md": ""}), inMemory(t, map[string]string{"a.md": "", "d.md": ""})
	s := New(Options{Folders: folders(Folder{"one", one}, Folder{"two", two})})
	c := mcptest.New(t, s.Server, nil)
	for after, want := range map[string]string{"": "b c @two/a @two/d", "b": "c @two/a @two/d", "c": "@two/a @two/d", "z": "@two/a @two/d", "@two/a": "@two/d", "@two/d": ""} {
		var page listOutput
		structured(t, c, "list_notes", map[string]any{"after": after}, &page)
		var got []string
		for _, n := range page.Notes {
			got = append(got, n.Slug)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("after %q: %q, want %q", after, got, want)
		}
	}
}

// A note of 20 MB is read in pieces that fit together, or by section, and no answer about it is large.
func TestHugeNote(t *testing.T) {
	var b strings.Builder
	for i := 0; b.Len() < hugeNote; i++ {
		fmt.Fprintf(&b, "# Part %d\n\n%s\n\n", i, strings.Repeat("größer 𝄞 ", 2000))
	}
	b.WriteString("## Last\n\nword" + strings.Repeat("é", 300<<10)) // one line that is no shorter than a piece
	text := b.String()
	w := onDisk(t, map[string]string{"huge.md": text})
	c := mcptest.New(t, New(Options{Folders: Fixed(w)}).Server, &mcptest.Options{Timeout: 5 * time.Minute})
	var got strings.Builder
	for offset := 0; ; {
		r, err := c.CallTool(t.Context(), "read_note", map[string]any{"slug": "huge", "offset": offset})
		if err != nil || r.IsError {
			t.Fatalf("offset %d: %v, %+v", offset, err, r)
		}
		var read reading
		if err := json.Unmarshal(r.Structured, &read); err != nil {
			t.Fatal(err)
		}
		piece := r.Content[0].Text
		if len(piece) > maxText || !utf8.ValidString(piece) || read.Size != len(text) || read.Offset != offset {
			t.Fatalf("offset %d: %d bytes, %+v", offset, len(piece), read)
		}
		got.WriteString(piece)
		if read.Next == 0 {
			break
		}
		if read.Next != offset+len(piece) || !strings.Contains(r.Content[1].Text, fmt.Sprint(read.Next)) {
			t.Fatalf("offset %d, %d bytes: %+v, %s", offset, len(piece), read, r.Content[1].Text)
		}
		offset = read.Next
	}
	if got.String() != text {
		t.Error("the pieces are not the note")
	}
	var read reading
	structured(t, c, "read_note", map[string]any{"slug": "huge", "section": "last"}, &read)
	if read.Offset == 0 || read.Next == 0 || read.Version != versionOf(t, w, "huge") {
		t.Errorf("section: %+v", read)
	}
	for _, arguments := range []map[string]any{{"section": "none"}, {"offset": len(text) + 1}, {"section": "last", "offset": 1}} {
		arguments["slug"] = "huge"
		if said, failed := call(t, c, "read_note", arguments); !failed {
			t.Errorf("%v: %.100s", arguments, said)
		}
	}
	version := versionOf(t, w, "huge")
	if said, failed := call(t, c, "edit_note", map[string]any{"slug": "huge", "version": version, "edits": []any{map[string]any{"old": "# Part 0\n", "new": "# Part nought\n"}}}); failed {
		t.Fatal(said)
	}
	if said, failed := call(t, c, "edit_note", map[string]any{"slug": "huge", "version": version, "text": ""}); !failed || len(said) > maxText+1000 || !strings.Contains(said, "first") {
		t.Errorf("conflict: %d bytes, %.200s", len(said), said)
	}
	if p, err := c.Prompt(t.Context(), "review", map[string]string{"slug": "huge"}); err != nil || len(p.Messages) != 2 {
		t.Errorf("prompt: %v", err)
	}
}

// A note of 100,000 links, headings and tags is answered in bounded pieces.
func TestManyLinks(t *testing.T) {
	var b strings.Builder
	for i := range manyLinks {
		fmt.Fprintf(&b, "# H %d\n\n[x](gone%d.md) [hub](hub.md) #t%d\n\n", i, i, i)
	}
	w := inMemory(t, map[string]string{"many.md": b.String(), "hub.md": "# Hub\n", "z.md": "[hub](hub.md) [x](gone.md)\n"})
	c := mcptest.New(t, New(Options{Folders: Fixed(w)}).Server, &mcptest.Options{Timeout: 5 * time.Minute})
	var outline outlineOutput
	structured(t, c, "outline", map[string]any{"slug": "many"}, &outline)
	if len(outline.Headings) != maxListed || outline.Next != 4*maxListed+1 {
		t.Errorf("%d headings, next line %d", len(outline.Headings), outline.Next)
	}
	structured(t, c, "outline", map[string]any{"slug": "many", "from_line": outline.Next}, &outline)
	if outline.Headings[0].Anchor != "h-1000" {
		t.Errorf("goes on with %+v", outline.Headings[0])
	}
	var links backlinksOutput
	structured(t, c, "backlinks", map[string]any{"slug": "hub"}, &links)
	if len(links.Links) != maxListed || !links.More || links.Next != "many" {
		t.Errorf("%d links, more %v, next %q", len(links.Links), links.More, links.Next)
	}
	links = backlinksOutput{}
	structured(t, c, "backlinks", map[string]any{"slug": "hub", "after": "many"}, &links)
	if len(links.Links) != 1 || links.Links[0].Slug != "z" {
		t.Errorf("behind it: %+v", links)
	}
	var problems checkOutput
	structured(t, c, "check_links", map[string]any{}, &problems)
	if len(problems.Problems) != maxListed || !problems.More || problems.Next != "many" {
		t.Errorf("%d problems, more %v, next %q", len(problems.Problems), problems.More, problems.Next)
	}
	problems = checkOutput{}
	structured(t, c, "check_links", map[string]any{"after": "many"}, &problems)
	if len(problems.Problems) != 1 || problems.Problems[0].Slug != "z" || problems.More {
		t.Errorf("behind it: %+v", problems)
	}
	var read reading
	structured(t, c, "read_note", map[string]any{"slug": "many"}, &read)
	if len(read.Tags) != maxTags {
		t.Errorf("%d tags", len(read.Tags))
	}
}

func TestClip(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want int
	}{
		"short":          {"a\nb", 3},
		"just fits":      {strings.Repeat("a", maxText), maxText},
		"at a line":      {strings.Repeat("a", maxText-10) + "\n" + strings.Repeat("b", 100), maxText - 9},
		"no line near":   {"a\n" + strings.Repeat("b", maxText), maxText},
		"in a character": {"a" + strings.Repeat("𝄞", maxText), maxText - 3},
	} {
		if got := clip(test.text); len(got) != test.want || !strings.HasPrefix(test.text, got) || !utf8.ValidString(got) {
			t.Errorf("%s: %d bytes, want %d", name, len(got), test.want)
		}
	}
	if got := short(strings.Repeat("é", maxShort)); len(got) != maxShort+len("…") || !utf8.ValidString(got) {
		t.Errorf("short: %d bytes", len(got))
	}
}

// A slug that is none is answered with those that could be meant.
func TestUnknownSlug(t *testing.T) {
	w := inMemory(t, map[string]string{"guides/Deploy.md": "", "a b.md": "", "x.md": "", "old/x.md": "", "new/x.md": ""})
	c := mcptest.New(t, New(Options{Folders: Fixed(w)}).Server, nil)
	for slug, want := range map[string]string{
		"guides/deploy":   `did you mean ["guides/Deploy"]?`,
		"deploy.md":       `did you mean ["guides/Deploy"]?`,
		"notes://a%20b":   `did you mean ["a b"]?`,
		"/x.md":           `did you mean ["x" "new/x" "old/x"]?`,
		"nothing like it": `no note has the slug "nothing like it"; list_notes`,
	} {
		if said, failed := call(t, c, "read_note", map[string]any{"slug": slug}); !failed || !strings.Contains(said, want) {
			t.Errorf("%q: %s", slug, said)
		}
	}
}

// remove deletes a file of a workspace behind its back.
func remove(t *testing.T, w *notes.Workspace, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(w.Dir(), filepath.FromSlash(name))); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
}
