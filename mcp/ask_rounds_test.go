package mcp

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// round sends one modern request to a tool and returns the answer.
func round(t *testing.T, s *Server, members string) string {
	t.Helper()
	return string(s.HandleModern(t.Context(), []byte(withMeta("1", "tools/call", metaWith(everyCapability), members)), new(peer)))
}

// begin makes the first round of a call of x, which must ask.
func begin(t *testing.T, s *Server) asks {
	t.Helper()
	got := round(t, s, `,"name":"x"`)
	a, asked := readAsks(t, got)
	if !asked || a.State == "" {
		t.Fatalf("it does not ask: %s", got)
	}
	return a
}

// answersOf are inputResponses with the same answer to every question.
func answersOf(a asks, answer string) map[string]string {
	out := make(map[string]string)
	for key := range a.Requests {
		out[key] = answer
	}
	return out
}

// What asks looks the way the specification wants it, byte for byte but for the state.
func TestInputRequiredOnTheWire(t *testing.T) {
	s := asksFor(func(ctx context.Context) (string, error) {
		return "", SessionFrom(ctx).Ask(ctx, RootsQuestion(Key("dirs")), Form{Message: "Sure?"}.Question(),
			URLElicitation{Message: "Log in", URL: "https://example.com/a?b&c"}.Question(), Form{Message: "Also?"}.Question(),
			CreateMessageRequest{Messages: []SamplingMessage{{RoleUser, []Content{Text("a"), Text("b")}}}, MaxTokens: 5, SystemPrompt: "s"}.Question())
	})
	for _, m := range []struct{ method, members string }{{"tools/call", `,"name":"x"`}, {"prompts/get", `,"name":"x"`}, {"resources/read", `,"uri":"x:x"`}} {
		got := string(s.HandleModern(t.Context(), []byte(withMeta("1", m.method, metaWith(everyCapability), m.members)), nil))
		a, _ := readAsks(t, got)
		want := `{"jsonrpc":"2.0","id":1,"result":{"inputRequests":{"dirs":{"method":"roots/list","params":{}},` +
			`"elicit-1":{"method":"elicitation/create","params":{"mode":"form","message":"Sure?","requestedSchema":{"type":"object","properties":{}}}},` +
			`"elicit-2":{"method":"elicitation/create","params":{"mode":"url","message":"Log in","url":"https://example.com/a?b&c"}},` +
			`"elicit-3":{"method":"elicitation/create","params":{"mode":"form","message":"Also?","requestedSchema":{"type":"object","properties":{}}}},` +
			`"sample-1":{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}],"maxTokens":5,"systemPrompt":"s"}}},` +
			`"requestState":"` + a.State + `","resultType":"input_required",` + signed + `}}`
		if got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", m.method, got, want)
		}
	}
}

