package field

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// A header field may be spelt as HTTP allows, fields may stand in any order, and unknown ones do not matter.
func TestHeaderSpelling(t *testing.T) {
	frame := func(fields ...string) string { return strings.Join(fields, "\r\n") + "\r\n\r\n" + ping }
	for name, in := range map[string]string{
		"1: lower case":                  frame("content-length:   40"),
		"1: upper case":                  frame("CONTENT-LENGTH: 40"),
		"1: mixed case":                  frame("cOnTeNt-LeNgTh: 40"),
		"1: no blank":                    frame("Content-Length:40"),
		"1: tab":                         frame("Content-Length:\t40"),
		"1: trailing blanks":             frame("Content-Length: 40 \t "),
		"1: leading zeros":               frame("Content-Length: 00040"),
		"3: type after":                  frame("Content-Length: 40", "Content-Type: application/vim-jsonrpc; charset=utf-8"),
		"3: type before":                 frame("Content-Type: application/vim-jsonrpc; charset=utf-8", "Content-Length: 40"),
		"3: type in capitals":            frame("CONTENT-TYPE: APPLICATION/VSCODE-JSONRPC; CHARSET=UTF-8", "Content-Length: 40"),
		"3: type without charset":        frame("Content-Length: 40", "Content-Type: text/plain"),
		"3: quoted charset":              frame(`Content-Type: application/vscode-jsonrpc; charset="utf8"`, "Content-Length: 40"),
		"3: unknown fields all around":   frame("X-Foo: bar", "Content-Length: 40", "X-Empty:", "Content-Length-Hint: 7"),
		"3: a value that looks like one": frame("X-Foo: Content-Length: 7", "Content-Length: 40"),
	} {
		t.Run(name, func(t *testing.T) {
			for _, pieces := range [][]string{{in + in}, bytewise(in + in)} {
				synctest.Test(t, func(t *testing.T) {
					k := listen(t, jsonrpc2.Header, plain)
					k.write(pieces...)
					expect(t, "two frames", k.heard(), "1:ok 1:ok")
					if _, err := k.end(); err != nil {
						t.Error(err)
					}
				})
			}
		})
	}
}

