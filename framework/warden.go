package framework

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

const (
	shutdownTimeout = 5 * time.Second // for handlers, after the first signal
	stuckGrace      = time.Second     // for a handler whose context has ended, before the program ends without it

	// signalGrace is how much later than the end of its session the program may learn of the signal that it was ended with. A parent that goes, and
	// tells it so by a signal, closes the pipes in the next moment: which of the two is seen first is chance.
	signalGrace = 300 * time.Millisecond
)

var errStuck = errors.New("a handler did not return after its context had ended")

// stopping is a shutdown after a signal.
type stopping struct {
	sig  os.Signal
	done chan struct{}
}

// wait returns the exit code when the shutdown has come to its end. One that fails does not: the program ends in it.
func (s *stopping) wait() int {
	<-s.done
	return 0
}

// signalled returns the shutdown that a signal has begun, or begins within the grace; nil if there is none.
func signalled(signals <-chan *stopping, grace time.Duration) *stopping {
	select {
	case s := <-signals:
		return s
	default:
	}
	if grace == 0 {
		return nil
	}
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case s := <-signals:
		return s
	case <-t.C:
		return nil
	}
}

// handleSignals shuts the runtime down at the first signal, and ends the program at the second, or when the shutdown takes too long.
func (p *run) handleSignals() (signals <-chan *stopping, release func()) {
	came := make(chan os.Signal, 2)
	signal.Notify(came, os.Interrupt, syscall.SIGTERM)
	over := make(chan struct{})
	out := make(chan *stopping, 1)
	go func() {
		select {
		case sig := <-came:
			s := &stopping{sig, make(chan struct{})}
			out <- s
			go func() {
				ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
				defer cancel()
				if p.rt.Shutdown(ctx) != nil {
					p.exit(signalCode(sig))
				}
				close(s.done)
			}()
		case <-over:
			return
		}
		select {
		case sig := <-came:
			p.exit(signalCode(sig))
		case <-over:
		}
	}()
	return out, func() {
		signal.Stop(came)
		close(over)
	}
}

func signalCode(sig os.Signal) int {
	if n, ok := sig.(syscall.Signal); ok {
		return ExitSignal + int(n)
	}
	return ExitFailure
}

// watchParent ends ctx, and after a moment the program, when the process has ended.
func (p *run) watchParent(ctx context.Context, pid int, cancel context.CancelCauseFunc) {
	if waitProcess(ctx, pid) != nil {
		return
	}
	gone := &ParentGoneError{PID: pid}
	cancel(gone)
	time.Sleep(2 * stuckGrace) // the program ends meanwhile
	p.complain(gone)
	p.exit(ExitFailure)
}

// watchEnd ends the program when a session that has begun to end does not come to it, because a handler ignores that its context has ended. It
// is called when the session begins and returns at once.
func (p *run) watchEnd(s *session, c *jsonrpc2.Conn, o *jsonrpc2.Options) {
	go func() {
		<-c.Closing()
		grace := stuckGrace
		if !s.isOver() { // it ends in good order: lingers, and writes its last answers
			flush := o.FlushTimeout
			if flush <= 0 {
				flush = jsonrpc2DefaultFlush
			}
			grace += o.Linger + flush
		}
		t := time.NewTimer(grace)
		defer t.Stop()
		select {
		case <-c.Done():
		case <-t.C:
			p.complain(errStuck)
			p.exit(ExitFailure)
		}
	}()
}

// jsonrpc2DefaultFlush is what a FlushTimeout of zero means.
const jsonrpc2DefaultFlush = 5 * time.Second
