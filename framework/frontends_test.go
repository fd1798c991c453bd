package framework_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/tandem-rpc/tandem/framework"
	"github.com/tandem-rpc/tandem/lsp"
	"github.com/tandem-rpc/tandem/mcp"
)

// The two front ends do not import this package; here is the promise that they fit.
var (
	_ framework.FrontEnd = (*lsp.Server)(nil)
	_ framework.Exiter   = (*lsp.Server)(nil)
	_ framework.Replayed = (*lsp.Server)(nil)
	_ framework.Replayed = (*mcp.Server)(nil)

	_ framework.Secretive = (*mcp.Server)(nil)
	_ framework.Parented  = (*lsp.Server)(nil)
	_ framework.FrontEnd  = (*mcp.Server)(nil)
)

// One address serves an editor and an agent.
func TestOnePortServesBothProtocols(t *testing.T) {
	var rt framework.Runtime
	address, wait := serve(t, &rt, &lsp.Server{Name: "editor's"}, &mcp.Server{Name: "agent's"})
	for name, test := range map[string]struct{ send, want string }{
		"lsp": {header(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}`), `"name":"editor's"`},
		"mcp": {`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}` + "\n", `"name":"agent's"`},
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, address)
			_, _ = io.WriteString(c, test.send)
			got := readUntil(t, c, test.want)
			if !strings.Contains(got, `"capabilities"`) {
				t.Errorf("got %s", got)
			}
		})
	}
	if err := rt.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if err := wait(); err != nil {
		t.Error(err)
	}
}

func readUntil(t *testing.T, c net.Conn, text string) string {
	t.Helper()
	_ = c.SetDeadline(time.Now().Add(patience))
	var got []byte
	r := bufio.NewReader(c)
	for !strings.Contains(string(got), text) {
		b, err := r.ReadByte()
		if err != nil {
			t.Fatalf("%v after %q, which has no %q", err, got, text)
		}
		got = append(got, b)
	}
	return string(got)
}

// What a protocol knows for a secret is in no log.
func TestSecretsOfProtocol(t *testing.T) {
	var log sink
	rt := framework.Runtime{Logger: hclog.New(&hclog.LoggerOptions{Level: hclog.Debug, Output: &log})}
	a, b := net.Pipe()
	done := make(chan error, 1)
	go func() { done <- rt.ServeConn(context.Background(), a, &mcp.Server{Name: "agent's"}) }()
	r := bufio.NewReader(b)
	for _, message := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","requestState":"CANARY"}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"taskId":"CANARY"}}`,
	} {
		_, _ = io.WriteString(b, message+"\n")
		if _, err := r.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	_ = b.Close()
	<-done
	for _, want := range []string{`\"requestState\":\"[redacted]\"`, `\"taskId\":\"[redacted]\"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log has no %s", want)
		}
	}
	if strings.Contains(log.String(), "CANARY") {
		t.Errorf("a secret is in the log: %s", log.String())
	}
}