// Answers that are none of what was asked are refused with the key, never the value; what was not asked is no matter.
func TestResponses(t *testing.T) {
	s := asksFor(func(ctx context.Context) (string, error) {
		ses := SessionFrom(ctx)
		form, model, roots := FormFor[nameForm]("Name?", Key("form")), CreateMessageRequest{Messages: []SamplingMessage{{RoleUser, []Content{Text("?")}}}, MaxTokens: 9}.Question(Key("model")), RootsQuestion(Key("roots"))
		if err := ses.Ask(ctx, form, model, roots); err != nil {
			return "", err
		}
		return fmt.Sprintf("%s %s %v", form.Elicited().Content, model.Message().Text(), roots.Roots()), nil
	})
	const form, model, roots = `{"action":"accept","content":{"name":"n"}}`, `{"role":"assistant","content":[{"type":"text","text":"T"},{"type":"new"}],"model":"m"}`, `{"roots":[{"uri":"file:///a","name":"A"}]}`
	bad := func(key string) string {
		return `error -32602 Invalid params: inputResponses: "` + key + `" is no answer to what was asked`
	}
	const object = `error -32602 Invalid params: inputResponses must be an object`
	for _, c := range []struct {
		name, responses, want string // want "ask": it asks again
	}{
		{"all", `{"form":` + form + `,"model":` + model + `,"roots":` + roots + `}`, `{"name":"n"} T [{file:///a A}]`},
		{"in any order, and more", `{"x":5,"roots":` + roots + `,"y":null,"model":` + model + `,"form":` + form + `,"":{}}`, `{"name":"n"} T [{file:///a A}]`},
		{"some", `{"form":` + form + `}`, "ask"},
		{"none", `{}`, "ask"},
		{"absent", ``, "ask"},
		{"null", `null`, object},
		{"array", `[]`, object},
		{"text", `"x"`, object},
		{"one twice", `{"form":` + form + `,"form":` + form + `}`, `error -32602 Invalid params: inputResponses has "form" twice`},
		{"a number", `{"form":12345}`, bad("form")},
		{"an array", `{"form":[]}`, bad("form")},
		{"null for an answer", `{"form":null}`, bad("form")},
		{"no action", `{"form":{}}`, bad("form")},
		{"unknown action", `{"form":{"action":"maybe"}}`, bad("form")},
		{"action of another type", `{"form":{"action":true}}`, bad("form")},
		{"two actions", `{"form":{"action":"accept","action":"decline"}}`, bad("form")},
		{"content that is no object", `{"form":{"action":"accept","content":"n"}}`, bad("form")},
		{"another kind", `{"form":` + roots + `}`, bad("form")},
		{"no role", `{"model":{"content":{"type":"text","text":"x"},"model":"m"}}`, bad("model")},
		{"no content", `{"model":{"role":"assistant","model":"m"}}`, bad("model")},
		{"unknown role", `{"model":{"role":"x","content":{"type":"text","text":"x"},"model":"m"}}`, bad("model")},
		{"content without type", `{"model":{"role":"assistant","content":{"text":"x"},"model":"m"}}`, bad("model")},
		{"text that is none", `{"model":{"role":"assistant","content":{"type":"text","text":5},"model":"m"}}`, bad("model")},
		{"an image that is none", `{"model":{"role":"assistant","content":{"type":"image","data":"***","mimeType":"image/png"},"model":"m"}}`, bad("model")},
		{"roots that are no list", `{"roots":{"roots":{}}}`, bad("roots")},
		{"a root without URI", `{"roots":{"roots":[{"name":"x"}]}}`, bad("roots")},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := begin(t, s)
			members := `,"name":"x"`
			if c.responses != "" {
				members += `,"inputResponses":` + c.responses
			}
			got := round(t, s, retry(members, nil, a.State))
			if _, asked := readAsks(t, got); asked != (c.want == "ask") {
				t.Fatalf("got %s", got)
			} else if !asked && final(t, got) != c.want {
				t.Errorf("got %s", final(t, got))
			}
		})
	}
}

// What was given is kept, only the rest is asked for, and what was recorded is not overwritten.
func TestPartialAnswers(t *testing.T) {
	s := asksFor(func(ctx context.Context) (string, error) {
		a, b := FormFor[nameForm]("A?", Key("a")), FormFor[nameForm]("B?", Key("b"))
		if err := SessionFrom(ctx).Ask(ctx, a, b); err != nil {
			return "", err
		}
		return string(a.Elicited().Content) + string(b.Elicited().Content), nil
	})
	first := begin(t, s)
	second, _ := readAsks(t, round(t, s, retry(`,"name":"x"`, map[string]string{"a": acceptedWith(`{"name":"1"}`)}, first.State)))
	if len(second.Requests) != 1 || second.Requests["b"].Method == "" || second.State == first.State {
		t.Fatalf("second round: %v", second)
	}
	got := final(t, round(t, s, retry(`,"name":"x"`, map[string]string{"a": acceptedWith(`{"name":"other"}`), "b": acceptedWith(`{"name":"2"}`)}, second.State)))
	if got != `{"name":"1"}{"name":"2"}` {
		t.Errorf("got %s", got)
	}
}

// An answer counts for the very question that was asked: not before, not for another one.
func TestPinned(t *testing.T) {
	var message atomic.Value
	message.Store("Delete 12 apps?")
	done := 0
	s := asksFor(func(ctx context.Context) (string, error) {
		if err := SessionFrom(ctx).Confirm(ctx, message.Load().(string), Key("sure"), Unpinned); err != nil {
			return "", err
		}
		done++
		return "deleted", nil
	})
	rep := new(reports)
	s.Reporter = rep.report
	yes := map[string]string{"sure": accepted}
	a, asked := readAsks(t, round(t, s, retry(`,"name":"x"`, yes, "")))
	if !asked || done != 0 {
		t.Fatal("an answer without a question counts")
	}
	for i := 13; i < 16; i++ {
		message.Store("Delete " + strconv.Itoa(i) + " apps?")
		got := round(t, s, retry(`,"name":"x"`, yes, a.State))
		if done != 0 {
			t.Fatal("an answer to another question counts")
		}
		next, asked := readAsks(t, got)
		switch {
		case i < 15 && (!asked || !strings.Contains(string(next.Requests["sure"].Params), message.Load().(string))):
			t.Fatalf("it does not ask again: %s", got)
		case i == 15 && (final(t, got) != "error -32603 Internal error" || !strings.Contains(rep.String(), `the question for key "sure" is not deterministic`)):
			t.Errorf("a question that is always another: %s, reported %s", got, rep)
		}
		a = next
	}
}

