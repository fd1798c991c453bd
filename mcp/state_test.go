package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// confirming asks once, then is done.
func confirming() *Server {
	return asksFor(func(ctx context.Context) (string, error) {
		return "done", SessionFrom(ctx).Confirm(ctx, "Sure?", Key("sure"))
	})
}

const badState = "error -32602 Invalid or expired requestState"

// The state is good for the call it was made for, unchanged, in time, and for nothing else; the client learns one thing, the Reporter the other.
func TestStateBinding(t *testing.T) {
	yes := map[string]string{"sure": accepted}
	key := func(b byte) []byte { return bytes.Repeat([]byte{b}, 32) }
	alice := func(ctx context.Context) context.Context { return WithPrincipal(ctx, "alice") }
	nobody := func(ctx context.Context) context.Context { return ctx }
	type request struct {
		server          *Server
		who             func(context.Context) context.Context
		method, members string
	}
	one := func(name string, keys ...[]byte) *Server {
		s := confirming()
		s.Name, s.StateKeys = name, keys
		return s
	}
	a := one("A", key(1))
	base := request{a, alice, "tools/call", `,"name":"x","arguments":{"n":1,"s":"a","l":[1,2]}`}
	with := func(f func(r *request)) request { r := base; f(&r); return r }
	for _, c := range []struct {
		name   string
		change func(token string) string
		after  time.Duration
		retry  request
		report string // "": it is good
	}{
		{name: "as it is", retry: base},
		{name: "arguments written in another way", retry: with(func(r *request) {
			r.members = `,"arguments":{ "l" : [1.0,20e-1],"\u0073":"\u0061","n":10E-1},"name":"x"`
		})},
		{name: "another instance", retry: with(func(r *request) { r.server = one("A", key(1)) })},
		{name: "an instance with a new key first", retry: with(func(r *request) { r.server = one("A", key(2), key(1)) })},
		{name: "an instance with a new key only", retry: with(func(r *request) { r.server = one("A", key(2)) }), report: "its key is not known"},
		{name: "another server with the same keys", retry: with(func(r *request) { r.server = one("B", key(1)) }), report: "made by another server"},
		{name: "in time", after: stateLife - time.Second, retry: base},
		{name: "too late", after: stateLife + 2*time.Second, retry: base, report: "expired"},
		{name: "from the future", after: -2 * time.Minute, retry: base, report: "future"},
		{name: "a little from the future", after: -30 * time.Second, retry: base},
		{name: "another principal", retry: with(func(r *request) {
			r.who = func(ctx context.Context) context.Context { return WithPrincipal(ctx, "mallory") }
		}), report: "another principal"},
		{name: "no principal", retry: with(func(r *request) { r.who = nobody }), report: "another principal"},
		{name: "an empty principal is none", retry: with(func(r *request) {
			r.who = func(ctx context.Context) context.Context { return WithPrincipal(ctx, "") }
		}), report: "another principal"},
		{name: "another tool", retry: with(func(r *request) { r.members = strings.Replace(r.members, `"x"`, `"y"`, 1) }), report: "something else"},
		{name: "another method", retry: with(func(r *request) { r.method = "prompts/get" }), report: "something else"},
		{name: "another argument", retry: with(func(r *request) { r.members = strings.Replace(r.members, `"n":1`, `"n":2`, 1) }), report: "other arguments"},
		{name: "text for a number", retry: with(func(r *request) { r.members = strings.Replace(r.members, `"n":1`, `"n":"1"`, 1) }), report: "other arguments"},
		{name: "another order of a list", retry: with(func(r *request) { r.members = strings.Replace(r.members, `[1,2]`, `[2,1]`, 1) }), report: "other arguments"},
		{name: "no arguments", retry: with(func(r *request) { r.members = `,"name":"x"` }), report: "other arguments"},
		{name: "something added", change: func(s string) string { return s + "-TAMPERED" }, retry: base, report: "unsealing"},
		{name: "a line end added", change: func(s string) string { return s + "\n" }, retry: base, report: "none that was made here"},
		{name: "padding added", change: func(s string) string { return s + "=" }, retry: base, report: "none that was made here"},
		{name: "no prefix", change: func(s string) string { return s[3:] }, retry: base, report: "none that was made here"},
		{name: "empty", change: func(string) string { return "" }, retry: base, report: "none that was made here"},
		{name: "prefix alone", change: func(string) string { return statePrefix }, retry: base, report: "none that was made here"},
		{name: "a key alone", change: func(string) string { return statePrefix + base64.RawURLEncoding.EncodeToString([]byte("abcd")) }, retry: base, report: "its key is not known"},
		{name: "cut", change: func(s string) string { return s[:len(s)-4] }, retry: base, report: "it was changed"},
		{name: "too long", change: func(s string) string { return s + strings.Repeat("A", maxState) }, retry: base, report: "more than 65536"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rep := new(reports)
				do := func(r request, members string) string {
					s := r.server
					s.Reporter = rep.report
					return string(s.HandleModern(r.who(t.Context()), []byte(withMeta("1", r.method, metaWith(everyCapability), members)), nil))
				}
				if c.after < 0 { // it is made later than it is used
					time.Sleep(-c.after)
				}
				first := base
				first.server = one("A", key(1))
				q, asked := readAsks(t, do(first, first.members))
				if !asked {
					t.Fatal("it does not ask")
				}
				token := q.State
				if c.change != nil {
					token = c.change(token)
				}
				members := c.retry.members
				if token == "" {
					members += `,"requestState":""`
				}
				if c.after < 0 {
					// The clock of a bubble goes forward only: what is seen from an earlier time is a state whose dates are later.
					token = redated(t, first.server, token, -c.after)
				} else {
					time.Sleep(c.after)
				}
				c.retry.server.Dispatcher()
				got := final(t, do(c.retry, retry(members, yes, token)))
				switch {
				case c.report == "" && !strings.Contains(got, "done"):
					t.Errorf("got %s, reported %s", got, rep)
				case c.report != "" && (got != badState || !strings.Contains(rep.String(), c.report)):
					t.Errorf("got %s, reported %q", got, rep)
				}
			})
		})
	}
	t.Run("other types", func(t *testing.T) {
		for _, state := range []string{`5`, `{}`, `[]`, `true`} {
			if got := final(t, round(t, a, `,"name":"x","requestState":`+state)); got != badState {
				t.Errorf("%s: %s", state, got)
			}
		}
		if _, asked := readAsks(t, round(t, a, `,"name":"x","requestState":null`)); !asked {
			t.Error("null is not the same as none")
		}
	})
	t.Run("a function that never asks", func(t *testing.T) {
		if got := final(t, round(t, echoServer(), `,"name":"echo","requestState":"v1.x"`)); got != badState {
			t.Errorf("got %s", got)
		}
	})
}

