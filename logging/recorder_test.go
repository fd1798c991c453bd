package logging

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

var when = time.Date(2026, 5, 1, 12, 0, 0, 5, time.UTC)

// all returns the records of a recording, and the errors of lines by their number.
func all(t *testing.T, text string) (records []Record, bad []int) {
	t.Helper()
	for in := NewRecordReader(strings.NewReader(text)); ; {
		r, err := in.Next()
		if line, ok := errors.AsType[*LineError](err); ok {
			bad = append(bad, line.Line)
			continue
		}
		if errors.Is(err, io.EOF) {
			return records, bad
		}
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
}

func TestRecordLines(t *testing.T) {
	for _, tt := range []struct {
		r    Record
		want string
	}{
		{Record{Direction: In, Connection: "a", Unit: 7, Length: 3, Message: "\"x\n"}, `"connection":"a","direction":"inbound","unit":7,"length":3,"message":"\"x\n"`},
		{Record{Direction: Out, Connection: "a"}, `"connection":"a","direction":"outbound","length":0,"message":""`},
		{Record{Kind: KindTiming, ID: `"1"`, Run: 5}, `"kind":"timing","id":"\"1\"","queued_ns":0,"run_ns":5`},
		{Record{Kind: KindDropped, Count: 2, Length: 9}, `"kind":"dropped","count":2,"length":9`},
		{Record{Kind: KindOpen, Protocol: "x", Client: "c 1", Cancel: []Cancel{{"m", "p"}}}, `"kind":"open","protocol":"x","client":"c 1","cancel":[{"method":"m","param":"p"}]`},
		{Record{Direction: In, Length: 1, Message: "1", Truncated: true}, `"direction":"inbound","length":1,"message":"1","truncated":true`},
		{Record{Kind: KindHeader, Process: "1", Format: RecordFormat, Version: 1, Program: "p"}, `"kind":"header","process":"1","format":"tandem-traffic","version":1,"program":"p"`},
	} {
		tt.r.Time = when
		line := string(tt.r.Append(nil))
		if want := `{"time":"2026-05-01T12:00:00.000000005Z",` + tt.want + "}\n"; line != want {
			t.Errorf("\n got %s\nwant %s", line, want)
		}
		header := Record{Kind: KindHeader, Format: RecordFormat, Version: 1}
		records, bad := all(t, string(header.Append(nil))+line)
		if len(bad) > 0 || len(records) != 2 || !reflect.DeepEqual(records[1], tt.r) {
			t.Errorf("%s reads as %+v", line, records)
		}
	}
}

func TestRecordReader(t *testing.T) {
	h := `{"kind":"header","format":"tandem-traffic","version":1}` + "\n"
	for _, tt := range []struct {
		name, text string
		err        error
	}{
		{"nothing", "", io.EOF},
		{"text", "# Notes\n", ErrNotRecording},
		{"other JSON", `{"a":1}` + "\n" + h, ErrNotRecording},
		{"other format", `{"kind":"header","format":"x","version":1}`, ErrNotRecording},
		{"later", `{"kind":"header","format":"tandem-traffic","version":2}`, ErrRecordVersion},
		{"deep", strings.Repeat("[", 1<<20), ErrNotRecording},
	} {
		if _, err := NewRecordReader(strings.NewReader(tt.text)).Next(); !errors.Is(err, tt.err) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	records, bad := all(t, h+"\nCANARY\n"+`{"kind":"new","more":{"a":[]},"count":3}`+"\n"+strings.Repeat("{\"a\":", 20_000)+"\n"+h+`{"kind":"clo`)
	if len(records) != 3 || records[1].Kind != "new" || records[1].Count != 3 || fmt.Sprint(bad) != "[3 5 7]" {
		t.Errorf("records %+v, bad lines %v", records, bad)
	}
	in := NewRecordReader(strings.NewReader(h + strings.Repeat("x", 200_000) + "\n" + h))
	in.MaxLine = 100_000
	if _, err := in.Next(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Next(); err == nil || strings.Contains(err.Error(), "xxx") {
		t.Errorf("a line that is too long: %v", err)
	}
	if r, err := in.Next(); err != nil || r.Kind != KindHeader {
		t.Errorf("after it: %+v, %v", r, err)
	}
}

func TestRecorderEnds(t *testing.T) {
	var out bytes.Buffer
	r := NewRecorder(&out, nil)
	r.Record(&Record{Direction: In, Message: "1"})
	for range 2 {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	r.Record(&Record{Direction: In, Message: "2"})
	r.Flush()
	records, _ := all(t, out.String())
	if len(records) != 3 || records[0].Program == "" || records[2].Kind != KindEnd {
		t.Errorf("records %+v", records)
	}
}

func TestRecorderHasALimit(t *testing.T) {
	var out bytes.Buffer
	var told []error
	r := NewRecorder(&out, &RecorderOptions{MaxBytes: 10_000, OnError: func(err error) { told = append(told, err) }})
	for range 1000 {
		r.Record(&Record{Time: when, Direction: In, Message: strings.Repeat("x", 100)})
	}
	_ = r.Close()
	records, bad := all(t, out.String())
	last := records[len(records)-1]
	if len(bad) > 0 || last.Kind != KindEnd || last.Message == "" || out.Len() > 10_200 || out.Len() < 9_500 {
		t.Errorf("%d bytes, last %+v, bad %v", out.Len(), last, bad)
	}
	if len(told) != 1 || !errors.Is(told[0], ErrRecordingFull) || !errors.Is(r.Err(), ErrRecordingFull) {
		t.Errorf("told %v", told)
	}
}

type panicWriter struct{}

func (panicWriter) Write(b []byte) (int, error) { panic(string(b)) }

func TestRecorderStopsAtTheFirstError(t *testing.T) {
	w := new(brokenPipe)
	told := 0
	r := NewRecorder(w, &RecorderOptions{OnError: func(error) { told++; panic("no") }})
	for range 3 {
		r.Record(&Record{Message: "1"})
		r.Flush()
	}
	if w.writes != 1 || told != 1 {
		t.Errorf("%d writes to a broken pipe, %d reports", w.writes, told)
	}
	if !errors.Is(r.Err(), syscall.EPIPE) || !errors.Is(r.Close(), syscall.EPIPE) {
		t.Errorf("error is %v", r.Err())
	}
	r = NewRecorder(panicWriter{}, nil)
	r.Record(&Record{Message: "CANARY"})
	r.Flush()
	if err := r.Err(); err == nil || strings.Contains(err.Error(), "CANARY") {
		t.Errorf("error of a panic is %v", err)
	}
}

func TestCreateRecording(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.jsonl")
	write := func() {
		t.Helper()
		f, err := CreateRecording(path)
		if err != nil {
			t.Fatal(err)
		}
		r := NewRecorder(f, nil)
		if err := errors.Join(r.Close(), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	private := func() {
		t.Helper()
		at, err := os.Stat(path)
		if err != nil || runtime.GOOS != "windows" && at.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v", at.Mode(), err)
		}
	}
	write()
	private()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"time":"20`); err != nil { // killed
		t.Fatal(err)
	}
	_ = f.Close()
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	write()
	private()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if records, bad := all(t, string(text)); len(records) != 4 || fmt.Sprint(bad) != "[3]" {
		t.Errorf("%d records, bad lines %v", len(records), bad)
	}

	for name, text := range map[string]string{"notes.md": "# Notes\n", "data.json": `{"a":1}`, "long": strings.Repeat("x", 1<<20)} {
		other := filepath.Join(dir, name)
		if err := os.WriteFile(other, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := CreateRecording(other); !errors.Is(err, ErrNotRecording) {
			t.Errorf("%s: %v", name, err)
		}
		if got, _ := os.ReadFile(other); string(got) != text {
			t.Errorf("%s was changed", name)
		}
	}
	for _, other := range []string{dir, filepath.Join(dir, "none", "a")} {
		if _, err := CreateRecording(other); err == nil {
			t.Errorf("%s was opened", other)
		}
	}
}
