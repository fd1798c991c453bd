package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// changing has all that changes: lists, and resources but "hidden".
func changing() *Server {
	s := full()
	s.ListChanged = true
	s.Subscriber = func(_ context.Context, uri string) error {
		if uri == "hidden" {
			return ResourceNotFound(uri)
		}
		return nil
	}
	return s
}

func acknowledged(id, granted string) string {
	return `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `},"notifications":` + granted + `}}`
}

func told(id, method, members string) string {
	return `{"jsonrpc":"2.0","method":"notifications/` + method + `","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}` + members + `}}`
}

func ended(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `,"io.modelcontextprotocol/serverInfo":{"name":"Full","version":"1"}},"resultType":"complete"}}`
}

func TestListenAcknowledges(t *testing.T) {
	bare := func() *Server { return echoServer() }
	noList := func() *Server { s := changing(); s.ListChanged = false; return s }
	noPrompts := func() *Server { s := changing(); s.Prompts = nil; return s }
	many := `["` + strings.Repeat(`u","`, maxSubscriptions) + `u"]`
	for _, c := range []struct {
		name, filter, want string // "": Invalid params
		server             func() *Server
	}{
		{"tools", `{"toolsListChanged":true}`, `{"toolsListChanged":true}`, changing},
		{"all", `{"promptsListChanged":true,"resourceSubscriptions":["a","b"],"toolsListChanged":true,"resourcesListChanged":true}`,
			`{"toolsListChanged":true,"resourcesListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["a","b"]}`, changing},
		{"false is absent", `{"toolsListChanged":false,"promptsListChanged":true}`, `{"promptsListChanged":true}`, changing},
		{"null is absent", `{"toolsListChanged":null,"resourceSubscriptions":null}`, `{}`, changing},
		{"nothing", `{}`, `{}`, changing},
		{"unknown members", `{"com.example/x":[1],"toolsListChanged":true}`, `{"toolsListChanged":true}`, changing},
		{"no list of uris", `{"resourceSubscriptions":[]}`, `{}`, changing},
		{"what may not be watched is left out", `{"resourceSubscriptions":["hidden", "a" ,"hidden"]}`, `{"resourceSubscriptions":["a"]}`, changing},
		{"only what may not be watched", `{"resourceSubscriptions":["hidden"]}`, `{}`, changing},
		{"the same uri twice", `{"resourceSubscriptions":["a","a"]}`, `{"resourceSubscriptions":["a"]}`, changing},
		{"escaped uri", `{"resourceSubscriptions":["\u0061\"]"]}`, `{"resourceSubscriptions":["a\"]"]}`, changing},
		{"a server that never changes", `{"toolsListChanged":true,"resourceSubscriptions":["a"]}`, `{}`, bare},
		{"lists do not change", `{"toolsListChanged":true,"resourceSubscriptions":["a"]}`, `{"resourceSubscriptions":["a"]}`, noList},
		{"no prompts", `{"toolsListChanged":true,"promptsListChanged":true}`, `{"toolsListChanged":true}`, noPrompts},
		{"list", `[]`, ``, changing}, {"null", `null`, ``, changing}, {"string", `"tools"`, ``, changing}, {"number", `1`, ``, changing},
		{"number for a boolean", `{"toolsListChanged":1}`, ``, changing}, {"text for a boolean", `{"toolsListChanged":"true"}`, ``, changing},
		{"one uri without a list", `{"resourceSubscriptions":"a"}`, ``, changing}, {"number as uri", `{"resourceSubscriptions":["a",1]}`, ``, changing},
		{"twice", `{"toolsListChanged":true,"toolsListChanged":true}`, ``, changing},
		{"too many", `{"resourceSubscriptions":` + many + `}`, ``, changing},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := host(t, c.server())
			w.send(modern("7", "subscriptions/listen", `,"notifications":`+c.filter))
			if c.want != "" {
				w.want(acknowledged("7", c.want))
			} else if _, code := errorCode(t, w.recv()); code != -32602 {
				t.Errorf("code %d", code)
			}
			w.send(hello) // still alive
			w.recv()
		})
	}
	t.Run("no filter", func(t *testing.T) {
		w := host(t, changing())
		w.send(modern("7", "subscriptions/listen", ``))
		if _, code := errorCode(t, w.recv()); code != -32602 {
			t.Errorf("code %d", code)
		}
	})
}