// redated moves the dates of a state.
func redated(t *testing.T, s *Server, token string, d time.Duration) string {
	t.Helper()
	c, err := s.openClaims(token, maxState)
	if err != nil {
		t.Fatal(err)
	}
	c.Issued += int64(d / time.Second)
	c.Expires += int64(d / time.Second)
	token, err = s.sealClaims(c)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// A call ends an hour after it began, however often it asks.
func TestFlowLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := asksFor(func(ctx context.Context) (string, error) {
			for i := range 8 {
				if err := SessionFrom(ctx).Confirm(ctx, fmt.Sprint("Q", i)); err != nil {
					return "", err
				}
			}
			return "done", nil
		})
		rep := new(reports)
		s.Reporter = rep.report
		a := begin(t, s)
		for i := 1; ; i++ {
			time.Sleep(9 * time.Minute)
			got := round(t, s, retry(`,"name":"x"`, answersOf(a, accepted), a.State))
			next, asked := readAsks(t, got)
			if !asked {
				if i != 7 || final(t, got) != badState || !strings.Contains(rep.String(), "1h0m0s ago") {
					t.Errorf("round %d: %s, reported %s", i, got, rep)
				}
				return
			}
			a = next
		}
	})
}

// Every bit counts.
func TestStateBytes(t *testing.T) {
	s := confirming()
	a := begin(t, s)
	for i := range len(a.State) {
		changed := []byte(a.State)
		changed[i] ^= 1
		if got := final(t, round(t, s, retry(`,"name":"x"`, map[string]string{"sure": accepted}, string(changed)))); got != badState {
			t.Fatalf("byte %d: %s", i, got)
		}
	}
	seen := map[string]bool{}
	for range 3 {
		seen[begin(t, s).State] = true
	}
	if len(seen) != 3 {
		t.Error("states of calls are the same")
	}
	if n := len(a.State); n > 500 {
		t.Errorf("a state of %d bytes", n)
	}
	if raw, _ := base64.RawURLEncoding.DecodeString(a.State[3:]); bytes.Contains(raw, []byte("sure")) {
		t.Error("the state can be read")
	}
}

func TestStateKeysTooShort(t *testing.T) {
	s := echoServer()
	s.StateKeys = [][]byte{bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{1}, 31)}
	if _, err := s.NewSession(nil); err == nil || !strings.Contains(err.Error(), "StateKeys[1] has 31 bytes") {
		t.Errorf("error %v", err)
	}
}

// plainCodec seals nothing, for tests.
type plainCodec struct{ fail bool }

