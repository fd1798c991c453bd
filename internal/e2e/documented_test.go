//go:build !race && !poison

package e2e

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// documented returns the servers of the configuration file that docs/clients.md
// shows for a client, with the placeholders replaced by what there is here.
func documented(t *testing.T, heading, key, folder, address string) map[string]map[string]any {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "clients.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	block := regexp.MustCompile("(?s)```json\n(.*?)```").FindStringSubmatch(section)
	if !found || block == nil {
		t.Fatalf("docs/clients.md shows no configuration file for %s", heading)
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	quoted := func(s string) string {
		b, _ := json.Marshal(s)
		return string(b[1 : len(b)-1])
	}
	text := strings.NewReplacer(
		"/absolute/path/to/demo-mcp", quoted(build(t, "cmd/demo-mcp")),
		"/absolute/path/to/notes", quoted(folder),
		"${workspaceFolder}", quoted(folder),
		"/absolute/path/to/tandem", quoted(root),
		"/absolute/path/to/bin/go", quoted(tool),
		"http://127.0.0.1:4391/mcp", address,
	).Replace(block[1])
	var file map[string]map[string]map[string]any
	if err := json.Unmarshal([]byte(text), &file); err != nil {
		t.Fatalf("the file for %s: %v\n%s", heading, err, text)
	}
	if len(file) != 1 || len(file[key]) == 0 {
		t.Fatalf("the file for %s has the keys %q, want %q alone", heading, slices.Collect(maps.Keys(file)), key)
	}
	return file[key]
}

// TestDocumentedConfigurations: every server of every configuration file in
// docs/clients.md starts as it is written there and lists its tools. The
// Inspector's command line is the client for all of them: the files of the
// others have the same command, args and url.
func TestDocumentedConfigurations(t *testing.T) {
	argv := need(t, "inspector")
	folder := notes(t)
	_, address := demoHTTP(t, folder)
	started := make(map[string]bool) // servers that are written alike in several files need to start once
	for _, tt := range []struct {
		client, key string
		stdio, http any // the type of such servers, where the client wants one
		servers     []string
	}{
		{"VS Code", "servers", "stdio", "http", []string{"notes", "notes-from-source", "notes-http"}},
		{"Claude Desktop", "mcpServers", nil, nil, []string{"notes", "notes-from-source"}},
		{"Cursor", "mcpServers", "stdio", nil, []string{"notes", "notes-from-source", "notes-http"}},
		{"MCP Inspector", "mcpServers", "stdio", "streamable-http", []string{"notes", "notes-from-source", "notes-http"}},
	} {
		servers := documented(t, tt.client, tt.key, folder, address)
		if got := slices.Sorted(maps.Keys(servers)); !slices.Equal(got, tt.servers) {
			t.Errorf("%s: servers %q, want %q", tt.client, got, tt.servers)
		}
		for name, server := range servers {
			want := tt.stdio
			if server["url"] != nil {
				want = tt.http
			}
			if server["type"] != want {
				t.Errorf("%s: %s has the type %v, want %v", tt.client, name, server["type"], want)
			}
			delete(server, "type")
			written, _ := json.Marshal(server)
			if started[string(written)] {
				continue
			}
			started[string(written)] = true
			t.Run(tt.client+"/"+name, func(t *testing.T) {
				switch {
				case server["command"] != nil:
					// As clients do, the Inspector hands on little of its environment, and the home it has here is an empty one.
					server["env"] = goEnv(t)
					if _, bare := server["url"]; bare {
						t.Error("both a command and a url")
					}
				default:
					server["type"] = "streamable-http" // what the Inspector calls it
				}
				config := writeConfig(t, map[string]map[string]any{name: server})
				i := &inspector{append(slices.Clone(argv), "--cli", "--config", config, "--server", name, "--format", "json")}
				var got struct{ Tools []struct{ Name string } }
				i.result(t, &got, "--method", "tools/list", "--strict")
				if len(got.Tools) < 4 {
					t.Errorf("tools = %+v", got.Tools)
				}
			})
		}
	}
}

// goEnv is where this machine's Go keeps what it has built and fetched.
func goEnv(t *testing.T) map[string]string {
	t.Helper()
	out, err := exec.Command("go", "env", "-json", "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOPROXY", "GOTOOLCHAIN").Output()
	if err != nil {
		t.Fatal(err)
	}
	var env map[string]string
	if err := json.Unmarshal(out, &env); err != nil {
		t.Fatal(err)
	}
	return env
}
