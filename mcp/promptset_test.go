package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

type reviewArgs struct {
	Code string `json:"code" jsonschema:"what to review" maxLength:"10" title:"The code"`
	Lang string `json:"lang,omitempty" enum:"go,C,rust"`
	Tone string `json:"tone" default:"kind"`
}

func promptSet() *PromptSet {
	set := new(PromptSet)
	AddPrompt(set, Prompt{Name: "review", Description: "Review code.", Title: "Review"}, func(_ context.Context, in reviewArgs) (string, error) { return fmt.Sprintf("%+v", in), nil })
	AddPrompt(set, Prompt{Name: "plain"}, func(context.Context, struct{}) (*PromptResult, error) {
		return &PromptResult{Messages: []PromptMessage{{Role: RoleAssistant, Content: Image("image/png", []byte{1})}}}, nil
	})
	AddPrompt(set, Prompt{Name: "content"}, func(context.Context, struct{}) (Content, error) { return Text("c"), nil })
	AddPrompt(set, Prompt{Name: "messages"}, func(context.Context, struct{}) ([]PromptMessage, error) {
		return []PromptMessage{{Role: RoleUser, Content: Text("m")}}, nil
	})
	AddPrompt(set, Prompt{Name: "fails"}, func(context.Context, struct{}) (string, error) { return "", errors.New("secret") })
	set.Add(Prompt{Name: "raw", Arguments: []PromptArgument{{Name: "a", Required: true}, {Name: "b"}},
		Complete: map[string]Suggest{"b": func(_ context.Context, value string, others map[string]string) (*Completion, error) {
			return &Completion{Values: []string{value + others["a"]}}, nil
		}}}, func(_ context.Context, a Arguments) (any, error) {
		text, _ := a.Text("a")
		return text, nil
	})
	return set
}

