// Package arrows holds the shape of the module: who may import whom, which
// words a package must not know, and how long a file may grow. It has tests
// only. A rule that is broken names the package and the way the import came in.
package arrows

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const (
	module    = "github.com/tandem-rpc/tandem"
	segmentio = "github.com/segmentio/encoding"
	hclog     = "github.com/hashicorp/go-hclog"
	maxLines  = 500
)

// A pkg is what these tests need of `go list -json`.
type pkg struct {
	ImportPath string
	Dir        string
	Standard   bool
	GoFiles    []string
	Imports    []string
	Deps       []string // transitive, without test files
}

// rel is the path within the module, "jsonrpc2", or "" for a foreign package.
func (p *pkg) rel() string {
	rel, ok := strings.CutPrefix(p.ImportPath, module+"/")
	if !ok {
		return ""
	}
	return rel
}

// graph is every package of the module and all they build from, by path.
var graph = sync.OnceValues(func() (map[string]*pkg, error) {
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,Standard,GoFiles,Imports,Deps", "./...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list -deps: %w: %s", err, stderr.String())
	}
	all := make(map[string]*pkg)
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(pkg)
		if err := dec.Decode(p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list -json: %w", err)
		}
		all[p.ImportPath] = p
	}
})

// root is the module's directory seen from this package.
var root = filepath.Join("..", "..")

func load(t *testing.T) map[string]*pkg {
	t.Helper()
	// The answer comes from other packages' files. Looking at each of them here
	// tells the test cache that the result depends on them.
	for path := range goFiles(t) {
		if _, err := os.Stat(path); err != nil {
			t.Fatal(err)
		}
	}
	all, err := graph()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// within reports whether path is prefix or a package below it.
func within(path, prefix string) bool {
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}

// via names the imports that lead from one package to another, for a message.
func via(all map[string]*pkg, from, to string) string {
	came := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at == to {
			way := to
			for at = came[at]; at != ""; at = came[at] {
				way = at + " -> " + way
			}
			return way
		}
		if p := all[at]; p != nil {
			for _, next := range p.Imports {
				if _, seen := came[next]; !seen {
					came[next] = at
					queue = append(queue, next)
				}
			}
		}
	}
	return from + " -> ... -> " + to
}

// TestOnlyFrom: what some packages are built from is closed. Everything that
// is neither of the standard library nor reached through the list is an error.
func TestOnlyFrom(t *testing.T) {
	all := load(t)
	rules := []struct {
		pkg   string
		trees []string // with what they pull in, which is their own matter
	}{
		{"cancel", []string{segmentio}},
		{"jsonrpc2", []string{segmentio, module + "/cancel"}},
		{"logging", []string{segmentio, hclog}},
	}
	for _, rule := range rules {
		t.Run(rule.pkg, func(t *testing.T) {
			p := all[module+"/"+rule.pkg]
			if p == nil {
				t.Fatalf("package %s is missing", rule.pkg)
			}
			allowed := map[string]bool{}
			for path, dep := range all {
				if slices.ContainsFunc(rule.trees, func(tree string) bool { return within(path, tree) }) {
					allowed[path] = true
					for _, d := range dep.Deps {
						allowed[d] = true
					}
				}
			}
			for _, d := range p.Deps {
				if dep := all[d]; dep != nil && !dep.Standard && !allowed[d] {
					t.Errorf("%s must not build from %s: %s", rule.pkg, d, via(all, p.ImportPath, d))
				}
			}
		})
	}
}

// TestNever: arrows that must not exist, directly or through others.
func TestNever(t *testing.T) {
	all := load(t)
	rules := []struct {
		pkg   string
		never []string
		why   string
	}{
		{"logging", []string{module}, "it matches the tap's two methods and needs no import for it"},
		{"framework", []string{module + "/lsp", module + "/mcp"}, "a front end is satisfied, not imported"},
		{"lsp", []string{module + "/framework", module + "/mcp", module + "/logging"}, "front ends sit beside the framework, not on it"},
		{"mcp", []string{module + "/framework", module + "/lsp", module + "/logging"}, "front ends sit beside the framework, not on it"},
		{"internal/notes", []string{module + "/jsonrpc2", module + "/lsp", module + "/mcp", module + "/framework", "go.lsp.dev"}, "the notes know no protocol"},
		{"cmd/demo-lsp", []string{"golang.org/x/exp/jsonrpc2"}, "interop peers belong to tests"},
		{"cmd/demo-mcp", []string{"golang.org/x/exp/jsonrpc2"}, "interop peers belong to tests"},
	}
	for _, rule := range rules {
		t.Run(rule.pkg, func(t *testing.T) {
			top := module + "/" + rule.pkg
			if all[top] == nil {
				t.Fatalf("package %s is missing", rule.pkg)
			}
			for path, p := range all {
				if !within(path, top) {
					continue // the packages below it are held to the same
				}
				for _, d := range p.Deps {
					for _, never := range rule.never {
						if within(d, never) && !within(d, top) {
							t.Errorf("%s reaches %s: %s (%s)", p.rel(), d, via(all, path, d), rule.why)
						}
					}
				}
			}
		})
	}
}

