package field

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/lsp"
	"github.com/tandem-rpc/tandem/mcp"
)

// Before initialize an MCP server answers ping, refuses what it knows, finds nothing else, and drops notifications.
func TestMCPBeforeInitialize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := tools()
		s.Resources = func(context.Context) ([]mcp.Resource, error) { return nil, nil }
		s.Reader = func(context.Context, string) (any, error) { return nil, nil }
		s.Prompts = func(context.Context) ([]mcp.Prompt, error) { return nil, nil }
		s.Prompter = func(context.Context, string, mcp.Arguments) (any, error) { return nil, nil }
		k := listen(t, jsonrpc2.Lines, s.Mount)
		for _, c := range []struct{ in, want string }{
			{request("1", "ping", ""), "1:ok"},      // 83
			{request("1", "ping", "{}"), "1:ok"},    // 83
			{request("1", "ping", "null"), "1:ok"},  // 83
			{request(`""`, "ping", ""), `"":ok`},    // 83
			{request("1", "ping", "5"), "1:-32600"}, // 83: no request at all
			{request("1", "no/such", "{}"), "1:-32601"},
			{note("notifications/cancelled", `{"requestId":1}`), ""},
			{note("notifications/initialized", ""), ""},
			{note("tools/call", `{"name":"echo"}`), ""},
		} {
			k.send(c.in)
			expect(t, c.in, k.heard(), c.want)
		}
		for _, method := range []string{"tools/list", "tools/call", "resources/list", "resources/read", "resources/templates/list", "prompts/list", "prompts/get"} {
			for _, params := range []string{"", "null", "{}", `{"name":"echo","arguments":{},"uri":"x://a"}`} {
				k.send(request("1", method, params))
				if got := answers(k.heard()); !strings.HasPrefix(got, "1:-32") || got == "1:-32601" {
					t.Errorf("%s: got %s", method, got)
				}
			}
		}
		// 84, 95: what a client of another revision may ask is refused too, with whatever code, and makes no session.
		for _, m := range []string{request("1", "resources/subscribe", `{"uri":"x://a"}`), request("1", "server/discover", "{}")} {
			k.send(m)
			if got := answers(k.heard()); !strings.HasPrefix(got, "1:-32") {
				t.Errorf("%s: got %s", m, got)
			}
		}
		k.send(mcpHello, mcpReady, call("2", "echo", `{"t":"x"}`))
		expect(t, "then it opens", k.heard(), `"hello":ok 2:ok`)
		_, _ = k.end()
	})
}

// The revision asked for is spoken if it is known, and every other string is met with the newest; capabilities of the wrong kind count as absent.
func TestMCPInitialize(t *testing.T) {
	for _, c := range []struct{ name, version, want string }{
		{"92: 2024-11-05", `"2024-11-05"`, "2024-11-05"}, {"92: 2025-03-26", `"2025-03-26"`, "2025-03-26"},
		{"92: 2025-06-18", `"2025-06-18"`, "2025-06-18"}, {"92: 2025-11-25", `"2025-11-25"`, "2025-11-25"},
		{"92: escaped", `"2024-1\u0031-05"`, "2024-11-05"},
		{"91: unknown", `"2099-01-01"`, mcp.Versions[0]}, {"91: empty", `""`, mcp.Versions[0]}, {"91: null", `null`, mcp.Versions[0]},
		{"91: absent", ``, mcp.Versions[0]}, {"91: with a blank", `"2025-03-26 "`, mcp.Versions[0]},
		{"91: number", `5`, ""}, {"91: list", `["2025-06-18"]`, ""}, {"91: object", `{}`, ""}, {"91: bool", `false`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := listen(t, jsonrpc2.Lines, tools().Mount)
				params := `{"protocolVersion":` + c.version + `,"capabilities":{},"clientInfo":{"name":"t","version":"0"}}`
				if c.version == "" {
					params = `{"capabilities":{},"clientInfo":{"name":"t","version":"0"}}`
				}
				k.send(request("1", "initialize", params))
				got := k.heard()
				if c.want == "" {
					expect(t, "refused", got, "1:-32602")
				} else if len(got) != 1 || !strings.Contains(got[0], `"result":{"protocolVersion":"`+c.want+`"`) {
					t.Errorf("got %q", got)
				}
				// Batches follow the revision (92).
				k.send("[" + request("2", "ping", "") + "]")
				want := "null:-32600"
				if c.want == "2025-03-26" {
					want = "[2:ok]"
				}
				expect(t, "a batch", k.heard(), want)
				_, _ = k.end()
			})
		})
	}
	for _, caps := range []string{`{"experimental":[],"sampling":{},"roots":null}`, `{"sampling":[],"elicitation":5,"tasks":"x"}`, `[]`, `null`, `{}`, `{"roots":{"listChanged":"yes"}}`} {
		t.Run("87: capabilities "+caps, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := listen(t, jsonrpc2.Lines, tools().Mount)
				k.send(request("1", "initialize", `{"protocolVersion":"2025-06-18","capabilities":`+caps+`,"clientInfo":{"name":"t","version":"0"}}`))
				expect(t, "initialize", k.heard(), "1:ok")
				k.send(call("2", "echo", `{"t":"x"}`))
				expect(t, "and a call", k.heard(), "2:ok")
				_, _ = k.end()
			})
		})
	}
}

