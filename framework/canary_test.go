package framework_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/tandem-rpc/tandem/framework"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// canary is in every secret. No sink may have it, in whatever spelling.
const canary = "CANARYc4n4ry"

// sink is a log that can be written to and read at the same time.
type sink struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

func (s *sink) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// plants are JSON values with the secret in them, one for each way in which it can be known for one.
func plants() []string {
	values := []string{
		`"https://user:CANARY@host/p"`, `"https:\/\/user:CANARY@host"`, `"postgres://u:CANARY@h/db"`, `"get https://h/p?a=1&api_key=CANARY&b"`,
		`"https://h/cb#access_token=CANARY"`, `"Bearer CANARY"`, `"basic CANARY"`, `"Bearer%20CANARY"`, `"x Bearer+CANARY y"`,
		`"{\"password\":\"CANARY\"}"`, `"[{\"a\":\"{\\\"token\\\":\\\"CANARY\\\"}\"}]"`,
		`{"pass\u0077ord":"CANARY"}`, `{"API-KEY":"CANARY"}`, `{"api_key":["CANARY"]}`, `{"Token":{"a":{"b":"CANARY"}}}`, `{"x":[{"secret":"CANARY"}]}`,
		`{"pin":"CANARY"}`, `{"\u0073ecret":"CAN\u0041RY"}`,
	}
	for _, key := range strings.Fields(`authorization proxyauthorization apikey xapikey accesstoken refreshtoken idtoken token password passwd secret
		clientsecret cookie setcookie credential credentials privatekey sessionid mcpsessionid Proxy-Authorization client_secret Mcp-Session-Id`) {
		values = append(values, fmt.Sprintf(`{%q:"CANARY"}`, key))
	}
	for i, v := range values {
		values[i] = strings.NewReplacer("CANARY", canary, `CAN\u0041RY`, `CANA\u0052Yc4n4ry`).Replace(v)
	}
	return values
}

// leaks finds the canary in a text, also as bytes are printed.
func leaks(text string) bool {
	for _, s := range []string{
		canary, "c4n4ry", hex.EncodeToString([]byte(canary)), base64.StdEncoding.EncodeToString([]byte(canary))[:14],
		strings.Trim(fmt.Sprint([]byte(canary)), "[]"),
	} {
		if strings.Contains(strings.ToLower(text), strings.ToLower(s)) {
			return true
		}
	}
	return false
}

// secretive is a front end whose handlers put what they got into everything that can go wrong.
func secretive(f jsonrpc2.Framing) *front {
	fe := newFront(f)
	fe.mount = func(_ *jsonrpc2.Options, m *jsonrpc2.Mux) error {
		handle := func(name string, h func(ctx context.Context, r *jsonrpc2.Request) (any, error)) {
			m.HandleRequest(name, jsonrpc2.HandlerFunc(h))
			m.HandleNotification(name, jsonrpc2.HandlerFunc(h))
		}
		handle("panic error", func(_ context.Context, r *jsonrpc2.Request) (any, error) {
			panic(fmt.Errorf("cannot use %s", r.Params()))
		})
		handle("panic map", func(_ context.Context, r *jsonrpc2.Request) (any, error) {
			var v any
			_ = r.Decode(&v)
			panic(v)
		})
		handle("fail map", func(_ context.Context, r *jsonrpc2.Request) (any, error) {
			var v any
			_ = r.Decode(&v)
			return nil, fmt.Errorf("cannot use %v", v)
		})
		handle("join", func(_ context.Context, r *jsonrpc2.Request) (any, error) {
			return nil, errors.Join(errTest, fmt.Errorf("two lines\n%s", r.Params()))
		})
		handle("unencodable", func(_ context.Context, r *jsonrpc2.Request) (any, error) {
			return map[string]any{string(r.Params()): func() {}}, nil
		})
		handle("not json", func(_ context.Context, r *jsonrpc2.Request) (any, error) {
			return r.Params()[1:], nil // a json.RawMessage that is none
		})
		m.HandleRequest("typed", jsonrpc2.Call(func(context.Context, *struct {
			V struct{ Password, Token int } `json:"v"`
		}) (int, error) {
			return 0, nil
		}))
		m.HandleRequest("ask back", jsonrpc2.HandlerFunc(func(ctx context.Context, r *jsonrpc2.Request) (any, error) {
			var n int
			err := jsonrpc2.ConnFrom(ctx).Call(ctx, "question", r.Params(), &n)
			return nil, fmt.Errorf("asked in vain: %w with %+v", errTest, err) // what the peer answered, data too
		}))
		return nil
	}
	return fe
}

