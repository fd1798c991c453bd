//go:build unix

package framework_test

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// child is one of the programs of TestMain, running.
type child struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     *os.File // nil once closed
	out    *os.File
	lines  *bufio.Reader // of out
	errs   *os.File
	stderr *collector
	done   chan struct{}
	code   int
}

// collector gathers standard error and lets tests wait for a text in it.
type collector struct {
	mu      sync.Mutex
	buf     bytes.Buffer
	changed chan struct{}
	ended   chan struct{} // all has come
}

func (c *collector) copy(r io.Reader) {
	defer close(c.ended)
	p := make([]byte, 4096)
	for {
		n, err := r.Read(p)
		c.mu.Lock()
		c.buf.Write(p[:n])
		close(c.changed)
		c.changed = make(chan struct{})
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (c *collector) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.buf.String()
}

// start runs a program of TestMain. Its standard streams are pipes, as an editor's are.
func start(t *testing.T, program string, args ...string) *child {
	t.Helper()
	c := startQuiet(t, program, args...)
	c.stderr = &collector{changed: make(chan struct{}), ended: make(chan struct{})}
	go c.stderr.copy(c.errs)
	return c
}

// startQuiet is start with a standard error that nobody reads.
func startQuiet(t *testing.T, program string, args ...string) *child {
	t.Helper()
	c := &child{t: t, cmd: exec.Command(os.Args[0], args...), done: make(chan struct{})}
	c.cmd.Env = append(os.Environ(), programVariable+"="+program)
	var theirs [3]*os.File
	pipe := func(i int, childReads bool) *os.File {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if childReads {
			theirs[i] = r
			return w
		}
		theirs[i] = w
		return r
	}
	c.in, c.out, c.errs = pipe(0, true), pipe(1, false), pipe(2, false)
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = theirs[0], theirs[1], theirs[2]
	c.lines = bufio.NewReader(c.out)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, f := range theirs {
		f.Close()
	}
	go func() {
		_ = c.cmd.Wait()
		c.code = c.cmd.ProcessState.ExitCode()
		close(c.done)
	}()
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		<-c.done
		c.in.Close()
		c.out.Close()
		c.errs.Close()
	})
	return c
}

func (c *child) send(messages ...string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, strings.Join(messages, "")); err != nil {
		c.t.Fatal(err)
	}
}

// line reads the next line of standard output.
func (c *child) line() string {
	c.t.Helper()
	_ = c.out.SetReadDeadline(time.Now().Add(patience))
	s, err := c.lines.ReadString('\n')
	if err != nil {
		c.t.Fatalf("no line: %v; so far %q; standard error %q", err, s, c.text())
	}
	return strings.TrimSuffix(s, "\n")
}

// rest reads standard output to its end.
func (c *child) rest() string {
	c.t.Helper()
	_ = c.out.SetReadDeadline(time.Now().Add(patience))
	b, err := io.ReadAll(c.lines)
	if err != nil {
		c.t.Fatalf("standard output does not end: %v", err)
	}
	return string(b)
}

func (c *child) text() string {
	if c.stderr == nil {
		return ""
	}
	return c.stderr.String()
}

// says waits until standard error has a text.
func (c *child) says(text string) {
	c.t.Helper()
	late := time.After(patience)
	for {
		c.stderr.mu.Lock()
		have, changed := strings.Contains(c.stderr.buf.String(), text), c.stderr.changed
		c.stderr.mu.Unlock()
		if have {
			return
		}
		select {
		case <-changed:
		case <-late:
			c.t.Fatalf("standard error never said %q; it said %q", text, c.text())
		}
	}
}

// exits waits for the process and its exit code, -1 where a signal ended it.
func (c *child) exits(code int) {
	c.t.Helper()
	select {
	case <-c.done:
	case <-time.After(patience):
		c.t.Fatalf("the process goes on; standard error %q", c.text())
	}
	if c.stderr != nil {
		<-c.stderr.ended
	}
	if c.code != code {
		c.t.Errorf("exit code %d (%v), want %d; standard error %q", c.code, c.cmd.ProcessState, code, c.text())
	}
}

// complains checks that standard error was one line that has the text.
func (c *child) complains(text string) {
	c.t.Helper()
	c.says("\n")
	if s := c.text(); strings.Count(s, "\n") != 1 || !strings.Contains(s, text) {
		c.t.Errorf("standard error is %q, want one line with %q", s, text)
	}
}

