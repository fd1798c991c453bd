package jsonrpc2

import (
	"fmt"
	"strings"
	"testing"
)

// String writes an envelope as the tables below do: the kind and each member
// that is there.
func (e *envelope) String() string {
	var b strings.Builder
	b.WriteString([...]string{"invalid", "request", "notification", "response"}[e.kind])
	for _, m := range []struct {
		name  string
		value []byte
	}{{"id", e.id}, {"method", e.method}, {"params", e.params}, {"result", e.result}, {"error", e.err}} {
		if m.value != nil {
			fmt.Fprintf(&b, " %s=%s", m.name, m.value)
		}
	}
	for _, m := range []struct {
		name string
		set  bool
	}{{"idNull", e.idNull}, {"escaped", e.methodEscaped}, {"response", e.response}, {"malformed", e.malformed}} {
		if m.set {
			b.WriteString(" " + m.name)
		}
	}
	if e.bad != "" {
		b.WriteString(": " + e.bad)
	}
	return b.String()
}

// envelopeCases are single messages and what they are taken for.
var envelopeCases = []struct{ name, text, want string }{
	// Section 4: requests and notifications.
	{"request", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `request id=1 method=ping`},
	{"request with params", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1]}}`, `request id=1 method=m params={"a":[1]}`},
	{"positional params", `{"jsonrpc":"2.0","id":1,"method":"m","params":[ 1, 2 ]}`, `request id=1 method=m params=[ 1, 2 ]`},
	{"empty array params", `{"jsonrpc":"2.0","id":1,"method":"m","params":[]}`, `request id=1 method=m params=[]`},
	{"empty object params", `{"jsonrpc":"2.0","id":1,"method":"m","params":{}}`, `request id=1 method=m params={}`},
	{"null params are absent", `{"jsonrpc":"2.0","id":1,"method":"m","params":null}`, `request id=1 method=m`},
	{"notification", `{"jsonrpc":"2.0","method":"m"}`, `notification method=m`},
	{"notification with params", `{"jsonrpc":"2.0","method":"m","params":[1]}`, `notification method=m params=[1]`},
	{"members in another order", `{"params":[1],"method":"m","id":"x","jsonrpc":"2.0"}`, `request id="x" method=m params=[1]`},
	{"white space", " \t\r\n{ \"jsonrpc\" : \"2.0\" ,\n \"id\" : 1 , \"method\" : \"m\" , \"params\" : [ 1 ] } \n", `request id=1 method=m params=[ 1 ]`},
	{"empty method", `{"jsonrpc":"2.0","id":3,"method":""}`, `request id=3 method=`},
	{"reserved method", `{"jsonrpc":"2.0","id":3,"method":"rpc.discover"}`, `request id=3 method=rpc.discover`},
	{"escaped method", `{"jsonrpc":"2.0","id":3,"method":"a\/b"}`, `request id=3 method=a\/b escaped`},
	{"method with quote", `{"jsonrpc":"2.0","id":3,"method":"\""}`, `request id=3 method=\" escaped`},
	{"unknown members", `{"jsonrpc":"2.0","id":1,"method":"m","extra":{"id":2,"method":"n"},"meta":null}`, `request id=1 method=m`},
	{"unknown members twice", `{"x":1,"x":2,"jsonrpc":"2.0","id":1,"method":"m"}`, `request id=1 method=m`},
	{"beyond a double", `{"jsonrpc":"2.0","id":1,"method":"m","params":[1e400]}`, `request id=1 method=m params=[1e400]`},
	{"lone surrogate", `{"jsonrpc":"2.0","id":1,"method":"m","params":["\ud800"]}`, `request id=1 method=m params=["\ud800"]`},
	{"method wins over result", `{"jsonrpc":"2.0","id":1,"method":"m","result":5}`, `request id=1 method=m result=5`},
	{"method wins over error", `{"jsonrpc":"2.0","method":"m","error":null}`, `notification method=m error=null`},

	// Ids: any string, number or null, as text.
	{"id 0", `{"jsonrpc":"2.0","id":0,"method":"m"}`, `request id=0 method=m`},
	{"id -0", `{"jsonrpc":"2.0","id":-0,"method":"m"}`, `request id=-0 method=m`},
	{"id negative", `{"jsonrpc":"2.0","id":-7,"method":"m"}`, `request id=-7 method=m`},
	{"id empty string", `{"jsonrpc":"2.0","id":"","method":"m"}`, `request id="" method=m`},
	{"id numeric string", `{"jsonrpc":"2.0","id":"1","method":"m"}`, `request id="1" method=m`},
	{"id 1.0", `{"jsonrpc":"2.0","id":1.0,"method":"m"}`, `request id=1.0 method=m`},
	{"id 1e3", `{"jsonrpc":"2.0","id":1e3,"method":"m"}`, `request id=1e3 method=m`},
	{"id 1.5", `{"jsonrpc":"2.0","id":1.5,"method":"m"}`, `request id=1.5 method=m`},
	{"id 2^53+1", `{"jsonrpc":"2.0","id":9007199254740993,"method":"m"}`, `request id=9007199254740993 method=m`},
	{"id beyond 64 bits", `{"jsonrpc":"2.0","id":9223372036854775809,"method":"m"}`, `request id=9223372036854775809 method=m`},
	{"id beyond a double", `{"jsonrpc":"2.0","id":1e400,"method":"m"}`, `request id=1e400 method=m`},
	{"id with escape", `{"jsonrpc":"2.0","id":"\u0031","method":"m"}`, `request id="\u0031" method=m`},
	{"id null", `{"jsonrpc":"2.0","id":null,"method":"m"}`, `request id=null method=m idNull`},
	{"id object", `{"jsonrpc":"2.0","id":{"a":1},"method":"m"}`, `invalid method=m: id is not a string, number or null`},
	{"id array", `{"jsonrpc":"2.0","id":[1],"method":"m"}`, `invalid method=m: id is not a string, number or null`},
	{"id true", `{"jsonrpc":"2.0","id":true,"method":"m"}`, `invalid method=m: id is not a string, number or null`},
	{"id false", `{"jsonrpc":"2.0","id":false,"method":"m"}`, `invalid method=m: id is not a string, number or null`},

	// Names match exactly, after unescaping.
	{"escaped name", `{"jsonrpc":"2.0","id":1,"m\u0065thod":"m"}`, `request id=1 method=m`},
	{"name all escaped", `{"\u006A\u0073\u006f\u006e\u0072\u0070\u0063":"2.0","id":1,"method":"m"}`, `request id=1 method=m`},
	{"Method beside method", `{"jsonrpc":"2.0","id":1,"Method":"other","method":"m"}`, `request id=1 method=m`},
	{"method beside METHOD", `{"jsonrpc":"2.0","id":1,"method":"m","METHOD":"other"}`, `request id=1 method=m`},
	{"only Method", `{"jsonrpc":"2.0","id":1,"Method":"m"}`, `invalid id=1: message has no method, result or error`},
	{"ID is unknown", `{"jsonrpc":"2.0","ID":1,"method":"m"}`, `notification method=m`},
	{"folding letters", `{"jsonrpc":"2.0","method":"m","param` + "\u017f" + `":[1]}`, `notification method=m`},
	{"name with NUL", `{"jsonrpc":"2.0","id":1,"method":"m","method\u0000":"other"}`, `request id=1 method=m`},
	{"name with blank", `{"jsonrpc":"2.0","id":1,"method":"m"," method":"other"}`, `request id=1 method=m`},
	{"long escaped name", `{"jsonrpc":"2.0","id":1,"method":"m","` + strings.Repeat(`\u0069`, 50) + `":"other"}`, `request id=1 method=m`},
	{"surrogates in name", `{"jsonrpc":"2.0","id":1,"method":"m","\ud800d":"other"}`, `request id=1 method=m`},

	// Wrong types.
	{"version 1.0", `{"jsonrpc":"1.0","id":1,"method":"m"}`, `invalid id=1 method=m: jsonrpc is not "2.0"`},
	{"version as number", `{"jsonrpc":2.0,"id":1,"method":"m"}`, `invalid id=1 method=m: jsonrpc is not "2.0"`},
	{"version null", `{"jsonrpc":null,"id":1,"method":"m"}`, `invalid id=1 method=m: jsonrpc is not "2.0"`},
	{"version missing", `{"id":1,"method":"m"}`, `invalid id=1 method=m: jsonrpc is not "2.0"`},
	{"version with blank", `{"jsonrpc":"2.0 ","id":1,"method":"m"}`, `invalid id=1 method=m: jsonrpc is not "2.0"`},
	{"version escaped", `{"jsonrpc":"2\u002e0","id":1,"method":"m"}`, `request id=1 method=m`},
	{"version escaped and wrong", `{"jsonrpc":"2\u002e1","id":1,"method":"m"}`, `invalid id=1 method=m: jsonrpc is not "2.0"`},
	{"version wrong without id", `{"jsonrpc":"1.0","method":"m"}`, `invalid method=m: jsonrpc is not "2.0"`},
	{"method number", `{"jsonrpc":"2.0","id":3,"method":42}`, `invalid id=3: method is not a string`},
	{"method null", `{"jsonrpc":"2.0","id":3,"method":null}`, `invalid id=3: method is not a string`},
	{"method object", `{"jsonrpc":"2.0","id":3,"method":{"a":1}}`, `invalid id=3: method is not a string`},
	{"method number beside result", `{"jsonrpc":"2.0","id":3,"method":42,"result":1}`, `invalid id=3 result=1: method is not a string`},
	{"params string", `{"jsonrpc":"2.0","id":4,"method":"m","params":"bar"}`, `invalid id=4 method=m params="bar": params is not an object or array`},
	{"params number", `{"jsonrpc":"2.0","id":4,"method":"m","params":42}`, `invalid id=4 method=m params=42: params is not an object or array`},
	{"params true", `{"jsonrpc":"2.0","id":4,"method":"m","params":true}`, `invalid id=4 method=m params=true: params is not an object or array`},
	{"params number without id", `{"jsonrpc":"2.0","method":"m","params":42}`, `invalid method=m params=42: params is not an object or array`},
	{"spec example", `{"jsonrpc": "2.0", "method": 1, "params": "bar"}`, `invalid params="bar": method is not a string`},
	{"id null and wrong version", `{"jsonrpc":"1.0","id":null,"method":"m"}`, `invalid id=null method=m idNull: jsonrpc is not "2.0"`},
	{"nothing", `{}`, `invalid: message has no method, result or error`},
	{"foreign object", `{"foo":"boo"}`, `invalid: message has no method, result or error`},
	{"only an id", `{"jsonrpc":"2.0","id":7}`, `invalid id=7: message has no method, result or error`},
	{"object like a batch", `{"0":{"jsonrpc":"2.0","id":1,"method":"m"}}`, `invalid: message has no method, result or error`},

	// Scalars.
	{"number", `42`, `invalid: message is not an object`},
	{"string", `"ping"`, `invalid: message is not an object`},
	{"true", `true`, `invalid: message is not an object`},
	{"null", ` null `, `invalid: message is not an object`},

	// Repeated members.
	{"id twice", `{"jsonrpc":"2.0","id":1,"id":1,"method":"m"}`, `invalid method=m: duplicate member id`},
	{"id null twice", `{"jsonrpc":"2.0","id":null,"id":null,"method":"m"}`, `invalid method=m: duplicate member id`},
	{"id twice, one escaped", `{"jsonrpc":"2.0","id":1,"method":"m","\u0069d":2}`, `invalid method=m: duplicate member id`},
	{"method twice", `{"jsonrpc":"2.0","id":1,"method":"m","method":"m"}`, `invalid id=1 method=m: duplicate member method`},
	{"method twice, one escaped", `{"jsonrpc":"2.0","method":"m","id":1,"m\u0065thod":"n"}`, `invalid id=1 method=n: duplicate member method`},
	{"params twice", `{"jsonrpc":"2.0","id":1,"method":"m","params":[],"params":{}}`, `invalid id=1 method=m params={}: duplicate member params`},
	{"params null twice", `{"jsonrpc":"2.0","id":1,"method":"m","params":null,"params":null}`, `invalid id=1 method=m: duplicate member params`},
	{"jsonrpc twice", `{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"m"}`, `invalid id=1 method=m: duplicate member jsonrpc`},
	{"result twice beside method", `{"jsonrpc":"2.0","id":1,"method":"m","result":1,"result":1}`, `invalid id=1 method=m result=1: duplicate member result`},
	{"error twice beside method", `{"jsonrpc":"2.0","id":1,"method":"m","error":1,"error":1}`, `invalid id=1 method=m error=1: duplicate member error`},
	{"result twice", `{"jsonrpc":"2.0","id":1,"result":1,"result":2}`, `invalid id=1 result=2 response: duplicate member result`},
	{"error twice", `{"jsonrpc":"2.0","id":1,"error":{},"error":{}}`, `invalid id=1 error={} response: duplicate member error`},
	{"id and method twice", `{"jsonrpc":"2.0","id":1,"id":2,"method":"m","method":"m"}`, `invalid method=m: duplicate member id`},
	{"method twice, object id", `{"jsonrpc":"2.0","id":{},"method":"m","method":"m"}`, `invalid method=m: duplicate member method`},
	{"repeated inside params", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1,"a":2}}`, `request id=1 method=m params={"a":1,"a":2}`},

	// Section 5: responses.
	{"result", `{"jsonrpc":"2.0","id":1,"result":{"a":1}}`, `response id=1 result={"a":1} response`},
	{"result null", `{"jsonrpc":"2.0","id":1,"result":null}`, `response id=1 result=null response`},
	{"error", `{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":"x"}}`, `response id="a" error={"code":1,"message":"x"} response`},
	{"error without usable id", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`, `response id=null error={"code":-32700,"message":"x"} idNull response`},
	{"id as float", `{"jsonrpc":"2.0","id":1.0,"result":1}`, `response id=1.0 result=1 response`},
	{"response of version 1.0", `{"jsonrpc":"1.0","id":1,"result":1}`, `response id=1 result=1 response malformed: jsonrpc is not "2.0"`},
	{"response without version", `{"id":1,"result":1}`, `response id=1 result=1 response malformed: jsonrpc is not "2.0"`},
	{"result and error", `{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":"x"}}`, `response id=1 result=1 error={"code":1,"message":"x"} response malformed: response has both result and error`},
	{"result and null error", `{"jsonrpc":"2.0","id":1,"result":1,"error":null}`, `response id=1 result=1 error=null response malformed: response has both result and error`},
	{"error null", `{"jsonrpc":"2.0","id":1,"error":null}`, `response id=1 error=null response malformed: error is not an object`},
	{"error string", `{"jsonrpc":"2.0","id":1,"error":"x"}`, `response id=1 error="x" response malformed: error is not an object`},
	{"response without id", `{"jsonrpc":"2.0","result":1}`, `response result=1 response malformed: response has no id`},
	{"response with object id", `{"jsonrpc":"2.0","id":{},"result":1}`, `response result=1 response malformed: id is not a string, number or null`},
}

func TestScanMessage(t *testing.T) {
	for _, c := range envelopeCases {
		t.Run(c.name, func(t *testing.T) {
			e := envelope{id: []byte("stale"), params: []byte("stale"), bad: "stale", entries: 3, idNull: true, malformed: true}
			isBatch, err := scanMessage([]byte(c.text), 512, &e)
			if err != nil || isBatch {
				t.Fatalf("got %v, %v", isBatch, err)
			}
			if got := e.String(); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if want := strings.Trim(c.text, " \t\r\n"); string(e.raw) != want {
				t.Errorf("raw is %q, want %q", e.raw, want)
			}
			if e.entries != 0 {
				t.Errorf("%d entries", e.entries)
			}
		})
	}
}

// TestScanBatch wraps every message of the table above into batches: an entry is
// taken for the same as the message alone.
func TestScanBatch(t *testing.T) {
	for _, c := range envelopeCases {
		for _, around := range []string{"[%]", " [ % ] ", "[0,%,[[]]]", `[ {} , % , {"jsonrpc":"2.0","method":"x"} ]`} {
			frame := []byte(strings.Replace(around, "%", c.text, 1))
			var e envelope
			isBatch, err := scanMessage(frame, 512, &e)
			if !isBatch || err != nil {
				t.Fatalf("%s: %v, %v", frame, isBatch, err)
			}
			if string(e.raw) != strings.Trim(string(frame), " ") {
				t.Errorf("raw is %q", e.raw)
			}
			want := 1 + 2*strings.Count(around, ",%")
			if strings.Contains(around, " , ") {
				want = 3
			}
			if e.entries != want {
				t.Errorf("%s: %d entries, want %d", frame, e.entries, want)
			}
			n, at := 0, want/2
			scanBatch(frame, &e, func() bool {
				if n == at {
					if got := e.String(); got != c.want {
						t.Errorf("%s: got  %s\nwant %s", c.name, got, c.want)
					}
					if string(e.raw) != strings.Trim(c.text, " \t\r\n") {
						t.Errorf("%s: raw is %q", c.name, e.raw)
					}
				}
				n++
				return true
			})
			if n != want {
				t.Errorf("%s: %d entries yielded, want %d", frame, n, want)
			}
		}
	}
}

func TestScanBatchShapes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`[]`, ""},
		{` [ ] `, ""},
		{`[1]`, "invalid: message is not an object"},
		{`[1,"a",null]`, strings.Repeat("\ninvalid: message is not an object", 3)[1:]},
		{`[[{"jsonrpc":"2.0","id":1,"method":"m"}]]`, "invalid: message is not an object"},
		{`[1,[],{"jsonrpc":"2.0","id":7}]`, "invalid: message is not an object\ninvalid: message is not an object\ninvalid id=7: message has no method, result or error"},
		{`[{"jsonrpc":"2.0","id":1,"method":"m"},{"jsonrpc":"2.0","id":2,"result":3}]`, "request id=1 method=m\nresponse id=2 result=3 response"},
	} {
		var e envelope
		if isBatch, err := scanMessage([]byte(c.text), 512, &e); !isBatch || err != nil || e.kind != kindInvalid || e.id != nil {
			t.Errorf("%s: %v, %v, %v", c.text, isBatch, err, &e)
		}
		entries := e.entries
		var got []string
		scanBatch([]byte(c.text), &e, func() bool { got = append(got, e.String()); return true })
		if strings.Join(got, "\n") != c.want || len(got) != entries {
			t.Errorf("%s: got %d entries %q", c.text, entries, got)
		}
		n := 0
		scanBatch([]byte(c.text), &e, func() bool { n++; return false })
		if n != min(1, entries) {
			t.Errorf("%s: %d entries after the walk was stopped", c.text, n)
		}
	}
}

