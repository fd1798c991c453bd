package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tandem-rpc/tandem/internal/notes"
	"github.com/tandem-rpc/tandem/mcp"
)

// TestMain makes the test binary the program as well.
func TestMain(m *testing.M) {
	if os.Getenv("DEMO_MCP") != "" {
		os.Exit(run())
	}
	goleak.VerifyTestMain(m)
}

// program returns a command that runs the program.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(stop)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(ctx, self, args...)
	c.Env = append(os.Environ(), "DEMO_MCP=1")
	return c
}

func TestTry(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.md": "# A\ndeploy [b](b.md) [c](c.md)\n", "b.md": "# B\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"-try"}, {"-try", "-root", dir}} {
		t.Run(strings.Join(args[:len(args)/2+1], " "), func(t *testing.T) {
			var errs bytes.Buffer
			c := program(t, args...)
			c.Stderr = &errs
			out, err := c.Output()
			if err != nil {
				t.Fatalf("%v\n%s\n%s", err, out, &errs)
			}
			if errs.Len() > 0 {
				t.Errorf("standard error: %s", &errs)
			}
			for _, want := range []string{
				`(?s)→ .*"method":"initialize".*← .*"protocolVersion":"2025-11-25"`, `← .*"tools":\[\{"name":"index"`, `a tool: search`,
				`← .*"notifications/progress".*"progressToken":"index-1"`, `→ .*"notifications/cancelled"`, `← .*want string, got integer`,
				`← .*Unknown tool: delete_everything`, `(?m)ended with exit code 0$`, `(?m)^ +\d+\.\dms `,
			} {
				if !regexp.MustCompile(want).Match(out) {
					t.Errorf("no %s in\n%s", want, out)
				}
			}
			// The cancelled call, id 5, is never answered.
			if regexp.MustCompile(`← \{"jsonrpc":"2.0","id":5,`).Match(out) {
				t.Errorf("the cancelled call was answered:\n%s", out)
			}
		})
	}
}

func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		errs string
	}{
		{[]string{"-help"}, 0, "-root"},
		{[]string{"-what"}, 2, "-what"},
		{[]string{"notes"}, 2, `unexpected argument "notes"`},
		{[]string{"-root", filepath.Join(t.TempDir(), "none")}, 1, "none"},
		{[]string{"-stats"}, 0, "ping"},
	} {
		t.Run(strings.Join(c.args[:1], " "), func(t *testing.T) {
			var errs bytes.Buffer
			p := program(t, c.args...)
			p.Stderr = &errs
			p.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n")
			out, _ := p.Output()
			if code := p.ProcessState.ExitCode(); code != c.code || !strings.Contains(errs.String(), c.errs) {
				t.Errorf("code %d, want %d; standard error %s", code, c.code, &errs)
			}
			if c.args[0] == "-stats" && string(out) != `{"jsonrpc":"2.0","id":1,"result":{}}`+"\n" {
				t.Errorf("got %s", out)
			}
		})
	}
}

// ask sends one request and returns the result, or the error, as JSON.
func ask(t *testing.T, s *mcp.Server, method, params string) string {
	t.Helper()
	var m struct{ Result, Error json.RawMessage }
	answer := s.Handle(context.Background(), fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params))
	if err := json.Unmarshal(answer, &m); err != nil {
		t.Fatalf("%s: %v", answer, err)
	}
	if m.Error != nil {
		return string(m.Error)
	}
	return string(m.Result)
}

