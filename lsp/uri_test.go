package lsp

import (
	"strings"
	"testing"

	"go.lsp.dev/uri"
)

func TestKeyOf(t *testing.T) {
	same := [][]string{
		{"file:///C:/a", "file:///c:/a", "file:///c%3A/a", "file:///c%3a/a", "file:///C%3A/a", "FILE:///C:/a", "file://localhost/c:/a", "file:///%43%3A/a"},
		{"file:///c%3A/Us%20ers/a%23b.txt", "file:///C:/Us ers/a%23b.txt", "file:///c:/Us%20ers/a%23b.txt"},
		{"file:///d:", "file:///D%3A"},
		{"file:///a/é", "file:///a/%C3%A9", "file:///a/%c3%a9", "file:///a/%c3%A9"},
		{"file:///a/%FF", "file:///a/%ff", "file:///a/%25FF", "file:///a/%25ff"},
		{"file:///a/%e4%b8%96", "file:///a/世"},
		{"file:///a/%F0%9F%8C%8D", "file:///a/🌍"},
		{"file:///a/%41%7E", "file:///a/A~"},
		{"file://SERVER/share/x", "file://server/share/x"},
		{"file:/a/b", "file:///a/b", "file:a/b"},
		{"untitled:Untitled-1", "UNTITLED:Untitled-1"},
		{"vscode-notebook-cell:/x/y.ipynb#W0sZ", "vscode-notebook-cell:/x/y.ipynb#W0s%5A"},
		{"git:/a?{\"x\":1}", "git:/a?%7B%22x%22%3A1%7D"},
		{"no uri", "file:///no%20uri"},
		{"main.go", "file:///main.go", "/main.go"},
		{"", "file:///", "/"},
		{"?q", "file:///?q"},
		{"http://host", "http://host/"},
		{"http://[::1", "http://[::1/"},
		{"file:///\x00a", "file:///%00a"},
		{"file:///a\x00?b", "file:///a%00?b"},
		{"//host/a", "file://host/a"},
		{"\\\\host\\a", "file:///%5C%5Chost%5Ca"},
	}
	seen := map[Key]string{}
	for _, group := range same {
		k := KeyOf(uri.URI(group[0]))
		if other, ok := seen[k]; ok {
			t.Errorf("%q and %q have one key", group[0], other)
		}
		seen[k] = group[0]
		for _, u := range group[1:] {
			if KeyOf(uri.URI(u)) != k {
				t.Errorf("%q and %q are different", group[0], u)
			}
		}
		// What the decoder of params makes of a spelling must lead to the same document.
		for _, u := range group {
			if parsed, err := uri.Parse(u); err == nil && KeyOf(parsed) != k {
				t.Errorf("%q is different from %q, which it is decoded to", u, parsed)
			}
		}
	}
	different := [][2]string{
		{"file:///a/b%2Fc", "file:///a/B/c"},
		{"file:///a?b", "file:///a%3Fb"},
		{"file:///a?b", "file:///a\x00?b"},
		{"file:///a#b", "file:///a%23b"},
		{"file:///A", "file:///a"}, // no drive letter
		{"file:///c:/A", "file:///c:/a"},
		{"untitled:a", "file:a"},
		{"file://host/a", "file:///host/a"},
		{"file:///a/%C3", "file:///a/%A9"},
		{"x:/%43:/", "x:/c:/"},
		{"file:///Cc:/", "file:///cc:/"},
	}
	for _, d := range different {
		if KeyOf(uri.URI(d[0])) == KeyOf(uri.URI(d[1])) {
			t.Errorf("%q and %q have one key", d[0], d[1])
		}
	}
}

func FuzzKeyOf(f *testing.F) {
	for _, s := range []string{"file:///C%3A/%FF%c3%a9", "a:%", "%", ":", "x://", "file:///%f0%9f%8c", "untitled:%00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		k := KeyOf(uri.URI(s))
		// Escaping one more letter of the path changes nothing.
		if i := strings.LastIndexAny(s, "abcxyz"); i > strings.LastIndexAny(s, ":/%?#")+2 && strings.HasPrefix(s, "file:///") {
			const hex = "0123456789abcdef"
			spelt := s[:i] + "%" + string(hex[s[i]>>4]) + string(hex[s[i]&15]) + s[i+1:]
			if KeyOf(uri.URI(spelt)) != k {
				t.Errorf("%q and %q are different", s, spelt)
			}
		}
	})
}

func BenchmarkKeyOf(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		KeyOf("file:///c%3A/users/ann/notes/first%20week.md")
	}
}
