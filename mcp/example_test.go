package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
)

// weather has one tool, written against the raw closures: it decides what is a protocol error and what a result the model can read.
func weather() *mcp.Server {
	return &mcp.Server{
		Name:         "Weather",
		Version:      "1.0.0",
		Instructions: "Call forecast for any weather question.",
		Lister: func(context.Context) ([]mcp.Tool, error) {
			return []mcp.Tool{{
				Name:        "forecast",
				Description: "Tomorrow's forecast for a city.",
				InputSchema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`),
			}}, nil
		},
		Caller: func(_ context.Context, name string, arguments mcp.Arguments) (any, error) {
			// An unknown tool is a protocol error.
			if name != "forecast" {
				return nil, mcp.UnknownTool(name)
			}
			// A failing call is a tool result the model can read.
			city, _ := arguments.Text("city")
			if city == "" {
				return mcp.ErrorResult("Tell me which city."), nil
			}
			return mcp.TextResult("Sunny in " + city + ", 24 °C."), nil
		},
	}
}

// handle prints what a server answers.
func handle(ctx context.Context, s *mcp.Server, payload string) {
	if answer := s.Handle(ctx, []byte(payload)); answer != nil {
		fmt.Printf("%s\n", answer)
	} else {
		fmt.Println("nothing is owed")
	}
}

func ExampleServer() {
	s, ctx := weather(), context.Background()
	handle(ctx, s, `{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "Client", "version": "1.0"}}}`)
	handle(ctx, s, `{"jsonrpc": "2.0", "method": "notifications/initialized"}`)
	handle(ctx, s, `{"jsonrpc": "2.0", "id": 2, "method": "tools/list"}`)
	handle(ctx, s, `{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "forecast", "arguments": {"city": "Lisbon"}}}`)
	handle(ctx, s, `{"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "forecast", "arguments": {}}}`)
	handle(ctx, s, `{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "radar"}}`)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":false}},"serverInfo":{"name":"Weather","version":"1.0.0"},"instructions":"Call forecast for any weather question."}}
	// nothing is owed
	// {"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"forecast","description":"Tomorrow's forecast for a city.","inputSchema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}]}}
	// {"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"Sunny in Lisbon, 24 °C."}],"isError":false}}
	// {"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"Tell me which city."}],"isError":true}}
	// {"jsonrpc":"2.0","id":5,"error":{"code":-32602,"message":"Unknown tool: radar"}}
}

func ExampleNegotiate() {
	fmt.Println(mcp.Negotiate("2025-03-26"))
	fmt.Println(mcp.Negotiate("2099-01-01"))
	fmt.Println(mcp.Negotiate(nil))
	fmt.Println(mcp.Versions)
	// Output:
	// 2025-03-26
	// 2025-11-25
	// 2025-11-25
	// [2025-11-25 2025-06-18 2025-03-26 2024-11-05]
}

// What belongs to one client travels in the context of each call. The Initializer stores what was agreed in the session the transport found.
func ExampleWithCaller_session() {
	type session struct{ revision, client string }
	sessions := map[string]*session{"c0ffee": {}, "decaf": {}} // the transport's, by session id

	s := &mcp.Server{
		Name: "Weather", Version: "1.0.0",
		Caller: func(ctx context.Context, name string, _ mcp.Arguments) (any, error) {
			s, _ := mcp.CallerFrom[*session](ctx)
			return mcp.TextResult("Speaking " + s.revision + " with " + s.client + "."), nil
		},
		Initializer: func(ctx context.Context, revision string, params mcp.Arguments) error {
			var p struct {
				ClientInfo mcp.Implementation `json:"clientInfo"`
			}
			if err := params.Decode(&p); err != nil {
				return err
			}
			s, _ := mcp.CallerFrom[*session](ctx)
			s.revision, s.client = revision, p.ClientInfo.Name
			return nil
		},
	}
	c0ffee := mcp.WithCaller(context.Background(), sessions["c0ffee"])
	decaf := mcp.WithCaller(context.Background(), sessions["decaf"])
	handle(c0ffee, s, `{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-03-26", "clientInfo": {"name": "Inspector", "version": "1.0"}}}`)
	handle(decaf, s, `{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "clientInfo": {"name": "Desktop", "version": "2.0"}}}`)
	handle(c0ffee, s, `{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "status"}}`)
	fmt.Println(sessions["c0ffee"].revision, sessions["c0ffee"].client)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26","capabilities":{"tools":{"listChanged":false}},"serverInfo":{"name":"Weather","version":"1.0.0"}}}
	// {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":false}},"serverInfo":{"name":"Weather","version":"1.0.0"}}}
	// {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"Speaking 2025-03-26 with Inspector."}],"isError":false}}
	// 2025-03-26 Inspector
}

// The identity works the same way: the Lister shows, and the Caller runs, what its caller may use.
func ExampleWithCaller_identity() {
	type identity struct {
		id     string
		scopes []string
	}
	may := func(ctx context.Context) bool {
		who, _ := mcp.CallerFrom[identity](ctx)
		return slices.Contains(who.scopes, "orders:write")
	}
	s := &mcp.Server{
		Name: "Orders", Version: "1.0.0",
		Lister: func(ctx context.Context) ([]mcp.Tool, error) {
			if !may(ctx) {
				return nil, nil
			}
			return []mcp.Tool{{
				Name: "cancel", Description: "Cancel an order.",
				InputSchema: json.RawMessage(`{"type":"object","properties":{"order":{"type":"integer"}}}`),
			}}, nil
		},
		Caller: func(ctx context.Context, name string, arguments mcp.Arguments) (any, error) {
			// Listing a tool is not enough: check the caller again on every call.
			if !may(ctx) {
				return mcp.ErrorResult("Not allowed."), nil
			}
			var a struct {
				Order int `json:"order"`
			}
			if err := arguments.Decode(&a); err != nil {
				return nil, err
			}
			who, _ := mcp.CallerFrom[identity](ctx)
			return mcp.TextResult(fmt.Sprintf("Order %d cancelled by %s.", a.Order, who.id)), nil
		},
	}
	ada := mcp.WithCaller(context.Background(), identity{"ada", []string{"orders:write"}})
	bob := mcp.WithCaller(context.Background(), identity{id: "bob"})
	handle(bob, s, `{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}`)
	handle(bob, s, `{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "cancel", "arguments": {"order": 42}}}`)
	handle(ada, s, `{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "cancel", "arguments": {"order": 42}}}`)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}
	// {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"Not allowed."}],"isError":true}}
	// {"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"Order 42 cancelled by ada."}],"isError":false}}
}

func ExampleServer_resourcesAndPrompts() {
	notes := map[string]string{
		"notes://welcome": "Welcome to the team!",
		"notes://deploy":  "Deploys run on Fridays.",
	}
	s := &mcp.Server{
		Name: "Notes", Version: "1.0.0",
		Resources: func(context.Context) ([]mcp.Resource, error) {
			return []mcp.Resource{
				{URI: "notes://welcome", Name: "welcome", MIMEType: "text/plain"},
				{URI: "notes://deploy", Name: "deploy", MIMEType: "text/plain"},
			}, nil
		},
		Templates: func(context.Context) ([]mcp.Template, error) {
			return []mcp.Template{{URITemplate: "notes://{slug}", Name: "note", MIMEType: "text/plain"}}, nil
		},
		Reader: func(_ context.Context, uri string) (any, error) {
			text, ok := notes[uri]
			if !ok {
				return nil, mcp.ResourceNotFound(uri)
			}
			return []mcp.ResourceContents{{URI: uri, MIMEType: "text/plain", Text: text}}, nil
		},
		Prompts: func(context.Context) ([]mcp.Prompt, error) {
			return []mcp.Prompt{{
				Name: "summarize", Description: "Summarize one note.",
				Arguments: []mcp.PromptArgument{{Name: "slug", Required: true}},
			}}, nil
		},
		Prompter: func(_ context.Context, name string, arguments mcp.Arguments) (any, error) {
			slug, ok := arguments.Text("slug")
			if name != "summarize" || !ok {
				return nil, mcp.InvalidParams("Unknown prompt or missing slug: %s", name)
			}
			return &mcp.PromptResult{
				Description: "Summarize one note.",
				Messages:    []mcp.PromptMessage{{Role: mcp.RoleUser, Content: mcp.Text("Summarize the note notes://" + slug + ".")}},
			}, nil
		},
	}
	ctx := context.Background()
	handle(ctx, s, `{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}`)
	handle(ctx, s, `{"jsonrpc": "2.0", "id": 2, "method": "resources/list"}`)
	handle(ctx, s, `{"jsonrpc": "2.0", "id": 3, "method": "resources/templates/list"}`)
	handle(ctx, s, `{"jsonrpc": "2.0", "id": 4, "method": "resources/read", "params": {"uri": "notes://deploy"}}`)
	handle(ctx, s, `{"jsonrpc": "2.0", "id": 5, "method": "resources/read", "params": {"uri": "notes://missing"}}`)
	handle(ctx, s, `{"jsonrpc": "2.0", "id": 6, "method": "prompts/list"}`)
	handle(ctx, s, `{"jsonrpc": "2.0", "id": 7, "method": "prompts/get", "params": {"name": "summarize", "arguments": {"slug": "deploy"}}}`)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":false},"resources":{"listChanged":false,"subscribe":false},"prompts":{"listChanged":false}},"serverInfo":{"name":"Notes","version":"1.0.0"}}}
	// {"jsonrpc":"2.0","id":2,"result":{"resources":[{"uri":"notes://welcome","name":"welcome","mimeType":"text/plain"},{"uri":"notes://deploy","name":"deploy","mimeType":"text/plain"}]}}
	// {"jsonrpc":"2.0","id":3,"result":{"resourceTemplates":[{"uriTemplate":"notes://{slug}","name":"note","mimeType":"text/plain"}]}}
	// {"jsonrpc":"2.0","id":4,"result":{"contents":[{"uri":"notes://deploy","mimeType":"text/plain","text":"Deploys run on Fridays."}]}}
	// {"jsonrpc":"2.0","id":5,"error":{"code":-32002,"message":"Resource not found","data":{"uri":"notes://missing"}}}
	// {"jsonrpc":"2.0","id":6,"result":{"prompts":[{"name":"summarize","description":"Summarize one note.","arguments":[{"name":"slug","required":true}]}]}}
	// {"jsonrpc":"2.0","id":7,"result":{"description":"Summarize one note.","messages":[{"role":"user","content":{"type":"text","text":"Summarize the note notes://deploy."}}]}}
}

// A whole result that is exactly an empty list or null goes out as {}; everything else as it is.
func ExampleServer_emptyResults() {
	s := &mcp.Server{
		Name: "Weather", Version: "1.0.0",
		Caller: func(_ context.Context, name string, _ mcp.Arguments) (any, error) {
			switch name {
			case "count":
				return 0, nil
			case "cities":
				return []string{"Lisbon", "Porto"}, nil
			}
			return []string{}, nil
		},
	}
	ctx := context.Background()
	handle(ctx, s, `{"jsonrpc": "2.0", "id": 1, "method": "ping"}`)
	handle(ctx, s, `{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "anything"}}`)
	handle(ctx, s, `{"jsonrpc": "2.0", "id": 3, "method": "tools/list"}`)
	handle(ctx, s, `{"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "count"}}`)
	handle(ctx, s, `{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "cities"}}`)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{}}
	// {"jsonrpc":"2.0","id":2,"result":{}}
	// {"jsonrpc":"2.0","id":3,"result":{"tools":[]}}
	// {"jsonrpc":"2.0","id":4,"result":0}
	// {"jsonrpc":"2.0","id":5,"result":["Lisbon","Porto"]}
}

