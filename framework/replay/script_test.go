package replay_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-rpc/tandem/framework/replay"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/logging"
)

// tape is a recording that a test makes up.
type tape struct {
	file bytes.Buffer
	r    *logging.Recorder
	at   time.Time
}

// newTape begins one of a connection on which requests are given up so.
func newTape(cancels ...logging.Cancel) *tape {
	p := &tape{at: time.Now()}
	p.r = logging.NewRecorder(&p.file, nil)
	p.r.Record(&logging.Record{Time: p.at, Kind: logging.KindOpen, Connection: "c", Cancel: cancels})
	return p
}

// say records messages, all at the same time: what is sent to the server begins with >, and what was cut ends with ….
func (p *tape) say(messages ...string) {
	for _, m := range messages {
		rec := logging.Record{Time: p.at, Connection: "c", Direction: logging.Out, Message: m[1:], Length: len(m) - 1, Truncated: strings.HasSuffix(m, "…")}
		if m[0] == '>' {
			rec.Direction = logging.In
		}
		p.r.Record(&rec)
	}
}

// close records the end of the connection.
func (p *tape) close() {
	p.r.Record(&logging.Record{Time: p.at, Kind: logging.KindClose, Connection: "c"})
}

// session reads the recording.
func (p *tape) session(t *testing.T) *replay.Session {
	t.Helper()
	p.r.Flush()
	all, err := replay.Read(&p.file)
	if err != nil || len(all) != 1 {
		t.Fatal(err)
	}
	return all[0]
}

// scripted is a session of messages, of which nobody knows when they were sent, nor when it was over.
func scripted(t *testing.T, messages ...string) *replay.Session {
	t.Helper()
	p := newTape()
	p.at = time.Time{}
	p.say(messages...)
	return p.session(t)
}

// server answers by a script: what it has received, and what it sends then. It goes away at "end".
func server(t *testing.T, script ...string) jsonrpc2.Transport {
	t.Helper()
	a, b := jsonrpc2.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, step := range script {
			if step == "end" {
				_ = a.Close()
				return
			}
			if step[0] == '<' {
				_ = a.Write([]byte(step[1:]))
				continue
			}
			frame, err := a.Read()
			if err != nil {
				return
			}
			if !sameJSON(string(frame), step[1:]) {
				t.Errorf("the server got %s, want %s", frame, step[1:])
			}
		}
		for {
			if _, err := a.Read(); err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = b.Close()
		<-done
	})
	return b
}

func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && fmt.Sprint(x) == fmt.Sprint(y)
}

func TestScripts(t *testing.T) {
	const ask, answer = `>{"jsonrpc":"2.0","id":1,"method":"m"}`, `<{"jsonrpc":"2.0","id":1,"result":{"a":1.0,"b":"x [redacted] y"}}`
	for _, tt := range []struct {
		name     string
		recorded []string
		server   []string
		o        replay.Options
		want     []string
		skipped  int
	}{
		{"order of members, value of numbers, secrets", []string{ask, answer}, []string{ask, `<{"result":{"b":"x 1234 y","a":1},"jsonrpc":"2.0","id":1}`}, replay.Options{}, nil, 0},
		{"text around a secret", []string{ask, answer}, []string{ask, `<{"result":{"b":"z 1234 y","a":1},"jsonrpc":"2.0","id":1}`}, replay.Options{}, []string{`at "result.b"`}, 0},
		{"id spelt otherwise", []string{ask, answer}, []string{ask, `<{"result":{"b":"x  y","a":1},"jsonrpc":"2.0","id":1.0}`}, replay.Options{}, nil, 0},
		{"id of another type", []string{ask, answer}, []string{ask, `<{"result":{},"jsonrpc":"2.0","id":"1"}`}, replay.Options{Patience: 20 * time.Millisecond}, []string{`unexpected`, `missing "m" id 1`}, 0},
		{"more members", []string{ask, answer}, []string{ask, `<{"result":{"b":"x  y","a":1,"c":null},"jsonrpc":"2.0","id":1}`}, replay.Options{}, []string{`at "result.c": want nothing: got null`}, 0},
		{"no answer", []string{ask, answer}, []string{ask}, replay.Options{Patience: 20 * time.Millisecond}, []string{`message 2: missing "m" id 1`}, 0},
		{"answered twice", []string{ask, answer}, []string{ask, `<{"result":{"b":"x  y","a":1},"jsonrpc":"2.0","id":1}`, answer}, replay.Options{}, []string{`unexpected "m" id 1`}, 0},
		{"goes away", []string{ask, answer, ask, answer}, []string{ask, "end"}, replay.Options{}, []string{`message 3: ended "m"`, `missing`, `missing`}, 0},
		{"nonsense", []string{ask, answer}, []string{ask, `<CANARY`, answer}, replay.Options{}, []string{`unexpected: got [redaction failed]`}, 0},
		{"error without id", []string{ask, answer}, []string{ask, `<{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`, answer}, replay.Options{}, []string{`unexpected id null`}, 0},
		{"cut", []string{`>{"jsonrpc":"2.0","id":9,"met…`, `<{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`, ask, answer}, []string{ask, answer}, replay.Options{}, nil, 2},
		{"no message", []string{`>5`, `>[redaction failed]`, ask, answer}, []string{`>5`, ask, answer}, replay.Options{}, nil, 1},
		{"process id", []string{`>{"jsonrpc":"2.0","id":1,"method":"m","params":{"processId":4711,"n":1.50}}`, `<{"jsonrpc":"2.0","id":1,"result":1}`},
			[]string{`>{"jsonrpc":"2.0","id":1,"method":"m","params":{"processId":null,"n":1.50}}`, `<{"jsonrpc":"2.0","id":1,"result":1}`}, replay.Options{}, nil, 0},
		{"another member is null", []string{`>{"jsonrpc":"2.0","id":1,"method":"m","params":{"processId":4711,"a":{"b":1}}}`, `<{"jsonrpc":"2.0","id":1,"result":1}`},
			[]string{`>{"jsonrpc":"2.0","id":1,"method":"m","params":{"processId":4711,"a":{"b":null}}}`, `<{"jsonrpc":"2.0","id":1,"result":1}`}, replay.Options{Null: []string{"m:params.a.b"}}, nil, 0},
		{"id of the server's request", []string{`>{"jsonrpc":"2.0","method":"go"}`, `<{"jsonrpc":"2.0","id":5,"method":"q","params":[1]}`, `>{"jsonrpc":"2.0","id":5,"result":"yes"}`},
			[]string{`>{"jsonrpc":"2.0","method":"go"}`, `<{"jsonrpc":"2.0","id":"x7","method":"q","params":[1]}`, `>{"jsonrpc":"2.0","id":"x7","result":"yes"}`}, replay.Options{}, nil, 0},
		{"out of its window", []string{`<{"jsonrpc":"2.0","method":"n"}`, `>{"jsonrpc":"2.0","method":"a"}`, `>{"jsonrpc":"2.0","method":"b"}`, `>{"jsonrpc":"2.0","method":"c"}`, ask, answer},
			[]string{`>{"jsonrpc":"2.0","method":"a"}`, `>{"jsonrpc":"2.0","method":"b"}`, `>{"jsonrpc":"2.0","method":"c"}`, `<{"jsonrpc":"2.0","method":"n"}`, ask, answer},
			replay.Options{Window: 2, Settle: 10 * time.Millisecond}, []string{`changed "n": got the same, out of its window`}, 0},
		{"late, in no window", []string{`<{"jsonrpc":"2.0","method":"n"}`, `>{"jsonrpc":"2.0","method":"a"}`, ask, answer},
			[]string{`>{"jsonrpc":"2.0","method":"a"}`, `<{"jsonrpc":"2.0","method":"n"}`, ask, answer}, replay.Options{Settle: 10 * time.Millisecond}, nil, 0},
	} {
		inBubble(t, tt.name, func(t *testing.T) {
			r, err := scripted(t, tt.recorded...).Play(t.Context(), server(t, tt.server...), &tt.o)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Differences) != len(tt.want) || r.Skipped != tt.skipped {
				t.Fatalf("differences %v, %d skipped", r.Differences, r.Skipped)
			}
			for i, want := range tt.want {
				if got := r.Differences[i].String(); !strings.Contains(got, want) || strings.Contains(got, "CANARY") {
					t.Errorf("difference %d is %s, want %s", i, got, want)
				}
			}
		})
	}
}

