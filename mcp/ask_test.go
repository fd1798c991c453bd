package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
)

type nameForm struct {
	Name string `json:"name"`
}

type sizeForm struct {
	Size int `json:"size"`
}

type pathIn struct {
	Path string `json:"path,omitempty"`
}

// asksFor is a server with one tool x, prompt x and resource x:x, each answered by f.
func asksFor(f func(ctx context.Context) (string, error)) *Server {
	return &Server{
		Name: "Test", Version: "1.0.0",
		Caller: func(ctx context.Context, _ string, _ Arguments) (any, error) {
			text, err := f(ctx)
			return TextResult(text), err
		},
		Prompts: func(context.Context) ([]Prompt, error) { return nil, nil },
		Prompter: func(ctx context.Context, _ string, _ Arguments) (any, error) {
			text, err := f(ctx)
			return &PromptResult{Messages: []PromptMessage{{RoleUser, Text(text)}}}, err
		},
		Resources: func(context.Context) ([]Resource, error) { return nil, nil },
		Reader: func(ctx context.Context, uri string) (any, error) {
			text, err := f(ctx)
			return []ResourceContents{{URI: uri, Text: text}}, err
		},
	}
}

// The three shapes of asking come to the same in every revision: two questions at once, then one that depends on them.
func TestShapes(t *testing.T) {
	shapes := map[string]func(entries, works *atomic.Int32) *Server{
		"declared": func(entries, works *atomic.Int32) *Server {
			type answers struct {
				name string
				size int
			}
			var box Toolbox
			AddAskingTool(&box, Tool{Name: "x"}, func(_ context.Context, _ pathIn, q *Asker) (a answers, _ error) {
				entries.Add(1)
				n, ok1 := FormAs[nameForm](q, "name", "Name?")
				s, ok2 := FormAs[sizeForm](q, "size", "Size?")
				if !ok1 || !ok2 {
					return a, nil
				}
				q.Confirm("sure", fmt.Sprintf("%s of %d?", n.Name, s.Size))
				return answers{n.Name, s.Size}, nil
			}, func(_ context.Context, _ pathIn, a answers) (string, error) {
				works.Add(1)
				return fmt.Sprintf("%s of %d", a.name, a.size), nil
			})
			return &Server{Name: "Test", Version: "1.0.0", Lister: box.List, Caller: box.Call}
		},
		"imperative": func(entries, works *atomic.Int32) *Server {
			var box Toolbox
			AddTool(&box, Tool{Name: "x"}, func(ctx context.Context, _ pathIn) (string, error) {
				entries.Add(1)
				ses := SessionFrom(ctx)
				name, size := FormFor[nameForm]("Name?"), FormFor[sizeForm]("Size?")
				if err := ses.Ask(ctx, name, size); err != nil {
					return "", err
				}
				var n nameForm
				var s sizeForm
				if err := errors.Join(name.Decode(&n), size.Decode(&s)); err != nil {
					return "", err
				}
				if err := ses.Confirm(ctx, fmt.Sprintf("%s of %d?", n.Name, s.Size)); err != nil {
					return "", err
				}
				works.Add(1)
				return fmt.Sprintf("%s of %d", n.Name, s.Size), nil
			})
			return &Server{Name: "Test", Version: "1.0.0", Lister: box.List, Caller: box.Call}
		},
		"explicit": func(entries, works *atomic.Int32) *Server {
			s := echoServer()
			s.Caller = func(ctx context.Context, _ string, _ Arguments) (any, error) {
				entries.Add(1)
				in := Received(ctx)
				name, size := in.Elicited("name"), in.Elicited("size")
				if name == nil || size == nil {
					return &InputRequired{Requests: map[string]*Question{"name": FormFor[nameForm]("Name?"), "size": FormFor[sizeForm]("Size?")}, State: []byte("first")}, nil
				}
				var n nameForm
				var z sizeForm
				if err := errors.Join(name.Decode(&n), size.Decode(&z)); err != nil {
					return nil, err
				}
				if in.Elicited("sure") == nil {
					if string(in.State) != "first" {
						return nil, errors.New("no state")
					}
					return &InputRequired{Requests: map[string]*Question{"sure": Form{Message: fmt.Sprintf("%s of %d?", n.Name, z.Size)}.Question()}, State: []byte("second")}, nil
				}
				if string(in.State) != "second" {
					return nil, errors.New("no second state")
				}
				works.Add(1)
				return TextResult(fmt.Sprintf("%s of %d", n.Name, z.Size)), nil
			}
			return s
		},
	}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			eachAsking(t, func(t *testing.T, a asking) {
				var entries, works atomic.Int32
				s := shape(&entries, &works)
				rep := new(reports)
				s.Reporter = rep.report
				c := a.open(t, s, everyCapability)
				got, rounds := c.call("tools/call", `,"name":"x","arguments":{"path":"/tmp"}`, func(method, params string) (string, error) {
					switch {
					case method != "elicitation/create":
						t.Errorf("method %s", method)
					case strings.Contains(params, `"mode"`) != (a.revision >= rev20251125):
						t.Errorf("mode in %s", params)
					case strings.Contains(params, "Name?"):
						return acceptedWith(`{"name":"box"}`), nil
					case strings.Contains(params, "Size?"):
						return acceptedWith(`{"size":3}`), nil
					case strings.Contains(params, `"box of 3?"`):
						return accepted, nil
					}
					return declined, nil
				})
				if got != "box of 3" {
					t.Errorf("got %s", got)
				}
				wantRounds, wantEntries := 2, int32(3)
				if !a.revision.modern() {
					wantRounds = 3 // requests
				}
				if name == "imperative" && !a.again {
					wantEntries = 1
				}
				if rounds != wantRounds || entries.Load() != wantEntries || works.Load() != 1 {
					t.Errorf("%d rounds, %d entries, %d works", rounds, entries.Load(), works.Load())
				}
				if r := rep.String(); r != "" {
					t.Errorf("reported: %s", r)
				}
			})
		})
	}
}