func (c plainCodec) Seal(b []byte) (string, error) {
	if c.fail {
		return "", errors.New("no key today")
	}
	return "plain:" + string(b), nil
}

func (c plainCodec) Open(s string) ([]byte, error) {
	b, ok := strings.CutPrefix(s, "plain:")
	if !ok {
		return nil, errors.New("not plain")
	}
	return []byte(b), nil
}

// Another codec takes the place of sealing, and of nothing else.
func TestStateCodec(t *testing.T) {
	s := confirming()
	s.StateCodec = plainCodec{}
	rep := new(reports)
	s.Reporter = rep.report
	a := begin(t, s)
	if !strings.HasPrefix(a.State, "plain:{") {
		t.Fatalf("state %s", a.State)
	}
	members := `,"name":"x"`
	yes := map[string]string{"sure": accepted}
	if got := final(t, round(t, s, retry(members, yes, a.State))); got != "done" {
		t.Errorf("got %s", got)
	}
	for name, state := range map[string]string{
		"other arguments": a.State, "not plain": "x", "another format": `plain:{"v":9}`, "another format ": `plain:5`, "expired": `plain:{"v":1}`,
		"broken": strings.Replace(a.State, `"q":{"sure":`, `"q":{"other":null,"sure":`, 1),
	} {
		m := members
		if name == "other arguments" {
			m += `,"arguments":{"a":1}`
		}
		if got := final(t, round(t, s, retry(m, yes, state))); got != badState || !strings.Contains(rep.String(), strings.TrimSpace(name)) {
			t.Errorf("%s: %s, reported %s", name, got, rep)
		}
	}
	s = confirming()
	s.StateCodec, s.Reporter = plainCodec{fail: true}, rep.report
	if got := final(t, round(t, s, members)); got != "error -32603 Internal error" || !strings.Contains(rep.String(), "no key today") {
		t.Errorf("got %s", got)
	}
}

// mapStore is a StateStore.
type mapStore struct {
	mu   sync.Mutex
	m    map[string][]byte
	fail bool
}

func (m *mapStore) Put(_ context.Context, key string, state []byte, until time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail {
		return errors.New("store is down")
	}
	if time.Until(until) > stateLife {
		return errors.New("for too long")
	}
	m.m[key] = state
	return nil
}

func (m *mapStore) Get(_ context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail {
		return nil, errors.New("store is down")
	}
	return m.m[key], nil
}

// What is too large to travel is kept in the store, sealed; without one the call fails.
func TestStateStore(t *testing.T) {
	large := func() *Server {
		return asksFor(func(ctx context.Context) (string, error) {
			text, err := Memo(ctx, "large", func() (string, error) { return strings.Repeat("secret", 20_000), nil })
			if err != nil {
				return "", err
			}
			return fmt.Sprint(len(text)), SessionFrom(ctx).Confirm(ctx, "Sure?", Key("sure"))
		})
	}
	rep := new(reports)
	s := large()
	s.Reporter = rep.report
	if got := final(t, round(t, s, `,"name":"x"`)); got != "error -32603 Internal error" || !strings.Contains(rep.String(), "too large") {
		t.Errorf("without a store: %s, reported %s", got, rep)
	}
	store := &mapStore{m: map[string][]byte{}}
	s = large()
	s.StateStore, s.Reporter = store, rep.report
	yes := map[string]string{"sure": accepted}
	a := begin(t, s)
	if len(a.State) > 500 || len(store.m) != 1 {
		t.Errorf("a state of %d bytes, %d stored", len(a.State), len(store.m))
	}
	for key, b := range store.m {
		if bytes.Contains(b, []byte("secret")) || strings.Contains(a.State, key) {
			t.Error("the store can read it, or the client knows the key")
		}
	}
	if got := final(t, round(t, s, retry(`,"name":"x"`, yes, a.State))); got != "120000" {
		t.Errorf("got %s", got)
	}
	if got := final(t, round(t, s, retry(`,"name":"y"`, yes, a.State))); got != badState {
		t.Errorf("another tool: %s", got)
	}
	store.fail = true
	if got := final(t, round(t, s, retry(`,"name":"x"`, yes, a.State))); got != badState {
		t.Errorf("no store: %s", got)
	}
	if got := final(t, round(t, s, `,"name":"x"`)); got != "error -32603 Internal error" {
		t.Errorf("no store: %s", got)
	}
	store.fail, store.m = false, map[string][]byte{}
	if got := final(t, round(t, s, retry(`,"name":"x"`, yes, a.State))); got != badState {
		t.Errorf("forgotten: %s", got)
	}
	s.StateStore = nil
	if got := final(t, round(t, s, retry(`,"name":"x"`, yes, a.State))); got != badState {
		t.Errorf("store gone: %s", got)
	}
}

