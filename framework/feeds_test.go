package framework_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tandem-rpc/tandem/framework"
	"github.com/tandem-rpc/tandem/framework/replay"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/logging"
)

// runOnce runs a program of the tests with flags, and its standard input.
func runOnce(t *testing.T, program, input string, flags ...string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 3*patience)
	defer stop()
	cmd := exec.CommandContext(ctx, os.Args[0], flags...)
	cmd.Env = append(os.Environ(), programVariable+"="+program)
	cmd.Stdin = strings.NewReader(input)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run()
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

const talk = `{"jsonrpc":"2.0","id":1,"method":"echo","params":{"token":"CANARY"}}
{"jsonrpc":"2.0","id":2,"method":"none"}
nonsense CANARY
{"jsonrpc":"2.0","id":"x","method":"echo","params":[1]}
`

func TestRecordAndReplay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "traffic.jsonl")
	for range 2 { // the second is added
		if out, errs, code := runOnce(t, "lines", talk, "--record", path); code != 0 || !strings.Contains(out, `"id":"x"`) {
			t.Fatalf("code %d: %s%s", code, out, errs)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte("CANARY")) {
		t.Errorf("a secret was recorded: %s", text)
	}
	count := map[logging.Kind]int{}
	for in := logging.NewRecordReader(bytes.NewReader(text)); ; {
		r, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		count[r.Kind]++
		if r.Kind == logging.KindOpen && (r.Protocol != "test-lines" || r.Connection != "stdio" || len(r.Cancel) != 1) {
			t.Errorf("opened as %+v", r)
		}
		if r.Kind == logging.KindTiming && r.Unit == 0 {
			t.Errorf("timing %+v", r)
		}
	}
	if count[logging.KindHeader] != 2 || count[logging.KindMessage] != 16 || count[logging.KindTiming] != 4 || count[logging.KindClose] != 2 || count[logging.KindEnd] != 2 {
		t.Errorf("recorded %v", count)
	}
	sessions, err := replay.Read(bytes.NewReader(text))
	if err != nil || len(sessions) != 2 {
		t.Errorf("%d sessions, %v", len(sessions), err)
	}

	out, errs, code := runOnce(t, "lines", "", "--replay", path)
	if code != 0 || strings.Count(out, "no difference") != 2 {
		t.Errorf("replay: code %d: %s%s", code, out, errs)
	}
	changed := filepath.Join(t.TempDir(), "changed.jsonl")
	if err := os.WriteFile(changed, bytes.ReplaceAll(text, []byte(`\"result\":[1]`), []byte(`\"result\":[2]`)), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, code = runOnce(t, "lines", "", "--replay", changed)
	if code != framework.ExitFailure || !strings.Contains(out, `changed "echo" id "x" at "result.0": want 2: got 1`) {
		t.Errorf("replay of what never was: code %d: %s%s", code, out, errs)
	}
	if out, errs, code = runOnce(t, "lines", "", "--replay", changed, "--replay-ignore", "echo:result.*"); code != 0 {
		t.Errorf("replay without what differs: code %d: %s%s", code, out, errs)
	}
	if _, errs, code = runOnce(t, "header", "", "--replay", path); code != framework.ExitFailure || !strings.Contains(errs, "no session for this server") {
		t.Errorf("replay by another server: code %d: %s", code, errs)
	}
}

func TestFeedFlags(t *testing.T) {
	other := filepath.Join(t.TempDir(), "notes.md")
	if err := os.WriteFile(other, []byte("# Notes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		flags []string
		code  int
		says  string
	}{
		{[]string{"--record", other}, 1, "not a recording"},
		{[]string{"--record", t.TempDir()}, 1, "not a regular file"},
		{[]string{"--replay", other}, 1, "not a recording"},
		{[]string{"--replay", filepath.Join(other, "none")}, 1, "--replay"},
		{[]string{"--replay", other, "--stdio"}, 2, "more than one way to serve"},
		{[]string{"--replay-ignore", "a"}, 2, "needs --replay"},
		{[]string{"--inspect", "192.0.2.1:0"}, 1, "not a loopback"},
		{[]string{"--inspect", "0.0.0.0:0"}, 1, "not a loopback"},
		{[]string{"--inspect", "unix:" + other}, 1, "needs a port of this machine"},
	} {
		if out, errs, code := runOnce(t, "lines", talk, tt.flags...); code != tt.code || !strings.Contains(errs, tt.says) || out != "" {
			t.Errorf("%v: code %d, %s%s", tt.flags, code, out, errs)
		}
	}
}

// TestInspectFlag: the page is there while the program runs, at the URL that it prints.
func TestInspectFlag(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "--inspect", "localhost:0")
	cmd.Env = append(os.Environ(), programVariable+"=lines")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 1000)
	n, err := stderr.Read(buf)
	_, url, ok := strings.Cut(string(buf[:n]), ": inspect ")
	if err != nil || !ok {
		t.Fatalf("%q, %v", buf[:n], err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	res, err := client.Get(strings.TrimSpace(url))
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil || res.StatusCode != 200 || !bytes.Contains(page, []byte("<title>Traffic</title>")) {
		t.Errorf("%s, %v: %.100s", res.Status, err, page)
	}
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the program ends with %v", err)
	}
}

type records chan logging.Record

func (r records) Record(rec *logging.Record) { r <- *rec }

// TestFeeds: a runtime's feeds see every connection, beside hooks that were there, and a front end that cannot be mounted.
func TestFeeds(t *testing.T) {
	got := make(records, 100)
	feed := logging.NewFeed(got, nil)
	seen := 0
	rt := &framework.Runtime{Feeds: []*logging.Feed{feed, nil}, Options: jsonrpc2.Options{Observe: func(jsonrpc2.Event) { seen++ }}}
	ours, theirs := jsonrpc2.Pipe()
	done := make(chan error, 1)
	go func() { done <- rt.ServeTransport(context.Background(), theirs, newFront(jsonrpc2.Lines)) }()
	if err := ours.Write([]byte(ask)); err != nil {
		t.Fatal(err)
	}
	if frame, err := ours.Read(); err != nil || string(frame) != answer {
		t.Errorf("%s, %v", frame, err)
	}
	_ = ours.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := feed.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	close(got)
	var kinds []string
	for r := range got {
		kinds = append(kinds, string(r.Kind)+string(r.Direction))
		if r.Kind == logging.KindTiming && (r.ID != "1" || r.Unit != 1 || r.Run < 0 || r.Run > time.Hour) {
			t.Errorf("timing %+v", r)
		}
	}
	if s := strings.Join(kinds, " "); s != "open inbound outbound timing close" || seen != 1 {
		t.Errorf("records %s, %d events", s, seen)
	}
}
