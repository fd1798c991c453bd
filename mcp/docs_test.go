package mcp

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every row of MCP in docs/features.md names tests that exist in the packages it names, or says why there is none.
func TestFeaturesExist(t *testing.T) {
	page, err := os.ReadFile("../docs/features.md")
	if err != nil {
		t.Fatal(err)
	}
	ours, _, ok := strings.Cut(string(page), "# Features of LSP")
	if !ok {
		t.Fatal("no end of the features of MCP")
	}
	sources := map[string]string{}
	source := func(pkg string) string {
		if _, ok := sources[pkg]; !ok {
			files, err := filepath.Glob("../" + pkg + "/*_test.go")
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
	word := regexp.MustCompile("`([a-z0-9/-]+)`: |\\b((?:Test|Example|Fuzz)(?:[A-Z]\\w*|_\\w+))\\b")
	rows, tests := 0, 0
	for line := range strings.Lines(ours) {
		row := strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "|---") && !strings.HasPrefix(line, "| feature |")
		pkg, named := "", 0
		for _, m := range word.FindAllStringSubmatch(line, -1) {
			switch {
			case m[1] != "":
				pkg = m[1]
			case pkg == "" && row:
				t.Errorf("%s is in no package: %s", m[2], line)
			case row:
				named++
				if !strings.Contains(source(pkg), "\nfunc "+m[2]+"(") {
					t.Errorf("%s has no %s", pkg, m[2])
				}
			}
		}
		if !row {
			continue
		}
		rows++
		tests += named
		_, says, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		if named == 0 && !strings.Contains(says, "not there: ") {
			t.Errorf("neither tests nor a reason: %s", line)
		}
	}
	if rows < 60 || tests < 150 {
		t.Errorf("only %d rows and %d tests", rows, tests)
	}
}