// Lengths are bytes, in and out, wherever the pieces that are read are cut.
func TestBytesNotCharacters(t *testing.T) {
	for name, s := range map[string]string{
		"7: label":                  "测试 😀",
		"9: runes of every length":  "aé你😀aé你😀aé你😀aé你😀aé你😀",
		"9: combining marks":        "e\u0301\u200d\ufe0f",
		"9: as long as its bytes":   "ascii only",
		"9: beyond one chunk":       strings.Repeat("é你😀", 10_000),
		"9: escapes count as bytes": `\u00e9\ud83d\ude00`,
		"9: the last plane":         "\U0010ffff",
	} {
		t.Run(name, func(t *testing.T) {
			inBoth(t, func(t *testing.T, f jsonrpc2.Framing) {
				k := listen(t, f, plain)
				message := request("2", "echo", `{"s":"`+s+`"}`)
				want := `{"jsonrpc":"2.0","id":2,"result":{"s":"` + s + `"}}`
				k.send(message, message) // two frames in one write
				if len(s) < 1000 {
					k.write(bytewise(frame(f, message))...)
					k.write(bytewise(frame(f, message))...)
				}
				got := k.heard()
				if len(got) != 2 && len(got) != 4 {
					t.Errorf("%d answers", len(got))
				}
				for _, m := range got {
					if m != want {
						t.Errorf("got %s", clip(m))
					}
				}
				if _, err := k.end(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Only the byte 0x0A ends a line. What else Unicode calls a line end is text.
func TestOnlyLineFeedEndsALine(t *testing.T) {
	for name, s := range map[string]string{
		"19: U+2028":                        "a\u2028b",
		"19: U+2029":                        "a\u2029b\u2029",
		"20: NEL":                           "a\u0085b",
		"20: escaped VT":                    `a\u000bb`,
		"20: escaped FF, CR, LF":            `a\f\r\nb`,
		"20: separators of files":           `a\u001c\u001d\u001e\u001fb`,
		"20: an escaped backslash before n": `a\\nb`,
	} {
		t.Run(name, func(t *testing.T) {
			inBoth(t, func(t *testing.T, f jsonrpc2.Framing) {
				k := listen(t, f, plain)
				k.send(request("2", "echo", `{"s":"`+s+`"}`))
				if got, want := k.heard(), `{"jsonrpc":"2.0","id":2,"result":{"s":"`+s+`"}}`; len(got) != 1 || got[0] != want {
					t.Errorf("got %q, want %q", got, want)
				}
				// A client reads it too.
				p := k.conn.Go(t.Context(), "ask", []string{s})
				sent := k.heard()
				k.send(`{"jsonrpc":"2.0","id":1,"result":"` + s + `"}`)
				k.heard()
				if got, err := p.Result(); err != nil || string(got) != `"`+s+`"` || len(sent) != 1 {
					t.Errorf("got %s, %v", got, err)
				}
				if _, err := k.end(); err != nil {
					t.Error(err)
				}
			})
		})
	}
	t.Run("20: raw control characters are no JSON", func(t *testing.T) {
		inBoth(t, func(t *testing.T, f jsonrpc2.Framing) {
			k := listen(t, f, plain)
			k.send(request("2", "echo", "{\"s\":\"a\vb\"}"), request("3", "echo", "{\"s\":\"a\rb\"}"), ping)
			expect(t, "control characters", k.heard(), "1:ok null:-32700 null:-32700")
			_, _ = k.end()
		})
	})
}

// A line is one unit: one JSON value, or one parse error, whatever stands behind the value; at the end of the input it need not be ended.
func TestLineIsOneUnit(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"15: comma behind", ping + ",\n" + request("3", "ping", "") + "\n", "3:ok null:-32700"},
		{"15: bracket behind", ping + "]\n" + request("3", "ping", "") + "\n", "3:ok null:-32700"},
		{"15: semicolon, comment", ping + ";\n" + ping + "//x\n" + request("3", "ping", "") + "\n", "3:ok null:-32700 null:-32700"},
		{"15: NUL behind", ping + "\x00\n" + request("3", "ping", "") + "\n", "3:ok null:-32700"},
		{"28: two objects", ping + request("2", "ping", ""), "null:-32700"},
		{"28: two objects with a blank", ping + " " + request("2", "ping", "") + "\n", "null:-32700"},
		{"28: one object, no line end", ping, "1:ok"},
		{"28: one object, CR at the end", ping + "\r", "1:ok"},
		{"28: half an object", ping + "\n" + `{"jsonrpc":"2.0","id":2,`, "1:ok null:-32700"},
		{"28: a batch, no line end", "[" + ping + "]", "[1:ok]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, pieces := range [][]string{{c.in}, bytewise(c.in)} {
				synctest.Test(t, func(t *testing.T) {
					k := listen(t, jsonrpc2.Lines, plain)
					k.write(pieces...)
					before := k.heard()
					after, err := k.end()
					expect(t, "answers", append(before, after...), c.want)
					if err != nil {
						t.Errorf("Serve: %v", err)
					}
				})
			}
		})
	}
}

// Where framing is lost nothing is written and the error says which header or how many bytes; memory does not follow what was announced.
func TestFramingLost(t *testing.T) {
	for _, c := range []struct{ name, in, says string }{
		{"24: two gigabytes", "Content-Length: 2147483647\r\n\r\n{}", "Content-Length"},
		{"24: more than any number", "Content-Length: 99999999999999999999\r\n\r\n{}", "Content-Length"},
		{"24: negative", "Content-Length: -1\r\n\r\n{}", "Content-Length"},
		{"24: plus", "Content-Length: +3\r\n\r\n{}", "Content-Length"},
		{"24: hexadecimal", "Content-Length: 0x10\r\n\r\n{}", "Content-Length"},
		{"24: exponent", "Content-Length: 1e3\r\n\r\n{}", "Content-Length"},
		{"24: fraction", "Content-Length: 2.5\r\n\r\n{}", "Content-Length"},
		{"24: nothing", "Content-Length: \r\n\r\n{}", "Content-Length"},
		{"24: two that differ", "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "Content-Length"},
		{"24: header after header", "Content-Length: 2\r\n\r\nContent-Length: 40\r\n\r\n" + ping, "Content-Length"},
		{"24: none", "Content-Type: application/json\r\n\r\n{}", "Content-Length"},
		{"25: header without end", "Content-Length: " + strings.Repeat("9", 1<<20), "header"},
		{"25: many headers without end", strings.Repeat("X-Header: value\r\n", 1<<16), "header"},
		{"24: too short a length", "Content-Length: 39\r\n\r\n" + ping + frame(jsonrpc2.Header, ping), "header"},
		{"27: lines", ping + "\n", "lines"},
		{"28: end in a header", "Content-Len", "header"},
		{"28: end in a body", "Content-Length: 107\r\n\r\n{}", "105 of 107 bytes missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := listen(t, jsonrpc2.Header, plain)
				k.write(c.in)
				got, err := k.end()
				var lost *jsonrpc2.FrameError
				if !errors.As(err, &lost) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("Serve returned %v, want a FrameError with %q", err, c.says)
				}
				if strings.Contains(c.name, "short") { // the cut message was answered, as it was one
					expect(t, "before", got, "null:-32700")
				} else if len(got) > 0 && !strings.Contains(c.name, "after header") {
					t.Errorf("%q was written", got)
				}
			})
		})
	}
}

