package mcp

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// notesSet has resources of every kind.
func notesSet() *ResourceSet {
	set := new(ResourceSet)
	set.Add(Resource{URI: "note://welcome", Name: "welcome", MIMEType: "text/plain"}, func(context.Context) (any, error) { return "Hello.", nil })
	set.Add(Resource{URI: "note://logo", Name: "logo", MIMEType: "image/png"}, func(context.Context) (any, error) { return []byte{1, 2}, nil })
	set.Add(Resource{URI: "note://empty", Name: "empty"}, func(context.Context) (any, error) { return []byte(nil), nil })
	set.Add(Resource{URI: "note://gone", Name: "gone"}, func(context.Context) (any, error) { return nil, nil })
	set.Add(Resource{URI: "note://broken", Name: "broken"}, func(context.Context) (any, error) { return nil, errors.New("disk") })
	set.Add(Resource{URI: "note://two", Name: "two", MIMEType: "text/x"}, func(context.Context) (any, error) {
		return []ResourceContents{{Text: "a"}, {URI: "note://two/b", MIMEType: "text/y", Text: "b"}}, nil
	})
	set.AddTemplate(Template{URITemplate: "note://{slug}", Name: "any", Complete: map[string]Suggest{"slug": SuggestFrom("alpha", "Album", "beta")}},
		func(_ context.Context, uri string, v Variables) (any, error) { return "any " + v.Text("slug"), nil })
	set.AddTemplate(Template{URITemplate: "note://draft-{slug}", Name: "draft", MIMEType: "text/z"}, func(_ context.Context, uri string, v Variables) (any, error) {
		if v.Text("slug") == "none" {
			return nil, nil
		}
		return ResourceContents{Text: "draft " + v.Text("slug")}, nil
	})
	set.AddTemplate(Template{URITemplate: "file:///{+path}", Name: "file"}, func(_ context.Context, uri string, v Variables) (any, error) {
		return &ResourceContents{Text: v.Text("path")}, nil
	})
	return set
}

func TestResourceSetRead(t *testing.T) {
	set := notesSet()
	s := &Server{}
	set.Attach(s)
	contents := func(c string) string { return `"result":{"contents":[` + c + `]}` }
	for _, c := range []struct{ uri, want string }{
		{"note://welcome", contents(`{"uri":"note://welcome","mimeType":"text/plain","text":"Hello."}`)},
		{"note://logo", contents(`{"uri":"note://logo","mimeType":"image/png","blob":"AQI="}`)},
		{"note://empty", contents(`{"uri":"note://empty","blob":""}`)},
		{"note://two", contents(`{"uri":"note://two","mimeType":"text/x","text":"a"},{"uri":"note://two/b","mimeType":"text/y","text":"b"}`)},
		{"note://gone", `"error":{"code":-32002,"message":"Resource not found","data":{"uri":"note://gone"}}`},
		{"note://broken", `"error":{"code":-32603,"message":"Internal error"}`},
		{"note://other", contents(`{"uri":"note://other","text":"any other"}`)},
		{"note://a%20b", contents(`{"uri":"note://a%20b","text":"any a b"}`)},
		{"note://draft-x", contents(`{"uri":"note://draft-x","mimeType":"text/z","text":"draft x"}`)},
		{"note://draft-none", contents(`{"uri":"note://draft-none","text":"any draft-none"}`)},
		{"note://a/b", `"error":{"code":-32002,"message":"Resource not found","data":{"uri":"note://a/b"}}`},
		{"NOTE://welcome", `"error":{"code":-32002,"message":"Resource not found","data":{"uri":"NOTE://welcome"}}`},
		{"file:///a/../b%2Fc", contents(`{"uri":"file:///a/../b%2Fc","text":"a/../b/c"}`)},
	} {
		got := string(s.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"`+c.uri+`"}}`)))
		if got != `{"jsonrpc":"2.0","id":1,`+c.want+`}` {
			t.Errorf("%s:\ngot  %s\nwant %s", c.uri, got, c.want)
		}
	}
	list := string(s.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"resources/templates/list"}`)))
	if want := `"resourceTemplates":[{"uriTemplate":"file:///{+path}","name":"file"},{"uriTemplate":"note://draft-{slug}","name":"draft","mimeType":"text/z"},{"uriTemplate":"note://{slug}","name":"any"}]`; !strings.Contains(list, want) {
		t.Errorf("got  %s\nwant %s", list, want)
	}
}

