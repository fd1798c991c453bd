package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/internal/notes"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/lsp"
)

const (
	source  = "notes" // of the diagnostics
	reindex = "notes.reindex"
)

// demo is the server's state: one workspace of notes, for all connections.
type demo struct {
	mu sync.Mutex // held while the workspace is being opened
	w  atomic.Pointer[folder]

	unread atomic.Bool // the folder could not be read
}

func (d *demo) use(w *notes.Workspace) { d.w.Store(&folder{w}) }

func (d *demo) close() {
	if f := d.w.Load(); f != nil {
		_ = f.Close() // it was only read
	}
}

func (d *demo) server() *lsp.Server {
	return &lsp.Server{
		Name:        "demo-lsp",
		Version:     "0.1.0",
		Initialize:  d.initialize,
		Initialized: d.initialized,
		Diagnose:    d.diagnose,
		DidClose:    d.didClose,
		Hover:       d.hover,
		Definition:  d.definition,
		Commands: map[string]func(context.Context, []json.RawMessage) (any, error){
			reindex: d.reindex,
		},
	}
}

// initialize opens the folder that the editor has open, unless there is a workspace already. A folder that cannot be read is no reason to refuse the
// session: its user hears of it, and nothing is checked.
func (d *demo) initialize(ctx context.Context, p *protocol.InitializeParams, _ *protocol.InitializeResult) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.w.Load() != nil {
		return nil
	}
	dir := rootDir(p)
	if dir == "" {
		d.use(notes.Sample())
		return nil
	}
	w, err := notes.OpenContext(ctx, dir, nil)
	if err != nil {
		if w, err = notes.New(nil, nil); err != nil {
			return err
		}
		d.unread.Store(true)
	}
	d.use(w)
	return nil
}

func (d *demo) initialized(ctx context.Context) error {
	if !d.unread.Load() {
		return nil
	}
	return lsp.ClientFrom(ctx).ShowMessage(ctx, protocol.MessageTypeWarning, "The folder of notes cannot be read: links are not checked.")
}

// rootDir is the path of the first folder on disk that the client names, "" for none.
func rootDir(p *protocol.InitializeParams) string {
	var uris []uri.URI
	if folders, ok := p.WorkspaceFolders.Get(); ok {
		for _, f := range folders {
			uris = append(uris, f.URI)
		}
	}
	//lint:ignore SA1019 there are clients that know no other way to name the folder
	if root := p.RootURI; root != nil {
		uris = append(uris, *root)
	}
	for _, u := range uris {
		if u.IsFile() && len(u.Path()) > 1 {
			return u.FsPath()
		}
	}
	return ""
}

// note returns the note that is the text of the document, parsed. Offsets in both are the same, as both hold valid UTF-8.
func (f *folder) note(d *lsp.Document) *notes.Note {
	p := f.path(d.URI())
	if n, ok := f.At(p); ok && n.Overlay && n.EditVersion == d.Version() && n.Text == d.Text() {
		return n
	}
	return notes.Parse(p, d.Text())
}

// diagnose puts the text over the file's in the workspace, so that other notes see it too, and lists what is wrong with it.
func (d *demo) diagnose(ctx context.Context, doc *lsp.Document) ([]protocol.Diagnostic, error) {
	f, client := d.w.Load(), lsp.ClientFrom(ctx)
	p := f.path(doc.URI())
	if !f.holds(p) {
		return nil, nil // links from nowhere lead nowhere
	}
	change, err := f.SetOverlay(p, doc.Text(), doc.Version())
	if err != nil {
		return nil, err
	}
	if client.Documents().ByKey(doc.Key()) == nil { // closed meanwhile, and didClose may have come before the overlay
		_, err := f.ClearOverlay(p)
		return nil, err
	}
	f.recheck(client, change)
	found := []protocol.Diagnostic{}
	for _, problem := range f.Check(change.New) {
		found = append(found, diagnostic(doc, problem))
	}
	return found, nil
}

func diagnostic(doc *lsp.Document, p notes.Problem) protocol.Diagnostic {
	out := protocol.Diagnostic{
		Range:    doc.Range(p.Span.Start, p.Span.End),
		Severity: protocol.DiagnosticSeverityWarning,
		Code:     protocol.String(p.Kind.String()),
		Message:  protocol.String(p.Message),
	}
	if !p.Kind.Broken() {
		out.Severity = protocol.DiagnosticSeverityHint
	}
	out.Source.Set(source)
	return out
}