// Unpinned takes answers that come with the first request, and asks for those that do not.
func TestUnpinned(t *testing.T) {
	s := asksFor(func(ctx context.Context) (string, error) {
		n, err := ElicitAs[nameForm](ctx, "Name?", Key("user_name"), Unpinned)
		return "Hello, " + n.Name, err
	})
	for _, c := range []struct{ responses, want string }{
		{`{"user_name":` + acceptedWith(`{"name":"Alice"}`) + `,"extra":{}}`, "Hello, Alice"},
		{`{"user_name":{"action":"decline"}}`, "isError the user declined"},
		{`{"wrong_key":` + acceptedWith(`{"name":"Alice"}`) + `}`, "ask"},
		{`{"user_name":` + acceptedWith(`{"name":5}`) + `}`, "ask"},
		{`{"user_name":12345}`, `error -32602 Invalid params: inputResponses: "user_name" is no answer to what was asked`},
	} {
		got := round(t, s, `,"name":"x","inputResponses":`+c.responses)
		if _, asked := readAsks(t, got); asked != (c.want == "ask") || !asked && final(t, got) != c.want {
			t.Errorf("%s: %s", c.responses, got)
		}
	}
}

// A form that is not filled in as it should be is shown again, twice; then the call fails.
func TestInvalidContent(t *testing.T) {
	eachAsking(t, func(t *testing.T, a asking) {
		var box Toolbox
		AddAskingTool(&box, Tool{Name: "declared"}, func(_ context.Context, _ pathIn, q *Asker) (sizeForm, error) {
			v, _ := FormAs[sizeForm](q, "k", "Size?")
			return v, nil
		}, func(_ context.Context, _ pathIn, v sizeForm) (string, error) { return strconv.Itoa(v.Size), nil })
		AddTool(&box, Tool{Name: "imperative"}, func(ctx context.Context, _ pathIn) (string, error) {
			v, err := ElicitAs[sizeForm](ctx, "Size?")
			return strconv.Itoa(v.Size), err
		})
		box.Add(Tool{Name: "explicit"}, func(ctx context.Context, _ Arguments) (any, error) {
			e := Received(ctx).Elicited("k")
			if e == nil {
				return &InputRequired{Requests: map[string]*Question{"k": FormFor[sizeForm]("Size?")}}, nil
			}
			var v sizeForm
			return TextResult(strconv.Itoa(v.Size + len(e.Content)*0 + 7)), e.Decode(&v)
		})
		c := a.open(t, &Server{Caller: box.Call}, everyCapability)
		for _, tool := range []string{"declared", "imperative", "explicit"} {
			bad := acceptedWith(`{"size":"big"}`)
			got, rounds := c.call("tools/call", `,"name":"`+tool+`"`, inTurn(bad, acceptedWith(`{}`), acceptedWith(`{"size":7.0}`)))
			if got != "7" || rounds != 3 {
				t.Errorf("%s: %d rounds: %s", tool, rounds, got)
			}
			got, rounds = c.call("tools/call", `,"name":"`+tool+`"`, always(bad))
			if !strings.HasPrefix(got, "isError ") || !strings.Contains(got, "fit") || rounds != 3 {
				t.Errorf("%s: %d rounds: %s", tool, rounds, got)
			}
		}
	})
}

// A call that never has enough ends.
func TestRounds(t *testing.T) {
	shapes := map[string]func(ctx context.Context, _ string, _ Arguments) (any, error){
		"imperative": func(ctx context.Context, _ string, _ Arguments) (any, error) {
			for i := 0; ; i++ {
				if err := SessionFrom(ctx).Confirm(ctx, "Question "+strconv.Itoa(i)); err != nil {
					return nil, err
				}
			}
		},
		"explicit": func(ctx context.Context, _ string, _ Arguments) (any, error) {
			return &InputRequired{Requests: map[string]*Question{"again": Form{Message: "Again?"}.Question()}}, nil
		},
	}
	for name, f := range shapes {
		eachAsking(t, func(t *testing.T, a asking) {
			if name == "imperative" && !a.again {
				return // it is one request after the other, and the function's own affair
			}
			s := echoServer()
			s.Caller = f
			s.Prompts, s.Prompter = func(context.Context) ([]Prompt, error) { return nil, nil }, f
			c := a.open(t, s, everyCapability)
			if got, rounds := c.call("tools/call", `,"name":"x"`, always(accepted)); got != "isError too many rounds of questions" || rounds != maxRounds {
				t.Errorf("%s: %d rounds: %s", name, rounds, got)
			}
			if got, _ := c.call("prompts/get", `,"name":"x"`, always(accepted)); got != "error -32603 too many rounds of questions" {
				t.Errorf("%s: %s", name, got)
			}
		})
	}
}

