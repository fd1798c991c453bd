package vectors

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
)

type caller = func(ctx context.Context, name string, a mcp.Arguments) (any, error)

func tools(all ...mcp.Tool) func(context.Context) ([]mcp.Tool, error) {
	return func(context.Context) ([]mcp.Tool, error) { return all, nil }
}

func unknownTool(_ context.Context, name string, _ mcp.Arguments) (any, error) {
	return nil, mcp.UnknownTool(name)
}

// bare is a server without tools.
func bare(w *witness, name string, call caller) *mcp.Server {
	return &mcp.Server{Name: name, Version: "1.0.0", Lister: tools(), Caller: call, Reporter: w.reporter}
}

func weather(w *witness) *mcp.Server {
	s := bare(w, "Weather", func(_ context.Context, name string, a mcp.Arguments) (any, error) {
		city, _ := a.Text("city")
		switch {
		case name != "forecast":
			return nil, mcp.UnknownTool(name)
		case city == "":
			return mcp.ErrorResult("Tell me which city."), nil
		}
		return mcp.TextResult("Sunny in " + city + ", 24 °C."), nil
	})
	s.Instructions = "Call forecast for any weather question."
	s.Lister = tools(mcp.Tool{
		Name:        "forecast",
		Description: "Tomorrow's forecast for a city.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`),
	})
	return s
}

// sessions keeps what was agreed where the context leads.
func sessions(w *witness) *mcp.Server {
	s := bare(w, "Weather", func(ctx context.Context, _ string, _ mcp.Arguments) (any, error) {
		ses, _ := mcp.CallerFrom[session](ctx)
		return mcp.TextResult("Speaking " + ses.load("revision") + " with " + ses.load("client") + "."), nil
	})
	s.Initializer = func(ctx context.Context, revision string, params mcp.Arguments) error {
		var p struct {
			ClientInfo struct {
				Name *string `json:"name"`
			} `json:"clientInfo"`
		}
		if err := params.Decode(&p); err != nil {
			return err
		}
		client := "unknown"
		if p.ClientInfo.Name != nil {
			client = *p.ClientInfo.Name
		}
		ses, _ := mcp.CallerFrom[session](ctx)
		ses.store("revision", revision)
		ses.store("client", client)
		return nil
	}
	return s
}

// orders shows and runs its tool only for those with the scope.
func orders(w *witness) *mcp.Server {
	may := func(ctx context.Context) (identity, bool) {
		who, _ := mcp.CallerFrom[identity](ctx)
		return who, slices.Contains(who.scopes, "orders:write")
	}
	s := bare(w, "Orders", func(ctx context.Context, _ string, a mcp.Arguments) (any, error) {
		who, ok := may(ctx)
		if !ok {
			return mcp.ErrorResult("Not allowed."), nil
		}
		order, _ := a.Lookup("order")
		return mcp.TextResult("Order " + string(order) + " cancelled by " + who.id + "."), nil
	})
	s.Lister = func(ctx context.Context) ([]mcp.Tool, error) {
		if _, ok := may(ctx); !ok {
			return nil, nil
		}
		return []mcp.Tool{{
			Name:        "cancel",
			Description: "Cancel an order.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"order":{"type":"integer"}}}`),
		}}, nil
	}
	return s
}

func notes(w *witness) *mcp.Server {
	texts := map[string]string{"notes://welcome": "Welcome to the team!", "notes://deploy": "Deploys run on Fridays."}
	s := bare(w, "Notes", unknownTool)
	s.Resources = func(context.Context) ([]mcp.Resource, error) {
		return []mcp.Resource{
			{URI: "notes://welcome", Name: "welcome", MIMEType: "text/plain"},
			{URI: "notes://deploy", Name: "deploy", MIMEType: "text/plain"},
		}, nil
	}
	s.Templates = func(context.Context) ([]mcp.Template, error) {
		return []mcp.Template{{URITemplate: "notes://{slug}", Name: "note", MIMEType: "text/plain"}}, nil
	}
	s.Reader = func(_ context.Context, uri string) (any, error) {
		text, ok := texts[uri]
		if !ok {
			return nil, mcp.ResourceNotFound(uri)
		}
		return []mcp.ResourceContents{{URI: uri, MIMEType: "text/plain", Text: text}}, nil
	}
	s.Prompts = func(context.Context) ([]mcp.Prompt, error) {
		return []mcp.Prompt{{
			Name:        "summarize",
			Description: "Summarize one note.",
			Arguments:   []mcp.PromptArgument{{Name: "slug", Required: true}},
		}}, nil
	}
	s.Prompter = func(_ context.Context, name string, a mcp.Arguments) (any, error) {
		slug, ok := a.Text("slug")
		if name != "summarize" || !ok {
			return nil, mcp.InvalidParams("Unknown prompt or missing slug: %s", name)
		}
		return &mcp.PromptResult{
			Description: "Summarize one note.",
			Messages:    []mcp.PromptMessage{{Role: mcp.RoleUser, Content: mcp.Text("Summarize the note notes://" + slug + ".")}},
		}, nil
	}
	return s
}

// empty answers with values that are nothing, or next to nothing.
func empty(w *witness) *mcp.Server {
	return bare(w, "Weather", func(_ context.Context, name string, _ mcp.Arguments) (any, error) {
		switch name {
		case "count":
			return 0, nil
		case "cities":
			return []string{"Lisbon", "Porto"}, nil
		case "no":
			return false, nil
		case "blank":
			return "", nil
		case "null":
			return nil, nil
		case "nested":
			return map[string]any{"content": []any{}, "isError": false}, nil
		case "object":
			return struct{}{}, nil
		}
		return []any{}, nil
	})
}

func failing(w *witness) *mcp.Server {
	return bare(w, "Weather", func(context.Context, string, mcp.Arguments) (any, error) {
		return nil, errors.New("upstream API key rejected")
	})
}

// half has one function of each pair, which turns nothing on.
func half(w *witness) *mcp.Server {
	full, s := notes(w), bare(w, "Half", unknownTool)
	s.Resources, s.Prompter = full.Resources, full.Prompter
	return s
}

func noTemplates(w *witness) *mcp.Server {
	s := bare(w, "NoTpl", unknownTool)
	s.Resources = func(context.Context) ([]mcp.Resource, error) { return nil, nil }
	s.Reader = notes(w).Reader
	return s
}

func batchOf(n int) func(*witness) *mcp.Server {
	return func(w *witness) *mcp.Server {
		s := bare(w, "Weather", unknownTool)
		s.Batch = n
		return s
	}
}

// admitID and admitBatch are what [mcp.Server.Handle] refuses whatever the lifecycle of a session is.
func admitID(_ context.Context, r *jsonrpc2.Request) error {
	if id, ok := r.ID(); ok && id.IsNull() {
		return jsonrpc2.ErrInvalidRequest
	}
	return nil
}

func admitBatch(_ context.Context, batch []*jsonrpc2.Request) error {
	if slices.ContainsFunc(batch, func(r *jsonrpc2.Request) bool { return r.Method == "initialize" }) {
		return jsonrpc2.ErrInvalidRequest
	}
	return nil
}
