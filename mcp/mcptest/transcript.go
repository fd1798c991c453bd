package mcptest

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("mcptest.update", false, "write the golden transcripts of package mcptest instead of comparing them")

// An Entry is one message of a transcript.
type Entry struct {
	Sent    bool // by the client
	Payload []byte

	method       string
	notification bool
	params       json.RawMessage
}

// String returns the message behind an arrow: -> to the server, <- from it.
func (e Entry) String() string {
	if e.Sent {
		return "-> " + string(e.Payload)
	}
	return "<- " + string(e.Payload)
}

// Transcript returns all messages so far, in the order they were sent and came in. The payloads must not be changed.
func (c *Client) Transcript() []Entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Entry(nil), c.entries...)
}

// Notification returns the params of the next notification of a method: the first call returns the first that came since the beginning, also before
// the call, and so on. It waits for one until ctx ends or [Options.Timeout] is over.
func (c *Client) Notification(ctx context.Context, method string) (json.RawMessage, error) {
	c.mu.Lock()
	from := c.read[method]
	c.mu.Unlock()
	i, e, err := c.await(ctx, from, func(e *Entry) bool { return e.notification && e.method == method })
	if err != nil {
		return nil, fmt.Errorf("mcptest: no %s: %w", method, err)
	}
	c.mu.Lock()
	c.read[method] = max(c.read[method], i+1)
	c.mu.Unlock()
	return e.params, nil
}

// await waits for a message of the server, and returns its place in the transcript.
func (c *Client) await(ctx context.Context, from int, match func(*Entry) bool) (int, Entry, error) {
	if _, ok := ctx.Deadline(); !ok {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, c.o.Timeout)
		defer stop()
	}
	for {
		c.mu.Lock()
		for ; from < len(c.entries); from++ {
			if e := &c.entries[from]; !e.Sent && match(e) {
				defer c.mu.Unlock()
				return from, *e, nil
			}
		}
		arrived, closed := c.arrived, c.closed
		c.mu.Unlock()
		if closed {
			return 0, Entry{}, ErrClosed
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return 0, Entry{}, context.Cause(ctx)
		}
	}
}

// Notifications returns those that have come so far.
func (c *Client) Notifications() []Notification {
	var all []Notification
	for _, e := range c.Transcript() {
		if !e.Sent && e.notification {
			all = append(all, Notification{e.method, e.params})
		}
	}
	return all
}

// volatile are members that differ from run to run.
var volatile = regexp.MustCompile(`"(requestState|taskId|createdAt|lastUpdatedAt|elicitationId)":"((?:[^"\\]|\\.)*)"`)

// Text returns the transcript as [Client.Golden] compares it: one message a line, behind an arrow, with the values of requestState, taskId, createdAt,
// lastUpdatedAt and elicitationId replaced by names, equal ones by equal names.
func (c *Client) Text() string {
	var b strings.Builder
	for _, e := range c.Transcript() {
		b.WriteString(e.String())
		b.WriteByte('\n')
	}
	names := make(map[string]string)
	count := make(map[string]int)
	return volatile.ReplaceAllStringFunc(b.String(), func(s string) string {
		name, value, _ := strings.Cut(s, ":")
		key := s
		if strings.HasSuffix(name, `At"`) {
			key, value = name, "time"
		}
		if names[key] == "" {
			count[name]++
			names[key] = fmt.Sprintf("%s %d", strings.Trim(name, `"`), count[name])
			if value == "time" {
				names[key] = strings.Trim(name, `"`)
			}
		}
		return name + `:"(` + names[key] + `)"`
	})
}

// Golden compares [Client.Text] with a file, as testdata/greet.txt, and fails the test where they differ. With the flag -mcptest.update it writes the
// file, and its folder.
func (c *Client) Golden(t testing.TB, file string) {
	t.Helper()
	got := c.Text()
	if *update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
		return
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; go test -mcptest.update writes it", err)
	}
	want := strings.ReplaceAll(string(b), "\r\n", "\n")
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		if line(g, i) != line(w, i) {
			t.Errorf("%s:%d: the transcript differs (go test -mcptest.update takes it over)\n got %s\nwant %s", file, i+1, line(g, i), line(w, i))
			return
		}
	}
}

func line(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(nothing)"
}

// forever is a context whose deadline is far away.
type forever struct{ context.Context }

// Deadline implements context.Context.
func (forever) Deadline() (time.Time, bool) { return time.Now().AddDate(100, 0, 0), true }
