package vectors

import (
	"strings"
	"testing"
	"time"
)

// vector makes one of its JSON, with the members that every vector has filled in where they are missing.
func vector(t *testing.T, members string) *Vector {
	t.Helper()
	line := `{"id":"v","protocol":"jsonrpc","framing":"line","fixture":"base","in":[],"out":[],` + members + `}`
	if strings.HasPrefix(members, "!") {
		line = members[1:]
	}
	all, err := Load(strings.NewReader(line))
	if err != nil || len(all) != 1 {
		t.Fatal(len(all), err)
	}
	return &all[0]
}

// TestOwnVectors runs what the file of the flag need not have: more of the bad input, the outbound calls and the logs.
func TestOwnVectors(t *testing.T) {
	for _, v := range read(t, "testdata/own.jsonl") {
		t.Run(v.ID, func(t *testing.T) {
			for _, f := range Run(t, &v) {
				t.Errorf("%s: %s", v.ID, f)
			}
		})
	}
}

// TestCannotRun has vectors that the runner must not skip or take for met.
func TestCannotRun(t *testing.T) {
	const ping = `{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}`
	for _, c := range []struct{ name, members, says string }{
		{"no JSON", `!what`, `not a vector`},
		{"no object", `![]`, `not a vector`},
		{"unknown member", `"sleep":5`, `unknown field "sleep"`},
		{"unknown limit", `"opts":{"maxDepth":5}`, `unknown field "maxDepth"`},
		{"unknown protocol", `"protocol":"lsp"`, `unknown protocol "lsp"`},
		{"unknown framing", `"framing":"websocket"`, `unknown framing "websocket"`},
		{"unknown order", `"order":"sorted"`, `unknown order "sorted"`},
		{"unknown batch order", `"batch_order":"sorted"`, `unknown batch_order "sorted"`},
		{"unknown end", `"end":"badly"`, `unknown end "badly"`},
		{"unknown fixture", `"fixture":"mcp-tasks"`, `unknown fixture "mcp-tasks"`},
		{"fixture of the other protocol", `"fixture":"mcp-notes"`, `fixture "mcp-notes" does not speak jsonrpc`},
		{"no out", `"out":null`, `in or out is missing`},
		{"unknown step", `"in":["@sleep 5"]`, `step "@sleep 5": unknown step`},
		{"step without its number", `"in":["@await"]`, `step "@await": takes a number`},
		{"step with too much", `"in":["@close now"]`, `step "@close now": takes nothing`},
		{"call without a method", `"in":["@request a {}"]`, `no method`},
		{"call with something else", `"in":["@request a {\"method\":\"x\",\"id\":1}"]`, `unknown field "id"`},
		{"batch with too few names", `"in":["@batch a [{\"request\":\"x\"},{\"request\":\"y\"}]"]`, `1 names for 2 entries`},
		{"batch with a named notification", `"in":["@batch a [{\"notify\":\"x\"}]"]`, `entry 0 is not what its name says`},
		{"no base64", `"b64":true,"in":["!"]`, `illegal base64`},
		{"call of another name", `"in":["@request a {\"method\":\"x\"}","@cancel b"]`, `no such call`},
		{"a message that never comes", `"in":["` + ping + `","@await 2"]`, `in, element 1, "@await 2": 1 messages have been written: hangs`},
		{"a message that cannot come any more", `"in":["@eof","@await 1"]`, `the connection ended after 0 messages`},
		{"an outcome that never comes", `"in":["@request a {\"method\":\"x\"}","@settled a"]`, `the call has no outcome: hangs`},
		{"an end that never comes", `"in":["@join"]`, `Serve does not return: hangs`},
		{"a second close of the input", `"in":["@eof","@eof","` + ping + `"],"out":[1]`, `out`},
		{"an answer nobody expects", `"in":["` + ping + `"]`, `out`},
	} {
		t.Run(c.name, func(t *testing.T) {
			failures := Run(t, vector(t, c.members))
			for _, f := range failures {
				if strings.Contains(f.String(), c.says) {
					return
				}
			}
			t.Errorf("got %v, want one that says %q", failures, c.says)
		})
	}
}

// A run that is busy is given up in real time, and a panic in it is no end of the others.
func TestGivenUp(t *testing.T) {
	stop, done := make(chan struct{}), make(chan struct{})
	for name, c := range map[string]struct {
		most time.Duration
		run  func() (*observed, error)
		says string
	}{
		"busy": {20 * time.Millisecond, func() (*observed, error) {
			defer close(done)
			<-stop // which is not of the bubble, so the fake clock stands still
			return nil, nil
		}, "v hangs, or is busy"},
		"panic": {busy, func() (*observed, error) { panic("what") }, "what"},
	} {
		t.Run(name, func(t *testing.T) {
			failures := bounded(t, &Vector{ID: "v"}, "Conn", c.most, c.run)
			if len(failures) == 0 || !strings.Contains(failures[len(failures)-1].What, c.says) {
				t.Errorf("got %v", failures)
			}
		})
	}
	close(stop)
	<-done
}

