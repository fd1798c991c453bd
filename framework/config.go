package framework

import (
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/hashicorp/go-hclog"
)

// Config is what a server's command line says about where to serve. [Config.Register] adds its flags to a set that may have others; after
// parsing, [Config.Run] does the rest. The flags are those that editors pass to language servers, and a few more. Every flag may begin with one
// dash or two.
type Config struct {
	Stdio    bool   // --stdio: standard input and output; so it is without any of the other four
	Pipe     string // --pipe NAME: connect to a Unix socket, on Windows to a named pipe (\\.\pipe\NAME)
	Socket   int    // --socket PORT, --port PORT: connect to 127.0.0.1:PORT
	Listen   string // --listen ADDR: accept connections there, see the function Listen
	Remote   bool   // --listen-remote: ADDR may be one that other machines can reach
	ParentID int    // --clientProcessId PID: end when that process does; 0: watch none
	LogLevel string // --log-level LEVEL: trace, debug, info, warn, error or off, on standard error; debug has the redacted traffic
	LogJSON  bool   // --log-json: one JSON object a line
	Stats    bool   // --stats: print the figures of Metrics on standard error at the end
	Record   string // --record FILE: write the redacted traffic there, see [logging.Record]; a recording that is there is added to
	Inspect  string // --inspect ADDR: show it on a page there while the program runs, see package inspect; the page's URL is printed on standard error
	Replay   string // --replay FILE: serve nobody, but see whether recorded sessions would go as they did, see package replay
	Ignore   string // --replay-ignore PATHS: what may differ, paths separated by commas, see replay.Options
	NodeIPC  bool   // --node-ipc, which editors pass to servers that run on Node.js: refused by Check
}

// Register adds the flags to fs. What c holds are the defaults.
func (c *Config) Register(fs *flag.FlagSet) {
	if c.LogLevel == "" {
		c.LogLevel = "warn"
	}
	fs.BoolVar(&c.Stdio, "stdio", c.Stdio, "serve on standard input and output (the default)")
	fs.StringVar(&c.Pipe, "pipe", c.Pipe, "connect to the Unix socket or named pipe `NAME`")
	fs.IntVar(&c.Socket, "socket", c.Socket, "connect to 127.0.0.1:`PORT`")
	fs.IntVar(&c.Socket, "port", c.Socket, "the same as --socket `PORT`")
	fs.StringVar(&c.Listen, "listen", c.Listen, "accept connections on `ADDR`: unix:PATH, HOST:PORT or PORT")
	fs.BoolVar(&c.Remote, "listen-remote", c.Remote, "let --listen take an address that other machines can reach; there is no authentication")
	fs.IntVar(&c.ParentID, "clientProcessId", c.ParentID, "end when the process `PID` does")
	fs.StringVar(&c.LogLevel, "log-level", c.LogLevel, "log to standard error from this `LEVEL` up: trace, debug, info, warn, error or off")
	fs.BoolVar(&c.LogJSON, "log-json", c.LogJSON, "log JSON objects, one a line")
	fs.BoolVar(&c.Stats, "stats", c.Stats, "print figures about the messages to standard error at the end")
	fs.StringVar(&c.Record, "record", c.Record, "record the traffic, without its secrets, in `FILE`")
	fs.StringVar(&c.Inspect, "inspect", c.Inspect, "show the traffic, without its secrets, on a page at `ADDR`, localhost:PORT or PORT; its URL is printed")
	fs.StringVar(&c.Replay, "replay", c.Replay, "replay the sessions recorded in `FILE` and print what is different now")
	fs.StringVar(&c.Ignore, "replay-ignore", c.Ignore, "`PATHS` of members that may differ, separated by commas, as in result.items.*.time")
	fs.BoolVar(&c.NodeIPC, "node-ipc", c.NodeIPC, "not supported: needs Node.js at both ends")
}

var (
	errNodeIPC   = errors.New("--node-ipc needs Node.js at both ends: use --stdio, --pipe or --socket")
	errTransport = errors.New("more than one way to serve")
)

// Check reports settings that cannot be used. The error names the flag and what was given.
func (c *Config) Check() error {
	if c.NodeIPC {
		return errNodeIPC
	}
	var ways []string
	for _, w := range []struct {
		flag string
		on   bool
	}{{"--stdio", c.Stdio}, {"--pipe", c.Pipe != ""}, {"--socket", c.Socket != 0}, {"--listen", c.Listen != ""}, {"--replay", c.Replay != ""}} {
		if w.on {
			ways = append(ways, w.flag)
		}
	}
	switch {
	case len(ways) > 1:
		return fmt.Errorf("%w: %s", errTransport, strings.Join(ways, " and "))
	case c.Socket < 0 || c.Socket > 65535:
		return fmt.Errorf("--socket %d: not a port", c.Socket)
	case c.ParentID < 0:
		return fmt.Errorf("--clientProcessId %d: not a process id", c.ParentID)
	case c.LogLevel != "" && hclog.LevelFromString(c.LogLevel) == hclog.NoLevel:
		return fmt.Errorf("--log-level %q: want trace, debug, info, warn, error or off", c.LogLevel)
	case c.Ignore != "" && c.Replay == "":
		return errors.New("--replay-ignore: needs --replay")
	case c.Remote && c.Listen == "":
		return errors.New("--listen-remote: needs --listen")
	}
	return nil
}
