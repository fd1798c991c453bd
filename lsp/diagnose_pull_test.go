package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

const (
	pullInit  = `{"processId":null,"rootUri":null,"capabilities":{"textDocument":{"diagnostic":{"relatedDocumentSupport":true}},"workspace":{"diagnostics":{"refreshSupport":true}}}}`
	aloneInit = `{"processId":null,"rootUri":null,"capabilities":{"textDocument":{"diagnostic":{}},"workspace":{"diagnostic":{"refreshSupport":true}}}}`
)

// pulled is an answer to a pull as the wire has it.
type pulled struct {
	Kind     string `json:"kind"`
	ResultID string `json:"resultId"`
	Items    []struct {
		Message json.RawMessage `json:"message"`
	} `json:"items"`
	Related map[string]pulled `json:"relatedDocuments"`
	URI     string            `json:"uri"`
	Version *int              `json:"version"`
}

// messages are what the report says, in one line.
func (r pulled) messages() string {
	var all []string
	for _, i := range r.Items {
		all = append(all, strings.Trim(string(i.Message), `"`))
	}
	return r.Kind + ":" + strings.Join(all, ",")
}

func (p *peer) pull(u, previous string) pulled {
	p.t.Helper()
	var r pulled
	params := object("textDocument", object("uri", u))
	if previous != "" {
		params["previousResultId"] = previous
	}
	p.call("textDocument/diagnostic", params, &r)
	return r
}

func want(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %q, want %q", what, got, want)
	}
}

// A client that can ask is not sent anything, and what has not changed is neither found nor sent twice.
func TestPull(t *testing.T) {
	const a = "file:///a"
	var runs atomic.Int32
	p := connect(t, &Server{Diagnose: func(ctx context.Context, d *Document) ([]protocol.Diagnostic, error) {
		runs.Add(1)
		return finding(strings.ToUpper(d.Text())), nil
	}})
	res := p.init(pullInit)
	if o, ok := res.Capabilities.DiagnosticProvider.(*protocol.DiagnosticOptions); !ok || o.WorkspaceDiagnostics {
		t.Errorf("announced %+v", res.Capabilities.DiagnosticProvider)
	}
	p.open(a, 1, "one")
	first := p.pull(a, "")
	want(t, "report", first.messages(), "full:ONE")
	second := p.pull(a, first.ResultID)
	want(t, "report without a change", second.messages(), "unchanged:")
	want(t, "its id", second.ResultID, first.ResultID)
	want(t, "report for another id", p.pull(a, "other").messages(), "full:ONE")
	if n := runs.Load(); n != 1 {
		t.Errorf("%d runs for one version", n)
	}
	p.change(a, 2, object("text", "two"))
	third := p.pull(a, first.ResultID)
	want(t, "report after a change", third.messages(), "full:TWO")
	p.change(a, 3, object("text", "TWO"))
	want(t, "report of the same", p.pull(a, third.ResultID).messages(), "unchanged:")
	want(t, "report of a document that is not open", p.pull("file:///b", "").messages(), "full:")
	p.notify("textDocument/didClose", object("textDocument", object("uri", a)))
	want(t, "report of a closed document", p.pull(a, third.ResultID).messages(), "full:")
	if len(p.diagnostics) > 0 {
		t.Errorf("published %+v", <-p.diagnostics)
	}
}

// Which of the two it is, is the client's choice, unless the server has made it.
func TestPushOrPull(t *testing.T) {
	diagnose := func(context.Context, *Document) ([]protocol.Diagnostic, error) { return finding("x"), nil }
	for _, tt := range []struct {
		name string
		srv  *Server
		init string
		pull bool
	}{
		{"no capability", &Server{Diagnose: diagnose}, plainInit, false},
		{"null", &Server{Diagnose: diagnose}, `{"capabilities":{"textDocument":{"diagnostic":null}}}`, false},
		{"can ask", &Server{Diagnose: diagnose}, pullInit, true},
		{"can ask and says no more", &Server{Diagnose: diagnose}, aloneInit, true},
		{"says that it can ask, and does not", &Server{Diagnose: diagnose}, `{"capabilities":{"textDocument":{"diagnostic":{},"publishDiagnostics":{"versionSupport":true}}}}`, false},
		{"can do both", &Server{Diagnose: diagnose}, `{"capabilities":{"textDocument":{"diagnostic":{"dynamicRegistration":false},"publishDiagnostics":{}}}}`, true},
		{"can ask and is not to", &Server{Diagnose: diagnose, PushDiagnostics: true}, pullInit, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := connect(t, tt.srv)
				if res := p.init(tt.init); (res.Capabilities.DiagnosticProvider != nil) != tt.pull {
					t.Errorf("announced %+v", res.Capabilities.DiagnosticProvider)
				}
				p.open("file:///a", 1, "")
				synctest.Wait()
				if n := len(p.diagnostics); (n == 0) != tt.pull {
					t.Errorf("published %d times", n)
				}
				err := p.try("textDocument/diagnostic", object("textDocument", object("uri", "file:///a")), nil)
				if tt.pull && err != nil {
					t.Error(err)
				} else if !tt.pull {
					wantCode(t, err, jsonrpc2.CodeMethodNotFound)
				}
			})
		})
	}
}

