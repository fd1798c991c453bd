package mcphttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tandem-rpc/tandem/mcp"
)

// full is a server with every method there is.
func full(f *fixture) {
	s := f.srv
	s.Tasks = &mcp.Tasks{Experimental: true}
	s.Prompts = func(context.Context) ([]mcp.Prompt, error) { return []mcp.Prompt{{Name: "p"}}, nil }
	s.Prompter = func(context.Context, string, mcp.Arguments) (any, error) { return &mcp.PromptResult{}, nil }
	s.Templates = func(context.Context) ([]mcp.Template, error) { return nil, nil }
	s.Completer = func(context.Context, mcp.CompleteRequest) (*mcp.Completion, error) { return new(mcp.Completion), nil }
}

// Each method with params of every kind, in both eras: an answer with the right status, code and id, and a server that goes on.
func TestParamsOfEveryMethod(t *testing.T) {
	f := serveWith(t, &Options{MaxSessions: 1000}, full)
	c := f.connect("2025-11-25")
	const (
		both   = iota
		legacy // alone
		modern // alone
		none
	)
	for _, m := range []struct {
		method string
		era    int
		needs  bool // members of params
	}{
		{"initialize", legacy, false}, {"ping", legacy, false}, {"tools/list", both, false}, {"tools/call", both, true}, {"resources/list", both, false},
		{"resources/templates/list", both, false}, {"resources/read", both, true}, {"resources/subscribe", legacy, true}, {"resources/unsubscribe", legacy, true},
		{"prompts/list", both, false}, {"prompts/get", both, true}, {"completion/complete", both, true}, {"logging/setLevel", legacy, true},
		{"tasks/get", both, true}, {"tasks/cancel", both, true}, {"tasks/result", legacy, true}, {"tasks/update", modern, true},
		{"server/discover", modern, false}, {"no/such", none, false},
	} {
		for _, params := range []string{"", "null", "[]", "{}", "5", `"x"`} {
			body := request("7", m.method, params)
			w := want{200, "", "7"}
			switch {
			case params == "5" || params == `"x"`:
				w = want{400, "-32600", "7"}
			case m.era == modern || m.era == none:
				w.code = "-32601"
			case params == "[]" || m.needs:
				w.code = "-32602"
			}
			t.Run("legacy "+m.method+" "+params, func(t *testing.T) { w.check(t, c.post(body)) })
			w = want{400, "-32602", "7"} // all of these lack the envelope
			if params == "5" || params == `"x"` {
				w.code = "-32600"
			}
			t.Run("modern "+m.method+" "+params, func(t *testing.T) { w.check(t, f.do("POST", body, modernHeader(m.method, ""))) })
		}
		w := want{200, "", "7"}
		switch {
		case m.era == legacy || m.era == none:
			w = want{404, "-32601", "7"}
		case strings.HasPrefix(m.method, "tasks/"):
			w = want{400, "-32021", "7"} // the client has not declared the extension
		case m.needs:
			w.code = "-32602"
		}
		t.Run("modern "+m.method+" envelope", func(t *testing.T) {
			w.check(t, f.do("POST", modernRequest("7", m.method, ""), modernHeader(m.method, "")))
		})
	}
	if a := c.post(call("8", "echo", `{"name":"still here"}`)); a.status != 200 || !strings.Contains(a.body, "still here") {
		t.Errorf("afterwards: %+v", a)
	}
}

// Progress has the token as it was written; without a usable one there is none, and the answer stays plain.
func TestProgressTokens(t *testing.T) {
	f := serve(t, nil)
	c := f.connect("2025-11-25")
	for token, usable := range map[string]bool{
		"0": true, "7": true, `""`: true, `"x"`: true, "9007199254740993": true, `"a\u0062"`: true,
		"null": false, "{}": false, "[1]": false, "true": false, "1.5": false,
	} {
		t.Run(token, func(t *testing.T) {
			meta := `"_meta":{"progressToken":` + token + `}`
			w := modernHeader("tools/call", "steps")
			refused := f.do("POST", request("1", "tools/call", `{"name":"steps","arguments":{},`+strings.Replace(modernMeta, "{", `{"progressToken":`+token+`,`, 1)+`}`), w)
			a := c.post(request("1", "tools/call", `{"name":"steps","arguments":{},`+meta+`}`))
			if !usable {
				want{200, "", "1"}.check(t, a)
				if len(a.events) != 0 {
					t.Errorf("progress: %+v", a.events)
				}
				want{200, "-32602", "1"}.check(t, refused)
				return
			}
			for _, a := range []answer{a, refused} {
				n := 0
				for _, e := range a.events {
					if got := member(e.data, "params.progressToken"); got == token {
						n++
					} else if got != "" {
						t.Errorf("token %s", got)
					}
				}
				if n != 3 {
					t.Errorf("%d notifications: %+v", n, a)
				}
			}
		})
	}
}