// What the user did, and what the model or the client learns of it, for the methods that can ask.
func TestRefusal(t *testing.T) {
	for _, c := range []struct{ answer, tool, other string }{
		{accepted, "done", "done"},
		{declined, "isError the user declined", "error -1 the user declined"},
		{dismissed, "isError the user cancelled", "error -1 the user cancelled"},
	} {
		t.Run(c.answer, func(t *testing.T) {
			eachAsking(t, func(t *testing.T, a asking) {
				var times atomic.Int32
				s := asksFor(func(ctx context.Context) (string, error) {
					if err := SessionFrom(ctx).Confirm(ctx, "Really?"); err != nil {
						return "", fmt.Errorf("confirming: %w", err)
					}
					times.Add(1)
					return "done", nil
				})
				cl := a.open(t, s, everyCapability)
				for _, m := range []struct{ method, members, want string }{
					{"tools/call", `,"name":"x"`, c.tool}, {"prompts/get", `,"name":"x"`, c.other}, {"resources/read", `,"uri":"x:x"`, c.other},
				} {
					got, rounds := cl.call(m.method, m.members, always(c.answer))
					if !strings.Contains(got, m.want) || rounds != 1 {
						t.Errorf("%s: %d rounds: %s", m.method, rounds, got)
					}
				}
				if want := int32(0); c.answer == accepted {
					if times.Load() != 3 {
						t.Errorf("done %d times", times.Load())
					}
				} else if times.Load() != want {
					t.Errorf("done %d times without consent", times.Load())
				}
			})
		})
	}
}

