package logging

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
)

func TestRecorder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // for a clock that stands still
		var out bytes.Buffer
		r := NewRecorder(&out, &RecorderOptions{Redact: []string{"pin"}, Connection: "a\n1"})
		r.Inbound([]byte(`{"pin":"v","u":"é\n"}`))
		r.Outbound([]byte(`not JSON`))
		r.Named("").Outbound([]byte("[1,\n2]"))
		want := `{"time":"2000-01-01T00:00:00Z","direction":"inbound","connection":"a\\u000a1","length":22,"message":"{\"pin\":\"[redacted]\",\"u\":\"é\\n\"}"}
{"time":"2000-01-01T00:00:00Z","direction":"outbound","connection":"a\\u000a1","length":8,"message":"[redaction failed]"}
{"time":"2000-01-01T00:00:00Z","direction":"outbound","length":6,"message":"[1,\n2]"}
`
		if out.String() != want {
			t.Errorf("\n got\n%s\n want\n%s", out.String(), want)
		}
		if err := r.Err(); err != nil {
			t.Error(err)
		}
	})
}

func TestRecorderCuts(t *testing.T) {
	for _, tt := range []struct {
		name  string
		limit int
		in    string
		want  string
		cut   bool
	}{
		{"short", 10, `"12345678"`, `"12345678"`, false},
		{"long", 10, `"123456789"`, `"123456789`, true},
		{"at a rune", 10, `"1234567€"`, `"1234567`, true},
		{"after redaction", 20, `{"token":"` + strings.Repeat("x", 100) + `"}`, `{"token":"[redacted]`, true},
		{"nothing left", 1, `"€"`, `"`, true},
		{"default", 0, `"` + strings.Repeat("x", DefaultMaxMessage) + `"`, `"` + strings.Repeat("x", DefaultMaxMessage-1), true},
		{"no limit", -1, `"` + strings.Repeat("x", DefaultMaxMessage) + `"`, `"` + strings.Repeat("x", DefaultMaxMessage) + `"`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			NewRecorder(&out, &RecorderOptions{MaxMessage: tt.limit}).Inbound([]byte(tt.in))
			var record struct {
				Message   string
				Length    int
				Truncated bool
			}
			if err := json.Unmarshal(out.Bytes(), &record); err != nil {
				t.Fatal(err)
			}
			if record.Message != tt.want || record.Truncated != tt.cut || record.Length != len(tt.in) {
				t.Errorf("%d bytes, cut %v: %.100s", record.Length, record.Truncated, record.Message)
			}
		})
	}
}

type panicWriter struct{}

func (panicWriter) Write(b []byte) (int, error) { panic(string(b)) }

func TestRecorderStopsAtTheFirstError(t *testing.T) {
	w := new(brokenPipe)
	r := NewRecorder(w, nil)
	other := r.Named("other")
	for range 3 {
		r.Inbound([]byte("1"))
		other.Outbound([]byte("1"))
	}
	if w.writes != 1 {
		t.Errorf("%d writes to a broken pipe", w.writes)
	}
	if !errors.Is(r.Err(), syscall.EPIPE) || !errors.Is(other.Err(), syscall.EPIPE) {
		t.Errorf("errors are %v and %v", r.Err(), other.Err())
	}

	r = NewRecorder(panicWriter{}, nil)
	r.Inbound([]byte(`"CANARY"`))
	if err := r.Err(); err == nil || strings.Contains(err.Error(), "CANARY") {
		t.Errorf("error of a panic is %v", err)
	}

	var none *Recorder
	none.Inbound([]byte("1"))
	none.Named("x").Outbound([]byte("1"))
	if none.Err() != nil {
		t.Error("a nil recorder has an error")
	}
}

func TestRecorderConcurrently(t *testing.T) {
	var out bytes.Buffer // the recorder's lock guards it
	r := NewRecorder(&out, nil)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for range 50 {
				r.Named(fmt.Sprint(g)).Inbound([]byte(`{"token":"CANARY"}`))
			}
		})
	}
	wg.Wait()
	lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
	if len(lines) != 400 {
		t.Errorf("%d lines", len(lines))
	}
	for _, line := range lines {
		if !json.Valid(line) || bytes.Contains(line, []byte("CANARY")) {
			t.Errorf("line %s", line)
		}
	}
}
