package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tandem-rpc/tandem/internal/leak"
	"github.com/tandem-rpc/tandem/internal/notes"
	"github.com/tandem-rpc/tandem/mcp"
)

func TestMain(m *testing.M) { leak.Main(m) }

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
	s := New(Options{Name: "notes", Folders: Fixed(w)}).Server
	for _, c := range []struct{ name, method, params, want string }{
		{"list", "tools/call", `{"name":"list_notes"}`, `"structuredContent":{"notes":[{"slug":"a b/first day","title":"First day","uri":"notes://a%20b%2Ffirst%20day","tags":["ops"]},{"slug":"deploy","title":"Deploy","uri":"notes://deploy","tags":["ops"]}]}`},
		{"list by tag", "tools/call", `{"name":"list_notes","arguments":{"tag":"#OPS"}}`, `"slug":"deploy"`},
		{"list, none", "tools/call", `{"name":"list_notes","arguments":{"tag":"x"}}`, `"structuredContent":{"notes":[]}`},
		{"read", "tools/call", `{"name":"read_note","arguments":{"slug":"a b/first day"}}`, `{"content":[{"type":"text","text":"# First day\nWelcome, and a #ops tag.\n"}],"structuredContent":{"slug":"a b/first day"`},
		{"read, unknown", "tools/call", `{"name":"read_note","arguments":{"slug":"x\ny"}}`, `no note has the slug \"x\\ny\"; list_notes shows all slugs"}],"isError":true`},
		{"search", "tools/call", `{"name":"search","arguments":{"query":"friday","limit":1}}`, `"hits":[{"slug":"deploy","title":"Deploy","line":5`},
		{"search, nothing", "tools/call", `{"name":"search","arguments":{"query":"zebra"}}`, `"structuredContent":{"hits":[]}`},
		{"search, empty", "tools/call", `{"name":"search","arguments":{"query":" "}}`, `list_notes lists all notes"}],"isError":true`},
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
		{"prompt, no slug", "prompts/get", `{"name":"summarize"}`, `missing the required argument`},
		{"prompt, unknown slug", "prompts/get", `{"name":"summarize","arguments":{"slug":"x"}}`, `"code":-32602`},
		{"prompt, unknown", "prompts/get", `{"name":"x","arguments":{"slug":"deploy"}}`, `{"code":-32602,"message":"Unknown prompt: x"}`},
		{"complete", "completion/complete", `{"ref":{"type":"ref/prompt","name":"summarize"},"argument":{"name":"slug","value":"D"}}`, `{"completion":{"values":["deploy","a b/first day"],"total":2}}`},
		{"complete, template", "completion/complete", `{"ref":{"type":"ref/resource","uri":"notes://{slug}"},"argument":{"name":"slug","value":"zz"}}`, `{"completion":{"values":[]}}`},
		{"prompt, review", "prompts/get", `{"name":"review","arguments":{"slug":"deploy","heading":"deploy"}}`, `line 5: `},
		{"prompt, no section", "prompts/get", `{"name":"review","arguments":{"slug":"deploy","heading":"x"}}`, `"code":-32602`},
		{"prompt, connect", "prompts/get", `{"name":"connect","arguments":{"slug":"deploy"}}`, `"uri":"notes://deploy"`},
		{"complete, heading", "completion/complete", `{"ref":{"type":"ref/prompt","name":"review"},"argument":{"name":"heading","value":"d"},"context":{"arguments":{"slug":"deploy"}}}`, `"values":["deploy"]`},
		{"complete, heading of nothing", "completion/complete", `{"ref":{"type":"ref/prompt","name":"review"},"argument":{"name":"heading","value":"d"}}`, `"values":[]`},
		{"complete, unknown", "completion/complete", `{"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"slug","value":""}}`, `"code":-32602`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := ask(t, s, c.method, c.params); !strings.Contains(got, c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