// A declared tool whose question is refused asks nothing more and does nothing, unless it says that it goes on.
func TestRefusalDeclared(t *testing.T) {
	eachAsking(t, func(t *testing.T, a asking) {
		var box Toolbox
		worked := 0
		AddAskingTool(&box, Tool{Name: "stops"}, func(_ context.Context, _ pathIn, q *Asker) (string, error) {
			n, _ := FormAs[nameForm](q, "name", "Name?")
			if q.Confirm("more", "More?") {
				t.Error("confirmed")
			}
			return n.Name, nil
		}, func(context.Context, pathIn, string) (string, error) { worked++; return "worked", nil })
		AddAskingTool(&box, Tool{Name: "goes on"[:4]}, func(_ context.Context, _ pathIn, q *Asker) (string, error) {
			n, action, ok := FormOutcome[nameForm](q, "name", "Name?")
			if ok && action != Accept {
				return "nobody, by " + string(action), nil
			}
			return n.Name, nil
		}, func(_ context.Context, _ pathIn, who string) (string, error) { return who, nil })
		c := a.open(t, &Server{Caller: box.Call}, everyCapability)
		if got, _ := c.call("tools/call", `,"name":"stops"`, always(dismissed)); got != "isError the user cancelled" || worked != 0 {
			t.Errorf("got %s, worked %d times", got, worked)
		}
		if got, _ := c.call("tools/call", `,"name":"goes"`, always(declined)); got != "nobody, by decline" {
			t.Errorf("got %s", got)
		}
	})
}

