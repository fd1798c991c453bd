package lsp

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// DiagnoseInterval is the least time between the starts of two runs of [Server.Diagnose] for one document that the client did not ask for, and of two
// such runs of [Server.DiagnoseWorkspace].
const DiagnoseInterval = 50 * time.Millisecond

// errOvertaken is the cause of the context of a diagnosis that a change has made useless.
var errOvertaken = errors.New("lsp: overtaken by a change of the document")

// ErrNoDiagnosis is returned by [ReportFor] outside of Diagnose and DiagnoseWorkspace.
var ErrNoDiagnosis = errors.New("lsp: no diagnosis goes on")

// diagnoser runs Server.Diagnose and Server.DiagnoseWorkspace, and keeps what they find. To clients that ask for diagnostics it answers
// (diagnose_pull.go), to others it publishes (diagnose_push.go): never both to one, as it would see everything twice.
type diagnoser struct {
	s     *session
	slots chan struct{} // how many runs that nobody asked for go on at once, those that wait for the client aside: see seat

	// What the client can do; written by initialize.
	pulls   bool // asks
	markup  bool // takes messages that are formatted
	related bool // takes other documents with an answer

	mu    sync.Mutex
	docs  map[Key]*patient // the open ones
	board board
	lint  linter

	publishing bool // a goroutine empties board.dirty
}

// patient is an open document under diagnosis. Everything is under diagnoser.mu.
type patient struct {
	doc   *Document // the newest; nil once closed
	turn  uint64    // goes up with every change, and whenever another look is asked for
	found uint64    // the turn of which the result on the board is
	runs  map[*diagnosis]struct{}

	// Of pushing.
	looked uint64    // the turn that the last run was for
	active bool      // the goroutine runs
	last   time.Time // when the last run began
}

// diagnosis is one run of a function of the user.
type diagnosis struct {
	d    *diagnoser
	stop context.CancelCauseFunc
	key  Key                      // of the document; everywhere for the workspace
	live func(Key, uri.URI) error // told of each report as it is made

	mu    sync.Mutex
	ended bool
	found map[Key]*reported // by document
}

// reported is what a run has found in one document.
type reported struct {
	uri  uri.URI
	list []protocol.Diagnostic
}

func (d *diagnoser) init(s *session) {
	d.s = s
	d.slots = make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))
	d.docs = map[Key]*patient{}
	d.board.init()
	d.lint.turn, d.lint.turnstile = 1, make(chan struct{}, 1)
}

type diagnosisKey struct{}

// ReportFor is for [Server.Diagnose] and [Server.DiagnoseWorkspace]: it reports diagnostics of any document, open or not, by its URI. What several
// calls, and several diagnoses, report for one document is put together. Ranges are in [Client.Encoding].
//
// In Diagnose it is for what a document does to others, as a heading that is gone does to links elsewhere. The report stands until the next run for
// the same document, which takes it back by not repeating it, or until that document is closed. In DiagnoseWorkspace it is the result: the
// client gets it at once, an empty one too, and what is not reported again by the next run that succeeds is withdrawn.
//
// It returns ctx's error once the run has been overtaken or cancelled, [ErrNoDiagnosis] outside of these functions and after they have returned.
func ReportFor(ctx context.Context, u uri.URI, found ...protocol.Diagnostic) error {
	run, _ := ctx.Value(diagnosisKey{}).(*diagnosis)
	if run == nil {
		return ErrNoDiagnosis
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	k := KeyOf(u)
	run.mu.Lock()
	if run.ended {
		run.mu.Unlock()
		return ErrNoDiagnosis
	}
	f := run.found[k]
	if f == nil {
		f = &reported{uri: u}
		run.found[k] = f
	}
	f.list = append(f.list, found...)
	run.mu.Unlock()
	if run.live != nil {
		return run.live(k, u)
	}
	return nil
}

// close ends the run and returns what it has found.
func (run *diagnosis) close() map[Key]*reported {
	run.mu.Lock()
	defer run.mu.Unlock()
	run.ended = true
	return run.found
}

// begin makes a run with a context of its own.
func (d *diagnoser) begin(ctx context.Context, k Key) (context.Context, *diagnosis) {
	run := &diagnosis{d: d, key: k, found: map[Key]*reported{}}
	ctx, run.stop = context.WithCancelCause(ctx)
	return context.WithValue(ctx, diagnosisKey{}, run), run
}

func (d *diagnoser) changed(doc *Document) {
	if d.s.srv.Diagnose == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.docs[doc.key]
	if p == nil {
		p = &patient{runs: map[*diagnosis]struct{}{}}
		d.docs[doc.key] = p
	}
	p.doc = doc
	d.overtake(doc.key, p)
}

// marked replaces a document by one that has the same text, and is marked as out of sync: what is known of it stays true.
func (d *diagnoser) marked(old, doc *Document) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := d.docs[doc.key]; p != nil && p.doc == old {
		p.doc = doc
	}
}

