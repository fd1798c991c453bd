package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// heard is a peer that notes what it is asked and answers everything with the same.
func heard(answer string) (*peer, *[]string) {
	var got []string
	p := new(peer)
	p.call = func(_ context.Context, method string, params, result any) error {
		b, err := Encode(params)
		got = append(got, method+" "+string(b))
		if err != nil {
			return err
		}
		return json.Unmarshal([]byte(answer), result)
	}
	return p, &got
}

// askedIn runs f in a tool called in a session of a revision.
func askedIn(t *testing.T, p Peer, revision, capabilities string, f func(ctx context.Context, ses *Session) error) error {
	t.Helper()
	var got error
	s := asksFor(func(ctx context.Context) (string, error) {
		got = f(ctx, SessionFrom(ctx))
		return "", got
	})
	ses, err := s.NewSession(p)
	if err != nil {
		t.Fatal(err)
	}
	ses.Handle(t.Context(), []byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"`+revision+`","capabilities":`+capabilities+`}}`))
	ses.Handle(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`))
	return got
}

// Each revision is asked in its own words.
func TestQuestionsByRevision(t *testing.T) {
	const rich = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"type":"object","properties":{
	"name":{"type":"string","title":"N","default":"x","maxLength":5},"yes":{"type":"boolean","default":true},"n":{"type":"integer","default":3,"minimum":1},
	"one":{"type":"string","oneOf":[{"const":"a","title":"A \"1\""},{"const":"b","title":"B"}],"default":"a"},"plain":{"type":"string","enum":["a","b"]}},"required":["name"]}`
	const multi = `{"type":"object","properties":{"m":{"type":"array","items":{"type":"string","enum":["a","b"]}}}}`
	form := func(schema string) func(ctx context.Context, ses *Session) error {
		return func(ctx context.Context, ses *Session) error {
			_, err := ses.Elicit(ctx, Form{Message: "?", Schema: json.RawMessage(schema)})
			return err
		}
	}
	page := func(id string) func(ctx context.Context, ses *Session) error {
		return func(ctx context.Context, ses *Session) error {
			_, err := ses.ElicitURL(ctx, URLElicitation{Message: "?", URL: "https://example.com", ID: id})
			return err
		}
	}
	sample := func(r CreateMessageRequest) func(ctx context.Context, ses *Session) error {
		return func(ctx context.Context, ses *Session) error {
			r.MaxTokens = 9
			r.Messages = append(r.Messages, SamplingMessage{RoleUser, []Content{Text("a"), Audio("audio/wav", []byte("x"))}})
			_, err := ses.Sample(ctx, r)
			return err
		}
	}
	for _, c := range []struct {
		name, revision string
		f              func(ctx context.Context, ses *Session) error
		want           string // "": it cannot
	}{
		{"a form", "2025-11-25", form(rich), `elicitation/create {"mode":"form","message":"?","requestedSchema":` + strings.ReplaceAll(rich, "\n", " ") + `}`},
		{"a form in older words", "2025-06-18", form(rich), `elicitation/create {"message":"?","requestedSchema":{"type":"object","properties":{` +
			`"name":{"type":"string","title":"N","maxLength":5},"yes":{"type":"boolean","default":true},"n":{"type":"integer","minimum":1},` +
			`"one":{"type":"string","enum":["a","b"],"enumNames":["A \"1\"","B"]},"plain":{"type":"string","enum":["a","b"]}},"required":["name"]}}`},
		{"a form before there were any", "2025-03-26", form(rich), ``},
		{"a choice of several", "2025-11-25", form(multi), `elicitation/create {"mode":"form","message":"?","requestedSchema":` + multi + `}`},
		{"a choice of several in older words", "2025-06-18", form(multi), ``},
		{"a page", "2025-11-25", page("id"), `elicitation/create {"mode":"url","message":"?","url":"https://example.com","elicitationId":"id"}`},
		{"a page before there were any", "2025-06-18", page("id"), ``},
		{"sampling", "2025-11-25", sample(CreateMessageRequest{}), `sampling/createMessage {"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"audio","data":"eA==","mimeType":"audio/wav"}]}],"maxTokens":9}`},
		{"sampling in older words", "2025-06-18", sample(CreateMessageRequest{}), `sampling/createMessage {"messages":[{"role":"user","content":{"type":"text","text":"a"}},{"role":"user","content":{"type":"audio","data":"eA==","mimeType":"audio/wav"}}],"maxTokens":9}`},
		{"sampling before sound", "2024-11-05", sample(CreateMessageRequest{IncludeContext: "thisServer"}), `sampling/createMessage {"messages":[{"role":"user","content":{"type":"text","text":"a"}},{"role":"user","content":{"type":"text","text":"[audio, audio/wav]"}}],"maxTokens":9,"includeContext":"thisServer"}`},
		{"sampling with tools", "2025-11-25", sample(CreateMessageRequest{Tools: []Tool{{Name: "t"}}, ToolChoice: "required", Messages: []SamplingMessage{
			{RoleAssistant, []Content{&ToolUseContent{ID: "1", Name: "t"}}},
			{RoleUser, []Content{&ToolResultContent{ToolUseID: "1", Content: []Content{Text("r")}}}}}}),
			`sampling/createMessage {"messages":[{"role":"assistant","content":{"type":"tool_use","id":"1","name":"t","input":{}}},{"role":"user","content":{"type":"tool_result","toolUseId":"1","content":[{"type":"text","text":"r"}],"isError":false}},` +
				`{"role":"user","content":[{"type":"text","text":"a"},{"type":"audio","data":"eA==","mimeType":"audio/wav"}]}],"maxTokens":9,"tools":[{"name":"t","inputSchema":{"type":"object","properties":{}}}],"toolChoice":{"mode":"required"}}`},
		{"sampling with tools before there were any", "2025-06-18", sample(CreateMessageRequest{Tools: []Tool{{Name: "t"}}}), ``},
		{"roots", "2024-11-05", func(ctx context.Context, ses *Session) error { _, err := ses.Roots(ctx); return err }, `roots/list {}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, got := heard(`{"action":"decline","roots":[],"role":"assistant","model":"m","content":{"type":"text","text":"Hi"}}`)
			err := askedIn(t, p, c.revision, everyCapability, c.f)
			if _, incapable := errors.AsType[*CapabilityError](err); incapable != (c.want == "") || err != nil && !incapable {
				t.Fatalf("error %v", err)
			}
			if all := strings.Join(*got, "\n"); all != c.want {
				t.Errorf("got\n%s\nwant\n%s", all, c.want)
			}
		})
	}
	t.Run("a page without ID gets one", func(t *testing.T) {
		p, got := heard(declined)
		if err := askedIn(t, p, "2025-11-25", everyCapability, page("")); err != nil || !strings.Contains((*got)[0], `"elicitationId":"`) || strings.Contains((*got)[0], `"elicitationId":""`) {
			t.Errorf("%v: %s", err, *got)
		}
	})
	t.Run("by lines", func(t *testing.T) {
		w := host(t, asksFor(func(ctx context.Context) (string, error) { return "", form(rich)(ctx, SessionFrom(ctx)) }))
		w.send(withMeta("1", "tools/call", metaWith(everyCapability), `,"name":"x"`))
		if got := w.recv(); strings.Contains(got, "\n") || !strings.Contains(got, `"title":"A \"1\""`) {
			t.Errorf("got %s", got)
		}
	})
}

