package lsp

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// metaModel is what the machine-readable specification says of the methods of LSP 3.18.
type metaModel struct {
	Requests, Notifications []metaMethod
}

type metaMethod struct {
	Method, MessageDirection           string
	ClientCapability, ServerCapability string
	Params, Result                     *metaType
	PartialResult, RegistrationOptions *metaType
	RegistrationMethod                 string
}

type metaType struct {
	Kind, Name string
	Element    *metaType
	Items      []*metaType
}

// names are those of the structures that a type is made of.
func (t *metaType) names() []string {
	if t == nil {
		return nil
	}
	list := []string{}
	if t.Kind == "reference" {
		list = append(list, t.Name)
	}
	list = append(list, t.Element.names()...)
	for _, i := range t.Items {
		list = append(list, i.names()...)
	}
	return list
}

func readMetaModel(t *testing.T) (all []metaMethod, requests int) {
	t.Helper()
	raw, err := os.ReadFile("testdata/metaModel.facts.json")
	if err != nil {
		t.Fatal(err)
	}
	var m metaModel
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	if len(m.Requests) != 69 || len(m.Notifications) != 26 {
		t.Fatalf("%d requests and %d notifications", len(m.Requests), len(m.Notifications))
	}
	return append(m.Requests, m.Notifications...), len(m.Requests)
}

// Where the table says more than the specification's file does, or the same in another way.
var (
	serverPaths = map[string]string{ // the file names what contains it
		"textDocument/didChange":           "textDocumentSync.change",
		"textDocument/semanticTokens/full": "semanticTokensProvider.full",
		"notebookDocument/didOpen":         "notebookDocumentSync", // the file has none
		"typeHierarchy/supertypes":         "typeHierarchyProvider",
		"typeHierarchy/subtypes":           "typeHierarchyProvider",
	}
	clientPaths = map[string]string{
		"workspace/codeLens/refresh":            "workspace.codeLens.refreshSupport",
		"typeHierarchy/supertypes":              "textDocument.typeHierarchy",
		"typeHierarchy/subtypes":                "textDocument.typeHierarchy",
		"notebookDocument/didOpen":              "notebookDocument.synchronization",
		"notebookDocument/didChange":            "notebookDocument.synchronization",
		"notebookDocument/didSave":              "notebookDocument.synchronization",
		"notebookDocument/didClose":             "notebookDocument.synchronization",
		"workspace/didChangeWorkspaceFolders":   "workspace.workspaceFolders",
		"workspace/textDocumentContent/refresh": "workspace.textDocumentContent",
	}
	// Served by being part of another registration, or not registered although the file has options for it.
	registered = map[string]string{
		"textDocument/colorPresentation":    "", // by textDocument/documentColor
		"textDocument/semanticTokens/range": "SemanticTokensRegistrationOptions",
	}
	registeredUnder = map[string]string{"textDocument/rangesFormatting": "textDocument/rangeFormatting"}
	// Its first part would have to be the report itself.
	whole = "textDocument/diagnostic"
)

// The table has every method of the specification, once, with its direction and its capabilities; and nothing else.
func TestRoutesAreTheSpecification(t *testing.T) {
	methods, requests := readMetaModel(t)
	seen := map[string]bool{}
	for i, m := range methods {
		rt := byMethod()[m.Method]
		if rt == nil {
			t.Errorf("%s has no row", m.Method)
			continue
		}
		seen[m.Method] = true
		if got := rt.kind == request; got != (i < requests) {
			t.Errorf("%s: request %v", m.Method, got)
		}
		if got := []string{"clientToServer", "serverToClient", "both"}[rt.way]; got != m.MessageDirection {
			t.Errorf("%s goes %s, want %s", m.Method, got, m.MessageDirection)
		}
		check := func(what, got, want string, other map[string]string) {
			if w, ok := other[m.Method]; ok {
				if want != "" && what != "registration options" && !strings.HasPrefix(w, want) {
					t.Errorf("%s: %s %q is not part of %q", m.Method, what, w, want)
				}
				want = w
			}
			if got != want {
				t.Errorf("%s: %s %q, want %q", m.Method, what, got, want)
			}
		}
		check("client capability", rt.client, m.ClientCapability, clientPaths)
		check("server capability", rt.server, m.ServerCapability, serverPaths)
		check("registration method", rt.under, m.RegistrationMethod, registeredUnder)
		options := ""
		if rt.register != nil {
			options = reflect.TypeOf(rt.register).Name()
		}
		check("registration options", options, strings.Join(m.RegistrationOptions.names(), "&"), registered)
		if got, want := rt.streams, m.PartialResult != nil && m.Method != whole; got != want {
			t.Errorf("%s: partial results %v, want %v", m.Method, got, want)
		}
	}
	for _, rt := range routes() {
		if !seen[rt.method] {
			t.Errorf("%s is no method of the specification", rt.method)
		}
	}
	if len(routes()) != len(methods) {
		t.Errorf("%d rows for %d methods", len(routes()), len(methods))
	}
}

