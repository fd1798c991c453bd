package jsonrpc2

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func idKey(raw string) string { return string(appendIDKey(nil, []byte(raw))) }

// TestIDKey holds classes of ids: equal inside a class, different between any two.
func TestIDKey(t *testing.T) {
	classes := [][]string{
		{"null"},
		{"0", "-0", "0.0", "-0.000", "0e5", "0E-99999999999999999999", "-0.0e+999999999999999999999999"},
		{"1", "1.0", "1e0", "1E+0", "10e-1", "0.1e1", "0.001e3", "1.000e-0", "100000e-5", "1e00000000000000000000000"},
		{"-1", "-1.0", "-10e-1"},
		{"10", "1e1", "10.0", "100e-1"},
		{"100", "1e2", "1.00e2", "0.1e3"},
		{"1000", "1e3", "1.0E3"},
		{"1.5", "15e-1", "0.15e1", "1.50"},
		{"-1.5", "-15e-1"},
		{"0.1", "1e-1", "0.10"},
		{"9007199254740992", "9007199254740992.0", "9.007199254740992e15"}, // 2^53
		{"9007199254740993", "9007199254740993.0", "9.007199254740993e15"}, // 2^53+1
		{"9223372036854775807"},
		{"9223372036854775808"},
		{"18446744073709551616"},
		{"12345678901234567890", "1234567890123456789e1", "12345678901234567890.0"},      // 20 digits
		{"123456789012345678901", "12345678901234567890.1e1", "123456789012345678901.0"}, // 21 digits
		{"10000000000000000000", "1e19"},
		{"100000000000000000000", "1e20", "100000000000000000000.0", "10e19"},
		{"1000000000000000000000000000000", "1e30", "1000e27"},
		{"1e400", "10e399", "0.1e401", "1" + strings.Repeat("0", 400)},
		{"1e-400", "10e-401", "0." + strings.Repeat("0", 399) + "1"},
		{"1e999999999999", "10e999999999998", "0.01e1000000000001"},
		{"1e-999999999999", "10e-1000000000000"},
		// Around the 18 digits beyond which exponents are added as text.
		{"1e999999999999999999", "10e999999999999999998", "0.1e1000000000000000000"},
		{"1e1000000000000000000", "10e999999999999999999", "0.1e1000000000000000001", "100e0999999999999999998"},
		{"1e1000000000000000001"},
		{"1e9999999999999999999", "10e9999999999999999998", "0.1e10000000000000000000"},
		{"1e-9999999999999999999", "10e-10000000000000000000"},
		{"1e-1000000000000000000", "10e-1000000000000000001", "0.1e-999999999999999999"},
		{"1e-999999999999999999", "10e-1000000000000000000", "0.1e-999999999999999998"},
		{"1e99999999999999999999999999", "10e99999999999999999999999998", "0.1e100000000000000000000000000"},
		{"1e100000000000000000000000000", "100e99999999999999999999999998", "1000e99999999999999999999999997"},
		{"-1e99999999999999999999999999"},
		{"12e99999999999999999999999999", "1.2e100000000000000000000000000"},

		{`""`},
		{`"1"`, `"\u0031"`},
		{`"1.0"`},
		{`"1e0"`},
		{`"null"`, `"\u006eull"`},
		{`"a"`, `"\u0061"`},
		{`"a/b"`, `"a\/b"`},
		{`"a\"b"`, `"a\u0022b"`},
		{`"\\"`, `"\u005c"`},
		{`"\\u0031"`},
		{`"\n"`, `"\u000a"`, `"\u000A"`},
		{`"\u0000"`},
		{`"é"`, `"\u00e9"`, `"\u00E9"`},
		{`"😀"`, `"\ud83d\ude00"`, `"\uD83D\uDE00"`},
		{`"\ud83d"`, `"\uD83D"`},
		{`"\ude00"`},
		{`"\ude00\ud83d"`},
		{`"\ud83d\ud83d"`},
		{`"\ud83dx"`},
		{`"�"`, `"\ufffd"`},
	}
	keys := map[string]string{}
	for _, class := range classes {
		for _, raw := range class {
			if !validValue([]byte(raw), 0) {
				t.Fatalf("the table holds %s", raw)
			}
			key := idKey(raw)
			if first := idKey(class[0]); key != first {
				t.Errorf("%.50s has key %.50q, but %.50s has %.50q", raw, key, class[0], first)
			}
			if idKeyIsRaw([]byte(raw)) && key != raw {
				t.Errorf("%s is its own key, but has %q", raw, key)
			}
			if got := string(appendIDKey([]byte("before"), []byte(raw))); got != "before"+key {
				t.Errorf("appended to a text, the key of %.50s is %.50q", raw, got)
			}
		}
		key := idKey(class[0])
		if other, ok := keys[key]; ok {
			t.Errorf("%s and %s have the same key %q", class[0], other, key)
		}
		keys[key] = class[0]
	}
}

