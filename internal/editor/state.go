package editor

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/internal/agent"
	"github.com/tandem-rpc/tandem/internal/notes"
	"github.com/tandem-rpc/tandem/lsp"
)

// Server is the state of a language server of notes, for all connections: one workspace for each folder that some editor has open. Make one with New.
type Server struct {
	name string
	ctx  context.Context // ends with Close
	stop context.CancelFunc
	own  sync.WaitGroup // goroutines

	root   string  // of -root: served whatever the editor opens
	sample *folder // served to those who open no folder
	beside *folder // of texts that are no file of any folder: each stands for itself

	agents     *agent.Server // nil if there is none
	showSample bool          // to agents, while editors have nothing open

	mu         sync.Mutex
	folders    []*folder // longest path first
	loose      []*folder
	clients    map[*lsp.Client]*client
	slots      map[lsp.Key]*slot
	rung       chan struct{} // closed, and made anew, when notes have changed; under mu
	generation atomic.Uint64 // goes up when a text may belong to another folder than before
}

// maxLoose bounds the directories that are kept for files that were opened alone.
const maxLoose = 16

// New makes a server that calls itself name. It has to be closed.
func New(name string) *Server {
	d := &Server{
		name:    name,
		sample:  inMemory(notes.Sample()),
		beside:  inMemory(empty()),
		clients: map[*lsp.Client]*client{},
		slots:   map[lsp.Key]*slot{},
		rung:    make(chan struct{}),
	}
	d.ctx, d.stop = context.WithCancel(context.Background())
	return d
}

// Open has the server serve one directory, whatever editors open, and waits until it has been read. It must be called before anybody connects.
func (d *Server) Open(ctx context.Context, dir string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	d.root = abs
	f := d.folder(abs)
	if err := f.wait(ctx); err != nil {
		return err
	}
	return f.err
}

// Close ends what goes on in the background, and waits for it.
func (d *Server) Close() {
	d.stop()
	d.own.Wait()
}

// folder returns the folder of that directory, and counts the caller as one who has it open.
func (d *Server) folder(dir string) *folder {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, f := range d.folders {
		if f.dir == dir {
			f.users++
			return f
		}
	}
	f := d.openFolder(dir, false)
	f.users = 1
	d.folders = append(d.folders, f)
	slices.SortStableFunc(d.folders, func(a, b *folder) int { return cmp.Compare(len(b.dir), len(a.dir)) })
	d.generation.Add(1)
	return f
}

// leave takes back what folder counted. A folder that nobody has open is closed.
func (d *Server) leave(f *folder) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f.users--; f.users > 0 {
		return
	}
	d.folders = slices.DeleteFunc(d.folders, func(g *folder) bool { return g == f })
	d.generation.Add(1)
	f.stop()
	if d.agents != nil {
		d.agents.FoldersChanged()
	}
}

// alone returns the folder for a file that lies in none that an editor has open. The caller holds d.mu.
func (d *Server) alone(dir string) *folder {
	for _, f := range d.loose {
		if f.dir == dir {
			return f
		}
	}
	for i := 0; i < len(d.loose) && len(d.loose) >= maxLoose; {
		if f := d.loose[i]; len(f.open) == 0 {
			f.stop()
			d.loose = slices.Delete(d.loose, i, i+1)
		} else {
			i++
		}
	}
	f := d.openFolder(dir, true)
	d.loose = append(d.loose, f)
	return f
}

// find returns the folder that a document belongs to, read, and its path there.
func (d *Server) find(ctx context.Context, u uri.URI) (*folder, string, error) {
	if u.IsFile() {
		if p, ok := strings.CutPrefix(u.Path(), sampleRoot); ok {
			if _, err := os.Stat(sampleRoot); err != nil && notes.IsNote(p) { // it is ours, and no directory of that name
				return d.sample, p, nil
			}
		}
		file := u.FsPath()
		if filepath.IsAbs(file) && notes.IsNote(filepath.Base(file)) {
			d.mu.Lock()
			list := slices.DeleteFunc(slices.Clone(d.folders), func(f *folder) bool { return !f.covers(file) })
			if len(list) == 0 {
				list = append(list, d.alone(filepath.Dir(file)))
			}
			d.mu.Unlock()
			for _, f := range list {
				if err := f.wait(ctx); err != nil {
					return nil, "", err
				}
				if p, ok := f.Rel(file); ok {
					return f, p, nil
				}
			}
		}
	}
	return d.beside, besideName(u), nil
}

// besideName is the name of a text that is no file of a folder, for example one that has not been saved yet.
func besideName(u uri.URI) string {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, lsp.KeyOf(u))
	name := strings.Map(func(r rune) rune {
		if r == '\\' || r == 0 || r == 0xFFFD {
			return '-'
		}
		return r
	}, path.Base(u.Path()))
	return fmt.Sprintf("%x/%s.md", h.Sum64(), strings.TrimSuffix(strings.ToValidUTF8(name, "-"), ".md"))
}
