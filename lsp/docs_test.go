package lsp

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The tests that docs/features.md names for LSP exist in the packages that it names.
func TestFeaturesExist(t *testing.T) {
	page, err := os.ReadFile("../docs/features.md")
	if err != nil {
		t.Fatal(err)
	}
	_, ours, ok := strings.Cut(string(page), "# Features of LSP")
	if !ok {
		t.Fatal("no features of LSP")
	}
	sources := map[string]string{}
	source := func(pkg string) string {
		if _, ok := sources[pkg]; !ok {
			files, err := filepath.Glob("../" + pkg + "/*_test.go")
			if err != nil || len(files) == 0 {
				t.Errorf("%s has no tests: %v", pkg, err)
			}
			for _, f := range files {
				b, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				sources[pkg] += string(b)
			}
		}
		return sources[pkg]
	}
	word := regexp.MustCompile("`([a-z0-9/-]+)`: |\\b((?:Test|Example|Fuzz)[A-Z]\\w+|Example_\\w+)\\b")
	n := 0
	for line := range strings.Lines(ours) {
		pkg := "lsp"
		for _, m := range word.FindAllStringSubmatch(line, -1) {
			if m[1] != "" {
				pkg = m[1]
			} else if n++; !strings.Contains(source(pkg), "func "+m[2]+"(") {
				t.Errorf("%s has no %s", pkg, m[2])
			}
		}
	}
	if n < 80 {
		t.Errorf("only %d tests are named", n)
	}
}
