package field

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// framings are both; most faults have been seen in either.
var framings = []jsonrpc2.Framing{jsonrpc2.Lines, jsonrpc2.Header}

// mount makes the methods of a peer and sets what they need in o.
type mount func(o *jsonrpc2.Options) (*jsonrpc2.Mux, error)

// talk is a peer under test, and the test on the other end of its stream.
type talk struct {
	t       *testing.T
	framing jsonrpc2.Framing
	conn    *jsonrpc2.Conn
	in      *io.PipeWriter
	served  chan struct{}
	err     error // of Serve, once served is closed

	mu      sync.Mutex
	out     bytes.Buffer // what was written and not yet looked at
	writes  int
	reports []error
}

// inBoth runs a test in both framings, each on a fake clock.
func inBoth(t *testing.T, test func(t *testing.T, f jsonrpc2.Framing)) {
	for _, f := range framings {
		t.Run(f.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, f) })
		})
	}
}

// listen starts a peer. It must be called in a bubble, and ended.
func listen(t *testing.T, f jsonrpc2.Framing, m mount, set ...func(*jsonrpc2.Options)) *talk {
	t.Helper()
	k := &talk{t: t, framing: f, served: make(chan struct{})}
	o := &jsonrpc2.Options{Linger: 5 * time.Second}
	for _, f := range set {
		f(o)
	}
	report := o.Report
	o.Report = func(ctx context.Context, r *jsonrpc2.Request, err error) {
		k.mu.Lock()
		k.reports = append(k.reports, err)
		k.mu.Unlock()
		if report != nil {
			report(ctx, r, err)
		}
	}
	mux, err := m(o)
	if err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	k.in = w
	k.conn = jsonrpc2.NewConn(jsonrpc2.Open(jsonrpc2.Join(r, k), f), mux, o)
	go func() {
		defer close(k.served)
		k.err = k.conn.Serve(context.Background())
	}()
	return k
}

// Write is where the peer writes to.
func (k *talk) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.writes++
	return k.out.Write(p)
}

// frame frames messages.
func frame(f jsonrpc2.Framing, messages ...string) string {
	var b strings.Builder
	for _, m := range messages {
		if f == jsonrpc2.Lines {
			fmt.Fprintf(&b, "%s\n", m)
		} else {
			fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(m), m)
		}
	}
	return b.String()
}

// write writes bytes as they are, each argument on its own.
func (k *talk) write(pieces ...string) {
	k.t.Helper()
	for _, p := range pieces {
		if _, err := io.WriteString(k.in, p); err != nil && err != io.ErrClosedPipe {
			k.t.Fatal(err)
		}
	}
}

// send writes messages, framed and in one piece.
func (k *talk) send(messages ...string) { k.t.Helper(); k.write(frame(k.framing, messages...)) }

// heard waits until nothing more can happen without time passing, and returns the messages that came since it was called last.
func (k *talk) heard() []string {
	k.t.Helper()
	synctest.Wait()
	k.mu.Lock()
	defer k.mu.Unlock()
	messages, err := unframe(k.framing, k.out.Bytes())
	if err != nil {
		k.t.Errorf("the peer wrote %v", err)
	}
	k.out.Reset()
	return messages
}

// end ends the input and returns what came after that, and what Serve returned.
func (k *talk) end() ([]string, error) {
	k.t.Helper()
	_ = k.in.Close()
	select {
	case <-k.served:
	case <-time.After(time.Minute): // on the fake clock: it jumps there when nothing else can go on
		k.t.Error("Serve does not return")
		_ = k.conn.Close()
	}
	return k.heard(), k.err
}

// reported returns what was reported so far.
func (k *talk) reported() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var all []string
	for _, err := range k.reports {
		all = append(all, err.Error())
	}
	return all
}

// unframe is a strict reader: whole messages, no blank lines, no CR, one header field that counts bytes, nothing left over.
func unframe(f jsonrpc2.Framing, data []byte) ([]string, error) {
	var all []string
	for len(data) > 0 {
		var message []byte
		if f == jsonrpc2.Lines {
			line, rest, ok := bytes.Cut(data, []byte("\n"))
			if !ok || len(line) == 0 || bytes.ContainsRune(line, '\r') {
				return all, fmt.Errorf("no line: %.200q", data)
			}
			message, data = line, rest
		} else {
			head, rest, ok := bytes.Cut(data, []byte("\r\n\r\n"))
			digits, named := bytes.CutPrefix(head, []byte("Content-Length: "))
			n, err := strconv.Atoi(string(digits))
			if !ok || !named || err != nil || n > len(rest) {
				return all, fmt.Errorf("no frame: %.200q", data)
			}
			message, data = rest[:n], rest[n:]
		}
		if !json.Valid(message) {
			return all, fmt.Errorf("no JSON: %.200q", message)
		}
		all = append(all, string(message))
	}
	return all, nil
}

// answers tells what each message answers: the id as it was written, and the code of the error, or "ok". Of a batch it tells all entries, in
// brackets. They are sorted. A message that is no response with exactly one of result and error is told whole.
func answers(messages []string) string {
	var all []string
	for _, m := range messages {
		if m[0] != '[' {
			all = append(all, answer([]byte(m)))
			continue
		}
		var entries []json.RawMessage
		_ = json.Unmarshal([]byte(m), &entries) // unframe has checked that it is JSON
		var texts []string
		for _, e := range entries {
			texts = append(texts, answer(e))
		}
		all = append(all, "["+strings.Join(texts, " ")+"]")
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func answer(m []byte) string {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(m, &members)
	id, has := members["id"]
	result, ok := members["result"]
	failure, failed := members["error"]
	if string(members["jsonrpc"]) != `"2.0"` || !has || ok == failed || len(members) != 3 {
		return string(m)
	}
	if ok {
		_ = result
		return string(id) + ":ok"
	}
	var e struct {
		Code    *int    `json:"code"`
		Message *string `json:"message"`
	}
	if json.Unmarshal(failure, &e) != nil || e.Code == nil || e.Message == nil {
		return string(m)
	}
	return string(id) + ":" + strconv.Itoa(*e.Code)
}

// expect compares what was heard.
func expect(t *testing.T, what string, messages []string, want string) {
	t.Helper()
	if got := answers(messages); got != want {
		t.Errorf("%s: got %s, want %s", what, clip(got), clip(want))
	}
}

func clip(s string) string {
	if len(s) > 600 {
		return s[:600] + "..."
	}
	return s
}

// bytewise cuts a text into bytes.
func bytewise(text string) []string {
	all := make([]string, len(text))
	for i := range len(text) {
		all[i] = text[i : i+1]
	}
	return all
}

// request is a request with raw id and raw params, none if empty; without an id it is a notification.
func request(id, method, params string) string {
	var b strings.Builder
	b.WriteString(`{"jsonrpc":"2.0"`)
	if id != "" {
		b.WriteString(`,"id":` + id)
	}
	b.WriteString(`,"method":` + strconv.Quote(method))
	if params != "" {
		b.WriteString(`,"params":` + params)
	}
	return b.String() + "}"
}

func note(method, params string) string { return request("", method, params) }