// TestLoggerReach: hclog is the business of logging, the framework and the
// commands. An engine or front end that reaches it would choose its users'
// logger for them.
func TestLoggerReach(t *testing.T) {
	all := load(t)
	if all[hclog] == nil {
		t.Fatalf("nothing builds from %s any more: this test has lost its subject", hclog)
	}
	for path, p := range all {
		rel := p.rel()
		if rel == "" || !slices.Contains(p.Deps, hclog) {
			continue
		}
		allowed := slices.ContainsFunc([]string{"logging", "framework", "cmd", "internal"},
			func(tree string) bool { return within(rel, tree) })
		if !allowed {
			t.Errorf("%s reaches hclog: %s", rel, via(all, path, hclog))
		}
	}
}

// protocolWords start or are method names of LSP and MCP. "exit", "shutdown"
// and "ping" are left out: they are plain words with other uses.
var (
	protocolPrefixes = []string{
		"$/", "textDocument/", "notebookDocument/", "workspace/", "workspaceSymbol/", "window/", "client/",
		"telemetry/", "completionItem/", "codeAction/", "codeLens/", "callHierarchy/", "typeHierarchy/", "documentLink/",
		"tools/", "resources/", "prompts/", "notifications/", "completion/", "sampling/", "elicitation/", "roots/",
		"logging/", "tasks/", "server/discover", "subscriptions/", "io.modelcontextprotocol/",
	}
	protocolNames = []string{"initialize", "initialized"}
)

// TestNoProtocolWords: the engine and the framework serve any protocol on
// JSON-RPC, so no string in them names a method of one.
func TestNoProtocolWords(t *testing.T) {
	all := load(t)
	for _, name := range []string{"cancel", "jsonrpc2", "framework"} {
		t.Run(name, func(t *testing.T) {
			p := all[module+"/"+name]
			if p == nil {
				t.Fatalf("package %s is missing", name)
			}
			files := 0
			for path := range goFiles(t) {
				if filepath.Dir(path) != filepath.Join(root, filepath.FromSlash(name)) || strings.HasSuffix(path, "_test.go") {
					continue
				}
				files++ // files of every platform and tag, not only this one's
				fset := token.NewFileSet()
				f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
				if err != nil {
					t.Fatal(err)
				}
				ast.Inspect(f, func(n ast.Node) bool {
					lit, ok := n.(*ast.BasicLit)
					if !ok || lit.Kind != token.STRING {
						return true
					}
					if word := protocolWord(lit.Value); word != "" {
						t.Errorf("%s: a method of a protocol above: %q", fset.Position(lit.Pos()), word)
					}
					return true
				})
			}
			if files == 0 {
				t.Fatalf("no Go file found in %s", name)
			}
		})
	}
}

// protocolWord is the protocol word in a Go string literal, "" when none.
func protocolWord(literal string) string {
	s, err := strconv.Unquote(literal)
	if err != nil {
		s = literal
	}
	for _, prefix := range protocolPrefixes {
		// At the start, or after something that cannot continue a path: an
		// import path such as internal/tools/x is no method.
		for from := 0; ; {
			i := strings.Index(s[from:], prefix)
			if i < 0 {
				break
			}
			i += from
			if i == 0 || strings.IndexByte(" \"'`([{,:=", s[i-1]) >= 0 {
				return s
			}
			from = i + 1
		}
	}
	if slices.Contains(protocolNames, s) {
		return s
	}
	return ""
}

// TestProtocolWord proves the net itself: a rule that finds nothing is no rule.
func TestProtocolWord(t *testing.T) {
	tests := []struct {
		name, literal string
		found         bool
	}{
		{"cancel notification", `"$/cancelRequest"`, true},
		{"method", `"textDocument/hover"`, true},
		{"raw literal", "`tools/call`", true},
		{"method inside JSON", "`{\"method\":\"notifications/initialized\"}`", true},
		{"handshake", `"initialize"`, true},
		{"plain word", `"shutdown"`, false},
		{"import path", `"golang.org/x/tools/go"`, false},
		{"sentence", `"cannot initialize the pipe"`, false},
		{"format", `"$%d/%d"`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := protocolWord(tt.literal) != ""; got != tt.found {
				t.Errorf("protocolWord(%s) found = %t, want %t", tt.literal, got, tt.found)
			}
		})
	}
}

// TestFileLength: one concept a file. A file over the limit holds two.
func TestFileLength(t *testing.T) {
	seen := 0
	for path, data := range goFiles(t) {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		seen++
		if lines := bytes.Count(data, []byte("\n")); lines > maxLines {
			t.Errorf("%s has %d lines, over %d", path, lines, maxLines)
		}
	}
	if seen == 0 {
		t.Fatal("no Go file found")
	}
}

// goFiles is every Go file of the module with its text.
func goFiles(t *testing.T) map[string][]byte {
	t.Helper()
	files := make(map[string][]byte)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git"):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		data, err := os.ReadFile(path)
		files[path] = data
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
