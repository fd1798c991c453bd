package jsonrpc2

import (
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	max := func(n int) limits { return limits{maxFrame: n} }
	runFraming(t, Lines, []framingCase{
		{name: "empty input"},
		{name: "one line", in: "{}\n", want: []string{"{}"}},
		{name: "mixed line ends and none at the end", in: "1\r\n2\n3", want: []string{"1", "2", "3"}},
		{name: "no line end, CR at the end", in: "1\r", want: []string{"1"}},
		{name: "only one CR is dropped", in: "1\r\r\n2\n", want: []string{"1\r", "2"}},
		{name: "lone CR does not end a line", in: "1\r2\n", want: []string{"1\r2"}},
		{name: "blank lines", in: "\n\r\n \t \n1\n\n\n2\n \t", want: []string{"1", "2"}},
		{name: "only blank", in: " \r\n\t\n \r", want: nil},
		{name: "blanks around a message stay", in: "  {} \t\n", want: []string{"  {} \t"}},
		{name: "vertical tab and form feed are not blank", in: "\v\n\f\n", want: []string{"\v", "\f"}},
		{name: "NUL is not blank", in: "\x00\n", want: []string{"\x00"}},
		{name: "only LF ends a line", in: "\"a\u2028b\u2029c\u0085d\v\f\"\n2\n", want: []string{"\"a\u2028b\u2029c\u0085d\v\f\"", "2"}},
		{name: "invalid UTF-8 is not looked at", in: "\"\xff\xfe\"\n{}\n", want: []string{"\"\xff\xfe\"", "{}"}},
		{name: "cut in the middle of a message", in: "{}\n{\"id\":2,\"meth", want: []string{"{}", "{\"id\":2,\"meth"}},
		{name: "message over two lines", in: "{\"a\":\n1}\n", want: []string{"{\"a\":", "1}"}},
		{name: "two messages on a line", in: "{}{}\n", want: []string{"{}{}"}},
		{name: "header framing", in: "Content-Length: 2\r\n\r\n{}", want: []string{"Content-Length: 2", "{}"}},

		{name: "byte order mark", in: "\xEF\xBB\xBF{}\n", want: []string{"{}"}},
		{name: "byte order mark alone", in: "\xEF\xBB\xBF"},
		{name: "byte order mark, CRLF", in: "\xEF\xBB\xBF\r\n{}\r\n", want: []string{"{}"}},
		{name: "half a byte order mark", in: "\xEF\xBB", want: []string{"\xEF\xBB"}},
		{name: "half a byte order mark, line", in: "\xEF\xBB\n1\n", want: []string{"\xEF\xBB", "1"}},
		{name: "second byte order mark", in: "\xEF\xBB\xBF\xEF\xBB\xBF1\n", want: []string{"\xEF\xBB\xBF1"}},
		{name: "byte order mark later", in: "1\n\xEF\xBB\xBF2\n", want: []string{"1", "\xEF\xBB\xBF2"}},

		{name: "at the limit", in: x(9) + "\n", lim: max(9), want: []string{x(9)}},
		{name: "at the limit, CRLF", in: x(9) + "\r\n", lim: max(9), want: []string{x(9)}},
		{name: "at the limit, end", in: x(9), lim: max(9), want: []string{x(9)}},
		{name: "at the limit, CR, end", in: x(9) + "\r", lim: max(9), want: []string{x(9)}},
		{name: "at the limit after a byte order mark", in: "\xEF\xBB\xBF" + x(9) + "\n", lim: max(9), want: []string{x(9)}},
		{name: "one over the limit", in: x(10) + "\n1\n", lim: max(9), want: []string{"<Message too large>", "1"}},
		{name: "one over the limit, CRLF", in: x(10) + "\r\n1\n", lim: max(9), want: []string{"<Message too large>", "1"}},
		{name: "two CR over the limit", in: x(9) + "\r\r\n1\n", lim: max(9), want: []string{"<Message too large>", "1"}},
		{name: "over the limit, end", in: x(10), lim: max(9), want: []string{"<Message too large>"}},
		{name: "CR at the limit is content", in: x(9) + "\rx\n1\n", lim: max(9), want: []string{"<Message too large>", "1"}},
		{name: "far over the limit", in: x(500) + "\n1\n" + x(500) + "\n2\n", lim: max(9),
			want: []string{"<Message too large>", "1", "<Message too large>", "2"}},
		{name: "blank line over the limit", in: strings.Repeat(" ", 10) + "\n1\n", lim: max(9), want: []string{"<Message too large>", "1"}},
		{name: "smallest limit", in: "1\n22\n3\n", lim: max(1), want: []string{"1", "<Message too large>", "3"}},
	})
}

// A line that never ends is refused when it is too long, not when it ends, and what comes of it afterwards is not stored.
func TestLinesRefusesBeforeTheEnd(t *testing.T) {
	s := Open(&pieces{in: bytewise(strings.Repeat("x", 11))}, Lines).(*stream)
	s.setLimits(limits{maxFrame: 9})
	for read := 1; ; read++ {
		if err := s.fill(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.next(); err != nil {
			if read != 10 || s.buffered() != 0 {
				t.Errorf("refused after %d bytes with %d stored, want 10 and 0", read, s.buffered())
			}
			return
		}
	}
}
