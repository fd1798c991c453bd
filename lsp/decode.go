package lsp

import (
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Editors send few shapes of params, and most requests say no more than where the cursor is. Those are read by hand; whatever is not exactly of such a
// shape, down to its blanks, is left to protocol.Unmarshal, which gives the same values.

// readQuick decodes data into v, which must be zero, if it is of one of those shapes. It reports false, and leaves v alone, if not.
func readQuick(data []byte, v any) bool {
	switch v := v.(type) {
	case *protocol.HoverParams:
		return readPlace(data, &v.TextDocumentPositionParams, "}")
	case *protocol.DefinitionParams:
		return readPlace(data, &v.TextDocumentPositionParams, "}")
	case *protocol.DocumentHighlightParams:
		return readPlace(data, &v.TextDocumentPositionParams, "}")
	case *protocol.CompletionParams:
		const invoked = `,"context":{"triggerKind":1}}`
		if readPlace(data, &v.TextDocumentPositionParams, "}") {
			return true
		}
		if !readPlace(data, &v.TextDocumentPositionParams, invoked) {
			return false
		}
		v.Context.TriggerKind = protocol.CompletionTriggerKindInvoked
		return true
	}
	return false
}

// readPlace reads a document and a position in it, and then end.
func readPlace(data []byte, p *protocol.TextDocumentPositionParams, end string) bool {
	r := reader{rest: data}
	if !r.token(`{"textDocument":{"uri":"file:///`) {
		return false
	}
	u := r.path(len(`file:///`))
	if !r.token(`"},"position":{"line":`) {
		return false
	}
	line := r.number()
	if !r.token(`,"character":`) {
		return false
	}
	character := r.number()
	if !r.token("}") || string(r.rest) != end || r.bad {
		return false
	}
	p.TextDocument.URI = uri.URI(u)
	p.Position = protocol.Position{Line: line, Character: character}
	return true
}

// readEdit reads an event of a didChange notification: a range and the JSON string that takes its place.
func readEdit(event []byte) (start, end protocol.Position, body []byte, ok bool) {
	r := reader{rest: event}
	if !r.token(`{"range":{"start":{"line":`) {
		return start, end, nil, false
	}
	start.Line = r.number()
	ok = r.token(`,"character":`)
	start.Character = r.number()
	ok = ok && r.token(`},"end":{"line":`)
	end.Line = r.number()
	ok = ok && r.token(`,"character":`)
	end.Character = r.number()
	ok = ok && r.token(`}}`)
	if r.token(`,"rangeLength":`) {
		r.number()
	}
	ok = ok && r.token(`,"text":"`) && !r.bad
	if !ok || len(r.rest) < 2 || r.rest[len(r.rest)-1] != '}' {
		return start, end, nil, false
	}
	body = event[len(event)-len(r.rest)-1 : len(event)-1]
	return start, end, body, jsonrpc2.SkipString(body, 0) == len(body) && body[len(body)-1] == '"'
}

// reader takes apart text of which the form is known. rest is always an end of all.
type reader struct {
	all, rest []byte
	bad       bool
}

func (r *reader) token(s string) bool {
	if r.all == nil {
		r.all = r.rest
	}
	if len(r.rest) < len(s) || string(r.rest[:len(s)]) != s {
		return false
	}
	r.rest = r.rest[len(s):]
	return true
}

// path reads on to the end of a path that the decoder of URIs would leave as it is, and returns it with the bytes before it.
func (r *reader) path(before int) []byte {
	start := len(r.all) - len(r.rest) - before
	i := 0
	for i < len(r.rest) && unreserved[r.rest[i]] {
		i++
	}
	if i == 0 || r.rest[0] == '/' {
		r.bad = true
	}
	r.rest = r.rest[i:]
	return r.all[start : len(r.all)-len(r.rest)]
}

// number reads a whole number of up to nine digits.
func (r *reader) number() (n uint32) {
	i := 0
	for ; i < len(r.rest) && i < 9 && '0' <= r.rest[i] && r.rest[i] <= '9'; i++ {
		n = n*10 + uint32(r.rest[i]-'0')
	}
	if i == 0 || i > 1 && r.rest[0] == '0' {
		r.bad = true
	}
	r.rest = r.rest[i:]
	return n
}

// unreserved are the characters that no spelling of a URI escapes (RFC 3986 section 2.3), and the slash.
var unreserved = func() (t [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/") {
		t[c] = true
	}
	return t
}()
