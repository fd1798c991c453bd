package replay_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
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
