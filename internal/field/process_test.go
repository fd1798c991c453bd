//go:build unix

package field

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// process is a program of TestMain, running on pipes.
type process struct {
	t       *testing.T
	framing jsonrpc2.Framing
	cmd     *exec.Cmd
	in      *os.File
	out     *os.File // nil if it is gathered in stdout
	stdout  *gathered
	stderr  *gathered
	exited  chan struct{}
}

// gathered is what a process has written so far.
type gathered struct {
	mu   sync.Mutex
	data bytes.Buffer
	more chan struct{}
}

func (g *gathered) from(r io.Reader) {
	p := make([]byte, 64<<10)
	for {
		n, err := r.Read(p)
		g.mu.Lock()
		g.data.Write(p[:n])
		close(g.more)
		g.more = make(chan struct{})
		g.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (g *gathered) String() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.data.String()
}

// start starts a program; with reads its standard output is gathered, else it is left to the test.
func start(t *testing.T, program string, reads bool) *process {
	t.Helper()
	p := &process{
		t: t, cmd: exec.Command(os.Args[0]), exited: make(chan struct{}),
		stdout: &gathered{more: make(chan struct{})}, stderr: &gathered{more: make(chan struct{})},
	}
	if program == "lsp" || program == "header" {
		p.framing = jsonrpc2.Header
	}
	p.cmd.Env = append(os.Environ(), programVariable+"="+program)
	pipe := func() (r, w *os.File) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		return r, w
	}
	inR, inW := pipe()
	outR, outW := pipe()
	errR, errW := pipe()
	p.in, p.out = inW, outR
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = inR, outW, errW
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, f := range []*os.File{inR, outW, errW} {
		_ = f.Close()
	}
	var readers sync.WaitGroup
	readers.Go(func() { p.stderr.from(errR) })
	if reads {
		readers.Go(func() { p.stdout.from(outR) })
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.exited)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.exited
		_ = p.in.Close()
		if !reads {
			_ = p.out.Close()
		}
		readers.Wait()
		_, _ = outR.Close(), errR.Close()
	})
	return p
}

// send writes messages, framed. A process that is gone or does not read any more is no failure here.
func (p *process) send(messages ...string) { p.write(frame(p.framing, messages...)) }

func (p *process) write(text string) {
	p.t.Helper()
	_ = p.in.SetWriteDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(p.in, text); os.IsTimeout(err) {
		p.t.Fatal("the process does not read")
	}
}

// says waits until a text was written to g.
func (p *process) says(g *gathered, text string) {
	p.t.Helper()
	late := time.After(patience)
	for {
		g.mu.Lock()
		have, more := strings.Contains(g.data.String(), text), g.more
		g.mu.Unlock()
		if have {
			return
		}
		select {
		case <-more:
		case <-late:
			p.t.Fatalf("it never said %q; standard output %q, standard error %q", text, clip(p.stdout.String()), clip(p.stderr.String()))
		}
	}
}

// exits waits for the end of the process, and looks at how it ended.
func (p *process) exits(code int) {
	p.t.Helper()
	select {
	case <-p.exited:
	case <-time.After(patience):
		p.t.Fatalf("the process goes on; standard error %q", clip(p.stderr.String()))
	}
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.t.Errorf("exit code %d (%v), want %d; standard error %q", got, p.cmd.ProcessState, code, clip(p.stderr.String()))
	}
	if s := p.stderr.String(); strings.Contains(s, "goroutine") || strings.Contains(s, "panic") {
		p.t.Errorf("standard error has a stack: %q", clip(s))
	}
}