// Sessions that were never opened, and clients that vanish, leave nothing behind.
func TestNothingIsLeftBehind(t *testing.T) {
	for name, sent := range map[string][]string{
		"95: only a question":  {request("1", "server/discover", "{}")},
		"168: opened and gone": {mcpHello, mcpReady, call("1", "slow", "")},
		"168: gone at once":    nil,
		"168: gone in a line":  {`{"jsonrpc":`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // which fails if a goroutine is left
				s := tools()
				for range 200 {
					k := listen(t, jsonrpc2.Lines, s.Mount)
					k.send(sent...)
					if _, err := k.end(); err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
	t.Run("167: context ends, nobody closes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			for range 100 {
				a, _ := jsonrpc2.Pipe()
				conn := jsonrpc2.NewConn(a, nil, nil)
				ctx, stop := context.WithCancel(context.Background())
				served := make(chan error, 1)
				go func() { served <- conn.Serve(ctx) }()
				call := conn.Go(ctx, "initialize", nil)
				synctest.Wait()
				stop()
				if err := <-served; err == nil {
					t.Error("Serve returned nil")
				}
				if _, err := call.Result(); err == nil {
					t.Error("the call succeeded")
				}
			}
		})
	})
}

// What LSP allows before initialize, and how editors spell shutdown and exit.
func TestLSPLifecycle(t *testing.T) {
	open := note("textDocument/didOpen", `{"textDocument":{"uri":"file:///a","languageId":"x","version":1,"text":"t"}}`)
	hover := request("9", "textDocument/hover", `{"textDocument":{"uri":"file:///a"},"position":{"line":0,"character":0}}`)
	exit := note("exit", "")
	for _, c := range []struct {
		name string
		in   []string
		want string
		code int
	}{
		{"89: before initialize", []string{open, hover, lspHello, hover}, `"hello":ok 9:-32002 9:-32803`, 1},
		{"89: any request", []string{request("1", "no/such", ""), request("2", "shutdown", "")}, "1:-32002 2:-32002", 1},
		{"90: exit before initialize", []string{exit}, "", 1},
		{"90: exit after a dropped notification", []string{open, exit}, "", 1},
		{"97: shutdown and exit", []string{lspHello, request("2", "shutdown", ""), exit}, `"hello":ok 2:ok`, 0},
		{"97: exit alone", []string{lspHello, exit}, `"hello":ok`, 1},
		{"97: end of the input", []string{lspHello}, `"hello":ok`, 1},
		{"97: end of the input after shutdown", []string{lspHello, request("2", "shutdown", "")}, `"hello":ok 2:ok`, 0},
		{"108: params null", []string{lspHello, request("14", "shutdown", "null"), note("exit", "null")}, `"hello":ok 14:ok`, 0},
		{"108: params {}", []string{lspHello, request("14", "shutdown", "{}"), note("exit", "{}")}, `"hello":ok 14:ok`, 0},
		{"108: after shutdown", []string{lspHello, request("14", "shutdown", ""), hover, open, exit}, `"hello":ok 14:ok 9:-32600`, 0},
		{"89: initialize twice", []string{lspHello, lspHello, exit}, `"hello":-32600 "hello":ok`, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := editor()
				var mux *jsonrpc2.Mux
				k := listen(t, jsonrpc2.Header, func(o *jsonrpc2.Options) (m *jsonrpc2.Mux, err error) {
					m, err = s.Mount(o)
					mux = m
					return m, err
				})
				var got []string
				for _, m := range c.in { // one after the other: exit ends everything at once
					k.send(m)
					got = append(got, k.heard()...)
				}
				ended := strings.Contains(c.in[len(c.in)-1], `"exit"`)
				select {
				case <-k.served:
				default:
					if ended {
						t.Error("exit does not end the connection")
					}
				}
				more, err := k.end()
				expect(t, "answers", append(got, more...), c.want)
				if err != nil {
					t.Error(err)
				}
				if code := s.ExitCode(mux, err); code != c.code {
					t.Errorf("exit code %d, want %d", code, c.code)
				}
			})
		})
	}
}

