package arrows

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The servers in the README are the package examples, so that what is quoted is what was compiled.
func TestReadmeQuotesExamples(t *testing.T) {
	root := filepath.Join("..", "..")
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range []string{"mcp", "lsp"} {
		example, err := os.ReadFile(filepath.Join(root, pkg, "example_hello_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		quoted := 0
		for block := range strings.SplitSeq(string(readme), "```") {
			code, ok := strings.CutPrefix(block, "go\npackage main\n")
			if !ok || !strings.Contains(code, "&"+pkg+".Server{") {
				continue
			}
			quoted++
			code = strings.Replace(code, "func main() {", "func Example_hello() {", 1)
			for part := range strings.SplitSeq(code, "\n\n") {
				if part = strings.TrimSpace(part); !strings.Contains(string(example), part) {
					t.Errorf("README quotes what %s/example_hello_test.go does not have:\n%s", pkg, part)
				}
			}
		}
		if quoted != 1 {
			t.Errorf("%d servers of %s in the README, want 1", quoted, pkg)
		}
	}
}
