//go:build unix

package framework_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestBeside has a program serve standard input and output, a port and a socket at once.
func TestBeside(t *testing.T) {
	for name, end := range map[string]func(*child){
		"main connection ends": func(c *child) { c.in.Close(); c.exits(0) },
		"signal":               func(c *child) { _ = c.cmd.Process.Signal(syscall.SIGTERM); c.exits(0) },
	} {
		t.Run(name, func(t *testing.T) {
			socket := filepath.Join(t.TempDir(), "s")
			t.Setenv("TANDEM_FRAMEWORK_SOCKET", "unix:"+socket)
			c := start(t, "beside")
			c.says("serving http://")
			c.says("listening on " + socket)
			c.send(ask + "\n")
			if got := c.line(); got != answer {
				t.Errorf("main: %s", got)
			}
			_, rest, _ := strings.Cut(c.text(), "serving http://")
			address, _, _ := strings.Cut(rest, "/page")
			if s, err := new(page).get(t, "tcp", address, "/p"); err != nil || s != "POST /p ?" {
				t.Errorf("the port: %q %v", s, err)
			}
			other, err := net.Dial("unix", socket)
			if err != nil {
				t.Fatal(err)
			}
			defer other.Close()
			exchange(t, other, ask+"\n", answer+"\n")
			end(c)
			if s, err := bufio.NewReader(other).ReadString('\n'); err == nil {
				t.Errorf("the socket says %q", s)
			}
			if _, err := net.Dial("unix", socket); err == nil {
				t.Error("the socket is still there")
			}
		})
	}
	t.Run("cannot listen", func(t *testing.T) {
		t.Setenv("TANDEM_FRAMEWORK_SOCKET", "192.0.2.1:1")
		c := start(t, "beside")
		c.exits(1)
		c.complains(`address is not a loopback one: "192.0.2.1:1"`)
	})
}

// The program of the README: an agent's tool edits what an editor has open.
func TestTogether(t *testing.T) {
	t.Setenv("MCP_ADDRESS", "127.0.0.1:0")
	c := start(t, "together")
	c.says("/mcp\n")
	_, url, _ := strings.Cut(strings.TrimSpace(c.text()), "serving ")
	call := func(uri string) string {
		r, err := http.Post(url, "application/json", strings.NewReader(
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"uri":"`+uri+`","text":"!"}}}`))
		if err != nil {
			return err.Error()
		}
		defer r.Body.Close()
		b, _ := io.ReadAll(r.Body)
		return string(b)
	}
	c.send(header(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{"workspace":{"applyEdit":true}}}}`),
		header(`{"jsonrpc":"2.0","method":"initialized","params":{}}`),
		header(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"untitled:x","languageId":"x","version":1,"text":"hello"}}}`))
	c.until(`"serverInfo"`)
	if got := call("untitled:y"); !strings.Contains(got, "no editor has it open") {
		t.Errorf("a document that is not open: %s", got)
	}
	answered := make(chan string, 1)
	go func() {
		for end := time.Now().Add(patience); ; { // a notification is not answered: the document may not have been seen yet
			if got := call("untitled:x"); !strings.Contains(got, "no editor has it open") || time.Now().After(end) {
				answered <- got
				return
			}
		}
	}()
	ask := c.until(`"newText":"!"`)
	if !strings.Contains(ask, "workspace/applyEdit") || !strings.Contains(ask, `{"line":0,"character":5}`) {
		t.Errorf("the editor is asked %s", ask)
	}
	_, id, _ := strings.Cut(ask, `"id":`)
	id, _, _ = strings.Cut(id, ",")
	c.send(header(`{"jsonrpc":"2.0","id":` + id + `,"result":{"applied":true}}`))
	if got := <-answered; !strings.Contains(got, "Added.") {
		t.Errorf("the agent is told %s", got)
	}
	c.in.Close()
	c.exits(1) // without shutdown and exit
}

// until reads standard output until it has a text, and returns what came since the last call.
func (c *child) until(text string) string {
	c.t.Helper()
	_ = c.out.SetReadDeadline(time.Now().Add(patience))
	var got []byte
	for !strings.Contains(string(got), text) {
		b, err := c.lines.ReadByte()
		if err != nil {
			c.t.Fatalf("%v after %q, which has no %q; standard error %q", err, got, text, c.text())
		}
		got = append(got, b)
	}
	return string(got)
}
