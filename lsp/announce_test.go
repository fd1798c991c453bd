package lsp

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"
)

// everything returns a Server with every function of the routing table set to one that does nothing.
func everything() *Server {
	s := &Server{
		Commands:        map[string]func(context.Context, []json.RawMessage) (any, error){"b": nil, "a": nil},
		DidSave:         func(context.Context, *Document) error { return nil },
		DidOpenNotebook: func(context.Context, *Notebook) error { return nil },
	}
	s.Options.Completion.TriggerCharacters = []string{"["}
	s.Options.SignatureHelp.TriggerCharacters = []string{"("}
	s.Options.OnTypeFormatting = protocol.DocumentOnTypeFormattingOptions{FirstTriggerCharacter: "}", MoreTriggerCharacter: []string{";"}}
	s.Options.SemanticTokens.Legend.TokenTypes = []string{"link"}
	v := reflect.ValueOf(s).Elem()
	for i := range routes() {
		if field := routes()[i].serve.field; field != "" {
			f := v.FieldByName(field)
			f.Set(reflect.MakeFunc(f.Type(), func([]reflect.Value) []reflect.Value {
				var out []reflect.Value
				for o := range f.Type().NumOut() {
					out = append(out, reflect.Zero(f.Type().Out(o)))
				}
				return out
			}))
		}
	}
	return s
}

// announced returns what a Server announces to a client, as JSON, and what it registers.
func announced(t *testing.T, s *Server, init string) (string, []protocol.Registration) {
	t.Helper()
	sess := newSession(s)
	sess.client.raw = json.RawMessage(init)
	c, later, err := sess.announce()
	if err != nil {
		t.Fatal(err)
	}
	return string(encode(t, c)), later
}

func encode(t *testing.T, v any) json.RawMessage {
	t.Helper()
	b, err := Codec.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Everything at once: each capability with what the Server tells of it.
func TestAnnounceEverything(t *testing.T) {
	got, later := announced(t, everything(), ableInit)
	if len(later) != 0 {
		t.Errorf("registered %v without being asked to", later)
	}
	for _, want := range []string{
		`"hoverProvider":true`, `"completionProvider":{"triggerCharacters":["["],"resolveProvider":true}`, `"signatureHelpProvider":{"triggerCharacters":["("]}`,
		`"documentOnTypeFormattingProvider":{"firstTriggerCharacter":"}","moreTriggerCharacter":[";"]}`, `"renameProvider":{"prepareProvider":true}`,
		`"executeCommandProvider":{"commands":["a","b"]}`,
		`"semanticTokensProvider":{"legend":{"tokenTypes":["link"],"tokenModifiers":[]},"range":true,"full":{"delta":true}}`,
		`"codeActionProvider":{"resolveProvider":true}`, `"documentLinkProvider":{"resolveProvider":true}`, `"codeLensProvider":{"resolveProvider":true}`,
		`"inlayHintProvider":{"resolveProvider":true}`, `"workspaceSymbolProvider":{"resolveProvider":true}`, `"colorProvider":true`,
		`"callHierarchyProvider":true`, `"typeHierarchyProvider":true`, `"inlineCompletionProvider":true`, `"monikerProvider":true`,
		`"documentRangeFormattingProvider":{"rangesSupport":true}`,
		`"textDocumentSync":{"openClose":true,"change":2,"willSave":true,"willSaveWaitUntil":true,"save":true}`,
		`"notebookDocumentSync":{"notebookSelector":[{"notebook":"*"}]}`,
		`"diagnosticProvider":{"interFileDependencies":false,"workspaceDiagnostics":true}`,
		`"workspaceFolders":{"supported":true,"changeNotifications":true}`, `"didCreate":{"filters":[{"pattern":{"glob":"**/*"}}]}`,
		`"willDelete":{"filters":[{"pattern":{"glob":"**/*"}}]}`, `"textDocumentContent":{"schemes":[]}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in %s", want, got)
		}
	}
}

// Each function alone announces its own capability, or nothing where it only refines another one.
func TestAnnounceOneByOne(t *testing.T) {
	all := reflect.ValueOf(everything()).Elem()
	bare, _ := announced(t, new(Server), plainInit)
	if bare != `{"textDocumentSync":{"openClose":true,"change":2}}` {
		t.Errorf("nothing announces %s", bare)
	}
	silent := []string{
		"IncomingCalls", "OutgoingCalls", "Supertypes", "Subtypes", "DocumentLinkResolve", "CodeLensResolve", "InlayHintResolve", "CompletionResolve",
		"CodeActionResolve", "ColorPresentation", "PrepareRename", "WorkspaceSymbolResolve", "OnTypeFormatting", "RangesFormatting", "WorkspaceDiagnostic",
		"SemanticTokensDelta", "DidChangeWatchedFiles", // only registered
	}
	for _, rt := range routes() {
		if rt.serve.field == "" {
			continue
		}
		s := new(Server)
		reflect.ValueOf(s).Elem().FieldByName(rt.serve.field).Set(all.FieldByName(rt.serve.field))
		got, _ := announced(t, s, plainInit)
		if changed := got != bare; changed == slices.Contains(silent, rt.serve.field) {
			t.Errorf("%s alone announces %s", rt.serve.field, got)
		}
	}
}

func TestAnnounceOptions(t *testing.T) {
	yes := true
	hover := func(context.Context, *protocol.HoverParams) (*protocol.Hover, error) { return nil, nil }
	act := func(context.Context, *protocol.CodeActionParams) ([]protocol.CommandOrCodeAction, error) {
		return nil, nil
	}
	rename := func(context.Context, *protocol.RenameParams) (*protocol.WorkspaceEdit, error) { return nil, nil }
	complete := func(context.Context, *protocol.CompletionParams) (*protocol.CompletionList, error) { return nil, nil }
	kinds := Options{CodeAction: protocol.CodeActionOptions{CodeActionKinds: []protocol.CodeActionKind{protocol.CodeActionKindQuickFix}}}
	glob := protocol.FileOperationRegistrationOptions{Filters: []protocol.FileOperationFilter{{Pattern: protocol.FileOperationPattern{Glob: "**/*.md"}}}}
	tests := []struct {
		name string
		srv  *Server
		init string
		want string
	}{
		{"progress", &Server{Hover: hover, Options: Options{Hover: protocol.HoverOptions{WorkDoneProgressOptions: protocol.WorkDoneProgressOptions{WorkDoneProgress: &yes}}}},
			plainInit, `"hoverProvider":{"workDoneProgress":true}`},
		{"kinds of actions", &Server{CodeAction: act, Options: kinds}, ableInit, `"codeActionProvider":{"codeActionKinds":["quickfix"]}`},
		{"kinds for a client that knows only commands", &Server{CodeAction: act, Options: kinds}, plainInit, `"codeActionProvider":true`},
		{"rename for a client that cannot prepare", &Server{Rename: rename, PrepareRename: func(context.Context, *protocol.PrepareRenameParams) (protocol.PrepareRenameResult, error) {
			return nil, nil
		}}, plainInit, `"renameProvider":true`},
		{"completion", &Server{Completion: complete, Options: Options{Completion: protocol.CompletionOptions{
			AllCommitCharacters: []string{"."}, CompletionItem: &protocol.ServerCompletionItemOptions{LabelDetailsSupport: &yes},
		}}}, plainInit, `"completionProvider":{"allCommitCharacters":["."],"completionItem":{"labelDetailsSupport":true}}`},
		{"completion without options", &Server{Completion: complete}, plainInit, `"completionProvider":{}`},
		{"text with didSave", &Server{DidSave: func(context.Context, *Document) error { return nil }, Options: Options{DidSave: protocol.SaveOptions{IncludeText: &yes}}},
			plainInit, `"save":{"includeText":true}`},
		{"files", &Server{DidCreateFiles: func(context.Context, *protocol.CreateFilesParams) error { return nil }, Options: Options{DidCreateFiles: glob}},
			plainInit, `"fileOperations":{"didCreate":{"filters":[{"pattern":{"glob":"**/*.md"}}]}}`},
		{"command with progress", &Server{Commands: everything().Commands, Options: Options{ExecuteCommand: protocol.ExecuteCommandOptions{
			WorkDoneProgressOptions: protocol.WorkDoneProgressOptions{WorkDoneProgress: &yes},
		}}}, plainInit, `"executeCommandProvider":{"workDoneProgress":true,"commands":["a","b"]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, _ := announced(t, tt.srv, tt.init); !strings.Contains(got, tt.want) {
				t.Errorf("%s is missing in %s", tt.want, got)
			}
		})
	}
}

