package mcpotel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
	"github.com/tandem-rpc/tandem/mcp/mcpotel"
)

// recorder is a provider that writes down each span when it ends.
type recorder struct {
	noop.TracerProvider
	mu    sync.Mutex
	spans []string
	n     byte
}

func (r *recorder) Tracer(string, ...trace.TracerOption) trace.Tracer { return recordingTracer{r: r} }

func (r *recorder) take() (spans []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	spans, r.spans = r.spans, nil
	return spans
}

type recordingTracer struct {
	noop.Tracer
	r *recorder
}

func (t recordingTracer) Start(ctx context.Context, name string, o ...trace.SpanStartOption) (context.Context, trace.Span) {
	c := trace.NewSpanStartConfig(o...)
	parent := trace.SpanContextFromContext(ctx)
	id := parent.TraceID()
	if !parent.IsValid() {
		id = trace.TraceID{1}
	}
	t.r.mu.Lock()
	t.r.n++
	own := trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: trace.SpanID{t.r.n}, TraceFlags: trace.FlagsSampled})
	t.r.mu.Unlock()
	s := &recordedSpan{r: t.r, name: name, kind: c.SpanKind(), parent: parent, own: own}
	return trace.ContextWithSpan(ctx, s), s
}

type recordedSpan struct {
	noop.Span
	r           *recorder
	name        string
	kind        trace.SpanKind
	parent, own trace.SpanContext
	attrs       []string
	code        codes.Code
}

func (s *recordedSpan) IsRecording() bool              { return true }
func (s *recordedSpan) SpanContext() trace.SpanContext { return s.own }
func (s *recordedSpan) SetName(name string)            { s.name = name }
func (s *recordedSpan) SetStatus(c codes.Code, why string) {
	if s.code = c; why != "" {
		s.attrs = append(s.attrs, "status="+why)
	}
}
func (s *recordedSpan) SetAttributes(kv ...attribute.KeyValue) {
	for _, a := range kv {
		s.attrs = append(s.attrs, string(a.Key)+"="+a.Value.AsString())
	}
}
func (s *recordedSpan) End(...trace.SpanEndOption) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	slices.Sort(s.attrs)
	parent := "none"
	if s.parent.IsValid() {
		parent = s.parent.TraceID().String()[:4] + "-" + s.parent.SpanID().String()
	}
	s.r.spans = append(s.r.spans, fmt.Sprintf("%s %s of %s %v %s", s.kind, s.name, parent, s.code, strings.Join(s.attrs, " ")))
}

const parent = `"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","tracestate":"a=b","baggage":"user=ada"`

type none struct{}

func server(r *recorder, o mcpotel.Options) *mcp.Server {
	var box mcp.Toolbox
	mcp.AddTool(&box, mcp.Tool{Name: "ok"}, func(ctx context.Context, _ none) (string, error) {
		return baggage.FromContext(ctx).Member("user").Value() + trace.SpanContextFromContext(ctx).TraceID().String()[:4], nil
	})
	mcp.AddTool(&box, mcp.Tool{Name: "fails"}, func(context.Context, none) (string, error) { return "", errors.New("secret") })
	mcp.AddTool(&box, mcp.Tool{Name: "broken"}, func(context.Context, none) (any, error) { return func() {}, nil })
	mcp.AddTool(&box, mcp.Tool{Name: "panics"}, func(context.Context, none) (any, error) { panic("secret") })
	mcp.AddTool(&box, mcp.Tool{Name: "asks"}, func(ctx context.Context, _ none) (string, error) {
		return "", mcp.SessionFrom(ctx).Call(ctx, "custom/ask", map[string]any{"q": 1, "_meta": map[string]any{"k": "v"}}, nil)
	})
	s := &mcp.Server{}
	box.Attach(s)
	if r != nil {
		o.Provider = r
	}
	mcpotel.Instrument(s, o)
	return s
}

func TestSpans(t *testing.T) {
	const common = "jsonrpc.protocol.version=2.0 jsonrpc.request.id=1 mcp.method.name="
	for _, c := range []struct{ name, method, params, want string }{
		{"no parent", "tools/call", `{"name":"ok"}`, "server tools/call ok of none Unset gen_ai.operation.name=execute_tool gen_ai.tool.name=ok " + common + "tools/call rpc.system=jsonrpc"},
		{"parent", "tools/call", `{"name":"ok","_meta":{` + parent + `}}`, "server tools/call ok of 0af7-b7ad6b7169203331 Unset gen_ai.operation.name=execute_tool gen_ai.tool.name=ok " + common + "tools/call rpc.system=jsonrpc"},
		{"bad parent", "tools/list", `{"_meta":{"traceparent":"00-zz","tracestate":5,"baggage":{}}}`, "server tools/list of none Unset " + common + "tools/list rpc.system=jsonrpc"},
		{"parent of another type", "tools/list", `{"_meta":{"traceparent":["00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"]}}`, "server tools/list of none Unset " + common + "tools/list rpc.system=jsonrpc"},
		{"params of another type", "tools/list", `[]`, "server tools/list of none Error error.type=-32602 " + common + "tools/list rpc.system=jsonrpc"},
		{"tool error", "tools/call", `{"name":"fails"}`, "server tools/call fails of none Error error.type=tool_error gen_ai.operation.name=execute_tool gen_ai.tool.name=fails " + common + "tools/call rpc.system=jsonrpc"},
		{"internal error", "tools/call", `{"name":"broken"}`, "server tools/call of none Error error.type=-32603 gen_ai.operation.name=execute_tool gen_ai.tool.name=broken " + common + "tools/call rpc.system=jsonrpc"},
		{"panic", "tools/call", `{"name":"panics"}`, "server tools/call of none Error error.type=panic gen_ai.operation.name=execute_tool gen_ai.tool.name=panics " + common + "tools/call rpc.system=jsonrpc"},
		{"unknown tool", "tools/call", `{"name":"other"}`, "server tools/call of none Error error.type=-32602 gen_ai.operation.name=execute_tool gen_ai.tool.name=other " + common + "tools/call rpc.system=jsonrpc"},
		{"a name that is long", "tools/call", `{"name":"` + strings.Repeat("x", 1000) + `"}`, "server tools/call of none Error error.type=-32602 " + common + "tools/call rpc.system=jsonrpc"},
		{"a method that is made up", "made/up", `{}`, "server unknown of none Error error.type=-32601 " + common + "made/up rpc.system=jsonrpc"},
		{"a method that is long", strings.Repeat("x", 1000), `{}`, "server unknown of none Error error.type=-32601 " + common + "unknown rpc.system=jsonrpc"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := new(recorder)
			s := server(r, mcpotel.Options{})
			s.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"`+c.method+`","params":`+c.params+`}`))
			if got := r.take(); len(got) != 1 || got[0] != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// Without a provider there are no spans, and the trace goes on all the same.
func TestContextAlone(t *testing.T) {
	s := server(nil, mcpotel.Options{})
	got := string(s.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ok","_meta":{`+parent+`}}}`)))
	if !strings.Contains(got, `"ada0af7"`) {
		t.Errorf("got %s", got)
	}
	r := new(recorder)
	s = server(r, mcpotel.Options{})
	s.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	if spans := r.take(); len(spans) != 0 {
		t.Errorf("a notification has spans: %q", spans)
	}
}