// scenario is what a peer sends with one secret in it. Every message is one that somebody could want to log.
func scenario(v string) []string {
	raw := strings.Trim(v, `"`) // for text that is no JSON
	msgs := []string{}
	for i, method := range []string{"echo", "panic", "fail", "panic error", "panic map", "fail map", "join", "unencodable", "not json", "typed", "ask back"} {
		msgs = append(msgs, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"v":%s}}`, i, method, v))
		if method != "ask back" && method != "echo" && method != "typed" {
			msgs = append(msgs, fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":{"v":%s}}`, method, v))
		}
	}
	return append(msgs,
		fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no","data":%s}}`, v),       // answers the question, or is late
		fmt.Sprintf(`{"jsonrpc":"2.0","id":77,"result":%s}`, v),                                       // of a question never asked
		fmt.Sprintf(`{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"bad","data":%s}}`, v),   // of nothing
		fmt.Sprintf(`{"jsonrpc":"2.0","id":77,"error":{"code":"x","message":%s}}`, v),                 // no response
		fmt.Sprintf(`{"jsonrpc":"2.0","id":2 "method":"x","params":%s}`, v),                           // a comma is missing
		fmt.Sprintf(`%s {"jsonrpc":"2.0"`, v),                                                         // cut off
		fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"echo","params":{"v":%s}},`, v),                 // one comma too many
		fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"echo","method":"echo","params":{"v":%s}}`, v),  // a member twice
		fmt.Sprintf(`{"jsonrpc":"2.0","id":{"v":%s},"method":"echo"}`, v),                             // an id that is none
		fmt.Sprintf(`{"jsonrpc":%s,"id":3,"method":"echo"}`, v),                                       // no version
		fmt.Sprintf(`[{"jsonrpc":"2.0","id":4,"method":"fail","params":{"v":%s}},%s]`, v, v),          // a batch, half of it bad
		fmt.Sprintf(`{"jsonrpc":"2.0","method":"stop","params":{"id":9,"v":%s}}`, v),                  // cancels nothing
		fmt.Sprintf("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"x\xff\",\"params\":{\"v\":%s}}", v),   // no UTF-8
		fmt.Sprintf(`{"jsonrpc":"2.0","id":5,"method":%q}`, raw),                                      // a method of that name
		fmt.Sprintf(`{"jsonrpc":"2.0","id":6,"method":"echo","params":%s}`, strings.Repeat("[", 600)), // too deep
		v,
	)
}

func TestCanary(t *testing.T) {
	for name, jsonFormat := range map[string]bool{"text": false, "JSON": true} {
		t.Run(name, func(t *testing.T) {
			var log sink
			rt := framework.Runtime{
				Logger:  hclog.New(&hclog.LoggerOptions{Level: hclog.Trace, Output: &log, JSONFormat: jsonFormat}),
				Redact:  []string{"pin"},
				Metrics: new(framework.Metrics),
			}
			for _, framing := range []jsonrpc2.Framing{jsonrpc2.Lines, jsonrpc2.Header} {
				for _, v := range plants() {
					session(t, &rt, framing, scenario(v))
				}
			}
			var table strings.Builder
			_, _ = rt.Metrics.WriteTo(&table)
			out := log.String() + table.String()
			for line := range strings.Lines(out) {
				if leaks(line) {
					t.Fatalf("a secret is in the log: %.2000s", line)
				}
			}
			for _, want := range []string{"traffic", "handler panicked", "message failed", "[redacted]", "[redaction failed]", "session ended"} {
				if !strings.Contains(out, want) {
					t.Errorf("the log has no %q: the paths were not taken", want)
				}
			}
		})
	}
}

// session serves the messages and returns when every answer has come. Of the secrets nothing may come back but by the echo.
func session(t *testing.T, rt *framework.Runtime, framing jsonrpc2.Framing, messages []string) {
	t.Helper()
	a, b := net.Pipe()
	done := make(chan error, 1)
	go func() { done <- rt.ServeConn(context.Background(), a, secretive(framing)) }()
	drained := make(chan struct{})
	last := make(chan struct{})
	go func() {
		defer close(drained)
		var once sync.Once
		r := bufio.NewReader(b)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			if strings.Contains(line, "the last one") {
				once.Do(func() { close(last) })
			}
			if leaks(line) && !strings.Contains(line, `"result":`) && !strings.Contains(line, `"method":"question"`) {
				t.Errorf("a secret goes back to the peer: %.500s", line)
			}
		}
	}()
	for _, m := range append(messages, `{"jsonrpc":"2.0","id":"the last one","method":"echo"}`) {
		if framing == jsonrpc2.Header {
			m = fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(m), m)
		} else {
			m += "\n"
		}
		if _, err := io.WriteString(b, m); err != nil {
			t.Fatal(err)
		}
	}
	if framing == jsonrpc2.Lines {
		<-last
	}
	b.Close()
	<-drained
	<-done
}

// What is wrong with a header names the header, which can be a secret too.
func TestCanaryInHeaders(t *testing.T) {
	for _, input := range []string{
		"Authorization: Bearer " + canary + "\r\n\r\n",
		"Bearer " + canary + "\r\n\r\n",
		"Cookie: token=" + canary + "\r\nContent-Length: -1\r\n\r\n",
		"POST /?token=" + canary + " HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}",
		"Content-Length: " + canary + "\r\n\r\n{}",
		"Content-Length: 2\r\nContent-Type: text/plain; charset=" + canary + "\r\n\r\n{}",
		"Content-Length: 100\r\n\r\n{\"token\":\"" + canary + "\"",
		"Content-Length: 20\r\n\r\n{\"token\":\"" + canary + "\"",
	} {
		var log sink
		rt := framework.Runtime{Logger: hclog.New(&hclog.LoggerOptions{Level: hclog.Trace, Output: &log})}
		rwc := &oneShot{Reader: strings.NewReader(input)}
		err := rt.ServeConn(context.Background(), rwc, newFront(jsonrpc2.Header))
		if leaks(fmt.Sprint(err)) || leaks(log.String()) {
			t.Errorf("%q: the error is %v, the log %s", input, err, log.String())
		}
	}
}