func TestIDKeyIsRaw(t *testing.T) {
	for raw, want := range map[string]bool{
		"0": true, "1": true, "-1": true, "1234567890": true, "-9007199254740993": true, "18446744073709551615": true,
		"12345678901234567890": true, "-12345678901234567890": true, "123456789012345678901": false,
		"-0": false, "1.0": false, "1e3": false, "1E3": false, "0.5": false, "-0.0": false, "1.5": false, "0e1": false,
		`""`: true, `"a"`: true, `"1.0"`: true, `"-0"`: true, `"\u0031"`: false, `"\\"`: false, `"é"`: true,
		"null": true,
	} {
		if got := idKeyIsRaw([]byte(raw)); got != want {
			t.Errorf("idKeyIsRaw(%s) = %v", raw, got)
		}
	}
}

// TestIDKeyCost makes sure that the key of an id costs its own length and no more,
// whatever its digits say.
func TestIDKeyCost(t *testing.T) {
	const n = 1 << 18 // enough for quadratic time to show
	nines, zeros := strings.Repeat("9", n), strings.Repeat("0", n)
	for name, raw := range map[string]string{
		"small text, huge value": "1e999999999999",
		"long integer":           nines,
		"long round integer":     "1" + zeros,
		"long fraction":          "0." + zeros + "1",
		"long zero":              "0." + zeros,
		"long exponent":          "1e" + nines,
		"carry to the front":     "10e" + nines,
		"borrow from the front":  "0.1e1" + zeros,
		"long zero exponent":     "1e" + zeros,
		"long string":            `"` + strings.Repeat(`\u0031`, n/6) + `"`,
	} {
		start := time.Now()
		key := appendIDKey(nil, []byte(raw))
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%s: took %v", name, d)
		}
		if len(key) > len(raw)+32 {
			t.Errorf("%s: %d bytes of key for %d bytes of id", name, len(key), len(raw))
		}
	}
}

// TestIDKeyExponents compares the sums of exponents with those of math/big, at
// lengths where the arithmetic changes.
func TestIDKeyExponents(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	digits := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "0999991"[rng.IntN(7)]
		}
		return string(b)
	}
	for range 5000 {
		exponent, _ := new(big.Int).SetString("1"+digits(15+rng.IntN(12)), 10)
		if rng.IntN(2) == 0 {
			exponent.Neg(exponent)
		}
		places := rng.IntN(30)
		want := "7e" + exponent.String()
		up := fmt.Sprintf("7%se%s", strings.Repeat("0", places), new(big.Int).Sub(exponent, big.NewInt(int64(places))))
		down := fmt.Sprintf("0.%s7e%s", strings.Repeat("0", places), new(big.Int).Add(exponent, big.NewInt(int64(places+1))))
		for _, raw := range []string{want, up, down} {
			if got := idKey(raw); got != want {
				t.Fatalf("%s has key %s, want %s", raw, got, want)
			}
		}
	}
}

// TestIDKeyRandom compares every two of many numbers whose values often meet.
func TestIDKeyRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	digits := func(n int) (s string) {
		for range n {
			s += pick("0", "0", "0", "1", "9")
		}
		return s
	}
	var raws []string
	for len(raws) < 200 {
		raw := pick("", "-") + pick("0", "1", "9", "1"+digits(rng.IntN(22)))
		if rng.IntN(2) == 0 {
			raw += "." + digits(1+rng.IntN(3))
		}
		if rng.IntN(2) == 0 {
			raw += pick("e", "E") + pick("", "+", "-") + pick("0", "00", "") + pick("0", "1", "2", "3", "17", "18", "19", "20", "21")
		}
		raws = append(raws, raw)
	}
	for i, a := range raws {
		x, ok := rational(a)
		if !ok || !validValue([]byte(a), 0) {
			t.Fatalf("made %s", a)
		}
		ka := idKey(a)
		for _, b := range raws[:i] {
			y, _ := rational(b)
			if kb := idKey(b); (ka == kb) != (x.Cmp(y) == 0) {
				t.Errorf("%s and %s have keys %s and %s", a, b, ka, kb)
			}
		}
	}
}

