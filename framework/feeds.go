package framework

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/tandem-rpc/tandem/framework/inspect"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/logging"
)

// feed gives a connection to the feeds of the runtime: its messages, and when they waited and ran. done tells them that it has ended. Without feeds
// nothing is added.
func (rt *Runtime) feed(o *jsonrpc2.Options, fe protocol, at place) (done func(error)) {
	return rt.feedFor("", o, fe, at)
}

// feedSessions gives the sessions of a Web to the feeds, each as a connection of its own. It returns nil if there are no feeds.
func (rt *Runtime) feedSessions(w Web, at place) func(id, client string) (*jsonrpc2.Options, func(error)) {
	if !slices.ContainsFunc(rt.Feeds, func(f *logging.Feed) bool { return f != nil }) {
		return nil
	}
	return func(id, client string) (*jsonrpc2.Options, func(error)) {
		o, one := new(jsonrpc2.Options), at
		if id != "" {
			one.name += "/" + id
		}
		return o, rt.feedFor(client, o, w, one)
	}
}

func (rt *Runtime) feedFor(client string, o *jsonrpc2.Options, fe protocol, at place) (done func(error)) {
	var cancels []logging.Cancel
	for _, c := range fe.Conventions() {
		cancels = append(cancels, logging.Cancel{Method: c.Method, Param: c.Param})
	}
	var sources []*logging.Source
	for _, f := range rt.Feeds {
		s := f.OpenFor(client, at.name, fe.Protocol(), cancels...)
		if s == nil {
			continue
		}
		sources = append(sources, s)
		o.Tap = jsonrpc2.Taps(s, o.Tap)
		next := o.Observe
		o.Observe = func(e jsonrpc2.Event) {
			s.Timing(e.Unit, e.ID.String(), e.Queued, e.Run)
			if next != nil {
				next(e)
			}
		}
	}
	return func(err error) {
		why := ""
		if err != nil && len(sources) > 0 {
			why = oneLine(scrub(logging.NewRedactor(rt.Redact...), errorText(err)))
		}
		for _, s := range sources {
			s.Close(why)
		}
	}
}

const (
	feedGrace = 2 * time.Second        // for what is not written yet when the program ends in good order
	exitGrace = 200 * time.Millisecond // when it ends at once
)

// watch does what --record and --inspect ask for: it gives the runtime feeds. stop ends them, when everything has been served.
func (p *run) watch(ctx context.Context) (stop func(), err error) {
	var ends []func()
	stop = func() {
		for _, end := range ends {
			end()
		}
	}
	if p.config.Record != "" {
		end, err := p.record(p.config.Record)
		if err != nil {
			return nil, err
		}
		ends = append(ends, end)
	}
	if p.config.Inspect != "" {
		end, err := p.inspect(ctx, p.config.Inspect)
		if err != nil {
			stop()
			return nil, err
		}
		ends = append(ends, end)
	}
	return stop, nil
}

func (p *run) record(path string) (end func(), err error) {
	f, err := logging.CreateRecording(path)
	if err != nil {
		return nil, fmt.Errorf("--record: %w", err)
	}
	process := fmt.Sprintf("%x-%x", os.Getpid(), time.Now().UnixMilli())
	recorder := logging.NewRecorder(f, &logging.RecorderOptions{Process: process, Program: program(), OnError: func(err error) {
		p.rt.logger().Error("recording stopped", "error", p.rt.text(err))
	}})
	recorder.Flush()
	feed := logging.NewFeed(recorder, &logging.FeedOptions{Redact: p.rt.Redact, Process: process})
	p.rt.Feeds = append(p.rt.Feeds, feed)
	return func() {
		end, stop := context.WithTimeout(context.Background(), feedGrace)
		defer stop()
		if feed.Close(end) != nil {
			return // the disk is slower than that: the file stays open until the process has ended
		}
		_ = recorder.Close() // its error was logged when it came
		_ = f.Close()
	}, nil
}

var errInspect = errors.New("--inspect: needs a port of this machine, as in localhost:7777")

func (p *run) inspect(ctx context.Context, address string) (end func(), err error) {
	if strings.HasPrefix(address, "unix:") {
		return nil, errInspect
	}
	ln, err := Listen(address, false)
	if err != nil {
		return nil, fmt.Errorf("--inspect: %w", err)
	}
	page := inspect.New(&inspect.Options{Program: program()})
	feed := logging.NewFeed(page, &logging.FeedOptions{Redact: p.rt.Redact})
	p.rt.Feeds = append(p.rt.Feeds, feed)
	fmt.Fprintf(p.stderr, "%s: inspect %s\n", program(), page.URL(ln.Addr()))
	serving, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := page.Serve(serving, ln); err != nil && !errors.Is(err, net.ErrClosed) {
			p.rt.logger().Error("inspect page failed", "error", p.rt.text(err))
		}
	}()
	return func() {
		end, cancel := context.WithTimeout(context.Background(), feedGrace)
		defer cancel()
		_ = feed.Close(end)
		stop()
		<-done
	}, nil
}

// flushFeeds is for an end that waits for nothing.
func (p *run) flushFeeds() {
	end, stop := context.WithTimeout(context.Background(), exitGrace)
	defer stop()
	for _, f := range p.rt.Feeds {
		_ = f.Flush(end)
	}
}
