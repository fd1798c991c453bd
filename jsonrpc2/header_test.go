package jsonrpc2

import (
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

func TestHeader(t *testing.T) {
	const tooLarge, foreign = "<Message too large>", "<Invalid Request>"
	max := func(n int) limits { return limits{maxFrame: n} }
	frame := func(header string) string { return header + "\r\n\r\n{}" }
	next := "Content-Length: 1\r\n\r\n7"
	one := []string{"{}"}
	runFraming(t, Header, []framingCase{
		{name: "empty input"},
		{name: "one", in: frame("Content-Length: 2"), want: one},
		{name: "two", in: frame("Content-Length: 2") + next, want: []string{"{}", "7"}},
		{name: "lower case", in: frame("content-length: 2"), want: one},
		{name: "upper case", in: frame("CONTENT-LENGTH: 2"), want: one},
		{name: "mixed case", in: frame("cOnTeNt-LeNgTh: 2"), want: one},
		{name: "no blank", in: frame("Content-Length:2"), want: one},
		{name: "many blanks", in: frame("Content-Length:   2"), want: one},
		{name: "blanks and tabs around", in: frame("Content-Length: \t 2 \t"), want: one},
		{name: "leading zeros", in: frame("Content-Length: 000000000000000000000000002"), want: one},
		{name: "unknown fields", in: frame("X-A: b\r\nContent-Length: 2\r\nX-C:\r\nX_d.!#$%&'*+^`|~9: \xE9\u00e9:\t,"), want: one},
		{name: "type after", in: frame("Content-Length: 2\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8"), want: one},
		{name: "type before", in: frame("Content-Type: application/vim-jsonrpc; charset=utf-8\r\nContent-Length: 2"), want: one},
		{name: "length zero", in: "Content-Length: 0\r\n\r\n" + next, want: []string{"", "7"}},
		{name: "length zero at the end", in: "Content-Length: 0\r\n\r\n", want: []string{""}},
		{name: "bytes, not characters", in: "Content-Length: 16\r\n\r\n\"é你😀\u2028é\"" + next, want: []string{"\"é你😀\u2028é\"", "7"}},
		{name: "line breaks in the body", in: "Content-Length: 11\r\n\r\n{\r\n\r\n\"a\":1}" + next, want: []string{"{\r\n\r\n\"a\":1}", "7"}},
		{name: "byte order mark", in: "\xEF\xBB\xBF" + frame("Content-Length: 2"), want: one},
		{name: "byte order mark alone", in: "\xEF\xBB\xBF"},

		{name: "no length", in: frame("Content-Type: application/json"), end: "header Content-Length: missing"},
		{name: "no header", in: "\r\n{}", end: "header Content-Length: missing"},
		{name: "negative", in: frame("Content-Length: -1"), end: "header Content-Length: negative"},
		{name: "negative zero", in: frame("Content-Length: -0"), end: "header Content-Length: negative"},
		{name: "plus", in: frame("Content-Length: +2"), end: "header Content-Length: not a decimal number"},
		{name: "fraction", in: frame("Content-Length: 2.0"), end: "header Content-Length: not a decimal number"},
		{name: "exponent", in: frame("Content-Length: 1e3"), end: "header Content-Length: not a decimal number"},
		{name: "hexadecimal", in: frame("Content-Length: 0x10"), end: "header Content-Length: not a decimal number"},
		{name: "underscore", in: frame("Content-Length: 1_0"), end: "header Content-Length: not a decimal number"},
		{name: "list", in: frame("Content-Length: 2, 2"), end: "header Content-Length: not a decimal number"},
		{name: "blank inside", in: frame("Content-Length: 1 2"), end: "header Content-Length: not a decimal number"},
		{name: "words", in: frame("Content-Length: two"), end: "header Content-Length: not a decimal number"},
		{name: "other digits", in: frame("Content-Length: ２"), end: "header Content-Length: not a decimal number"},
		{name: "empty value", in: frame("Content-Length: "), end: "header Content-Length: empty"},
		{name: "no value", in: frame("content-length:"), end: "header Content-Length: empty"},
		{name: "twice", in: frame("Content-Length: 2\r\nContent-Length: 2"), end: "header Content-Length: given twice"},
		{name: "twice in other case", in: frame("Content-Length: 2\r\nX: y\r\ncontent-length: 3"), end: "header Content-Length: given twice"},
		{name: "name with a long s is another", in: frame("Content-Length: 2\r\nX-ſ: 1"), end: `header "X-\xc5": invalid character in the name`},
		{name: "no colon", in: frame("Content-Length: 2\r\nBroken"), end: `header "Broken": no colon`},
		{name: "no colon at the start", in: "GET\r\n\r\n", end: `header "GET": no colon`},
		{name: "HTTP", in: "POST /mcp HTTP/1.1\r\nHost: a\r\n\r\n", end: `header "POST ": invalid character in the name`},
		{name: "no name", in: frame(": 2"), end: "header line without a name"},
		{name: "blank in the name", in: frame("Bad Header: v"), end: `header "Bad ": invalid character in the name`},
		{name: "blank before the colon", in: frame("Content-Length : 2"), end: `header "Content-Length ": invalid character in the name`},
		{name: "CR in the name", in: frame("A\rB: v"), end: `header "A\r": invalid character in the name`},
		{name: "leading blank", in: frame(" Content-Length: 2"), end: "header line begins with a blank"},
		{name: "folded", in: frame("Content-Length: 2\r\n\tmore"), end: "header line begins with a blank"},
		{name: "NUL in a value", in: frame("X-Test: v\x00\r\nContent-Length: 2"), end: `header "X-Test": control character in the value`},
		{name: "NUL in the length", in: frame("Content-Length: \x00 2\x00"), end: "header Content-Length: control character in the value"},
		{name: "DEL in the type", in: frame("content-TYPE: a\x7f"), end: "header Content-Type: control character in the value"},
		{name: "CR in a value", in: frame("X-Test: a\rb"), end: `header "X-Test": control character in the value`},
		{name: "secrets stay out of errors", in: frame("Authorization: Bearer s3cret\x01"), end: `header "Authorization": control character in the value`},
		{name: "long names are cut", in: strings.Repeat("n", 99) + "\r\n", end: `header "` + strings.Repeat("n", 64) + `": no colon`},
		{name: "LF only", in: "Content-Length: 2\n\n{}", end: "header line ends in LF without CR"},
		{name: "LF only in the empty line", in: "Content-Length: 2\r\n\n{}", end: "header line ends in LF without CR"},

		{name: "lines", in: "{\"jsonrpc\":\"2.0\"}\n", end: "a message without a header block: the peer may be writing lines"},
		{name: "lines, batch", in: "[", end: "a message without a header block: the peer may be writing lines"},
		{name: "length too small", in: "Content-Length: 1\r\n\r\n{}" + next, want: []string{"{"},
			end: `header "}": no header name can begin like this: the Content-Length before it may be wrong`},
		{name: "length too large", in: "Content-Length: 4\r\n\r\n{}" + next, want: []string{"{}Co"}, end: "header Content-Length: missing"},
		{name: "header after header", in: "Content-Length: 40\r\n\r\nContent-Length: 40\r\n\r\n" + strings.Repeat("{", 40),
			want: []string{"Content-Length: 40\r\n\r\n" + strings.Repeat("{", 18)},
			end:  `header "{": no header name can begin like this: the Content-Length before it may be wrong`},

		{name: "end in the name", in: "Content-Len", end: "end of input inside the header block"},
		{name: "end before the empty line", in: "Content-Length: 2\r\n", end: "end of input inside the header block"},
		{name: "end in the empty line", in: "Content-Length: 2\r\n\r", end: "end of input inside the header block"},
		{name: "end before the body", in: "Content-Length: 3\r\n\r\n", end: "end of input inside the body: 3 of 3 bytes missing"},
		{name: "end in the body", in: "Content-Length: 107\r\n\r\n" + strings.Repeat("x", 90),
			end: "end of input inside the body: 17 of 107 bytes missing"},
		{name: "end in the second body", in: frame("Content-Length: 2") + "Content-Length: 3\r\n\r\n{}", want: one,
			end: "end of input inside the body: 1 of 3 bytes missing"},
		{name: "end in a refused body", in: "Content-Length: 20\r\n\r\n{}", lim: max(9), want: []string{tooLarge},
			end: "end of input inside the body: 18 of 20 bytes missing"},
		{name: "half a byte order mark", in: "\xEF\xBB", end: `header "\xef": invalid character in the name`},

		{name: "message at the limit", in: "Content-Length: 2\r\n\r\n{}", lim: max(2), want: one},
		{name: "message over the limit", in: "Content-Length: 3\r\n\r\n{ }" + next, lim: max(2), want: []string{tooLarge, "7"}},
		{name: "message 64 times the limit", in: "Content-Length: 128\r\n\r\n" + strings.Repeat("x", 128) + next, lim: max(2),
			want: []string{tooLarge, "7"}},
		{name: "message over 64 times the limit", in: "Content-Length: 129\r\n\r\n" + next, lim: max(2),
			end: "header Content-Length: message too large to be skipped"},
		{name: "too many digits", in: frame("Content-Length: 99999999999999999999"), end: "header Content-Length: message too large to be skipped"},
		{name: "wraps around to 2", in: frame("Content-Length: 18446744073709551618"), end: "header Content-Length: message too large to be skipped"},
		{name: "2^63", in: frame("Content-Length: 9223372036854775808"), end: "header Content-Length: message too large to be skipped"},
		{name: "many digits then a letter", in: frame("Content-Length: 99999999999999999999x"), end: "header Content-Length: not a decimal number"},
		{name: "charset before size", in: "Content-Type: a;charset=x\r\nContent-Length: 3\r\n\r\n{ }" + next, lim: max(2), want: []string{tooLarge, "7"}},

		{name: "block at the limit", in: frame("Content-Length: 2"), lim: limits{maxHeader: 17}, want: one},
		{name: "block over the limit", in: frame("Content-Length: 2"), lim: limits{maxHeader: 16}, end: "header block over the limit of 16 bytes"},
		{name: "two lines at the limit", in: frame("Content-Length: 2\r\nA: b"), lim: limits{maxHeader: 23}, want: one},
		{name: "two lines over the limit", in: frame("Content-Length: 2\r\nA: b"), lim: limits{maxHeader: 22}, end: "header block over the limit of 22 bytes"},
		{name: "every block has the limit for itself", in: frame("Content-Length: 2") + next, lim: limits{maxHeader: 17}, want: []string{"{}", "7"}},
		{name: "no end", in: "X-Long: " + strings.Repeat("a", 64), lim: limits{maxHeader: 64}, end: "header block over the limit of 64 bytes"},
		{name: "fault beyond the limit", in: "X-Long" + strings.Repeat("a", 64) + " ", lim: limits{maxHeader: 64},
			end: "header block over the limit of 64 bytes"},
		{name: "LF beyond the limit", in: "X:" + strings.Repeat("a", 64) + "\n", lim: limits{maxHeader: 64}, end: "header block over the limit of 64 bytes"},
		{name: "limit of one", in: "A:\r\n", lim: limits{maxHeader: 1}, end: "header block over the limit of 1 bytes"},

		{name: "charset utf8", in: frame("Content-Type: a/b; charset=utf8\r\nContent-Length: 2"), want: one},
		{name: "charset other", in: "Content-Type: a/b; charset=utf-16\r\nContent-Length: 2\r\n\r\n{}" + next, want: []string{foreign, "7"}},
		{name: "charset other, after", in: "Content-Length: 2\r\nContent-Type: a/b; charset=utf-16\r\n\r\n{}" + next, want: []string{foreign, "7"}},
		{name: "charset other, empty message", in: "Content-Type: a/b; charset=x\r\nContent-Length: 0\r\n\r\n" + next, want: []string{foreign, "7"}},
		{name: "charset other, then none", in: "Content-Type: a;charset=x\r\nContent-Type: a\r\nContent-Length: 1\r\n\r\n1" + next,
			want: []string{foreign, "7"}},
		{name: "charset other, cut", in: "Content-Type: a; charset=x\r\nContent-Length: 9\r\n\r\n1", want: []string{foreign},
			end: "end of input inside the body: 8 of 9 bytes missing"},
	})
}

func TestUTF8Charset(t *testing.T) {
	for value, want := range map[string]bool{
		"":                              true,
		"application/vscode-jsonrpc":    true,
		"a/b;":                          true,
		"a/b;;":                         true,
		"a/b; charset":                  true,
		"a/b; charset; x=y":             true,
		"a/b; x=charset":                true,
		"a/b; xcharset=latin1":          true,
		"a/b; charset=utf-8":            true,
		"a/b;charset=UTF-8":             true,
		"a/b; CharSet=Utf8; q=1":        true,
		"a/b \t;\t charset \t= utf-8 ":  true,
		`a/b; charset="utf-8"`:          true,
		`a/b; charset="UT\F8" ; x="`:    true,
		`a/b; x="; charset=latin1"`:     true,
		`a/b; x="\"; charset=latin1"`:   true,
		"charset=utf-16":                true, // this is the type
		"a/b; charset=":                 false,
		`a/b; charset=""`:               false,
		"a/b; charset=utf-16":           false,
		"a/b; charset=us-ascii":         false,
		"a/b; charset=utf-8x":           false,
		`a/b; charset="utf-16"`:         false,
		`a/b; charset="utf-16`:          false,
		"a/b; x=y; charset=latin1":      false,
		`a/b; x="y"; charset=latin1`:    false,
		"a/b; charset=utf-8; charset=x": false,
	} {
		if got := utf8Charset([]byte(value)); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
}

func TestHeaderErrorsAreTyped(t *testing.T) {
	read := func(in string) error {
		_, err := Open(&pieces{in: whole(in)}, Header).Read()
		return err
	}
	var frame *FrameError
	err := read("Content-Length: 107\r\n\r\n{}")
	if !errors.As(err, &frame) || frame.Missing != 105 || frame.Length != 107 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("end in the body: %#v", err)
	}
	if err := read("Content-"); !errors.As(err, &frame) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("end in the header: %#v", err)
	}
	err = read("Content-Length: -1\r\n\r\n")
	if !errors.As(err, &frame) || frame.Header != "Content-Length" || frame.Reason != "negative" || errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("negative: %#v", err)
	}
	var refused *MessageError
	err = read("Content-Length: 16777217\r\n\r\n")
	if !errors.As(err, &refused) || refused.Code != CodeInvalidRequest ||
		err.Error() != "Message too large: over the limit of 16777216 bytes" {
		t.Errorf("too large: %#v", err)
	}
	err = read("Content-Type: a; charset=s3cret\r\nContent-Length: 2\r\n\r\n{}")
	if !errors.As(err, &refused) || err.Error() != "Invalid Request: header Content-Type: charset is not utf-8" {
		t.Errorf("charset: %v", err)
	}
	if err := read("Content-Length: 1073741825\r\n\r\n"); !errors.As(err, &frame) {
		t.Errorf("more than 64 times the default limit: %v", err)
	}
}

