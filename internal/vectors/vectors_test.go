package vectors

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/tandem-rpc/tandem/internal/leak"
)

var file = flag.String("vectors", "testdata/wire.jsonl", "file of vectors to run, found from here or from the top of the module")

func TestMain(m *testing.M) { leak.Main(m) }

// read reads a file of vectors.
func read(t testing.TB, name string) []Vector {
	t.Helper()
	f, err := os.Open(name)
	if os.IsNotExist(err) && !filepath.IsAbs(name) {
		f, err = os.Open(filepath.Join("..", "..", name))
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := Load(f)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatalf("%s has no vectors", name)
	}
	return all
}

// TestVectors runs every vector of the file.
func TestVectors(t *testing.T) {
	passed, failed := 0, 0
	for _, v := range read(t, *file) {
		t.Run(v.ID, func(t *testing.T) {
			all := Run(t, &v)
			if len(all) == 0 {
				passed++
				return
			}
			failed++
			for _, f := range all {
				t.Errorf("%s: %s", v.ID, f)
			}
		})
	}
	fmt.Printf("%d passed, %d failed\n", passed, failed)
}