func TestBatchDepth(t *testing.T) {
	frame := []byte(`[{"a":[[]]}]`)
	var e envelope
	if _, err := scanMessage(frame, 4, &e); err != nil {
		t.Error(err)
	}
	if _, err := scanMessage(frame, 3, &e); err == nil {
		t.Error("a batch that nests too deep is accepted")
	}
	if _, err := scanMessage([]byte("[]"), 0, &e); err == nil {
		t.Error("an array is accepted at depth 0")
	}
}

// TestScanAllocation holds the promise that reading an envelope costs no heap.
func TestScanAllocation(t *testing.T) {
	for _, c := range envelopeCases {
		frame := []byte(c.text)
		batch := []byte("[" + c.text + "," + c.text + "]")
		var e envelope
		if n := testing.AllocsPerRun(10, func() {
			scanMessage(frame, 512, &e)
			scanMessage(batch, 512, &e)
			scanBatch(batch, &e, func() bool { return true })
		}); n != 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
	deep := []byte(strings.Repeat("[", 512) + strings.Repeat("]", 512))
	var e envelope
	if n := testing.AllocsPerRun(10, func() { scanMessage(deep, 512, &e) }); n != 0 {
		t.Errorf("512 levels: %v allocations", n)
	}
}

// The frames of the benchmarks: a short call, one of 4 KiB whose text has some
// escapes, and one of 1 MiB.
var (
	smallFrame  = []byte(`{"jsonrpc":"2.0","id":12345,"method":"tools/call","params":{"name":"search","arguments":{"query":"broken links in notes","limit":500,"tags":["a","b"]},"_meta":{"progressToken":12345}}}`)
	mediumFrame = []byte(`{"jsonrpc":"2.0","id":12345,"method":"echo","params":{"text":"` + strings.Repeat(`The quick brown fox said \"jump\" over the lazy dog.\n`+strings.Repeat("plain text ", 13), 21)[:4000] + `"}}`)
	largeFrame  = []byte(`{"jsonrpc":"2.0","id":12345,"method":"echo","params":{"text":"` + strings.Repeat("abcdefghijklmnop", 1<<16) + `"}}`)
	wideFrame   = []byte(`{"jsonrpc":"2.0","id":12345,"method":"echo","params":{"text":"` + strings.Repeat("\u6e2c\u8a66 text \U0001F600 ", 200) + `"}}`)
	batchFrame  = []byte("[" + strings.Repeat(string(smallFrame)+",", 9) + string(smallFrame) + "]")
)

func BenchmarkScan(b *testing.B) {
	for _, c := range []struct {
		name  string
		frame []byte
	}{
		{"184B", smallFrame}, {"4KiB", mediumFrame}, {"1MiB", largeFrame}, {"wide", wideFrame},
		{"ping", []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)},
		{"response", []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"hello, world"}]}}`)},
		{"pretty", []byte("{\n    \"jsonrpc\": \"2.0\",\n    \"id\": 1,\n    \"method\": \"m\",\n    \"params\": {\n        \"a\": [\n            1,\n            2\n        ]\n    }\n}")},
		{"numbers", []byte(`{"jsonrpc":"2.0","id":1,"result":{"data":[` + strings.Repeat("0,12,5,1234,0,", 300) + `0]}}`)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.frame)))
			var e envelope
			for b.Loop() {
				if _, err := scanMessage(c.frame, 512, &e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkScanBatch(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(int64(len(batchFrame)))
	var e envelope
	n := 0
	for b.Loop() {
		if _, err := scanMessage(batchFrame, 512, &e); err != nil {
			b.Fatal(err)
		}
		scanBatch(batchFrame, &e, func() bool { n++; return true })
	}
}
