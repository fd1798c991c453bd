package lsptest

import (
	"context"
	"embed"
	"encoding/json"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/lsp"
)

// DefaultTimeout is how long anything may take where [Options.Timeout] does not say so.
const DefaultTimeout = 30 * time.Second

// Preset is an editor whose capabilities a [Client] declares, as they stand in the initialize request of that editor.
type Preset string

// The presets.
const (
	VSCode  Preset = "vscode"  // VS Code 1.139: pulls diagnostics, registers dynamically, counts in UTF-16
	Neovim  Preset = "neovim"  // Neovim 0.12: pulls diagnostics, likes UTF-8 best
	Helix   Preset = "helix"   // Helix 25.07: pulls diagnostics, registers little dynamically, likes UTF-8 best
	Eglot   Preset = "eglot"   // Eglot 1.17 in Emacs 30: is sent diagnostics, likes UTF-32 best
	Minimal Preset = "minimal" // a client that declares nothing, and so can be asked nothing
)

//go:embed presets/*.json
var presets embed.FS

// Options say what the client of a test is. The zero value is VS Code with nothing open.
type Options struct {
	// Preset is the editor to be. Empty: VSCode.
	Preset Preset
	// Capabilities, if set, changes what the preset declares.
	Capabilities func(*protocol.ClientCapabilities)
	// Encodings are the position encodings that the client offers, the best first, in place of the preset's. The Client counts in whatever the server
	// chooses.
	Encodings []protocol.PositionEncodingKind
	// Initialize, if set, changes the params of the initialize request, once all else is in them.
	Initialize func(*protocol.InitializeParams)
	// Folders are the folders that are open (workspace/workspaceFolders).
	Folders []protocol.WorkspaceFolder
	// Settings answer workspace/configuration, by section. A dot goes down into a map: {"editor": {"tab": 4}} has the sections "editor" and
	// "editor.tab". What is not there is answered with null. See [Client.Configure].
	Settings map[string]any
	// Files are texts that exist and are not open. Edits of the server may change them, see [Client.File].
	Files map[uri.URI]string
	// Choose is what the user does when asked something (window/showMessageRequest): the title of the button, "" for none. Nil: the user presses none.
	// See [Picks].
	Choose func(p *protocol.ShowMessageRequestParams) string
	// Answer has handlers for requests of the server, by method, in place of what the client does by itself. params are raw. An error that is a
	// *[jsonrpc2.Error] is the answer.
	//
	// [jsonrpc2.Error]: https://pkg.go.dev/github.com/tandem-rpc/tandem/jsonrpc2#Error
	Answer map[string]func(ctx context.Context, params json.RawMessage) (any, error)
	// Lenient lets the server do what the client has not declared that it can. Otherwise that fails the test, as it would fail in the editor.
	Lenient bool
	// Report is told what goes wrong in the server without the client being told, panics above all. Nil: that fails the test.
	Report func(error)
	// Redact, if set, has the last word about every line of [Client.Text].
	Redact func(line string) string
	// Timeout bounds everything that is waited for. 0 is [DefaultTimeout].
	Timeout time.Duration
	// Manual leaves the handshake to the test: New sends nothing, and Close only closes the connection.
	Manual bool
}

func (o *Options) fill() {
	if o.Preset == "" {
		o.Preset = VSCode
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
}

// Params returns the params of the initialize request that a client with these Options sends.
func (o Options) Params() (*protocol.InitializeParams, error) {
	o.fill()
	b, err := presets.ReadFile("presets/" + string(o.Preset) + ".json")
	if err != nil {
		return nil, err
	}
	var preset struct {
		ClientInfo   protocol.ClientInfo         `json:"clientInfo"`
		Locale       *string                     `json:"locale"`
		Capabilities protocol.ClientCapabilities `json:"capabilities"`
	}
	if err := lsp.Codec.Unmarshal(b, &preset); err != nil {
		return nil, err
	}
	p := &protocol.InitializeParams{ClientInfo: preset.ClientInfo, Locale: preset.Locale, Capabilities: preset.Capabilities}
	if len(o.Encodings) > 0 {
		if p.Capabilities.General == nil {
			p.Capabilities.General = new(protocol.GeneralClientCapabilities)
		}
		p.Capabilities.General.PositionEncodings = o.Encodings
	}
	if len(o.Folders) > 0 {
		p.WorkspaceFolders = protocol.NewNullable(o.Folders)
		p.RootURI = &o.Folders[0].URI //lint:ignore SA1019 editors still send it
	}
	if o.Capabilities != nil {
		o.Capabilities(&p.Capabilities)
	}
	if o.Initialize != nil {
		o.Initialize(p)
	}
	return p, nil
}

// Picks is a script for [Options.Choose]: the user presses one button after the other, "" for none, and then none any more.
func Picks(titles ...string) func(*protocol.ShowMessageRequestParams) string {
	next := make(chan string, len(titles))
	for _, s := range titles {
		next <- s
	}
	return func(*protocol.ShowMessageRequestParams) string {
		select {
		case s := <-next:
			return s
		default:
			return ""
		}
	}
}
