package framework

import (
	"strings"
	"unicode"

	"github.com/hashicorp/go-hclog"

	"github.com/tandem-rpc/tandem/logging"
)

// maxText is how many bytes of an error a record has. It is for people.
const maxText = 2 << 10

// quote makes a text from elsewhere the value of a log field: bounded, of printable characters on one line, and quoted in hclog's text mode.
func quote(s string) hclog.Quote { return hclog.Quote(oneLine(s)) }

// oneLine keeps a text on one line and a terminal from obeying it.
func oneLine(s string) string {
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "") + "..."
	}
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsPrint(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return '?'
	}, s)
}

// scrub takes secrets out of the text of an error. Such a text is prose into which somebody has formatted values: besides what a redactor finds in
// any string, it looks for a secret's name followed by a value, as fmt prints maps and structs, as JSON has it, also cut off, and as people write
// it. It rather takes out too much.
func scrub(red *logging.Redactor, s string) string {
	s = red.Text(s)
	var out strings.Builder
	for i := 0; i < len(s); {
		start := i
		for i < len(s) && isName(s[i]) {
			i++
		}
		if i == start {
			out.WriteByte(s[i])
			i++
			continue
		}
		out.WriteString(s[start:i])
		if !red.Secret(s[start:i]) {
			continue
		}
		if v := valueAt(s, i); v > 0 {
			out.WriteString(s[i:v])
			out.WriteString(logging.Redacted)
			i = valueEnd(s, v)
		}
	}
	return out.String()
}

func isName(b byte) bool {
	return b == '_' || b == '-' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

// valueAt returns where the value begins that belongs to a name ending at i, 0 if there is none: after a quote that may close the name and a colon
// or an equals sign.
func valueAt(s string, i int) int {
	i += len(s[i:]) - len(strings.TrimLeft(s[i:], "\\\"'` \t"))
	if i == len(s) || s[i] != ':' && s[i] != '=' {
		return 0
	}
	i++
	i += len(s[i:]) - len(strings.TrimLeft(s[i:], ":=> \t"))
	if i == len(s) {
		return 0
	}
	return i
}

// valueEnd returns where the value that begins at i ends: at the quote or bracket that closes it, else where a word does. One that is cut off
// reaches to the end.
func valueEnd(s string, i int) int {
	until := " \t\r\n,;&|)}]\"'`\\"
	for _, q := range []string{`\\\"`, `\"`, `"`, `'`, "`"} {
		if strings.HasPrefix(s[i:], q) {
			return closing(s, i+len(q), q)
		}
	}
	switch s[i] {
	case '[':
		return closing(s, i+1, "]")
	case '{':
		return closing(s, i+1, "}")
	case 'm':
		if strings.HasPrefix(s[i:], "map[") {
			return closing(s, i+4, "]")
		}
	}
	// One character at least, so that the walk goes on.
	if n := strings.IndexAny(s[i+1:], until); n >= 0 {
		return i + 1 + n
	}
	return len(s)
}

// closing finds the end of q from i on, but none that is escaped.
func closing(s string, i int, q string) int {
	for i < len(s) {
		if strings.HasPrefix(s[i:], q) {
			return i + len(q)
		}
		if s[i] == '\\' && q == `"` {
			i++
		}
		i++
	}
	return len(s)
}
