package field

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// bad are units that are no messages, or messages that cannot be served, and what answers them. Each is followed by a good one.
var bad = []struct{ name, unit, want string }{
	{"16: unknown method", request("7", "no/such", ""), "7:-32601"},
	{"16: wrong version", `{"jsonrpc":"1.0","id":10,"method":"ping"}`, "10:-32600"},
	{"16: no version", `{"id":11,"method":"ping"}`, "11:-32600"},
	{"16: version is a number", `{"jsonrpc":2.0,"id":11,"method":"ping"}`, "11:-32600"},
	{"16: no method", `{"jsonrpc":"2.0","id":12}`, "12:-32600"},
	{"17: no method but params", `{"jsonrpc":"2.0","id":1,"params":{}}`, "1:-32600"},
	{"17: method is a number", `{"jsonrpc":"2.0","id":1,"method":1}`, "1:-32600"},
	{"17: params are a string", `{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}`, "1:-32600"},
	{"17: scalar", `5`, "null:-32600"},
	{"17: string", `"ping"`, "null:-32600"},
	{"17: null", `null`, "null:-32600"},
	{"17: words", `hello`, "null:-32700"},
	{"17: empty object", `{}`, "null:-32600"},
	{"18: FF FE in a string", "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"echo\",\"params\":[\"x\xff\xfe\"]}", "null:-32700"},
	{"18: half a rune", "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"echo\",\"params\":[\"\xf0\x9f\x98\"]}", "null:-32700"},
	{"18: overlong", "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"echo\",\"params\":[\"\xc0\xaf\"]}", "null:-32700"},
	{"18: surrogate in UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"echo\",\"params\":[\"\xed\xa0\x80\"]}", "null:-32700"},
	{"18: in the method", "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"\xff\"}", "null:-32700"},
	{"18: in an ignored member", "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\",\"\xff\":1}", "null:-32700"},
	{"18: UTF-16", "{\x00\"\x00}\x00", "null:-32700"},
	{"33: id is an object", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, "null:-32600"},
	{"33: id is a list", `{"jsonrpc":"2.0","id":[1],"method":"ping"}`, "null:-32600"},
	{"33: id is a bool", `{"jsonrpc":"2.0","id":false,"method":"ping"}`, "null:-32600"},
	{"118: bad JSON", `{"jsonrpc":"2.0","method":"x","params":{bad}}`, "null:-32700"},
	{"118: trailing comma", `{"jsonrpc":"2.0","id":1,"method":"ping",}`, "null:-32700"},
	{"118: cut", `{"jsonrpc":"2.0","id":1,"method":"pi`, "null:-32700"},
	{"119: Method", `{"jsonrpc":"2.0","id":1,"Method":"ping"}`, "1:-32600"},
	{"119: Method beside method", `{"jsonrpc":"2.0","id":1,"method":"ping","Method":"boom","METHOD":"boom"}`, "1:ok"},
	{"119: params with a long s", `{"jsonrpc":"2.0","id":1,"method":"ping","param` + "\u017f" + `":5}`, "1:ok"},
	{"200: NUL at the end of a name", `{"jsonrpc":"2.0","id":1,"method":"ping","method\u0000":"boom"}`, "1:ok"},
	{"200: blank at the end of a name", `{"jsonrpc":"2.0","id":1,"method":"ping","method ":"boom"," method":"boom"}`, "1:ok"},
	{"200: byte order mark in a name", `{"jsonrpc":"2.0","id":1,"method":"ping","\ufeffmethod":"boom"}`, "1:ok"},
	{"200: zero width and combining", `{"jsonrpc":"2.0","id":1,"method":"ping","method\u200b":"boom","metho\u0301d":"boom"}`, "1:ok"},
	{"200: escaped name", `{"jsonrpc":"2.0","id":1,"meth\u006fd":"ping"}`, "1:ok"},
	{"200: the same name escaped", `{"jsonrpc":"2.0","id":1,"method":"ping","meth\u006fd":"boom"}`, "1:-32600"},
	{"200: id twice", `{"jsonrpc":"2.0","id":1,"method":"ping","id":2}`, "null:-32600"},
	{"110: error beside no result", request("3", "no/such", ""), "3:-32601"},
	{"76: handler panics", request("3", "panic", ""), "3:-32603"},
	{"76: handler fails", request("3", "boom", `{"a":1}`), "3:-32603"},
	{"121: id null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, "null:ok"},
	{"121: no id", note("ping", ""), ""},
	{"35: unknown notification", note("notifications/whatever", `{"a":1}`), ""},
	{"199: a little too deep", request("1", "ping", strings.Repeat("[", 512)+strings.Repeat("]", 512)), "null:-32700"},
	{"199: just not too deep", request("1", "ping", strings.Repeat("[", 511)+strings.Repeat("]", 511)), "1:ok"},
	{"199: deep and not closed", strings.Repeat("[", 1<<20), "null:-32700"},
	{"199: deep objects", request("1", "ping", strings.Repeat(`{"a":`, 1<<18)+"1"+strings.Repeat("}", 1<<18)), "null:-32700"},
	{"199: deep in an ignored member", `{"jsonrpc":"2.0","id":1,"method":"ping","x":` + strings.Repeat("[", 1<<18) + strings.Repeat("]", 1<<18) + `}`, "null:-32700"},
	{"199: deep in an id", `{"jsonrpc":"2.0","id":` + strings.Repeat("[", 1<<18) + strings.Repeat("]", 1<<18) + `,"method":"ping"}`, "null:-32700"},
	{"199: deep in a batch", `[` + ping + `,` + strings.Repeat("[", 1<<18) + strings.Repeat("]", 1<<18) + `]`, "null:-32700"},
	{"199: deep in a response", `{"jsonrpc":"2.0","id":1,"result":` + strings.Repeat("[", 1<<18) + strings.Repeat("]", 1<<18) + `}`, "null:-32700"},
	{"199: brackets in a string", request("1", "ping", `["`+strings.Repeat("[{", 1<<18)+`"]`), "1:ok"},
	{"52: not a batch of requests", `[1,{"foo":1},{"jsonrpc":"2.0","id":5,"method":"ping"}]`, "[null:-32600 null:-32600 5:ok]"},
	{"52: three scalars", `[1,2,3]`, "[null:-32600 null:-32600 null:-32600]"},
	{"52: nested", `[[` + ping + `]]`, "[null:-32600]"},
	{"52: ids that can be read", `[{"jsonrpc":"2.0","id":"a"},{"id":7,"method":"ping"}]`, `["a":-32600 7:-32600]`},
	{"49: empty batch", `[]`, "null:-32600"},
	{"50: only notifications", `[` + note("a", "") + `,` + note("note", "") + `]`, ""},
	{"50: only responses", `[{"jsonrpc":"2.0","id":1,"result":1},{"jsonrpc":"2.0","id":2,"result":2}]`, ""},
	{"47: response to nothing", `{"jsonrpc":"2.0","id":424242,"result":{}}`, ""},
	{"47: error to nothing", `{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"m"}}`, ""},
	{"42: error of nothing", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`, ""},
	{"42: response without id", `{"jsonrpc":"2.0","result":1}`, ""},
}

// Every unit is answered as the specification says, once, and the next one is served.
func TestBadUnits(t *testing.T) {
	for _, c := range bad {
		t.Run(c.name, func(t *testing.T) {
			inBoth(t, func(t *testing.T, f jsonrpc2.Framing) {
				k := listen(t, f, plain)
				k.send(c.unit)
				expect(t, "the unit", k.heard(), c.want)
				k.send(request("9", "ping", ""))
				expect(t, "the next one", k.heard(), "9:ok")
				// Both in one read, the bad one last.
				k.send(request("9", "ping", ""), c.unit)
				if got := k.heard(); len(got) == 0 || !strings.Contains(answers(got), "9:ok") {
					t.Errorf("the one before: %q", got)
				}
				if _, err := k.end(); err != nil {
					t.Errorf("Serve: %v", err)
				}
			})
		})
	}
}

// What is decided per unit does not depend on where the reads are cut.
func TestBadUnitsBytewise(t *testing.T) {
	for _, c := range bad {
		if len(c.unit) > 300 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			inBoth(t, func(t *testing.T, f jsonrpc2.Framing) {
				k := listen(t, f, plain)
				k.write(bytewise(frame(f, c.unit))...)
				expect(t, "the unit", k.heard(), c.want)
				_, _ = k.end()
			})
		})
	}
}

// The protocols answer the same, but where they forbid what JSON-RPC allows.
func TestBadUnitsOfProtocols(t *testing.T) {
	for _, c := range []struct{ name, unit, mcp, lsp string }{
		{"16: unknown method", request("7", "no/such", ""), "7:-32601", "7:-32601"},
		{"16: positional params", request("9", "ping", `["a","b"]`), "9:-32602", "9:-32601"},
		{"16: wrong version", `{"jsonrpc":"1.0","id":10,"method":"ping"}`, "10:-32600", "10:-32600"},
		{"16: no method", `{"jsonrpc":"2.0","id":12}`, "12:-32600", "12:-32600"},
		{"18: invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"t\":\"x\xff\xfe\"}}}", "null:-32700", "null:-32700"},
		{"33: id null", request("null", "tools/list", "{}"), "null:-32600", "null:-32600"},
		{"34: id that cannot be read", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, "null:-32600", "null:-32600"},
		{"34: text that cannot be read", `{"jsonrpc":"2.0","id":1`, "null:-32700", "null:-32700"},
		{"35: unknown notification", note("notifications/whatever", ""), "", ""},
		{"49: batch", `[` + request("2", "ping", "") + `,` + request("3", "ping", "") + `]`, "null:-32600", "null:-32600"},
		{"50: batch of notifications", `[` + note("a", "") + `]`, "null:-32600", "null:-32600"},
		{"199: 40,000 levels", request("1", "tools/call", `{"name":"echo","arguments":{"t":`+strings.Repeat("[", 40_000)+strings.Repeat("]", 40_000)+`}}`), "null:-32700", "null:-32700"},
		{"199: 500 levels", request("1", "tools/call", `{"name":"echo","arguments":{"t":`+strings.Repeat("[", 500)+strings.Repeat("]", 500)+`}}`), "1:ok", "1:-32601"},
		{"200: NUL at the end of a name", `{"jsonrpc":"2.0","id":1,"method":"no/such","method\u0000":"tools/list"}`, "1:-32601", "1:-32601"},
		{"121: params null", request("1", "tools/list", "null"), "1:ok", "1:-32601"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := startMCP(t, tools())
				k.send(c.unit)
				expect(t, "MCP", k.heard(), c.mcp)
				k.send(request("4", "ping", ""))
				expect(t, "MCP goes on", k.heard(), "4:ok")
				if _, err := k.end(); err != nil {
					t.Error(err)
				}
				k = startLSP(t, editor())
				k.send(c.unit)
				expect(t, "LSP", k.heard(), c.lsp)
				k.send(request("4", "shutdown", ""))
				expect(t, "LSP goes on", k.heard(), "4:ok")
				if _, err := k.end(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Ids come back as they were written, of every kind, single and in a batch, and two that are equal are two.
func TestIDs(t *testing.T) {
	for name, id := range map[string]string{
		"37: zero": "0", "38: string": `"a-1"`, "38: string of a number": `"1"`, "38: empty string": `""`,
		"35: zero again": "0", "38: float": "1.0", "38: exponent": "1e3", "38: negative zero": "-0", "38: negative": "-5", "38: fraction": "1.5",
		"38: beyond a double": "9007199254740993", "38: beyond an int64": "123456789012345678901234567890", "38: beyond any double": "1e400",
		"38: escapes": `"\u0061\/\n"`, "38: lone surrogate": `"\ud800"`, "38: not ASCII": `"é😀"`, "38: long": `"` + strings.Repeat("x", 5000) + `"`,
	} {
		t.Run(name, func(t *testing.T) {
			inBoth(t, func(t *testing.T, f jsonrpc2.Framing) {
				k := listen(t, f, plain)
				want := `{"jsonrpc":"2.0","id":` + id + `,"result":"pong"}`
				k.send(request(id, "ping", ""), request(id, "ping", ""))
				if got := k.heard(); len(got) != 2 || got[0] != want || got[1] != want {
					t.Errorf("got %s", clip(strings.Join(got, "\n")))
				}
				k.send("[" + request(id, "ping", "") + "," + request(id, "ping", "") + "]")
				if got := k.heard(); len(got) != 1 || got[0] != "["+want+","+want+"]" {
					t.Errorf("got %s", clip(strings.Join(got, "\n")))
				}
				k.send(request(id, "no/such", ""))
				if got := k.heard(); len(got) != 1 || !strings.Contains(got[0], `"id":`+id+`,"error"`) {
					t.Errorf("got %s", clip(strings.Join(got, "\n")))
				}
				_, _ = k.end()
			})
		})
	}
}

// A success always has a result, also null, and an error never has one; text is not escaped beyond what JSON asks for.
func TestRawBytes(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"111: null result", request("1", "null", ""), `{"jsonrpc":"2.0","id":1,"result":null}`},
		{"111: null params echoed", request("1", "echo", "null"), `{"jsonrpc":"2.0","id":1,"result":null}`},
		{"110: error alone", request("3", "no/such", ""), `{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"Method not found"}}`},
		{"110: masked error", request("3", "panic", ""), `{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"Internal error"}}`},
		{"125: HTML", request("2", "echo", `{"s":"<a href=\"x\">&</a>"}`), `{"jsonrpc":"2.0","id":2,"result":{"s":"<a href=\"x\">&</a>"}}`},
		{"125: HTML escaped by the peer", request("2", "echo", `{"s":"\u003ca\u003e\u0026"}`), `{"jsonrpc":"2.0","id":2,"result":{"s":"\u003ca\u003e\u0026"}}`},
		{"125: numbers and blanks as they were", request("2", "echo", `[1.0, 1e400 ,9007199254740993]`), `{"jsonrpc":"2.0","id":2,"result":[1.0, 1e400 ,9007199254740993]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBoth(t, func(t *testing.T, f jsonrpc2.Framing) {
				k := listen(t, f, plain)
				k.send(c.in)
				if got := k.heard(); len(got) != 1 || got[0] != c.want {
					t.Errorf("got %q, want %q", got, c.want)
				}
				_, _ = k.end()
			})
		})
	}
	t.Run("112: shutdown", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			k := startLSP(t, editor())
			k.send(request("4", "shutdown", ""))
			if got := k.heard(); len(got) != 1 || got[0] != `{"jsonrpc":"2.0","id":4,"result":null}` {
				t.Errorf("got %q", got)
			}
			_, _ = k.end()
		})
	})
	t.Run("125: a tool's text", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			k := startMCP(t, tools())
			k.send(call("2", "echo", `{"t":"\u003ca href=\"x\">&</a>"}`))
			if got := k.heard(); len(got) != 1 || !strings.Contains(got[0], `<a href=\"x\">&</a>`) {
				t.Errorf("got %q", got)
			}
			_, _ = k.end()
		})
	})
}
