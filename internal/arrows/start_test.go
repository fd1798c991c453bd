package arrows

import (
	"slices"
	"testing"
)

// TestStart: a package that is linked initializes in every program, asked for or not. What most programs are made of does not bring in HTTP, which with TLS
// and all its ciphers takes a tenth of the time from start to the first answer.
func TestStart(t *testing.T) {
	all := load(t)
	for _, pkg := range []string{"cancel", "jsonrpc2", "logging", "mcp", "lsp"} {
		t.Run(pkg, func(t *testing.T) {
			path := module + "/" + pkg
			p := all[path]
			if p == nil {
				t.Fatalf("package %s is missing", pkg)
			}
			for _, heavy := range []string{"net/http", "crypto/tls", "html/template", "github.com/yuin/goldmark"} {
				if slices.Contains(p.Deps, heavy) {
					t.Errorf("%s reaches %s: %s", pkg, heavy, via(all, path, heavy))
				}
			}
		})
	}
}