// TestOpaque: what the server made up and the client sent back is sent back as it is now.
func TestOpaque(t *testing.T) {
	first, second := `>{"jsonrpc":"2.0","id":1,"method":"begin"}`, `>{"jsonrpc":"2.0","id":2,"method":"go on","params":{"after":%q,"of":["x",%[1]q]}}`
	answer := `<{"jsonrpc":"2.0","id":1,"result":{"items":[1],"next":%q}}`
	end := `<{"jsonrpc":"2.0","id":2,"result":{"items":[2]}}`
	s := scripted(t, first, fmt.Sprintf(answer, "token-of-then"), fmt.Sprintf(second, "token-of-then"), end)
	r, err := s.Play(t.Context(), server(t, first, fmt.Sprintf(answer, "token \"of\" now"), fmt.Sprintf(second, "token \"of\" now"), end),
		&replay.Options{Opaque: []string{"**.next"}})
	if err != nil || !r.Same() {
		t.Errorf("%v, %v", err, r.Differences)
	}
}

// TestGivenUp: a request that the client cancelled may be answered, or fail, or neither, whatever was recorded.
func TestGivenUp(t *testing.T) { synctest.Test(t, givenUp) }

func givenUp(t *testing.T) {
	ask, cancel := `>{"jsonrpc":"2.0","id":1,"method":"a"}`, `>{"jsonrpc":"2.0","method":"stop","params":{"request":1}}`
	last, end := `>{"jsonrpc":"2.0","id":2,"method":"b"}`, `<{"jsonrpc":"2.0","id":2,"result":2}`
	answers := []string{`<{"jsonrpc":"2.0","id":1,"result":1}`, `<{"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"cancelled"}}`, ""}
	with := func(answer string) []string {
		return slices.DeleteFunc([]string{ask, cancel, answer, last, end}, func(s string) bool { return s == "" })
	}
	play := func(was, is string, cancels ...logging.Cancel) *replay.Report {
		p := newTape(cancels...)
		p.at = time.Time{}
		p.say(with(was)...)
		report, err := p.session(t).Play(t.Context(), server(t, with(is)...), &replay.Options{Settle: 50 * time.Millisecond, Patience: 100 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	for _, was := range answers {
		for _, is := range answers {
			if r := play(was, is, logging.Cancel{Method: "stop", Param: "request"}); !r.Same() {
				t.Errorf("%q, now %q: %v", was, is, r.Differences)
			}
			if r := play(was, is); r.Same() != (was == is) {
				t.Errorf("%q, now %q, not cancelled: %v", was, is, r.Differences)
			}
		}
	}
	if r := play(answers[0], `<{"jsonrpc":"2.0","id":1,"result":7}`, logging.Cancel{Method: "stop", Param: "request"}); r.Same() {
		t.Error("another result is the same")
	}
}
