package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

const methodSample = "sampling/createMessage"

// CreateMessageRequest asks the client's model for a message (MCP sampling/createMessage).
type CreateMessageRequest struct {
	Messages  []SamplingMessage
	MaxTokens int // required, above 0

	SystemPrompt  string
	Temperature   *float64
	StopSequences []string
	// IncludeContext is "none", "thisServer" or "allServers"; empty says nothing. The last two need [KindSamplingContext].
	IncludeContext   string
	ModelPreferences *ModelPreferences
	Metadata         map[string]any // for the provider of the model
	// Tools are what the model may call (since 2025-11-25; needs [KindSamplingTools]). The calls come back as *[ToolUseContent]. ToolChoice is "auto",
	// "required" or "none"; empty says nothing.
	Tools      []Tool
	ToolChoice string
}

// SamplingMessage is one message of the conversation that a model continues. Several blocks in one message came with 2025-11-25; older clients get as many
// messages.
type SamplingMessage struct {
	Role    Role
	Content []Content
}

// ModelPreferences help the client to choose a model. Priorities go from 0 to 1.
type ModelPreferences struct {
	Hints                []ModelHint `json:"hints,omitempty"`
	CostPriority         *float64    `json:"costPriority,omitempty"`
	SpeedPriority        *float64    `json:"speedPriority,omitempty"`
	IntelligencePriority *float64    `json:"intelligencePriority,omitempty"`
}

// ModelHint is a part of a model's name.
type ModelHint struct {
	Name string `json:"name,omitempty"`
}

// CreateMessageResult is what the client's model said (MCP CreateMessageResult).
type CreateMessageResult struct {
	Role       Role
	Content    []Content // *[TextContent], *[ImageContent], *[AudioContent], *[ToolUseContent], or a [RawContent]
	Model      string
	StopReason string // "endTurn", "stopSequence", "maxTokens", "toolUse", or the provider's own; empty: not said
}

