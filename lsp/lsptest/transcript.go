package lsptest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/lsp"
)

var update = flag.Bool("lsptest.update", false, "write the golden transcripts of package lsptest instead of comparing them")

// Entry is one message of a transcript.
type Entry struct {
	Sent    bool // by the client
	Payload []byte

	message message
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
	return slices.Clone(c.entries)
}

// Text returns the transcript as [Client.Golden] compares it, the same for every run of a test in which the two sides say the same. What the client says stands
// in its order, one message a line. What the server says comes in between, in an order that depends on chance, so each of its messages has a fixed place:
// answers behind their requests, diagnostics of a version behind what made that version, progress behind the request whose token it has, and
// everything else at the end, by method. Members of objects are sorted by name. Ids are left out, as who answers what is plain to see; process ids and times are replaced by their names.
func (c *Client) Text() string {
	entries := c.Transcript()
	after := make(map[int][]Entry) // of the server, by the place of what they belong to
	requests := make(map[string]int)
	versions := make(map[string]int)
	tokens := make(map[string]int)
	var rest []Entry
	for i, e := range entries {
		m := &e.message
		switch {
		case e.Sent && m.Method != "" && m.ID != nil:
			requests[string(m.ID)] = i
			if t := tokenOf(m.Params); t != "" {
				tokens[t] = i
			}
		case e.Sent && m.Method != "":
			if k := versionOf(m.Params, "textDocument"); k != "" {
				versions[k] = i
			}
		case e.Sent: // the answer to a request of the server: found from there
		case m.Method == "":
			at, ok := requests[string(m.ID)]
			if !ok {
				at = -1
			}
			after[at] = append(after[at], e)
		default:
			at, ok := 0, false
			switch m.Method {
			case protocol.MethodTextDocumentPublishDiagnostics:
				at, ok = versions[versionOf(m.Params, "")]
			case protocol.MethodProgress:
				at, ok = tokens[tokenOf(m.Params)]
			}
			if ok {
				after[at] = append(after[at], e)
			} else {
				rest = append(rest, e)
			}
		}
	}
	var b strings.Builder
	for i, e := range entries {
		if !e.Sent || e.message.Method == "" && e.message.ID != nil {
			continue
		}
		c.line(&b, "-> ", e)
		slices.SortStableFunc(after[i], func(a, b Entry) int { return cmp.Compare(rank(a), rank(b)) })
		for _, e := range after[i] {
			c.line(&b, "   <- ", e)
		}
	}
	for _, e := range after[-1] {
		c.line(&b, "<- ", e)
	}
	slices.SortStableFunc(rest, func(a, b Entry) int { return strings.Compare(a.message.Method, b.message.Method) })
	for _, e := range rest {
		c.line(&b, "<- ", e)
		if e.message.ID == nil {
			continue
		}
		for _, a := range entries { // ids of the server are not used twice
			if a.Sent && a.message.Method == "" && bytes.Equal(a.message.ID, e.message.ID) {
				c.line(&b, "   -> ", a)
			}
		}
	}
	return b.String()
}

// rank puts progress before answers and diagnostics behind them.
func rank(e Entry) int {
	switch e.message.Method {
	case protocol.MethodProgress:
		return 0
	case "":
		return 1
	}
	return 2
}

// tokenOf is the progress token of params, "" for none.
func tokenOf(params json.RawMessage) string {
	var p struct {
		Token json.RawMessage `json:"token"`
		Work  json.RawMessage `json:"workDoneToken"`
	}
	_ = json.Unmarshal(params, &p)
	return string(cmp.Or(string(p.Work), string(p.Token)))
}

// versionOf names a version of a document that params are about, "" for none.
func versionOf(params json.RawMessage, member string) string {
	var p struct {
		URI     string `json:"uri"`
		Version *int32 `json:"version"`
	}
	if member != "" {
		var outer map[string]json.RawMessage
		_ = json.Unmarshal(params, &outer)
		params = outer[member]
	}
	_ = json.Unmarshal(params, &p)
	if p.Version == nil {
		return ""
	}
	return fmt.Sprint(lsp.KeyOf(uri.URI(p.URI)), *p.Version)
}

var (
	pids  = regexp.MustCompile(`"processId":\d+`)
	times = regexp.MustCompile(`\d{4}[-/]\d\d[-/]\d\d([T ]\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:?\d\d)?)?|\b\d\d:\d\d:\d\d([.,]\d+)?\b`)
	spans = regexp.MustCompile(`\b(\d+h)?(\d+m)?\d+(\.\d+)?(ns|µs|us|ms|s)\b`)
)

// line writes a message without what differs from run to run.
func (c *Client) line(b *strings.Builder, arrow string, e Entry) {
	m := &e.message
	s := arrow
	switch {
	case m.Method != "":
		s += m.Method
		if m.Params != nil {
			s += " " + sorted(m.Params)
		}
	case m.Error != nil:
		raw, _ := json.Marshal(m.Error)
		s += "error " + sorted(raw)
	case m.ID != nil:
		s += "result " + sorted(m.Result)
	default:
		s += string(e.Payload)
	}
	s = pids.ReplaceAllString(s, `"processId":(pid)`)
	s = times.ReplaceAllString(s, "(time)")
	s = spans.ReplaceAllString(s, "(duration)")
	if c.o.Redact != nil {
		s = c.o.Redact(s)
	}
	b.WriteString(strings.ReplaceAll(s, "\n", `\n`))
	b.WriteByte('\n')
}

// sorted is a JSON text with members in the order of their names: maps of Go are encoded in any.
func sorted(raw json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return string(raw)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return string(raw)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// Golden compares [Client.Text] with a file, as testdata/rename.txt, and fails the test where they differ. With the flag -lsptest.update it writes the file, and
// its folder.
func (c *Client) Golden(file string) {
	c.t.Helper()
	got := c.Text()
	if *update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(got), 0o644)); err != nil {
			c.t.Fatalf("lsptest: %v", err)
		}
		return
	}
	b, err := os.ReadFile(file)
	if err != nil {
		c.t.Fatalf("lsptest: %v; go test -lsptest.update writes it", err)
	}
	want := strings.ReplaceAll(string(b), "\r\n", "\n")
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		if a, b := lineAt(g, i), lineAt(w, i); a != b {
			c.t.Errorf("%s:%d: the transcript differs (go test -lsptest.update takes it over)\n got %s\nwant %s", file, i+1, a, b)
			return
		}
	}
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(nothing)"
}
