package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// inspector is the MCP Inspector's command line with demo-mcp as its server on
// stdio, serving the folder made by notes. Every call is a session of its own:
// the Inspector starts the server, initializes, does one thing and ends it.
type inspector struct{ argv []string }

func newInspector(t *testing.T, folder string) *inspector {
	t.Helper()
	argv := append(need(t, "inspector"), "--cli", build(t, "cmd/demo-mcp"), "-root", folder, "--format", "json")
	return &inspector{argv}
}

// run returns what the Inspector printed and its exit code.
func (i *inspector) run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := client(t, slices.Concat(i.argv, args)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// result decodes the result of a run that succeeds.
func (i *inspector) result(t *testing.T, result any, args ...string) {
	t.Helper()
	stdout, stderr, code := i.run(t, args...)
	if code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, stdout, tail(stderr, 4000))
	}
	var answer struct {
		Result json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal([]byte(stdout), &answer); err != nil {
		t.Fatalf("no JSON: %q: %v", stdout, err)
	}
	if err := json.Unmarshal(answer.Result, result); err != nil {
		t.Fatalf("result %s: %v", answer.Result, err)
	}
}

// fails runs what must end with an exit code and a text on stderr or stdout.
func (i *inspector) fails(t *testing.T, wantCode int, want string, args ...string) {
	t.Helper()
	stdout, stderr, code := i.run(t, args...)
	if code != wantCode || !strings.Contains(stdout+stderr, want) {
		t.Errorf("exit code %d, want %d with %q\n%s%s", code, wantCode, want, stdout, tail(stderr, 4000))
	}
}

// The parts of MCP's results that the tests look at.
type (
	content struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	resource struct {
		URI      string `json:"uri"`
		Name     string `json:"name"`
		MIMEType string `json:"mimeType"`
		Text     string `json:"text"`
	}
	message struct {
		Role    string  `json:"role"`
		Content content `json:"content"`
	}
	toolResult struct {
		Content    []content       `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError"`
	}
)

// structured decodes the structured content of a tool's result, of which the
// text must be a copy.
func (r *toolResult) structured(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal(r.Structured, v); err != nil {
		t.Fatalf("structuredContent %s: %v", r.Structured, err)
	}
	if len(r.Content) != 1 || r.Content[0].Type != "text" {
		t.Fatalf("content = %+v, want one text", r.Content)
	}
	var a, b bytes.Buffer
	if json.Compact(&a, r.Structured) != nil || json.Compact(&b, []byte(r.Content[0].Text)) != nil || a.String() != b.String() {
		t.Errorf("the text %s is not the structured content %s", r.Content[0].Text, r.Structured)
	}
}

