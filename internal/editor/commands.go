package editor

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/tandem-rpc/tandem/internal/notes"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/lsp"
)

// Reindex is a command that checks all notes and reports its progress.
const Reindex = "notes.reindex"

// maxPause bounds the time that a command may be asked to dwell on each note.
const maxPause = time.Second

// reindex checks all notes and reports its progress. The argument {"pauseMs":N}, made for trying things out, has it dwell on each note.
func (d *Server) reindex(ctx context.Context, args []json.RawMessage) (any, error) {
	var options struct {
		PauseMs int `json:"pauseMs"`
	}
	if len(args) > 0 {
		if err := lsp.Codec.Unmarshal(args[0], &options); err != nil {
			return nil, jsonrpc2.Errorf(jsonrpc2.CodeInvalidParams, "%s: the argument is an object with the number pauseMs", Reindex)
		}
	}
	pause := min(max(time.Duration(options.PauseMs)*time.Millisecond, 0), maxPause)
	workspaces, err := d.workspaces(ctx)
	if err != nil {
		return nil, err
	}
	type found struct {
		f *folder
		n *notes.Note
	}
	var all []found
	for _, f := range workspaces {
		for _, n := range f.Notes() {
			all = append(all, found{f, n})
		}
	}
	work := lsp.ClientFrom(ctx).Begin(ctx, lsp.Work{Title: "Checking notes", Percent: true, Cancellable: true})
	defer work.End("")
	ctx = work.Context()
	sum := struct {
		Notes  int `json:"notes"`
		Links  int `json:"links"`
		Broken int `json:"broken"`
	}{Notes: len(all)}
	for i, x := range all {
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
		sum.Links += len(x.n.Links)
		for _, p := range x.f.Check(x.n) {
			if p.Kind.Broken() {
				sum.Broken++
			}
		}
		work.Report(x.n.Path, 100*(i+1)/len(all))
	}
	work.End(fmt.Sprintf("%d notes, broken links: %d", sum.Notes, sum.Broken))
	return sum, nil
}

// sleep waits, unless the work is given up.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// workspaces returns the folders that the editor has open, read; the sample if it has none.
func (d *Server) workspaces(ctx context.Context) ([]*folder, error) {
	if err := d.settleAll(ctx); err != nil {
		return nil, err
	}
	c := d.client(ctx)
	d.mu.Lock()
	list := slices.Clone(c.folders)
	d.mu.Unlock()
	for _, f := range list {
		if err := f.wait(ctx); err != nil {
			return nil, err
		}
	}
	if len(list) == 0 {
		list = append(list, d.sample)
	}
	return list, nil
}
