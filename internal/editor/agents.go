package editor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/framework"
	"github.com/tandem-rpc/tandem/internal/agent"
	"github.com/tandem-rpc/tandem/internal/notes"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/lsp"
)

// joined is the Server as agents see it: the same workspaces over MCP, with what editors have not saved, and edits that go where people type.
type joined struct{ d *Server }

// Agents is the MCP server of the same notes. It must be called first before anybody connects.
func (d *Server) Agents() *agent.Server {
	if d.agents == nil {
		j := joined{d}
		d.agents = agent.New(agent.Options{Name: d.name, Folders: j.folders, Editors: j, OnChange: j.written})
	}
	return d.agents
}

// ShowSample has agents find the notes of the sample while no editor has anything open. It must be called before anybody connects.
func (d *Server) ShowSample() { d.showSample = true }

// Endpoints are places for agents beside an editor's connection: at each address HTTP and, where no token is asked for, messages one a line.
func (d *Server) Endpoints(addresses []string, tokenFile string) ([]framework.Endpoint, error) {
	if len(addresses) == 0 && tokenFile != "" {
		return nil, errors.New("a token file is of no use without an address for agents")
	}
	var out []framework.Endpoint
	for _, address := range addresses {
		site, err := d.Agents().Site(address, tokenFile)
		if err != nil {
			return nil, err
		}
		e := framework.Endpoint{Address: address, Web: site}
		if tokenFile == "" {
			e.FrontEnds = []framework.FrontEnd{d.Agents()}
		}
		out = append(out, e)
	}
	return out, nil
}

// folders are those that editors have open, and the directories of files that were opened alone; and the sample while one of its notes is, or as ShowSample says. It waits until they
// have been read, or ctx ends.
func (j joined) folders(ctx context.Context) ([]agent.Folder, error) {
	d := j.d
	d.mu.Lock()
	open, loose := slices.Clone(d.folders), slices.Clone(d.loose)
	if len(d.sample.open) > 0 || d.showSample && len(open)+len(loose) == 0 {
		loose = append(loose, d.sample)
	}
	d.mu.Unlock()
	byDir := func(a, b *folder) int { return cmp.Compare(a.dir, b.dir) }
	slices.SortFunc(open, byDir)
	slices.SortFunc(loose, byDir)
	var out []agent.Folder
	names := map[string]int{}
	for _, f := range append(open, loose...) {
		if err := f.wait(ctx); err != nil {
			return out, err
		}
		name := "sample"
		if f.dir != "" {
			name = filepath.Base(f.dir)
		}
		if names[name]++; names[name] > 1 {
			name = fmt.Sprintf("%s-%d", name, names[name])
		}
		out = append(out, agent.Folder{Name: name, Workspace: f.Workspace})
	}
	return out, nil
}

// Settle implements [agent.Editors].
func (j joined) Settle(ctx context.Context) error { return j.d.settleAll(ctx) }

// written has the editors look again at what an agent's change of files concerns.
func (j joined) written(w *notes.Workspace, changes []notes.Change) {
	if f := j.folder(w); f != nil {
		j.d.refresh(f, changes...)
	}
}

func (j joined) folder(w *notes.Workspace) *folder {
	j.d.mu.Lock()
	defer j.d.mu.Unlock()
	for _, f := range slices.Concat(j.d.folders, j.d.loose, []*folder{j.d.sample}) {
		select {
		case <-f.ready:
			if f.Workspace == w {
				return f
			}
		default:
		}
	}
	return nil
}

// textTime is how long an editor may take to send the text that it has made.
const textTime = 20 * time.Second

// Apply implements [agent.Editors]. Each note is edited in the editor that touched it last.
func (j joined) Apply(ctx context.Context, w *notes.Workspace, label string, edits []notes.NoteEdits, move *notes.Move) error {
	f := j.folder(w)
	if f == nil {
		return errors.New("the folder has been closed in the editor")
	}
	type part struct {
		v     *view
		edits []notes.NoteEdits
		files []protocol.DocumentChange
	}
	var parts []*part
	in := func(n string) (*part, error) {
		c := j.editor(f, n)
		if c == nil {
			return nil, fmt.Errorf("the note %q has just been closed in the editor; try again", n)
		}
		for _, p := range parts {
			if p.v.client == c {
				return p, nil
			}
		}
		p := &part{v: &view{folder: f, client: c, docs: c.Documents()}}
		parts = append(parts, p)
		return p, nil
	}
	for _, e := range edits {
		p, err := in(e.Note.Path)
		if err != nil {
			return err
		}
		p.edits = append(p.edits, e)
	}
	if move != nil {
		p, err := in(move.From)
		if err != nil {
			return err
		}
		n, _ := f.At(move.From)
		if err := p.v.renamable(notes.Subject{Kind: notes.NoteSubject, Note: n}); err != nil {
			return reason(err)
		}
		p.files = append(p.files, p.v.moveFile(n, move.To))
	}
	all := make([]protocol.WorkspaceEdit, len(parts))
	for i, p := range parts { // before anything is done: one may be impossible
		e, err := p.v.workspaceEdit(p.edits, p.files...)
		if err != nil {
			return reason(err)
		}
		all[i] = *e
	}
	for i, p := range parts {
		if err := p.v.client.ApplyEdit(ctx, label, all[i]); err != nil {
			return fmt.Errorf("the editor has not made the edit: %w", err)
		}
	}
	return j.arrived(ctx, f, edits, move)
}

// editor returns the editor that touched a note last, of those that have it open.
func (j joined) editor(f *folder, path string) *client {
	d := j.d
	d.mu.Lock()
	defer d.mu.Unlock()
	s := f.open[path]
	if s == nil {
		return nil
	}
	for _, lc := range slices.Backward(s.holders) {
		if c := d.clients[lc]; c != nil && lc.Documents().ByKey(s.key) != nil {
			return c
		}
	}
	return nil
}

// arrived waits until the workspace has what the editors were asked to make. Editors may say that they have done it before they send the new text.
func (j joined) arrived(ctx context.Context, f *folder, edits []notes.NoteEdits, move *notes.Move) error {
	ctx, stop := context.WithTimeoutCause(ctx, textTime, errors.New("the editor has agreed to the edit and not sent the new text"))
	defer stop()
	for _, e := range edits {
		path, want := e.Note.Path, e.Apply()
		if move != nil && path == move.From {
			path = move.To
		}
		for {
			bell := j.d.bell()
			if err := j.d.settleAll(ctx); err != nil {
				return context.Cause(ctx)
			}
			if n, ok := f.At(path); ok && n.Text == want {
				break
			}
			select {
			case <-bell:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	return nil
}

// reason makes an error that was meant for an editor one for a model.
func reason(err error) error {
	if errors.Is(err, lsp.ContentModified) {
		return errors.New("the note is being edited right now: read it again")
	}
	if e, ok := errors.AsType[*jsonrpc2.Error](err); ok {
		return errors.New(e.Message)
	}
	return err
}