// overtake makes what is known of a document old. mu is held.
func (d *diagnoser) overtake(k Key, p *patient) {
	p.turn++
	for run := range p.runs {
		run.stop(errOvertaken)
	}
	if !d.pulls && !p.active && d.s.ctx.Err() == nil {
		p.active = true
		d.s.spawn(func() { d.attend(k, p) })
	}
}

// closed takes back what was found in a document, and because of it elsewhere.
func (d *diagnoser) closed(doc *Document) {
	if d.s.srv.Diagnose == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := d.docs[doc.key]; p != nil {
		delete(d.docs, doc.key)
		p.doc = nil
		p.turn++
		for run := range p.runs {
			run.stop(errOvertaken)
		}
	}
	others := d.board.withdraw(doc.key)
	if d.pulls {
		if len(others) > 0 {
			d.askAgain()
		}
		d.board.forget(append(others, doc.key)...)
		return
	}
	d.board.mark(doc.key, doc.uri)
	d.publish()
}

// again has documents looked at once more; without a list all open ones, and the workspace.
func (d *diagnoser) again(uris []uri.URI) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.s.ctx.Err() != nil {
		return
	}
	if len(uris) == 0 {
		for k, p := range d.docs {
			d.overtake(k, p)
		}
		d.lint.overtake(d)
	}
	for _, u := range uris {
		k := KeyOf(u)
		if p := d.docs[k]; p != nil {
			d.overtake(k, p)
		}
	}
	if d.pulls {
		d.askAgain()
	}
}

// workspaceAgain has the workspace looked at once more.
func (d *diagnoser) workspaceAgain() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.s.srv.DiagnoseWorkspace == nil || d.s.ctx.Err() != nil {
		return
	}
	d.lint.overtake(d)
	if d.pulls {
		d.askAgain()
	}
}

// examine runs Server.Diagnose for a document and puts the result on the board, unless it has been overtaken: then the error is errOvertaken. others
// are the documents besides this one whose diagnostics have changed.
func (d *diagnoser) examine(ctx context.Context, p *patient, doc *Document, turn uint64) (others []Key, err error) {
	ctx, run := d.begin(ctx, doc.key)
	defer run.stop(nil)
	d.mu.Lock()
	if p.turn != turn {
		d.mu.Unlock()
		return nil, errOvertaken
	}
	p.runs[run] = struct{}{}
	d.mu.Unlock()

	list, err := guarded(func() ([]protocol.Diagnostic, error) { return d.s.srv.Diagnose(ctx, doc) })

	found := run.close()
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(p.runs, run)
	switch {
	case p.turn != turn:
		return nil, errOvertaken
	case err != nil:
		return nil, err
	}
	p.found = turn
	if f := found[doc.key]; f != nil { // ReportFor with the document itself
		list = append(list[:len(list):len(list)], f.list...)
	}
	found[doc.key] = &reported{uri: doc.uri, list: list}
	return d.board.take(doc, found), nil
}

// guarded calls a function of the user. A panic is an error.
func guarded[T any](f func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &jsonrpc2.PanicError{Value: p, Stack: debug.Stack()}
		}
	}()
	return f()
}
