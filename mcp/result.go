package mcp

// CallToolResult is what a tools/call answers (MCP CallToolResult).
type CallToolResult struct {
	// Content is for the model; nil is sent as [].
	Content []Content
	// StructuredContent is the machine's view of the result, an object (since 2025-06-18; left out for older clients). Nil: none.
	StructuredContent any
	// IsError says that the tool ran and failed; the content tells the model why.
	IsError bool
	Meta    Meta
}

// TextResult is a tool result of one block of text. Callers and tools can return it instead of a *[CallToolResult].
type TextResult string

// ErrorResult returns the result of a tool that failed, with the text that the model gets to read.
func ErrorResult(text string) *CallToolResult {
	return &CallToolResult{Content: []Content{Text(text)}, IsError: true}
}

// MarshalJSON encodes the result.
func (r *CallToolResult) MarshalJSON() ([]byte, error) { return r.appendJSON(nil) }

func (r *CallToolResult) appendJSON(dst []byte) (_ []byte, err error) {
	dst = append(dst, `{"content":[`...)
	first := true
	for _, c := range r.Content {
		if c == nil {
			continue // a null block would make clients refuse the whole result
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		if dst, err = c.appendJSON(dst); err != nil {
			return dst, err
		}
	}
	dst = append(dst, ']')
	if r.StructuredContent != nil {
		dst = append(dst, `,"structuredContent":`...)
		if dst, err = appendValue(dst, r.StructuredContent); err != nil {
			return dst, err
		}
	}
	if r.IsError {
		dst = append(dst, `,"isError":true`...)
	} else {
		dst = append(dst, `,"isError":false`...)
	}
	return appendTail(dst, nil, r.Meta)
}

// MarshalJSON encodes the whole tool result.
func (t TextResult) MarshalJSON() ([]byte, error) { return t.appendJSON(nil) }

func (t TextResult) appendJSON(dst []byte) ([]byte, error) {
	dst = append(dst, `{"content":[{"type":"text","text":`...)
	dst = appendString(dst, string(t))
	return append(dst, `}],"isError":false}`...), nil
}

// MarshalJSON encodes the result.
func (r *PromptResult) MarshalJSON() ([]byte, error) { return r.appendJSON(nil) }

func (r *PromptResult) appendJSON(dst []byte) (_ []byte, err error) {
	dst = append(dst, '{')
	if r.Description != "" {
		dst = append(dst, `"description":`...)
		dst = append(appendString(dst, r.Description), ',')
	}
	dst = append(dst, `"messages":[`...)
	for i, m := range r.Messages {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"role":`...)
		dst = appendString(dst, string(m.Role))
		dst = append(dst, `,"content":`...)
		if m.Content == nil {
			m.Content = Text("")
		}
		if dst, err = m.Content.appendJSON(dst); err != nil {
			return dst, err
		}
		dst = append(dst, '}')
	}
	return appendTail(append(dst, ']'), nil, r.Meta)
}

func (c *Completion) appendJSON(dst []byte) ([]byte, error) {
	const most = 100 // MCP completion: at most 100 values
	values, total, more := c.Values, c.Total, c.HasMore
	if len(values) > most {
		total, more, values = max(total, len(values)), true, values[:most]
	}
	dst = append(dst, `{"completion":{"values":[`...)
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, v)
	}
	dst = append(dst, ']')
	if total > 0 {
		dst = append(dst, `,"total":`...)
		dst = appendInt(dst, total)
	}
	if more {
		dst = append(dst, `,"hasMore":true`...)
	}
	return append(dst, "}}"...), nil
}
