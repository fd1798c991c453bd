package conformance

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/tandem-rpc/tandem/mcp"
)

// half, icons and meta are what the most complete definition of each kind has.
var (
	half  = 0.5
	icons = []mcp.Icon{{Src: "data:image/png;base64," + dot, MIMEType: "image/png", Sizes: []string{"1x1"}, Theme: "light"}}
	meta  = mcp.Meta{"example.com/made-by": "everything"}
)

var (
	staticText = mcp.Resource{
		URI: "test://static-text", Name: "static-text", Title: "Static text", Description: "A text that is always the same.", MIMEType: "text/plain",
		Annotations: &mcp.Annotations{Audience: []mcp.Role{mcp.RoleUser}, Priority: &half, LastModified: "2026-07-28T00:00:00Z"}, Icons: icons, Meta: meta,
	}
	staticBinary = mcp.Resource{
		URI: "test://static-binary", Name: "static-binary", Description: "A picture that is always the same.", MIMEType: "image/png",
	}
	watched = mcp.Resource{
		URI: "test://watched-resource", Name: "watched-resource", Description: "A text that test_trigger_resource_update says has changed.",
		MIMEType: "text/plain",
	}
	dataTemplate = mcp.Template{
		URITemplate: "test://template/{id}/data", Name: "template-data", Title: "Data", Description: "Data about one id.", MIMEType: "application/json",
		Icons: icons, Meta: meta,
	}
)

func resources(context.Context) ([]mcp.Resource, error) {
	return []mcp.Resource{staticBinary, staticText, watched}, nil
}

func templates(context.Context) ([]mcp.Template, error) { return []mcp.Template{dataTemplate}, nil }

func read(_ context.Context, uri string) (any, error) {
	switch uri {
	case staticText.URI:
		return text(staticText, "This is the content of the static text resource."), nil
	case staticBinary.URI:
		return []mcp.ResourceContents{{URI: uri, MIMEType: staticBinary.MIMEType, Blob: png}}, nil
	case watched.URI:
		return text(watched, "This is a resource to watch."), nil
	}
	id, begins := strings.CutPrefix(uri, "test://template/")
	id, ends := strings.CutSuffix(id, "/data")
	if !begins || !ends || id == "" || strings.Contains(id, "/") {
		return nil, mcp.ResourceNotFound(uri)
	}
	b, err := json.Marshal(struct {
		ID   string `json:"id"`
		Test bool   `json:"templateTest"`
		Data string `json:"data"`
	}{id, true, "Data for ID: " + id})
	return []mcp.ResourceContents{{URI: uri, MIMEType: dataTemplate.MIMEType, Text: string(b)}}, err
}

func text(r mcp.Resource, s string) []mcp.ResourceContents {
	return []mcp.ResourceContents{{URI: r.URI, MIMEType: r.MIMEType, Text: s}}
}

// subscribe lets clients watch what they can read.
func subscribe(ctx context.Context, uri string) error {
	_, err := read(ctx, uri)
	return err
}