// FuzzIDKey compares two ids with math/big and encoding/json.
func FuzzIDKey(f *testing.F) {
	for _, pair := range [][2]string{
		{"1", "1.0"}, {"-0", "0"}, {"1e2", "100"}, {"9007199254740993", "9007199254740992"}, {"1e400", "10e399"},
		{"12345678901234567890", "1.2345678901234567890e19"}, {`"1"`, "1"}, {`"\u0031"`, `"1"`}, {`"\ud800"`, `"\ufffd"`},
		{`"\ud83d\ude00"`, `"😀"`}, {"0.001e-3", "1e-6"}, {"null", `"null"`}, {"100000000000000000000", "1e20"}, {`"\\"`, `"\u005c"`},
	} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if !isID(a) || !isID(b) {
			return
		}
		ka, kb := idKey(a), idKey(b)
		for _, c := range [][2]string{{a, ka}, {b, kb}} {
			if idKeyIsRaw([]byte(c[0])) && c[0] != c[1] {
				t.Fatalf("%s is its own key, but has %s", c[0], c[1])
			}
			if len(c[1]) > len(c[0])+maxPlain {
				t.Fatalf("the key of %s is as long as %s", c[0], c[1])
			}
			if c[0][0] != '"' && idKey(c[1]) != c[1] {
				t.Fatalf("the key %s of %s has another key %s", c[1], c[0], idKey(c[1]))
			}
		}
		if a[0] == '"' {
			var s string
			if err := json.Unmarshal([]byte(a), &s); err != nil {
				t.Fatal(err)
			}
			if got := Unquote([]byte(a[1 : len(a)-1])); got != s {
				t.Fatalf("unquote(%s) = %q, want %q", a, got, s)
			}
		}
		want, ok := sameID(a, b)
		if ok && (ka == kb) != want {
			t.Fatalf("%s and %s have keys %s and %s", a, b, ka, kb)
		}
	})
}

func isID(raw string) bool {
	return utf8.ValidString(raw) && json.Valid([]byte(raw)) && !strings.ContainsAny(raw[:1], "tf{[ \t\r\n") && !strings.ContainsAny(raw[len(raw)-1:], " \t\r\n")
}

// sameID compares two ids by other means; ok is false where these do not reach.
func sameID(a, b string) (same, ok bool) {
	if a[0] == 'n' || b[0] == 'n' || (a[0] == '"') != (b[0] == '"') {
		return a == b, true
	}
	if a[0] == '"' {
		var s, u string
		_ = json.Unmarshal([]byte(a), &s)
		_ = json.Unmarshal([]byte(b), &u)
		return s == u, !strings.Contains(s+u, "\ufffd")
	}
	x, okX := rational(a)
	y, okY := rational(b)
	return okX && okY && x.Cmp(y) == 0, okX && okY
}

// rational returns the value of a number of moderate exponent.
func rational(raw string) (*big.Rat, bool) {
	if i := strings.IndexAny(raw, "eE"); i >= 0 && len(strings.TrimLeft(raw[i+1:], "+-0")) > 3 {
		return nil, false
	}
	return new(big.Rat).SetString(raw)
}

func TestIDKeyAllocation(t *testing.T) {
	dst := make([]byte, 0, 128)
	for _, raw := range []string{"1", "1.0", "1e3", "1e400", "0.001e99999999999999999999", `"abc"`, `"\u0031\ud800"`, "null", "-0"} {
		id := []byte(raw)
		if n := testing.AllocsPerRun(100, func() { dst = appendIDKey(dst[:0], id) }); n != 0 {
			t.Errorf("%s: %v allocations", raw, n)
		}
	}
}

func BenchmarkIDKey(b *testing.B) {
	dst := make([]byte, 0, 64)
	for _, raw := range []string{"12345", `"b8f3c2d4-5a6b"`, "1.0", `"\u0031"`} {
		b.Run(raw, func(b *testing.B) {
			b.ReportAllocs()
			id := []byte(raw)
			for b.Loop() {
				if !idKeyIsRaw(id) {
					dst = appendIDKey(dst[:0], id)
				}
			}
		})
	}
}
