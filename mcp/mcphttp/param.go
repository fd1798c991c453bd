package mcphttp

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"net/textproto"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
)

// param is a property of a tool's arguments that clients repeat in a header (x-mcp-header; MCP 2026-07-28, streamable HTTP, custom headers).
type param struct {
	header string // canonical
	path   []string
	kind   string // string, integer or boolean
}

// params are those of schemas seen before. Tools have few, and the schema of a tool is the same value each time it is listed.
type params struct {
	mu sync.Mutex
	of map[any][]param
}

const maxSchemas = 4096 // kept

// checkParams compares the headers Mcp-Param-* with the arguments of a tools/call.
func (h *Handler) checkParams(r *http.Request, m *mcp.Message) *jsonrpc2.Error {
	name, _ := m.Target()
	for _, p := range h.paramsOf(r, name) {
		if err := p.check(r.Header[p.header], m.Arguments()); err != nil {
			return err
		}
	}
	return nil
}

// paramsOf returns the annotated properties of a tool that the caller can see.
func (h *Handler) paramsOf(r *http.Request, name string) (ps []param) {
	if name == "" {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			ps = nil // the call will meet it again, where it is reported
		}
	}()
	t, ok, err := h.server.Tool(r.Context(), name)
	if err != nil || !ok {
		return nil
	}
	return h.params.find(t.InputSchema)
}

// rawKey is the identity of a schema that is kept as text.
type rawKey struct {
	first *byte
	n     int
}

func (c *params) find(schema any) []param {
	var key any
	switch s := schema.(type) {
	case nil:
		return nil
	case json.RawMessage:
		if len(s) == 0 {
			return nil
		}
		if !bytes.Contains(s, annotationText) {
			return nil
		}
		key = rawKey{&s[0], len(s)}
	default:
		if reflect.TypeOf(schema).Kind() == reflect.Pointer {
			key = schema
		}
	}
	if key != nil {
		c.mu.Lock()
		ps, ok := c.of[key]
		c.mu.Unlock()
		if ok {
			return ps
		}
	}
	text, err := mcp.Encode(schema)
	if err != nil {
		return nil
	}
	ps := readParams(text)
	if key != nil {
		c.mu.Lock()
		if c.of == nil || len(c.of) >= maxSchemas {
			c.of = make(map[any][]param)
		}
		c.of[key] = ps
		c.mu.Unlock()
	}
	return ps
}

const annotation = "x-mcp-header"

var annotationText = []byte(annotation)

// readParams finds the annotations that count: on properties that are reached from the root by properties alone, and are of one simple type. A property
// that is called x-mcp-header is none.
func readParams(schema []byte) []param {
	if !bytes.Contains(schema, annotationText) {
		return nil
	}
	var ps []param
	var walk func(raw json.RawMessage, path []string)
	walk = func(raw json.RawMessage, path []string) {
		var s struct {
			Type       any                        `json:"type"`
			Header     any                        `json:"x-mcp-header"`
			Properties map[string]json.RawMessage `json:"properties"`
		}
		if len(path) > jsonrpc2.DefaultMaxDepth || len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &s) != nil {
			return
		}
		kind, _ := s.Type.(string)
		if name, ok := s.Header.(string); ok && len(path) > 0 && isHeaderName(name) {
			switch kind {
			case "string", "integer", "boolean":
				ps = append(ps, param{textproto.CanonicalMIMEHeaderKey(headerParam + name), append([]string(nil), path...), kind})
			}
		}
		for name, p := range s.Properties {
			walk(p, append(path, name))
		}
	}
	walk(schema, nil)
	return ps
}

// check compares one header with the argument it repeats.
func (p *param) check(values []string, arguments json.RawMessage) *jsonrpc2.Error {
	v, one := lookup(arguments, p.path)
	if !one {
		return mismatch(p.header + " repeats an argument that is there twice")
	}
	if v == nil {
		if len(values) > 0 {
			return mismatch(p.header + " repeats an argument that is not there")
		}
		return nil
	}
	if !p.fits(v) {
		return nil // validation of the arguments says what is wrong
	}
	if len(values) == 0 {
		return mismatch(p.header + " is missing")
	}
	if text, ok := single(values); ok {
		if text, ok = decodeValue(text); ok && p.equal(v, text) {
			return nil
		}
	}
	return mismatch(p.header + " is not the argument")
}

// lookup finds the value at a path; nil if there is none or it is null. It reports false if a member on the way is there twice: the function might see
// another of them than what is compared.
func lookup(raw json.RawMessage, path []string) (v json.RawMessage, one bool) {
	for _, name := range path {
		if raw, one = only(raw, name); !one || raw == nil {
			return nil, one
		}
	}
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		return nil, true
	}
	return raw, true
}

// only finds a member of an object, nil if there is none. It reports false if there are two.
func only(raw json.RawMessage, name string) (value json.RawMessage, one bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, true
	}
	for d.More() {
		t, err := d.Token()
		var v json.RawMessage
		if err != nil || d.Decode(&v) != nil {
			return nil, true
		}
		if t == name {
			if value != nil {
				return nil, false
			}
			value = v
		}
	}
	return value, true
}

// fits reports whether a value is of the type the schema asks for, as far as a header can carry it.
func (p *param) fits(v json.RawMessage) bool {
	switch p.kind {
	case "string":
		return v[0] == '"'
	case "boolean":
		return v[0] == 't' || v[0] == 'f'
	}
	f, err := strconv.ParseFloat(string(v), 64)
	return err == nil && f == math.Trunc(f)
}

const maxExact = 1<<53 - 1

func (p *param) equal(v json.RawMessage, text string) bool {
	switch p.kind {
	case "string":
		var s string
		return jsonrpc2.DefaultCodec.Unmarshal(v, &s) == nil && s == text
	case "boolean":
		return string(v) == text
	}
	a, err := strconv.ParseFloat(string(v), 64)
	if err != nil || !isDecimal(text) {
		return false
	}
	b, err := strconv.ParseFloat(text, 64)
	return err == nil && a == b && math.Abs(a) <= maxExact
}

// isDecimal: ParseFloat understands more than numbers of JSON.
func isDecimal(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole, frac, dot := strings.Cut(s, ".")
	return isDigits(whole) && (!dot || isDigits(frac))
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
