package logging

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unicode"

	"github.com/hashicorp/go-hclog"
)

// tap is the interface of package jsonrpc2, which is not imported.
type tap interface {
	Inbound(frame []byte)
	Outbound(frame []byte)
}

var _, _ tap = (*Traffic)(nil), (*Source)(nil)

func newLogger(w io.Writer, level hclog.Level, inJSON bool) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Name: "test", Level: level, Output: w, JSONFormat: inJSON, DisableTime: true})
}

func TestTrafficRecords(t *testing.T) {
	o := &Options{Redact: []string{"pin"}, Protocol: "mcp", Connection: "stdio"}
	tests := []struct {
		name   string
		inJSON bool
		o      *Options
		do     func(*Traffic)
		want   string
	}{
		{"text", false, nil, func(t *Traffic) { t.Inbound([]byte(`{"id":1,"token":"v"}`)) },
			`[DEBUG] test: traffic: direction=inbound message="{\"id\":1,\"token\":\"[redacted]\"}" length=20`},
		{"JSON", true, nil, func(t *Traffic) { t.Outbound([]byte(`{"id":1,"token":"v"}`)) },
			`{"@level":"debug","@message":"traffic","@module":"test","direction":"outbound","length":20,"message":"{\"id\":1,\"token\":\"[redacted]\"}"}`},
		{"options", false, o, func(t *Traffic) { t.Inbound([]byte(`{"PIN":1}`)) },
			`[DEBUG] test: traffic: direction=inbound message="{\"PIN\":\"[redacted]\"}" length=9 protocol="mcp" connection="stdio"`},
		{"not JSON, text", false, nil, func(t *Traffic) { t.Inbound([]byte("GET / HTTP/1.1")) },
			`[DEBUG] test: traffic: direction=inbound message="[redaction failed]" length=14`},
		{"not JSON, JSON", true, nil, func(t *Traffic) { t.Inbound([]byte("GET / HTTP/1.1")) },
			`{"@level":"debug","@message":"traffic","@module":"test","direction":"inbound","length":14,"message":"[redaction failed]"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			tt.do(NewTraffic(newLogger(&out, hclog.Debug, tt.inJSON), tt.o))
			if got := strings.TrimSuffix(out.String(), "\n"); got != tt.want {
				t.Errorf("\n got  %s\n want %s", got, tt.want)
			}
		})
	}
}

func TestTrafficNamed(t *testing.T) {
	var out bytes.Buffer
	all := NewTraffic(newLogger(&out, hclog.Debug, false), &Options{Protocol: "lsp"})
	a, b := all.Named("a"), all.Named("b")
	for _, one := range []*Traffic{a, b, all} {
		one.Inbound([]byte("1"))
	}
	want := ` length=1 protocol="lsp" connection="a"` + "\n" + ` length=1 protocol="lsp" connection="b"` + "\n" + ` length=1 protocol="lsp"` + "\n"
	if got := strings.ReplaceAll(out.String(), `[DEBUG] test: traffic: direction=inbound message="1"`, ""); got != want {
		t.Errorf("records end with\n%s", got)
	}
	out.Reset()
	a.Named("c").Inbound([]byte("1"))
	a.Named("").Inbound([]byte("1"))
	if got := out.String(); strings.Count(got, "connection=") != 1 || !strings.Contains(got, `connection="c"`) {
		t.Errorf("a connection named again is recorded as\n%s", got)
	}
	if (*Traffic)(nil).Named("x") != nil {
		t.Error("no traffic has a name")
	}
}

func TestTrafficOff(t *testing.T) {
	var out bytes.Buffer
	frame := []byte(`{"token":"v"}`)
	for name, traffic := range map[string]*Traffic{
		"nil logger": NewTraffic(nil, &Options{Connection: "x"}), "nil": nil, "zero": new(Traffic),
		"null logger": NewTraffic(hclog.NewNullLogger(), nil), "level info": NewTraffic(newLogger(&out, hclog.Info, false), nil),
	} {
		n := testing.AllocsPerRun(100, func() {
			traffic.Inbound(frame)
			traffic.Outbound(frame)
		})
		if n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	if out.Len() > 0 {
		t.Errorf("written at level info: %s", out.String())
	}
}

// countingLogger counts what Traffic asks of a logger that is off.
type countingLogger struct {
	hclog.Logger
	asked, wrote int
}

func (l *countingLogger) IsDebug() bool        { l.asked++; return false }
func (l *countingLogger) Debug(string, ...any) { l.wrote++ }

func TestTrafficOffIsOneCheck(t *testing.T) {
	l := new(countingLogger) // any other method would panic on the nil Logger
	NewTraffic(l, nil).Inbound([]byte("{"))
	if l.asked != 1 || l.wrote != 0 {
		t.Errorf("IsDebug called %d times, Debug %d times", l.asked, l.wrote)
	}
}

// panicLogger fails in one of the ways a logger can.
type panicLogger struct {
	hclog.Logger
	early bool
}

func (l panicLogger) IsDebug() bool {
	if l.early {
		panic("broken sink")
	}
	return true
}
func (l panicLogger) Debug(string, ...any) { panic("broken sink") }

type brokenPipe struct{ writes int }

func (w *brokenPipe) Write([]byte) (int, error) {
	w.writes++
	return 0, &os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}
}

func TestFailingSinkDoesNotHurt(t *testing.T) {
	frame := []byte(`{"id":1}`)
	var nobody *countingLogger
	for name, l := range map[string]hclog.Logger{
		"panics": panicLogger{}, "panics when asked": panicLogger{early: true}, "nil pointer": nobody,
		"broken pipe": newLogger(new(brokenPipe), hclog.Debug, false), "broken pipe, JSON": newLogger(new(brokenPipe), hclog.Debug, true),
	} {
		t.Run(name, func(t *testing.T) {
			traffic := NewTraffic(l, nil)
			for range 3 {
				traffic.Inbound(frame)
				traffic.Outbound(frame)
			}
		})
	}
}

// Whatever a peer sends, its record is one line, and nothing in it moves the
// cursor of a terminal or the direction of writing.
func TestNoForgedRecords(t *testing.T) {
	record := "2026-01-01T00:00:00Z [ERROR] test: all secrets were sent"
	var frames []string
	for _, sep := range []string{"\n", "\r", "\r\n", "\v", "\f", "\u0085", "\u2028", "\u2029", "\x1b[2K\r", "\x1b]0;x\a", "\u009b2K", "\x7f", "\u202e", "\u2066", "\u200f", "\ufeff", "\U000e0001", "\x00"} {
		text := "x" + sep + record
		inString, _ := json.Marshal(text)
		raw := strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(string(inString))
		frames = append(frames,
			raw, `{"method":`+raw+`}`, `{`+raw+`:1}`, `{"token":"t",`+raw+`:`+raw+`}`,
			"{\"a\":1,"+sep+"\"b\":2}", // white space between values, or not JSON
			text, `{"a":"`+text+`"}`,   // not JSON, for control characters
		)
	}
	for _, inJSON := range []bool{false, true} {
		var out bytes.Buffer
		traffic := NewTraffic(newLogger(&out, hclog.Debug, inJSON), &Options{Connection: "a\n\u0085" + record})
		for _, frame := range frames {
			out.Reset()
			traffic.Inbound([]byte(frame))
			got, ok := strings.CutSuffix(out.String(), "\n")
			if !ok || got == "" {
				t.Fatalf("record is %q", got)
			}
			for _, r := range got {
				if !unicode.IsGraphic(r) {
					t.Errorf("JSON format %v: %q in the record of %q", inJSON, r, frame)
				}
			}
			if inJSON && !json.Valid([]byte(got)) {
				t.Errorf("record is not JSON: %s", got)
			}
			if !inJSON && !strings.HasPrefix(got, "[DEBUG] test: traffic: direction=inbound message=\"") {
				t.Errorf("record begins otherwise: %s", got)
			}
		}
	}
}

// Escaping for the log keeps the meaning of a message.
func TestTrafficKeepsMeaning(t *testing.T) {
	in := "{\"a\u0085\":\"\u2028\U000e0001é\u00a0\u3000😀\x7f\",\n \"b\":\"\\u0085\"}"
	var out bytes.Buffer
	NewTraffic(newLogger(&out, hclog.Debug, true), nil).Inbound([]byte(in))
	var record struct{ Message string }
	if err := json.Unmarshal(out.Bytes(), &record); err != nil {
		t.Fatal(err)
	}
	var want, got map[string]string
	if err := json.Unmarshal([]byte(in), &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(record.Message), &got); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("logged %q, sent %q", got, want)
	}
	if !strings.Contains(record.Message, "é\u00a0\u3000😀") {
		t.Errorf("letters and spaces were escaped: %s", record.Message)
	}
}

// Text mode quotes the way Go does, so a record can be read back.
func TestTextRecordReadsBack(t *testing.T) {
	in := "{\"a\":\"q\\\"\\\\ \u0085\",\n\t\"b\":1}"
	var out bytes.Buffer
	NewTraffic(newLogger(&out, hclog.Debug, false), nil).Inbound([]byte(in))
	_, rest, _ := strings.Cut(out.String(), "message=")
	quoted, err := strconv.QuotedPrefix(rest)
	if err != nil {
		t.Fatalf("%v in %s", err, rest)
	}
	text, err := strconv.Unquote(quoted)
	if want := strings.ReplaceAll(in, "\u0085", `\u0085`); err != nil || text != want {
		t.Errorf("read back %q, %v", text, err)
	}
}

func TestTrafficConcurrently(t *testing.T) {
	var out bytes.Buffer // hclog locks around it
	traffic := NewTraffic(newLogger(&out, hclog.Debug, true), &Options{Protocol: "p"})
	const goroutines, each = 8, 50
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			one := traffic.Named(strconv.Itoa(g))
			for i := range each {
				one.Inbound(fmt.Appendf(nil, `{"id":%d,"token":"CANARY"}`, i))
			}
		})
	}
	wg.Wait()
	lines := 0
	for s := bufio.NewScanner(&out); s.Scan(); lines++ {
		if !json.Valid(s.Bytes()) || bytes.Contains(s.Bytes(), []byte("CANARY")) {
			t.Errorf("record %s", s.Bytes())
		}
	}
	if lines != goroutines*each {
		t.Errorf("%d records, want %d", lines, goroutines*each)
	}
}
