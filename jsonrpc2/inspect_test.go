package jsonrpc2

import (
	"errors"
	"strings"
	"testing"
)

func TestInspect(t *testing.T) {
	for _, c := range []struct {
		name, payload string
		want          Message
	}{
		{"request", `{"jsonrpc":"2.0","id":1.50,"method":"a\u0062","params":{"x":1}}`, Message{Kind: KindRequest, ID: ID{"1.50"}, Method: "ab", Params: []byte(`{"x":1}`)}},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"a"}`, Message{Kind: KindRequest, ID: NullID, Method: "a"}},
		{"null params", `{"jsonrpc":"2.0","id":"x","method":"a","params":null}`, Message{Kind: KindRequest, ID: ID{`"x"`}, Method: "a"}},
		{"notification", `{"jsonrpc":"2.0","method":"a"}`, Message{Kind: KindNotification, Method: "a"}},
		{"response", `{"jsonrpc":"2.0","id":3,"result":{}}`, Message{Kind: KindResponse, ID: ID{"3"}}},
		{"invalid, with an id", `{"id":3,"method":"a"}`, Message{ID: ID{"3"}, Method: "a"}},
		{"no object", `5`, Message{}},
		{"batch", `[1,2]`, Message{Kind: KindBatch, Entries: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Inspect([]byte(c.payload), 0)
			if err != nil || got.Kind != c.want.Kind || got.ID != c.want.ID || got.Method != c.want.Method || string(got.Params) != string(c.want.Params) || got.Entries != c.want.Entries {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	for _, payload := range []string{"", "{", `{"a":1}x`, "{\"a\":\"\xff\"}", strings.Repeat("[", 1<<20)} {
		var unit *UnitError
		if m, err := Inspect([]byte(payload), 0); !errors.As(err, &unit) {
			t.Errorf("%.20q: %+v, %v", payload, m, err)
		}
	}
	if _, err := Inspect([]byte(`[[1]]`), 1); err == nil {
		t.Error("too deep, and taken")
	}
}