func TestResourceURI(t *testing.T) {
	for _, on := range []bool{false, true} {
		r := new(recorder)
		s := &mcp.Server{}
		var set mcp.ResourceSet
		set.Add(mcp.Resource{URI: "note://a?key=1", Name: "a"}, func(context.Context) (any, error) { return "x", nil })
		set.Attach(s)
		mcpotel.Instrument(s, mcpotel.Options{Provider: r, ResourceURI: on})
		s.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"note://a?key=1"}}`))
		if got := r.take(); len(got) != 1 || strings.Contains(got[0], "mcp.resource.uri=note://a?key=1") != on {
			t.Errorf("%t: %q", on, got)
		}
	}
}

// client notes the params it is sent.
type client struct {
	params string
	err    error
}

func (c *client) Call(_ context.Context, _ string, params, _ any) error {
	b, err := mcp.Encode(params)
	c.params = string(b)
	if c.err != nil {
		return c.err
	}
	return err
}

func (c *client) Notify(context.Context, string, any) error { return nil }

func TestOutgoing(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"answered", nil, "client custom/ask of 0af7-0100000000000000 Unset mcp.method.name=custom/ask rpc.system=jsonrpc"},
		{"refused", jsonrpc2.Errorf(-1, "the user refused"), "client custom/ask of 0af7-0100000000000000 Error error.type=-1 mcp.method.name=custom/ask rpc.system=jsonrpc"},
		{"lost", errors.New("secret"), "client custom/ask of 0af7-0100000000000000 Error error.type=error mcp.method.name=custom/ask rpc.system=jsonrpc"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, p := new(recorder), &client{err: c.err}
			s := server(r, mcpotel.Options{})
			ses, err := s.NewSession(p)
			if err != nil {
				t.Fatal(err)
			}
			defer ses.Close(nil)
			ses.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`))
			r.take()
			r.n = 0
			ses.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"asks","_meta":{`+parent+`}}}`))
			got := r.take()
			if len(got) != 2 || got[0] != c.want || !strings.Contains(got[1], "mcp.protocol.version=2025-11-25") {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
			var m struct {
				Q    int
				Meta map[string]string `json:"_meta"`
			}
			if err := json.Unmarshal([]byte(p.params), &m); err != nil {
				t.Fatal(err)
			}
			want := map[string]string{"k": "v", "traceparent": "00-0af7651916cd43dd8448eb211c80319c-0200000000000000-01", "baggage": "user=ada"}
			if m.Q != 1 || fmt.Sprint(m.Meta) != fmt.Sprint(want) {
				t.Errorf("got  %v\nwant %v", m.Meta, want)
			}
		})
	}
}

// Params that cannot carry trace context pass as they are.
func TestOutgoingParams(t *testing.T) {
	ctx := trace.ContextWithSpanContext(context.Background(), trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}}))
	for _, c := range []struct{ params, want string }{
		{`[1]`, `[1]`}, {`null`, `null`}, {`{"_meta":5}`, `{"_meta":5}`}, {`{"_meta":null}`, `{"_meta":null}`},
		{`{"_meta":{"traceparent":"x"}}`, `{"_meta":{"traceparent":"x"}}`},
		{``, `{"_meta":{"traceparent":"00-01000000000000000000000000000000-0200000000000000-00"}}`},
		{`{"a":{"b":1.0}}`, `{"_meta":{"traceparent":"00-01000000000000000000000000000000-0200000000000000-00"},"a":{"b":1.0}}`},
	} {
		p := new(client)
		var params any
		if c.params != "" {
			params = json.RawMessage(c.params)
		}
		if err := mcpotel.Outgoing(mcpotel.Options{})(p).Call(ctx, "x", params, nil); err != nil || p.params != c.want {
			t.Errorf("%s: %s %v", c.params, p.params, err)
		}
	}
	p := new(client)
	_ = mcpotel.Outgoing(mcpotel.Options{})(p).Call(context.Background(), "x", json.RawMessage(`{"a":1}`), nil)
	if p.params != `{"a":1}` {
		t.Errorf("without a trace: %s", p.params)
	}
}
