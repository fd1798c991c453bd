package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// settingsPeer serves a hover that tells one setting, "editor.tab", for its document at line 1, and counts how often the client is asked.
func settingsPeer(t *testing.T, srv *Server, value *atomic.Int64) (p *peer, asked *atomic.Int32, registered chan string) {
	asked, registered = new(atomic.Int32), make(chan string, 10)
	srv.Hover = func(ctx context.Context, p *protocol.HoverParams) (*protocol.Hover, error) {
		tab := -1
		scope := uri.URI("")
		if p.Position.Line == 1 {
			scope = p.TextDocument.URI
		}
		err := ClientFrom(ctx).SettingFor(ctx, scope, "editor.tab", &tab)
		return &protocol.Hover{Contents: protocol.String(fmt.Sprint(tab))}, err
	}
	p = dial(t, srv)
	p.mux.HandleRequest("workspace/configuration", jsonrpc2.Call(func(_ context.Context, c *protocol.ConfigurationParams) ([]any, error) {
		asked.Add(1)
		if c.Items[0].ScopeURI != nil {
			return []any{100 + value.Load()}, nil
		}
		return []any{value.Load()}, nil
	}))
	p.mux.HandleRequest("client/registerCapability", jsonrpc2.Call(func(_ context.Context, r *protocol.RegistrationParams) (any, error) {
		registered <- r.Registrations[0].Method
		return nil, nil
	}))
	p.start()
	return p, asked, registered
}

func tabOf(p *peer, line int) string {
	p.t.Helper()
	var h protocol.Hover
	p.call("textDocument/hover", object("textDocument", object("uri", "file:///a"), "position", object("line", line, "character", 0)), &h)
	return string(h.Contents.(protocol.String))
}

func TestSettingsAreRemembered(t *testing.T) {
	var value atomic.Int64
	value.Store(4)
	p, asked, registered := settingsPeer(t, &Server{}, &value)
	p.init(ableInit)
	for range 3 {
		if got := tabOf(p, 0); got != "4" {
			t.Errorf("setting is %s", got)
		}
		if got := tabOf(p, 1); got != "104" {
			t.Errorf("setting of the document is %s", got)
		}
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("the client was asked %d times", n)
	}
	if m := receive(t, registered); m != "workspace/didChangeConfiguration" {
		t.Errorf("registered %s", m)
	}
	value.Store(8)
	p.notify("workspace/didChangeConfiguration", `{"settings":null}`)
	if got := tabOf(p, 0); got != "8" {
		t.Errorf("after the change the setting is %s", got)
	}
	if n := asked.Load(); n != 3 {
		t.Errorf("the client was asked %d times", n)
	}
}

// A client that cannot be asked has sent what it has.
func TestSettingsThatWerePushed(t *testing.T) {
	var value atomic.Int64
	p, asked, _ := settingsPeer(t, &Server{}, &value)
	p.init(plainInit)
	for _, tt := range []struct{ settings, want string }{
		{"", "-1"},
		{`{"settings":{"editor":{"tab":2}}}`, "2"},
		{`{"settings":{"editor":null}}`, "-1"},
		{`{"settings":[]}`, "-1"},
		{`{}`, "-1"},
	} {
		if tt.settings != "" {
			p.notify("workspace/didChangeConfiguration", tt.settings)
		}
		if got := tabOf(p, 0); got != tt.want {
			t.Errorf("after %s the setting is %s, want %s", tt.settings, got, tt.want)
		}
	}
	if asked.Load() != 0 {
		t.Error("the client was asked")
	}
}

// Server.DidChangeConfiguration may ask the client and wait, holds nothing up, and its runs come one after the other. What has been overtaken has none.
func TestConfigurationChanges(t *testing.T) {
	var value atomic.Int64
	hold := make(chan struct{})
	seen, began := make(chan string, 10), make(chan string, 10)
	var running atomic.Int32
	srv := &Server{DidChangeConfiguration: func(ctx context.Context, p *protocol.DidChangeConfigurationParams) error {
		if running.Add(1) > 1 {
			t.Error("two runs at once")
		}
		defer running.Add(-1)
		began <- string(p.Settings)
		<-hold
		if string(p.Settings) == "7" {
			panic("seven")
		}
		tab := 0
		if err := ClientFrom(ctx).Setting(ctx, "editor.tab", &tab); err != nil {
			return err
		}
		seen <- string(p.Settings)
		return nil
	}}
	p, _, registered := settingsPeer(t, srv, &value)
	p.init(ableInit)
	if m := receive(t, registered); m != "workspace/didChangeConfiguration" {
		t.Errorf("registered %s", m)
	}
	set := func(value int) { p.notify("workspace/didChangeConfiguration", fmt.Sprintf(`{"settings":%d}`, value)) }
	set(0)
	want(t, "first run", receive(t, began), "0")
	for i := range 1000 {
		set(i)
	}
	_ = tabOf(p, 0) // is answered meanwhile, and behind the changes
	close(hold)
	want(t, "first run", receive(t, seen), "0")
	want(t, "second run", receive(t, began), "999")
	want(t, "second run", receive(t, seen), "999")
	set(7)
	want(t, "run that panics", receive(t, began), "7")
	set(8)
	want(t, "run behind that", receive(t, began), "8")
	want(t, "run behind that", receive(t, seen), "8")
}

