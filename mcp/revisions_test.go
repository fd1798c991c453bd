package mcp

import (
	"strings"
	"testing"
)

func TestRevisions(t *testing.T) {
	const modern = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	hello := func(version string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	}
	discover := `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + modern[1:] + `}}`
	for _, c := range []struct {
		name, revisions, message, want string
	}{
		{"all: the one asked for", "", hello("2025-03-26"), `"protocolVersion":"2025-03-26"`},
		{"all: discover", "", discover, `"supportedVersions":["2026-07-28"]`},
		{"one that is spoken", "2025-03-26 2025-06-18", hello("2025-03-26"), `"protocolVersion":"2025-03-26"`},
		{"one that is not", "2025-03-26 2025-06-18", hello("2025-11-25"), `"protocolVersion":"2025-06-18"`},
		{"the newest, in any order", "2025-06-18 2025-03-26", hello("2024-11-05"), `"protocolVersion":"2025-06-18"`},
		{"the era without initialize is not", "2025-03-26 2025-06-18", discover, `"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2025-06-18","2025-03-26"],"requested":"2026-07-28"}`},
		{"only that era", "2026-07-28", discover, `"supportedVersions":["2026-07-28"]`},
		{"only that era: initialize", "2026-07-28", hello("2025-11-25"), `"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"2025-11-25"}`},
		{"another era with some of this", "2026-07-28 2024-11-05", strings.Replace(discover, `"2026-07-28"`, `"2024-11-05"`, 1), `"data":{"supported":["2026-07-28"],"requested":"2024-11-05"}`},
		{"none that there is", "2025-01-01", hello("2025-11-25"), `Server.Revisions has \"2025-01-01\"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &Server{Name: "S", Version: "1", Revisions: strings.Fields(c.revisions)}
			ses, err := s.NewSession(new(peer))
			if err != nil {
				if !strings.Contains(err.Error(), "2025-01-01") {
					t.Fatal(err)
				}
			} else if got := string(ses.Handle(t.Context(), []byte(c.message))); !strings.Contains(got, c.want) {
				t.Errorf("session: %s", got)
			}
			if strings.Contains(c.message, "initialize") {
				if got := string(s.Handle(t.Context(), []byte(c.message))); !strings.Contains(got, c.want) {
					t.Errorf("no session: %s", got)
				}
			}
			for _, r := range append(append([]string{"", "x"}, Versions...), ModernVersions...) {
				want := revisionNamed(r) != 0 && (c.revisions == "" || strings.Contains(c.revisions, r))
				if got := s.Speaks(r); err == nil && got != want {
					t.Errorf("speaks %q: %v", r, got)
				}
			}
		})
	}
}