// Text returns the text blocks, one after the other.
func (r *CreateMessageResult) Text() string {
	var b strings.Builder
	for _, c := range r.Content {
		if t, ok := c.(*TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

// Sample asks the client's model for a message (MCP sampling/createMessage). The user may look at it and refuse: [ErrDeclined]. See [Session.Ask] for what
// it means in each era.
func (ses *Session) Sample(ctx context.Context, r CreateMessageRequest, o ...AskOption) (*CreateMessageResult, error) {
	q := r.Question(o...)
	if err := ses.Ask(ctx, q); err != nil {
		return nil, err
	}
	return q.Message(), nil
}

// Question makes a question of the request, for [Session.Ask] and [InputRequired].
func (r CreateMessageRequest) Question(o ...AskOption) *Question {
	n := need(KindSampling)
	if len(r.Tools) > 0 || r.ToolChoice != "" || slices.ContainsFunc(r.Messages, SamplingMessage.usesTools) {
		n |= need(KindSamplingTools)
	}
	if r.IncludeContext != "" && r.IncludeContext != "none" {
		n |= need(KindSamplingContext)
	}
	text, err := r.encode(lastRevision)
	q := newQuestion(methodSample, "sample", n, text, err, o)
	q.fit = func(rev revision) []byte {
		b, _ := r.encode(rev) // it went well for the last one
		return b
	}
	return q
}

func (m SamplingMessage) usesTools() bool {
	return slices.ContainsFunc(m.Content, func(c Content) bool {
		switch c.(type) {
		case *ToolUseContent, *ToolResultContent:
			return true
		}
		return false
	})
}

var errNoMessages = errors.New("mcp: sampling needs messages, each with a role and content, and a MaxTokens above 0")

func (r *CreateMessageRequest) encode(rev revision) (dst []byte, err error) {
	if len(r.Messages) == 0 || r.MaxTokens <= 0 {
		return nil, errNoMessages
	}
	dst = append(dst, `{"messages":[`...)
	comma := func() {
		if dst[len(dst)-1] != '[' {
			dst = append(dst, ',')
		}
	}
	for _, m := range r.Messages {
		if m.Role != RoleUser && m.Role != RoleAssistant || len(m.Content) == 0 || slices.Contains(m.Content, nil) {
			return nil, errNoMessages
		}
		if len(m.Content) > 1 && rev.samplingTools() {
			comma()
			dst = append(appendString(append(dst, `{"role":`...), string(m.Role)), `,"content":[`...)
			for _, c := range m.Content {
				comma()
				if dst, err = c.appendJSON(dst); err != nil {
					return nil, err
				}
			}
			dst = append(dst, "]}"...)
			continue
		}
		for _, c := range m.Content {
			comma()
			dst = append(appendString(append(dst, `{"role":`...), string(m.Role)), `,"content":`...)
			if dst, err = rev.content(c).appendJSON(dst); err != nil {
				return nil, err
			}
			dst = append(dst, '}')
		}
	}
	dst = appendInt(append(dst, `],"maxTokens":`...), r.MaxTokens)
	rest, err := appendValue(nil, struct {
		SystemPrompt     string            `json:"systemPrompt,omitempty"`
		Temperature      *float64          `json:"temperature,omitempty"`
		StopSequences    []string          `json:"stopSequences,omitempty"`
		IncludeContext   string            `json:"includeContext,omitempty"`
		ModelPreferences *ModelPreferences `json:"modelPreferences,omitempty"`
		Metadata         map[string]any    `json:"metadata,omitempty"`
		Tools            []Tool            `json:"tools,omitempty"`
		ToolChoice       map[string]string `json:"toolChoice,omitempty"`
	}{r.SystemPrompt, r.Temperature, r.StopSequences, r.IncludeContext, r.ModelPreferences, r.Metadata, samplingTools(rev, r.Tools), toolChoice(r.ToolChoice)})
	if err != nil {
		return nil, err
	}
	if len(rest) > 2 {
		dst = append(append(dst, ','), rest[1:len(rest)-1]...)
	}
	return append(dst, '}'), nil
}

func samplingTools(rev revision, tools []Tool) (out []Tool) {
	for _, t := range tools {
		out = append(out, rev.tool(t))
	}
	return out
}

func toolChoice(mode string) map[string]string {
	if mode == "" {
		return nil
	}
	return map[string]string{"mode": mode}
}

var errNoMessage = errors.New("no message of a model")

// parseMessage reads a CreateMessageResult.
func parseMessage(raw []byte) (*CreateMessageResult, error) {
	var v [4][]byte
	if !pick(raw, []string{"role", "content", "model", "stopReason"}, v[:]) || len(v[1]) == 0 {
		return nil, errNoMessage
	}
	role, _ := stringValue(v[0])
	model, named := stringValue(v[2])
	reason, reasoned := stringValue(v[3])
	if Role(role) != RoleUser && Role(role) != RoleAssistant || v[2] != nil && !named || v[3] != nil && !reasoned {
		return nil, errNoMessage
	}
	r := &CreateMessageResult{Role: Role(role), Model: model, StopReason: reason}
	blocks := []json.RawMessage{v[1]}
	if v[1][0] == '[' {
		blocks = nil
		if json.Unmarshal(v[1], &blocks) != nil {
			return nil, errNoMessage
		}
	}
	for _, b := range blocks {
		c, err := parseContent(b, true)
		if err != nil {
			return nil, errNoMessage
		}
		r.Content = append(r.Content, c)
	}
	return r, nil
}

// ToolUseContent is a call that a model wants to make (sampling with tools, since 2025-11-25).
type ToolUseContent struct {
	ID    string
	Name  string
	Input json.RawMessage // the arguments, an object
	Meta  Meta
}

// ToolResultContent is what such a call came to, for the next round of the conversation.
type ToolResultContent struct {
	ToolUseID         string
	Content           []Content
	StructuredContent any
	IsError           bool
	Meta              Meta
}

// MarshalJSON encodes the block.
func (c *ToolUseContent) MarshalJSON() ([]byte, error) { return c.appendJSON(nil) }

// MarshalJSON encodes the block.
func (c *ToolResultContent) MarshalJSON() ([]byte, error) { return c.appendJSON(nil) }

func (c *ToolUseContent) appendJSON(dst []byte) ([]byte, error) {
	dst = appendString(append(dst, `{"type":"tool_use","id":`...), c.ID)
	dst = appendString(append(dst, `,"name":`...), c.Name)
	dst = append(dst, `,"input":`...)
	if len(c.Input) == 0 {
		dst = append(dst, "{}"...)
	} else {
		dst = append(dst, bytes.TrimSpace(c.Input)...)
	}
	return appendTail(dst, nil, c.Meta)
}

func (c *ToolResultContent) appendJSON(dst []byte) (_ []byte, err error) {
	dst = appendString(append(dst, `{"type":"tool_result","toolUseId":`...), c.ToolUseID)
	r := CallToolResult{Content: c.Content, StructuredContent: c.StructuredContent, IsError: c.IsError, Meta: c.Meta}
	body, err := r.appendJSON(nil)
	if err != nil {
		return dst, err
	}
	return append(append(dst, ','), body[1:]...), nil
}

// parseContent reads a block that a client sent: an object, with a type if it is of those known here.
func parseContent(raw []byte, nested bool) (Content, error) {
	var v [11][]byte
	if !pick(raw, []string{"type", "text", "data", "mimeType", "id", "name", "input", "toolUseId", "content", "structuredContent", "isError"}, v[:]) {
		return nil, errNoMessage
	}
	var s [11]string
	var ok [11]bool
	for i := range v {
		s[i], ok[i] = stringValue(v[i])
	}
	if !ok[0] {
		return nil, errNoMessage
	}
	switch s[0] {
	case "text":
		if !ok[1] {
			return nil, errNoMessage
		}
		return &TextContent{Text: s[1]}, nil
	case "image", "audio":
		var data []byte
		if !ok[2] || !ok[3] || json.Unmarshal(v[2], &data) != nil {
			return nil, errNoMessage
		}
		if s[0] == "audio" {
			return &AudioContent{Data: data, MIMEType: s[3]}, nil
		}
		return &ImageContent{Data: data, MIMEType: s[3]}, nil
	case "tool_use":
		if !ok[4] || !ok[5] || !isObject(v[6]) {
			return nil, errNoMessage
		}
		return &ToolUseContent{ID: s[4], Name: s[5], Input: bytes.Clone(v[6])}, nil
	case "tool_result":
		if !nested || !ok[7] || len(v[8]) == 0 || v[8][0] != '[' {
			return nil, errNoMessage
		}
		r := &ToolResultContent{ToolUseID: s[7], IsError: string(v[10]) == "true"}
		if v[9] != nil {
			r.StructuredContent = encoded(bytes.Clone(v[9]))
		}
		var blocks []json.RawMessage
		if json.Unmarshal(v[8], &blocks) != nil {
			return nil, errNoMessage
		}
		for _, b := range blocks {
			c, err := parseContent(b, false)
			if err != nil {
				return nil, err
			}
			r.Content = append(r.Content, c)
		}
		return r, nil
	}
	return RawContent(bytes.Clone(raw)), nil
}