func TestFolders(t *testing.T) {
	folders := make(chan string, 10)
	srv := &Server{
		Hover: func(ctx context.Context, _ *protocol.HoverParams) (*protocol.Hover, error) {
			var names []string
			for _, f := range ClientFrom(ctx).Folders() {
				names = append(names, f.Name)
			}
			folders <- strings.Join(names, " ")
			return nil, nil
		},
		DidChangeWorkspaceFolders: func(ctx context.Context, p *protocol.DidChangeWorkspaceFoldersParams) error {
			if n := len(ClientFrom(ctx).Folders()); n == 0 {
				t.Error("the folders are not up to date in the function")
			}
			return nil
		},
	}
	tests := []struct{ name, init, want, change, after string }{
		{"folders", `{"processId":null,"rootUri":"file:///r","workspaceFolders":[{"uri":"file:///a","name":"A"},{"uri":"file:///b","name":"B"}],"capabilities":{}}`, "A B",
			`{"event":{"added":[{"uri":"file:///c","name":"C"}],"removed":[{"uri":"FILE:///a","name":"A"}]}}`, "B C"},
		{"a new name", `{"processId":null,"rootUri":null,"workspaceFolders":[{"uri":"file:///a","name":"A"}],"capabilities":{}}`, "A",
			`{"event":{"added":[{"uri":"file:///a","name":"New"}],"removed":[]}}`, "New"},
		{"a root", `{"processId":null,"rootUri":"file:///x/root/","capabilities":{}}`, "root", `{"event":{"added":[{"uri":"file:///c","name":"C"}],"removed":[]}}`, "root C"},
		{"nothing", `{"processId":null,"rootUri":null,"workspaceFolders":null,"capabilities":{}}`, "", `{"event":{"added":[{"uri":"file:////srv","name":"S"}],"removed":[]}}`, "S"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := connect(t, srv)
			p.init(tt.init)
			p.call("textDocument/hover", hoverParams, nil)
			if got := receive(t, folders); got != tt.want {
				t.Errorf("folders are %q, want %q", got, tt.want)
			}
			p.notify("workspace/didChangeWorkspaceFolders", tt.change)
			p.call("textDocument/hover", hoverParams, nil)
			if got := receive(t, folders); got != tt.after {
				t.Errorf("after the change folders are %q, want %q", got, tt.after)
			}
		})
	}
}

// What clients say about files reaches its function, with the URIs they have.
func TestFileEvents(t *testing.T) {
	var log []string
	files := func(what string) func(context.Context, *protocol.RenameFilesParams) error {
		return func(_ context.Context, p *protocol.RenameFilesParams) error {
			log = append(log, fmt.Sprint(what, " ", p.Files[0].OldURI, " ", p.Files[0].NewURI))
			return nil
		}
	}
	p := connect(t, &Server{
		DidRenameFiles: files("renamed"),
		DidCreateFiles: func(_ context.Context, p *protocol.CreateFilesParams) error {
			log = append(log, "created "+string(p.Files[0].URI))
			return nil
		},
		DidDeleteFiles: func(_ context.Context, p *protocol.DeleteFilesParams) error {
			log = append(log, "deleted "+string(p.Files[0].URI))
			return nil
		},
		DidChangeWatchedFiles: func(_ context.Context, p *protocol.DidChangeWatchedFilesParams) error {
			log = append(log, fmt.Sprint("changed ", p.Changes[0].URI, " ", p.Changes[0].Type))
			return nil
		},
		WillSave: func(_ context.Context, p *protocol.WillSaveTextDocumentParams) error {
			log = append(log, fmt.Sprint("saves ", p.TextDocument.URI, " ", p.Reason))
			return nil
		},
		WillSaveWaitUntil: func(_ context.Context, p *protocol.WillSaveTextDocumentParams) ([]protocol.TextEdit, error) {
			return []protocol.TextEdit{{NewText: "x"}}, nil
		},
	})
	p.init(plainInit)
	p.notify("workspace/didRenameFiles", `{"files":[{"oldUri":"file:///a","newUri":"file:////b"}]}`)
	p.notify("workspace/didCreateFiles", `{"files":[{"uri":"file:///c"}]}`)
	p.notify("workspace/didDeleteFiles", `{"files":[{"uri":"file:///c"}]}`)
	p.notify("workspace/didChangeWatchedFiles", `{"changes":[{"uri":"file:///d","type":99}]}`)
	p.notify("textDocument/willSave", `{"textDocument":{"uri":"file:///e"},"reason":1}`)
	var edits json.RawMessage
	p.call("textDocument/willSaveWaitUntil", `{"textDocument":{"uri":"file:///e"},"reason":1}`, &edits)
	want := []string{"renamed file:///a file:////b", "created file:///c", "deleted file:///c", "changed file:///d 99", "saves file:///e 1"}
	if !slices.Equal(log, want) || !strings.Contains(string(edits), `"newText":"x"`) {
		t.Errorf("got %q and %s, want %q", log, edits, want)
	}
}
