package jsonrpc2

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"unsafe"
	"weak"
)

// checkDecoding holds skipDecoding against skipString and Unquote, for a string whose contents begin at i.
func checkDecoding(t *testing.T, b []byte, i int) {
	t.Helper()
	end, _, f := skipString(b, i)
	text, gotEnd, gotFault := skipDecoding(b, i, len(b)-i)
	if gotEnd != end || gotFault != f {
		t.Fatalf("skipDecoding(%q) ends at %d with %q, want %d with %q", b[i:], gotEnd, faultText[gotFault], end, faultText[f])
	}
	switch {
	case f != faultNone:
		if text != "" {
			t.Fatalf("skipDecoding(%q): text of a string with a fault", b[i:])
		}
	case text == "":
		if n := len(Unquote(b[i : end-1])); n > shortString {
			t.Fatalf("skipDecoding(%q) kept nothing of %d bytes", b[i:], n)
		}
	case text != Unquote(b[i:end-1]):
		t.Fatalf("skipDecoding(%q) = %q, want %q", b[i:], text, Unquote(b[i:end-1]))
	}
}

// Each kind of special text, good or broken, stands at each place around the words that are looked at together and the piece that is decoded at once.
func TestSkipDecoding(t *testing.T) {
	specials := []string{
		``, `"`, `\"`, `\\`, `\n`, `\u00e9`, `\ud83d\ude00`, `\ud83d`, `\ud83d\ud83d\ude00`, `\ude00`, "é", "測測測測測測測", "😀😀😀😀😀", "\xff", "測測\xe6\xb8", "\x00", "\n",
		`\`, `\q`, `\u12`, `\u12g4`, `\ud83d\u12g4`, `\ud83d\`, "\x7f", strings.Repeat("é", 300), strings.Repeat(`\u0001`, 200), strings.Repeat("\\n", 600), strings.Repeat("a\\\"", 300),
	}
	for _, special := range specials {
		for at := range 40 {
			for _, before := range []int{0, 440, 470, 960} {
				b := []byte(`"` + strings.Repeat("x", before+at) + special)
				checkDecoding(t, b, 1) // cut off
				checkDecoding(t, append(b, '"'), 1)
				checkDecoding(t, append(b, strings.Repeat("y", 700)+`","z":1}`...), 1)
			}
		}
	}
}

func longParams(strs ...string) []byte {
	params := []byte(`{"a":[`)
	for i, s := range strs {
		if i > 0 {
			params = append(params, ',')
		}
		params = AppendString(params, s)
	}
	return append(params, `]}`...)
}

func TestLongString(t *testing.T) {
	long, longer := sourceText(2000), sourceText(70_000)
	many := make([]string, longStrings+3)
	for i := range many {
		many[i] = fmt.Sprint(i) + long
	}
	tests := []struct {
		name    string
		strings []string
		want    int // how many of them are decoded, the first ones
	}{
		{"none", nil, 0},
		{"short", []string{"short", strings.Repeat("x", shortString/2), `"quoted"`}, 0},
		{"one", []string{long}, 1},
		{"two", []string{longer, long}, 2},
		{"many", many, longStrings},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := NewMux()
			m.HandleRequest("take", HandlerFunc(func(_ context.Context, r *Request) (any, error) {
				n := 0
				for i, at := 0, len(`{"a":[`); i < len(tt.strings); i++ {
					raw := r.params[at:]
					end := SkipString(raw, 0)
					if text, length := r.LongStrings().At(raw); length > 0 {
						if length != end || text != tt.strings[i] {
							t.Errorf("string %d: %d bytes are %q", i, length, text)
						}
						if n++; n != i+1 {
							t.Errorf("string %d was decoded, the one before was not", i)
						}
					}
					if _, length := r.LongStrings().At(raw[1:]); length > 0 {
						t.Errorf("there is no string behind the quote of string %d", i)
					}
					if _, length := r.LongStrings().At(raw[:end/2]); length > 0 && end > shortString {
						t.Errorf("half of string %d is not all of it", i)
					}
					at += end + 1
				}
				return n, nil
			}))
			payload := request("1", "take", string(longParams(tt.strings...)))
			want := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":%d}`, tt.want)
			nothing := `{"jsonrpc":"2.0","id":1,"result":0}`

			on, off := NewDispatcher(m, &Options{LongStrings: true}), NewDispatcher(m, nil)
			if got := on.Handle(t.Context(), []byte(payload)); string(got) != want {
				t.Errorf("payload: %s, want %s", got, want)
			}
			if got := off.Handle(t.Context(), []byte(payload)); string(got) != nothing {
				t.Errorf("without the option: %s, want %s", got, nothing)
			}
			if got := on.Handle(t.Context(), []byte("["+payload+"]")); string(got) != "["+nothing+"]" {
				t.Errorf("batch: %s, want [%s]", got, nothing)
			}
			for _, inspect := range []func([]byte, int) (Message, error){InspectLong, Inspect} {
				in, err := inspect([]byte(payload), 0)
				if err != nil {
					t.Fatal(err)
				}
				if got := off.HandleInspected(t.Context(), &in, nil); string(got) != want {
					t.Errorf("inspected: %s, want %s", got, want)
				}
				want = nothing
			}
		})
	}
}

// Names of members, strings outside of the params and params that are refused are checked and not decoded.
func TestLongStringElsewhere(t *testing.T) {
	long := string(AppendString(nil, sourceText(2000)))
	for _, text := range []string{
		`{"jsonrpc":"2.0","id":` + long + `,"method":"m"}`,
		`{"jsonrpc":"2.0","id":1,"method":` + long + `,"params":{` + long + `:1}}`,
		`{"jsonrpc":"2.0","id":1,"method":"m","params":` + long + `}`,
		`{"jsonrpc":"2.0","id":1,"result":[` + long + `]}`,
		long,
	} {
		var e envelope
		if _, err := scanFor([]byte(text), 9, &e, true); err != nil || e.long != nil {
			t.Errorf("%.60s: %v, %d long strings", text, err, len(e.long))
		}
	}
}

// What was decoded for a request is gone with it: neither the connection nor the tasks around it keep it.
func TestLongStringIsLetGo(t *testing.T) {
	for _, inline := range []bool{false, true} {
		t.Run(fmt.Sprint("inline ", inline), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				m := testMux(nil)
				var text weak.Pointer[byte]
				m.HandleRequest("take", HandlerFunc(func(_ context.Context, r *Request) (any, error) {
					if s, n := r.LongStrings().At(r.params[len(`{"a":[`):]); n > 0 {
						text = weak.Make(unsafe.StringData(s))
					}
					return "ok", nil
				}))
				w := newWire(t, m, &Options{LongStrings: true})
				if inline {
					earn(w, "take")
				}
				w.send(request("1", "take", string(longParams(sourceText(3000)))))
				if _, err := w.peer.Read(); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if text == (weak.Pointer[byte]{}) {
					t.Fatal("nothing was decoded")
				}
				runtime.GC()
				if text.Value() != nil {
					t.Error("the text is still held")
				}
				w.close()
			})
		})
	}
}
