package replay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-rpc/tandem/framework/replay"
	"github.com/tandem-rpc/tandem/internal/leak"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/logging"
)

// TestMain makes the test binary a server too, for TestCommand.
func TestMain(m *testing.M) {
	if version := os.Getenv("TANDEM_REPLAY_SERVER"); version != "" {
		_ = jsonrpc2.NewConn(jsonrpc2.Open(jsonrpc2.Join(os.Stdin, os.Stdout), jsonrpc2.Lines), mux(version), &jsonrpc2.Options{Linger: time.Minute}).Serve(context.Background())
		os.Exit(0)
	}
	leak.Main(m)
}

type object = map[string]any

// inBubble runs a subtest on a fake clock, which moves when nobody has anything to do: a server that is merely slow, on a machine that is busy, is not
// taken for one that says nothing.
func inBubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// mux is a server that does a bit of everything. The version is what it does differently.
func mux(version string) *jsonrpc2.Mux {
	m := jsonrpc2.NewMux()
	request := func(method string, f func(ctx context.Context, p object) (any, error)) {
		m.HandleRequest(method, jsonrpc2.Call(func(ctx context.Context, p *object) (any, error) { return f(ctx, *p) }))
	}
	request("echo", func(_ context.Context, p object) (any, error) { return p, nil })
	request("time", func(context.Context, object) (any, error) {
		return object{"now": time.Now().UnixNano(), "items": []any{object{"token": "a", "at": time.Now().String()}}}, nil
	})
	request("sum", func(_ context.Context, p object) (any, error) {
		sum := 0.0
		for _, n := range p["of"].([]any) {
			sum += n.(float64)
		}
		if version == "wrong" {
			sum++
		}
		return object{"total": sum, "of": object{"what": []any{"numbers"}}}, nil
	})
	request("fail", func(context.Context, object) (any, error) {
		if version == "wrong" {
			return "fine", nil
		}
		return nil, &jsonrpc2.Error{Code: 7, Message: "no"}
	})
	request("ask", func(ctx context.Context, p object) (any, error) {
		conn := jsonrpc2.ConnFrom(ctx)
		if version == "more" { // its ids are others too
			if err := conn.Call(ctx, "extra", object{}, nil); err == nil {
				return nil, errors.New("who answered that?")
			}
		}
		var name string
		if err := conn.Call(ctx, "name", object{"of": p["of"]}, &name); err != nil {
			return nil, err
		}
		return "hello " + name, nil
	})
	var open sync.Map
	request("slow", func(ctx context.Context, p object) (any, error) {
		done := make(chan struct{})
		open.Store(p["key"], done)
		if err := jsonrpc2.ConnFrom(ctx).Notify(ctx, "started", object{"key": p["key"]}); err != nil {
			return nil, err
		}
		<-done
		return p["key"], nil
	})
	m.HandleNotification("release", jsonrpc2.Note(func(_ context.Context, p *object) error {
		if done, ok := open.LoadAndDelete((*p)["key"]); ok {
			close(done.(chan struct{}))
		}
		return nil
	}))
	m.HandleNotification("changed", jsonrpc2.Note(func(ctx context.Context, p *object) error {
		conn := jsonrpc2.ConnFrom(ctx)
		if version == "silent" {
			return nil
		}
		if version == "wrong" {
			(*p)["n"] = -1
		}
		if err := conn.Notify(ctx, "noticed", *p); err != nil {
			return err
		}
		if version == "more" {
			return conn.Notify(ctx, "unasked", nil)
		}
		return nil
	}))
	return m
}

// serve begins a server in this process and returns the client's end.
func serve(t *testing.T, version string, o *jsonrpc2.Options) jsonrpc2.Transport {
	t.Helper()
	a, b := jsonrpc2.Pipe()
	done := make(chan error, 1)
	go func() { done <- jsonrpc2.NewConn(a, mux(version), o).Serve(context.Background()) }()
	t.Cleanup(func() {
		_ = b.Close()
		<-done
	})
	return b
}

