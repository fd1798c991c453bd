package mcp

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
)

// resultTyper is a result of another type than "complete" (MCP 2026-07-28, Result.resultType).
type resultTyper interface{ resultType() string }

const resultComplete = "complete"

var errNoObject = errors.New("mcp: the result is no JSON object, as revision 2026-07-28 demands")

// dress encodes the result of a modern request: an object with resultType, the server's name in _meta and, where the method has them, cache hints
// (MCP 2026-07-28, basic, results; caching). What the value has of these members already stays.
func (x *extra) dress(dst []byte, c codec) ([]byte, error) {
	n := len(dst)
	dst, err := c.Append(dst, x.result)
	if err != nil {
		return dst, err
	}
	body := bytes.TrimSpace(dst[n:])
	switch {
	case len(body) == 0, string(body) == "null", string(body) == "[]":
		body = emptyResult
	case !isObject(body):
		return dst[:n], errNoObject
	}
	dst = append(dst[:n], body...) // moves it to where it is, but for space in front
	var has [4][]byte
	if !plainResult(x.result) {
		pick(dst[n:], []string{"_meta", "resultType", "ttlMs", "cacheScope"}, has[:])
	}
	kind := resultComplete
	if t, ok := x.result.(resultTyper); ok {
		kind = t.resultType()
	}
	if isObject(has[0]) {
		dst = x.sign(dst, has[0])
	}
	dst = dst[:len(dst)-1]
	if c := dst[len(dst)-1]; c != '{' {
		dst = append(dst, ',')
	}
	if has[1] == nil {
		dst = append(dst, `"resultType":`...)
		dst = append(appendString(dst, kind), ',')
	}
	if x.caches && kind == resultComplete && has[2] == nil && has[3] == nil {
		h := x.cacheHint()
		dst = append(dst, `"ttlMs":`...)
		dst = strconv.AppendInt(dst, max(h.TTL.Milliseconds(), 0), 10)
		if h.Public {
			dst = append(dst, `,"cacheScope":"public",`...)
		} else {
			dst = append(dst, `,"cacheScope":"private",`...)
		}
	}
	if has[0] == nil {
		dst = append(dst, `"_meta":{`...)
		dst = append(append(dst, x.server.signature...), "},"...)
	}
	dst[len(dst)-1] = '}'
	return dst, nil
}

// sign puts the server's name into meta, the _meta of the object that dst ends with, if it is not there.
func (x *extra) sign(dst, meta []byte) []byte {
	var has [1][]byte
	if pick(meta, []string{MetaServer}, has[:]); has[0] != nil {
		return dst
	}
	end := cap(dst) - cap(meta) + len(meta) - 1 // meta is a part of dst
	member := x.server.signature
	if inside := bytes.TrimSpace(meta[1 : len(meta)-1]); len(inside) > 0 {
		member = append([]byte{','}, member...)
	}
	return slices.Insert(dst, end, member...)
}

// plainResult reports whether v is known to have none of the members that dressing adds.
func plainResult(v any) bool {
	switch v := v.(type) {
	case TextResult, listResult:
		return true
	case *CallToolResult:
		return v != nil && len(v.Meta) == 0
	}
	return false
}
