package editor

import (
	"context"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/internal/notes"
)

// folder is a workspace of notes. It is there at once; its notes are when ready is closed, as a large folder takes a while to read.
type folder struct {
	*notes.Workspace // set before ready is closed

	dir   string // absolute; "" for one that is not on disk
	real  string // dir without symbolic links
	loose bool   // the directory of a file that was opened alone: only what is in it is looked at
	ready chan struct{}
	err   error        // why it could not be read; then it is empty
	read  atomic.Int64 // notes that have been read so far ...
	total atomic.Int64 // ... of those that were found
	stop  context.CancelFunc

	ledger ledger

	users int              // connections that have it open as a folder; under Server.mu
	open  map[string]*slot // notes that lie open in editors, by path; under Server.mu
}

// manyNotes is how many it takes for memory to be given back after they were read.
const manyNotes = 2000

const sampleRoot = "/sample/"

// openFolder returns the folder at dir and begins to read it.
func (d *Server) openFolder(dir string, loose bool) *folder {
	f := &folder{dir: dir, real: dir, loose: loose, ready: make(chan struct{}), open: map[string]*slot{}}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		f.real = real
	}
	var ctx context.Context
	ctx, f.stop = context.WithCancel(d.ctx)
	d.own.Go(func() {
		w, err := notes.OpenContext(ctx, dir, &notes.Options{Flat: loose, Progress: func(done, total int) {
			f.read.Store(int64(done))
			f.total.Store(int64(total))
		}})
		if err != nil {
			f.err = err
			w = empty()
		}
		f.Workspace = w
		close(f.ready)
		if w.Len() > manyNotes {
			d.own.Go(debug.FreeOSMemory) // reading takes twice what the notes do
		}
		if d.agents != nil {
			d.agents.FoldersChanged()
		}
		if err == nil {
			d.watch(ctx, f)
		}
		<-ctx.Done()
		_ = w.Close() // it was only read
	})
	return f
}

// inMemory returns a folder of a workspace that is not on disk.
func inMemory(w *notes.Workspace) *folder {
	f := &folder{Workspace: w, ready: make(chan struct{}), stop: func() {}, open: map[string]*slot{}}
	close(f.ready)
	return f
}

func empty() *notes.Workspace {
	w, err := notes.New(nil, nil)
	if err != nil {
		panic(err) // there is nothing that could be wrong
	}
	return w
}

// wait waits until the folder has been read.
func (f *folder) wait(ctx context.Context) error {
	select {
	case <-f.ready:
		return nil
	default:
	}
	select {
	case <-f.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// covers reports whether a file lies in the folder, for a loose one directly.
func (f *folder) covers(file string) bool {
	if f.dir == "" {
		return false
	}
	for _, dir := range []string{f.dir, f.real} {
		if rel, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(rel) {
			return !f.loose || !strings.ContainsRune(rel, filepath.Separator)
		}
	}
	return false
}

// SampleURI returns the URI of a note of the sample, by its path.
func SampleURI(p string) uri.URI { return (&folder{}).uri(p) }

// uri returns the URI of the file at a path of the folder.
func (f *folder) uri(p string) uri.URI {
	if f.dir != "" {
		return uri.File(filepath.Join(f.dir, filepath.FromSlash(p)))
	}
	u, err := uri.From(uri.Components{Scheme: "file", Path: sampleRoot + p})
	if err != nil {
		return "" // no path of a note gives one
	}
	return u
}