// recheck has the open documents diagnosed whose links an edit elsewhere may have mended or broken.
func (f *folder) recheck(client *lsp.Client, change notes.Change) {
	var affected []uri.URI
	for _, p := range change.Affected {
		if doc := client.Documents().Document(f.uri(p)); doc != nil {
			affected = append(affected, doc.URI())
		}
	}
	if len(affected) > 0 {
		client.Rediagnose(affected...)
	}
}

func (d *demo) didClose(ctx context.Context, doc *lsp.Document) error {
	f := d.w.Load()
	p := f.path(doc.URI())
	if !f.holds(p) {
		return nil
	}
	change, err := f.ClearOverlay(p)
	if err != nil {
		return err
	}
	f.recheck(lsp.ClientFrom(ctx), change)
	return nil
}

// target finds the link at a position and where it leads.
func (d *demo) target(ctx context.Context, p *protocol.TextDocumentPositionParams) (f *folder, doc *lsp.Document, link notes.Link, t notes.Target, ok bool) {
	f = d.w.Load()
	doc = lsp.SnapshotFrom(ctx).Document(p.TextDocument.URI)
	if doc == nil {
		return f, nil, link, t, false
	}
	n := f.note(doc)
	if link, ok = n.LinkAt(doc.Offset(p.Position)); !ok {
		return f, doc, link, t, false
	}
	return f, doc, link, f.Resolve(n, link), true
}

func (d *demo) hover(ctx context.Context, p *protocol.HoverParams) (*protocol.Hover, error) {
	_, doc, link, t, ok := d.target(ctx, &p.TextDocumentPositionParams)
	if !ok {
		return nil, nil
	}
	var text string
	switch {
	case t.Err != nil:
		text = t.Err.Error()
	case t.Note != nil:
		text = notes.Preview(t.Note, t.Heading)
	case t.External:
		text = link.Dest
	default:
		text = t.Path
	}
	where := doc.Range(link.Span.Start, link.Span.End)
	return &protocol.Hover{Contents: lsp.Markdown(text), Range: &where}, nil
}

func (d *demo) definition(ctx context.Context, p *protocol.DefinitionParams) (protocol.DefinitionResult, error) {
	f, _, _, t, ok := d.target(ctx, &p.TextDocumentPositionParams)
	if !ok || t.Note == nil {
		return nil, nil
	}
	u, text := f.uri(t.Note.Path), t.Note.Text
	if open := lsp.SnapshotFrom(ctx).Document(u); open != nil {
		u, text = open.URI(), open.Text()
	}
	place := lsp.NewDocument(u, "markdown", 0, text, lsp.ClientFrom(ctx).Encoding())
	span := notes.Span{}
	switch {
	case t.Heading != nil:
		span = t.Heading.Span
	case t.Anchor != nil:
		span = t.Anchor.Span
	}
	return &protocol.Location{URI: u, Range: place.Range(span.Start, span.End)}, nil
}

// maxPause bounds the time that a command may be asked to dwell on each note.
const maxPause = time.Second

// reindex checks all notes and reports its progress. The argument {"pauseMs":N}, made for trying things out, has it dwell on each note.
func (d *demo) reindex(ctx context.Context, args []json.RawMessage) (any, error) {
	var options struct {
		PauseMs int `json:"pauseMs"`
	}
	if len(args) > 0 {
		if err := lsp.Codec.Unmarshal(args[0], &options); err != nil {
			return nil, jsonrpc2.Errorf(jsonrpc2.CodeInvalidParams, "%s: the argument is an object with the number pauseMs", reindex)
		}
	}
	pause := min(max(time.Duration(options.PauseMs)*time.Millisecond, 0), maxPause)
	f := d.w.Load()
	all := f.Notes()
	work := lsp.ClientFrom(ctx).Begin(ctx, lsp.Work{Title: "Checking notes", Percent: true, Cancellable: true})
	defer work.End("")
	ctx = work.Context()
	sum := struct {
		Notes  int `json:"notes"`
		Links  int `json:"links"`
		Broken int `json:"broken"`
	}{Notes: len(all)}
	for i, n := range all {
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
		sum.Links += len(n.Links)
		for _, p := range f.Check(n) {
			if p.Kind.Broken() {
				sum.Broken++
			}
		}
		work.Report(n.Path, 100*(i+1)/len(all))
	}
	work.End(fmt.Sprintf("%d notes, broken links: %d", sum.Notes, sum.Broken))
	return sum, nil
}

// sleep waits, unless the work is given up.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