// A peer that announces a lot and sends little, or sends a header without end, is not read on, nor is memory taken for what has not come.
func TestHugeAnnouncementCostsNothing(t *testing.T) {
	const most = 1 << 20 // bytes that may be taken, or allocated
	for name, c := range map[string]struct{ first, more string }{
		"24: the largest message":   {"Content-Length: 16777216\r\n\r\n", ""},
		"24: the largest refused":   {"Content-Length: 1073741824\r\n\r\n", ""},
		"25: header line of 50 MB":  {"Content-Length: ", strings.Repeat("9", 4096)},
		"25: header block of 50 MB": {"X: y\r\n", strings.Repeat("X: y\r\n", 600)},
		"25: header name of 50 MB":  {"", strings.Repeat("X", 4096)},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r, w := io.Pipe()
			conn := jsonrpc2.NewConn(jsonrpc2.Open(jsonrpc2.Join(r, io.Discard), jsonrpc2.Header), jsonrpc2.NewMux(), nil)
			served := make(chan error, 1)
			go func() { served <- conn.Serve(context.Background()) }()
			_, _ = io.WriteString(w, c.first)
			for taken := 0; c.more != "" && taken < 50_000_000; {
				n, err := io.WriteString(w, c.more)
				if taken += n; err != nil {
					if taken > most {
						t.Errorf("%d bytes were taken", taken)
					}
					break
				}
			}
			_ = w.Close()
			if err := <-served; err == nil {
				t.Error("Serve returned no error")
			}
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > most {
				t.Errorf("%d bytes were allocated", n)
			}
		})
	}
}

// A message over the limit is skipped and answered, and the next one is served; one at the limit is a message like any other.
func TestMessagesOverTheLimit(t *testing.T) {
	inBoth(t, func(t *testing.T, f jsonrpc2.Framing) {
		for size, want := range map[int]string{399: "1:ok 2:ok", 400: "1:ok 2:ok", 401: "2:ok null:-32600", 402: "2:ok null:-32600", 4000: "2:ok null:-32600", 25_600: "2:ok null:-32600"} {
			k := listen(t, f, plain, func(o *jsonrpc2.Options) { o.MaxFrame = 400 })
			message := request("1", "ping", `["`+strings.Repeat("x", size-len(request("1", "ping", `[""]`)))+`"]`)
			k.send(message, request("2", "ping", ""))
			expect(t, fmt.Sprint(size), k.heard(), want)
			if got, err := k.end(); err != nil || len(got) > 0 {
				t.Errorf("%d: %q, %v", size, got, err)
			}
		}
	})
	for _, f := range framings { // in Header framing one so large that skipping it would be no use ends the connection, with an error
		synctest.Test(t, func(t *testing.T) {
			k := listen(t, f, plain, func(o *jsonrpc2.Options) { o.MaxFrame = 100 })
			k.send(strings.Repeat("x", 6401), ping)
			got, err := k.end()
			var lost *jsonrpc2.FrameError
			if f == jsonrpc2.Lines {
				expect(t, "line", got, "1:ok null:-32600")
			} else if !errors.As(err, &lost) || len(got) > 0 {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// What is legal is served, however odd.
func TestOddButLegal(t *testing.T) {
	line, header := jsonrpc2.Lines, jsonrpc2.Header
	for _, c := range []struct {
		name    string
		framing jsonrpc2.Framing
		in      string
	}{
		{"byte order mark", line, "\ufeff" + ping + "\n"},
		{"byte order mark before a header", header, "\ufeff" + frame(header, ping)},
		{"CRLF", line, ping + "\r\n"},
		{"blank lines", line, "\n\r\n \t\n" + ping + "\n\n"},
		{"blanks around", line, " \t" + ping + " \t\n"},
		{"carriage returns between tokens", line, strings.ReplaceAll(ping, ",", ",\r") + "\n"},
		{"line breaks in a body", header, frame(header, strings.ReplaceAll(ping, ",", ",\r\n"))},
		{"lower-case header", header, "content-length: 40\r\n\r\n" + ping},
		{"unknown members", line, `{"jsonrpc":"2.0","id":1,"method":"ping","x":{"y":[]},"result":1}` + "\n"},
		{"params null", line, request("1", "ping", "null") + "\n"},
		{"lone surrogate", line, request("1", "echo", `["\ud800"]`) + "\n"},
		{"number beyond a double", line, request("1", "echo", `[1e400]`) + "\n"},
		{"members of params twice", line, request("1", "echo", `{"a":1,"a":2}`) + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, pieces := range [][]string{{c.in}, bytewise(c.in)} {
				synctest.Test(t, func(t *testing.T) {
					k := listen(t, c.framing, plain)
					k.write(pieces...)
					expect(t, "answers", k.heard(), "1:ok")
					if got, err := k.end(); err != nil || len(got) > 0 {
						t.Errorf("%q, %v", got, err)
					}
				})
			}
		})
	}
}

// A frame is written completely or not at all, whatever ends the call that it belongs to.
func TestCancelledCallsTearNothing(t *testing.T) {
	for _, f := range framings {
		t.Run(fmt.Sprintf("30: %s", f), func(t *testing.T) { cancelStress(t, f, 5000) })
	}
}
