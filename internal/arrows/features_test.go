package arrows

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// testSource returns a function that gives the text of all tests of a package.
func testSource(t *testing.T) func(pkg string) string {
	sources := map[string]string{}
	return func(pkg string) string {
		if _, ok := sources[pkg]; !ok {
			files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(pkg), "*_test.go"))
			if err != nil || len(files) == 0 {
				t.Errorf("%s has no tests: %v", pkg, err)
			}
			sources[pkg] = "\n"
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
}

// The tests that docs/features.md names exist in the packages that it names, and every row about MCP names one or says why there is none.
func TestFeaturesExist(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "features.md"))
	if err != nil {
		t.Fatal(err)
	}
	ofMCP, ofLSP, ok := strings.Cut(string(page), "# Features of LSP")
	if !ok {
		t.Fatal("the page has no features of LSP")
	}
	source := testSource(t)
	word := regexp.MustCompile("`([a-z0-9/-]+)`: |\\b((?:Test|Example|Fuzz)(?:[A-Z]\\w*|_\\w+))\\b")
	// named counts the tests of a line whose package is pkg unless it says another one.
	named := func(line, pkg string) (n int) {
		for _, m := range word.FindAllStringSubmatch(line, -1) {
			switch {
			case m[1] != "":
				pkg = m[1]
			case pkg == "":
				t.Errorf("%s is in no package: %s", m[2], line)
			default:
				n++
				if !strings.Contains(source(pkg), "\nfunc "+m[2]+"(") {
					t.Errorf("%s has no %s", pkg, m[2])
				}
			}
		}
		return n
	}
	rows, tests := 0, 0
	for line := range strings.Lines(ofMCP) {
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "| feature |") {
			continue
		}
		n := named(line, "")
		_, says, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		if n == 0 && !strings.Contains(says, "not there: ") {
			t.Errorf("neither tests nor a reason: %s", line)
		}
		rows, tests = rows+1, tests+n
	}
	if rows < 60 || tests < 150 {
		t.Errorf("MCP has only %d rows and %d tests", rows, tests)
	}
	tests = 0
	for line := range strings.Lines(ofLSP) {
		tests += named(line, "lsp")
	}
	if tests < 80 {
		t.Errorf("LSP has only %d tests", tests)
	}
}
