package mcp

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

type steppingCodec struct{ plainCodec }

func (steppingCodec) Open(string) ([]byte, error) { panic("stepped on") }

type steppingSealer struct{ plainCodec }

func (steppingSealer) Seal([]byte) (string, error) { panic("stepped on") }

type steppingStore struct{}

func (steppingStore) Put(context.Context, string, []byte, time.Time) error { panic("stepped on") }
func (steppingStore) Get(context.Context, string) ([]byte, error)          { panic("stepped on") }

type steppingClaimer struct{}

func (steppingClaimer) Claim(context.Context, string, time.Time) (bool, error) { panic("stepped on") }

type steppingTasks struct{ TaskStore }

func (steppingTasks) Create(context.Context, Task) error                { panic("stepped on") }
func (steppingTasks) Get(context.Context, string, string) (Task, error) { panic("stepped on") }

type steppingPeer struct{ Peer }

func (steppingPeer) Notify(context.Context, string, any) error    { panic("stepped on") }
func (steppingPeer) Call(context.Context, string, any, any) error { panic("stepped on") }

// Whatever of the program panics, the request is answered with Internal error, the panic reported, and the next request served, on every road.
func TestPanicsEverywhere(t *testing.T) {
	const answerTo = `,"requestState":"plain:x","inputResponses":{}`
	large := func(ctx context.Context) (string, error) {
		_, _ = Memo(ctx, "large", func() (string, error) { return strings.Repeat("x", 100_000), nil })
		return "", SessionFrom(ctx).Confirm(ctx, "Sure?")
	}
	for _, c := range []struct {
		name, method, members string
		sends                 bool // on the way of the request
		arm                   func(s *Server) *Server
	}{
		{"Lister", "tools/list", ``, false, func(s *Server) *Server {
			s.Lister = func(context.Context) ([]Tool, error) { panic("stepped on") }
			return s
		}},
		{"Caller", "tools/call", `,"name":"x"`, false, func(s *Server) *Server {
			s.Caller = func(context.Context, string, Arguments) (any, error) { panic("stepped on") }
			return s
		}},
		{"Visible", "tools/list", ``, false, func(s *Server) *Server {
			var b Toolbox
			b.Add(Tool{Name: "x"}, nothing)
			b.Visible = func(context.Context, Tool) bool { panic("stepped on") }
			s.Lister, s.Caller = b.List, b.Call
			return s
		}},
		{"Visible of a call", "tools/call", `,"name":"x"`, false, func(s *Server) *Server {
			var b Toolbox
			b.Add(Tool{Name: "x"}, nothing)
			b.Visible = func(context.Context, Tool) bool { panic("stepped on") }
			s.Lister, s.Caller = b.List, b.Call
			return s
		}},
		{"Resources", "resources/list", ``, false, func(s *Server) *Server {
			s.Resources = func(context.Context) ([]Resource, error) { panic("stepped on") }
			return s
		}},
		{"Templates", "resources/templates/list", ``, false, func(s *Server) *Server {
			s.Templates = func(context.Context) ([]Template, error) { panic("stepped on") }
			return s
		}},
		{"Reader", "resources/read", `,"uri":"x:x"`, false, func(s *Server) *Server {
			s.Reader = func(context.Context, string) (any, error) { panic("stepped on") }
			return s
		}},
		{"Prompts", "prompts/list", ``, false, func(s *Server) *Server {
			s.Prompts = func(context.Context) ([]Prompt, error) { panic("stepped on") }
			return s
		}},
		{"Prompter", "prompts/get", `,"name":"x"`, false, func(s *Server) *Server {
			s.Prompter = func(context.Context, string, Arguments) (any, error) { panic("stepped on") }
			return s
		}},
		{"Completer", "completion/complete", `,"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}`, false, func(s *Server) *Server {
			s.Completer = func(context.Context, CompleteRequest) (*Completion, error) { panic("stepped on") }
			return s
		}},
		{"Middleware", "tools/list", ``, false, func(s *Server) *Server {
			s.Middleware = []jsonrpc2.Middleware{func(next jsonrpc2.Handler) jsonrpc2.Handler {
				return jsonrpc2.HandlerFunc(func(ctx context.Context, r *jsonrpc2.Request) (any, error) {
					if r.Method == "tools/list" {
						panic("stepped on")
					}
					return next.Handle(ctx, r)
				})
			}}
			return s
		}},
		{"Outgoing", "tools/call", `,"name":"x"`, true, func(s *Server) *Server {
			s.Outgoing = []func(Peer) Peer{func(p Peer) Peer { return steppingPeer{p} }}
			s.Caller = func(ctx context.Context, _ string, _ Arguments) (any, error) {
				return nil, SessionFrom(ctx).Notify(ctx, "notifications/x", nil)
			}
			return s
		}},
		{"a result that panics", "tools/call", `,"name":"x"`, false, func(s *Server) *Server {
			s.Caller = func(context.Context, string, Arguments) (any, error) { return grenade{}, nil }
			return s
		}},
		{"a list that panics", "resources/read", `,"uri":"x:x"`, false, func(s *Server) *Server {
			s.Reader = func(context.Context, string) (any, error) { return []grenade{{}}, nil }
			return s
		}},
		{"a notification that panics", "tools/call", `,"name":"x"`, true, func(s *Server) *Server {
			s.Caller = func(ctx context.Context, _ string, _ Arguments) (any, error) {
				return nil, SessionFrom(ctx).Notify(ctx, "notifications/x", map[string]any{"a": grenade{}})
			}
			return s
		}},
		{"StateCodec, opening", "tools/call", `,"name":"x"` + answerTo, false, func(s *Server) *Server { s.StateCodec = steppingCodec{}; return s }},
		{"StateCodec, sealing", "tools/call", `,"name":"x"`, false, func(*Server) *Server {
			s := asksFor(func(ctx context.Context) (string, error) { return "", SessionFrom(ctx).Confirm(ctx, "?") })
			s.StateCodec = steppingSealer{}
			return s
		}},
		{"StateStore", "tools/call", `,"name":"x"`, false, func(*Server) *Server {
			s := asksFor(large)
			s.StateStore = steppingStore{}
			return s
		}},
		{"Claimer", "tools/call", `,"name":"x"`, false, func(*Server) *Server {
			s := asksFor(func(ctx context.Context) (string, error) { return "done", Claim(ctx) })
			s.Claimer = steppingClaimer{}
			return s
		}},
		{"Policy", "tools/call", `,"name":"may","arguments":{}`, false, func(s *Server) *Server {
			x, _ := taskServer(&Tasks{Policy: func(context.Context, string) bool { panic("stepped on") }})
			return x
		}},
		{"task store, Create", "tools/call", `,"name":"must","arguments":{}`, false, func(s *Server) *Server {
			x, _ := taskServer(&Tasks{Store: steppingTasks{new(MemoryTasks)}})
			return x
		}},
		{"task store, Get", "tasks/get", `,"taskId":"x"`, false, func(s *Server) *Server {
			x, _ := taskServer(&Tasks{Store: steppingTasks{new(MemoryTasks)}})
			return x
		}},
	} {
		for _, way := range ways {
			if way.name == "middleware" || c.sends && way.name == "host without a way back" {
				continue
			}
			t.Run(c.name+", "+way.name, func(t *testing.T) {
				s := c.arm(full())
				rep := new(reports)
				s.Reporter = rep.report
				ask := way.ask(t, s)
				meta := metaWith(`{"roots":{},"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`)
				done := make(chan string, 1)
				go func() { done <- ask(withMeta("1", c.method, meta, c.members)) }()
				select {
				case got := <-done:
					if _, code := errorCode(t, got); code != -32603 || strings.Contains(got, "stepped") || strings.Contains(got, "boom") {
						t.Errorf("got %s", got)
					}
				case <-time.After(10 * time.Second):
					t.Fatal("no answer")
				}
				if r := rep.String(); !strings.Contains(r, "stepped on") && !strings.Contains(r, "boom") {
					t.Errorf("reported %q", r)
				}
				if got := ask(withMeta("2", "server/discover", meta, ``)); !strings.Contains(got, `"supportedVersions"`) {
					t.Errorf("afterwards: %s", got)
				}
			})
		}
	}
}

