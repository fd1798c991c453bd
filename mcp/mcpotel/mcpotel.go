// Package mcpotel traces a Model Context Protocol server with OpenTelemetry: it takes the trace context that clients send in _meta (traceparent, tracestate
// and baggage, as W3C Trace Context and W3C Baggage write them; MCP 2026-07-28, basic, _meta), starts a span for each request, and sends the trace
// context along with what the server asks its clients.
//
//	mcpotel.Instrument(server, mcpotel.Options{Provider: provider})
//
// It uses the API of OpenTelemetry alone: spans go where the provider takes them. Spans have the names and attributes of the semantic conventions for MCP:
// "tools/call greet", mcp.method.name, gen_ai.tool.name, jsonrpc.request.id, mcp.protocol.version, error.type. What clients send as arguments, and what
// tools answer, is not recorded, and neither is the text of errors: it may hold secrets.
package mcpotel

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
)

// Scope is the name of the instrumentation, as spans carry it.
const Scope = "github.com/tandem-rpc/tandem/mcp/mcpotel"

// Options choose how a server is traced. The zero Options only pass trace context on.
type Options struct {
	// Provider makes the spans. Nil: there are none, and trace context is still taken and passed on.
	Provider trace.TracerProvider
	// Propagator reads and writes _meta. Nil: W3C Trace Context and W3C Baggage.
	Propagator propagation.TextMapPropagator
	// ResourceURI records the URI of resources that are read, as mcp.resource.uri. A URI may hold what should not be kept.
	ResourceURI bool
}

// Instrument sets up a server that is not in use yet: it puts [Incoming] before its Middleware and [Outgoing] before what wraps its way out.
func Instrument(s *mcp.Server, o Options) {
	s.Middleware = append([]jsonrpc2.Middleware{Incoming(o)}, s.Middleware...)
	s.Outgoing = append([]func(mcp.Peer) mcp.Peer{Outgoing(o)}, s.Outgoing...)
}

type tracer struct {
	trace.Tracer
	propagation.TextMapPropagator
	uri bool
}

func newTracer(o Options) *tracer {
	t := &tracer{TextMapPropagator: o.Propagator, uri: o.ResourceURI}
	if o.Provider == nil {
		o.Provider = noop.NewTracerProvider()
	}
	if t.TextMapPropagator == nil {
		t.TextMapPropagator = propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})
	}
	t.Tracer = o.Provider.Tracer(Scope)
	return t
}

// Incoming returns middleware for requests and notifications: the context of their handlers has the client's trace context, and for requests a span of kind
// server, until they are answered.
func Incoming(o Options) jsonrpc2.Middleware {
	t := newTracer(o)
	return func(h jsonrpc2.Handler) jsonrpc2.Handler {
		return jsonrpc2.HandlerFunc(func(ctx context.Context, r *jsonrpc2.Request) (any, error) { return t.serve(ctx, r, h) })
	}
}

// params is what a span tells of a request.
type params struct {
	Meta map[string]json.RawMessage `json:"_meta"`
	Name string                     `json:"name"`
	URI  string                     `json:"uri"`
}

func (t *tracer) serve(ctx context.Context, r *jsonrpc2.Request, h jsonrpc2.Handler) (v any, err error) {
	var p params
	if r.HasParams() {
		if e := json.Unmarshal(r.Params(), &p); e != nil {
			p = params{} // the handler says what is wrong
		}
	}
	ctx = t.Extract(ctx, carrier(p.Meta))
	if r.IsNotification() {
		return h.Handle(ctx, r)
	}
	ctx, span := t.Start(ctx, spanMethod(r.Method), trace.WithSpanKind(trace.SpanKindServer))
	returned := false
	defer func() {
		if !returned { // a panic goes on to who recovers it
			fail(span, "panic")
		}
		span.End()
	}()
	if span.IsRecording() {
		t.describe(ctx, span, r, &p)
	}
	v, err = h.Handle(ctx, r)
	returned = true
	switch e, coded := errors.AsType[*jsonrpc2.Error](err); {
	case coded:
		if e.Code == jsonrpc2.CodeMethodNotFound {
			span.SetName(unknown) // names that clients make up are not for names of spans
		}
		fail(span, strconv.FormatInt(int64(e.Code), 10))
	case err != nil:
		fail(span, strconv.FormatInt(int64(jsonrpc2.CodeInternalError), 10))
	default:
		if name := p.target(r.Method); name != "" {
			span.SetName(r.Method + " " + name) // only now it is known to be one of the server's
		}
		if res, ok := v.(*mcp.CallToolResult); ok && res != nil && res.IsError {
			fail(span, "tool_error")
		}
	}
	return v, err
}

const (
	maxText = 128
	unknown = "unknown"
)

// spanMethod is a method as the name of a span.
func spanMethod(method string) string {
	if len(method) > maxText {
		return unknown
	}
	return method
}

func (p *params) target(method string) string {
	if (method == "tools/call" || method == "prompts/get") && len(p.Name) <= maxText {
		return p.Name
	}
	return ""
}

func (t *tracer) describe(ctx context.Context, span trace.Span, r *jsonrpc2.Request, p *params) {
	span.SetAttributes(attribute.String("rpc.system", "jsonrpc"), attribute.String("jsonrpc.protocol.version", "2.0"), attribute.String("mcp.method.name", spanMethod(r.Method)))
	if id, ok := r.ID(); ok && len(id.String()) <= maxText {
		span.SetAttributes(attribute.String("jsonrpc.request.id", id.String()))
	}
	if rev := mcp.SessionFrom(ctx).Revision(); rev != "" {
		span.SetAttributes(attribute.String("mcp.protocol.version", rev))
	}
	if name := p.target(r.Method); name != "" {
		if r.Method == "tools/call" {
			span.SetAttributes(attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.name", name))
		} else {
			span.SetAttributes(attribute.String("gen_ai.prompt.name", name))
		}
	}
	if t.uri && r.Method == "resources/read" {
		span.SetAttributes(attribute.String("mcp.resource.uri", p.URI))
	}
}

// fail marks a span without the text of the error, which is not for everybody who reads traces.
func fail(span trace.Span, kind string) {
	span.SetStatus(codes.Error, "")
	span.SetAttributes(attribute.String("error.type", kind))
}

// carrier is _meta for a propagator that reads.
type carrier map[string]json.RawMessage

const maxValue = 8 << 10 // bytes of one of the values; baggage may have so many

// Get implements propagation.TextMapCarrier.
func (c carrier) Get(key string) string {
	var text string
	if raw := c[key]; len(raw) <= maxValue && json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}

// Set implements propagation.TextMapCarrier.
func (c carrier) Set(key, value string) {
	if text, err := json.Marshal(value); err == nil {
		c[key] = text
	}
}

// Keys implements propagation.TextMapCarrier.
func (c carrier) Keys() []string {
	keys := make([]string, 0, len(c))
	for k := range c {
		keys = append(keys, k)
	}
	return keys
}
