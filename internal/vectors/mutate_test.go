package vectors

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// mutations change what a vector expects. Each returns false if the vector has nothing of the kind.
var mutations = map[string]func(*Vector) bool{
	"one message less": func(v *Vector) bool {
		if len(v.Out) > 0 {
			v.Out = v.Out[:len(v.Out)-1]
			return true
		}
		return false
	},
	"one message more": func(v *Vector) bool {
		v.Out = append(v.Out[:len(v.Out):len(v.Out)], json.RawMessage(`{"jsonrpc":"2.0","id":null,"result":0}`))
		return true
	},
	"another value": func(v *Vector) bool { return v.replace(`"2.0"`, `"2.1"`) },
	"another id": func(v *Vector) bool {
		return v.replace(`"id": 1,`, `"id": 1.0000000000000000001,`) || v.replace(`"id": null`, `"id": 0`) || v.replace(`"id": "`, `"id": "_`)
	},
	"another code":   func(v *Vector) bool { return v.replace(`"code": -32`, `"code": -33`) },
	"another text":   func(v *Vector) bool { return v.replace(`"message": "`, `"message": "_`) },
	"null is absent": func(v *Vector) bool { return v.replace(`"id": null, `, ``) },
	"list is object": func(v *Vector) bool { return v.replace(`[]`, `{}`) || v.replace(`{}`, `[]`) },
	"other order": func(v *Vector) bool {
		if n := len(v.Out); v.Order == "any" || n < 2 || same(string(v.Out[0]), string(v.Out[n-1])) {
			return false
		}
		v.Out = append([]json.RawMessage{v.Out[len(v.Out)-1]}, v.Out[:len(v.Out)-1]...)
		return true
	},
	"other end": func(v *Vector) bool {
		v.End = map[string]string{"": "error", "clean": "error", "error": "clean"}[v.End]
		return true
	},
	"seen more": func(v *Vector) bool {
		if v.Seen != nil {
			v.Seen = new(append([]string{"x"}, *v.Seen...))
		}
		return v.Seen != nil
	},
	"reported more": func(v *Vector) bool {
		if v.Report != nil {
			v.Report = new(append([]string{"x"}, *v.Report...))
		}
		return v.Report != nil
	},
	"other record": func(v *Vector) bool {
		if v.Log == nil {
			return false
		}
		log := append([][2]string(nil), *v.Log...)
		log[0][1] = strings.Replace(log[0][1], "redact", "reduce", 1) + " "
		if log[0] == (*v.Log)[0] || same(log[0][1], (*v.Log)[0][1]) {
			log[0][0] = "outbound"
		}
		v.Log = &log
		return true
	},
	"one record less": func(v *Vector) bool {
		if v.Log != nil {
			v.Log = new((*v.Log)[1:])
		}
		return v.Log != nil
	},
	"other outcome": func(v *Vector) bool {
		for name, want := range v.Futures {
			v.Futures = map[string]json.RawMessage{name: json.RawMessage(`{"result":"` + name + `"}`)}
			return !same(string(want), string(v.Futures[name]))
		}
		return false
	},
	"one outcome less": func(v *Vector) bool {
		if len(v.Futures) == 0 {
			return false
		}
		v.Futures = map[string]json.RawMessage{}
		return true
	},
	"other session": func(v *Vector) bool {
		for name := range v.SessionAfter {
			v.SessionAfter = map[string]json.RawMessage{name: json.RawMessage(`{"revision":"2024-11-05"}`)}
			return true
		}
		return false
	},
}

// replace changes the first message that has old in it.
func (v *Vector) replace(old, with string) bool {
	for i, m := range v.Out {
		if changed := strings.Replace(string(m), old, with, 1); changed != string(m) {
			v.Out = append([]json.RawMessage(nil), v.Out...)
			v.Out[i] = json.RawMessage(changed)
			return true
		}
	}
	return false
}

// TestRejects changes what vectors expect, one thing at a time, and asks that none of them is met any more.
func TestRejects(t *testing.T) {
	did := map[string]int{}
	for _, original := range append(read(t, *file), read(t, "testdata/own.jsonl")...) {
		if original.invalid != nil {
			continue
		}
		for name, change := range mutations {
			v := original
			if !change(&v) {
				continue
			}
			did[name]++
			if len(Run(t, &v)) == 0 {
				t.Errorf("%s is met although changed: %s", v.ID, name)
			}
		}
	}
	for name := range mutations {
		if did[name] == 0 {
			t.Errorf("no vector was changed: %s", name)
		}
	}
	if testing.Verbose() {
		fmt.Println(did)
	}
}