func TestPromptSetGet(t *testing.T) {
	s := &Server{}
	promptSet().Attach(s)
	user := func(description, text string) string {
		if description != "" {
			description = `"description":"` + description + `",`
		}
		return `"result":{` + description + `"messages":[{"role":"user","content":{"type":"text","text":"` + text + `"}}]}`
	}
	bad := func(why string) string {
		return `"error":{"code":-32602,"message":` + string(appendString(nil, why)) + `}`
	}
	for _, c := range []struct{ name, arguments, want string }{
		{"review", `{"code":"x"}`, user("Review code.", "{Code:x Lang: Tone:kind}")},
		{"review", `{"code":"x","lang":"go","tone":"harsh"}`, user("Review code.", "{Code:x Lang:go Tone:harsh}")},
		{"review", ``, bad(`Invalid arguments for prompt review: arguments: missing the required member "code"`)},
		{"review", `{"code":5}`, bad(`Invalid arguments for prompt review: /code: want string, got integer`)},
		{"review", `{"code":"x","other":"y"}`, bad(`Invalid arguments for prompt review: arguments: unknown member "other"`)},
		{"review", `{"code":"x","lang":"cobol"}`, bad(`Invalid arguments for prompt review: /lang: want one of "go", "C", "rust"`)},
		{"review", `{"code":"hunter2hunter2"}`, bad(`Invalid arguments for prompt review: /code: want at most 10 characters, got 14`)},
		{"review", `[]`, bad(`Invalid params`)},
		{"plain", ``, `"result":{"messages":[{"role":"assistant","content":{"type":"image","data":"AQ==","mimeType":"image/png"}}]}`},
		{"content", ``, user("", "c")},
		{"messages", ``, user("", "m")},
		{"fails", ``, `"error":{"code":-32603,"message":"Internal error"}`},
		{"raw", `{"a":"x"}`, user("", "x")},
		{"raw", `{"b":"x"}`, bad(`Invalid arguments for prompt raw: missing the required argument "a"`)},
		{"raw", `{"a":1}`, bad(`Invalid arguments for prompt raw: argument "a" must be a string`)},
		{"raw", `{"a":null}`, bad(`Invalid arguments for prompt raw: argument "a" must be a string`)},
		{"raw", `{"a":"x","c":"y"}`, bad(`Invalid arguments for prompt raw: unknown argument "c"`)},
		{"none", ``, bad(`Unknown prompt: none`)},
	} {
		params := `{"name":"` + c.name + `"}`
		if c.arguments != "" {
			params = `{"name":"` + c.name + `","arguments":` + c.arguments + `}`
		}
		got := string(s.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":`+params+`}`)))
		if got != `{"jsonrpc":"2.0","id":1,`+c.want+`}` {
			t.Errorf("%s %s:\ngot  %s\nwant %s", c.name, c.arguments, got, c.want)
		}
	}
}

func TestPromptSetList(t *testing.T) {
	set := promptSet()
	s := &Server{}
	set.Attach(s)
	got := string(s.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`)))
	want := `"prompts":[{"name":"content"},{"name":"fails"},{"name":"messages"},{"name":"plain"},{"name":"raw","arguments":[{"name":"a","required":true},{"name":"b"}]},{"name":"review","title":"Review","description":"Review code.","arguments":[{"name":"code","title":"The code","description":"what to review","required":true},{"name":"lang"},{"name":"tone"}]}]`
	if !strings.Contains(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	w := start(t, s, "2025-11-25")
	if set.Remove("none") != 0 || set.Remove("plain", "content") != 2 {
		t.Error("wrong count removed")
	}
	w.want(`{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`)
	w.sync()
	type user string
	set.Visible = func(ctx context.Context, p Prompt) bool { _, ok := CallerFrom[user](ctx); return ok || p.Name != "raw" }
	if list, _ := set.List(context.Background()); len(list) != 3 {
		t.Errorf("sees %v", list)
	}
	if _, err := set.Get(context.Background(), "raw", RawArguments(nil)); err == nil || !strings.Contains(err.Error(), "Unknown prompt") {
		t.Errorf("got %v", err)
	}
	if v, err := set.Get(WithCaller(context.Background(), user("x")), "raw", RawArguments([]byte(`{"a":"b"}`))); err != nil || v == nil {
		t.Errorf("got %v %v", v, err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("attached to a server that has a Prompter")
			}
		}()
		new(PromptSet).Attach(s)
	}()
}

func TestCompletePrompts(t *testing.T) {
	s := &Server{Completer: func(_ context.Context, r CompleteRequest) (*Completion, error) {
		return &Completion{Values: []string{"from the server: " + r.Template}}, nil
	}}
	promptSet().Attach(s)
	for _, c := range []struct{ ref, argument, context, want string }{
		{`"type":"ref/prompt","name":"review"`, `"name":"lang","value":"c"`, ``, `"result":{"completion":{"values":["C"],"total":1}}`},
		{`"type":"ref/prompt","name":"review","title":"Review"`, `"name":"lang","value":""`, ``, `"result":{"completion":{"values":["go","C","rust"],"total":3}}`},
		{`"type":"ref/prompt","name":"review"`, `"name":"code","value":""`, ``, `"result":{"completion":{"values":[]}}`},
		{`"type":"ref/prompt","name":"review"`, `"name":"other","value":""`, ``, `"error":{"code":-32602,"message":"Unknown argument: other"}`},
		{`"type":"ref/prompt","name":"none"`, `"name":"a","value":""`, ``, `"error":{"code":-32602,"message":"Unknown prompt: none"}`},
		{`"type":"ref/prompt","name":"raw"`, `"name":"b","value":"x"`, `,"context":{"arguments":{"a":"y"}}`, `"result":{"completion":{"values":["xy"]}}`},
		{`"type":"ref/resource","uri":"u:{a}"`, `"name":"a","value":""`, ``, `"result":{"completion":{"values":["from the server: u:{a}"]}}`},
		{`"type":"ref/tool","name":"raw"`, `"name":"b","value":"x"`, ``, `"error":{"code":-32602,"message":"Invalid params"}`},
	} {
		got := string(s.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{`+c.ref+`},"argument":{`+c.argument+`}`+c.context+`}}`)))
		if got != `{"jsonrpc":"2.0","id":1,`+c.want+`}` {
			t.Errorf("%s %s:\ngot  %s\nwant %s", c.ref, c.argument, got, c.want)
		}
	}
	many := make([]string, 150)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	c, _ := SuggestFrom(many...)(context.Background(), "", nil)
	if out, _ := c.appendJSON(nil); !strings.HasSuffix(string(out), `"99"],"total":150,"hasMore":true}}`) {
		t.Errorf("got %s", out)
	}
}

func TestBadPrompts(t *testing.T) {
	set := promptSet()
	raw := func(context.Context, Arguments) (any, error) { return nil, nil }
	for i, err := range []error{
		set.TryAdd(Prompt{}, raw),
		set.TryAdd(Prompt{Name: strings.Repeat("x", 129)}, raw),
		set.TryAdd(Prompt{Name: "a\xff"}, raw),
		set.TryAdd(Prompt{Name: "x"}, nil),
		set.TryAdd(Prompt{Name: "raw"}, raw),
		set.TryAdd(Prompt{Name: "x", Icons: []Icon{{Src: "x"}}}, raw),
		set.TryAdd(Prompt{Name: "x", Arguments: []PromptArgument{{}}}, raw),
		set.TryAdd(Prompt{Name: "x", Arguments: []PromptArgument{{Name: "a"}, {Name: "a"}}}, raw),
		set.TryAdd(Prompt{Name: "x", Complete: map[string]Suggest{"a": SuggestFrom()}}, raw),
		TryAddPrompt(set, Prompt{Name: "x"}, func(context.Context, struct{ N int }) (string, error) { return "", nil }),
		TryAddPrompt(set, Prompt{Name: "x"}, func(context.Context, map[string]string) (string, error) { return "", nil }),
		TryAddPrompt(set, Prompt{Name: "x"}, func(context.Context, string) (string, error) { return "", nil }),
		TryAddPrompt[struct{}, string](set, Prompt{Name: "x"}, nil),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "mcp: ") {
			t.Errorf("%d: %v", i, err)
		}
	}
}
