package framework

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/tandem-rpc/tandem/logging"
)

// Exit codes of [Config.Run] that do not come from a session.
const (
	ExitFailure = 1   // could not serve, or the session ended with an error
	ExitUsage   = 2   // the command line is wrong
	ExitSignal  = 128 // plus the number of the signal: it came twice, or what ran did not end in time
)

const dialTimeout = 10 * time.Second

// Main is a whole program: it serves the front ends as the command line says, and does not return. See [Config] for the flags and
// [Config.Run] for what is logged, signals, and exit codes. A program with flags of its own calls [Config.Parse] and
// [Config.Run] itself.
func Main(fes ...FrontEnd) { new(Runtime).Main(fes...) }

// Main is the function [Main] with the settings of this Runtime.
func (rt *Runtime) Main(fes ...FrontEnd) {
	var c Config
	code, ok := c.Parse(flag.NewFlagSet(program(), flag.ContinueOnError), os.Args[1:])
	if ok {
		code = c.Run(context.Background(), rt, fes...)
	}
	os.Exit(code)
}

// Parse adds the flags of c to fs, which may have others and must not end the program by itself ([flag.ContinueOnError]), and parses args with it, those
// after the program's name. Where it reports false, the program should exit with code: 0 after -help, else [ExitUsage], and fs has written why.
func (c *Config) Parse(fs *flag.FlagSet, args []string) (code int, ok bool) {
	c.Register(fs)
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0, false
	case err != nil:
		return ExitUsage, false
	case fs.NArg() > 0:
		fmt.Fprintf(fs.Output(), "%s: unexpected argument %q\n", fs.Name(), fs.Arg(0))
		return ExitUsage, false
	}
	return 0, true
}

// Run serves the front ends on rt until the session, or with Listen all serving, has ended, and returns the code to exit with.
//
// Standard error gets one line for an error that ends the program, the log, and with Stats the table; rt.Logger and rt.Metrics are made where
// they are nil. A standard error that nobody reads loses records and holds nothing up.
//
// The first SIGINT or SIGTERM shuts rt down: handlers that run may finish within five seconds, and the code is 0 when they do. The second one,
// or the end of the five seconds, ends the program at once with 128 and the number of the signal. Without a signal the code is the front end's,
// see [Exiter], or [ExitFailure] where serving could not begin, or [ExitUsage] for settings that [Config.Check] refuses.
//
// When the process named by ParentID has ended, or was never there, handlers are cancelled, one line says so, and the code is at least
// ExitFailure. A handler that goes on although its context has ended does not keep the program: a second or two after everybody else is through
// it exits with ExitFailure. That, and the signals, are why Run belongs in a main function; [Runtime] is for everything else.
func (c *Config) Run(ctx context.Context, rt *Runtime, fes ...FrontEnd) int {
	defer catchPipe()()
	p := &run{config: c, rt: rt, stderr: &patient{w: os.Stderr}}
	defer p.stderr.flush()
	if err := c.Check(); err != nil {
		p.complain(err)
		return ExitUsage
	}
	if rt.Logger == nil {
		level := hclog.LevelFromString(c.LogLevel)
		if level == hclog.NoLevel {
			level = hclog.Warn
		}
		rt.Logger = hclog.New(&hclog.LoggerOptions{Name: program(), Level: level, Output: p.stderr, JSONFormat: c.LogJSON})
	}
	if rt.Metrics == nil && c.Stats {
		rt.Metrics = new(Metrics)
	}
	return p.serve(ctx, fes)
}

// run is one Config.Run.
type run struct {
	config *Config
	rt     *Runtime
	stderr *patient
}

func (p *run) serve(ctx context.Context, fes []FrontEnd) int {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	signals, release := p.handleSignals()
	defer release()
	if pid := p.config.ParentID; pid > 0 {
		go p.watchParent(ctx, pid, cancel)
	}
	unwatch, err := p.watch(ctx)
	if err != nil {
		p.complain(err)
		return ExitFailure
	}
	defer unwatch()
	stop, err := p.beside(ctx)
	if err != nil {
		p.complain(err)
		return ExitFailure
	}
	code, err := p.transport(ctx, fes)
	stop()
	if gone, ok := errors.AsType[*ParentGoneError](context.Cause(ctx)); ok {
		code, err = max(code, ExitFailure), gone
	}
	var grace time.Duration
	if code == ExitFailure && context.Cause(ctx) == nil {
		grace = signalGrace
	}
	if s := signalled(signals, grace); s != nil {
		code, err = s.wait(), nil
	}
	if err != nil {
		p.complain(err)
	}
	if p.config.Stats {
		_, _ = p.rt.Metrics.WriteTo(p.stderr)
	}
	return code
}

// transport serves where the flags say.
func (p *run) transport(ctx context.Context, fes []FrontEnd) (int, error) {
	c, at := p.config, place{parent: true, started: p.watchEnd}
	var rwc io.ReadWriteCloser
	var err error
	dialling, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	switch {
	case c.Replay != "":
		return p.replay(ctx, fes)
	case c.Listen != "":
		return p.accept(ctx, fes)
	case c.Pipe != "":
		at.name = "pipe"
		rwc, err = dialPipe(dialling, c.Pipe)
	case c.Socket != 0:
		at.name = "socket"
		rwc, err = new(net.Dialer).DialContext(dialling, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Socket)))
	default:
		at.name, at.linger = "stdio", StdioLinger
		return p.rt.serveStdio(ctx, at, fes)
	}
	if err != nil {
		return ExitFailure, err
	}
	return p.rt.serve(ctx, rwc, at, fes)
}

func (p *run) accept(ctx context.Context, fes []FrontEnd) (int, error) {
	ln, err := Listen(p.config.Listen, p.config.Remote)
	if err != nil {
		return ExitFailure, err
	}
	p.say(ln, Endpoint{FrontEnds: fes, Web: p.rt.Web})
	if err := p.rt.Serve(ctx, ln, fes...); err != nil {
		return ExitFailure, err
	}
	return 0, nil
}

// say tells where there is something to connect to.
func (p *run) say(ln net.Listener, e Endpoint) {
	at := ln.Addr().String()
	if len(e.FrontEnds) > 0 {
		fmt.Fprintf(p.stderr, "%s: listening on %s\n", program(), oneLine(at))
	}
	if e.Web != nil {
		url := "HTTP on " + at
		if w, ok := e.Web.(interface{ URL(net.Addr) string }); ok {
			url = w.URL(ln.Addr())
		}
		fmt.Fprintf(p.stderr, "%s: serving %s\n", program(), oneLine(url))
	}
}

// complain writes the one line that says why the program ends.
func (p *run) complain(err error) {
	text := scrub(logging.NewRedactor(p.rt.Redact...), errorText(err))
	fmt.Fprintf(p.stderr, "%s: %s\n", program(), oneLine(strings.TrimPrefix(text, "framework: ")))
}

// exit ends the program without waiting for anything but its last words.
func (p *run) exit(code int) {
	p.flushFeeds()
	p.stderr.flush()
	os.Exit(code)
}

// program is the name of the program that runs, for what it says of itself.
func program() string {
	if len(os.Args) == 0 {
		return "server"
	}
	return strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
}
