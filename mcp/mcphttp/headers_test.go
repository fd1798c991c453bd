package mcphttp

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/tandem-rpc/tandem/mcp"
)

// sendRaw sends a request whose headers may come more than once.
func (f *fixture) sendRaw(method, body string, pairs ...string) answer {
	f.t.Helper()
	req, err := http.NewRequest(method, f.ts.URL+"/mcp", strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	req.Header.Set("Accept", bothMedia)
	for i := 0; i+1 < len(pairs); i += 2 {
		req.Header[pairs[i]] = append(req.Header[pairs[i]], pairs[i+1])
	}
	resp, err := f.ts.Client().Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	a := answer{status: resp.StatusCode, header: resp.Header}
	if resp.Header.Get("Content-Type") == streamMedia {
		return a // a stream that stays open
	}
	a.body = readBody(resp)
	return a
}

// A header that comes twice is good if it says the same twice. A header that says two things says nothing, and one that lists two things names neither.
func TestRepeatedHeaders(t *testing.T) {
	f := serve(t, nil)
	c := f.connect("2025-11-25")
	gone, version, event := want{404, "-32600", ""}, want{400, "-32600", ""}, want{400, "-32600", ""}
	ok := want{200, "", ""}
	for _, x := range []struct {
		name    string
		headers []string
		of      map[string]want // by method
	}{
		{"session, the same", []string{headerSession, c.id, headerSession, c.id}, map[string]want{"POST": ok, "GET": ok}},
		{"session and another", []string{headerSession, c.id, headerSession, "x"}, map[string]want{"POST": gone, "GET": gone, "DELETE": gone}},
		{"session, blanks around", []string{headerSession, "  " + c.id + "\t"}, map[string]want{"POST": ok, "GET": ok}},
		{"sessions in a list", []string{headerSession, c.id + ", " + c.id}, map[string]want{"POST": gone, "GET": gone, "DELETE": gone}},
		{"session in quotes", []string{headerSession, `"` + c.id + `"`}, map[string]want{"POST": gone, "GET": gone, "DELETE": gone}},
		{"session in other letters", []string{headerSession, swapCase(c.id)}, map[string]want{"POST": gone, "GET": gone, "DELETE": gone}},
		{"version, the same", []string{headerSession, c.id, headerVersion, "2025-11-25", headerVersion, "2025-11-25"}, map[string]want{"POST": ok, "GET": ok}},
		{"version and another", []string{headerSession, c.id, headerVersion, "2025-11-25", headerVersion, "2025-06-18"}, map[string]want{"POST": version, "GET": version, "DELETE": version}},
		{"versions in a list", []string{headerSession, c.id, headerVersion, "2025-11-25, 2025-06-18"}, map[string]want{"POST": version, "GET": version, "DELETE": version}},
		{"version, empty", []string{headerSession, c.id, headerVersion, ""}, map[string]want{"POST": ok, "GET": ok}},
		{"event and another", []string{headerSession, c.id, headerLast, "a_1", headerLast, "a_2"}, map[string]want{"GET": event}},
		{"event, empty", []string{headerSession, c.id, headerLast, ""}, map[string]want{"GET": ok}},
	} {
		for method, w := range x.of {
			t.Run(x.name+", "+method, func(t *testing.T) {
				body := ""
				if method == "POST" {
					body, w.id = request("1", "ping", ""), "1"
				}
				a := f.sendRaw(method, body, x.headers...)
				if method == "GET" && w.status == 200 {
					if a.status != 200 || a.header.Get("Content-Type") != streamMedia {
						t.Errorf("%d %s", a.status, a.body)
					}
					return
				}
				w.check(t, a)
			})
		}
	}
	if a := c.post(request("2", "ping", "")); a.status != 200 {
		t.Errorf("the session is gone: %+v", a)
	}
}

func swapCase(s string) string {
	if u := strings.ToUpper(s); u != s {
		return u
	}
	return strings.ToLower(s)
}

// The status says what went wrong as long as nothing was sent; once there is a stream the error is its last event.
func TestLateErrors(t *testing.T) {
	f := serveWith(t, nil, func(f *fixture) {
		mcp.AddTool(&f.box, mcp.Tool{Name: "roots", Description: "Ask what the client has not declared."}, func(ctx context.Context, in named1) (string, error) {
			if in.Name == "late" {
				_ = mcp.Progress(ctx, 1, 2, "")
			}
			_, err := mcp.SessionFrom(ctx).Roots(ctx)
			return "", err
		})
	})
	body := func(name string) string {
		return request("1", "tools/call", `{"name":"roots","arguments":{"name":"`+name+`"},`+strings.Replace(modernMeta, "{", `{"progressToken":1,`, 1)+`}`)
	}
	h := modernHeader("tools/call", "roots")
	want{400, "-32021", "1"}.check(t, f.do("POST", body("early"), h))
	want{400, "-32021", "1"}.check(t, f.do("POST", body("early"), merge(h, header{"Accept": "text/event-stream"})))
	late := f.do("POST", body("late"), h)
	if len(late.events) != 2 || member(late.events[0].data, "params.progress") != "1" {
		t.Errorf("%+v", late)
	}
	want{200, "-32021", "1"}.check(t, late)
	// Who takes JSON only is told what is wrong, and what could not be said is reported once.
	f.mu.Lock()
	f.reports = nil
	f.mu.Unlock()
	for range 2 {
		want{400, "-32021", "1"}.check(t, f.do("POST", body("late"), merge(h, header{"Accept": "application/json"})))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.reports) != 2 || !strings.Contains(f.reports[0].Error(), "were dropped") {
		t.Errorf("%v", f.reports)
	}
}

// A header that names a revision without initialize decides for messages without a session, also for initialize.
func TestEraByHeader(t *testing.T) {
	f := serve(t, nil)
	h := header{"Mcp-Protocol-Version": modernVersion}
	want{400, "-32602", "0"}.check(t, f.do("POST", initialize, h))
	want{400, "-32602", "1"}.check(t, f.do("POST", request("1", "ping", ""), h))
	want{400, "-32600", ""}.check(t, f.do("POST", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, h))
	want{400, "-32600", ""}.check(t, f.do("POST", "["+request("1", "ping", "")+"]", h))
	if n := f.h.Sessions(); n != 0 {
		t.Errorf("%d sessions", n)
	}
	// Whoever keeps a session belongs to that.
	c := f.connect("2025-06-18")
	want{400, "-32600", "1"}.check(t, c.post(request("1", "ping", ""), h))
	want{200, "", "1"}.check(t, f.do("POST", modernRequest("1", "tools/list", ""), merge(modernHeader("tools/list", ""), header{"Mcp-Session-Id": c.id})))
}