// With Options.Dynamic functions are registered instead, each where the client allows it, with its options and a selector.
func TestAnnounceDynamic(t *testing.T) {
	s := everything()
	s.Options.Dynamic = true
	markdown := "markdown"
	s.Options.Selector = protocol.DocumentSelector{&protocol.TextDocumentFilterLanguage{Language: markdown}}
	s.Options.Selectors = map[string]protocol.DocumentSelector{"textDocument/hover": {&protocol.TextDocumentFilterLanguage{Language: "go"}}}
	if got, later := announced(t, s, plainInit); len(later) != 0 || !strings.Contains(got, "hoverProvider") {
		t.Errorf("a client that cannot register is told %s", got)
	}
	got, later := announced(t, s, ableInit)
	if want := `{"textDocumentSync":{"openClose":true,"change":2,"willSave":true,"willSaveWaitUntil":true,"save":true},"workspace":{"workspaceFolders":{"supported":true,"changeNotifications":true}}}`; got != want {
		t.Errorf("announced\n%s, want\n%s", got, want)
	}
	options := map[string]string{}
	for _, r := range later {
		if options[r.Method] != "" {
			t.Errorf("%s is registered twice", r.Method)
		}
		options[r.Method] = string(r.RegisterOptions)
		rt := registrable(r.Method)
		if rt == nil {
			t.Errorf("%s is no method to register", r.Method)
			continue
		}
		v := reflect.New(reflect.TypeOf(rt.register))
		if err := Codec.Unmarshal(r.RegisterOptions, v.Interface()); err != nil {
			t.Errorf("%s: %s: %v", r.Method, r.RegisterOptions, err)
		}
	}
	for method, want := range map[string]string{
		"textDocument/hover":          `{"documentSelector":[{"language":"go"}]}`,
		"textDocument/completion":     `{"documentSelector":[{"language":"markdown"}],"resolveProvider":true,"triggerCharacters":["["]}`,
		"textDocument/semanticTokens": `{"documentSelector":[{"language":"markdown"}],"full":{"delta":true},"legend":{"tokenModifiers":[],"tokenTypes":["link"]},"range":true}`,
		"workspace/executeCommand":    `{"commands":["a","b"]}`,
		"workspace/symbol":            `{"resolveProvider":true}`,
		"workspace/willRenameFiles":   `{"filters":[{"pattern":{"glob":"**/*"}}]}`,
		"notebookDocument/sync":       `{"notebookSelector":[{"notebook":"*"}]}`,
		"textDocument/documentColor":  `{"documentSelector":[{"language":"markdown"}]}`,
	} {
		if options[method] != want {
			t.Errorf("%s is registered with %s, want %s", method, options[method], want)
		}
	}
}
