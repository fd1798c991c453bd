package replay_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-rpc/tandem/framework/replay"
)

// TestSuperseded: a server may join notifications about one thing, if the last one is the same.
func TestSuperseded(t *testing.T) {
	text := func(about string, n int) string {
		return fmt.Sprintf(`<{"jsonrpc":"2.0","method":"state","params":{"about":{"id":%q},"n":%d}}`, about, n)
	}
	edit := `>{"jsonrpc":"2.0","method":"edit"}`
	ask, answer := `>{"jsonrpc":"2.0","id":1,"method":"end"}`, `<{"jsonrpc":"2.0","id":1,"result":1}`
	s := scripted(t, edit, edit, text("a", 1), edit, text("a", 2), text("b", 1), edit, text("a", 3), ask, answer)
	for name, tt := range map[string]struct {
		script []string
		want   string
	}{
		"the same":     {[]string{edit, edit, text("a", 1), edit, text("a", 2), text("b", 1), edit, text("a", 3), ask, answer}, ""},
		"one less":     {[]string{edit, edit, edit, text("b", 1), edit, text("a", 3), ask, answer}, ""},
		"other states": {[]string{edit, text("a", 0), edit, text("a", 7), edit, text("b", 1), edit, text("a", 8), text("a", 3), ask, answer}, ""},
		"another end":  {[]string{edit, edit, text("a", 1), edit, text("a", 3), text("b", 1), edit, text("a", 4), ask, answer}, `changed "state" at "params.n": want 3: got 4`},
		"nothing of b": {[]string{edit, edit, text("a", 1), edit, text("a", 2), edit, text("a", 3), ask, answer}, `missing "state": want {"jsonrpc":"2.0","method":"state","params":{"about":{"id":"b"},"n":1}}`},
		"also of c":    {[]string{edit, edit, text("c", 1), edit, text("b", 1), edit, text("a", 3), ask, answer}, `unexpected "state"`},
	} {
		inBubble(t, name, func(t *testing.T) {
			r, err := s.Play(t.Context(), server(t, tt.script...), &replay.Options{Superseded: []string{"state:params.about"}, Settle: 50 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			if tt.want == "" && !r.Same() || tt.want != "" && (len(r.Differences) != 1 || !strings.Contains(r.Differences[0].String(), tt.want)) {
				t.Errorf("%v, want %q", r.Differences, tt.want)
			}
		})
	}
}

// TestSupersededInTheEnd: a session that is over right after a change was too short for the server to tell what became of that; one that went on was not.
func TestSupersededInTheEnd(t *testing.T) { synctest.Test(t, supersededInTheEnd) }

func supersededInTheEnd(t *testing.T) {
	state := func(n int) string { return fmt.Sprintf(`<{"jsonrpc":"2.0","method":"state","params":{"n":%d}}`, n) }
	edit, ask, answer := `>{"jsonrpc":"2.0","method":"edit"}`, `>{"jsonrpc":"2.0","id":1,"method":"end"}`, `<{"jsonrpc":"2.0","id":1,"result":1}`
	look, seen := `>{"jsonrpc":"2.0","id":0,"method":"look"}`, `<{"jsonrpc":"2.0","id":0,"result":0}`
	session := func(rest time.Duration) *replay.Session { // between the last change and the end
		p := newTape()
		p.say(edit, state(1))
		p.at = p.at.Add(time.Minute)
		p.say(edit, look, seen)
		p.at = p.at.Add(rest)
		p.say(ask, answer)
		p.close()
		return p.session(t)
	}
	for _, tt := range []struct {
		name   string
		rest   time.Duration
		script []string
		same   bool
	}{
		{"told in time", 10 * time.Millisecond, []string{edit, state(1), edit, state(2), look, seen, ask, answer}, true},
		{"told in the end", 10 * time.Millisecond, []string{edit, state(1), edit, look, seen, ask, state(2), answer}, true},
		{"not told", 10 * time.Millisecond, []string{edit, state(1), edit, look, seen, ask, answer}, true},
		{"told something else before", 10 * time.Millisecond, []string{edit, state(3), edit, look, seen, ask, answer}, false},
		{"was not told in time", time.Second, []string{edit, state(1), edit, state(2), look, seen, ask, answer}, false},
	} {
		r, err := session(tt.rest).Play(t.Context(), server(t, tt.script...), &replay.Options{Superseded: []string{"state"}, Settle: 100 * time.Millisecond})
		if err != nil || r.Same() != tt.same {
			t.Errorf("%s: %v, %v", tt.name, err, r.Differences)
		}
	}
}

// TestCutOff: what comes when the recorded connection was over at once is no difference; what comes too early, or twice, is.
func TestCutOff(t *testing.T) { synctest.Test(t, cutOff) }

func cutOff(t *testing.T) {
	a, one, b := `>{"jsonrpc":"2.0","id":1,"method":"a"}`, `<{"jsonrpc":"2.0","id":1,"result":1}`, `>{"jsonrpc":"2.0","id":2,"method":"b"}`
	session := func(rest time.Duration) *replay.Session {
		p := newTape()
		p.say(a, one, b)
		p.at = p.at.Add(rest)
		p.close()
		return p.session(t)
	}
	play := func(s *replay.Session, script ...string) *replay.Report {
		r, err := s.Play(t.Context(), server(t, script...), &replay.Options{Settle: 100 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	late := []string{`<{"jsonrpc":"2.0","id":2,"result":2}`, `<{"jsonrpc":"2.0","method":"note"}`, `<{"jsonrpc":"2.0","id":7,"method":"ask"}`}
	if r := play(session(0), append([]string{a, one, b}, late...)...); !r.Same() || r.Beyond != 3 {
		t.Errorf("%d beyond, %v", r.Beyond, r.Differences)
	}
	if r := play(session(time.Hour), append([]string{a, one, b}, late...)...); len(r.Differences) != 3 || r.Beyond != 0 {
		t.Errorf("not cut off: %d beyond, %v", r.Beyond, r.Differences)
	}
	if r := play(session(0), a, late[1], one, b); len(r.Differences) != 1 {
		t.Errorf("too early: %d beyond, %v", r.Beyond, r.Differences)
	}
	if r := play(session(0), a, one, b, one); len(r.Differences) != 1 {
		t.Errorf("twice: %d beyond, %v", r.Beyond, r.Differences)
	}
}
