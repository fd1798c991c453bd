package mcpauth

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseChallenges(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []string
		want   []Challenge
		bad    bool
	}{
		{"none", nil, nil, false},
		{"empty", []string{"", " , ,"}, nil, false},
		{"scheme", []string{"Bearer"}, []Challenge{{Scheme: "Bearer"}}, false},
		{"parameter", []string{`Bearer realm="a"`}, []Challenge{{"Bearer", "", []Param{{"realm", "a"}}}}, false},
		{"token value", []string{`Bearer error=invalid_token`}, []Challenge{{"Bearer", "", []Param{{"error", "invalid_token"}}}}, false},
		{"blanks", []string{"Bearer  a = \"b\" ,\tc=d  "}, []Challenge{{"Bearer", "", []Param{{"a", "b"}, {"c", "d"}}}}, false},
		{"escapes", []string{`Bearer a="b\"\\c,d=e"`}, []Challenge{{"Bearer", "", []Param{{"a", `b"\c,d=e`}}}}, false},
		{"two in one", []string{`Bearer a="b", DPoP algs="ES256"`}, []Challenge{{"Bearer", "", []Param{{"a", "b"}}}, {"DPoP", "", []Param{{"algs", "ES256"}}}}, false},
		{"two values", []string{`Bearer a="b"`, `DPoP c="d"`}, []Challenge{{"Bearer", "", []Param{{"a", "b"}}}, {"DPoP", "", []Param{{"c", "d"}}}}, false},
		{"bare schemes", []string{"Negotiate, Bearer, Basic realm=x"}, []Challenge{{Scheme: "Negotiate"}, {Scheme: "Bearer"}, {"Basic", "", []Param{{"realm", "x"}}}}, false},
		{"token68", []string{"Negotiate YTpi==, Bearer a=b"}, []Challenge{{Scheme: "Negotiate", Token68: "YTpi=="}, {"Bearer", "", []Param{{"a", "b"}}}}, false},
		{"empty members", []string{"Bearer a=b,, c=d"}, []Challenge{{"Bearer", "", []Param{{"a", "b"}, {"c", "d"}}}}, false},
		{"no end", []string{`Bearer a="b`}, nil, true},
		{"ends in an escape", []string{`Bearer a="b\`}, nil, true},
		{"no value", []string{`Bearer a=`}, []Challenge{{Scheme: "Bearer", Token68: "a="}}, false},
		{"no value, and more", []string{`Bearer a=, b=`}, nil, true},
		{"text after a value", []string{`Bearer a="b" c`}, nil, true},
		{"scheme with a slash", []string{`Bea/rer a=b`}, nil, true},
		{"quotes first", []string{`"Bearer"`}, nil, true},
		{"very many", []string{strings.Repeat("Basic,", maxChallenges+1)}, nil, true},
		{"very many parameters", []string{"Basic " + strings.Repeat("a=b,", maxChallenges+1)}, nil, true},
		{"very long", []string{"Basic " + strings.Repeat("a", maxChallengeText)}, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ParseChallenges(c.values)
			if (err != nil) != c.bad || !c.bad && !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestChallengeString(t *testing.T) {
	for _, c := range []struct {
		c    Challenge
		want string
	}{
		{Challenge{Scheme: "Bearer"}, "Bearer"},
		{Challenge{Scheme: "Negotiate", Token68: "YTpi"}, "Negotiate YTpi"},
		{Challenge{"Bearer", "", []Param{{"a", "b"}, {"c", "d"}}}, `Bearer a="b", c="d"`},
		{Challenge{"Bearer", "", []Param{{"a", `say "hi" \o/`}}}, `Bearer a="say \"hi\" \\o/"`},
		{Challenge{"Bearer", "", []Param{{"a", "x\r\nSet-Cookie: y\x00\x7fé"}}}, `Bearer a="xSet-Cookie: y"`},
	} {
		if got := c.c.String(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	c := Challenge{"Bearer", "", []Param{{"Scope", "a"}, {"scope", "b"}}}
	if c.Param("SCOPE") != "a" || c.Param("x") != "" {
		t.Errorf("Param: %q %q", c.Param("SCOPE"), c.Param("x"))
	}
}

func FuzzParseChallenges(f *testing.F) {
	for _, s := range []string{"", "Bearer", `Bearer realm="a\"b", error=x`, `Bearer a="b", DPoP algs="ES256 EdDSA", Basic`, "Negotiate YTpi==, Bearer a=b", `Bearer a="`, "Basic a = b ,, c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		challenges, err := ParseChallenges([]string{s})
		if err != nil {
			return
		}
		// What was read is written so that it reads the same, as far as a header can hold it.
		for _, c := range challenges {
			text := c.String()
			if strings.ContainsAny(text, "\r\n\x00") {
				t.Fatalf("%q", text)
			}
			again, err := ParseChallenges([]string{text})
			if err != nil || len(again) != 1 {
				t.Fatalf("%q was written as %q: %v, %v", s, text, again, err)
			}
			for i := range c.Params {
				c.Params[i].Value = strings.Map(func(r rune) rune {
					if r < ' ' || r > '~' {
						return -1
					}
					return r
				}, c.Params[i].Value)
			}
			if !reflect.DeepEqual(again[0], c) {
				t.Fatalf("%+v was written as %q and read as %+v", c, text, again[0])
			}
		}
	})
}
