package field

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/logging"
)

const canary = "CANARYx7y"

// leaks finds the canary in a log, in every spelling that a log can have.
func leaks(log string) bool {
	for _, s := range []string{canary, hex.EncodeToString([]byte(canary)), base64.StdEncoding.EncodeToString([]byte(canary))[:10], fmt.Sprint([]byte(canary))} {
		if strings.Contains(log, strings.Trim(s, "[]")) {
			return true
		}
	}
	return false
}

// Secrets in messages, whole or broken, appear in no record, no report and no answer but the echo's result.
func TestSecretsStayOut(t *testing.T) {
	for _, c := range []struct{ name, message string }{
		{"137: user-info", request("1", "echo", `["dial https://user:CANARY@host/p failed"]`)},
		{"137: web socket", request("1", "echo", `["ws://user:CANARY@host"]`)},
		{"137: database", request("1", "echo", `["postgres://u:CANARY@h:5432/db?sslmode=off"]`)},
		{"137: git", request("1", "echo", `["git+ssh://CANARY@host/repo.git"]`)},
		{"137: escaped slashes", request("1", "echo", `["https:\/\/u:CANARY@h"]`)},
		{"137: escaped letters", request("1", "echo", `["\u0068ttps://u:CAN\u0041RY@h"]`)},
		{"137: in an error", `{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"dial https://u:CANARY@h"}}`},
		{"137: two in a text", request("1", "echo", `["https://a:CANARY@h and https://b:CANARY@i"]`)},
		{"138: password with a quote", request("1", "echo", `{"password":"a\"CANARY\\c\u003cd"}`)},
		{"138: password beyond ASCII", request("1", "echo", `{"password":"éCANARY&\u0026"}`)},
		{"138: escaped name", request("1", "echo", `{"pass\u0077ord":"CANARY"}`)},
		{"138: inside a string of JSON", request("1", "echo", `["{\"password\":\"a\\\"CANARY\"}"]`)},
		{"138: in a query, percent-encoded", request("1", "echo", `["https://h/p?api%5Fkey=CANARY"]`)},
		{"138: as an object", request("1", "echo", `{"secret":{"a":["CANARY"]}}`)},
		{"141: session id", request("1", "echo", `{"headers":{"Mcp-Session-Id":"CANARY"}}`)},
		{"141: session id of a response", `{"jsonrpc":"2.0","id":7,"result":{"sessionId":"CANARY"}}`},
		{"141: unknown session", request("1", "no/such", `{"mcp_session_id":"CANARY"}`)},
		{"203: a colon is missing", `{"jsonrpc":"2.0","id":1 "method":"x","params":{"token":"CANARY"}}`},
		{"203: before the fault", `{"token":"CANARY","jsonrpc":"2.0",,}`},
		{"203: after the fault", `{"jsonrpc":"2.0",,"token":"CANARY"}`},
		{"203: cut", `{"jsonrpc":"2.0","id":1,"params":{"token":"CANARY`},
		{"203: not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\",\"token\":\"CANARY\"}"},
		{"203: too deep", `{"token":"CANARY","a":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`},
		{"203: no request", `{"jsonrpc":"2.0","id":{"token":"CANARY"},"method":"x"}`},
		{"203: params of the wrong type", request("1", "typed", `{"N":{"token":"CANARY"},"password":"CANARY"}`)},
		{"203: a response that is none", `{"jsonrpc":"2.0","id":7,"error":{"token":"CANARY"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			message := strings.NewReplacer("CANARY", canary, `CAN\u0041RY`, `CAN\u0041RYx7y`).Replace(c.message)
			inBoth(t, func(t *testing.T, f jsonrpc2.Framing) {
				for _, jsonFormat := range []bool{false, true} {
					var log bytes.Buffer
					logger := hclog.New(&hclog.LoggerOptions{Level: hclog.Trace, Output: &log, JSONFormat: jsonFormat})
					k := listen(t, f, func(o *jsonrpc2.Options) (*jsonrpc2.Mux, error) {
						m, err := plain(o)
						m.HandleRequest("typed", jsonrpc2.Call(typed))
						return m, err
					}, func(o *jsonrpc2.Options) { o.Tap = logging.NewTraffic(logger, nil) })
					k.send(message, ping)
					got := k.heard()
					_, _ = k.end()
					if !strings.Contains(log.String(), "[redact") || !strings.Contains(answers(got), "1:ok") {
						t.Errorf("the log is %s, the answers are %q", clip(log.String()), got)
					}
					if leaks(log.String()) {
						t.Errorf("the log has the secret: %s", log.String())
					}
					if leaks(strings.Join(k.reported(), "\n")) {
						t.Errorf("a report has the secret: %q", k.reported())
					}
					for _, m := range got {
						if leaks(m) && !strings.Contains(m, `"result":`) {
							t.Errorf("an answer has the secret: %s", m)
						}
					}
				}
			})
		})
	}
}

// Free text is looked through as well, whatever scheme a URL in it has.
func TestSecretsInText(t *testing.T) {
	var r *logging.Redactor
	for _, scheme := range []string{"http", "https", "ws", "wss", "postgres", "git+ssh", "amqp", "x-custom.1"} {
		for _, user := range []string{"user:" + canary, canary, ":" + canary, "a%40b:" + canary, url.UserPassword("u", canary+"/?#").String()} {
			text := fmt.Sprintf("dial %s://%s@host:1/p?q=1 failed, twice %s://%s@other", scheme, user, scheme, user)
			if got := r.Text(text); leaks(got) || !strings.Contains(got, "@host:1/p?q=1 failed") {
				t.Errorf("137: %q became %q", text, got)
			}
		}
	}
}

func typed(_ context.Context, p *struct{ N int }) (int, error) { return p.N, nil }