// record is a session with the server as it was, which a client has with it: some of everything, with a secret.
func record(t *testing.T) *bytes.Buffer {
	t.Helper()
	var file bytes.Buffer
	recorder := logging.NewRecorder(&file, &logging.RecorderOptions{Process: "p"})
	feed := logging.NewFeed(recorder, &logging.FeedOptions{Process: "p"})
	other := feed.Open("other", "noise")
	source := feed.Open("one", "test")
	other.Inbound([]byte(`{"jsonrpc":"2.0","id":1,"method":"echo"}`))

	started := make(chan string, 10)
	noticed := make(chan struct{}, 100)
	m := jsonrpc2.NewMux()
	m.HandleRequest("name", jsonrpc2.Call(func(_ context.Context, p *object) (any, error) { return fmt.Sprint("Ann ", (*p)["of"]), nil }))
	m.HandleNotification("started", jsonrpc2.Note(func(_ context.Context, p *struct {
		Key string `json:"key"`
	}) error {
		started <- p.Key
		return nil
	}))
	m.HandleNotification("noticed", jsonrpc2.Note(func(context.Context, *object) error { noticed <- struct{}{}; return nil }))
	conn := jsonrpc2.NewConn(serve(t, "", &jsonrpc2.Options{Tap: source}), m, nil)
	done := make(chan error, 1)
	go func() { done <- conn.Serve(context.Background()) }()

	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	call := func(method string, params any) {
		t.Helper()
		if err := conn.Call(ctx, method, params, nil); err != nil && method != "fail" && method != "none" {
			t.Fatalf("%s: %v", method, err)
		}
	}
	call("echo", object{"text": "a\nb", "token": "CANARY", "url": "https://u:CANARY@host/"})
	call("sum", object{"of": []int{1, 2, 3}})
	call("fail", object{})
	call("none", object{})
	call("time", object{})
	call("ask", object{"of": "x"})
	call("ask", object{"of": "y"})
	var open []*jsonrpc2.Pending
	for _, key := range []string{"a", "b", "c"} { // answered in another order
		open = append(open, conn.Go(ctx, "slow", object{"key": key}))
		if <-started != key {
			t.Fatal("another one started")
		}
	}
	for _, key := range []string{"c", "a", "b"} {
		if err := conn.Notify(ctx, "release", object{"key": key}); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range open {
		if err := p.Wait(nil); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 20 {
		if err := conn.Notify(ctx, "changed", object{"n": i}); err != nil {
			t.Fatal(err)
		}
		<-noticed
	}
	pending, err := conn.Batch(ctx, jsonrpc2.Entry{Method: "sum", Params: object{"of": []int{4}}}, jsonrpc2.Entry{Method: "changed", Params: object{"n": 99}, Notification: true},
		jsonrpc2.Entry{Method: "echo", Params: object{"a": 1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pending {
		if err := p.Wait(nil); err != nil {
			t.Fatal(err)
		}
	}
	<-noticed
	_ = conn.Close()
	<-done
	source.Close("")
	if err := errors.Join(feed.Close(ctx), recorder.Close()); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(file.String(), "CANARY") {
		t.Fatal("the recording has a secret")
	}
	return &file
}

func session(t *testing.T, file *bytes.Buffer) *replay.Session {
	t.Helper()
	all, err := replay.Read(bytes.NewReader(file.Bytes()))
	if err != nil || len(all) != 2 || all[1].Connection != "one" || all[1].Protocol != "test" || !all[1].Whole || all[1].Process != "p" {
		t.Fatalf("%v, %+v", err, all)
	}
	return all[1]
}

// changing is what differs from one run to the next.
var changing = []string{"time:result.now", "result.items.*.at", "**.token"}

func play(t *testing.T, s *replay.Session, version string, o *replay.Options) *replay.Report {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	r, err := s.Play(ctx, serve(t, version, nil), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestReplay(t *testing.T) { synctest.Test(t, replayed) }

func replayed(t *testing.T) {
	s := session(t, record(t))
	for range 3 {
		r := play(t, s, "", &replay.Options{Ignore: changing})
		if !r.Same() || r.Skipped != 0 || r.Sent < 30 || r.Compared != s.Len()-r.Sent+1 { // a batch of two answers is one step
			var text strings.Builder
			_, _ = r.WriteTo(&text)
			t.Fatalf("%s of %d", &text, s.Len())
		}
	}
}

func TestDifferences(t *testing.T) {
	s := session(t, record(t))
	for _, tt := range []struct {
		version string
		ignore  []string
		want    []string // parts of what is reported, in order
	}{
		{"", nil, []string{`changed "time" id 5 at "result.items.0.at"`}},
		{"", []string{"time:result.items", "notes:result.now"}, []string{`changed "time" id 5 at "result.now"`}},
		{"wrong", changing, []string{
			`changed "sum" id 2 at "result.total": want 6: got 7`, `changed "fail" id 3 at "result": want nothing: got "fine"`,
			`changed "sum"`, `changed "noticed" at "params.n": want 0: got -1`, "",
		}},
		{"more", changing, []string{`unexpected "extra"`, `unexpected "extra"`, `unexpected "unasked"`, ""}},
		{"silent", changing, []string{`missing "noticed": want {"jsonrpc":"2.0","method":"noticed","params":{"n":0}}`, ""}},
	} {
		inBubble(t, tt.version+fmt.Sprint(len(tt.ignore)), func(t *testing.T) {
			r := play(t, s, tt.version, &replay.Options{Ignore: tt.ignore, Settle: 20 * time.Millisecond})
			if r.Same() || len(tt.want) > len(r.Differences)+1 {
				t.Fatalf("differences %v", r.Differences)
			}
			for i, want := range tt.want {
				if want != "" && !strings.Contains(r.Differences[i].String(), want) {
					t.Errorf("difference %d is %s, want %s", i, r.Differences[i], want)
				}
			}
			if tt.want[len(tt.want)-1] != "" && len(tt.want) != len(r.Differences) {
				t.Errorf("differences %v", r.Differences)
			}
		})
	}
}

// TestNotForever: a server that sends none of twenty notifications any more, or all of them changed, is not waited for twenty times.
func TestNotForever(t *testing.T) { synctest.Test(t, notForever) }

func notForever(t *testing.T) {
	s := session(t, record(t))
	for _, version := range []string{"wrong", "silent"} {
		began := time.Now()
		r := play(t, s, version, &replay.Options{Ignore: changing, Settle: 2 * time.Second / 3})
		if took := time.Since(began); r.Same() || took > 10*time.Second { // else it is 14 s
			t.Errorf("%s: %v, %d differences", version, took, len(r.Differences))
		}
	}
}

// scripted is a session of messages: what is sent to the server begins with >.
func scripted(t *testing.T, messages ...string) *replay.Session {
	t.Helper()
	var file bytes.Buffer
	r := logging.NewRecorder(&file, nil)
	for _, m := range messages {
		rec := logging.Record{Connection: "c", Direction: logging.Out, Message: m[1:], Length: len(m) - 1}
		if m[0] == '>' {
			rec.Direction = logging.In
		}
		rec.Truncated = strings.HasSuffix(m, "…")
		r.Record(&rec)
	}
	r.Flush()
	all, err := replay.Read(&file)
	if err != nil || len(all) != 1 {
		t.Fatal(err)
	}
	return all[0]
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

func TestCommand(t *testing.T) {
	s := session(t, record(t))
	for version, same := range map[string]bool{"same": true, "wrong": false} {
		t.Setenv("TANDEM_REPLAY_SERVER", version)
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		server, err := replay.Command(ctx, jsonrpc2.Lines, os.Args[0])
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Play(ctx, server, &replay.Options{Ignore: changing})
		if err != nil || r.Same() != same {
			t.Errorf("%s: %v, %v", version, err, r.Differences)
		}
	}
	if _, err := replay.Command(t.Context(), jsonrpc2.Lines, "/no/such/program"); err == nil {
		t.Error("a program that is not there was started")
	}
}

func TestReadErrors(t *testing.T) {
	if _, err := replay.Read(strings.NewReader("# Notes")); !errors.Is(err, logging.ErrNotRecording) {
		t.Error(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	s := scripted(t, `>{"jsonrpc":"2.0","id":1,"method":"m"}`, `<{"jsonrpc":"2.0","id":1,"result":1}`)
	if _, err := s.Play(ctx, server(t), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func ExampleSession_Play() {
	recording := `{"kind":"header","format":"tandem-traffic","version":1}
{"connection":"stdio","direction":"inbound","message":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"add\",\"params\":[1,2]}"}
{"connection":"stdio","direction":"outbound","message":"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"sum\":3,\"took\":12}}"}
`
	sessions, err := replay.Read(strings.NewReader(recording))
	if err != nil {
		fmt.Println(err)
		return
	}
	// The server as it is today.
	today := jsonrpc2.NewMux()
	today.HandleRequest("add", jsonrpc2.Call(func(_ context.Context, p *[2]int) (object, error) {
		return object{"sum": p[0] - p[1], "took": 34}, nil
	}))
	here, there := jsonrpc2.Pipe()
	go func() { _ = jsonrpc2.NewConn(there, today, nil).Serve(context.Background()) }()

	report, err := sessions[0].Play(context.Background(), here, &replay.Options{Ignore: []string{"add:result.took"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = report.WriteTo(os.Stdout)
	// Output:
	// message 2: changed "add" id 1 at "result.sum": want 3: got -1
	// 1 messages sent, 1 compared, 0 skipped: 1 differences
}

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
		var file bytes.Buffer
		r, at := logging.NewRecorder(&file, nil), time.Now()
		record := func(m string) {
			rec := logging.Record{Time: at, Connection: "c", Direction: logging.Out, Message: m[1:], Length: len(m) - 1}
			if m[0] == '>' {
				rec.Direction = logging.In
			}
			r.Record(&rec)
		}
		record(edit)
		record(state(1))
		at = at.Add(time.Minute)
		record(edit)
		record(look)
		record(seen)
		at = at.Add(rest)
		record(ask)
		record(answer)
		r.Record(&logging.Record{Time: at, Kind: logging.KindClose, Connection: "c"})
		r.Flush()
		all, err := replay.Read(&file)
		if err != nil || len(all) != 1 {
			t.Fatal(err)
		}
		return all[0]
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

// TestCutOff: what comes when the recorded connection was over at once is no difference; what comes too early, or twice, is.
func TestCutOff(t *testing.T) { synctest.Test(t, cutOff) }

func cutOff(t *testing.T) {
	session := func(rest time.Duration) *replay.Session {
		var file bytes.Buffer
		r := logging.NewRecorder(&file, nil)
		at := time.Now()
		for i, m := range []string{
			`>{"jsonrpc":"2.0","id":1,"method":"a"}`, `<{"jsonrpc":"2.0","id":1,"result":1}`, `>{"jsonrpc":"2.0","id":2,"method":"b"}`,
		} {
			rec := logging.Record{Time: at, Connection: "c", Direction: logging.Out, Message: m[1:], Length: len(m) - 1}
			if i%2 == 0 {
				rec.Direction = logging.In
			}
			r.Record(&rec)
		}
		r.Record(&logging.Record{Time: at.Add(rest), Kind: logging.KindClose, Connection: "c"})
		r.Flush()
		all, err := replay.Read(&file)
		if err != nil || len(all) != 1 {
			t.Fatal(err)
		}
		return all[0]
	}
	play := func(s *replay.Session, script ...string) *replay.Report {
		r, err := s.Play(t.Context(), server(t, script...), &replay.Options{Settle: 100 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	a, one, b := `>{"jsonrpc":"2.0","id":1,"method":"a"}`, `<{"jsonrpc":"2.0","id":1,"result":1}`, `>{"jsonrpc":"2.0","id":2,"method":"b"}`
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
		var file bytes.Buffer
		r := logging.NewRecorder(&file, nil)
		r.Record(&logging.Record{Kind: logging.KindOpen, Connection: "c", Cancel: cancels})
		for _, m := range with(was) {
			rec := logging.Record{Connection: "c", Direction: logging.Out, Message: m[1:], Length: len(m) - 1}
			if m[0] == '>' {
				rec.Direction = logging.In
			}
			r.Record(&rec)
		}
		r.Flush()
		all, err := replay.Read(&file)
		if err != nil || len(all) != 1 {
			t.Fatal(err)
		}
		report, err := all[0].Play(t.Context(), server(t, with(is)...), &replay.Options{Settle: 50 * time.Millisecond, Patience: 100 * time.Millisecond})
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
