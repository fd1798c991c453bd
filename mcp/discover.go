package mcp

import (
	"context"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// discoverResult has the members in the order of the specification's examples.
type discoverResult struct {
	SupportedVersions []string
	Capabilities      capabilities
	Instructions      string
	Server            Implementation // in _meta
}

// appendJSON writes what reflection would, as that of initializeResult does.
func (r discoverResult) appendJSON(dst []byte) (_ []byte, err error) {
	dst = append(dst, `{"supportedVersions":[`...)
	for i, v := range r.SupportedVersions {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, v)
	}
	if dst, err = r.Capabilities.appendTo(append(dst, `],"capabilities":`...)); err != nil {
		return dst, err
	}
	dst = appendText(dst, "instructions", r.Instructions)
	dst = append(appendString(append(dst, `,"_meta":{`...), MetaServer), ':')
	if dst, err = r.Server.appendTo(dst); err != nil {
		return dst, err
	}
	return append(dst, '}', '}'), nil
}

// MarshalJSON is for middleware that looks at results.
func (r discoverResult) MarshalJSON() ([]byte, error) { return r.appendJSON(nil) }

// discover answers server/discover (MCP 2026-07-28, server, discovery): what the server is and can do. Here its name comes whole; other results have the
// short form.
func (s *Server) discover(_ context.Context, c *call, _ *jsonrpc2.Request, _ values) (any, error) {
	c.cachedBy(s.Cache.Discover)
	return discoverResult{
		SupportedVersions: s.spoken.names(),
		Capabilities:      s.capabilities(c.revision(), true),
		Instructions:      s.Instructions,
		Server:            s.implementation(c.revision()),
	}, nil
}

func (s *Server) implementation(rev revision) Implementation {
	return rev.implementation(Implementation{
		Name: s.Name, Title: s.Title, Version: s.Version, Description: s.Description, WebsiteURL: s.WebsiteURL, Icons: s.Icons,
	})
}

// sign makes the member of _meta that names the server in results.
func (s *Server) sign() []byte {
	b := append(appendString(nil, MetaServer), `:{"name":`...)
	b = appendString(b, s.Name)
	if s.Title != "" {
		b = appendString(append(b, `,"title":`...), s.Title)
	}
	b = append(b, `,"version":`...)
	return append(appendString(b, s.Version), '}')
}
