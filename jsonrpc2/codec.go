package jsonrpc2

import (
	"errors"
	"fmt"

	"github.com/segmentio/encoding/json"
)

// Codec encodes results, error data and outbound params, and decodes params and results. A front end whose types bring a codec of their own
// sets it in [Options.Codec]. Methods may be called by many goroutines at once.
type Codec interface {
	// Marshal encodes v as one JSON value.
	Marshal(v any) ([]byte, error)
	// Unmarshal decodes data, already checked to be valid JSON of bounded depth, into v. It must not keep data or parts of it.
	Unmarshal(data []byte, v any) error
}

// AppendCodec is a Codec that can encode into a buffer it is given, which saves a copy of every result.
type AppendCodec interface {
	Codec
	// Append encodes v at the end of dst.
	Append(dst []byte, v any) ([]byte, error)
}

// LineCodec is an AppendCodec that knows of some values that it encodes them without line feeds. Encoded results are searched for those, since a message
// is one line; the results it knows are not.
type LineCodec interface {
	AppendCodec
	// OneLine reports whether Append writes no line feed for v. False says nothing.
	OneLine(v any) bool
}

// DefaultCodec is used where [Options.Codec] is nil: segmentio/encoding, member names matched exactly, and <, > and & left as they are.
var DefaultCodec AppendCodec = segmentCodec{}

type segmentCodec struct{}

func (segmentCodec) Marshal(v any) ([]byte, error) { return marshalJSON(v) }
func (segmentCodec) Append(dst []byte, v any) ([]byte, error) {
	return json.Append(dst, v, json.SortMapKeys)
}

func (segmentCodec) Unmarshal(data []byte, v any) error {
	rest, err := json.Parse(data, v, json.DontMatchCaseInsensitiveStructFields)
	if err != nil {
		return hideText(err)
	}
	if len(rest) > 0 {
		return errors.New("bytes after the value")
	}
	return nil
}

// hideText keeps of a decoding error what names the place and drops what quotes the payload.
func hideText(err error) error {
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && t.Type != nil {
		return &placeError{field: t.Field, want: t.Type.String()}
	}
	return fmt.Errorf("value does not decode (%T)", err)
}

func marshalJSON(v any) ([]byte, error) { return json.Append(nil, v, json.SortMapKeys) }
