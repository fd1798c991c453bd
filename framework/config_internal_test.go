package framework

import (
	"flag"
	"fmt"
	"io"
	"testing"
)

func TestPipePath(t *testing.T) {
	for name, want := range map[string]string{
		`\\.\pipe\lsp-1a2b`:       `\\.\pipe\lsp-1a2b`,
		`\\machine\pipe\lsp-1a2b`: `\\machine\pipe\lsp-1a2b`,
		`//./pipe/lsp`:            `//./pipe/lsp`,
		`lsp-1a2b.sock`:           `\\.\pipe\lsp-1a2b.sock`,
	} {
		if got := pipePath(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// Every flag can be written in each of the ways that editors write flags, and means the same.
func TestFlagSpellings(t *testing.T) {
	for _, f := range []struct {
		name, value string
		want        Config
	}{
		{"stdio", "", Config{Stdio: true}},
		{"pipe", "/tmp/lsp-1a2b.sock", Config{Pipe: "/tmp/lsp-1a2b.sock"}},
		{"pipe", `\\.\pipe\lsp-1a2b`, Config{Pipe: `\\.\pipe\lsp-1a2b`}},
		{"socket", "6009", Config{Socket: 6009}},
		{"port", "6009", Config{Socket: 6009}},
		{"listen", "unix:/run/lsp.sock", Config{Listen: "unix:/run/lsp.sock"}},
		{"listen", "127.0.0.1:0", Config{Listen: "127.0.0.1:0"}},
		{"clientProcessId", "4711", Config{ParentID: 4711}},
		{"log-level", "debug", Config{LogLevel: "debug"}},
		{"log-json", "", Config{LogJSON: true}},
		{"stats", "", Config{Stats: true}},
		{"node-ipc", "", Config{NodeIPC: true}},
	} {
		var spellings [][]string
		for _, dashes := range []string{"-", "--"} {
			if f.value == "" {
				spellings = append(spellings, []string{dashes + f.name}, []string{dashes + f.name + "=true"})
				continue
			}
			spellings = append(spellings, []string{dashes + f.name + "=" + f.value}, []string{dashes + f.name, f.value})
		}
		for _, args := range spellings {
			fs := flag.NewFlagSet("server", flag.ContinueOnError)
			fs.SetOutput(io.Discard)
			var c Config
			c.Register(fs)
			if err := fs.Parse(args); err != nil || fs.NArg() > 0 {
				t.Errorf("%q: %v, %q is left", args, err, fs.Args())
				continue
			}
			want := f.want
			if want.LogLevel == "" {
				want.LogLevel = "warn"
			}
			if fmt.Sprintf("%+v", c) != fmt.Sprintf("%+v", want) {
				t.Errorf("%q: got %+v, want %+v", args, c, want)
			}
			if err := c.Check(); (err != nil) != c.NodeIPC {
				t.Errorf("%q: %v", args, err)
			}
		}
	}
}
