package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
)

// FuzzHosts gives anything to all doors of a host: what comes back is one line of JSON or nothing, an error without an id names none, and the session lives.
func FuzzHosts(f *testing.F) {
	for _, seed := range []string{
		hello, modern("1", "tools/call", `,"name":"echo","arguments":{"a":"\ud800"}`), modern("2", "subscriptions/listen", `,"notifications":{"resourceSubscriptions":["a" , "b"]}`),
		`[` + hello + `,{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}]`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`, `[]`, `{`, ``,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x","_meta":{"progressToken":[[[}}}`, `{"jsonrpc":"2.0","id":null,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}}}`,
		withMeta("1.5", "logging/setLevel", `{"io.modelcontextprotocol/protocolVersion":{},"io.modelcontextprotocol/logLevel":1}`, `,"level":"info"`),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		ctx, stop := context.WithCancel(context.Background())
		stop() // so that nothing waits
		s := changing()
		if m, err := Inspect(payload); err == nil {
			m.Target()
			m.Arguments()
			m.Envelope()
			m.Supported()
		} else if json.Valid(payload) && bytes.Count(payload, []byte("["))+bytes.Count(payload, []byte("{")) < 500 && bytes.Equal(bytes.ToValidUTF8(payload, nil), payload) {
			t.Errorf("Inspect: %v", err)
		}
		ses, err := s.NewSession(new(peer))
		if err != nil {
			t.Fatal(err)
		}
		for door, out := range map[string][]byte{
			"modern": s.HandleModern(context.Background(), payload, nil), "ended": s.HandleModern(ctx, payload, new(peer)),
			"sessionless": s.HandleSessionless(context.Background(), payload, nil, "2025-03-26"), "session": ses.Handle(ctx, payload), "bare": s.Handle(ctx, payload),
		} {
			if out == nil {
				continue
			}
			AnswerCode(out)
			if !json.Valid(out) || bytes.IndexByte(out, '\n') >= 0 {
				t.Errorf("%s: %q", door, out)
			}
			if door == "modern" && bytes.Contains(out, []byte(`"id":null`)) && bytes.HasPrefix(out, []byte(`{"jsonrpc":"2.0","id":null`)) {
				t.Errorf("%s: %q", door, out)
			}
		}
		if got := string(ses.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":"x","method":"ping"}`))); got != `{"jsonrpc":"2.0","id":"x","result":{}}` {
			t.Errorf("afterwards: %s", got)
		}
		ses.Close(nil)
	})
}