// A limit that cannot be multiplied by 64 does not wrap around.
func TestHeaderHugeLimit(t *testing.T) {
	s := Open(&pieces{in: whole(string(appendHeader(nil, math.MaxInt)) + "{}")}, Header).(*stream)
	s.setLimits(limits{maxFrame: math.MaxInt, maxHeader: math.MaxInt})
	var refused *MessageError
	if _, err := s.Read(); !errors.As(err, &refused) {
		t.Errorf("got %v, want a refusal", err)
	}
}

// A header that never ends must not be read for long: 50 MB of digits would be.
func TestHeaderEndless(t *testing.T) {
	p := &pieces{in: append(whole("Content-Length: "), bytewise(strings.Repeat("9", 20<<10))...)}
	if _, err := Open(p, Header).Read(); err == nil || err.Error() != "header block over the limit of 8192 bytes" {
		t.Errorf("got %v", err)
	}
	if p.reads > 8<<10 {
		t.Errorf("it took %d reads", p.reads)
	}
}

func TestHeaderWritten(t *testing.T) {
	p := &pieces{}
	if err := Open(p, Header).Write([]byte("\"é你😀\"\n"), nil, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	want := "Content-Length: 12\r\n\r\n\"é你😀\"\nContent-Length: 0\r\n\r\nContent-Length: 2\r\n\r\n{}"
	if p.out.String() != want {
		t.Errorf("got %q, want %q", p.out.String(), want)
	}
}
