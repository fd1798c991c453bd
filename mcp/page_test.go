package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

func TestCursors(t *testing.T) {
	for _, c := range []cursor{{"", 1}, {"a", 1}, {"ä/☃", 3}, {strings.Repeat("x", 5000), 1 << 20}} {
		text := c.encode("tools")
		if got, ok := parseCursor("tools", text); !ok || got != c {
			t.Errorf("%v became %v %t", c, got, ok)
		}
		if _, ok := parseCursor("prompts", text); ok {
			t.Error("a cursor of another list")
		}
		for i := range min(len(text), 50) {
			changed := []byte(text)
			changed[i] ^= 1
			if _, ok := parseCursor("tools", string(changed)); ok {
				t.Errorf("byte %d of %q changed", i, text)
			}
		}
	}
	for _, text := range []string{"", "x", "AAAA", "made up", "eyJvZmZzZXQiOjV9", strings.Repeat("A", 1000), cursor{"a", 1}.encode("tools") + "=", cursor{"a", 1}.encode("tools") + "\n", cursor{"a", 0}.encode("tools")} {
		if c, ok := parseCursor("tools", text); ok {
			t.Errorf("%q is %v", text, c)
		}
	}
}

func FuzzCursor(f *testing.F) {
	f.Add("tools", cursor{"a", 1}.encode("tools"))
	f.Add("prompts", cursor{"a", 300}.encode("prompts"))
	f.Add("tools", "\r"+cursor{"a", 1}.encode("tools"))
	f.Add("", "")
	f.Fuzz(func(t *testing.T, list, text string) {
		if c, ok := parseCursor(list, text); ok && c.encode(list) != text {
			t.Errorf("%q is %v, which is %q", text, c, c.encode(list))
		}
		// Whatever a cursor is, pages follow each other to the end.
		items := []string{"b", "a", "c", "a", "a", "d"}
		at := []byte(nil)
		if json.Valid(appendString(nil, text)) {
			at = appendString(nil, text)
		}
		n := 0
		for page := 0; ; page++ {
			got, next, err := pageOf(list, items, func(s *string) string { return *s }, 2, at)
			if err != nil || next == "" {
				break
			}
			if n += len(got); n > len(items) || len(got) == 0 {
				t.Fatalf("page %d after %q: %d items so far", page, text, n)
			}
			at = appendString(nil, next)
		}
	})
}

