package mcphttp

import (
	"strings"
	"testing"
)

func TestRevisionsOverHTTP(t *testing.T) {
	const batch = `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`
	for _, c := range []struct {
		name, revisions, method, body string
		header                        header
		status                        int
		has                           string
	}{
		{"modern, not spoken", "2025-06-18", "POST", modernRequest("1", "tools/list", ""), modernHeader("tools/list", ""), 400, `"code":-32022`},
		{"and what is", "2025-06-18", "POST", modernRequest("1", "tools/list", ""), modernHeader("tools/list", ""), 400, `"supported":["2025-06-18"]`},
		{"header of another", "2025-06-18", "POST", request("1", "ping", ""), header{"Mcp-Protocol-Version": "2025-11-25"}, 400, `"supported":["2025-06-18"]`},
		{"header of one that is spoken", "2025-06-18", "POST", request("1", "ping", ""), header{"Mcp-Protocol-Version": "2025-06-18"}, 200, `"result"`},
		{"no header", "2025-06-18", "POST", request("1", "ping", ""), nil, 200, `"result"`},
		{"initialize", "2025-06-18", "POST", initialize, nil, 200, `"protocolVersion":"2025-06-18"`},
		{"batches belong to another", "2025-06-18", "POST", batch, nil, 400, `-32600`},
		{"batches", "2025-03-26", "POST", batch, nil, 200, `"result"`},
		{"only modern", "2026-07-28", "POST", modernRequest("1", "tools/list", ""), modernHeader("tools/list", ""), 200, `"tools"`},
		{"only modern: initialize", "2026-07-28", "POST", initialize, nil, 400, `"supported":["2026-07-28"]`},
		{"only modern: no version", "2026-07-28", "POST", request("1", "ping", ""), nil, 400, `"supported":["2026-07-28"]`},
		{"only modern: stream", "2026-07-28", "GET", "", nil, 405, ``},
		{"only modern: end of a session", "2026-07-28", "DELETE", "", header{"Mcp-Session-Id": "x"}, 405, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := serveWith(t, nil, func(f *fixture) { f.srv.Revisions = strings.Fields(c.revisions) })
			if a := f.do(c.method, c.body, c.header); a.status != c.status || !strings.Contains(a.body, c.has) {
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	}
}