// Megabytes of brackets neither kill the process nor keep it busy, and what comes behind them is served.
func TestBracketsDoNotKill(t *testing.T) {
	t.Parallel()
	const n = 2_000_000
	deep := map[string]string{
		"199: brackets in params":   request("1", "ping", `{"a":`+strings.Repeat("[", n)+strings.Repeat("]", n)+"}"),
		"199: brackets alone":       strings.Repeat("[", 2*n),
		"199: objects":              request("1", "ping", strings.Repeat(`{"a":`, n/2)+"1"+strings.Repeat("}", n/2)),
		"199: in an unknown member": `{"jsonrpc":"2.0","id":1,"method":"ping","x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + "}",
		"199: in arguments":         request("1", "tools/call", `{"name":"echo","arguments":{"t":`+strings.Repeat("[", n)+strings.Repeat("]", n)+"}}"),
		"199: 40,000 levels":        request("1", "tools/call", `{"name":"echo","arguments":{"t":`+strings.Repeat("[", 40_000)+strings.Repeat("]", 40_000)+"}}"),
		"199: never closed":         `{"jsonrpc":"2.0","id":1,"result":` + strings.Repeat("[", 2*n),
	}
	for _, program := range []string{"mcp", "lsp", "lines", "header"} {
		t.Run(program, func(t *testing.T) {
			p := start(t, program, true)
			hello := map[string]string{"mcp": mcpHello, "lsp": lspHello}[program]
			if hello != "" {
				p.send(hello)
				p.says(p.stdout, `"id":"hello"`)
			}
			for name, message := range deep {
				p.send(message, request(`"after `+name+`"`, "ping", ""))
				p.says(p.stdout, `"id":"after `+name+`"`)
				if c := strings.Count(p.stdout.String(), "-32700"); c == 0 {
					t.Errorf("%s: not answered", name)
				}
			}
			if c := strings.Count(p.stdout.String(), `"id":null`); c != len(deep) {
				t.Errorf("%d of %d are answered", c, len(deep))
			}
			_ = p.in.Close()
			p.exits(map[string]int{"lsp": 1}[program])
		})
	}
}

// Where framing is lost the process ends with code 1, says why in one line, and writes nothing to the peer.
func TestFramingLostEndsTheProcess(t *testing.T) {
	for name, c := range map[string]struct{ in, says string }{
		"24: two gigabytes":      {"Content-Length: 2147483647\r\n\r\n{}", "Content-Length"},
		"24: negative":           {"Content-Length: -1\r\n\r\n{}", "Content-Length"},
		"24: not a number":       {"Content-Length: 0x10\r\n\r\n{}", "Content-Length"},
		"25: header without end": {"Content-Length: " + strings.Repeat("9", 100_000), "header"},
		"27: lines to LSP":       {mcpHello + "\n", "lines"},
		"28: cut in the body":    {"Content-Length: 107\r\n\r\n{}", "105 of 107 bytes missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, "lsp", true)
			p.write(c.in)
			if strings.Contains(name, "cut") {
				_ = p.in.Close()
			}
			p.exits(1) // with the input open, but for the one that is about its end
			p.says(p.stderr, c.says)
			if s := p.stderr.String(); strings.Count(s, "\n") != 1 {
				t.Errorf("standard error is %q", clip(s))
			}
			if s := p.stdout.String(); s != "" {
				t.Errorf("standard output is %q", clip(s))
			}
		})
	}
}

// The wrong framing for a line server is no silence either: what is no JSON is answered and said, and the next line is served.
func TestHeadersToALineServer(t *testing.T) {
	t.Parallel()
	p := start(t, "mcp", true)
	p.write(frame(jsonrpc2.Header, mcpHello) + "\n")
	p.says(p.stdout, "-32700")
	p.says(p.stderr, "\n")
	p.says(p.stdout, `"id":"hello"`)
	_ = p.in.Close()
	p.exits(0)
}

// The end of the input is no "stop": what was asked is answered. A peer that leaves without reading ends the process, not with a signal.
func TestEndsOfProcesses(t *testing.T) {
	shutdown, exit := request("2", "shutdown", ""), note("exit", "")
	for _, c := range []struct {
		name, program string
		in            []string
		has           string
		code          int
	}{
		{"97: shutdown and exit", "lsp", []string{lspHello, shutdown, exit}, `"id":2,"result":null`, 0},
		{"97: exit", "lsp", []string{exit}, "", 1},
		{"90: exit before initialize", "lsp", []string{didOpen("file:///a", ""), exit}, "", 1},
		{"97: end of the input", "lsp", []string{lspHello}, `"id":"hello"`, 1},
		{"97: end of the input, MCP", "mcp", []string{mcpHello, mcpReady, call("2", "echo", `{"t":"x"}`)}, `"id":2`, 0},
		{"97: nothing at all, MCP", "mcp", nil, "", 0},
		{"97: nothing at all, LSP", "lsp", nil, "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := start(t, c.program, true)
			p.send(c.in...)
			if len(c.in) == 0 || !strings.Contains(c.in[len(c.in)-1], "exit") {
				_ = p.in.Close()
			}
			p.exits(c.code)
			p.says(p.stdout, c.has)
			if s := p.stderr.String(); s != "" {
				t.Errorf("standard error is %q", clip(s))
			}
		})
	}
	for name, ends := range map[string]bool{"101: editor quits without waiting": false, "101: editor quits without waiting and closes all": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, "lsp", false)
			p.send(lspHello)
			one := make([]byte, 1)
			_ = p.out.SetReadDeadline(time.Now().Add(patience))
			if _, err := p.out.Read(one); err != nil {
				t.Fatal(err)
			}
			_ = p.out.Close()
			p.send(shutdown, exit)
			if ends {
				_ = p.in.Close()
			}
			p.exits(0)
		})
	}
	for _, program := range []string{"mcp", "lsp"} {
		t.Run("101: peer leaves, "+program, func(t *testing.T) {
			t.Parallel()
			p := start(t, program, false)
			_ = p.out.Close()
			p.send(map[string]string{"mcp": mcpHello, "lsp": lspHello}[program])
			p.exits(1)
			p.says(p.stderr, "\n")
		})
		t.Run("101: peer leaves in between, "+program, func(t *testing.T) {
			t.Parallel()
			p := start(t, program, false)
			p.send(map[string]string{"mcp": mcpHello, "lsp": lspHello}[program])
			one := make([]byte, 1)
			_ = p.out.SetReadDeadline(time.Now().Add(patience))
			if _, err := p.out.Read(one); err != nil {
				t.Fatal(err)
			}
			_ = p.out.Close()
			p.send(request("2", "ping", ""))
			p.exits(1) // with the input open
		})
	}
}
