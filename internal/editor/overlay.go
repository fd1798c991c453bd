package editor

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/internal/notes"
	"github.com/tandem-rpc/tandem/lsp"
)

// slot is a document that lies open in one editor or in several, with the text that it lays over the note. What an editor sends is taken over in the
// background, and at the latest when a request wants to know: see settle.
type slot struct {
	key     lsp.Key
	holders []*lsp.Client // who may have it open, the last to touch it at the end; under Server.mu
	queued  atomic.Bool   // a goroutine is going to settle it

	mu         sync.Mutex // before Server.mu
	generation uint64     // of Server, when the folder was found
	folder     *folder
	path       string
	doc        *lsp.Document // whose text is the note's; nil: nothing lies over the note
	note       *notes.Note
	err        error // why the text could not be taken over
}

// touched notes that a document was opened, changed or closed. It runs in order with the messages and does no work itself.
func (d *Server) touched(ctx context.Context, doc *lsp.Document) error {
	c := lsp.ClientFrom(ctx)
	d.mu.Lock()
	s := d.slots[doc.Key()]
	if s == nil {
		s = &slot{key: doc.Key()}
		d.slots[s.key] = s
	}
	if n := len(s.holders); n == 0 || s.holders[n-1] != c {
		s.holders = append(slices.DeleteFunc(s.holders, func(x *lsp.Client) bool { return x == c }), c)
	}
	d.mu.Unlock()
	d.queue(s)
	return nil
}

// closed is touched for a document that was closed.
func (d *Server) closed(ctx context.Context, doc *lsp.Document) error {
	defer d.forget()
	d.client(ctx).painted.forget(doc.Key())
	if c := lsp.ClientFrom(ctx); c.PullsDiagnostics() {
		c.RediagnoseWorkspace() // which has left the note out
	}
	return d.touched(ctx, doc)
}

func (d *Server) queue(s *slot) {
	if !s.queued.Swap(true) {
		d.own.Go(func() {
			s.queued.Store(false)
			_ = d.settle(d.ctx, s) // the error is kept, and tells those who ask
		})
	}
}

// current returns the document as it is now in the editor that touched it last, nil if no editor has it open.
func (d *Server) current(s *slot) *lsp.Document {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range slices.Backward(s.holders) {
		if conn := c.Conn(); conn != nil {
			select {
			case <-conn.Closing():
				continue
			default:
			}
		}
		if doc := c.Documents().ByKey(s.key); doc != nil {
			return doc
		}
	}
	return nil
}

// settle makes what lies over the note what the editors have open now.
func (d *Server) settle(ctx context.Context, s *slot) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	doc := d.current(s)
	if generation := d.generation.Load(); doc != nil && (s.folder == nil || s.generation != generation) {
		f, p, err := d.find(ctx, doc.URI())
		if err != nil {
			return err
		}
		if f != s.folder {
			if s.folder != nil {
				defer d.moved(s.key) // what is right here may be wrong there
			}
			d.lift(s)
			d.mu.Lock()
			s.folder, s.path, f.open[p] = f, p, s
			d.mu.Unlock()
		}
		s.generation = generation
	}
	switch {
	case doc == s.doc:
		return s.err
	case doc == nil:
		d.lift(s)
		return nil
	}
	change, err := s.folder.SetOverlay(s.path, doc.Text(), doc.Version())
	if errors.Is(err, notes.ErrClosed) { // the folder has just been closed; there is another one
		d.lift(s)
		return err
	}
	s.doc, s.note, s.err = doc, change.New, err
	if err != nil { // the older text would be wrong
		change, _ = s.folder.ClearOverlay(s.path)
		s.note = nil
	}
	d.changed(s.folder, change)
	return err
}

// lift takes the text off the note. The caller holds s.mu.
func (d *Server) lift(s *slot) {
	f := s.folder
	if f == nil {
		return
	}
	if s.doc != nil {
		// A folder that has been closed meanwhile has no notes to correct.
		if change, err := f.ClearOverlay(s.path); err == nil {
			d.changed(f, change)
		}
	}
	d.mu.Lock()
	if f.open[s.path] == s {
		delete(f.open, s.path)
	}
	d.mu.Unlock()
	s.folder, s.path, s.doc, s.note, s.err = nil, "", nil, nil, nil
}

// settleAll settles all documents, so that an answer takes all of them as they are.
func (d *Server) settleAll(ctx context.Context) error {
	d.mu.Lock()
	list := make([]*slot, 0, len(d.slots))
	for _, s := range d.slots {
		list = append(list, s)
	}
	d.mu.Unlock()
	for _, s := range list {
		// What cannot be taken over matters to those who ask about it.
		if _ = d.settle(ctx, s); ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// forget drops the slots that no editor has open any more. They are few, so it is done now and then.
func (d *Server) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for key, s := range d.slots {
		s.holders = slices.DeleteFunc(s.holders, func(c *lsp.Client) bool {
			return d.clients[c] == nil || c.Documents().ByKey(key) == nil
		})
		if len(s.holders) == 0 && !s.queued.Load() && s.mu.TryLock() {
			if s.folder == nil {
				delete(d.slots, key)
			}
			s.mu.Unlock()
		}
	}
}

// moved has a document diagnosed again that belongs to another folder now.
func (d *Server) moved(key lsp.Key) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for lc := range d.clients {
		if doc := lc.Documents().ByKey(key); doc != nil {
			lc.Rediagnose(doc.URI())
		}
	}
}

// changed tells editors and agents of changes of notes.
func (d *Server) changed(f *folder, changes ...notes.Change) {
	d.refresh(f, changes...)
	if d.agents != nil {
		d.agents.Changed(f.Workspace, changes...)
	}
}

// bell returns a channel that is closed when notes change.
func (d *Server) bell() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rung
}

// refresh has the open documents diagnosed again whose links may lead elsewhere after a change of notes, and hints drawn again.
func (d *Server) refresh(f *folder, changes ...notes.Change) {
	f.ledger.changed(changes)
	var docs []lsp.Key
	count := false
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.rung)
	d.rung = make(chan struct{})
	for _, c := range changes {
		count = count || recounts(c)
		for _, p := range c.Affected {
			if s := f.open[p]; s != nil {
				docs = append(docs, s.key)
			}
		}
	}
	for lc, c := range d.clients {
		var uris []uri.URI
		for _, key := range docs {
			if doc := lc.Documents().ByKey(key); doc != nil {
				uris = append(uris, doc.URI())
			}
		}
		if len(uris) > 0 {
			lc.Rediagnose(uris...)
		}
		c.recheck(f, changes)
		if count {
			c.redraw()
		}
	}
}
