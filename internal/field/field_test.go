package field

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// report is a line of testdata/reports.tsv.
type report struct {
	number         int
	area, protocol string
}

func readReports(text string) ([]report, error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if lines[0] != "number\tarea\tprotocol" {
		return nil, fmt.Errorf("the first line is %q", lines[0])
	}
	var all []report
	for i, line := range lines[1:] {
		f := strings.Split(line, "\t")
		if len(f) != 3 {
			return nil, fmt.Errorf("line %d has %d columns", i+2, len(f))
		}
		n, err := strconv.Atoi(f[0])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+2, err)
		}
		all = append(all, report{n, f[1], f[2]})
	}
	return all, nil
}

// uncovered are the reports that have no row and no reason why not, and the rows and reasons that belong to no report.
func uncovered(reports []report, rows map[int][]string, outside map[int]string) (missing, extra []int) {
	known := map[int]bool{}
	for _, r := range reports {
		known[r.number] = true
		if len(rows[r.number]) == 0 && outside[r.number] == "" {
			missing = append(missing, r.number)
		}
	}
	for n := range rows {
		if !known[n] {
			extra = append(extra, n)
		}
	}
	for n := range outside {
		if !known[n] {
			extra = append(extra, n)
		}
	}
	return missing, extra
}

// TestEveryReportHasARow fails for a report that nothing tests.
func TestEveryReportHasARow(t *testing.T) {
	text, err := os.ReadFile("testdata/reports.tsv")
	if err != nil {
		t.Fatal(err)
	}
	reports, err := readReports(string(text))
	if err != nil {
		t.Fatal(err)
	}
	missing, extra := uncovered(reports, rows, outside)
	for _, n := range missing {
		t.Errorf("report %d has no row", n)
	}
	for _, n := range extra {
		t.Errorf("row %d belongs to no report", n)
	}
	// The rule itself: with one row less it complains.
	for _, r := range reports {
		less := map[int][]string{r.number: nil}
		if missing, _ := uncovered([]report{r}, less, nil); len(missing) != 1 {
			t.Errorf("report %d without a row is not missed", r.number)
		}
	}
}

// TestEveryRowHasItsTests fails for a row that names a test, or a case of one, that does not exist.
func TestEveryRowHasItsTests(t *testing.T) {
	sources := map[string]*source{}
	for n, tests := range rows {
		for _, row := range tests {
			if err := find(sources, row); err != nil {
				t.Errorf("report %d: %q: %v", n, row, err)
			}
		}
	}
	for input, tests := range inputs {
		for _, row := range tests {
			if err := find(sources, row); err != nil {
				t.Errorf("%s: %q: %v", input, row, err)
			}
		}
	}
	for row, says := range map[string]string{
		"internal/field TestNothing":                "no such test",
		"internal/nowhere TestIDs":                  "no test files",
		"internal/field TestIDs 37: one":            "no case",
		"internal/field TestIDs 999:":               "no case",
		"internal/field frame":                      "not the name of a test",
		"internal/field":                            "not a row",
		"internal/field TestEveryRowHasItsTests 1:": "no case",
	} {
		if err := find(sources, row); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want an error with %q", row, err, says)
		}
	}
}

// source is the tests of one directory: the strings in each, and in the tables of its file.
type source struct {
	strings map[string][]string // by function
	err     error
}

// find looks for the test of a row.
func find(sources map[string]*source, row string) error {
	dir, rest, _ := strings.Cut(row, " ")
	name, sub, _ := strings.Cut(rest, " ")
	if name == "" {
		return errors.New("not a row")
	}
	if !strings.HasPrefix(name, "Test") && !strings.HasPrefix(name, "Fuzz") {
		return errors.New("not the name of a test")
	}
	s := sources[dir]
	if s == nil {
		s = parseTests(filepath.Join("..", "..", filepath.FromSlash(dir)))
		sources[dir] = s
	}
	texts, ok := s.strings[name]
	switch {
	case s.err != nil:
		return s.err
	case !ok:
		return errors.New("no such test")
	case sub == "" || slices.Contains(texts, sub):
		return nil
	case strings.HasSuffix(sub, ":") && slices.ContainsFunc(texts, func(text string) bool { return strings.HasPrefix(text, sub+" ") }):
		return nil
	}
	return fmt.Errorf("no case %q", sub)
}

// parseTests reads the test files of a directory, whatever they are built for.
func parseTests(dir string) *source {
	s := &source{strings: map[string][]string{}}
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil || len(files) == 0 {
		s.err = fmt.Errorf("no test files: %w", errors.Join(err, os.ErrNotExist))
		return s
	}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			s.err = err
			return s
		}
		var shared []string // tables outside of functions
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				shared = append(shared, literals(g)...)
			}
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				s.strings[fn.Name.Name] = append(literals(fn), shared...)
			}
		}
	}
	return s
}

// literals are the strings in a piece of source.
func literals(n ast.Node) []string {
	var texts []string
	ast.Inspect(n, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if text, err := strconv.Unquote(l.Value); err == nil {
				texts = append(texts, text)
			}
		}
		return true
	})
	return texts
}
