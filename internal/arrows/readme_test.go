package arrows

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The programs in the README are package examples, so that what is quoted is what was compiled.
func TestReadmeQuotesExamples(t *testing.T) {
	root := filepath.Join("..", "..")
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	examples := map[string]string{"hello, mcp": "mcp/example_hello_test.go", "hello, lsp": "lsp/example_hello_test.go", "together": "framework/example_together_test.go"}
	quoted := map[string]int{}
	for block := range strings.SplitSeq(string(readme), "```") {
		code, ok := strings.CutPrefix(block, "go\npackage main\n")
		if !ok {
			continue
		}
		name := "together"
		if !strings.Contains(code, "editors.Clients()") {
			name = map[bool]string{true: "hello, mcp", false: "hello, lsp"}[strings.Contains(code, "&mcp.Server{")]
		}
		quoted[name]++
		example, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(examples[name])))
		if err != nil {
			t.Fatal(err)
		}
		kind, _, _ := strings.Cut(name, ",")
		code = strings.Replace(code, "func main() {", "func Example_"+kind+"() {", 1)
		for part := range strings.SplitSeq(code, "\n\n") {
			if part = strings.TrimSpace(part); !strings.Contains(string(example), part) {
				t.Errorf("README quotes what %s does not have:\n%s", examples[name], part)
			}
		}
	}
	for name := range examples {
		if quoted[name] != 1 {
			t.Errorf("%q is quoted %d times in the README, want once", name, quoted[name])
		}
	}
}
