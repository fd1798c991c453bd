package notes

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
)

// load fills a new workspace, with as many readers as there are processors.
func (w *Workspace) load(ctx context.Context) error {
	l := w.store.list(".", maxFiles)
	w.bad = l.bad
	for _, p := range l.skipped {
		w.skipped[p] = struct{}{}
	}
	for _, p := range l.assets {
		w.addAsset(p)
	}
	if len(l.notes) > w.options.MaxNotes {
		err := fmt.Errorf("%w: more than %d notes", ErrTooLarge, w.options.MaxNotes)
		for _, p := range l.notes[w.options.MaxNotes:] {
			w.bad = append(w.bad, Skipped{p, err})
		}
		l.notes = l.notes[:w.options.MaxNotes]
	}
	type result struct {
		counted
		new []string // names of the terms this note was the first to have
		err error
	}
	names := make([][]string, runtime.GOMAXPROCS(0))
	results := make([]chan result, len(names))
	all := make([]counted, 0, len(l.notes))
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for i := range results {
		results[i] = make(chan result, 16)
		wg.Go(func() {
			c := newCounter(len(l.notes))
			known := 0
			var file, buf []byte
			for at := i; at < len(l.notes); at += len(results) {
				var r result
				file, r.err = w.store.read(file[:0], l.notes[at], w.options.MaxNote)
				if r.err == nil {
					r.note, r.worker = Parse(l.notes[at], string(file)), i
					d := c.count(r.note)
					buf = d.pack(buf[:0])
					r.packed, r.length = bytes.Clone(buf), d.length
					r.new = slices.Clone(c.names[known:])
					known = len(c.names)
				}
				if cap(file) > keepBuffer {
					file = nil
				}
				select {
				case results[i] <- r:
				case <-ctx.Done():
					return
				}
			}
		})
	}
	// Reading the channels in turn keeps the order of the listing, and with it
	// every tie in this workspace, independent of the number of processors.
	for at, p := range l.notes {
		var r result
		worker := at % len(results)
		select {
		case r = <-results[worker]:
		case <-ctx.Done():
			return fmt.Errorf("open workspace: %w", context.Cause(ctx))
		}
		names[worker] = append(names[worker], r.new...)
		if r.err == nil && w.total+int64(len(r.note.Text)) > w.options.MaxTotal {
			r.err = fmt.Errorf("%w: the notes exceed %d bytes", ErrTooLarge, w.options.MaxTotal)
		}
		if r.err != nil {
			w.bad = append(w.bad, Skipped{p, r.err})
		} else {
			w.put(p, &entry{disk: r.note})
			all = append(all, r.counted)
		}
		if w.options.Progress != nil {
			w.options.Progress(at+1, len(l.notes))
		}
	}
	w.search.fill(all, names)
	return nil
}
