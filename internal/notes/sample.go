package notes

import (
	"embed"
	"io/fs"
)

//go:embed sample
var sampleFiles embed.FS

// Sample returns a workspace of a few linked notes that is part of the program.
// It has, on purpose, one link to a missing note and one to a missing heading.
// Overlays work on it; there is nothing to write to.
func Sample() *Workspace {
	sub, err := fs.Sub(sampleFiles, "sample")
	if err != nil {
		panic(err) // the files are compiled in
	}
	w, err := OpenFS(sub, nil)
	if err != nil {
		panic(err)
	}
	return w
}