func TestServer(t *testing.T) {
	w, err := notes.New(map[string]string{
		"deploy.md":        "---\ntags: [ops]\n---\n# Deploy\nDeploys run on Fridays. See [gone](gone.md).\n",
		"a b/first day.md": "# First day\nWelcome, and a #ops tag.\n",
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	s := newServer(w)
	for _, c := range []struct{ name, method, params, want string }{
		{"list", "tools/call", `{"name":"list_notes"}`, `"structuredContent":{"notes":[{"slug":"a b/first day","title":"First day","uri":"notes://a%20b%2Ffirst%20day","tags":["ops"]},{"slug":"deploy","title":"Deploy","uri":"notes://deploy","tags":["ops"]}]}`},
		{"list by tag", "tools/call", `{"name":"list_notes","arguments":{"tag":"#OPS"}}`, `"slug":"deploy"`},
		{"list, none", "tools/call", `{"name":"list_notes","arguments":{"tag":"x"}}`, `"structuredContent":{"notes":[]}`},
		{"read", "tools/call", `{"name":"read_note","arguments":{"slug":"a b/first day"}}`, `{"content":[{"type":"text","text":"# First day\nWelcome, and a #ops tag.\n"}],"isError":false}`},
		{"read, unknown", "tools/call", `{"name":"read_note","arguments":{"slug":"x\ny"}}`, `no note has the slug \"x\\ny\"; list_notes shows all slugs"}],"isError":true`},
		{"search", "tools/call", `{"name":"search","arguments":{"query":"friday","limit":1}}`, `"hits":[{"slug":"deploy","title":"Deploy","line":5`},
		{"search, nothing", "tools/call", `{"name":"search","arguments":{"query":"zebra"}}`, `"structuredContent":{"hits":[]}`},
		{"search, empty", "tools/call", `{"name":"search","arguments":{"query":" "}}`, `the query is empty"}],"isError":true`},
		{"search, huge limit", "tools/call", `{"name":"search","arguments":{"query":"friday","limit":1000000000000}}`, `"isError":false`},
		{"index", "tools/call", `{"name":"index","arguments":{"pause_ms":1}}`, `"structuredContent":{"notes":2,"words":`},
		{"index, broken links", "tools/call", `{"name":"index","arguments":{"pause_ms":1}}`, `"links":1,"broken":1}`},
		{"resources", "resources/list", `{}`, `{"uri":"notes://a%20b%2Ffirst%20day","name":"a b/first day","title":"First day","mimeType":"text/markdown","size":37}`},
		{"templates", "resources/templates/list", `{}`, `"uriTemplate":"notes://{slug}"`},
		{"resource", "resources/read", `{"uri":"notes://a%20b%2Ffirst%20day"}`, `{"contents":[{"uri":"notes://a%20b%2Ffirst%20day","mimeType":"text/markdown","text":"# First day\nWelcome, and a #ops tag.\n"}]}`},
		{"resource, not escaped", "resources/read", `{"uri":"notes://a b/first day"}`, `"text":"# First day`},
		{"resource, unknown", "resources/read", `{"uri":"notes://x"}`, `{"code":-32002,"message":"Resource not found","data":{"uri":"notes://x"}}`},
		{"resource, other scheme", "resources/read", `{"uri":"file:///etc/passwd"}`, `"code":-32002`},
		{"resource, bad escape", "resources/read", `{"uri":"notes://%zz"}`, `"code":-32002`},
		{"resource, outside", "resources/read", `{"uri":"notes://..%2F..%2Fetc%2Fpasswd"}`, `"code":-32002`},
		{"prompts", "prompts/list", `{}`, `"arguments":[{"name":"slug","description":"the slug of the note","required":true}]`},
		{"prompt", "prompts/get", `{"name":"summarize","arguments":{"slug":"deploy"}}`, `{"description":"Summarize one note.","messages":[{"role":"user","content":{"type":"text","text":"Summarize the note notes://deploy."}}]}`},
		{"prompt, no slug", "prompts/get", `{"name":"summarize"}`, `{"code":-32602,"message":"Unknown prompt or missing slug: summarize"}`},
		{"prompt, unknown slug", "prompts/get", `{"name":"summarize","arguments":{"slug":"x"}}`, `"code":-32602`},
		{"prompt, unknown", "prompts/get", `{"name":"x","arguments":{"slug":"deploy"}}`, `{"code":-32602,"message":"Unknown prompt or missing slug: x"}`},
		{"complete", "completion/complete", `{"ref":{"type":"ref/prompt","name":"summarize"},"argument":{"name":"slug","value":"D"}}`, `{"completion":{"values":["deploy","a b/first day"],"total":2}}`},
		{"complete, template", "completion/complete", `{"ref":{"type":"ref/resource","uri":"notes://{slug}"},"argument":{"name":"slug","value":"zz"}}`, `{"completion":{"values":[]}}`},
		{"complete, unknown", "completion/complete", `{"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"slug","value":""}}`, `"code":-32602`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := ask(t, s, c.method, c.params); !strings.Contains(got, c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// The input comes from a file and is over at once: every request is answered all the same, and the code is 0.
func TestOneShot(t *testing.T) {
	c := program(t, "--stdio")
	c.Stdin = strings.NewReader(strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"index","arguments":{"pause_ms":20},"_meta":{"progressToken":7}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`,
		`{not json`,
	}, "\n"))
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2024-11-05"`,
		`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"{\"notes\":7`, `{"jsonrpc":"2.0","id":3,"result":{"tools":[`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`,
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
	// The oldest revision knows neither titles nor structured results.
	for _, unknown := range []string{`"title"`, `"structuredContent"`, `"outputSchema"`, `"annotations"`, `"completions"`} {
		if strings.Contains(string(out), unknown) {
			t.Errorf("%s in\n%s", unknown, out)
		}
	}
}