// A function that asks and goes on as if it had the answer is reported, once, and its result dropped; a panic is one all the same.
func TestSwallowed(t *testing.T) {
	s := echoServer()
	s.Caller = func(ctx context.Context, name string, _ Arguments) (any, error) {
		_, err := SessionFrom(ctx).Roots(ctx)
		if context.Cause(ctx) != ErrInputRequired || !errors.Is(err, ErrInputRequired) {
			t.Errorf("cause %v, error %v", context.Cause(ctx), err)
		}
		if err := SessionFrom(ctx).Confirm(ctx, "More?"); !errors.Is(err, ErrInputRequired) {
			t.Errorf("second question: %v", err)
		}
		if Progress(ctx, 1, 2, "") != nil || SessionFrom(ctx).Notify(context.WithoutCancel(ctx), "notifications/x", nil) != nil {
			t.Error("it cannot report")
		}
		switch name {
		case "panics":
			panic("oops")
		case "other":
			return nil, errors.New("something else")
		}
		return TextResult("done"), nil
	}
	rep := new(reports)
	s.Reporter = rep.report
	p := new(peer)
	ask := func(name string) string {
		return string(s.HandleModern(t.Context(), []byte(withMeta("1", "tools/call", `{`+versionMember+`,"progressToken":1,"io.modelcontextprotocol/clientCapabilities":`+everyCapability+`}`, `,"name":"`+name+`"`)), p))
	}
	for range 2 {
		if a, asked := readAsks(t, ask("x")); !asked || len(a.Requests) != 1 {
			t.Errorf("got %v", a)
		}
	}
	if _, asked := readAsks(t, ask("other")); !asked {
		t.Error("another error is not dropped")
	}
	if r := rep.String(); strings.Count(r, "ErrInputRequired swallowed") != 1 || strings.Contains(r, "something else") {
		t.Errorf("reported %s", r)
	}
	if got := final(t, ask("panics")); got != "error -32603 Internal error" || !strings.Contains(rep.String(), "oops") {
		t.Errorf("a panic: %s, reported %s", got, rep)
	}
	if len(p.sent) != 0 {
		t.Errorf("sent after the question: %q", p.sent)
	}
}

// A function that does not look at its context is not waited for for ever, and may go on with its arguments.
func TestDeafFunction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := echoServer()
		rep := new(reports)
		s.Reporter = rep.report
		release, ended := make(chan struct{}), make(chan string, 1)
		var deaf atomic.Bool
		s.Caller = func(ctx context.Context, _ string, a Arguments) (any, error) {
			_, _ = SessionFrom(ctx).Roots(ctx)
			if !deaf.Load() {
				return nil, ctx.Err()
			}
			<-release
			if _, err := SessionFrom(ctx).Roots(ctx); !errors.Is(err, ErrInputRequired) {
				t.Errorf("after the answer: %v", err)
			}
			ended <- string(a.Raw())
			return nil, nil
		}
		// That a function asks is known when it has done so once.
		if _, asked := readAsks(t, round(t, s, `,"name":"x"`)); !asked {
			t.Error("it does not ask")
		}
		deaf.Store(true)
		start := time.Now()
		got := round(t, s, `,"name":"x","arguments":{"a":"b"}`)
		if _, asked := readAsks(t, got); !asked || time.Since(start) != grace || !strings.Contains(rep.String(), "goes on 5s after") {
			t.Errorf("after %v: %s, reported %s", time.Since(start), got, rep)
		}
		close(release)
		if a := <-ended; a != `{"a":"b"}` {
			t.Errorf("arguments %s", a)
		}
		synctest.Wait()
	})
}

// The end of the request ends the wait for a function that has not asked, too.
func TestCancelledWhileAsking(t *testing.T) {
	s := echoServer()
	started, ended := make(chan struct{}), make(chan error, 1)
	s.Caller = func(ctx context.Context, _ string, _ Arguments) (any, error) {
		close(started)
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	if got := s.HandleModern(ctx, []byte(withMeta("1", "tools/call", metaWith(everyCapability), `,"name":"x"`)), nil); got != nil || <-ended == nil {
		t.Errorf("got %s", got)
	}
}
