package cancel

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// reference finds the id with a real decoder: the token stream keeps duplicates,
// RawMessage keeps the text of the value.
func reference(params []byte, name string) (id []byte, ok bool) {
	d := json.NewDecoder(bytes.NewReader(params))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, false
	}
	n := 0
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, false
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, false
		}
		if key == name {
			id, n = value, n+1
		}
	}
	if n != 1 || bytes.IndexByte([]byte("{[tf"), id[0]) >= 0 {
		return nil, false
	}
	return id, true
}

func FuzzID(f *testing.F) {
	for _, seed := range []string{
		`{"id":7}`, `{"\u0069d":"x"}`, `{"id":1,"id":2}`, `{"a":{"id":1},"id":null}`, ` [ {"id":1} ] `,
		`{"a":"\\\"","id":-1.5e+3}`, `{"id":true}`, `{"\ud83d\ude00":1,"id":""}`, `{"ID":1}`, `{"a":[[],{},"]"],"id":0}`,
	} {
		f.Add([]byte(seed))
	}
	c := Convention{Param: "id", Reason: "id"}
	f.Fuzz(func(t *testing.T, params []byte) {
		got, ok := c.ID(params) // no panic, valid or not
		why := c.Why(params)
		if len(why) > MaxReason || !utf8.ValidString(why) {
			t.Errorf("Why = %q", why)
		}
		if !json.Valid(params) || !utf8.Valid(params) {
			return
		}
		want, wantOK := reference(params, "id")
		if !bytes.Equal(got, want) || ok != wantOK {
			t.Fatalf("ID(%s) = %q, %v; a decoder says %q, %v", params, got, ok, want, wantOK)
		}
		if ok && got[0] == '"' {
			var text string
			if err := json.Unmarshal(got, &text); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(text, why) || (len(text) <= MaxReason && text != why) {
				t.Errorf("Why(%s) = %q, a decoder says %q", params, why, text)
			}
		}
		if ok {
			again, ok := c.ID(c.Params(got, "left"))
			// Reason and Param share a name here, so the member is there twice
			// and must not be taken for an id.
			if ok {
				t.Errorf("duplicate member gives id %q", again)
			}
			if again, ok := c.ID(c.Params(got, "")); !ok || !bytes.Equal(again, got) {
				t.Errorf("id %q does not survive Params: %q, %v", got, again, ok)
			}
		}
	})
}