func TestResourceSetChanges(t *testing.T) {
	set := new(ResourceSet)
	set.Subscribable = true
	one := func(context.Context) (any, error) { return "x", nil }
	set.Add(Resource{URI: "u:b", Name: "b"}, one)
	s := &Server{}
	set.Attach(s)
	w := start(t, s, "2025-11-25")
	w.send(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"u:b"}}`)
	w.want(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	w.send(`{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"u:zz"}}`)
	w.want(`{"jsonrpc":"2.0","id":2,"error":{"code":-32002,"message":"Resource not found","data":{"uri":"u:zz"}}}`)
	set.Updated("u:b")
	w.want(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"u:b"}}`)
	set.Add(Resource{URI: "u:a", Name: "a"}, one)
	w.want(`{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`)
	set.AddTemplate(Template{URITemplate: "u:x-{y}", Name: "x"}, func(context.Context, string, Variables) (any, error) { return "y", nil })
	w.send(`{"jsonrpc":"2.0","id":3,"method":"resources/list"}`)
	for got := w.recv(); !strings.Contains(got, `"resources":[{"uri":"u:a","name":"a"},{"uri":"u:b","name":"b"}]`); got = w.recv() {
		if !strings.Contains(got, "list_changed") {
			t.Fatalf("got %s", got)
		}
	}
	if set.Remove("u:nothing") != 0 || set.Remove("u:a", "u:x-{y}", "u:a") != 2 {
		t.Error("wrong count removed")
	}
	if list, _ := set.Templates(context.Background()); len(list) != 0 {
		t.Errorf("still %v", list)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("attached to a server that has a Reader")
			}
		}()
		new(ResourceSet).Attach(s)
	}()
}

func TestResourceSetVisible(t *testing.T) {
	type user string
	set := notesSet()
	set.Visible = func(ctx context.Context, uri string) bool {
		u, _ := CallerFrom[user](ctx)
		return u == "ada" || !strings.Contains(uri, "draft") && uri != "note://logo"
	}
	ada, bob := WithCaller(context.Background(), user("ada")), WithCaller(context.Background(), user("bob"))
	for _, c := range []struct {
		ctx                  context.Context
		resources, templates int
	}{{ada, 6, 3}, {bob, 5, 2}} {
		list, _ := set.List(c.ctx)
		templates, _ := set.Templates(c.ctx)
		if len(list) != c.resources || len(templates) != c.templates {
			t.Errorf("sees %d and %d", len(list), len(templates))
		}
	}
	for _, uri := range []string{"note://logo", "note://draft-x"} {
		_, hidden := set.Read(bob, uri)
		if e, ok := errors.AsType[*jsonrpc2.Error](hidden); !ok || e.Code != CodeResourceNotFound {
			t.Errorf("%s: %v", uri, hidden)
		}
		if _, err := set.Read(ada, uri); err != nil {
			t.Errorf("%s: %v", uri, err)
		}
		if set.subscribe(bob, uri) == nil || set.subscribe(ada, uri) != nil {
			t.Errorf("%s: subscription", uri)
		}
	}
	if _, err := set.Complete(bob, CompleteRequest{Template: "note://draft-{slug}", Name: "slug"}); err == nil {
		t.Error("completes what is not visible")
	}
}

func TestBadResources(t *testing.T) {
	set := notesSet()
	read := func(context.Context) (any, error) { return nil, nil }
	family := func(context.Context, string, Variables) (any, error) { return nil, nil }
	minus := int64(-1)
	for i, err := range []error{
		set.TryAdd(Resource{URI: "relative", Name: "x"}, read),
		set.TryAdd(Resource{URI: "", Name: "x"}, read),
		set.TryAdd(Resource{URI: "u:\n", Name: "x"}, read),
		set.TryAdd(Resource{URI: "u:x"}, read),
		set.TryAdd(Resource{URI: "u:x", Name: "x"}, nil),
		set.TryAdd(Resource{URI: "u:x", Name: "x", Size: &minus}, read),
		set.TryAdd(Resource{URI: "u:x", Name: "x", Icons: []Icon{{Src: "x"}}}, read),
		set.TryAdd(Resource{URI: "note://logo", Name: "x"}, read),
		set.TryAddTemplate(Template{URITemplate: "u:{", Name: "x"}, family),
		set.TryAddTemplate(Template{URITemplate: "u:{a b}", Name: "x"}, family),
		set.TryAddTemplate(Template{URITemplate: "u:" + strings.Repeat("x", 5000), Name: "x"}, family),
		set.TryAddTemplate(Template{URITemplate: "u:{a}"}, family),
		set.TryAddTemplate(Template{URITemplate: "u:{a}", Name: "x"}, nil),
		set.TryAddTemplate(Template{URITemplate: "u:{a}", Name: "x", Icons: []Icon{{Src: "x"}}}, family),
		set.TryAddTemplate(Template{URITemplate: "u:{a}", Name: "x", Complete: map[string]Suggest{"b": SuggestFrom()}}, family),
		set.TryAddTemplate(Template{URITemplate: "note://{slug}", Name: "x"}, family),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "mcp: ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func TestTemplateMatch(t *testing.T) {
	for _, c := range []struct {
		template, uri string
		want          Variables // nil: no match
	}{
		{"u:{a}", "u:x", Variables{"a": {"x"}}},
		{"u:{a}", "u:x%2Fy", Variables{"a": {"x/y"}}},
		{"u:{a}", "u:%C3%A4", Variables{"a": {"ä"}}},
		{"u:{a}", "u:ä b", Variables{"a": {"ä b"}}}, // as who replaces text in a template writes it
		{"u:{+a}", "u:ä/b", Variables{"a": {"ä/b"}}},
		{"u:{a}", "u:100% ä", nil},
		{"u:{a}", "u:ä/b", nil},
		{"u:{a}", "u:\x00ä", nil},
		{"u:{a}", "u:x/y", nil},
		{"u:{a}", "u:x?y", nil},
		{"u:{a}", "xu:x", nil},
		{"u:{a}", "u:x\n", nil},
		{"u:{a}/{b}", "u:x/y", Variables{"a": {"x"}, "b": {"y"}}},
		{"u:{a}/{b}", "u:x/y/z", nil},
		{"u:{+a}", "u:x/y?z", Variables{"a": {"x/y?z"}}},
		{"u:x{?q}", "u:x?q=1", Variables{"q": {"1"}}},
		{"u:x{?q}", "u:x", Variables{}},
		{"u:x{/a}", "u:x/y", Variables{"a": {"y"}}},
		{"u:x", "u:x", Variables{}},
		{"u:x", "u:xy", nil},
		{"u:{a}", "u:" + strings.Repeat("x", maxMatched), nil},
	} {
		f, err := newFamily(Template{URITemplate: c.template, Name: "x"}, func(context.Context, string, Variables) (any, error) { return nil, nil })
		if err != nil {
			t.Fatal(err)
		}
		got, ok := f.match(c.uri)
		if ok != (c.want != nil) || ok && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s on %.40q: %v %t, want %v", c.template, c.uri, got, ok, c.want)
		}
	}
	if (Variables{}).Text("a") != "" {
		t.Error("text of nothing")
	}
}

