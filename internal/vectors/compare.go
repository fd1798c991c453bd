package vectors

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Failure is one way in which a vector is not met.
type Failure struct {
	Way  string // how it was run: "Conn", "Dispatcher", "Handle"; "" if it cannot be run
	What string // the member of the vector, or what else went wrong
	Want string // JSON, or "" where there is nothing to compare
	Got  string
}

// String names all four.
func (f Failure) String() string {
	s := f.What
	if f.Way != "" {
		s = f.Way + ": " + s
	}
	if f.Want != "" || f.Got != "" {
		s += "\n  expected " + clip(f.Want) + "\n  got      " + clip(f.Got)
	}
	return s
}

func clip(s string) string {
	if const4k := 4 << 10; len(s) > const4k {
		return fmt.Sprintf("%s... (%d bytes)", s[:const4k], len(s))
	}
	return s
}

// observed is what came of a run. What is nil cannot be observed that way.
type observed struct {
	out      []string
	seen     []string
	report   []string
	futures  map[string]string // outcome as JSON
	log      [][2]string
	logged   bool // whether there is a log
	sessions map[string]map[string]string
	ended    bool  // whether there was a Serve
	err      error // what it returned
}

// compare returns how o differs from what v expects.
func (v *Vector) compare(way string, o *observed) []Failure {
	var all []Failure
	fail := func(what, want, got string) {
		all = append(all, Failure{Way: way, What: what, Want: want, Got: got})
	}
	if want, got, same := v.compareOut(o.out); !same {
		fail("out", want, got)
	}
	if v.Seen != nil && !slices.Equal(*v.Seen, o.seen) {
		fail("seen", encode(*v.Seen), encode(o.seen))
	}
	if v.Report != nil && !slices.Equal(slices.Sorted(slices.Values(*v.Report)), slices.Sorted(slices.Values(o.report))) {
		fail("report", encode(*v.Report), encode(o.report))
	}
	if v.Futures != nil && o.futures != nil {
		for name, want := range v.Futures {
			if got, ok := o.futures[name]; !ok || !sameOutcome(string(want), got) {
				fail("future "+name, string(want), got)
			}
		}
		for name, got := range o.futures {
			if _, ok := v.Futures[name]; !ok {
				fail("future "+name, "", got)
			}
		}
	}
	if v.Log != nil && o.logged && !v.sameLog(o.log) {
		fail("log", encode(*v.Log), encode(o.log))
	}
	for name, want := range v.SessionAfter {
		held := o.sessions[name]
		if held == nil {
			held = map[string]string{}
		}
		if got := encode(held); !same(string(want), got) {
			fail("session_after "+name, string(want), got)
		}
	}
	if o.ended {
		got := "clean"
		if o.err != nil {
			got = "error"
		}
		if want := or(v.End, "clean"); got != want {
			if o.err != nil {
				got += ": " + o.err.Error()
			}
			fail("end", want, got)
		}
	}
	return all
}

// compareOut compares messages as the order of the vector says.
func (v *Vector) compareOut(out []string) (want, got string, same bool) {
	free := v.Order == "any"
	freeEntries := or(v.BatchOrder, or(v.Order, "strict")) == "any"
	spell := func(texts []string) ([]string, bool) {
		spelled := make([]string, len(texts))
		for i, text := range texts {
			n, err := parse([]byte(text))
			if err != nil {
				return nil, false
			}
			spelled[i] = n.text
			if n.kind == '[' && freeEntries {
				var entries []string
				for _, e := range n.items {
					entries = append(entries, e.text)
				}
				spelled[i] = "[" + strings.Join(slices.Sorted(slices.Values(entries)), ",") + "]"
			}
		}
		if free {
			slices.Sort(spelled)
		}
		return spelled, true
	}
	expected := make([]string, len(v.Out))
	for i, m := range v.Out {
		expected[i] = string(m)
	}
	a, okA := spell(expected)
	b, okB := spell(out)
	return "[" + strings.Join(expected, ", ") + "]", "[" + strings.Join(out, ", ") + "]", okA && okB && slices.Equal(a, b)
}

func (v *Vector) sameLog(got [][2]string) bool {
	spell := func(records [][2]string) []string {
		var all []string
		for _, r := range records {
			text, err := Canonical([]byte(r[1]))
			if err != nil {
				text = r[1] // "[redaction failed]"
			}
			all = append(all, r[0]+" "+text)
		}
		if v.Order == "any" {
			slices.Sort(all)
		}
		return all
	}
	return slices.Equal(spell(*v.Log), spell(got))
}

// same compares two texts as JSON.
func same(a, b string) bool {
	x, errX := Canonical([]byte(a))
	y, errY := Canonical([]byte(b))
	return errX == nil && errY == nil && x == y
}

// sameOutcome compares outcomes. Why a call was refused before it was sent has a name only where it is that the connection is closed.
func sameOutcome(want, got string) bool {
	a, errA := parse([]byte(want))
	b, errB := parse([]byte(got))
	if errA != nil || errB != nil {
		return false
	}
	why, refused := a.named["throws"]
	is, was := b.named["throws"]
	if refused && was && len(a.named) == 1 {
		return (why.text == `"closed"`) == (is.text == `"closed"`)
	}
	return a.text == b.text
}

func encode(v any) string {
	switch n := v.(type) {
	case []string:
		if n == nil {
			return "[]"
		}
	case [][2]string:
		if n == nil {
			return "[]"
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
