package jsonrpc2

import (
	"context"
	"testing"
)

// HandleInspected answers as Handle does, behind what is in dst.
func TestHandleInspected(t *testing.T) {
	m := NewMux()
	var kept []byte
	m.HandleRequest("keep", HandlerFunc(func(_ context.Context, r *Request) (any, error) {
		kept = r.Params()
		return len(kept), nil
	}))
	m.HandleRequest("read", HandlerFunc(func(_ context.Context, r *Request) (any, error) {
		var p struct {
			A int `json:"a"`
		}
		return &p, r.Decode(&p)
	}))
	m.HandleNotification("note", HandlerFunc(func(context.Context, *Request) (any, error) { return nil, nil }))
	for _, o := range []*Options{nil, {MaxDepth: 3}, {MaxFrame: 70}} {
		d := NewDispatcher(m, o)
		for _, payload := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"read","params":{"a":5}}`, `{"jsonrpc":"2.0","id":"x","method":"re\u0061d"}`, `{"jsonrpc":"2.0","method":"note"}`,
			`{"jsonrpc":"2.0","id":1,"method":"none"}`, `{"jsonrpc":"2.0","id":1,"result":5}`, `{"id":7}`, `5`, `[]`,
			`[{"jsonrpc":"2.0","id":1,"method":"read"},5]`, `{"jsonrpc":"2.0","id":1,"method":"read","params":[[[[]]]]}`,
		} {
			want := d.Handle(context.Background(), []byte(payload))
			for _, dst := range []string{"", "before"} {
				in, err := Inspect([]byte(payload), 0)
				if err != nil {
					t.Fatal(err)
				}
				in.Borrow()
				out := d.HandleInspected(context.Background(), &in, []byte(dst))
				if want == nil && out != nil || want != nil && string(out) != dst+string(want) {
					t.Errorf("%s: %q, want %q", payload, out, want)
				}
			}
		}
	}
	d := NewDispatcher(m, nil)
	for payload, taken := range map[string]bool{
		`{"jsonrpc":"2.0","id":1,"method":"keep","params":{"a":5}}`:   true,
		`{"jsonrpc":"2.0","id":1,"method":"read","params":{"a":5}}`:   false,
		`[{"jsonrpc":"2.0","id":1,"method":"read","params":{"a":5}}]`: true, // not looked at one by one
	} {
		in, _ := Inspect([]byte(payload), 0)
		if in.Taken() {
			t.Error("taken before")
		}
		in.Borrow()
		d.HandleInspected(context.Background(), &in, nil)
		if in.Taken() != taken {
			t.Errorf("%s: taken %v", payload, in.Taken())
		}
	}
}
