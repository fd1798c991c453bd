package jsonrpc2

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzScan compares the scanner with the standard library: a frame is accepted
// if and only if it is valid JSON, valid UTF-8 and not too deep, and its members
// are where encoding/json finds them. What a message is taken for is decided
// again, by other code.
func FuzzScan(f *testing.F) {
	for _, c := range envelopeCases {
		f.Add([]byte(c.text), uint8(3))
		f.Add([]byte("["+c.text+","+c.text+"]"), uint8(4))
	}
	for _, c := range grammarCases {
		f.Add([]byte(c.text), uint8(2))
	}
	f.Add([]byte("{}0"), uint8(9))
	f.Add([]byte(strings.Repeat("[", 70)+strings.Repeat("]", 70)), uint8(70))
	f.Add([]byte(strings.Repeat(`{"a":[`, 40)+strings.Repeat("]}", 40)), uint8(80))
	f.Add(smallFrame, uint8(3))
	f.Add(mediumFrame[:300], uint8(3))

	f.Fuzz(func(t *testing.T, frame []byte, limit uint8) {
		maxDepth := int(limit)
		want := json.Valid(frame) && utf8.Valid(frame) && depthOf(frame) <= maxDepth
		if got := validValue(frame, maxDepth); got != want {
			t.Fatalf("validValue(%q, %d) = %v", frame, maxDepth, got)
		}
		var e envelope
		isBatch, err := scanMessage(frame, maxDepth, &e)
		if (err == nil) != want {
			t.Fatalf("scanMessage(%q, %d): %v, want ok %v", frame, maxDepth, err, want)
		}
		text := bytes.Trim(frame, " \t\r\n")
		if err != nil {
			if se := err.(*syntaxError); se.Offset < 0 || se.Offset > len(frame) || se.Reason == "" {
				t.Fatalf("scanMessage(%q): error %+v", frame, se)
			}
			return
		}
		if !bytes.Equal(e.raw, text) {
			t.Fatalf("%q: raw is %q", frame, e.raw)
		}
		if isBatch != (text[0] == '[') {
			t.Fatalf("%q: batch %v", frame, isBatch)
		}
		if !isBatch {
			compareEnvelope(t, text, &e)
			return
		}
		var entries []json.RawMessage
		if err := json.Unmarshal(text, &entries); err != nil {
			t.Fatal(err)
		}
		if e.entries != len(entries) {
			t.Fatalf("%q: %d entries, want %d", frame, e.entries, len(entries))
		}
		n := 0
		scanBatch(frame, &e, func() bool {
			compareEnvelope(t, entries[n], &e)
			n++
			return true
		})
		if n != len(entries) {
			t.Fatalf("%q: %d entries yielded, want %d", frame, n, len(entries))
		}
	})
}

// depthOf counts the nesting of a valid JSON text.
func depthOf(text []byte) (deepest int) {
	depth, inString := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '[' || c == '{':
			depth++
			deepest = max(deepest, depth)
		case c == ']' || c == '}':
			depth--
		}
	}
	return deepest
}

// decodeMembers lists the members of an object by encoding/json.
func decodeMembers(t *testing.T, object []byte) (names []string, values []json.RawMessage) {
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			t.Fatal(err)
		}
		names = append(names, name.(string))
		values = append(values, value)
	}
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Token(); err != io.EOF {
		t.Fatalf("more behind %q: %v", object, err)
	}
	return names, values
}

// compareEnvelope checks e against the message that text holds.
func compareEnvelope(t *testing.T, text []byte, e *envelope) {
	if !bytes.Equal(e.raw, text) {
		t.Fatalf("%q: raw is %q", text, e.raw)
	}
	want := envelope{}
	if text[0] == '{' {
		names, values := decodeMembers(t, text)
		n := 0
		for name, value := range members(text) {
			if got := Unquote(name); got != names[n] || !bytes.Equal(value, values[n]) {
				t.Fatalf("%q: member %q=%q, want %q=%q", text, got, value, names[n], values[n])
			}
			n++
		}
		if n != len(names) {
			t.Fatalf("%q: %d members, want %d", text, n, len(names))
		}
		want = expect(t, names, values)
	}
	// The reason is checked by the table of cases; here only that there is one.
	if (e.bad != "") != (want.kind == kindInvalid || want.malformed) {
		t.Fatalf("%q: reason %q for %v", text, e.bad, &want)
	}
	got := *e
	got.bad, got.entries = "", 0
	if got.String() != want.String() || (got.id == nil) != (want.id == nil) || (got.method == nil) != (want.method == nil) {
		t.Fatalf("%q:\ngot  %v\nwant %v", text, &got, &want)
	}
}

// expect decides what a message with those members is, in the plainest way.
func expect(t *testing.T, names []string, values []json.RawMessage) (e envelope) {
	last, count := map[string]json.RawMessage{}, map[string]int{}
	for i, name := range names {
		last[name] = values[i]
		count[name]++
	}
	twice := false
	for _, name := range []string{"jsonrpc", "id", "method", "params", "result", "error"} {
		twice = twice || count[name] > 1
	}
	starts := func(name, bytes string) bool {
		return last[name] != nil && strings.ContainsRune(bytes, rune(last[name][0]))
	}
	text := func(name string) (s string) {
		_ = json.Unmarshal(last[name], &s)
		return s
	}

	idOK := starts("id", `"n-0123456789`)
	if idOK && count["id"] == 1 {
		e.id, e.idNull = last["id"], starts("id", "n")
	}
	for i, name := range names { // the last one that is a string
		if v := values[i]; name == "method" && v[0] == '"' {
			e.method = v[1 : len(v)-1]
			e.methodEscaped = bytes.ContainsRune(v, '\\')
		}
	}
	if !starts("params", "n") {
		e.params = last["params"]
	}
	e.result, e.err = last["result"], last["error"]
	e.response = count["method"] == 0 && (e.result != nil || e.err != nil)
	versioned := starts("jsonrpc", `"`) && text("jsonrpc") == "2.0"
	switch {
	case twice:
	case e.response:
		e.kind = kindResponse
		e.malformed = !idOK || !versioned || e.result != nil && e.err != nil || e.err != nil && e.err[0] != '{'
	case count["id"] > 0 && !idOK, !versioned, !starts("method", `"`), e.params != nil && !starts("params", "{["):
	case count["id"] > 0:
		e.kind = kindRequest
	default:
		e.kind = kindNotification
	}
	return e
}
