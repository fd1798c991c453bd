package jsonrpc2

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestTextAlignment puts each kind of special text at each place of strings around the words that are looked at together.
func TestTextAlignment(t *testing.T) {
	specials := []string{"", `"`, `\`, "\n", "\x00", "\x1f", "\x7f", "é", "測", "😀", "\xff", "\xc3", "\xe6\xb8", "\\\"", `\\`, "\"\"\n", "\u2028", "<&>"}
	for length := range 40 {
		for at := range length + 1 {
			for _, s := range specials {
				for _, fill := range []string{"a", "é", "\n"} {
					text := strings.Repeat(fill, at) + s + strings.Repeat(fill, length-at)
					checkText(t, text)
				}
			}
		}
	}
}

// Long texts are decoded in pieces, which must not end inside of an escape.
func TestTextPieces(t *testing.T) {
	for _, unit := range []string{"0123456\n", "a\n", "\x01", "😀", "\"", "é", strings.Repeat("x", 121) + "\n", strings.Repeat("x", 127) + "\n", strings.Repeat("x", 473) + "\n", strings.Repeat("x", 4093) + "\n"} {
		for pad := range 14 {
			checkText(t, strings.Repeat("y", pad)+strings.Repeat(unit, 9000/len(unit)+2))
		}
	}
	for n := range 700 { // each of the ways there are, by length
		checkText(t, strings.Repeat("abcdefghijk\n", 60)[:n])
	}
	// Escapes of all lengths.
	for _, unit := range []string{`\ud83d\ude00`, `\ud83d`, `\u00e9`, `\n`, `\\\"`} {
		for pad := range 14 {
			raw := `"` + strings.Repeat("y", pad) + strings.Repeat(unit, 9000/len(unit)) + `"`
			var want string
			if err := json.Unmarshal([]byte(raw), &want); err != nil {
				t.Fatal(err)
			}
			if got := Unquote([]byte(raw[1 : len(raw)-1])); got != want {
				t.Errorf("%d and many %s: the text differs", pad, unit)
			}
		}
	}
}

// checkText holds the three functions against encoding/json.
func checkText(t *testing.T, text string) {
	t.Helper()
	quoted := AppendString([]byte("x"), text)[1:]
	var back string
	if err := json.Unmarshal(quoted, &back); err != nil || !utf8.Valid(quoted) {
		t.Fatalf("AppendString(%q) = %q: %v", text, quoted, err)
	}
	if want := string([]rune(text)); back != want {
		t.Fatalf("AppendString(%q) = %q, which is %q", text, quoted, back)
	}
	if got := string(AppendUnquoted([]byte("x"), quoted[1:len(quoted)-1])); got != "x"+back {
		t.Fatalf("AppendUnquoted(%q) = %q, want %q", quoted, got, back)
	}
	if got := Unquote(quoted[1 : len(quoted)-1]); got != back {
		t.Fatalf("Unquote(%q) = %q, want %q", quoted, got, back)
	}
	html, _ := json.Marshal(text) // the same with other escapes
	if got := string(AppendUnquoted(nil, html[1:len(html)-1])); got != back {
		t.Fatalf("AppendUnquoted(%q) = %q, want %q", html, got, back)
	}
	for _, b := range [][]byte{quoted, html} {
		checkDecoding(t, b, 1)
		for _, behind := range []string{"", `"`, `,"x":1}`} {
			if got := SkipString(append([]byte("ab"+string(b)), behind...), 2); got != 2+len(b) {
				t.Fatalf("SkipString(%q) = %d, want %d", b, got-2, len(b))
			}
		}
	}
}

// What was never checked gives something inside the slice, not a panic.
func TestTextUnchecked(t *testing.T) {
	for _, raw := range []string{`\`, `a\`, `\u`, `\u0`, `\u004`, `\uzzzz`, `\ud83d\`, `\ud83d\u`, `\ud83d\ude0`, `\q`, `"`, `a"b\"`, `\\\`, "\xff", `\uffffff`} {
		for pad := range 17 {
			b := []byte(strings.Repeat("a", pad) + raw)
			AppendUnquoted(nil, b)
			Unquote(b)
			for i := range len(b) + 2 {
				if end := SkipString(b, i); end > len(b) {
					t.Errorf("SkipString(%q, %d) = %d", b, i, end)
				}
			}
		}
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"", "a\"\\\n\t\r\x00\x1f", "é\u2028<>&", "\xff\xfe", "a\xe2\x82", strings.Repeat("x\\", 100), `\ud83d\ude00`, `\u`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		checkText(t, s)
		AppendUnquoted(nil, []byte(s))
		for _, before := range []int{0, 450, 470, 600} {
			checkDecoding(t, []byte(strings.Repeat("x", before)+s+`"`), 0)
		}
		var want string
		if raw := []byte(`"` + s + `"`); utf8.Valid(raw) && json.Unmarshal(raw, &want) == nil {
			if got := string(AppendUnquoted(nil, []byte(s))); got != want {
				t.Errorf("AppendUnquoted(%q) = %q, want %q", s, got, want)
			}
		}
	})
}