// A pull that a change has made useless is given up, and the client told to ask again; one that the client gives up is answered as cancelled.
func TestPullGivenUp(t *testing.T) {
	const a = "file:///a"
	started := make(chan struct{}, 10)
	causes := make(chan error, 10)
	p := connect(t, &Server{Diagnose: func(ctx context.Context, d *Document) ([]protocol.Diagnostic, error) {
		if d.Version() == 3 {
			return finding("found"), nil
		}
		started <- struct{}{}
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return finding("late"), nil
	}})
	p.init(pullInit)
	p.open(a, 1, "")
	ask := func(ctx context.Context) *jsonrpc2.Pending {
		return p.conn.Go(ctx, "textDocument/diagnostic", object("textDocument", object("uri", a)))
	}
	first := ask(context.Background())
	receive(t, started)
	p.change(a, 2, object("text", "2"))
	err := first.Wait(nil)
	wantCode(t, err, CodeServerCancelled)
	var e *jsonrpc2.Error
	if errors.As(err, &e); string(e.Data) != `{"retriggerRequest":true}` {
		t.Errorf("data is %s", e.Data)
	}
	if cause := receive(t, causes); !errors.Is(cause, errOvertaken) {
		t.Errorf("cause is %v", cause)
	}
	ctx, stop := context.WithCancel(context.Background())
	ask(ctx)
	receive(t, started)
	stop()
	receive(t, causes)
	p.change(a, 3, object("text", "3"))
	want(t, "report in the end", p.pull(a, "").messages(), "full:found")
}

func TestPullFailures(t *testing.T) {
	var rep reports
	p := connect(t, &Server{Reporter: rep.add, Diagnose: func(_ context.Context, d *Document) ([]protocol.Diagnostic, error) {
		switch d.Text() {
		case "panic":
			panic("boom")
		case "error":
			return nil, errors.New("parser failed")
		case "told":
			return nil, RequestFailed("no parser")
		}
		return nil, nil
	}})
	p.init(pullInit)
	for text, code := range map[string]jsonrpc2.Code{"panic": jsonrpc2.CodeInternalError, "error": jsonrpc2.CodeInternalError, "told": CodeRequestFailed} {
		u := "file:///" + text
		p.open(u, 1, text)
		wantCode(t, p.try("textDocument/diagnostic", object("textDocument", object("uri", u)), nil), code)
		p.change(u, 2, object("text", "fine"))
		want(t, "report", p.pull(u, "").messages(), "full:")
	}
	if errs := rep.list(); len(errs) != 2 {
		t.Errorf("reported %v", errs)
	}
}

// Messages are what the client can show, and never missing.
func TestMessages(t *testing.T) {
	srv := &Server{Diagnose: func(context.Context, *Document) ([]protocol.Diagnostic, error) {
		return []protocol.Diagnostic{{Message: Markdown("**bold**")}, {}}, nil
	}}
	for init, message := range map[string]string{
		pullInit: `full:**bold**,`,
		`{"capabilities":{"textDocument":{"diagnostic":{"markupMessageSupport":true}}}}`: `full:{"kind":"markdown","value":"**bold**"},`,
	} {
		p := connect(t, srv)
		p.init(init)
		p.open("file:///a", 1, "")
		want(t, "report", p.pull("file:///a", "").messages(), message)
	}
}

