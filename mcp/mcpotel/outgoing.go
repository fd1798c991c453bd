package mcpotel

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
)

// Outgoing returns what wraps the way to a client: requests of the server get a span of kind client, until they are answered, and carry the trace context in
// _meta. Notifications pass as they are.
func Outgoing(o Options) func(mcp.Peer) mcp.Peer {
	t := newTracer(o)
	return func(p mcp.Peer) mcp.Peer { return peer{p, t} }
}

type peer struct {
	mcp.Peer
	t *tracer
}

// Call implements mcp.Peer.
func (p peer) Call(ctx context.Context, method string, params, result any) error {
	ctx, span := p.t.Start(ctx, method, trace.WithSpanKind(trace.SpanKindClient))
	defer span.End()
	if span.IsRecording() {
		span.SetAttributes(attribute.String("rpc.system", "jsonrpc"), attribute.String("mcp.method.name", method))
	}
	err := p.Peer.Call(ctx, method, p.t.inject(ctx, params), result)
	if e, ok := errors.AsType[*jsonrpc2.Error](err); ok {
		fail(span, strconv.FormatInt(int64(e.Code), 10))
	} else if err != nil {
		fail(span, "error")
	}
	return err
}

// inject puts the trace context into the _meta of params. Params that are no object stay as they are.
func (t *tracer) inject(ctx context.Context, params any) any {
	c := make(carrier)
	t.Inject(ctx, c)
	if len(c) == 0 {
		return params
	}
	members := make(map[string]json.RawMessage)
	if params != nil {
		text, err := mcp.Encode(params)
		if err != nil || json.Unmarshal(text, &members) != nil || members == nil {
			return params
		}
	}
	meta := make(map[string]json.RawMessage)
	if raw, ok := members["_meta"]; ok && (json.Unmarshal(raw, &meta) != nil || meta == nil) {
		return params
	}
	for key, value := range c {
		if _, there := meta[key]; !there {
			meta[key] = value
		}
	}
	text, err := json.Marshal(meta)
	if err != nil {
		return params
	}
	members["_meta"] = text
	if text, err = json.Marshal(members); err != nil {
		return params
	}
	return json.RawMessage(text)
}
