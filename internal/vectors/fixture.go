package vectors

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/logging"
	"github.com/tandem-rpc/tandem/mcp"
)

// fixture is a peer that vectors are run against, by the name they use.
type fixture struct {
	mux    func(*witness) *jsonrpc2.Mux // of a JSON-RPC peer
	server func(*witness) *mcp.Server   // of an MCP server

	conventions bool     // listens to both conventions of [conventions]
	waits       []string // methods whose handlers wait until they are cancelled
	log         bool     // has a traffic log
	redact      []string // names that are secret in it, beside the built-in ones
}

var fixtures = map[string]*fixture{
	"base":      {mux: base, conventions: true, waits: []string{"wait", "run"}},
	"log":       {mux: base, conventions: true, waits: []string{"wait", "run"}, log: true},
	"log-extra": {mux: base, conventions: true, waits: []string{"wait", "run"}, log: true, redact: []string{"privateKey", "customSecret"}},
	"none":      {mux: none},
	"spec7":     {mux: spec7},
	"readme":    {mux: readme, conventions: true, waits: []string{"run"}},

	"mcp-weather":     {server: weather},
	"mcp-session":     {server: sessions},
	"mcp-orders":      {server: orders},
	"mcp-notes":       {server: notes},
	"mcp-empty":       {server: empty},
	"mcp-internal":    {server: failing},
	"mcp-half":        {server: half},
	"mcp-notemplates": {server: noTemplates},
	"mcp-batch2":      {server: batchOf(2)},
	"mcp-nobatch":     {server: batchOf(mcp.NoBatch)},
}

// conventions are those that the fixtures listen to, by method.
var conventions = [][2]string{{"cancel", "requestId"}, {"$/cancelRequest", "id"}}

func registry() *cancel.Registry {
	r := cancel.NewRegistry()
	for _, c := range conventions {
		r.OnCancel(c[0], c[1])
	}
	return r
}

// witness is what is seen of a peer from the inside while a vector runs.
type witness struct {
	mu       sync.Mutex
	seen     []string
	report   []string
	sessions map[string]map[string]string
	log      bytes.Buffer
}

// saw notes that the handler of a notification ran.
func (w *witness) saw(method string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, method)
}

// reporter is [jsonrpc2.Options.Report]. What concerns no request is no unexpected error of a handler, and neither are params of the wrong shape,
// which the typed handler of a notification refuses with the sentinel itself.
func (w *witness) reporter(_ context.Context, r *jsonrpc2.Request, err error) {
	if r == nil || r.IsNotification() && err == error(jsonrpc2.ErrInvalidParams) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.report = append(w.report, r.Method)
}

// traffic is the log of a fixture that has one.
func (w *witness) traffic(f *fixture) *logging.Traffic {
	logger := hclog.New(&hclog.LoggerOptions{Level: hclog.Debug, Output: &w.log, JSONFormat: true})
	return logging.NewTraffic(logger, &logging.Options{Redact: f.redact})
}

// records reads the log back.
func (w *witness) records() ([][2]string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all [][2]string
	d := json.NewDecoder(&w.log)
	for d.More() {
		var r struct {
			Level     string `json:"@level"`
			Message   string `json:"@message"`
			Direction string `json:"direction"`
			Text      string `json:"message"`
		}
		if err := d.Decode(&r); err != nil {
			return nil, err
		}
		if r.Level != "debug" || r.Message != logging.TrafficMessage {
			return nil, fmt.Errorf("a record %q at level %s", r.Message, r.Level)
		}
		all = append(all, [2]string{r.Direction, r.Text})
	}
	return all, nil
}

// session is what an MCP fixture keeps for the client that a context belongs to.
type session struct {
	w    *witness
	name string
}

func (s session) store(member, value string) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	if s.w.sessions == nil {
		s.w.sessions = map[string]map[string]string{}
	}
	if s.w.sessions[s.name] == nil {
		s.w.sessions[s.name] = map[string]string{}
	}
	s.w.sessions[s.name][member] = value
}

func (s session) load(member string) string {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	return s.w.sessions[s.name][member]
}

// identity is who a context belongs to.
type identity struct {
	id     string
	scopes []string
}

// context returns the context with that name: a session of its own, and an identity that only for ada has a scope.
func (w *witness) context(name string) context.Context {
	who := identity{id: name}
	if name == "ada" {
		who.scopes = []string{"orders:write"}
	}
	return mcp.WithCaller(mcp.WithCaller(context.Background(), session{w, name}), who)
}
