package mcp

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// codec encodes results that know how to encode themselves, and everything else as the engine would.
type codec struct{ next jsonrpc2.AppendCodec }

// appender is a result that encodes itself.
type appender interface {
	appendJSON(dst []byte) ([]byte, error)
}

// borrowed is a target for Decode that takes the params as they are. The bytes are good until the handler returns: this is how a handler
// reads raw params without making them its own, which would keep their buffer from being used again.
type borrowed struct{ raw []byte }

func newCodec(c jsonrpc2.Codec) codec {
	switch c := c.(type) {
	case nil:
		return codec{jsonrpc2.DefaultCodec}
	case codec:
		return c
	case jsonrpc2.AppendCodec:
		return codec{c}
	default:
		return codec{appending{c}}
	}
}

func (c codec) Marshal(v any) ([]byte, error) { return c.Append(nil, v) }

func (c codec) Append(dst []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case whole:
		n := len(dst)
		dst, err := c.Append(dst, v.v)
		if err != nil {
			return dst, err
		}
		switch string(dst[n:]) {
		case "null", "[]":
			dst = append(dst[:n], "{}"...)
		}
		return dst, nil
	case *CallToolResult: // the interface below would do, but a nil one has to encode as null
		if v == nil {
			return append(dst, "null"...), nil
		}
		return v.appendJSON(dst)
	case *extra:
		return v.dress(dst, c)
	case encoded:
		return append(dst, v...), nil
	case appender:
		if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer && p.IsNil() {
			return append(dst, "null"...), nil
		}
		return v.appendJSON(dst)
	}
	return c.next.Append(dst, v)
}

// OneLine implements jsonrpc2.LineCodec for results that may be long texts: there are no line feeds in strings.
func (c codec) OneLine(v any) bool {
	switch v := v.(type) {
	case TextResult:
		return true
	case *CallToolResult:
		return v != nil && v.StructuredContent == nil && len(v.Meta) == 0 && onlyText(v.Content)
	case *extra:
		return bytes.IndexByte(v.server.signature, '\n') < 0 && c.OneLine(v.result)
	}
	return false
}

func onlyText(blocks []Content) bool {
	for _, b := range blocks {
		if t, ok := b.(*TextContent); !ok || t == nil || t.Annotations != nil || len(t.Meta) > 0 {
			return false
		}
	}
	return true
}

func (c codec) Unmarshal(data []byte, v any) error {
	if b, ok := v.(*borrowed); ok {
		b.raw = data
		return nil
	}
	return c.next.Unmarshal(data, v)
}

// appending makes an AppendCodec of any Codec.
type appending struct{ jsonrpc2.Codec }

func (a appending) Append(dst []byte, v any) ([]byte, error) {
	b, err := a.Marshal(v)
	return append(dst, b...), err
}

// whole is a result whose encoding becomes {} if it is exactly [] or null.
type whole struct{ v any }

// wholeResult prepares what a closure returned for the codec. Results that cannot be empty pass as they are.
func wholeResult(result any) any {
	switch v := result.(type) {
	case nil:
		return emptyResult
	case TextResult:
		return result
	case *CallToolResult:
		if v != nil {
			return result
		}
		return emptyResult
	case json.RawMessage:
		switch t := bytes.TrimSpace(v); {
		case len(t) == 0, string(t) == "null", t[0] == '[' && len(bytes.TrimSpace(t[1:len(t)-1])) == 0:
			return emptyResult
		}
		return v
	case resultTyper:
		return v
	}
	return whole{result}
}

var (
	emptyResult       = json.RawMessage(`{}`)
	emptyObjectSchema = json.RawMessage(`{"type":"object","properties":{}}`)
)

// appendValue encodes any value of ours. The value's type is not the peer's to choose, so recursion is bounded by what the program made.
func appendValue(dst []byte, v any) ([]byte, error) {
	if e, ok := v.(encoded); ok {
		return append(dst, e...), nil
	}
	return jsonrpc2.DefaultCodec.Append(dst, v)
}

// encoded is JSON that this package wrote itself.
type encoded []byte

// MarshalJSON returns e.
func (e encoded) MarshalJSON() ([]byte, error) { return e, nil }

// listResult is an object with one member that is a list, [] if there is nothing in it.
type listResult struct {
	name string
	list any
	next string // cursor of the next page, "" for none
}

func (l listResult) appendJSON(dst []byte) ([]byte, error) {
	dst = append(dst, '{', '"')
	dst = append(dst, l.name...)
	dst = append(dst, '"', ':')
	n := len(dst)
	dst, err := appendValue(dst, l.list)
	if err != nil {
		return dst, err
	}
	if string(dst[n:]) == "null" {
		dst = append(dst[:n], '[', ']')
	}
	if l.next != "" {
		dst = appendString(append(dst, `,"nextCursor":`...), l.next)
	}
	return append(dst, '}'), nil
}
