package mcp

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Meta is the _meta member that most objects of the protocol may carry. Keys that begin with "io.modelcontextprotocol/" are the protocol's.
type Meta map[string]any

// Implementation names a client or server (MCP Implementation).
type Implementation struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Version     string `json:"version"`
	Description string `json:"description,omitempty"`
	WebsiteURL  string `json:"websiteUrl,omitempty"`
	Icons       []Icon `json:"icons,omitempty"`
}

// Icon is a picture for user interfaces (since 2025-11-25).
type Icon struct {
	Src      string   `json:"src"` // an https: or data: URI
	MIMEType string   `json:"mimeType,omitempty"`
	Sizes    []string `json:"sizes,omitempty"` // "48x48", or "any" for scalable ones
	Theme    string   `json:"theme,omitempty"` // "light" or "dark"
}

// Annotations tell clients how to treat a resource or a content block.
type Annotations struct {
	Audience     []Role   `json:"audience,omitempty"`
	Priority     *float64 `json:"priority,omitempty"`     // 0 (least) to 1 (most important)
	LastModified string   `json:"lastModified,omitempty"` // ISO 8601
}

// Role is who speaks in a conversation.
type Role string

// The roles of the protocol.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Tool describes a tool (MCP Tool). Members that the client's revision does not know are left out when it is sent.
type Tool struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	// InputSchema is the JSON Schema of the arguments, an object schema: raw JSON, which keeps its exact text, a *jsonschema.Schema, or
	// anything else that encodes as one. Nil is a tool without arguments; for AddTool, the schema of the input type.
	InputSchema any `json:"inputSchema"`
	// OutputSchema is the JSON Schema of the structured content. Nil: none; for AddTool, the schema of the output type.
	OutputSchema any              `json:"outputSchema,omitempty"`
	Annotations  *ToolAnnotations `json:"annotations,omitempty"`
	Icons        []Icon           `json:"icons,omitempty"`
	Meta         Meta             `json:"_meta,omitempty"`

	// Timeout bounds each call of a tool in a [Toolbox]: its context ends then, with cause [ErrToolTimeout], and the error that the tool returns becomes
	// a result that says so to the model. 0: no bound. A tool that does not heed its context runs on. While a question waits for its answer the time
	// stands still; see Server.AskTimeout for that.
	Timeout time.Duration `json:"-"`
	// Concurrency bounds how many calls of a tool in a Toolbox run at once, for all clients together. Others wait, as long as their clients do.
	// 0: no bound.
	Concurrency int `json:"-"`
	// Task says whether calls of a tool in a Toolbox are tasks, on a server with [Server.Tasks]. Other Callers say it to clients by this and do it by
	// [RunTask]. What a tool asks its client while it works waits for the answer then; what AddAskingTool asks beforehand comes before the task.
	Task TaskSupport `json:"execution,omitempty"`
	// SingleUse lets the work of a tool made by AddAskingTool be done once for each call, whatever a client sends again. It is not sent.
	SingleUse bool `json:"-"`
}

// ToolAnnotations are hints about what a tool does; clients must not rely on them for security. A nil hint is the protocol's default.
type ToolAnnotations struct {
	Title           string `json:"title,omitempty"`
	ReadOnlyHint    *bool  `json:"readOnlyHint,omitempty"`    // it changes nothing; default false
	DestructiveHint *bool  `json:"destructiveHint,omitempty"` // it may delete or overwrite; default true
	IdempotentHint  *bool  `json:"idempotentHint,omitempty"`  // calling it twice is calling it once; default false
	OpenWorldHint   *bool  `json:"openWorldHint,omitempty"`   // it deals with the world outside; default true
}

// Resource describes something a client can read (MCP Resource).
type Resource struct {
	URI         string       `json:"uri"`
	Name        string       `json:"name"`
	Title       string       `json:"title,omitempty"`
	Description string       `json:"description,omitempty"`
	MIMEType    string       `json:"mimeType,omitempty"`
	Size        *int64       `json:"size,omitempty"` // bytes, before base64
	Annotations *Annotations `json:"annotations,omitempty"`
	Icons       []Icon       `json:"icons,omitempty"`
	Meta        Meta         `json:"_meta,omitempty"`
}

// Template describes a family of resources (MCP ResourceTemplate). URITemplate is an RFC 6570 template.
type Template struct {
	URITemplate string       `json:"uriTemplate"`
	Name        string       `json:"name"`
	Title       string       `json:"title,omitempty"`
	Description string       `json:"description,omitempty"`
	MIMEType    string       `json:"mimeType,omitempty"`
	Annotations *Annotations `json:"annotations,omitempty"`
	Icons       []Icon       `json:"icons,omitempty"`
	Meta        Meta         `json:"_meta,omitempty"`

	// Complete suggests values of variables, by name, in a [ResourceSet].
	Complete map[string]Suggest `json:"-"`
}

// Prompt describes a prompt (MCP Prompt).
type Prompt struct {
	Name        string           `json:"name"`
	Title       string           `json:"title,omitempty"`
	Description string           `json:"description,omitempty"`
	Arguments   []PromptArgument `json:"arguments,omitempty"`
	Icons       []Icon           `json:"icons,omitempty"`
	Meta        Meta             `json:"_meta,omitempty"`

	// Complete suggests values of arguments, by name, in a [PromptSet].
	Complete map[string]Suggest `json:"-"`
}

// PromptArgument describes one argument of a prompt; its value is a string.
type PromptArgument struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// PromptResult is what a Prompter usually returns (MCP GetPromptResult).
type PromptResult struct {
	Description string
	Messages    []PromptMessage
	Meta        Meta
}

// PromptMessage is one message of a prompt.
type PromptMessage struct {
	Role    Role    `json:"role"`
	Content Content `json:"content"`
}

// ClientCapabilities is what the client said it can do (MCP ClientCapabilities). Members are raw objects; nil: the client cannot.
type ClientCapabilities struct {
	Roots        json.RawMessage
	Sampling     json.RawMessage
	Elicitation  json.RawMessage
	Experimental json.RawMessage
	Tasks        json.RawMessage // of 2025-11-25
	Extensions   json.RawMessage // since 2026-07-28
}

// CompleteRequest is what a Completer is asked (MCP CompleteRequest).
type CompleteRequest struct {
	// Prompt is the prompt whose argument is completed, or "".
	Prompt string
	// Template is the URI template, or the URI, whose variable is completed, or "".
	Template string
	// Name and Value are the argument and what has been typed of it.
	Name, Value string
	// Others are the arguments already chosen (since 2025-06-18).
	Others map[string]string
}

// Completion is what a Completer answers (MCP CompleteResult.completion). Of more than 100 values the first 100 are sent, with Total and
// HasMore set.
type Completion struct {
	Values  []string
	Total   int // 0: not known
	HasMore bool
}

// Arguments are the arguments of one tools/call or prompts/get: a JSON object, {} if the client sent none. They belong to the call: use
// [Arguments.Raw] for what must outlive it.
type Arguments struct {
	raw []byte
	req *jsonrpc2.Request // whose buffer raw stands in; nil: raw is ours
}

// RawArguments makes Arguments of a JSON object, for tests and for calling a [Toolbox] directly. Nil is {}.
func RawArguments(object json.RawMessage) Arguments {
	return Arguments{raw: bytes.TrimSpace(object)}
}