// linked reports one diagnostic for each line "uri message" of a document, in the document with that URI.
func linked(ctx context.Context, d *Document) ([]protocol.Diagnostic, error) {
	for line := range strings.Lines(d.Text()) {
		if u, message, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			if err := ReportFor(ctx, uriOf(u), finding(message)...); err != nil {
				return nil, err
			}
		}
	}
	return finding("own"), nil
}

func TestRelatedDocuments(t *testing.T) {
	const a, b, c = "file:///a", "file:///b", "file:///c"
	p := connect(t, &Server{Diagnose: linked})
	p.init(pullInit)
	p.open(a, 1, b+" one\n"+b+" two\n"+c+" three\n"+a+" self")
	p.open(b, 1, "")
	r := p.pull(a, "")
	want(t, "report", r.messages(), "full:own,self")
	want(t, "related b", r.Related[b].messages(), "full:one,two")
	want(t, "related c", r.Related[c].messages(), "full:three")
	want(t, "report of b", p.pull(b, "").messages(), "full:own,one,two")
	p.change(a, 2, object("text", b+" four"))
	r = p.pull(a, "")
	want(t, "related b", r.Related[b].messages(), "full:own,four")
	want(t, "related c, taken back", r.Related[c].messages(), "full:")
	want(t, "report of b", p.pull(b, r.Related[b].ResultID).messages(), "unchanged:")
	p.change(a, 3, object("text", ""))
	r = p.pull(a, "")
	want(t, "related b, taken back", r.Related[b].messages(), "full:own")
	if len(p.pull(a, "").Related) != 0 {
		t.Error("nothing is related any more")
	}
}

// A client that takes no related documents, or has asked already, is told to ask again, once for all that happens at about the same time.
func TestPullRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := dial(t, &Server{Diagnose: linked, DidSave: func(ctx context.Context, d *Document) error {
			ClientFrom(ctx).Rediagnose("file:///b")
			ClientFrom(ctx).Rediagnose()
			return nil
		}})
		var asked atomic.Int32
		p.mux.HandleRequest(protocol.MethodWorkspaceDiagnosticRefresh, jsonrpc2.HandlerFunc(func(context.Context, *jsonrpc2.Request) (any, error) {
			asked.Add(1)
			return nil, nil
		}))
		p.start()
		p.init(aloneInit)
		p.open("file:///a", 1, "file:///b one")
		p.open("file:///b", 1, "")
		count := func(what string, n int32) {
			t.Helper()
			time.Sleep(time.Second)
			synctest.Wait()
			if got := asked.Swap(0); got != n {
				t.Errorf("%s: asked to refresh %d times, want %d", what, got, n)
			}
		}
		if r := p.pull("file:///a", ""); r.Related != nil {
			t.Errorf("related documents %+v", r.Related)
		}
		count("related document", 1)
		p.pull("file:///a", "")
		count("nothing new", 0)
		p.notify("textDocument/didSave", object("textDocument", object("uri", "file:///a")))
		count("asked for", 1)
		p.notify("textDocument/didClose", object("textDocument", object("uri", "file:///a")))
		count("closed", 1)
		want(t, "report", p.pull("file:///b", "").messages(), "full:own")
	})
}

// workspacePulled asks for the workspace, with the ids of a result before, and returns the reports by URI, whether they came in parts or not.
func (p *peer) workspacePulled(before map[string]pulled, token bool) map[string]pulled {
	p.t.Helper()
	ids := []any{}
	for u, r := range before {
		ids = append(ids, object("uri", u, "value", r.ResultID))
	}
	params := object("previousResultIds", ids)
	if token {
		params["partialResultToken"] = "part"
	}
	var answer struct {
		Items []pulled `json:"items"`
	}
	p.call("workspace/diagnostic", params, &answer)
	if token && len(answer.Items) > 0 && !slices.ContainsFunc(answer.Items, func(r pulled) bool { return r.Kind == "" }) {
		p.t.Errorf("parts were wanted, the answer has %d", len(answer.Items))
	}
	all := map[string]pulled{}
	for _, r := range answer.Items {
		all[r.URI] = r
	}
	return all
}

// files is a workspace linter over texts by URI.
type files struct {
	mu    sync.Mutex
	texts map[string]string
	runs  int
}

func (f *files) set(u, text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if text == "-" {
		delete(f.texts, u)
		return
	}
	f.texts[u] = text
}

