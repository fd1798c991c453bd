package mcp

import (
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// checkHeaders holds the annotations x-mcp-header of an input schema against the rules (MCP 2026-07-28, streamable HTTP, custom headers): a token, once,
// on a string, integer or boolean that is reached from the root by properties alone. It returns the names.
func (s *schema) checkHeaders() (names []string, err error) {
	seen := make(map[string]bool)
	var walk func(x *jsonschema.Schema, path string, counts bool) error
	walk = func(x *jsonschema.Schema, path string, counts bool) error {
		if v, ok := x.Extra[tagHeader]; ok {
			name, _ := v.(string)
			switch lower := strings.ToLower(name); {
			case !isHeaderToken(name):
				return fmt.Errorf("schema: %s at %s must be the name of a header", tagHeader, path)
			case seen[lower]:
				return fmt.Errorf("schema: %s %q stands there twice", tagHeader, name)
			case !counts:
				return fmt.Errorf("schema: %s at %s: only properties of the arguments, and of objects in them, are repeated in headers", tagHeader, path)
			case x.Type != "string" && x.Type != "integer" && x.Type != "boolean":
				return fmt.Errorf("schema: %s at %s: the type must be string, integer or boolean", tagHeader, path)
			default:
				seen[lower] = true
				names = append(names, name)
			}
		}
		for _, part := range s.anatomy.parts[x] {
			// The root itself is no property.
			if err := walk(part.Schema, path+"/"+part.where, part.place == propertyValue && (counts || x == s.source)); err != nil {
				return err
			}
		}
		return nil
	}
	err = walk(s.source, "#", false)
	return names, err
}

// isHeaderToken reports whether name is a token of HTTP (RFC 9110, 5.6.2).
func isHeaderToken(name string) bool {
	for _, c := range []byte(name) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return name != ""
}

var secretWords = []string{"password", "passwd", "secret", "token", "apikey", "api-key", "api_key", "authorization", "credential", "private"}

// looksSecret reports whether a name is one of what should not be written into logs, as headers are.
func looksSecret(name string) bool {
	name = strings.ToLower(name)
	for _, w := range secretWords {
		if strings.Contains(name, w) {
			return true
		}
	}
	return false
}
