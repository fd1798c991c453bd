package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// everyCapability is what a client declares that can be asked everything.
const everyCapability = `{"roots":{},"sampling":{"tools":{},"context":{}},"elicitation":{"form":{},"url":{}}}`

// respond answers the questions of a server: with a result, or with a *jsonrpc2.Error.
type respond func(method, params string) (string, error)

// always gives the same answer to everything.
func always(result string) respond {
	return func(string, string) (string, error) { return result, nil }
}

// inTurn gives one answer after the other.
func inTurn(results ...string) respond {
	var mu sync.Mutex
	return func(string, string) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if len(results) == 0 {
			return "", errors.New("no answer left")
		}
		r := results[0]
		results = results[1:]
		return r, nil
	}
}

const (
	accepted  = `{"action":"accept"}`
	declined  = `{"action":"decline"}`
	dismissed = `{"action":"cancel"}`
)

func acceptedWith(content string) string { return `{"action":"accept","content":` + content + `}` }

// asking is a way to call something that asks.
type asking struct {
	name     string
	revision revision
	again    bool // functions run again for each answer
	open     func(t *testing.T, s *Server, capabilities string) *askedClient
}

// askedClient is a client. call makes a request and answers what the server asks until it has the result: the members of it that all revisions have, or
// its error. rounds is how often the server has asked.
type askedClient struct {
	call func(method, members string, answer respond) (final string, rounds int)
}

// askings are all the ways.
var askings = []asking{
	{"2026-07-28 connection", rev20260728, true, func(t *testing.T, s *Server, caps string) *askedClient {
		w := host(t, s)
		return modernClient(t, caps, func(p string) string { w.send(p); return w.recv() })
	}},
	{"2026-07-28 host", rev20260728, true, func(t *testing.T, s *Server, caps string) *askedClient {
		return modernClient(t, caps, func(p string) string { return string(s.HandleModern(t.Context(), []byte(p), new(peer))) })
	}},
	{"2025-11-25 connection", rev20251125, false, legacyConnection("2025-11-25", false)},
	{"2025-06-18 connection", rev20250618, false, legacyConnection("2025-06-18", false)},
	{"2025-11-25 host", rev20251125, false, legacyHost("2025-11-25")},
	{"2025-11-25 connection, replayed", rev20251125, true, legacyConnection("2025-11-25", true)},
}

// eachAsking runs a test for all the ways there are to ask.
func eachAsking(t *testing.T, f func(t *testing.T, a asking)) {
	for _, a := range askings {
		t.Run(a.name, func(t *testing.T) { f(t, a) })
	}
}

func metaWith(capabilities string) string {
	return `{` + versionMember + `,"io.modelcontextprotocol/clientCapabilities":` + capabilities + `}`
}

// retry makes the members of params that bring answers.
func retry(members string, answers map[string]string, state string) string {
	b := []byte(members)
	if answers != nil {
		b = append(b, `,"inputResponses":{`...)
		i := 0
		for k, v := range answers {
			if i++; i > 1 {
				b = append(b, ',')
			}
			b = append(append(appendString(b, k), ':'), v...)
		}
		b = append(b, '}')
	}
	if state != "" {
		b = appendString(append(b, `,"requestState":`...), state)
	}
	return string(b)
}

// asks is an answer of type input_required.
type asks struct {
	Type     string `json:"resultType"`
	Requests map[string]struct {
		Method string
		Params json.RawMessage
	} `json:"inputRequests"`
	State string `json:"requestState"`
	TTL   any    `json:"ttlMs"`
}

func readAsks(t *testing.T, answer string) (a asks, asked bool) {
	t.Helper()
	var m struct{ Result json.RawMessage }
	if err := json.Unmarshal([]byte(answer), &m); err != nil {
		t.Fatalf("%s: %v", answer, err)
	}
	if len(m.Result) > 0 {
		if err := json.Unmarshal(m.Result, &a); err != nil {
			t.Fatalf("%s: %v", answer, err)
		}
	}
	return a, a.Type == "input_required"
}

func modernClient(t *testing.T, caps string, ask func(string) string) *askedClient {
	return &askedClient{func(method, members string, answer respond) (string, int) {
		t.Helper()
		state, answers := "", map[string]string(nil)
		for rounds := 0; ; rounds++ {
			got := ask(withMeta(fmt.Sprint(rounds+100), method, metaWith(caps), retry(members, answers, state)))
			a, more := readAsks(t, got)
			if !more {
				return final(t, got), rounds
			}
			if a.TTL != nil || a.State == "" || rounds > 20 {
				t.Fatalf("round %d: %s", rounds, got)
			}
			state, answers = a.State, map[string]string{}
			for key, q := range a.Requests {
				r, err := answer(q.Method, string(q.Params))
				if err == nil {
					answers[key] = r
				}
			}
		}
	}}
}

