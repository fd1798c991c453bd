package lsp

import (
	"encoding/json"
	"errors"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Codec encodes and decodes the types of go.lsp.dev/protocol, and any other Go value by the rules of encoding/json/v2. Those types must not be given
// to another JSON package: their unions and optional members are invisible to it. Decoded values share no memory with the message.
//
// [Server.Mount] sets it. A program that is a client needs it in its own [jsonrpc2.Options].
var Codec jsonrpc2.AppendCodec = codec{}

type codec struct{}

var errDecode = errors.New("value does not decode")

func (codec) Marshal(v any) ([]byte, error) { return appendValue(nil, v) }

func (codec) Append(dst []byte, v any) ([]byte, error) { return appendValue(dst, v) }

// Unmarshal drops the text of the decoder's error: it quotes the message.
func (codec) Unmarshal(data []byte, v any) error {
	switch v := v.(type) {
	case *json.RawMessage:
		*v = append(json.RawMessage(nil), data...)
		return nil
	case *view:
		*v = data
		return nil
	case *tolerant:
		return lenient(data, v)
	}
	if readQuick(data, v) {
		return nil
	}
	if protocol.Unmarshal(data, v) != nil {
		return respell(data, v)
	}
	return nil
}

// view is a look at the params without a copy. It is for handlers that are done with them when they return: after that the memory is used again.
type view []byte

func rawParams(r *jsonrpc2.Request) view {
	var v view
	_ = r.Decode(&v) // cannot fail; absent params leave it nil
	return v
}