// steppingUpdates is a task store that cannot change anything.
type steppingUpdates struct{ TaskStore }

func (steppingUpdates) Update(context.Context, string, func(*Task) error) (Task, error) {
	panic("stepped on")
}

// What is sent and stored by goroutines of the server can panic too, and takes nothing with it.
func TestPanicsOfGoroutines(t *testing.T) {
	until := func(t *testing.T, rep *reports) {
		t.Helper()
		synctest.Wait()
		if !strings.Contains(rep.String(), "stepped on") {
			t.Errorf("reported %q", rep)
		}
	}
	stepping := []func(Peer) Peer{func(p Peer) Peer { return steppingPeer{p} }}
	t.Run("changes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, rep := changing(), new(reports)
			s.Outgoing, s.Reporter = stepping, rep.report
			w := start(t, s, "2025-06-18")
			s.Changed(Tools)
			until(t, rep)
			w.sync()
			w.close()
		})
	})
	t.Run("changes, to a Peer that panics itself", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, rep := changing(), new(reports)
			s.Reporter = rep.report
			ses := opened(t, s, steppingPeer{}, "2025-06-18")
			s.Changed(Tools)
			until(t, rep)
			ses.Close(nil)
		})
	})
	t.Run("listen", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, rep := changing(), new(reports)
			s.Reporter = rep.report
			n := 0
			p := &peer{tell: func(context.Context, string, any) error {
				if n++; n > 1 {
					panic("stepped on") // behind the acknowledgement
				}
				return nil
			}}
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				s.HandleModern(ctx, []byte(modern("7", "subscriptions/listen", `,"notifications":{"toolsListChanged":true}`)), p)
			}()
			synctest.Wait()
			s.Changed(Tools)
			until(t, rep)
			stop()
			<-done
		})
	})
	t.Run("pings", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, rep := echoServer(), new(reports)
			s.Outgoing, s.Reporter, s.KeepAlive = stepping, rep.report, time.Second
			w := start(t, s, "2025-06-18")
			time.Sleep(2 * time.Second)
			until(t, rep)
			w.close()
		})
	})
	t.Run("progress that was held", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, rep := echoServer(), new(reports)
			s.Reporter = rep.report
			s.Caller = func(ctx context.Context, _ string, _ Arguments) (any, error) {
				for i := range 20 {
					_ = Progress(ctx, float64(i), 0, "")
				}
				time.Sleep(time.Minute)
				return TextResult("done"), nil
			}
			n := 0
			p := &peer{tell: func(context.Context, string, any) error {
				if n++; n > freeSteps {
					panic("stepped on")
				}
				return nil
			}}
			ses := opened(t, s, p, "2025-06-18")
			got := string(ses.Handle(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":1}}}`)))
			if final(t, got) != "done" {
				t.Errorf("got %s", got)
			}
			until(t, rep)
		})
	})
	t.Run("questions side by side", func(t *testing.T) {
		rep := new(reports)
		p := &peer{call: func(context.Context, string, any, any) error { panic("stepped on") }}
		s := asksFor(func(ctx context.Context) (string, error) {
			return "", SessionFrom(ctx).Ask(ctx, Form{Message: "1"}.Question(), RootsQuestion())
		})
		s.Reporter = rep.report
		ses, err := s.NewSession(p)
		if err != nil {
			t.Fatal(err)
		}
		ses.Handle(t.Context(), []byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":`+everyCapability+`}}`))
		got := string(ses.Handle(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`)))
		if strings.Contains(got, "stepped on") || !strings.Contains(rep.String(), "stepped on") {
			t.Errorf("got %s, reported %s", got, rep)
		}
	})
	t.Run("task store", func(t *testing.T) {
		bubble(t, Tasks{TTL: time.Minute, Lease: 3 * time.Second, Store: steppingUpdates{new(MemoryTasks)}}, func(t *testing.T, s *Server, release chan string, c *taskClient) {
			rep := new(reports)
			s.Reporter = rep.report
			c.start("wait")
			time.Sleep(2 * time.Second) // it is renewed
			until(t, rep)
			release <- "done" // it ends
			c.start("wait")
			time.Sleep(2 * time.Minute) // it expires
			synctest.Wait()
			if n := strings.Count(rep.String(), "stepped on"); n < 3 {
				t.Errorf("reported %q", rep)
			}
		})
	})
}