// Equal values have equal digests, and no others.
func TestDigest(t *testing.T) {
	sum := func(text string) string {
		h := sha256.New()
		digestJSON(h, []byte(text))
		return string(h.Sum(nil))
	}
	classes := [][]string{
		{`1`, `1.0`, `10e-1`, `0.1e1`, `1E0`, ` 1 `}, {`-1`, `-1.00`}, {`0`, `-0`, `0.0`, `0e5`}, {`100`, `1e2`, `1.00e+2`},
		{`9007199254740993`}, {`9007199254740992`, `9007199254740992.0`}, {`1e99999999999`}, {`1e400`, `10e399`}, {`0.1`, `1e-1`},
		{`"1"`, `"\u0031"`}, {`""`}, {`null`}, {`true`}, {`false`}, {`[]`}, {`{}`, `{ }`}, {`[1]`}, {`[[1]]`}, {`["a","b"]`}, {`["ab"]`},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`}, {`{"b":2,"a":5,"a":1}`}, {`{"a":{"x":5},"a":{"y":1}}`}, {`{"a":{"y":1}}`}, {`{"a":2,"b":1}`}, {`{"a":{"b":1}}`}, {`{"a":"{\"b\":1}"}`}, {`x`}, {``},
	}
	seen := map[string]string{}
	for _, class := range classes {
		for _, text := range class {
			if sum(text) != sum(class[0]) {
				t.Errorf("%s and %s differ", text, class[0])
			}
		}
		if other, ok := seen[sum(class[0])]; ok {
			t.Errorf("%s and %s are the same", class[0], other)
		}
		seen[sum(class[0])] = class[0]
	}
}

// Only what was sealed opens.
func FuzzStateOpen(f *testing.F) {
	ring, err := newKeyRing([][]byte{bytes.Repeat([]byte{7}, 32)})
	if err != nil {
		f.Fatal(err)
	}
	token, err := ring.Seal([]byte(`{"v":1}`))
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{token, "", "v1.", "v1.AAAA", token + "A", token[:len(token)-1], strings.ToUpper(token), "v2." + token[3:]} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		state, err := ring.Open(s)
		if err != nil {
			return
		}
		// Each process of the fuzzer has a token of its own, with the same in it.
		box, err := base64.RawURLEncoding.DecodeString(s[len(statePrefix):])
		if string(state) != `{"v":1}` || err != nil || statePrefix+base64.RawURLEncoding.EncodeToString(box) != s {
			t.Errorf("%q opens to %q", s, state)
		}
	})
}

// Answers never panic, and what is accepted is of its kind.
func FuzzResponses(f *testing.F) {
	for _, s := range []string{
		`{}`, `null`, `[]`, `{"a":{"action":"accept","content":{"name":"x"}}}`, `{"b":{"role":"user","content":{"type":"text","text":"x"}}}`,
		`{"c":{"roots":[{"uri":"x"}]}}`, `{"a":5,"a":6}`, `{"b":{"role":"user","content":[{"type":"tool_result","toolUseId":"1","content":[{"type":"tool_use","id":"","name":"","input":{}}]}]}}`,
	} {
		f.Add(s)
	}
	s := asksFor(func(ctx context.Context) (string, error) {
		a, b, c := FormFor[nameForm]("?", Key("a"), Unpinned), CreateMessageRequest{Messages: []SamplingMessage{{RoleUser, []Content{Text("?")}}}, MaxTokens: 1}.Question(Key("b"), Unpinned), RootsQuestion(Key("c"), Unpinned)
		if err := SessionFrom(ctx).Ask(ctx, a, b, c); err != nil {
			return "", err
		}
		if a.Elicited() == nil || b.Message() == nil || c.Roots() == nil {
			return "", errors.New("no answer")
		}
		if b, err := Encode(&ToolResultContent{Content: b.Message().Content}); err != nil {
			return string(b), err
		}
		return "done", nil
	})
	rep := new(reports)
	s.Reporter = rep.report
	f.Fuzz(func(t *testing.T, responses string) {
		payload := withMeta("1", "tools/call", metaWith(everyCapability), `,"name":"x","inputResponses":`+responses)
		if _, err := Inspect([]byte(payload)); err != nil {
			return // it is no message
		}
		out := string(s.HandleModern(context.Background(), []byte(payload), nil))
		if strings.Contains(out, "-32603") || !strings.HasPrefix(out, `{"jsonrpc":"2.0",`) || rep.String() != "" {
			t.Errorf("%s: %s, reported %s", responses, out, rep)
		}
	})
}