// Each subscription is told what it asked for and nothing else, under its own id, until it is cancelled; then there is silence.
func TestListenOnConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := changing()
		w := host(t, s)
		for _, id := range []string{`1`, `"1"`} {
			w.send(modern(id, "subscriptions/listen", `,"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a"]}`))
			w.want(acknowledged(id, `{"toolsListChanged":true,"resourceSubscriptions":["a"]}`))
		}
		w.send(modern(`2`, "subscriptions/listen", `,"notifications":{"promptsListChanged":true}`))
		w.want(acknowledged(`2`, `{"promptsListChanged":true}`))
		s.Changed(Tools)
		both := []string{w.recv(), w.recv()}
		slices.Sort(both)
		if want := []string{told(`"1"`, "tools/list_changed", ""), told(`1`, "tools/list_changed", "")}; !slices.Equal(both, want) {
			t.Errorf("got  %q\nwant %q", both, want)
		}
		w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		synctest.Wait()
		s.Changed(Resources) // nobody asked
		s.Updated("b")       // nor for that
		s.Updated("a")
		s.Updated("a")
		w.want(told(`"1"`, "resources/updated", `,"uri":"a"`))
		s.Changed(Prompts)
		w.want(told(`2`, "prompts/list_changed", ""))
		time.Sleep(2 * feedPause)
		w.send(hello) // the connection is as good as ever, and nothing else was said
		w.recv()
		w.sync()
		// The server ends the others: the answer first, then the notification for those who look for that.
		s.Close()
		var got []string
		for range 4 {
			got = append(got, w.recv())
		}
		for _, id := range []string{`"1"`, `2`} {
			a, c := slices.Index(got, ended(id)), slices.Index(got, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`)
			if a < 0 || c < a {
				t.Errorf("%s: answer at %d, notification at %d of %q", id, a, c, got)
			}
		}
		w.send(modern(`3`, "subscriptions/listen", `,"notifications":{"promptsListChanged":true}`))
		w.want(`{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"Server shutting down"}}`)
		s.Close()
		w.sync()
		w.close()
	})
}

// A burst of changes is a few notifications, the first of them at once.
func TestListenCoalesces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := changing()
		w := host(t, s)
		w.send(modern("1", "subscriptions/listen", `,"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a","b"]}`))
		w.recv()
		begin := time.Now()
		for range 1000 { // one second of it
			s.Changed(Tools)
			s.Updated("a")
			time.Sleep(time.Millisecond)
		}
		time.Sleep(feedPause)
		n := len(w.in)
		if most := 2 * int(time.Since(begin)/feedPause+2); n < most/2 || n > most {
			t.Errorf("%d notifications in %v", n, time.Since(begin))
		}
		w.close()
	})
}

func TestListenLimit(t *testing.T) {
	s := changing()
	w := host(t, s)
	for i := range maxListens {
		w.send(modern(fmt.Sprint(i), "subscriptions/listen", `,"notifications":{"toolsListChanged":true}`))
		w.want(acknowledged(fmt.Sprint(i), `{"toolsListChanged":true}`))
	}
	w.send(modern("99", "subscriptions/listen", `,"notifications":{"toolsListChanged":true}`))
	if _, code := errorCode(t, w.recv()); code != -32602 {
		t.Error("one too many was taken")
	}
	w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
	for deadline := time.Now().Add(time.Minute); ; {
		w.send(modern("100", "subscriptions/listen", `,"notifications":{"toolsListChanged":true}`))
		if got := w.recv(); got == acknowledged("100", `{"toolsListChanged":true}`) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the place of a cancelled one is not free")
		}
	}
	if err := w.close(); err != nil {
		t.Errorf("Serve: %v", err)
	}
	s.feeds.mu.Lock()
	defer s.feeds.mu.Unlock()
	if len(s.feeds.all) != 0 {
		t.Errorf("%d feeds left", len(s.feeds.all))
	}
}

// The connection ends with open subscriptions in all the ways there are; each is answered if there is still a way.
func TestListenAtTheEnd(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(w *wire)
		want bool
	}{
		{"the client hangs up", func(w *wire) { _ = w.end.Close() }, false},
		{"shutdown", func(w *wire) { _ = w.conn.Shutdown(context.Background()) }, true},
		{"close", func(w *wire) { _ = w.conn.Close() }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var reported []error
			s := changing()
			s.Reporter = func(_ context.Context, _ *jsonrpc2.Request, err error) { reported = append(reported, err) }
			w := host(t, s)
			w.send(modern("1", "subscriptions/listen", `,"notifications":{"toolsListChanged":true}`))
			w.recv()
			c.end(w)
			if c.want {
				w.want(ended("1"))
			}
			_ = w.close()
			for _, err := range reported {
				if c.want || !errors.Is(err, io.ErrClosedPipe) { // a final result that nobody reads any more is reported
					t.Errorf("reported: %v", err)
				}
			}
			s.Changed(Tools)
		})
	}
}

func TestListenInHost(t *testing.T) {
	type mark struct{}
	sent := make(chan string, 100)
	p := &peer{tell: func(ctx context.Context, method string, params any) error {
		if ctx.Value(mark{}) != "here" {
			t.Errorf("%s comes from another request", method)
		}
		b, err := Encode(params)
		sent <- `{"jsonrpc":"2.0","method":"` + method + `","params":` + string(b) + `}`
		return err
	}}
	run := func(s *Server, id string) (stop context.CancelFunc, answer chan string) {
		ctx, stop := context.WithCancel(context.WithValue(context.Background(), mark{}, "here"))
		answer = make(chan string, 1)
		go func() {
			answer <- string(s.HandleModern(ctx, []byte(modern(id, "subscriptions/listen", `,"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a"]}`)), p))
		}()
		return stop, answer
	}
	var reported []error
	s := changing()
	s.Reporter = func(_ context.Context, _ *jsonrpc2.Request, err error) { reported = append(reported, err) }
	stop, answer := run(s, `"x"`)
	if got := <-sent; got != acknowledged(`"x"`, `{"toolsListChanged":true,"resourceSubscriptions":["a"]}`) {
		t.Errorf("got %s", got)
	}
	s.Updated("a")
	if got := <-sent; got != told(`"x"`, "resources/updated", `,"uri":"a"`) {
		t.Errorf("got %s", got)
	}
	stop()
	if got := <-answer; got != "" {
		t.Errorf("after the end: %s", got)
	}
	s.Changed(Tools)
	_, answer = run(s, `5`)
	<-sent
	s.Close()
	if got := <-answer; got != ended("5") {
		t.Errorf("got %s", got)
	}
	if len(sent) > 0 || len(reported) > 0 {
		t.Errorf("also sent %q, reported %v", <-sent, reported)
	}
	// Where nothing can be sent there is nothing to listen to.
	if got := string(changing().HandleModern(context.Background(), []byte(modern("1", "subscriptions/listen", `,"notifications":{}`)), nil)); !strings.Contains(got, "-32601") {
		t.Errorf("got %s", got)
	}
	// A way that fails ends it.
	failing := &peer{tell: func(context.Context, string, any) error { return errors.New("gone") }}
	if got := string(changing().HandleModern(context.Background(), []byte(modern("1", "subscriptions/listen", `,"notifications":{}`)), failing)); !strings.Contains(got, "-32603") {
		t.Errorf("got %s", got)
	}
}

// What changes while the acknowledgement is on its way is told after it.
func TestListenTellsAfterAcknowledging(t *testing.T) {
	s := changing()
	sent := make(chan string, 100)
	p := &peer{tell: func(_ context.Context, method string, _ any) error {
		if method == acknowledgedMethod {
			s.Changed(Tools)
			s.Updated("a")
		}
		sent <- method
		return nil
	}}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.HandleModern(ctx, []byte(modern("1", "subscriptions/listen", `,"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a"]}`)), p)
	}()
	for _, want := range []string{acknowledgedMethod, "notifications/tools/list_changed", updatedMethod} {
		if got := <-sent; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	stop()
	<-done
}

func TestSubscribe(t *testing.T) {
	updated := func(uri string) string {
		return `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"` + uri + `"}}`
	}
	for _, rev := range Versions {
		t.Run(rev, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := changing()
				w, other := start(t, s, rev), start(t, s, rev)
				do := func(method, uri, want string) {
					t.Helper()
					w.send(`{"jsonrpc":"2.0","id":1,"method":"resources/` + method + `","params":{"uri":"` + uri + `"}}`)
					w.want(`{"jsonrpc":"2.0","id":1,` + want)
				}
				do("subscribe", "a", `"result":{}}`)
				do("subscribe", "a", `"result":{}}`)
				do("subscribe", "hidden", `"error":{"code":-32002,"message":"Resource not found","data":{"uri":"hidden"}}}`)
				do("subscribe", "", `"error":{"code":-32602,"message":"Invalid params"}}`)
				do("unsubscribe", "never", `"result":{}}`)
				s.Updated("a")
				w.want(updated("a"))
				s.Updated("hidden")
				s.Updated("a/b")
				w.sync()
				do("unsubscribe", "a", `"result":{}}`)
				time.Sleep(2 * feedPause)
				s.Updated("a")
				time.Sleep(2 * feedPause)
				w.sync()
				for i := range maxSubscriptions {
					do("subscribe", fmt.Sprint(i), `"result":{}}`)
				}
				do("subscribe", "more", `"error":{"code":-32602,"message":"Invalid params: too many subscriptions"}}`)
				do("subscribe", "5", `"result":{}}`)
				other.sync() // was told nothing of all that
				w.close()
				other.close()
			})
		})
	}
	t.Run("off", func(t *testing.T) {
		s := full()
		w := start(t, s, "2025-11-25")
		for _, method := range []string{"subscribe", "unsubscribe"} {
			w.send(`{"jsonrpc":"2.0","id":1,"method":"resources/` + method + `","params":{"uri":"a"}}`)
			w.want(methodNotFound)
		}
		s.Updated("a")
		w.sync()
	})
	t.Run("without a session", func(t *testing.T) {
		s := changing()
		for _, method := range []string{"subscribe", "unsubscribe"} {
			payload := []byte(`{"jsonrpc":"2.0","id":1,"method":"resources/` + method + `","params":{"uri":"a"}}`)
			if got := string(s.Handle(context.Background(), payload)); got != methodNotFound {
				t.Errorf("Handle: %s", got)
			}
			if got := string(s.HandleSessionless(context.Background(), payload, nil, "2025-11-25")); got != methodNotFound {
				t.Errorf("HandleSessionless: %s", got)
			}
		}
	})
}

// What is pipelined is done in its order, however long the program thinks about it: the last word of a client counts.
func TestSubscribeInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, go_ := make(chan struct{}), make(chan struct{})
		s := changing()
		s.Subscriber = func(context.Context, string) error {
			asked <- struct{}{}
			<-go_
			return nil
		}
		w := start(t, s, "2025-06-18")
		subscribe := func(method string, id int) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/%s","params":{"uri":"a"}}`, id, method)
		}
		w.send(subscribe("subscribe", 1), subscribe("unsubscribe", 2))
		<-asked
		synctest.Wait() // nothing more happens
		go_ <- struct{}{}
		w.want(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		w.want(`{"jsonrpc":"2.0","id":2,"result":{}}`)
		s.Updated("a")
		time.Sleep(time.Second)
		w.sync()
		w.send(subscribe("unsubscribe", 3), subscribe("subscribe", 4))
		<-asked
		go_ <- struct{}{}
		w.want(`{"jsonrpc":"2.0","id":3,"result":{}}`)
		w.want(`{"jsonrpc":"2.0","id":4,"result":{}}`)
		s.Updated("a")
		w.want(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a"}}`)
		w.close()
	})
}
