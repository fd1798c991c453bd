package lsp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/framework"
	"github.com/tandem-rpc/tandem/lsp"
)

// The test binary is also the server that is tested, a whole program of one line, and the parent of one.
const roleVariable = "TANDEM_LSP_TEST_ROLE"

func init() {
	switch role := os.Getenv(roleVariable); role {
	case "":
	case "parent": // lives until its input ends
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	default:
		s := matrixServer()
		s.IgnoreParent = role == "server that ignores its parent"
		framework.Main(s)
	}
}

// matrixServer does nothing about the lifecycle: what the matrix shows is the library. Its hover waits for its context, at line 1 for another hover, and
// returns at once at line 2; its definition panics; a document that is called block holds everything up that is kept in order.
func matrixServer() *lsp.Server {
	together := make(chan struct{})
	return &lsp.Server{
		Name: "matrix",
		Hover: func(ctx context.Context, p *protocol.HoverParams) (*protocol.Hover, error) {
			hover := &protocol.Hover{Contents: lsp.PlainText("hover")}
			switch p.Position.Line {
			case 1:
				select {
				case together <- struct{}{}:
				case <-together:
				case <-ctx.Done():
				}
				return hover, ctx.Err()
			case 2:
				return hover, nil
			}
			if err := lsp.ClientFrom(ctx).LogMessage(ctx, protocol.MessageTypeLog, "started"); err != nil {
				return nil, err
			}
			<-ctx.Done()
			return nil, ctx.Err()
		},
		Definition: func(context.Context, *protocol.DefinitionParams) (protocol.DefinitionResult, error) { panic("boom") },
		DidOpen: func(ctx context.Context, d *lsp.Document) error {
			if strings.HasSuffix(string(d.URI()), "block") {
				_ = lsp.ClientFrom(ctx).LogMessage(ctx, protocol.MessageTypeLog, "started")
				<-ctx.Done()
			}
			return nil
		},
	}
}

// program is a server as a process, spoken to byte by byte.
type program struct {
	t       *testing.T
	cmd     *exec.Cmd
	in      io.WriteCloser
	stderr  bytes.Buffer
	answers chan json.RawMessage
	ended   chan struct{}
}

const patience = time.Minute // far more than anything here takes

func start(t *testing.T, role string) *program {
	t.Helper()
	p := &program{t: t, cmd: exec.Command(os.Args[0]), answers: make(chan json.RawMessage, 100), ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), roleVariable+"="+role)
	p.cmd.Stderr = &p.stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.in = in
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var reader sync.WaitGroup
	reader.Go(func() { p.read(out) })
	go func() {
		reader.Wait()
		_ = p.cmd.Wait() // the code is in ProcessState
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
	})
	return p
}

// read takes messages apart until the output ends.
func (p *program) read(out io.Reader) {
	r := bufio.NewReader(out)
	for {
		length := 0
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			if line = strings.TrimSpace(line); line == "" {
				break
			}
			if v, ok := strings.CutPrefix(line, "Content-Length: "); ok {
				length, _ = strconv.Atoi(v)
			}
		}
		b := make([]byte, length)
		if _, err := io.ReadFull(r, b); err != nil {
			return
		}
		p.answers <- b
	}
}

func frame(s string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(s), s) }

// send writes messages in one go.
func (p *program) send(messages ...string) {
	p.t.Helper()
	all := ""
	for _, m := range messages {
		all += frame(m)
	}
	p.raw(all)
}

func (p *program) raw(s string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, s); err != nil {
		p.t.Fatal(err)
	}
}

// hear returns the next message as "id result", "id code", or "method".
func (p *program) hear() string {
	p.t.Helper()
	select {
	case raw := <-p.answers:
		var m struct {
			ID     json.RawMessage
			Method string
			Result json.RawMessage
			Error  *struct{ Code int }
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			p.t.Fatalf("%s: %v", raw, err)
		}
		switch {
		case m.Method != "":
			return m.Method
		case m.Error != nil:
			return fmt.Sprint(string(m.ID), " ", m.Error.Code)
		case len(m.Result) > 20:
			return string(m.ID) + " ok"
		}
		return string(m.ID) + " " + string(m.Result)
	case <-time.After(patience):
		return "nothing"
	}
}

// exit waits for the end of the process and returns its code.
func (p *program) exit() string {
	select {
	case <-p.ended:
		return fmt.Sprint("exit ", p.cmd.ProcessState.ExitCode())
	case <-time.After(patience):
		return "alive"
	}
}