func TestPages(t *testing.T) {
	name := func(i int) string { return fmt.Sprintf("t%03d", (i*37)%100) } // in no order
	tools := func(n int) (list []Tool) {
		for i := range n {
			list = append(list, Tool{Name: name(i)})
		}
		return list
	}
	list := tools(25)
	s := &Server{Lister: func(context.Context) ([]Tool, error) { return list, nil }, PageSize: 10}
	page := func(cursor string) (names []string, next, failed string) {
		params := ""
		if cursor != "" {
			params = `,"params":{"cursor":` + cursor + `}`
		}
		out := s.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"`+params+`}`))
		var m struct {
			Result struct {
				Tools      []Tool
				NextCursor *string
			}
			Error *jsonrpc2.Error
		}
		if err := json.Unmarshal(out, &m); err != nil {
			t.Fatal(err)
		}
		if m.Error != nil {
			return nil, "", fmt.Sprint(int64(m.Error.Code), " ", m.Error.Message)
		}
		for _, x := range m.Result.Tools {
			names = append(names, x.Name)
		}
		if m.Result.NextCursor != nil {
			if *m.Result.NextCursor == "" {
				t.Error("nextCursor is empty")
			}
			next = string(appendString(nil, *m.Result.NextCursor))
		}
		return names, next, ""
	}
	all := func(between func(page int)) (names []string) {
		next := ""
		for i := 0; ; i++ {
			got, n, failed := page(next)
			if failed != "" || i > 20 {
				t.Fatal(failed, i)
			}
			names = append(names, got...)
			if n == "" {
				return names
			}
			if n == next {
				t.Fatal("the cursor does not advance")
			}
			next = n
			between(i)
		}
	}
	got := all(func(int) {})
	if len(got) != 25 || !slices.IsSorted(got) {
		t.Errorf("got %v", got)
	}
	// What comes and goes between pages neither repeats nor hides the others.
	got = all(func(page int) {
		switch page {
		case 0:
			list = append(list, Tool{Name: "t000a"}, Tool{Name: "zzz"})
			list = slices.DeleteFunc(list, func(x Tool) bool { return x.Name == got[9] }) // where the page ended
		}
	})
	if len(got) != 26 || len(slices.Compact(slices.Clone(got))) != 26 || !slices.Contains(got, "zzz") {
		t.Errorf("got %v", got)
	}
	// A list that has the same name twice ends all the same.
	list = append(append(tools(9), tools(9)...), tools(9)...)
	if got = all(func(int) {}); len(got) != 27 {
		t.Errorf("got %d", len(got))
	}
	list = slices.Repeat([]Tool{{Name: "same"}}, 25)
	if got = all(func(int) {}); len(got) != 25 {
		t.Errorf("got %d", len(got))
	}
	// One page: the order of the Lister, no cursor.
	list = []Tool{{Name: "b"}, {Name: "a"}}
	if got, next, _ := page(""); next != "" || got[0] != "b" {
		t.Errorf("got %v %q", got, next)
	}
	if got, next, _ := page("null"); next != "" || len(got) != 2 {
		t.Errorf("null: got %v %q", got, next)
	}
	const unknown = "-32602 Invalid params: unknown cursor"
	for _, bad := range []string{`"made up"`, `""`, `5`, `{}`, `[]`, `true`, string(appendString(nil, cursor{"a", 1}.encode("prompts")))} {
		if got, _, failed := page(bad); failed != unknown {
			t.Errorf("%s: %v %q", bad, got, failed)
		}
	}
	s.PageSize = 0
	if _, _, failed := page(string(appendString(nil, cursor{"a", 1}.encode("tools")))); failed != unknown {
		t.Errorf("without pages: %q", failed)
	}
	list = tools(100)
	if got, next, _ := page(""); len(got) != 100 || next != "" {
		t.Errorf("without pages: %d %q", len(got), next)
	}
}

// Every list has pages.
func TestPagesOfAllLists(t *testing.T) {
	s := &Server{
		PageSize:  1,
		Resources: func(context.Context) ([]Resource, error) { return []Resource{{URI: "u:b"}, {URI: "u:a"}}, nil },
		Templates: func(context.Context) ([]Template, error) {
			return []Template{{URITemplate: "u:{b}"}, {URITemplate: "u:{a}"}}, nil
		},
		Reader:   func(context.Context, string) (any, error) { return nil, nil },
		Prompts:  func(context.Context) ([]Prompt, error) { return []Prompt{{Name: "b"}, {Name: "a"}}, nil },
		Prompter: func(context.Context, string, Arguments) (any, error) { return nil, nil },
	}
	for method, want := range map[string][2]string{
		"resources/list":           {`{"resources":[{"uri":"u:a","name":""}],"nextCursor":"`, `{"resources":[{"uri":"u:b","name":""}]}`},
		"resources/templates/list": {`{"resourceTemplates":[{"uriTemplate":"u:{a}","name":""}],"nextCursor":"`, `{"resourceTemplates":[{"uriTemplate":"u:{b}","name":""}]}`},
		"prompts/list":             {`{"prompts":[{"name":"a"}],"nextCursor":"`, `{"prompts":[{"name":"b"}]}`},
	} {
		first := string(s.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"`+method+`"}`)))
		_, next, ok := strings.Cut(first, want[0])
		next, _, _ = strings.Cut(next, `"`)
		if !ok {
			t.Fatalf("%s: %s", method, first)
		}
		second := string(s.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{"cursor":"`+next+`"}}`)))
		if !strings.Contains(second, want[1]) {
			t.Errorf("%s: %s", method, second)
		}
	}
	modern := string(s.HandleModern(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"prompts/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`), nil))
	if !strings.Contains(modern, `"nextCursor":"`) || !strings.Contains(modern, `"resultType":"complete"`) {
		t.Errorf("got %s", modern)
	}
}
