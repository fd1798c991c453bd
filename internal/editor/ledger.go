package editor

import (
	"context"
	"maps"
	"slices"
	"sync"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/internal/notes"
	"github.com/tandem-rpc/tandem/lsp"
)

// ledger knows which notes of a folder have something wrong. All of them are looked at once, when somebody wants to know; from then on only those that
// a change concerns.
type ledger struct {
	one sync.Mutex // who brings it up to date

	mu    sync.Mutex
	begun bool                // all notes have been due
	due   map[string]struct{} // paths of notes to be looked at
	wrong map[string]struct{} // and of those with problems
}

// changed notes which notes have to be looked at again.
func (l *ledger) changed(changes []notes.Change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.begun {
		return
	}
	for _, c := range changes {
		l.due[c.Path] = struct{}{}
		for _, p := range c.Affected {
			l.due[p] = struct{}{}
		}
	}
}

// update looks at the notes that are due, and returns the paths of all that have problems, in order.
func (l *ledger) update(ctx context.Context, w *notes.Workspace) ([]string, error) {
	l.one.Lock()
	defer l.one.Unlock()
	l.mu.Lock()
	if !l.begun {
		l.begun, l.due, l.wrong = true, map[string]struct{}{}, map[string]struct{}{}
		for _, n := range w.Notes() {
			l.due[n.Path] = struct{}{}
		}
	}
	l.mu.Unlock()
	for {
		l.mu.Lock()
		path, left := "", false
		for path = range l.due {
			left = true
			delete(l.due, path) // before it is looked at: a change from now on counts
			break
		}
		if !left {
			defer l.mu.Unlock()
			return slices.Sorted(maps.Keys(l.wrong)), nil
		}
		l.mu.Unlock()
		n, ok := w.At(path)
		bad := ok && len(w.Check(n)) > 0
		l.mu.Lock()
		if bad {
			l.wrong[path] = struct{}{}
		} else {
			delete(l.wrong, path)
		}
		l.mu.Unlock()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

// maxReported bounds the diagnostics of notes that are not open. Mending some makes room for others.
const maxReported = 10_000

// diagnoseWorkspace lists what is wrong in the notes of the editor's folders that it does not have open, for editors that ask for that. To others
// nothing is sent about notes that they have not opened.
func (d *Server) diagnoseWorkspace(ctx context.Context) error {
	c := d.client(ctx)
	if !c.PullsDiagnostics() {
		return nil
	}
	if err := d.settleAll(ctx); err != nil {
		return err
	}
	d.mu.Lock()
	folders := slices.Clone(c.folders)
	d.mu.Unlock()
	room := maxReported
	for _, f := range folders {
		if err := f.wait(ctx); err != nil {
			return err
		}
		paths, err := f.ledger.update(ctx, f.Workspace)
		if err != nil {
			return err
		}
		open := d.openIn(f)
		for p := range open { // what is wrong in their files is not what the ledger knows
			paths = append(paths, p)
		}
		slices.Sort(paths)
		for _, p := range slices.Compact(paths) {
			if key, ok := open[p]; ok && c.Documents().ByKey(key) != nil {
				continue
			}
			found := d.inFile(ctx, f, p)
			if room -= len(found); room < 0 {
				return nil
			}
			if len(found) == 0 {
				continue
			}
			if err := lsp.ReportFor(ctx, f.uri(p), found...); err != nil {
				return err
			}
		}
	}
	return nil
}

// openIn returns the notes of a folder that are open in some editor.
func (d *Server) openIn(f *folder) map[string]lsp.Key {
	d.mu.Lock()
	defer d.mu.Unlock()
	open := make(map[string]lsp.Key, len(f.open))
	for p, s := range f.open {
		open[p] = s.key
	}
	return open
}

// inFile lists what is wrong in the file of a note, whatever lies over it in other editors.
func (d *Server) inFile(ctx context.Context, f *folder, path string) (found []protocol.Diagnostic) {
	n, ok := f.Stored(path)
	if !ok {
		return nil
	}
	v := d.over(ctx, f)
	v.note, v.doc = n, lsp.NewDocument(f.uri(path), "markdown", 0, n.Text, v.client.Encoding())
	for _, p := range v.problems() {
		found = append(found, v.diagnostic(p))
	}
	return found
}

// recheck has an editor's workspace diagnosed again after changes in a folder, if they concern notes that it does not have open. The caller holds d.mu.
func (c *client) recheck(f *folder, changes []notes.Change) {
	if !c.PullsDiagnostics() || !slices.Contains(c.folders, f) {
		return
	}
	docs := c.Documents()
	elsewhere := func(p string) bool {
		s := f.open[p]
		return s == nil || docs.ByKey(s.key) == nil
	}
	for _, change := range changes {
		if elsewhere(change.Path) || slices.ContainsFunc(change.Affected, elsewhere) {
			c.RediagnoseWorkspace()
			return
		}
	}
}
