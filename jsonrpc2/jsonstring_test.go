package jsonrpc2

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestStringAlignment puts each kind of special byte at each place of strings
// around the eight bytes that are looked at together.
func TestStringAlignment(t *testing.T) {
	specials := []string{"", `\"`, `\\`, `\u0041`, "\u00e9", "\u6e2c", "\U0001F600", "\x7f", "!", "#", "[", "]", "\x1f", "\x00", "\xff", "\xc3", `\`, `"`, "\x80", "\xa2", "\xdc"}
	for length := range 20 {
		for at := range length + 1 {
			for _, s := range specials {
				for _, fill := range []string{"a", "\x20", "\u00e9", "~"} {
					text := `"` + strings.Repeat(fill, at) + s + strings.Repeat(fill, length-at) + `"`
					want := json.Valid([]byte(text)) && utf8.ValidString(text)
					if got := validValue([]byte(text), 0); got != want {
						t.Errorf("validValue(%q) = %v, want %v", text, got, want)
					}
					if !want {
						continue
					}
					end, escaped, _ := skipString([]byte(text+`"x`), 1)
					if end != len(text) || escaped != strings.Contains(text, `\`) {
						t.Errorf("skipString(%q) = %d, %v", text, end, escaped)
					}
				}
			}
		}
	}
}

func TestUnquote(t *testing.T) {
	for _, raw := range []string{
		"", "abc", `\"`, `\\`, `\/`, `\b\f\n\r\t`, `\u0041`, `a\u00e9b`, `\u6E2C`, `\u0000`, "é測😀",
		`\ud83d\ude00`, `\uD83D\uDE00!`, `\ud83d`, `\ude00`, `\ud83dx`, `\ud83d\u0041`, `\ud83d\n`, `\ud83d\ud83d\ude00`, `\ude00\ud83d`,
		`x\ud83d\\ude00`, `\\u0041`, `a\\`, `\ufffd`,
	} {
		var want string
		if err := json.Unmarshal([]byte(`"`+raw+`"`), &want); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if got := string(appendDecoded([]byte("x"), []byte(raw), false)); got != "x"+want {
			t.Errorf("appendDecoded(%s) = %q, want %q", raw, got[1:], want)
		}
		if got := string(AppendUnquoted([]byte("x"), []byte(raw))); got != "x"+want {
			t.Errorf("AppendUnquoted(%s) = %q, want %q", raw, got[1:], want)
		}
		if got := Unquote([]byte(raw)); got != want {
			t.Errorf("Unquote(%s) = %q, want %q", raw, got, want)
		}
	}
	// Contents that were never checked give something, not a panic.
	for _, raw := range []string{`\`, `a\`, `\u`, `\u0`, `\u004`, `\uzzzz`, `\ud83d\`, `\ud83d\u`, `\ud83d\ude0`, `\q`} {
		appendDecoded(nil, []byte(raw), false)
	}
}

func TestNameIs(t *testing.T) {
	for _, c := range []struct {
		raw, want string
		is        bool
	}{
		{"id", "id", true}, {"", "", true}, {"ID", "id", false}, {"i", "id", false}, {"idx", "id", false},
		{`\u0069d`, "id", true}, {`\u0069\u0064`, "id", true}, {`id\u0000`, "id", false}, {`\u0049d`, "id", false},
		{`request\u0049d`, "requestId", true}, {`\u0069\u0064\u0064`, "id", false}, {`a\/b`, "a/b", true}, {`\n`, "n", false},
		{strings.Repeat(`\u0061`, 40), strings.Repeat("a", 40), true},
	} {
		if got := nameIs([]byte(c.raw), c.want); got != c.is {
			t.Errorf("nameIs(%s, %s) = %v", c.raw, c.want, got)
		}
	}
}