// Cursors that nobody gave out.
func TestMadeUpCursors(t *testing.T) {
	f := serveWith(t, nil, func(f *fixture) { full(f); f.srv.PageSize = 1 })
	c := f.connect("2025-11-25")
	first := c.post(request("1", "tools/list", ""))
	next := member(first.body, "result.nextCursor")
	if next == "" {
		t.Fatalf("no pages: %s", first.body)
	}
	want{200, "", "2"}.check(t, c.post(request("2", "tools/list", `{"cursor":`+next+`}`)))
	for _, cursor := range []string{`""`, `"x"`, `"MQ=="`, `"` + strings.Repeat("A", 5000) + `"`, "5", "{}", "[]", "true", strings.ToUpper(next)} {
		for _, method := range []string{"tools/list", "resources/list", "resources/templates/list", "prompts/list"} {
			want{200, "-32602", "3"}.check(t, c.post(request("3", method, `{"cursor":`+cursor+`}`)))
			want{200, "-32602", "4"}.check(t, f.do("POST", modernRequest("4", method, `,"cursor":`+cursor), modernHeader(method, "")))
		}
	}
	want{200, "-32602", "5"}.check(t, c.post(request("5", "prompts/list", `{"cursor":`+next+`}`))) // of another list
}

// What a client keeps between the rounds of a call, changed, too old, used twice, or another's.
func TestForeignState(t *testing.T) {
	done := 0
	f := serveWith(t, &Options{Principal: func(r *http.Request) (string, time.Time) { return r.Header.Get("X-Who"), time.Time{} }}, func(f *fixture) {
		f.srv.StateKeys = [][]byte{[]byte(strings.Repeat("k", 32))}
		mcp.AddAskingTool(&f.box, mcp.Tool{Name: "delete", Description: "Ask first.", SingleUse: true}, func(_ context.Context, _ named1, q *mcp.Asker) (bool, error) {
			return q.Confirm("sure", "Delete it?"), nil
		}, func(context.Context, named1, bool) (string, error) { done++; return fmt.Sprint("done ", done), nil })
	})
	const able = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}`
	do := func(who, name, more string) answer {
		h := modernHeader("tools/call", "delete")
		h["X-Who"] = who
		return f.do("POST", request("1", "tools/call", `{`+able+`,"name":"delete","arguments":{"name":"`+name+`"}`+more+`}`), h)
	}
	state := func() string {
		a := do("ada", "a", "")
		if member(a.body, "result.resultType") != `"input_required"` {
			t.Fatalf("%+v", a)
		}
		return member(a.body, "result.requestState")
	}
	with := func(state string) string {
		return `,"requestState":` + state + `,"inputResponses":{"sure":{"action":"accept","content":{}}}`
	}
	good := state()
	for _, c := range []struct{ name, who, arg, state string }{
		{"tampered", "ada", "a", good[:len(good)-6] + `AAAAA"`}, {"made up", "ada", "a", `"made-up"`}, {"empty", "ada", "a", `""`}, {"number", "ada", "a", "5"},
		{"object", "ada", "a", "{}"}, {"another's", "eve", "a", good}, {"nobody's", "", "a", good}, {"of other arguments", "ada", "b", good},
		{"too long", "ada", "a", `"` + strings.Repeat("A", 1<<17) + `"`},
	} {
		want{200, "-32602", "1"}.check(t, do(c.who, c.arg, with(c.state)))
	}
	if done != 0 {
		t.Fatalf("done %d times", done)
	}
	if a := do("ada", "a", with(good)); a.status != 200 || !strings.Contains(a.body, "done 1") {
		t.Errorf("the state itself: %+v", a)
	}
	if a := do("ada", "a", with(good)); strings.Contains(a.body, "done 2") || done != 1 {
		t.Errorf("replayed: %+v", a)
	}
}

