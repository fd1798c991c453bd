package lsp

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// DiagnoseInterval is the least time between the starts of two runs of [Server.Diagnose] for one document.
const DiagnoseInterval = 50 * time.Millisecond

// errOvertaken is the cause of the context of a diagnosis that a change has made useless.
var errOvertaken = errors.New("lsp: overtaken by a change of the document")

// diagnoser runs Server.Diagnose and publishes what it finds. Each document that has something to do has one goroutine, which is the only one that
// publishes for it: so what the client gets is in order, and nothing follows the withdrawal of a closed document.
type diagnoser struct {
	s     *session
	slots chan struct{} // how many runs go on at once

	mu   sync.Mutex
	docs map[Key]*patient
}

// patient is a document under diagnosis. Everything is under diagnoser.mu.
type patient struct {
	doc    *Document               // the newest; nil once closed
	uri    uri.URI                 // under which diagnostics were published last
	news   bool                    // something has happened that the goroutine has not looked at
	active bool                    // the goroutine runs
	wake   chan struct{}           // cuts its wait short
	stop   context.CancelCauseFunc // of the run that goes on
	last   time.Time               // when the last run began
}

func (d *diagnoser) init(s *session) {
	d.s = s
	d.slots = make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))
	d.docs = map[Key]*patient{}
}

func (d *diagnoser) changed(doc *Document) {
	if d.s.srv.Diagnose != nil {
		d.tell(doc.key, doc, doc.uri)
	}
}

func (d *diagnoser) closed(doc *Document) {
	if d.s.srv.Diagnose != nil {
		d.tell(doc.key, nil, doc.uri)
	}
}

func (d *diagnoser) tell(k Key, doc *Document, u uri.URI) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.s.ctx.Err() != nil {
		return
	}
	p := d.docs[k]
	if p == nil {
		p = &patient{uri: u, wake: make(chan struct{}, 1)}
		d.docs[k] = p
	}
	reopened := doc != nil && p.doc == nil
	p.doc, p.news = doc, true
	if p.stop != nil {
		p.stop(errOvertaken)
	}
	if doc == nil || reopened {
		p.last = time.Time{} // nothing to wait for
		select {
		case p.wake <- struct{}{}:
		default:
		}
	}
	if !p.active {
		p.active = true
		d.s.spawn(func() { d.attend(k, p) })
	}
}

// again has documents looked at once more, all open ones if there is no list.
func (d *diagnoser) again(uris []uri.URI) {
	docs := d.s.docs.Load()
	if len(uris) == 0 {
		for doc := range docs.Documents() {
			d.changed(doc)
		}
	}
	for _, u := range uris {
		if doc := docs.Document(u); doc != nil {
			d.changed(doc)
		}
	}
}

// attend is the goroutine of a document. It ends when there is nothing new.
func (d *diagnoser) attend(k Key, p *patient) {
	for {
		due, wait := d.look(p)
		switch {
		case wait > 0:
			t := time.NewTimer(wait)
			select {
			case <-t.C:
			case <-p.wake:
			case <-d.s.ctx.Done():
			}
			t.Stop()
		case due:
			d.run(p)
		default:
			if !d.withdraw(k, p) {
				return
			}
		}
		if d.s.ctx.Err() != nil {
			return
		}
	}
}

// look says what to do next: diagnose the document, wait before that, or neither.
func (d *diagnoser) look(p *patient) (due bool, wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !p.news || p.doc == nil {
		return false, 0
	}
	if !p.last.IsZero() {
		if wait = DiagnoseInterval - time.Since(p.last); wait > 0 {
			return false, wait
		}
	}
	return true, 0
}

// withdraw ends the goroutine, if nothing has happened meanwhile, after clearing what is shown for a document that was closed.
func (d *diagnoser) withdraw(k Key, p *patient) (goOn bool) {
	d.mu.Lock()
	if !p.news {
		p.active = false
		if p.doc == nil {
			delete(d.docs, k)
		}
		d.mu.Unlock()
		return false
	}
	if p.doc != nil {
		d.mu.Unlock()
		return true
	}
	p.news = false
	u := p.uri
	d.mu.Unlock()
	d.publish(&protocol.PublishDiagnosticsParams{URI: u, Diagnostics: []protocol.Diagnostic{}})
	return true
}

// run diagnoses the document as it is now, and publishes unless it has been overtaken.
func (d *diagnoser) run(p *patient) {
	select {
	case d.slots <- struct{}{}:
	case <-d.s.ctx.Done():
		return
	}
	defer func() { <-d.slots }()
	ctx, stop := context.WithCancelCause(d.s.ctx)
	defer stop(nil)
	d.mu.Lock()
	doc := p.doc
	if doc == nil { // closed while waiting for a slot
		d.mu.Unlock()
		return
	}
	p.news, p.stop, p.last = false, stop, time.Now()
	d.mu.Unlock()

	found, err := d.diagnose(d.s.scope(ctx), doc)

	d.mu.Lock()
	p.stop = nil
	overtaken := p.news
	if !overtaken {
		p.uri = doc.uri
	}
	d.mu.Unlock()
	switch {
	case overtaken:
	case err != nil:
		d.s.fail(ctx, nil, fmt.Errorf("lsp: Diagnose: %w", err))
	default:
		out := &protocol.PublishDiagnosticsParams{URI: doc.uri, Diagnostics: found}
		out.Version.Set(doc.version)
		d.publish(out)
	}
}

func (d *diagnoser) diagnose(ctx context.Context, doc *Document) (found []protocol.Diagnostic, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &jsonrpc2.PanicError{Value: p, Stack: debug.Stack()}
		}
	}()
	return d.s.srv.Diagnose(ctx, doc)
}

func (d *diagnoser) publish(p *protocol.PublishDiagnosticsParams) {
	if err := d.s.client.PublishDiagnostics(d.s.ctx, p); !errors.Is(err, ErrNoClient) {
		d.s.fail(d.s.ctx, nil, err)
	}
}
