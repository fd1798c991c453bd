package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/tandem-rpc/tandem/mcp"
	"github.com/tandem-rpc/tandem/mcp/mcphttp"
)

// contents adds the tools that answer one kind of content each.
func (s *Server) contents() {
	s.plain("test_simple_text", "Answers a text.", func(context.Context) (any, error) {
		return "This is a simple text response for testing.", nil
	})
	s.plain("test_image_content", "Answers a picture.", func(context.Context) (any, error) {
		return mcp.Image("image/png", png), nil
	})
	s.plain("test_audio_content", "Answers a sound.", func(context.Context) (any, error) {
		return mcp.Audio("audio/wav", wav), nil
	})
	s.plain("test_embedded_resource", "Answers a resource with its text.", func(context.Context) (any, error) {
		return embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."), nil
	})
	s.plain("test_multiple_content_types", "Answers a text, a picture and a resource.", func(context.Context) (any, error) {
		return []mcp.Content{
			mcp.Text("Multiple content types test:"),
			mcp.Image("image/png", png),
			embedded("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`),
		}, nil
	})
	s.plain("test_resource_link", "Answers a link to a resource.", func(context.Context) (any, error) {
		return &mcp.ResourceLink{Resource: staticText}, nil
	})
	s.plain("test_error_handling", "Always fails.", func(context.Context) (any, error) {
		return mcp.ErrorResult("This tool intentionally returns an error for testing"), nil
	})
	type measured struct {
		City    string  `json:"city" jsonschema:"where it was measured"`
		Celsius float64 `json:"celsius"`
	}
	safe := true
	mcp.AddTool(&s.box, mcp.Tool{
		Name: "test_structured_content", Title: "Structured content", Description: "Answers what a machine can read, and has every member a tool can have.",
		Annotations: &mcp.ToolAnnotations{Title: "Structured content", ReadOnlyHint: &safe, IdempotentHint: &safe}, Icons: icons, Meta: meta,
	},
		func(_ context.Context, in struct {
			City string `json:"city"`
		},
		) (measured, error) {
			return measured{City: in.City, Celsius: 21.5}, nil
		})
}

func embedded(uri, mimeType, text string) mcp.Content {
	return &mcp.EmbeddedResource{Resource: mcp.ResourceContents{URI: uri, MIMEType: mimeType, Text: text}}
}

// notifying adds the tools that send something before they answer.
func (s *Server) notifying() {
	s.plain("test_tool_with_logging", "Logs three messages while it runs.", func(ctx context.Context) (any, error) {
		ses := mcp.SessionFrom(ctx)
		for i, text := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
			if i > 0 {
				if err := pause(ctx, 50*time.Millisecond); err != nil {
					return nil, err
				}
			}
			if err := ses.Log(ctx, mcp.LevelInfo, "test_tool_with_logging", text); err != nil {
				return nil, err
			}
		}
		return "Tool with logging executed successfully", nil
	})
	s.plain("test_logging_tool", "Logs a message, if the client wants one.", func(ctx context.Context) (any, error) {
		return "Logged where logging was asked for", mcp.SessionFrom(ctx).Log(ctx, mcp.LevelInfo, "test_logging_tool", "This tool logs at info")
	})
	s.plain("test_tool_with_progress", "Reports its progress in three steps.", func(ctx context.Context) (any, error) {
		for done := 0; done <= 100; done += 50 {
			if done > 0 {
				if err := pause(ctx, 50*time.Millisecond); err != nil {
					return nil, err
				}
			}
			if err := mcp.Progress(ctx, float64(done), 100, "on the way"); err != nil {
				return nil, err
			}
		}
		return "Tool with progress executed successfully", nil
	})
	s.plain("test_reconnection", "Closes its stream and answers on the one that the client comes back with.", func(ctx context.Context) (any, error) {
		if err := mcphttp.CloseStream(ctx, 100*time.Millisecond); err != nil && !errors.Is(err, mcphttp.ErrPolling) {
			return nil, err
		}
		// Clients that cannot come back just wait.
		return "Reconnection test completed successfully", pause(ctx, 200*time.Millisecond)
	})
}

// hanging adds the tools by which a client sees that its cancellation has come through.
func (s *Server) hanging() {
	s.plain("test_hang", "Ends when it is cancelled, and not before.", func(ctx context.Context) (any, error) {
		s.hangs.Add(1)
		defer s.hangs.Add(-1)
		<-ctx.Done()
		return nil, context.Cause(ctx)
	})
	s.plain("test_hanging", "Says how many calls of test_hang there are.", func(context.Context) (any, error) {
		return strconv.FormatInt(s.hangs.Load(), 10), nil
	})
}

// schemas adds the tools whose schemas are looked at.
func (s *Server) schemas() {
	answer := func(context.Context, map[string]any) (string, error) { return "Accepted", nil }
	mcp.AddTool(&s.box, mcp.Tool{
		Name: "json_schema_2020_12_tool", Description: "Has a schema with keywords of JSON Schema 2020-12.",
		InputSchema: json.RawMessage(`{
			"$schema": "https://json-schema.org/draft/2020-12/schema",
			"type": "object",
			"$defs": {
				"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}
			},
			"properties": {
				"name": {"type": "string"},
				"address": {"$ref": "#/$defs/address"},
				"contactMethod": {"type": "string", "enum": ["phone", "email"]},
				"phone": {"type": "string"},
				"email": {"type": "string"}
			},
			"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
			"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
			"then": {"required": ["phone"]},
			"else": {"required": ["email"]},
			"additionalProperties": false
		}`),
	}, answer)
	mcp.AddTool(&s.box, mcp.Tool{
		Name: "test_x_mcp_header", Description: "Has an argument that HTTP clients repeat in a header.",
		InputSchema: json.RawMessage(`{
			"type": "object",
			"properties": {"region": {"type": "string", "x-mcp-header": "Region"}, "level": {"type": "integer"}}
		}`),
	}, func(_ context.Context, in struct {
		Region string `json:"region"`
		Level  int    `json:"level"`
	},
	) (string, error) {
		return "Region: " + in.Region, nil
	})
}
