package lsp

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"go.lsp.dev/protocol"
)

// Clients are written in languages without a type for empty objects, or say more or less than this revision of the protocol: {"hover":[]},
// {"tagSupport":true}, "trace":null. To refuse their initialize for one such member would be to refuse the client, so what is not of its type is taken
// for absent, and all else is kept. The process id is the exception: without it a server could outlive its editor.

// maxMended is how many values are tried one by one. Only those around what does not fit are.
const maxMended = 2000

// tolerant is the params of initialize, and the members in them that were taken for absent.
type tolerant struct {
	protocol.InitializeParams
	absent []string
}

// lenient decodes the params of initialize into v, which must be zero. It fails for what is no object, and for a process id that is none.
func lenient(data []byte, v *tolerant) error {
	if decodes(data, &v.InitializeParams) {
		return nil
	}
	m := mender{left: maxMended}
	if id := member(data, "processId"); id != nil && !m.fits(slices.Concat([]byte(`{"processId":`), id, []byte{'}'})) {
		return errDecode
	}
	kept, ok := m.mend(data, "", func(b []byte) []byte { return b })
	v.InitializeParams = protocol.InitializeParams{}
	if !ok || !decodes(kept, &v.InitializeParams) {
		return errDecode
	}
	v.absent = m.absent
	return nil
}

// decodes decodes what fits as a whole.
func decodes(data []byte, v *protocol.InitializeParams) bool {
	return protocol.Unmarshal(data, v) == nil || respell(data, v) == nil
}

// mender looks for the values that do not fit.
type mender struct {
	left   int
	absent []string // where they stand, the first of them
}

// Of so many of them is told, and so much of each.
const (
	maxAbsent     = 8
	maxAbsentName = 200
)

func (m *mender) fits(params []byte) bool {
	m.left--
	return m.left >= 0 && decodes(params, new(protocol.InitializeParams))
}

func (m *mender) drop(path string) {
	path = path[:min(len(path), maxAbsentName)]
	if len(m.absent) < maxAbsent && !slices.Contains(m.absent, path) {
		m.absent = append(m.absent, path)
	}
}

// mend returns a value without the parts that do not fit. path is the names that lead to it, and in makes the params that have nothing but the value,
// in its place.
func (m *mender) mend(value []byte, path string, in func([]byte) []byte) (kept []byte, ok bool) {
	if m.fits(in(value)) {
		return value, true
	}
	var members map[string]json.RawMessage
	var elements []json.RawMessage
	switch b := bytes.TrimSpace(value); {
	case len(b) > 0 && b[0] == '{' && json.Unmarshal(b, &members) == nil:
		kept = []byte{'{'}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			quoted, _ := json.Marshal(name) // a string always encodes
			member := func(b []byte) []byte { return slices.Concat(quoted, []byte{':'}, b) }
			part, ok := m.mend(members[name], strings.TrimPrefix(path+"."+name, "."), func(b []byte) []byte { return in(slices.Concat([]byte{'{'}, member(b), []byte{'}'})) })
			if ok {
				kept = append(comma(kept), member(part)...)
			}
		}
		kept = append(kept, '}')
	case len(b) > 0 && b[0] == '[' && json.Unmarshal(b, &elements) == nil:
		kept = []byte{'['}
		for _, e := range elements {
			if m.fits(in(slices.Concat([]byte{'['}, e, []byte{']'}))) { // whole or not at all: half a folder is none
				kept = append(comma(kept), e...)
			} else {
				m.drop(path)
			}
		}
		kept = append(kept, ']')
	}
	if kept == nil || !m.fits(in(kept)) {
		m.drop(path)
		return nil, false
	}
	return kept, true
}

func comma(b []byte) []byte {
	if len(b) > 1 {
		return append(b, ',')
	}
	return b
}