// State changes are applied in the order they came, also in one write with everything else, and a request sees what came before it.
func TestChangesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var versions []int32
		s := editor()
		s.DidChange = func(_ context.Context, d *lsp.Document) error {
			versions = append(versions, d.Version()) // one at a time: the race detector would tell
			return nil
		}
		k := startLSP(t, s)
		var b strings.Builder
		b.WriteString(frame(jsonrpc2.Header, note("textDocument/didOpen", `{"textDocument":{"uri":"file:///a","languageId":"x","version":1,"text":""}}`)))
		for v := 2; v <= 1001; v++ {
			b.WriteString(frame(jsonrpc2.Header, note("textDocument/didChange", fmt.Sprintf(
				`{"textDocument":{"uri":"file:///a","version":%d},"contentChanges":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"text":"x"}]}`, v))))
			if v%100 == 0 {
				b.WriteString(frame(jsonrpc2.Header, note("textDocument/didSave", `{"textDocument":{"uri":"file:///a"}}`),
					request(fmt.Sprint(v), "textDocument/hover", `{"textDocument":{"uri":"file:///a"},"position":{"line":0,"character":0}}`)))
			}
		}
		k.write(b.String())
		for _, m := range k.heard() {
			var v int
			if _, err := fmt.Sscanf(m, `{"jsonrpc":"2.0","id":%d,`, &v); err != nil || !strings.Contains(m, fmt.Sprintf(`\"Version\":%d`, v)) || strings.Count(m, "x") < v-1 {
				t.Errorf("got %s", clip(m))
			}
		}
		if len(versions) != 1000 {
			t.Errorf("%d changes", len(versions))
		}
		for i, v := range versions {
			if v != int32(i+2) {
				t.Fatalf("change %d has version %d", i, v)
			}
		}
		_, _ = k.end()
	})
}

// One member of initialize that is not of its type is no reason to refuse an editor: it counts as absent, and what stands beside it holds.
func TestLSPInitialize(t *testing.T) {
	const plain, named = `"capabilities":{"general":{"positionEncodings":["utf-8"]}}`, `"positionEncoding":"utf-8"`
	for _, c := range []struct{ name, params, has string }{
		{"87: nothing wrong", plain, named},
		{"87: null trace", plain + `,"trace":null`, named},
		{"87: null for all", plain + `,"trace":null,"clientInfo":null,"locale":null,"workspaceFolders":null,"rootPath":null,"rootUri":null,"initializationOptions":null,"processId":null`, named},
		{"87: lists for objects", `"capabilities":{"textDocument":[],"workspace":[],"general":{"positionEncodings":["utf-8"]}}`, named},
		{"87: lists for objects inside", `"capabilities":{"textDocument":{"hover":[],"synchronization":[]},"general":{"positionEncodings":["utf-8"]}}`, named},
		{"87: lists for capabilities", `"capabilities":[]`, `"hoverProvider":true`},
		{"87: scalar for capabilities", `"capabilities":5`, `"hoverProvider":true`},
		{"87: no capabilities", `"rootUri":null`, `"hoverProvider":true`},
		{"87: flags for objects", `"capabilities":{"textDocument":{"publishDiagnostics":{"tagSupport":true},"hover":true},"general":{"positionEncodings":["utf-8"]}}`, named},
		{"87: objects for flags", `"capabilities":{"workspace":{"applyEdit":{},"configuration":[]},"general":{"positionEncodings":["utf-8"]}}`, named},
		{"87: encodings of other types", `"capabilities":{"general":{"positionEncodings":[8,null,"utf-8"]}}`, named},
		{"87: encodings of the future", `"capabilities":{"general":{"positionEncodings":["utf-7","utf-8"]}}`, named},
		{"87: kinds of the future", `"capabilities":{"textDocument":{"completion":{"completionItemKind":{"valueSet":[1,99]}}},"general":{"positionEncodings":["utf-8"]}}`, named},
		{"87: fractions", `"capabilities":{"textDocument":{"foldingRange":{"rangeLimit":0.5}},"general":{"positionEncodings":["utf-8"]}}`, named},
		{"87: trace of another type", plain + `,"trace":{"value":"off"}`, named},
		{"87: trace of the future", plain + `,"trace":"everything"`, named},
		{"87: folders of other types", plain + `,"workspaceFolders":[{"uri":5},7,{"uri":"file:///a","name":"a"}]`, named},
		{"87: client without a name", plain + `,"clientInfo":{"version":1}`, named},
		{"87: members that nobody knows", plain + `,"x":{"y":[]},"Capabilities":5`, named},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := listen(t, jsonrpc2.Header, editor().Mount)
				k.send(request("1", "initialize", "{"+c.params+"}"), note("initialized", "{}"), didOpen("file:///a", "text"))
				if got := strings.Join(k.heard(), "\n"); !strings.Contains(got, `"id":1,"result":`) || !strings.Contains(got, c.has) {
					t.Errorf("got %s", clip(got))
				}
				told := strings.Contains(strings.Join(k.reported(), " "), "taken for absent")
				if fits := slices.Contains([]string{"nothing wrong", "no capabilities", "encodings of the future", "kinds of the future", "trace of the future", "members that nobody knows"}, c.name[4:]); told == fits {
					t.Errorf("told: %v", told)
				}
				if _, text := k.document("file:///a"); text != "text" {
					t.Errorf("then the text is %q", text)
				}
				_, _ = k.end()
			})
		})
	}
	for _, params := range []string{"", "[]", `{"processId":"7"}`, `{"processId":1.5}`} {
		synctest.Test(t, func(t *testing.T) {
			k := listen(t, jsonrpc2.Header, editor().Mount)
			k.send(request("1", "initialize", params))
			expect(t, params, k.heard(), "1:-32602")
			k.send(request("2", "initialize", "{"+plain+"}"))
			expect(t, "a second try", k.heard(), "2:ok")
			_, _ = k.end()
		})
	}
}