func TestStdioAnswersAndEnds(t *testing.T) {
	c := start(t, "lines", "--stdio")
	c.send(`{"jsonrpc":"2.0","id":1,"method":"echo","params":[1]}`, "\n")
	if got, want := c.line(), `{"jsonrpc":"2.0","id":1,"result":[1]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	c.in.Close()
	c.exits(0)
	if s := c.rest() + c.text(); s != "" {
		t.Errorf("more was written: %q", s)
	}
}

// Input that comes from a file is over at once, and its last line may lack an end.
func TestStdioOneShot(t *testing.T) {
	c := start(t, "header")
	c.send(header(`{"jsonrpc":"2.0","id":1,"method":"finish"}`), header(`{"jsonrpc":"2.0","id":2,"method":"echo","params":{}}`))
	c.in.Close()
	out := c.rest()
	for _, want := range []string{`{"jsonrpc":"2.0","id":1,"result":"finished"}`, `{"jsonrpc":"2.0","id":2,"result":{}}`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in %q", want, out)
		}
	}
	c.exits(0)
}

func TestStdioGuard(t *testing.T) {
	c := start(t, "lines")
	c.send(`{"jsonrpc":"2.0","id":1,"method":"print"}`, "\n")
	if got, want := c.line(), `{"jsonrpc":"2.0","id":1,"result":true}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	c.says("stray line\n")
	c.says("stray bytes\n")
	c.in.Close()
	c.exits(0)
	if s := c.rest(); s != "" {
		t.Errorf("more was written: %q", s)
	}
}

func TestStdioFramingLost(t *testing.T) {
	for name, test := range map[string]struct{ input, names string }{
		"negative length":      {"Content-Length: -1\r\n\r\n{}", "Content-Length"},
		"huge length":          {"Content-Length: 99999999999999999999\r\n\r\n{}", "Content-Length"},
		"length in hex":        {"Content-Length: 0x10\r\n\r\n{}", "Content-Length"},
		"no length":            {"X-Other: 1\r\n\r\n{}", "Content-Length"},
		"two lengths":          {"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "Content-Length"},
		"end in the body":      {"Content-Length: 107\r\n\r\n{}", "105 of 107 bytes missing"},
		"end in the header":    {"Content-Le", "header"},
		"web page":             {"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", "header"},
		"terminal controls":    {"X\x1b[31m: 1\r\n\r\n", "header"},
		"secret in the header": {"Authorization CANARY\r\n\r\n", "header"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := start(t, "header", "--stdio")
			c.send(test.input)
			c.in.Close()
			c.exits(1)
			if s := c.rest(); s != "" {
				t.Errorf("standard output is %q", s)
			}
			c.complains(test.names)
			if s := c.text(); strings.ContainsAny(s, "\x1b") || strings.Contains(s, "CANARY") {
				t.Errorf("standard error is %q", s)
			}
		})
	}
}

// Where framing is lost the process must not wait for the end of the input.
func TestStdioFramingLostWithInputOpen(t *testing.T) {
	c := start(t, "header")
	c.send("Content-Length: -1\r\n\r\n")
	c.exits(1)
	c.complains("Content-Length")
}

func TestStdioNobodyReadsOutput(t *testing.T) {
	c := start(t, "lines", "--log-level=debug")
	c.out.Close()
	c.send(`{"jsonrpc":"2.0","id":1,"method":"echo","params":[]}`, "\n")
	c.exits(1)
	s := c.text()
	if !strings.Contains(s, "broken pipe") {
		t.Errorf("standard error does not say why: %q", s)
	}
	if strings.Contains(s, "goroutine") {
		t.Errorf("standard error has a stack: %q", s)
	}
}