// A client is never asked what it has not declared, and learns what it lacks.
func TestAskCapabilities(t *testing.T) {
	sample := CreateMessageRequest{Messages: []SamplingMessage{{RoleUser, []Content{Text("Hi")}}}, MaxTokens: 10}
	tools, others := sample, sample
	tools.Tools = []Tool{{Name: "t"}}
	others.IncludeContext = "allServers"
	form, page := Form{Message: "?"}, URLElicitation{Message: "?", URL: "https://example.com"}
	for _, c := range []struct {
		name, declared string
		q              func() []*Question
		missing        string // "": nothing
	}{
		{"nothing declared", `{}`, func() []*Question { return []*Question{form.Question()} }, `{"elicitation":{"form":{}}}`},
		{"null is nothing", `{"elicitation":null,"sampling":5}`, func() []*Question { return []*Question{form.Question(), sample.Question()} }, `{"sampling":{},"elicitation":{"form":{}}}`},
		{"an empty elicitation is forms", `{"elicitation":{}}`, func() []*Question { return []*Question{form.Question()} }, ``},
		{"and no pages", `{"elicitation":{}}`, func() []*Question { return []*Question{page.Question()} }, `{"elicitation":{"url":{}}}`},
		{"pages alone are no forms", `{"elicitation":{"url":{}}}`, func() []*Question { return []*Question{form.Question()} }, `{"elicitation":{"form":{}}}`},
		{"pages", `{"elicitation":{"url":{}}}`, func() []*Question { return []*Question{page.Question()} }, ``},
		{"sampling", `{"sampling":{}}`, func() []*Question { return []*Question{sample.Question()} }, ``},
		{"no tools", `{"sampling":{}}`, func() []*Question { return []*Question{tools.Question()} }, `{"sampling":{"tools":{}}}`},
		{"no context", `{"sampling":{}}`, func() []*Question { return []*Question{others.Question()} }, `{"sampling":{"context":{}}}`},
		{"tools and context", `{"sampling":{"tools":{},"context":{}}}`, func() []*Question { return []*Question{tools.Question(), others.Question()} }, ``},
		{"roots", `{"roots":{"listChanged":true}}`, func() []*Question { return []*Question{RootsQuestion()} }, ``},
		{"a batch as a whole", `{"roots":{}}`, func() []*Question { return []*Question{RootsQuestion(), sample.Question(), page.Question()} }, `{"sampling":{},"elicitation":{"url":{}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachAsking(t, func(t *testing.T, a asking) {
				if a.revision < rev20251125 {
					return // the table is of what the later ones have
				}
				var got error
				f := func(ctx context.Context) (string, error) {
					got = SessionFrom(ctx).Ask(ctx, c.q()...)
					return "", got
				}
				s := asksFor(f)
				rep := new(reports)
				s.Reporter = rep.report
				cl := a.open(t, s, c.declared)
				tool, rounds := cl.call("tools/call", `,"name":"x"`, always(`{"action":"decline","roots":[],"role":"assistant","model":"m","content":{"type":"text","text":"Hi"}}`))
				if c.missing == "" {
					if got != nil || rounds == 0 {
						t.Errorf("%d rounds, %v: %s", rounds, got, tool)
					}
					return
				}
				e, ok := errors.AsType[*CapabilityError](got)
				if !ok || errors.Is(got, ErrInputRequired) || errors.Is(got, ErrDeclined) || string(e.Missing.encode()) != c.missing || rounds != 0 {
					t.Errorf("%d rounds, error %v", rounds, got)
				}
				prompt, _ := cl.call("prompts/get", `,"name":"x"`, nil)
				text := "the client cannot be asked: it lacks the capabilities " + c.missing
				wantTool, wantPrompt := "isError "+text, "error -32603 "+text
				if a.revision.modern() {
					wantTool = `error -32021 Missing required client capability{"requiredCapabilities":` + c.missing + `}`
					wantPrompt = wantTool
				}
				if tool != wantTool || prompt != wantPrompt || rep.String() != "" {
					t.Errorf("got\n%s\n%s\nreported %q", tool, prompt, rep)
				}
			})
		})
	}
}

// Without a way to ask there is nothing the client can do, whatever it declared.
func TestNoWayToAsk(t *testing.T) {
	s := asksFor(func(ctx context.Context) (string, error) {
		ses := SessionFrom(ctx)
		if ses.Can(KindForm) || ses.Can(KindRoots) {
			t.Error("it can")
		}
		if id := CallID(ctx); len(id) < 20 {
			t.Errorf("CallID %q", id)
		}
		return "", ses.Confirm(ctx, "?")
	})
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`
	for name, got := range map[string][]byte{
		"Handle": s.Handle(t.Context(), []byte(call)), "HandleSessionless": s.HandleSessionless(t.Context(), []byte(call), new(peer), "2025-11-25"),
	} {
		if got := final(t, string(got)); !strings.HasPrefix(got, "isError the client cannot be asked") {
			t.Errorf("%s: %s", name, got)
		}
	}
	if err := (*Session)(nil).Confirm(t.Context(), "?"); !errors.Is(err, ErrNoSession) {
		t.Errorf("nil session: %v", err)
	}
	s = echoServer()
	s.Caller = func(context.Context, string, Arguments) (any, error) {
		return &InputRequired{Requests: map[string]*Question{"x": RootsQuestion()}}, nil
	}
	if got := final(t, string(s.Handle(t.Context(), []byte(call)))); !strings.HasPrefix(got, "isError the client cannot be asked") {
		t.Errorf("explicit: %s", got)
	}
}

// Other methods cannot ask in revision 2026-07-28.
func TestListerAsks(t *testing.T) {
	s := echoServer()
	s.Lister = func(ctx context.Context) ([]Tool, error) {
		_, err := SessionFrom(ctx).Roots(ctx)
		return nil, err
	}
	rep := new(reports)
	s.Reporter = rep.report
	for _, caps := range []string{everyCapability, `{}`} {
		got := final(t, string(s.HandleModern(t.Context(), []byte(withMeta("1", "tools/list", metaWith(caps), ``)), nil)))
		if got != "error -32603 Internal error" || !strings.Contains(rep.String(), "only a Caller") {
			t.Errorf("got %s, reported %s", got, rep)
		}
	}
	if got, rounds := legacyConnection("2025-11-25", false)(t, s, everyCapability).call("tools/list", ``, always(`{"roots":[]}`)); got != `{"tools":[]}` || rounds != 1 {
		t.Errorf("with initialize: %d rounds, %s", rounds, got)
	}
}