// Params, results and parts have the types that the specification says.
func TestRoutesHaveTheTypes(t *testing.T) {
	methods, _ := readMetaModel(t)
	v := reflect.TypeFor[Server]()
	for _, m := range methods {
		rt := byMethod()[m.Method]
		if rt == nil || rt.serve.field == "" {
			continue
		}
		f, _ := v.FieldByName(rt.serve.field)
		if got := f.Type.In(1).Elem().Name(); !slices.Contains(m.Params.names(), got) {
			t.Errorf("%s takes %s, want one of %v", m.Method, got, m.Params.names())
		}
		if !rt.streams {
			continue
		}
		want := []string{"SemanticTokens", "SemanticTokensPartialResult", "SemanticTokensDelta", "SemanticTokensDeltaPartialResult", "WorkspaceDiagnosticReportPartialResult"}
		parts := newPartsOf(f.Type.Out(0))
		if len(parts.byElem) == 0 {
			t.Errorf("%s: nothing can be streamed", m.Method)
		}
		for elem := range parts.byElem {
			name := elem.Name()
			if elem.Kind() == reflect.Uint32 || name == "SemanticTokensEdit" || name == "WorkspaceDocumentDiagnosticReport" {
				if !slices.ContainsFunc(m.PartialResult.names(), func(n string) bool { return slices.Contains(want, n) }) {
					t.Errorf("%s: parts of %s", m.Method, name)
				}
			} else if names := m.PartialResult.names(); !slices.Contains(names, name) && !(name == "CommandOrCodeAction" && slices.Contains(names, "CodeAction")) {
				t.Errorf("%s: parts of %s, want one of %v", m.Method, name, names)
			}
		}
	}
}

// Every row can be handled, or sent.
func TestRoutesLeadSomewhere(t *testing.T) {
	s := newSession(everything())
	for i := range routes() {
		rt := &routes()[i]
		if rt.way != toClient && rt.method != Cancel.Method && rt.handler(s) == nil {
			t.Errorf("%s is not handled", rt.method)
		}
		if rt.way != fromClient && (rt.send == nil || reflect.TypeOf(rt.send).Kind() != reflect.Func) {
			t.Errorf("nothing sends %s", rt.method)
		}
		if rt.way == fromClient && (rt.send != nil || rt.needs && rt.server == "") {
			t.Errorf("%s is sent by the client", rt.method)
		}
	}
	v := reflect.TypeFor[Server]()
	bound := map[string]bool{
		"Initialize": true, "Initialized": true, "Shutdown": true, "Reporter": true, "Extend": true, "Diagnose": true, "DiagnoseWorkspace": true,
		"DidOpen": true, "DidChange": true, "DidSave": true, "DidClose": true, "DidChangeConfiguration": true, "DidChangeWorkspaceFolders": true,
		"DidOpenNotebook": true, "DidChangeNotebook": true, "DidSaveNotebook": true, "DidCloseNotebook": true,
	}
	for _, rt := range routes() {
		bound[rt.serve.field] = true
	}
	for i := range v.NumField() {
		if f := v.Field(i); f.IsExported() && f.Type.Kind() == reflect.Func && !bound[f.Name] {
			t.Errorf("Server.%s has no row", f.Name)
		}
	}
	// A field of Options is named as the function it describes.
	own := map[string]bool{"Dynamic": true, "Selector": true, "Selectors": true}
	for _, rt := range routes() {
		own[rt.options], own[rt.serve.field] = true, true
	}
	o := reflect.TypeFor[Options]()
	for i := range o.NumField() {
		if !own[o.Field(i).Name] {
			t.Errorf("Options.%s describes nothing", o.Field(i).Name)
		}
	}
}

// Every request of the client gets through to its function.
func TestRoutesAreServed(t *testing.T) {
	p := connect(t, everything())
	p.init(ableInit)
	const all = `{"textDocument":{"uri":"file:///a"},"position":{"line":0,"character":0},"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},` +
		`"ranges":[],"positions":[],"item":{},"label":"","title":"","query":"","newName":"","ch":"","previousResultId":"","color":{},"files":[],"uri":"file:///a","name":"","location":{"uri":"file:///a"}`
	n := 0
	for _, rt := range routes() {
		if rt.kind != request || rt.way == toClient || rt.method == "initialize" || rt.method == "shutdown" {
			continue
		}
		n++
		params := all + `}`
		if rt.method == protocol.MethodWorkspaceSymbolResolve {
			params = all + `,"kind":1}`
		}
		err := p.try(rt.method, params, nil)
		if rt.method == protocol.MethodWorkspaceExecuteCommand {
			wantCode(t, err, jsonrpc2.CodeInvalidParams)
		} else if err != nil {
			t.Errorf("%s: %v", rt.method, err)
		}
	}
	requests, notifications := p.smux.Methods()
	if len(requests) != n+2 {
		t.Errorf("%d requests are registered, want %d", len(requests), n+2)
	}
	if len(notifications) != 20 {
		t.Errorf("%d notifications are registered: %v", len(notifications), notifications)
	}
}

// The orders that differ from the engine's, with the reason: initialize comes before everything; shutdown is answered, and work cancelled by its user, while
// everything else is stuck.
func TestOrders(t *testing.T) {
	want := map[string]jsonrpc2.Order{
		"initialize": jsonrpc2.Ordered, "shutdown": jsonrpc2.Immediate, "window/workDoneProgress/cancel": jsonrpc2.Immediate,
	}
	for _, rt := range routes() {
		if rt.order != want[rt.method] {
			t.Errorf("%s has order %d, want %d", rt.method, rt.order, want[rt.method])
		}
	}
}
