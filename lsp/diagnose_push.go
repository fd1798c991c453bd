package lsp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.lsp.dev/protocol"
)

// Publishing diagnostics (LSP 3.18, "PublishDiagnostics Notification"), for clients that do not ask for them.

// attend is the goroutine of a document that has something to do. It ends when there is nothing new.
func (d *diagnoser) attend(k Key, p *patient) {
	for {
		d.mu.Lock()
		var wait time.Duration
		switch {
		case p.doc == nil, p.looked == p.turn, d.s.ctx.Err() != nil:
			p.active = false
			d.mu.Unlock()
			return
		case !p.last.IsZero():
			wait = DiagnoseInterval - time.Since(p.last)
		}
		d.mu.Unlock()
		if wait > 0 {
			d.sleep(wait)
			continue
		}
		d.look(p)
	}
}

func (d *diagnoser) sleep(wait time.Duration) {
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
	case <-d.s.ctx.Done():
	}
}

// look diagnoses the document as it is now, and has the result published.
func (d *diagnoser) look(p *patient) {
	chair := d.sit()
	if chair == nil {
		return
	}
	defer chair.leave()
	d.mu.Lock()
	doc, turn := p.doc, p.turn
	p.looked, p.last = turn, time.Now()
	d.mu.Unlock()
	if doc == nil { // closed while waiting for a slot
		return
	}
	_, err := d.examine(context.WithValue(d.s.scope(d.s.ctx), seatKey{}, chair), p, doc, turn)
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case errors.Is(err, errOvertaken):
	case err != nil:
		d.s.fail(d.s.ctx, nil, fmt.Errorf("lsp: Diagnose: %w", err))
	case p.doc != nil: // also where nothing has changed but the version
		d.board.mark(doc.key, doc.uri)
	}
	d.publish()
}

// publish has a goroutine send what is marked. mu is held.
func (d *diagnoser) publish() {
	if !d.pulls && len(d.board.dirty) > 0 && !d.publishing && d.s.ctx.Err() == nil {
		d.publishing = true
		d.s.spawn(d.publishAll)
	}
}

// publishAll is the only one that publishes while it runs, and sends of each document what is known at that moment: so what the client gets is in order,
// nothing follows the withdrawal of a closed document, and a client that is slow to read gets less, not late, news.
func (d *diagnoser) publishAll() {
	for {
		d.mu.Lock()
		if len(d.board.dirty) == 0 || d.s.ctx.Err() != nil {
			d.publishing = false
			d.board.dirty = nil
			d.mu.Unlock()
			return
		}
		k := d.board.dirty[0]
		d.board.dirty = d.board.dirty[1:]
		sh := d.board.sheets[k]
		sh.dirty = false
		out := &protocol.PublishDiagnosticsParams{URI: sh.uri, Diagnostics: d.spell(d.board.all(k))}
		if sh.doc != nil {
			out.URI = sh.doc.uri
			out.Version.Set(sh.doc.version)
		} else if p := d.docs[k]; p != nil {
			out.URI = p.doc.uri
		}
		d.board.forget(k)
		d.mu.Unlock()
		if err := d.s.client.PublishDiagnostics(d.s.ctx, out); err != nil && !errors.Is(err, ErrNoClient) {
			d.s.fail(d.s.ctx, nil, err)
		}
	}
}