func TestInspector(t *testing.T) {
	folder := notes(t)
	i := newInspector(t, folder)
	server, recording := record(t, build(t, "cmd/demo-mcp"), folder)
	i.argv[slices.Index(i.argv, build(t, "cmd/demo-mcp"))] = server
	other, err := os.ReadFile(filepath.Join(folder, "other.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		run  func(t *testing.T)
	}{
		{"initialize", func(t *testing.T) {
			var got struct {
				ProtocolVersion string `json:"protocolVersion"`
				ServerInfo      struct{ Name, Version string }
				Capabilities    map[string]json.RawMessage
			}
			i.result(t, &got, "--method", "initialize")
			if got.ProtocolVersion != "2025-11-25" || got.ServerInfo.Name != "demo-mcp" {
				t.Errorf("initialize = %+v", got)
			}
			for _, c := range []string{"tools", "resources", "prompts", "logging"} {
				if got.Capabilities[c] == nil {
					t.Errorf("no capability %q", c)
				}
			}
		}},
		{"tools/list", func(t *testing.T) {
			// --strict looks for schemas that clients have trouble with and fails
			// on errors among them.
			var got struct {
				Tools []struct {
					Name        string
					Description string
					InputSchema struct{ Type string }
				}
			}
			i.result(t, &got, "--method", "tools/list", "--strict")
			var names []string
			for _, tool := range got.Tools {
				names = append(names, tool.Name)
				if tool.Description == "" || tool.InputSchema.Type != "object" {
					t.Errorf("tool %+v", tool)
				}
			}
			for _, want := range []string{"list_notes", "read_note", "search", "index"} {
				if !slices.Contains(names, want) {
					t.Errorf("tools = %q, no %q among them", names, want)
				}
			}
		}},
		{"tools/call with structured content", func(t *testing.T) {
			var got toolResult
			i.result(t, &got, "--method", "tools/call", "--tool-name", "list_notes")
			var list struct {
				Notes []struct{ Slug, Title string }
			}
			got.structured(t, &list)
			if len(list.Notes) != 2 || list.Notes[0].Title != "Index" || list.Notes[1].Title != "Other note" {
				t.Errorf("list_notes = %+v", list)
			}
		}},
		{"tools/call with an argument", func(t *testing.T) {
			var got toolResult
			i.result(t, &got, "--method", "tools/call", "--tool-name", "read_note", "--tool-arg", "slug=other")
			if got.IsError || len(got.Content) != 1 || got.Content[0].Text != string(other) {
				t.Errorf("read_note = %+v", got)
			}
		}},
		{"tools/call with JSON arguments", func(t *testing.T) {
			var got toolResult
			i.result(t, &got, "--method", "tools/call", "--tool-name", "search", "--tool-args-json", `{"query":"text of the","limit":5}`)
			var found struct{ Hits []struct{ Slug string } }
			got.structured(t, &found)
			if len(found.Hits) != 1 || found.Hits[0].Slug != "other" {
				t.Errorf("search = %+v", found)
			}
		}},
		{"tools/call with progress", func(t *testing.T) {
			var got toolResult
			i.result(t, &got, "--method", "tools/call", "--tool-name", "index", "--tool-arg", "pause_ms=1")
			var index struct{ Notes, Links, Broken int }
			got.structured(t, &index)
			if index.Notes != 2 || index.Links != 2 || index.Broken != 1 {
				t.Errorf("index = %+v", index)
			}
		}},
		{"tools/call under load", func(t *testing.T) {
			var got struct{ Requests, OK, ToolErrors, Errors int }
			i.result(t, &got, "--method", "tools/call", "--tool-name", "list_notes",
				"--load", "--load-requests", "200", "--load-concurrency", "8", "--load-duration", "240")
			if got.Requests != 200 || got.OK != 200 {
				t.Errorf("200 calls, 8 at a time: %+v", got)
			}
		}},
		{"tool fails", func(t *testing.T) {
			i.fails(t, 5, "tool_is_error", "--method", "tools/call", "--tool-name", "read_note", "--tool-arg", "slug=nowhere")
		}},
		{"tool lacks an argument", func(t *testing.T) {
			i.fails(t, 5, "tool_is_error", "--method", "tools/call", "--tool-name", "read_note")
		}},
		{"tool unknown", func(t *testing.T) {
			i.fails(t, 5, "tool_not_found", "--method", "tools/call", "--tool-name", "nothing")
		}},
		{"resources/list", func(t *testing.T) {
			var got struct{ Resources []resource }
			i.result(t, &got, "--method", "resources/list")
			if len(got.Resources) != 2 || got.Resources[1].URI != "notes://other" || got.Resources[1].MIMEType != "text/markdown" {
				t.Errorf("resources = %+v", got.Resources)
			}
		}},
		{"resources/templates/list", func(t *testing.T) {
			var got struct {
				Templates []struct{ URITemplate string } `json:"resourceTemplates"`
			}
			i.result(t, &got, "--method", "resources/templates/list")
			if len(got.Templates) != 1 || got.Templates[0].URITemplate != "notes://{slug}" {
				t.Errorf("templates = %+v", got.Templates)
			}
		}},
		{"resources/read", func(t *testing.T) {
			var got struct{ Contents []resource }
			i.result(t, &got, "--method", "resources/read", "--uri", "notes://other")
			want := resource{URI: "notes://other", MIMEType: "text/markdown", Text: string(other)}
			if len(got.Contents) != 1 || got.Contents[0] != want {
				t.Errorf("contents = %+v, want %+v", got.Contents, want)
			}
		}},
		{"resource unknown", func(t *testing.T) {
			i.fails(t, 1, "Resource not found", "--method", "resources/read", "--uri", "notes://nowhere")
		}},
		{"prompts/list", func(t *testing.T) {
			type prompt struct {
				Name      string
				Arguments []struct {
					Name     string
					Required bool
				}
			}
			var got struct{ Prompts []prompt }
			i.result(t, &got, "--method", "prompts/list")
			if !slices.ContainsFunc(got.Prompts, func(p prompt) bool { return p.Name == "summarize" && len(p.Arguments) == 1 }) {
				t.Errorf("prompts = %+v", got.Prompts)
			}
		}},
		{"prompts/get", func(t *testing.T) {
			var got struct{ Messages []message }
			i.result(t, &got, "--method", "prompts/get", "--prompt-name", "summarize", "--prompt-args", "slug=other")
			if !slices.ContainsFunc(got.Messages, func(m message) bool {
				return m.Role == "user" && strings.Contains(m.Content.Text, "notes://other")
			}) {
				t.Errorf("no message of %+v names the note", got.Messages)
			}
		}},
		{"logging/setLevel", func(t *testing.T) {
			var got map[string]any
			i.result(t, &got, "--method", "logging/setLevel", "--log-level", "debug")
			if len(got) != 0 {
				t.Errorf("setLevel = %v, want {}", got)
			}
		}},
	}
	t.Run("session", func(t *testing.T) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				tt.run(t)
			})
		}
	})
	recording.replay(t, len(tests), "-root", folder)
}