// A client that leaves, at each stage of an exchange and of a stream.
func TestDisconnectAtEachStage(t *testing.T) {
	f := serveWith(t, &Options{BodyTimeout: patience, WriteTimeout: patience}, func(f *fixture) {
		mcp.AddTool(&f.box, mcp.Tool{Name: "large", Description: "A large answer."}, func(_ context.Context, in named1) (string, error) {
			f.started <- in.Name
			return strings.Repeat("x", 8<<20), nil
		})
	})
	c := f.connect("2025-11-25")
	s := f.h.find(c.id, "", false)
	head := func(method, more string, n int) string {
		return method + " /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: " + bothMedia + "\r\n" + more + "Content-Length: " + strconv.Itoa(n) + "\r\n\r\n"
	}
	session := "Mcp-Session-Id: " + c.id + "\r\n"
	era := map[string]func(tool string) string{
		"legacy": func(tool string) string {
			body := call("1", tool, `{"name":"`+tool+`"}`)
			return head("POST", session, len(body)) + body
		},
		"modern": func(tool string) string {
			body := request("1", "tools/call", `{"name":"`+tool+`","arguments":{"name":"`+tool+`"},`+strings.Replace(modernMeta, "{", `{"progressToken":1,`, 1)+`}`)
			return head("POST", "Mcp-Protocol-Version: "+modernVersion+"\r\nMcp-Method: tools/call\r\nMcp-Name: "+tool+"\r\n", len(body)) + body
		},
	}
	for name, whole := range era {
		for _, stage := range []struct {
			name, tool string
			send       func(text string) string
			starts     bool
			read       string // until this has come
		}{
			{name: "connected", send: func(string) string { return "" }},
			{name: "in the request line", tool: "wait", send: func(s string) string { return s[:9] }},
			{name: "in the headers", tool: "wait", send: func(s string) string { return s[:40] }},
			{name: "before the body", tool: "wait", send: func(s string) string { return s[:strings.Index(s, "{")] }},
			{name: "in the body", tool: "wait", send: func(s string) string { return s[:len(s)-5] }},
			{name: "while it runs", tool: "wait", starts: true},
			{name: "in the stream", tool: "stepwait", starts: true, read: "notifications/progress"},
			{name: "in the answer", tool: "large", starts: true, read: "xxxx"},
			{name: "before the answer", tool: "large", starts: true},
		} {
			t.Run(name+" "+stage.name, func(t *testing.T) {
				conn := raw(t, f)
				text := whole(stage.tool)
				if stage.send != nil {
					text = stage.send(text)
				}
				fmt.Fprint(conn, text)
				if stage.starts {
					<-f.started
				}
				got := ""
				for buf := make([]byte, 512); !strings.Contains(got, stage.read); {
					n, err := conn.Read(buf)
					if got += string(buf[:n]); err != nil {
						t.Fatalf("%v after %q", err, got)
					}
				}
				_ = conn.Close()
				if stage.starts && stage.tool != "large" {
					if name == "modern" { // to disconnect is to cancel
						select {
						case <-f.ended:
						case <-time.After(patience):
							t.Error("not cancelled")
						}
					} else {
						f.gate(stage.tool) <- struct{}{}
					}
				}
				eventually(t, "nothing runs", func() bool {
					s.mu.Lock()
					defer s.mu.Unlock()
					return s.running == 0 && s.active == 0 && f.h.active.Load() == 0
				})
				want{200, "", "2"}.check(t, c.post(request("2", "ping", "")))
			})
		}
	}
	// Streams of their own.
	for name, text := range map[string]string{
		"GET": head("GET", session, 0),
		"listen": func() string {
			body := modernRequest("1", "subscriptions/listen", `,"notifications":{"toolsListChanged":true}`)
			return head("POST", "Mcp-Protocol-Version: "+modernVersion+"\r\nMcp-Method: subscriptions/listen\r\n", len(body)) + body
		}(),
	} {
		t.Run(name, func(t *testing.T) {
			conn := raw(t, f)
			fmt.Fprint(conn, text)
			eventually(t, "it is open", func() bool { return f.h.active.Load() == 1 })
			_ = conn.Close()
			eventually(t, "it is gone", func() bool { return f.h.active.Load() == 0 })
		})
	}
	select {
	case err := <-f.ended:
		if !errors.Is(err, context.Canceled) && !errors.Is(err, ErrStreamLost) {
			t.Errorf("cancelled: %v", err)
		}
	default:
	}
}

// What a task reports after the request that began it was answered goes on the session's stream.
func TestTaskReportsOnTheSession(t *testing.T) {
	f := serveWith(t, nil, func(f *fixture) {
		f.srv.Tasks = &mcp.Tasks{Experimental: true}
		mcp.AddTool(&f.box, mcp.Tool{Name: "long", Description: "Work on.", Task: mcp.TaskMay}, func(ctx context.Context, in named1) (string, error) {
			f.started <- in.Name
			<-f.gate("go")
			if err := mcp.Progress(ctx, 1, 2, ""); err != nil {
				return "", err
			}
			return "done", mcp.SessionFrom(ctx).Notify(ctx, "notifications/x", map[string]string{"from": in.Name})
		})
	})
	for _, accept := range []string{bothMedia, "application/json"} {
		t.Run(accept, func(t *testing.T) {
			c := f.connect("2025-11-25")
			a := c.post(request("1", "tools/call", `{"name":"long","arguments":{"name":"task"},"task":{"ttl":60000},"_meta":{"progressToken":"p"}}`), header{"Accept": accept})
			if a.status != 200 || member(a.body, "result.task.taskId") == "" {
				t.Fatalf("%+v", a)
			}
			<-f.started
			own := c.stream("GET", "")
			f.gate("go") <- struct{}{}
			for _, method := range []string{`"notifications/progress"`, `"notifications/x"`} {
				m := own.message()
				for member(m, "method") == `"notifications/tasks/status"` {
					m = own.message()
				}
				if member(m, "method") != method {
					t.Errorf("%s", m)
				}
			}
		})
	}
}