func req(id, method, params string) string {
	if params != "" {
		params = `,"params":` + params
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `"` + params + `}`
}

func tell(method, params string) string {
	if params != "" {
		params = `,"params":` + params
	}
	return `{"jsonrpc":"2.0","method":"` + method + `"` + params + `}`
}

func hoverAt(id, line string) string {
	return req(id, "textDocument/hover", `{"textDocument":{"uri":"file:///a"},"position":{"line":`+line+`,"character":0}}`)
}

func open(uri string) string {
	return tell("textDocument/didOpen", `{"textDocument":{"uri":"`+uri+`","languageId":"x","version":1,"text":"text"}}`)
}

const hello = `{"processId":null,"rootUri":null,"capabilities":{}}`

// up starts a server and initializes it.
func up(t *testing.T) *program {
	t.Helper()
	p := start(t, "server")
	p.send(req("1", "initialize", hello), tell("initialized", "{}"), open("file:///a"))
	if got := p.hear(); got != "1 ok" {
		t.Fatalf("initialize: %s", got)
	}
	return p
}

// The lifecycle, cancellation and robustness of a language server on standard input and output: what is asked, and what has to come of it.
func TestMatrix(t *testing.T) {
	tests := []struct {
		name string
		want string
		do   func(t *testing.T) string
	}{
		{"request before initialize", "5 -32002, 1 ok", func(t *testing.T) string {
			p := start(t, "server")
			p.send(hoverAt("5", "2"), req("1", "initialize", hello))
			return p.hear() + ", " + p.hear()
		}},
		{"notification before initialize", "1 ok", func(t *testing.T) string {
			p := start(t, "server")
			p.send(open("file:///a"), req("1", "initialize", hello))
			return p.hear()
		}},
		{"initialize twice", "2 -32600", func(t *testing.T) string { p := up(t); p.send(req("2", "initialize", hello)); return p.hear() }},
		{"unknown method", "2 -32601", func(t *testing.T) string { p := up(t); p.send(req("2", "foo/bar", "{}")); return p.hear() }},
		{"unknown $/ request", "2 -32601", func(t *testing.T) string { p := up(t); p.send(req("2", "$/foo", "{}")); return p.hear() }},
		{"unknown $/ notification", "2 ok", func(t *testing.T) string { p := up(t); p.send(tell("$/foo", "{}"), hoverAt("2", "2")); return p.hear() }},
		{"params of the wrong type", "2 -32602", func(t *testing.T) string {
			p := up(t)
			p.send(req("2", "textDocument/hover", `{"textDocument":{"uri":"file:///a"},"position":"x"}`))
			return p.hear()
		}},
		{"id that is a string", `"abc" ok`, func(t *testing.T) string { p := up(t); p.send(hoverAt(`"abc"`, "2")); return p.hear() }},
		{"id 2^53-1", "9007199254740991 ok", func(t *testing.T) string { p := up(t); p.send(hoverAt("9007199254740991", "2")); return p.hear() }},
		{"cancel a number", "20 -32800", func(t *testing.T) string { return cancelled(t, "20") }},
		{"cancel 0", "0 -32800", func(t *testing.T) string { return cancelled(t, "0") }},
		{"cancel a string", `"x" -32800`, func(t *testing.T) string { return cancelled(t, `"x"`) }},
		{"cancel before, and after", "3 ok, 4 ok", func(t *testing.T) string {
			p := up(t)
			p.send(tell("$/cancelRequest", `{"id":3}`), hoverAt("3", "2"))
			first := p.hear()
			p.send(tell("$/cancelRequest", `{"id":3}`), hoverAt("4", "2"))
			return first + ", " + p.hear()
		}},
		{"two slow hovers run at once", "2 ok", func(t *testing.T) string {
			p := up(t)
			p.send(hoverAt("2", "1"), hoverAt("2", "1")) // each waits for the other
			if first := p.hear(); first != "2 ok" {
				return first
			}
			return p.hear()
		}},
		{"lower-case header and content type", "30 ok", func(t *testing.T) string {
			p := up(t)
			m := hoverAt("30", "2")
			p.raw(fmt.Sprintf("content-type: application/vscode-jsonrpc; charset=utf8\r\ncontent-length: %d\r\n\r\n%s", len(m), m))
			return p.hear()
		}},
		{"batch", "null -32600, 43 ok", func(t *testing.T) string {
			p := up(t)
			p.send("["+hoverAt("41", "2")+","+hoverAt("42", "2")+"]", hoverAt("43", "2"))
			return p.hear() + ", " + p.hear()
		}},
		{"malformed JSON", "null -32700, 51 ok", func(t *testing.T) string {
			p := up(t)
			p.send(`{"jsonrpc":"2.0","id":50,`, hoverAt("51", "2"))
			return p.hear() + ", " + p.hear()
		}},
		{"handler panics", "60 -32603, 61 ok", func(t *testing.T) string {
			p := up(t)
			p.send(req("60", "textDocument/definition", `{"textDocument":{"uri":"file:///a"},"position":{"line":0,"character":0}}`))
			first := p.hear()
			p.send(hoverAt("61", "2"))
			return first + ", " + p.hear()
		}},
		{"request after shutdown", "70 null, 71 -32600", func(t *testing.T) string {
			p := up(t)
			p.send(req("70", "shutdown", ""), hoverAt("71", "2"))
			return sorted(p.hear(), p.hear())
		}},
		{"second shutdown, and params null", "70 null, 71 null", func(t *testing.T) string {
			p := up(t)
			p.send(req("70", "shutdown", "{}"))
			first := p.hear()
			p.send(req("71", "shutdown", "null"))
			return first + ", " + p.hear()
		}},
		{"shutdown just after didOpen", "70 null", func(t *testing.T) string {
			p := up(t)
			p.send(open("file:///b"), req("70", "shutdown", ""))
			return p.hear()
		}},
		{"shutdown while a function holds everything up", "window/logMessage, 70 null", func(t *testing.T) string {
			p := up(t)
			p.send(open("file:///block"))
			first := p.hear()
			p.send(open("file:///c"), req("70", "shutdown", ""))
			return first + ", " + p.hear()
		}},
		{"shutdown right behind initialize", "1 ok, 2 null, exit 0", func(t *testing.T) string {
			p := start(t, "server")
			p.send(req("1", "initialize", hello), tell("initialized", "{}"), req("2", "shutdown", ""), tell("exit", ""))
			return p.hear() + ", " + p.hear() + ", " + p.exit()
		}},
		{"exit after shutdown", "70 null, exit 0", func(t *testing.T) string {
			p := up(t)
			p.send(req("70", "shutdown", ""))
			first := p.hear()
			p.send(tell("exit", "null"))
			return first + ", " + p.exit()
		}},
		{"exit back to back with shutdown", "70 null, exit 0", func(t *testing.T) string {
			p := up(t)
			p.send(req("70", "shutdown", ""), tell("exit", ""))
			return p.hear() + ", " + p.exit()
		}},
		{"exit without shutdown", "exit 1", func(t *testing.T) string { p := up(t); p.send(tell("exit", "")); return p.exit() }},
		{"end of the input", "exit 1", func(t *testing.T) string { p := up(t); _ = p.in.Close(); return p.exit() }},
		{"end of the input after shutdown", "70 null, exit 0", func(t *testing.T) string {
			p := up(t)
			p.send(req("70", "shutdown", ""))
			first := p.hear()
			_ = p.in.Close()
			return first + ", " + p.exit()
		}},
		{"the parent dies", "exit 1, and says why", func(t *testing.T) string {
			ps, parent := orphans(t, "server")
			p := ps[0]
			got := p.exit()
			if strings.Contains(p.stderr.String(), strconv.Itoa(parent)) {
				return got + ", and says why"
			}
			return got + ": " + p.stderr.String()
		}},
		{"the parent dies, and that is to be ignored", "2 ok", func(t *testing.T) string {
			ps, _ := orphans(t, "server", "server that ignores its parent")
			_ = ps[0].exit() // when this one has noticed, the other has had its time
			ps[1].send(hoverAt("2", "2"))
			return ps[1].hear()
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.do(t); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// cancelled cancels a hover that would never end, twice.
func cancelled(t *testing.T, id string) string {
	p := up(t)
	p.send(hoverAt(id, "0"))
	if got := p.hear(); got != "window/logMessage" {
		return got
	}
	p.send(tell("$/cancelRequest", `{"id":999}`), tell("$/cancelRequest", `{"id":`+id+`}`), tell("$/cancelRequest", `{"id":`+id+`}`))
	return p.hear()
}

// orphans returns servers whose parent has ended, and the parent's id.
func orphans(t *testing.T, roles ...string) (ps []*program, pid int) {
	t.Helper()
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), roleVariable+"=parent")
	hold, err := parent.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	for _, role := range roles {
		p := start(t, role)
		p.send(req("1", "initialize", fmt.Sprintf(`{"processId":%d,"rootUri":null,"capabilities":{}}`, parent.Process.Pid)))
		if got := p.hear(); got != "1 ok" {
			t.Errorf("initialize: %s", got)
		}
		ps = append(ps, p)
	}
	if err := errors.Join(hold.Close(), parent.Wait()); err != nil {
		t.Error(err)
	}
	return ps, parent.Process.Pid
}

func sorted(a, b string) string { return min(a, b) + ", " + max(a, b) }