// What goes wrong at the client is an error of its own kind, and never consent.
func TestClientFailures(t *testing.T) {
	for _, c := range []struct {
		name string
		kind string
		err  error
		is   func(error) bool
	}{
		{"the user rejects sampling", "sample", &jsonrpc2.Error{Code: -1, Message: "no"}, func(err error) bool { return errors.Is(err, ErrDeclined) }},
		{"in words", "sample", &jsonrpc2.Error{Code: -32603, Message: "User Rejected it"}, func(err error) bool { return errors.Is(err, ErrDeclined) }},
		{"words mean nothing elsewhere", "form", &jsonrpc2.Error{Code: -32603, Message: "rejected"}, func(err error) bool {
			e, ok := errors.AsType[*ClientError](err)
			return ok && e.Code == -32603 && !errors.Is(err, ErrDeclined)
		}},
		{"the user rejects a form", "form", &jsonrpc2.Error{Code: -1, Message: "no"}, func(err error) bool { return errors.Is(err, ErrDeclined) }},
		{"an unknown method", "form", jsonrpc2.ErrMethodNotFound, func(err error) bool {
			e, ok := errors.AsType[*CapabilityError](err)
			return ok && string(e.Missing.Elicitation) == `{"form":{}}`
		}},
		{"another error", "form", &jsonrpc2.Error{Code: 5, Message: "bad\x00\"thing\"" + strings.Repeat("x", 1000)}, func(err error) bool {
			_, protocol := errors.AsType[*jsonrpc2.Error](err)
			return !protocol && strings.Contains(err.Error(), `error 5 "bad\x00\"thing\"`) && len(err.Error()) < 400
		}},
		{"the connection is gone", "form", jsonrpc2.ErrClosed, func(err error) bool { return errors.Is(err, jsonrpc2.ErrClosed) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := new(peer)
			p.call = func(context.Context, string, any, any) error { return c.err }
			err := askedIn(t, p, "2025-11-25", everyCapability, func(ctx context.Context, ses *Session) error {
				if c.kind == "sample" {
					_, err := ses.Sample(ctx, CreateMessageRequest{Messages: []SamplingMessage{{RoleUser, []Content{Text("?")}}}, MaxTokens: 1})
					return err
				}
				return ses.Confirm(ctx, "?")
			})
			if err == nil || !c.is(err) {
				t.Errorf("error %v", err)
			}
		})
	}
	for _, bad := range []string{`5`, `null`, `{}`, `{"action":"yes"}`, `{"action":"accept","content":[]}`} {
		p, _ := heard(bad)
		if err := askedIn(t, p, "2025-11-25", everyCapability, func(ctx context.Context, ses *Session) error { return ses.Confirm(ctx, "?") }); !errors.Is(err, ErrAnswer) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// A client that does not answer is not waited for for ever, and is told.
func TestAskTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			server time.Duration
			o      []AskOption
			want   time.Duration
			tool   time.Duration // Timeout
		}{
			{0, nil, DefaultAskTimeout, 0}, {time.Second, nil, time.Second, 0}, {time.Second, []AskOption{Within(time.Minute)}, time.Minute, 0},
			{time.Second, nil, time.Second, time.Millisecond},
		} {
			s := asksFor(func(ctx context.Context) (string, error) { return "", SessionFrom(ctx).Confirm(ctx, "?", c.o...) })
			s.AskTimeout = c.server
			if caller := s.Caller; c.tool > 0 {
				var box Toolbox
				box.Add(Tool{Name: "x", Timeout: c.tool}, func(ctx context.Context, a Arguments) (any, error) { return caller(ctx, "x", a) })
				s.Caller = box.Call
			}
			w := host(t, s)
			w.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` + everyCapability + `}}`)
			<-w.in
			start := time.Now()
			w.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"}}`)
			ask, told, answer := <-w.in, <-w.in, <-w.in
			if strings.Contains(told, `"id":7`) { // they come in any order
				told, answer = answer, told
			}
			if !strings.Contains(ask, "elicitation/create") || !strings.Contains(told, "notifications/cancelled") || final(t, answer) != "isError the user did not answer in time" || time.Since(start) != c.want {
				t.Errorf("after %v: %s\n%s\n%s", time.Since(start), ask, told, answer)
			}
			_ = w.close()
		}
	})
}