// A URI as long as allowed does not take long, whatever it is.
func TestTemplateMatchTime(t *testing.T) {
	f, err := newFamily(Template{URITemplate: "u:{a}-{b}-{c}{?d,e*}", Name: "x"}, func(context.Context, string, Variables) (any, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	for _, uri := range []string{"u:" + strings.Repeat("-", maxMatched-2), "u:a-b-c?" + strings.Repeat("e=1&", maxMatched/4-2), "u:" + strings.Repeat("%41", maxMatched/3-1)} {
		f.match(uri)
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}

func FuzzTemplateMatch(f *testing.F) {
	for _, template := range []string{"u:{a}", "u:{+a}/{b}", "u:x{?q,r}", "u:x{/a*}", "file:///{a:3}{b}", "{a}{a}", "u:{"} {
		for _, uri := range []string{"u:x", "u:x/y", "u:x?q=1&r=2", "u:x/a/b/c", "file:///abcd", "", "u:%zz", "u:%C3"} {
			f.Add(template, uri, "value")
		}
	}
	f.Fuzz(func(t *testing.T, template, uri, value string) {
		x, err := newFamily(Template{URITemplate: template, Name: "x"}, func(context.Context, string, Variables) (any, error) { return nil, nil })
		if err != nil || strings.Contains(template, ":9") || len(template) > 200 || len(uri) > 500 || len(value) > 200 {
			return
		}
		if v, ok := x.match(uri); ok && v == nil {
			t.Error("matches without variables")
		}
		// What a simple template makes of a value it finds again.
		names := x.matcher.Varnames()
		if len(names) != 1 || template != "u:{"+names[0]+"}" || value == "" || !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl) {
			return
		}
		made := "u:"
		for _, b := range []byte(value) {
			made += fmt.Sprintf("%%%02X", b) // as RFC 6570 has it; the library's own expansion loses some letters
		}
		if v, ok := x.match(made); !ok || v.Text(names[0]) != value {
			t.Errorf("%q in %s is %q, and back %v %t", value, template, made, v, ok)
		}
	})
}

func TestCompleteResources(t *testing.T) {
	set := notesSet()
	s := &Server{}
	set.Attach(s)
	ask := func(uri, name, value string) string {
		got := string(s.Handle(context.Background(), []byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":%q},"argument":{"name":%q,"value":%q}}}`, uri, name, value))))
		return strings.TrimSuffix(strings.TrimPrefix(got, `{"jsonrpc":"2.0","id":1,`), "}")
	}
	for _, c := range []struct{ uri, name, value, want string }{
		{"note://{slug}", "slug", "al", `"result":{"completion":{"values":["alpha","Album"],"total":2}}`},
		{"note://{slug}", "slug", "zzz", `"result":{"completion":{"values":[]}}`},
		{"note://x", "slug", "b", `"result":{"completion":{"values":["beta"],"total":1}}`},
		{"note://draft-{slug}", "slug", "", `"result":{"completion":{"values":[]}}`},
		{"note://{slug}", "other", "", `"error":{"code":-32602,"message":"Unknown argument: other"}`},
		{"web://{slug}", "slug", "", `"error":{"code":-32602,"message":"Unknown template: web://{slug}"}`},
	} {
		if got := ask(c.uri, c.name, c.value); got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
	prompt := string(s.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}}}`)))
	if !strings.Contains(prompt, `"code":-32602,"message":"Unknown prompt: p"`) {
		t.Errorf("got %s", prompt)
	}
}
