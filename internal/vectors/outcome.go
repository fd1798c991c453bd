package vectors

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// outcome is what came of a local call, as in [Vector.Futures].
func outcome(result json.RawMessage, err error) string {
	var remote *jsonrpc2.Error
	switch {
	case err == nil:
		return `{"result":` + string(result) + `}`
	case errors.Is(err, context.Canceled):
		return `{"cancelled":true}`
	case errors.Is(err, jsonrpc2.ErrClosed):
		return `{"closed":true}`
	case errors.Is(err, jsonrpc2.ErrInvalidResponse):
		return `{"invalid":true}`
	case errors.As(err, &remote):
		e := map[string]any{"code": remote.Code, "message": remote.Message}
		if remote.Data != nil {
			e["data"] = remote.Data
		}
		return encode(map[string]any{"error": e})
	}
	return encode(map[string]string{"unexpected": err.Error()})
}

// thrown is what came of a call that was refused before it was sent.
func thrown(err error) string {
	why := err.Error()
	if errors.Is(err, jsonrpc2.ErrClosed) {
		why = "closed"
	}
	return encode(map[string]string{"throws": why})
}