func (f *files) diagnose(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.runs++
	for u, text := range f.texts {
		var found []protocol.Diagnostic
		if text != "" {
			found = finding(text)
		}
		if err := ReportFor(ctx, uriOf(u), found...); err != nil {
			return err
		}
	}
	return nil
}

func reportsOf(all map[string]pulled) string {
	var lines []string
	for u, r := range all {
		v := "-"
		if r.Version != nil {
			v = fmt.Sprint(*r.Version)
		}
		lines = append(lines, strings.TrimPrefix(u, "file:///")+v+" "+r.messages())
	}
	slices.Sort(lines)
	return strings.Join(lines, " ")
}

func TestWorkspacePull(t *testing.T) {
	f := &files{texts: map[string]string{"file:///a": "A", "file:///b": "B", "file:///c": ""}}
	p := connect(t, &Server{
		Diagnose:          func(context.Context, *Document) ([]protocol.Diagnostic, error) { return finding("open"), nil },
		DiagnoseWorkspace: f.diagnose,
		DidSave:           func(ctx context.Context, _ *Document) error { ClientFrom(ctx).Rediagnose(); return nil },
	})
	if o := p.init(pullInit).Capabilities.DiagnosticProvider.(*protocol.DiagnosticOptions); !o.WorkspaceDiagnostics {
		t.Error("not announced")
	}
	p.open("file:///a", 7, "")
	one := p.workspacePulled(nil, false)
	want(t, "workspace", reportsOf(one), "a7 full:open b- full:B c- full:")
	two := p.workspacePulled(one, false)
	want(t, "workspace again", reportsOf(two), "a7 unchanged: b- unchanged: c- unchanged:")
	if f.runs != 1 {
		t.Errorf("%d runs, and nothing has changed", f.runs)
	}
	f.set("file:///b", "-")
	f.set("file:///d", "D")
	p.notify("textDocument/didSave", object("textDocument", object("uri", "file:///a")))
	three := p.workspacePulled(one, false)
	want(t, "workspace after a change", reportsOf(three), "a7 unchanged: b- full: c- unchanged: d- full:D")
	want(t, "one document of it", p.pull("file:///d", "").messages(), "full:D")
	p.notify("textDocument/didClose", object("textDocument", object("uri", "file:///a")))
	want(t, "workspace after a close", reportsOf(p.workspacePulled(three, false)), "a- full:A b- unchanged: c- unchanged: d- unchanged:")
}

func TestWorkspacePullInParts(t *testing.T) {
	f := &files{texts: map[string]string{"file:///a": "A", "file:///b": "B"}}
	p := dial(t, &Server{DiagnoseWorkspace: f.diagnose})
	parts := make(chan pulled, 10)
	p.mux.HandleNotification(protocol.MethodProgress, jsonrpc2.HandlerFunc(func(_ context.Context, r *jsonrpc2.Request) (any, error) {
		var v struct {
			Token string `json:"token"`
			Value struct {
				Items []pulled `json:"items"`
			} `json:"value"`
		}
		if err := json.Unmarshal(r.Params(), &v); err != nil || v.Token != "part" {
			t.Errorf("progress %s: %v", r.Params(), err)
		}
		for _, item := range v.Value.Items {
			parts <- item
		}
		return nil, nil
	}))
	p.start()
	p.init(pullInit)
	if all := p.workspacePulled(nil, true); len(all) != 0 {
		t.Errorf("the answer has %v", all)
	}
	all := map[string]pulled{}
	for range 2 {
		r := receive(t, parts)
		all[r.URI] = r
	}
	want(t, "parts", reportsOf(all), "a- full:A b- full:B")
}

func TestReportForOutside(t *testing.T) {
	if err := ReportFor(context.Background(), "file:///a"); !errors.Is(err, ErrNoDiagnosis) {
		t.Errorf("outside: %v", err)
	}
	var late context.Context
	p := connect(t, &Server{Diagnose: func(ctx context.Context, _ *Document) ([]protocol.Diagnostic, error) {
		late = context.WithoutCancel(ctx)
		return nil, nil
	}})
	p.init(pullInit)
	p.open("file:///a", 1, "")
	p.pull("file:///a", "")
	if err := ReportFor(late, "file:///a"); !errors.Is(err, ErrNoDiagnosis) {
		t.Errorf("afterwards: %v", err)
	}
}