// final is what an answer says in every revision.
func final(t *testing.T, answer string) string {
	t.Helper()
	var m struct {
		Result map[string]json.RawMessage
		Error  *struct {
			Code    int
			Message string
			Data    json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(answer), &m); err != nil {
		t.Fatalf("%s: %v", answer, err)
	}
	if m.Error != nil {
		return fmt.Sprintf("error %d %s%s", m.Error.Code, m.Error.Message, m.Error.Data)
	}
	for _, name := range []string{"resultType", "_meta", "ttlMs", "cacheScope"} {
		delete(m.Result, name)
	}
	var texts struct {
		Content []struct{ Text string }
		IsError bool
	}
	if json.Unmarshal(m.Result["content"], &texts.Content) == nil {
		out := ""
		if string(m.Result["isError"]) == "true" {
			out = "isError "
		}
		for _, c := range texts.Content {
			out += c.Text
		}
		return out
	}
	b, _ := json.Marshal(m.Result)
	return string(b)
}

func legacyConnection(rev string, again bool) func(t *testing.T, s *Server, caps string) *askedClient {
	return func(t *testing.T, s *Server, caps string) *askedClient {
		s.ReplayLegacy = again
		w := host(t, s)
		w.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + rev + `","capabilities":` + caps + `,"clientInfo":{"name":"test","version":"1"}}}`)
		w.recv()
		return &askedClient{func(method, members string, answer respond) (string, int) {
			t.Helper()
			w.send(`{"jsonrpc":"2.0","id":"call","method":"` + method + `","params":{` + strings.TrimPrefix(members, ",") + `}}`)
			for rounds := 0; ; {
				got := w.recv()
				var m struct {
					ID     json.RawMessage
					Method string
					Params json.RawMessage
				}
				if err := json.Unmarshal([]byte(got), &m); err != nil {
					t.Fatal(err)
				}
				if m.Method == "" {
					return final(t, got), rounds
				}
				if m.ID == nil {
					continue
				}
				rounds++
				r, err := answer(m.Method, string(m.Params))
				if e, ok := errors.AsType[*jsonrpc2.Error](err); ok {
					w.send(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":` + fmt.Sprint(int(e.Code)) + `,"message":` + string(appendString(nil, e.Message)) + `}}`)
				} else if err == nil {
					w.send(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + r + `}`)
				}
			}
		}}
	}
}

func legacyHost(rev string) func(t *testing.T, s *Server, caps string) *askedClient {
	return func(t *testing.T, s *Server, caps string) *askedClient {
		p := new(peer)
		ses, err := s.NewSession(p)
		if err != nil {
			t.Fatal(err)
		}
		ses.Handle(t.Context(), []byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"`+rev+`","capabilities":`+caps+`}}`))
		return &askedClient{func(method, members string, answer respond) (string, int) {
			t.Helper()
			rounds, mu := 0, sync.Mutex{}
			type streamKey struct{}
			p.call = func(ctx context.Context, method string, params, result any) error {
				if ctx.Value(streamKey{}) != "this" {
					t.Error("asked without the context of the call")
				}
				b, err := Encode(params)
				if err != nil {
					return err
				}
				mu.Lock()
				rounds++
				mu.Unlock()
				r, err := answer(method, string(b))
				if err != nil {
					if _, ok := errors.AsType[*jsonrpc2.Error](err); ok {
						return err
					}
					<-ctx.Done()
					return ctx.Err()
				}
				return json.Unmarshal([]byte(r), result)
			}
			ctx := context.WithValue(t.Context(), streamKey{}, "this")
			got := ses.Handle(ctx, []byte(`{"jsonrpc":"2.0","id":"call","method":"`+method+`","params":{`+strings.TrimPrefix(members, ",")+`}}`))
			return final(t, string(got)), rounds
		}}
	}
}

// reports collects what a Server reports.
type reports struct {
	mu   sync.Mutex
	text []string
}

func (r *reports) report(_ context.Context, _ *jsonrpc2.Request, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text = append(r.text, err.Error())
}

func (r *reports) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.text, "\n")
}