// What was sent by a peer that has closed our output meanwhile is handled: it may end the session in good order.
func TestStdioPeerLeavesWithoutWaiting(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"echo","params":[]}` + "\n"
	for name, test := range map[string]struct {
		sends string
		ends  bool // the input, too
		code  int
	}{
		"says so":                           {ping + `{"jsonrpc":"2.0","method":"leave","params":{"Code":7}}` + "\n", false, 7},
		"says so and closes all":            {ping + `{"jsonrpc":"2.0","method":"leave","params":{"Code":7}}` + "\n", true, 7},
		"says so after much and closes all": {strings.Repeat(ping, 1000) + `{"jsonrpc":"2.0","method":"leave","params":{"Code":7}}` + "\n", true, 7},
		"closes output only":                {ping, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := start(t, "lines")
			c.out.Close()
			c.send(test.sends)
			if test.ends {
				c.in.Close()
			}
			c.exits(test.code)
			if s := c.text(); test.code == 1 && !strings.Contains(s, "broken pipe") || strings.Count(s, "\n") > 1 {
				t.Errorf("standard error is %q", s)
			}
		})
	}
}

func TestStdioNobodyReadsErrors(t *testing.T) {
	for name, closed := range map[string]bool{"closed": true, "full": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startQuiet(t, "lines", "--log-level=trace")
			if closed {
				c.errs.Close()
			}
			filler := strings.Repeat("x", 10_000)
			for id := range 100 { // a megabyte of log
				c.send(string(request(id, "echo", []string{filler})), "\n")
				if got := c.line(); !strings.Contains(got, filler) {
					t.Fatalf("got %.80s", got)
				}
				c.send(string(request(id, "panic", []string{filler})), "\n")
				if got := c.line(); !strings.Contains(got, "Internal error") {
					t.Fatalf("got %.80s", got)
				}
			}
			c.in.Close()
			c.exits(0)
		})
	}
}

func TestSignals(t *testing.T) {
	for name, sig := range map[string]syscall.Signal{"SIGTERM": syscall.SIGTERM, "SIGINT": syscall.SIGINT} {
		t.Run(name+" idle", func(t *testing.T) {
			t.Parallel()
			c := start(t, "lines")
			c.send(`{"jsonrpc":"2.0","id":1,"method":"echo","params":[]}`, "\n")
			c.line()
			c.signal(sig)
			c.exits(0)
			if s := c.text(); s != "" {
				t.Errorf("standard error is %q", s)
			}
		})
		t.Run(name+" with work", func(t *testing.T) {
			t.Parallel()
			c := start(t, "lines")
			c.send(`{"jsonrpc":"2.0","id":1,"method":"finish"}`, "\n")
			c.line() // it runs
			c.signal(sig)
			if got, want := c.line(), `{"jsonrpc":"2.0","id":1,"result":"finished"}`; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			c.exits(0)
		})
		t.Run(name+" twice", func(t *testing.T) {
			t.Parallel()
			c := start(t, "lines")
			c.send(`{"jsonrpc":"2.0","id":1,"method":"stuck"}`, "\n")
			c.line()
			c.signal(sig)
			c.says("closing")
			c.signal(sig)
			c.exits(128 + int(sig))
		})
	}
	for i := range 5 { // more than once, since the signal may be seen first
		t.Run("SIGTERM while the pipes break "+strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			c := start(t, "lines")
			c.send(`{"jsonrpc":"2.0","id":1,"method":"echo","params":[]}`, "\n")
			c.line()
			c.out.Close()
			c.send(`{"jsonrpc":"2.0","id":2,"method":"echo","params":[]}`, "\n")
			c.in.Close()
			c.signal(syscall.SIGTERM)
			c.exits(0)
		})
	}
	t.Run("handler that never ends", func(t *testing.T) {
		t.Parallel()
		c := start(t, "lines")
		c.send(`{"jsonrpc":"2.0","id":1,"method":"stuck"}`, "\n")
		c.line()
		c.signal(syscall.SIGTERM)
		c.exits(128 + int(syscall.SIGTERM))
	})
}

func (c *child) signal(s os.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		c.t.Fatal(err)
	}
}

// A handler that ignores its context must not make an orphan of the process.
func TestStdioStuckHandlerAfterEnd(t *testing.T) {
	t.Parallel()
	c := start(t, "lines")
	c.send(`{"jsonrpc":"2.0","id":1,"method":"stuck"}`, "\n")
	c.line()
	c.in.Close()
	c.says("a handler did not return")
	c.exits(1)
}

func TestExitCodeIsTheFrontEnds(t *testing.T) {
	c := start(t, "lines")
	c.send(`{"jsonrpc":"2.0","method":"leave","params":{"Code":7}}`, "\n")
	c.exits(7) // with the input open
}

// A peer that asks and does not read must not keep the process when it goes, nor when the process is told to end.
func TestStdioOutputNotRead(t *testing.T) {
	fill := func(t *testing.T) *child {
		c := start(t, "lines")
		message := append(request(1, "echo", []string{strings.Repeat("x", 100_000)}), '\n')
		for sent := 0; ; { // until it reads no more, which is not before its limit for unsent bytes
			_ = c.in.SetWriteDeadline(time.Now().Add(500 * time.Millisecond))
			n, err := c.in.Write(message[sent%len(message):])
			if sent += n; err != nil && n == 0 && sent > jsonrpc2.DefaultMaxUnsent {
				return c
			}
		}
	}
	t.Run("peer goes", func(t *testing.T) {
		t.Parallel()
		c := fill(t)
		c.in.Close()
		c.out.Close()
		c.exits(1)
	})
	t.Run("signal", func(t *testing.T) {
		t.Parallel()
		c := fill(t)
		c.signal(syscall.SIGTERM)
		c.exits(128 + int(syscall.SIGTERM))
	})
}
