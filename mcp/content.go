package mcp

import (
	"encoding/base64"
	"encoding/json"
	"errors"
)

// Content is one block of a tool result or a prompt message (MCP ContentBlock): a *[TextContent], *[ImageContent], *[AudioContent],
// *[ResourceLink], *[EmbeddedResource], or a [RawContent] for what a later revision brings. [Text] makes the most common one.
type Content interface {
	json.Marshaler
	appendJSON(dst []byte) ([]byte, error)
}

// TextContent is text for the model.
type TextContent struct {
	Text        string
	Annotations *Annotations
	Meta        Meta
}

// ImageContent is a picture. Data goes out as base64.
type ImageContent struct {
	Data        []byte
	MIMEType    string
	Annotations *Annotations
	Meta        Meta
}

// AudioContent is sound (since 2025-03-26; older clients get a text instead). Data goes out as base64.
type AudioContent struct {
	Data        []byte
	MIMEType    string
	Annotations *Annotations
	Meta        Meta
}

// ResourceLink points to a resource that the client may read (since 2025-06-18; older clients get its URI as text).
type ResourceLink struct {
	Resource
}

// EmbeddedResource carries the contents of a resource.
type EmbeddedResource struct {
	Resource    ResourceContents
	Annotations *Annotations
	Meta        Meta
}

// RawContent is a block that is sent as it is. It must be valid JSON.
type RawContent json.RawMessage

// Text returns a text block.
func Text(text string) Content { return &TextContent{Text: text} }

// Image returns an image block.
func Image(mimeType string, data []byte) Content {
	return &ImageContent{Data: data, MIMEType: mimeType}
}

// Audio returns an audio block.
func Audio(mimeType string, data []byte) Content {
	return &AudioContent{Data: data, MIMEType: mimeType}
}

// ResourceContents is what one resource holds (MCP TextResourceContents and BlobResourceContents): Blob, sent as base64, if it is not nil, else
// Text.
type ResourceContents struct {
	URI      string
	MIMEType string
	Text     string
	Blob     []byte
	Meta     Meta
}

// MarshalJSON encodes the block.
func (c *TextContent) MarshalJSON() ([]byte, error) { return c.appendJSON(nil) }

// MarshalJSON encodes the block.
func (c *ImageContent) MarshalJSON() ([]byte, error) { return c.appendJSON(nil) }

// MarshalJSON encodes the block.
func (c *AudioContent) MarshalJSON() ([]byte, error) { return c.appendJSON(nil) }

// MarshalJSON encodes the block.
func (c *ResourceLink) MarshalJSON() ([]byte, error) { return c.appendJSON(nil) }

// MarshalJSON encodes the block.
func (c *EmbeddedResource) MarshalJSON() ([]byte, error) { return c.appendJSON(nil) }

// MarshalJSON returns c.
func (c RawContent) MarshalJSON() ([]byte, error) { return c.appendJSON(nil) }

// MarshalJSON encodes the contents.
func (c ResourceContents) MarshalJSON() ([]byte, error) { return c.appendJSON(nil) }

func (c *TextContent) appendJSON(dst []byte) ([]byte, error) {
	dst = append(dst, `{"type":"text","text":`...)
	return appendTail(appendString(dst, c.Text), c.Annotations, c.Meta)
}

func (c *ImageContent) appendJSON(dst []byte) ([]byte, error) {
	dst = append(dst, `{"type":"image","data":`...)
	return appendMedia(dst, c.Data, c.MIMEType, c.Annotations, c.Meta)
}

func (c *AudioContent) appendJSON(dst []byte) ([]byte, error) {
	dst = append(dst, `{"type":"audio","data":`...)
	return appendMedia(dst, c.Data, c.MIMEType, c.Annotations, c.Meta)
}

func (c *ResourceLink) appendJSON(dst []byte) ([]byte, error) {
	return appendValue(dst, struct {
		Type string `json:"type"`
		Resource
	}{"resource_link", c.Resource})
}

func (c *EmbeddedResource) appendJSON(dst []byte) ([]byte, error) {
	dst = append(dst, `{"type":"resource","resource":`...)
	dst, err := c.Resource.appendJSON(dst)
	if err != nil {
		return dst, err
	}
	return appendTail(dst, c.Annotations, c.Meta)
}

func (c RawContent) appendJSON(dst []byte) ([]byte, error) {
	if len(c) == 0 {
		return dst, errors.New("mcp: empty RawContent")
	}
	return appendValue(dst, json.RawMessage(c))
}

func (c ResourceContents) appendJSON(dst []byte) ([]byte, error) {
	dst = append(dst, `{"uri":`...)
	dst = appendString(dst, c.URI)
	if c.MIMEType != "" {
		dst = append(dst, `,"mimeType":`...)
		dst = appendString(dst, c.MIMEType)
	}
	if c.Blob != nil {
		dst = append(dst, `,"blob":`...)
		dst = appendBase64(dst, c.Blob)
	} else {
		dst = append(dst, `,"text":`...)
		dst = appendString(dst, c.Text)
	}
	return appendTail(dst, nil, c.Meta)
}

func appendMedia(dst, data []byte, mimeType string, a *Annotations, m Meta) ([]byte, error) {
	dst = appendBase64(dst, data)
	dst = append(dst, `,"mimeType":`...)
	return appendTail(appendString(dst, mimeType), a, m)
}

// appendTail ends an object with the members that all blocks may have.
func appendTail(dst []byte, a *Annotations, m Meta) (_ []byte, err error) {
	if a != nil {
		dst = append(dst, `,"annotations":`...)
		if dst, err = appendValue(dst, a); err != nil {
			return dst, err
		}
	}
	if len(m) > 0 {
		dst = append(dst, `,"_meta":`...)
		if dst, err = appendValue(dst, m); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

func appendBase64(dst, data []byte) []byte {
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, data)
	return append(dst, '"')
}