// A tool without arguments has the schema of an object without properties, not null and not [].
func ExampleTool_withoutArguments() {
	s := &mcp.Server{Lister: func(context.Context) ([]mcp.Tool, error) {
		return []mcp.Tool{
			{Name: "by-hand", InputSchema: map[string]any{"type": "object", "properties": map[string]any{}}},
			{Name: "by-default"},
		}, nil
	}}
	handle(context.Background(), s, `{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}`)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"by-hand","inputSchema":{"properties":{},"type":"object"}},{"name":"by-default","inputSchema":{"type":"object","properties":{}}}]}}
}

// What the client must not see goes to the Reporter, with the context of the call.
func ExampleServer_reporter() {
	type session string
	s := &mcp.Server{
		Name: "Weather", Version: "1.0.0",
		Caller: func(context.Context, string, mcp.Arguments) (any, error) {
			return nil, errors.New("upstream API key rejected")
		},
		Reporter: func(ctx context.Context, r *jsonrpc2.Request, err error) {
			id, _ := mcp.CallerFrom[session](ctx)
			fmt.Printf("logged: MCP %s [%s]: %v\n", r.Method, id, err)
		},
	}
	ctx := mcp.WithCaller(context.Background(), session("c0ffee"))
	handle(ctx, s, `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "forecast"}}`)
	// Output:
	// logged: MCP tools/call [c0ffee]: upstream API key rejected
	// {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error"}}
}

// A batch that carries initialize is refused whole.
func ExampleServer_batch() {
	s := weather()
	handle(context.Background(), s, `[
   {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-03-26"}},
   {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
]`)
	fmt.Println(s.Dispatcher().MaxBatch())
	// Output:
	// {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}
	// 100
}

// Handle behind net/http: 202 when nothing is owed.
func ExampleServer_Handle_http() {
	s := weather()
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		payload, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			http.Error(w, "payload too large", http.StatusRequestEntityTooLarge)
			return
		}
		// The identity that an authentication layer found would go in here, with mcp.WithCaller.
		answer := s.Handle(r.Context(), payload)
		if answer == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	})
	for _, payload := range []string{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":1,"method":"ping"}`} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(payload)))
		fmt.Println(strings.TrimSpace(fmt.Sprint(w.Code, " ", w.Body)))
	}
	// Output:
	// 202
	// 200 {"jsonrpc":"2.0","id":1,"result":{}}
}
