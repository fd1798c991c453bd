package lsp

import (
	"encoding/json"
	"strings"
	"testing"

	"go.lsp.dev/protocol"
)

// Decoded values must not share memory with the message, whose buffer is used again.
func TestCodecCopies(t *testing.T) {
	in := []byte(`{"textDocument":{"uri":"file:///abc"},"position":{"line":5,"character":9},"workDoneToken":"token"}`)
	var hover protocol.HoverParams
	var refs protocol.ReferenceParams
	var init protocol.InitializeParams
	var cmd protocol.ExecuteCommandParams
	var raw json.RawMessage
	for _, tt := range []struct {
		v    any
		in   string
		want func() string
	}{
		{&hover, string(in), func() string { return string(hover.TextDocument.URI) + string(hover.WorkDoneToken.(protocol.String)) }},
		{&refs, string(in), func() string { return string(refs.TextDocument.URI) + string(refs.WorkDoneToken.(protocol.String)) }},
		{&init, `{"clientInfo":{"name":"file:///abctoken"},"initializationOptions":{"a":"b"}}`, func() string { return init.ClientInfo.Name + "" }},
		{&cmd, `{"command":"file:///abctoken","arguments":[1]}`, func() string { return cmd.Command }},
		{&raw, `"file:///abctoken"`, func() string { return strings.Trim(string(raw), `"`) }},
	} {
		buf := []byte(tt.in)
		if err := Codec.Unmarshal(buf, tt.v); err != nil {
			t.Fatalf("%T: %v", tt.v, err)
		}
		for i := range buf {
			buf[i] = '#'
		}
		if got := tt.want(); got != "file:///abctoken" {
			t.Errorf("%T holds %q after its message is gone", tt.v, got)
		}
	}
}

// Types that are not of go.lsp.dev/protocol work as with encoding/json, and errors do not quote the message.
func TestCodecOfOtherTypes(t *testing.T) {
	type own struct {
		A    int             `json:"a"`
		List []string        `json:"list"`
		Raw  json.RawMessage `json:"raw"`
	}
	b, err := Codec.Append([]byte("> "), own{A: 1, Raw: json.RawMessage(`{"x":[1]}`)})
	if err != nil || string(b) != `> {"a":1,"list":[],"raw":{"x":[1]}}` {
		t.Errorf("got %s, %v", b, err)
	}
	var back own
	if err := Codec.Unmarshal([]byte(`{"a":7,"A":8,"list":["secret"],"raw":null}`), &back); err != nil || back.A != 7 {
		t.Errorf("got %+v, %v", back, err)
	}
	for _, v := range []any{new(own), new(protocol.HoverParams), new(int), new(protocol.InitializeParams)} {
		if err := Codec.Unmarshal([]byte(`{"a":"secret","position":"secret","processId":"secret"}`), v); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%T: error is %v", v, err)
		}
	}
	if b, err := Codec.Marshal((*protocol.Hover)(nil)); string(b) != "null" || err != nil {
		t.Errorf("nil pointer is %s, %v", b, err)
	}
}
