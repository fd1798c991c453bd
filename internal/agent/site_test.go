package agent

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	writer = "0123456789abcdef0123456789abcdef"
	reader = "fedcba9876543210fedcba9876543210"
)

func tokenFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// Without one of the tokens nothing is served, and with one that is read-only nothing is changed.
func TestSiteTokens(t *testing.T) {
	w := onDisk(t, map[string]string{"a.md": "old"})
	site, err := New(Options{Folders: Fixed(w)}).Site("127.0.0.1:0", tokenFile(t, "# who may come\n"+writer+" ada\n\n"+reader+" bob read-only\n"))
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- site.Serve(ctx, ln, nil) }()
	client := &http.Client{Transport: new(http.Transport)}
	defer client.CloseIdleConnections()
	post := func(token, body string) (int, string) {
		t.Helper()
		r, err := http.NewRequest("POST", site.URL(ln.Addr()), strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(b)
	}
	const read = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_note","arguments":{"slug":"a"}}}`
	write := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"edit_note","arguments":{"slug":"a","version":"` + versionOf(t, w, "a") + `","text":"new"}}}`
	for _, test := range []struct {
		name, token, body string
		status            int
		file              string
	}{
		{"no token", "", read, 401, "old"},
		{"wrong token", writer + "0", read, 401, "old"},
		{"reader reads", reader, read, 200, "old"},
		{"reader writes", reader, write, 403, "old"},
		{"writer writes", writer, write, 200, "new"},
	} {
		if status, body := post(test.token, test.body); status != test.status || file(t, w, "a.md") != test.file {
			t.Errorf("%s: %d %s; the file has %q", test.name, status, body, file(t, w, "a.md"))
		}
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestTokenFileErrors(t *testing.T) {
	s := New(Options{Folders: Fixed(onDisk(t, nil))})
	for name, test := range map[string]struct{ file, says string }{
		"missing":        {filepath.Join(t.TempDir(), "none"), "none"},
		"empty":          {tokenFile(t, "# nothing\n"), "no token in it"},
		"short":          {tokenFile(t, "secret\n"), "token"},
		"too many words": {tokenFile(t, writer+" ada read-only more\n"), "line 1"},
		"directory":      {t.TempDir(), "not a file"},
	} {
		if _, err := s.Site("4391", test.file); err == nil || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