// When the call is cancelled, so is the question.
func TestAskCancelled(t *testing.T) {
	s := asksFor(func(ctx context.Context) (string, error) { return "", SessionFrom(ctx).Confirm(ctx, "?") })
	w := host(t, s)
	w.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` + everyCapability + `}}`)
	w.recv()
	w.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"}}`)
	ask := w.recv()
	w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	if told := w.recv(); !strings.Contains(ask, `"id":1,`) || !strings.Contains(told, `"requestId":1`) {
		t.Errorf("asked %s, told %s", ask, told)
	}
	w.sync()
}

// Of questions asked together the first failure gives up the others.
func TestAskTogether(t *testing.T) {
	var given atomic.Int32
	p := new(peer)
	p.call = func(ctx context.Context, method string, _, _ any) error {
		if method == "roots/list" {
			return &jsonrpc2.Error{Code: 5, Message: "no roots"}
		}
		<-ctx.Done()
		given.Add(1)
		return ctx.Err()
	}
	err := askedIn(t, p, "2025-11-25", everyCapability, func(ctx context.Context, ses *Session) error {
		return ses.Ask(ctx, Form{Message: "1"}.Question(), RootsQuestion(), Form{Message: "2"}.Question())
	})
	if e, ok := errors.AsType[*ClientError](err); !ok || e.Message != "no roots" || given.Load() != 2 {
		t.Errorf("%d given up: %v", given.Load(), err)
	}
}

// Outside of calls a session with initialize can be asked, too.
func TestAskOutside(t *testing.T) {
	p, got := heard(`{"roots":[{"uri":"file:///a"}]}`)
	ses := opened(t, echoServer(), p, "2025-11-25")
	if roots, err := ses.Roots(context.Background()); err != nil || fmt.Sprint(roots) != "[{file:///a }]" || len(*got) != 1 {
		t.Errorf("%v, %v", roots, err)
	}
	ses.Close(nil)
	if _, err := ses.Roots(context.Background()); !errors.Is(err, ErrNoSession) {
		t.Errorf("closed: %v", err)
	}
}

// State alone means "later", which clients with initialize cannot be told.
func TestStateOnly(t *testing.T) {
	s := echoServer()
	s.Caller = func(ctx context.Context, _ string, _ Arguments) (any, error) {
		switch r := Received(ctx); string(r.State) {
		case "":
			return &InputRequired{State: []byte("1")}, nil
		case "1":
			return &InputRequired{State: []byte("2")}, nil
		default:
			return TextResult("done after " + string(r.State)), nil
		}
	}
	for _, caps := range []string{everyCapability, `{}`} {
		c := modernClient(t, caps, func(p string) string { return string(s.HandleModern(t.Context(), []byte(p), nil)) })
		if got, rounds := c.call("tools/call", `,"name":"x"`, nil); got != "done after 2" || rounds != 2 {
			t.Errorf("%d rounds: %s", rounds, got)
		}
	}
	if got, _ := legacyConnection("2025-11-25", false)(t, s, everyCapability).call("tools/call", `,"name":"x"`, nil); got != "isError busy, retry later" {
		t.Errorf("got %s", got)
	}
	rep := new(reports)
	for _, bad := range []*InputRequired{nil, {}, {Requests: map[string]*Question{"k": nil}}} {
		s := echoServer()
		s.Reporter = rep.report
		s.Caller = func(context.Context, string, Arguments) (any, error) { return bad, nil }
		if got := final(t, round(t, s, `,"name":"x"`)); got != "error -32603 Internal error" {
			t.Errorf("%v: %s", bad, got)
		}
	}
}