func TestLoad(t *testing.T) {
	all, err := Load(strings.NewReader("\n  \n" + `{"id":"a","protocol":"jsonrpc","framing":"line","fixture":"base","in":["x"],"out":[]}` + "\r\n{}\n" +
		`{"id":"a","protocol":"jsonrpc","framing":"content-length","fixture":"base","in":["ü"],"out":[]}`))
	if err != nil || len(all) != 3 {
		t.Fatal(len(all), err)
	}
	if v := all[0]; v.invalid != nil || string(v.steps[0].Bytes) != "x\n" {
		t.Error(v.invalid, v.steps)
	}
	if v := all[1]; v.ID != "line 4" || v.invalid == nil {
		t.Error(v.ID, v.invalid)
	}
	if v := all[2]; v.invalid == nil || string(v.steps[0].Bytes) != "Content-Length: 2\r\n\r\nü" {
		t.Error(v.invalid, v.steps)
	}
}

// What a peer writes is taken apart as strictly as a strict reader would.
func TestOutput(t *testing.T) {
	for _, c := range []struct {
		name, framing, written, says string
		messages                     int
	}{
		{"lines", "line", "1\n{}\n", "", 2},
		{"line without end", "line", "1\n{}", "an unfinished message", 1},
		{"carriage return", "line", "1\r\n", "carriage return", 1},
		{"blank line", "line", "\n", "blank", 1},
		{"no JSON", "line", "what\n", "not JSON", 1},
		{"two values", "line", "1 2\n", "not JSON", 1},
		{"headers", "content-length", "Content-Length: 1\r\n\r\n1Content-Length: 2\r\n\r\n{}", "", 2},
		{"bytes, not characters", "content-length", "Content-Length: 4\r\n\r\n\"ü\"", "", 1},
		{"characters, not bytes", "content-length", "Content-Length: 3\r\n\r\n\"ü\"", "not JSON", 1},
		{"short body", "content-length", "Content-Length: 3\r\n\r\n{}", "an unfinished message", 0},
		{"second header", "content-length", "Content-Length: 2\r\nX: y\r\n\r\n{}", "header block", 0},
		{"other case", "content-length", "content-length: 2\r\n\r\n{}", "header block", 0},
		{"leading zero", "content-length", "Content-Length: 02\r\n\r\n{}", "header block", 0},
		{"sign", "content-length", "Content-Length: +2\r\n\r\n{}", "header block", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			whole, bytewise := newOutput(c.framing), newOutput(c.framing)
			_, _ = whole.Write([]byte(c.written))
			for i := range len(c.written) {
				_, _ = bytewise.Write([]byte{c.written[i]})
			}
			for _, o := range []*output{whole, bytewise} {
				got, err := o.all()
				if len(got) != c.messages || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
					t.Errorf("got %q, %v; want %d messages and %q", got, err, c.messages, c.says)
				}
			}
		})
	}
}

// Most vectors must run in more ways than one; this guards the rule that says which.
func TestWays(t *testing.T) {
	for _, c := range []struct {
		name, members string
		direct        bool
	}{
		{"message", `"in":["{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"]`, true},
		{"slow handler", `"in":["{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"slow\"}"]`, true},
		{"base64", `"in":["e30="],"b64":true`, true},
		{"broken message", `"in":["{"]`, true},
		{"step", `"in":["@eof"]`, false},
		{"raw", `"in":["{}\n"],"raw":true`, false},
		{"waiting handler", `"in":["{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"wait\"}"]`, false},
		{"waiting handler in a batch", `"in":["[5,{\"jsonrpc\":\"2.0\",\"id\":1,\"m\\u0065thod\":\"run\"}]"]`, false},
		{"two lines", `"in":["{\n}"]`, false},
		{"lines of a frame", `"in":["{\n}"],"framing":"content-length"`, true},
		{"limit in flight", `"opts":{"maxConcurrentInbound":1}`, false},
		{"garbage without handlers", `"in":["{"],"fixture":"none"`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := vector(t, c.members)
			if v.invalid != nil {
				t.Fatal(v.invalid)
			}
			if got := v.direct(fixtures[v.Fixture]); got != c.direct {
				t.Errorf("direct: %t", got)
			}
		})
	}
}
