package replay

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// outgoing is a recorded message as it is sent now.
func (p *player) outgoing(st *step) []byte {
	if len(st.parts) != 1 || st.text[0] == '[' {
		return bytes.Clone(st.text)
	}
	text, one := bytes.Clone(st.text), st.parts[0]
	if one.kind == jsonrpc2.KindResponse {
		if now, ok := p.ids[one.id]; ok && now != one.id {
			text = setMember(text, []string{"id"}, now)
		}
		return text
	}
	for _, n := range p.null {
		if n.method == "" || n.method == one.method {
			text = setMember(text, n.names, "null")
		}
	}
	return text
}

// member is the text of a member, "null" if there is none.
func member(text []byte, names []string) []byte {
	for _, name := range names {
		var object map[string]json.RawMessage
		if json.Unmarshal(text, &object) != nil || object[name] == nil {
			return []byte("null")
		}
		text = object[name]
	}
	var out bytes.Buffer
	if json.Compact(&out, text) != nil {
		return []byte("null")
	}
	return out.Bytes()
}

// setMember replaces a member that is there; the rest of the text stays as it is where it can.
func setMember(text []byte, names []string, value string) []byte {
	var object map[string]json.RawMessage
	if json.Unmarshal(text, &object) != nil || object == nil {
		return text
	}
	old, ok := object[names[0]]
	if !ok {
		return text
	}
	inner := []byte(value)
	if len(names) > 1 {
		if inner = setMember(old, names[1:], value); bytes.Equal(inner, old) {
			return text
		}
	}
	object[names[0]] = inner
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if e.Encode(object) != nil {
		return text
	}
	return []byte(strings.TrimSpace(out.String()))
}
