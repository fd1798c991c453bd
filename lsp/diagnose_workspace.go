package lsp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.lsp.dev/uri"
)

// linter runs Server.DiagnoseWorkspace. Everything is under diagnoser.mu but turnstile, which whoever runs it holds.
type linter struct {
	turn      uint64 // goes up whenever another look is asked for
	found     uint64 // the turn of which the results on the board are
	run       *diagnosis
	turnstile chan struct{}

	// Of pushing.
	looked uint64
	active bool
	last   time.Time
}

// overtake makes what is known of the workspace old. mu is held.
func (l *linter) overtake(d *diagnoser) {
	if d.s.srv.DiagnoseWorkspace == nil {
		return
	}
	l.turn++
	if l.run != nil {
		l.run.stop(errOvertaken)
	}
	if !d.pulls && !l.active && d.s.ctx.Err() == nil {
		l.active = true
		d.s.spawn(d.attendWorkspace)
	}
}

// start is called once the client is initialized.
func (d *diagnoser) start() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lint.overtake(d)
}

// attendWorkspace is the goroutine that publishes what is found in the workspace. It ends when there is nothing new.
func (d *diagnoser) attendWorkspace() {
	for {
		d.mu.Lock()
		l := &d.lint
		var wait time.Duration
		switch {
		case l.looked == l.turn, d.s.ctx.Err() != nil:
			l.active = false
			d.mu.Unlock()
			return
		case !l.last.IsZero():
			wait = DiagnoseInterval - time.Since(l.last)
		}
		if wait <= 0 {
			l.looked, l.last = l.turn, time.Now()
		}
		d.mu.Unlock()
		if wait > 0 {
			d.sleep(wait)
			continue
		}
		if err := d.inspect(d.s.scope(d.s.ctx), nil); err != nil && !errors.Is(err, errOvertaken) {
			d.s.fail(d.s.ctx, nil, fmt.Errorf("lsp: DiagnoseWorkspace: %w", err))
		}
	}
}

// inspect brings the board up to date with a run of DiagnoseWorkspace, unless it is. each is told of every document reported on the way. The error of
// a run that was overtaken is errOvertaken.
func (d *diagnoser) inspect(ctx context.Context, each func(Key) error) error {
	l := &d.lint
	select {
	case l.turnstile <- struct{}{}:
		defer func() { <-l.turnstile }()
	case <-ctx.Done():
		return ctx.Err()
	}
	ctx, run := d.begin(ctx, everywhere)
	defer run.stop(nil)
	run.live = func(k Key, u uri.URI) error {
		run.mu.Lock()
		list := run.found[k].list
		list = list[:len(list):len(list)]
		run.mu.Unlock()
		d.mu.Lock()
		d.board.put(everywhere, k, u, list)
		d.publish()
		d.mu.Unlock()
		if each != nil {
			return each(k)
		}
		return nil
	}
	d.mu.Lock()
	turn := l.turn
	if turn == l.found && turn > 0 {
		d.mu.Unlock()
		return nil
	}
	l.run = run
	d.mu.Unlock()

	_, err := guarded(func() (struct{}, error) { return struct{}{}, d.s.srv.DiagnoseWorkspace(ctx) })

	found := run.close()
	d.mu.Lock()
	defer d.mu.Unlock()
	l.run = nil
	switch {
	case l.turn != turn:
		return errOvertaken
	case err != nil:
		return err
	}
	l.found = turn
	d.board.forget(d.board.sweep(everywhere, found)...)
	d.publish()
	return nil
}
