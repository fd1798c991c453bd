package agent

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/tandem-rpc/tandem/mcp/mcpauth"
	"github.com/tandem-rpc/tandem/mcp/mcphttp"
)

// Scopes of access tokens. Without tokens everybody may do everything.
const (
	scopeRead  = "notes:read"
	scopeWrite = "notes:write"
)

// mayWrite is nil where the caller may change notes.
func mayWrite(ctx context.Context) error {
	if _, ok := mcpauth.PrincipalFrom(ctx); !ok {
		return nil
	}
	return mcpauth.Require(ctx, scopeRead, scopeWrite)
}

// Site serves s over HTTP at an address, as [framework.Listen] takes it. With a token file only those who have one of its tokens are served: one token
// a line, followed by a name for who has it and the word read-only, both optional; lines that begin with # are comments.
func (s *Server) Site(address, tokenFile string) (*mcphttp.Site, error) {
	if tokenFile == "" {
		return &mcphttp.Site{Server: s.Server}, nil
	}
	tokens, err := readTokens(tokenFile)
	if err != nil {
		return nil, err
	}
	verifier, err := mcpauth.NewStatic(tokens...)
	if err != nil {
		return nil, fmt.Errorf("token file %q: %w", tokenFile, err)
	}
	resource, err := mcpauth.New(mcpauth.Options{
		Resource: "http://" + hostOf(address) + mcphttp.DefaultPath, Verifier: verifier,
		Scopes: []string{scopeRead}, ScopesSupported: []string{scopeRead, scopeWrite}, Name: "Notes",
	})
	if err != nil {
		return nil, err
	}
	return &mcphttp.Site{
		Server:  s.Server,
		Options: &mcphttp.Options{Protect: resource.Protect, Principal: mcpauth.Identify},
		Extend:  func(mux *http.ServeMux) { mux.Handle("/.well-known/", resource.Metadata()) },
	}, nil
}

// hostOf is the host and port of an address for people.
func hostOf(address string) string {
	if strings.HasPrefix(address, "unix:") {
		return "localhost"
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		port = address // alone
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// maxTokens bounds a token file, in bytes.
const maxTokens = 1 << 20

func readTokens(name string) ([]mcpauth.StaticToken, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("token file: %w", err)
	}
	if info.Size() > maxTokens || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("token file %q: not a file of at most %d bytes", name, maxTokens)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("token file: %w", err)
	}
	var tokens []mcpauth.StaticToken
	line := 0
	for text := range strings.Lines(string(b)) {
		line++
		fields := strings.Fields(text)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		t := mcpauth.StaticToken{Token: fields[0], Scopes: []string{scopeRead, scopeWrite}}
		for _, f := range fields[1:] {
			switch {
			case f == "read-only":
				t.Scopes = t.Scopes[:1]
			case t.Subject == "":
				t.Subject = f
			default:
				return nil, fmt.Errorf("token file %q, line %d: want a token, a name and read-only", name, line)
			}
		}
		tokens = append(tokens, t)
	}
	if len(tokens) == 0 {
		return nil, fmt.Errorf("token file %q: no token in it", name)
	}
	return tokens, nil
}
