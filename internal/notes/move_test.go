package notes

import (
	"errors"
	"testing"
)

func TestRenameFiles(t *testing.T) {
	files := map[string]string{
		"index.md":      "[a](dir/a.md) [[dir/a]] [[a]] ![p](dir/pic.png) ![[dir/pic.png]] ![[pic.png]] [d](dir) [o](other.md)\n",
		"dir/a.md":      "# A\n[b](b.md#b) [up](../other.md) [i](pic.png) [gone](gone.md) [[b]]\n",
		"dir/b.md":      "# B\n[a](a.md)\n",
		"dir/sub/c.md":  "[b](../b.md) [r](/dir/a.md)\n",
		"dir/pic.png":   "",
		"other.md":      "[x](index.md)\n",
		"dir2/trap.md":  "[no](../dir/none.md)\n",
		"dir/README.md": "",
	}
	tests := []struct {
		name  string
		moves []Move
		want  map[string]string // of the notes that are edited
	}{
		{"directory", []Move{{"dir", "new/place"}}, map[string]string{
			"index.md":     "[a](new/place/a.md) [[new/place/a]] [[a]] ![p](new/place/pic.png) ![[new/place/pic.png]] ![[pic.png]] [d](new/place) [o](other.md)\n",
			"dir/a.md":     "# A\n[b](b.md#b) [up](../../other.md) [i](pic.png) [gone](gone.md) [[b]]\n",
			"dir/sub/c.md": "[b](../b.md) [r](/new/place/a.md)\n",
		}},
		{"file that is no note", []Move{{"dir/pic.png", "img/p 1.png"}}, map[string]string{
			"index.md": "[a](dir/a.md) [[dir/a]] [[a]] ![p](img/p%201.png) ![[img/p 1.png]] ![[pic.png]] [d](dir) [o](other.md)\n",
			"dir/a.md": "# A\n[b](b.md#b) [up](../other.md) [i](../img/p%201.png) [gone](gone.md) [[b]]\n",
		}},
		{"two that change places", []Move{{"dir/a.md", "dir/b.md"}, {"dir/b.md", "dir/a.md"}}, map[string]string{
			"index.md":     "[a](dir/b.md) [[dir/b]] [[b]] ![p](dir/pic.png) ![[dir/pic.png]] ![[pic.png]] [d](dir) [o](other.md)\n",
			"dir/a.md":     "# A\n[b](a.md#b) [up](../other.md) [i](pic.png) [gone](gone.md) [[a]]\n",
			"dir/b.md":     "# B\n[a](b.md)\n",
			"dir/sub/c.md": "[b](../a.md) [r](/dir/b.md)\n",
		}},
		{"nothing there", []Move{{"none.md", "x.md"}, {"no/where", "y"}}, nil},
		{"nowhere else", []Move{{"dir", "dir"}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := workspace(t, files)
			edits, err := w.RenameFiles(tt.moves)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range edits {
				if got := e.Apply(); got != tt.want[e.Note.Path] {
					t.Errorf("%s becomes\n%swant\n%s", e.Note.Path, got, tt.want[e.Note.Path])
				}
			}
			if len(edits) != len(tt.want) {
				t.Errorf("%d notes are edited, want %d", len(edits), len(tt.want))
			}
		})
	}
	w := workspace(t, files)
	if _, err := w.RenameFiles([]Move{{"other.md", "index.md"}}); !errors.Is(err, ErrExists) {
		t.Errorf("onto another note: %v", err)
	}
	if _, err := w.RenameFiles([]Move{{"other.md", "../out.md"}}); !errors.Is(err, ErrPath) {
		t.Errorf("out of the workspace: %v", err)
	}
}
