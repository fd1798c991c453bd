package agent

import (
	"context"
	"sync"

	"github.com/tandem-rpc/tandem/internal/notes"
	"github.com/tandem-rpc/tandem/mcp"
)

// Folder is a workspace that is served. The notes of the first one are known by their slugs alone, those of others by @Name/slug.
type Folder struct {
	Name string
	*notes.Workspace
}

// Fixed are Folders that never change.
func Fixed(w *notes.Workspace) func(context.Context) ([]Folder, error) {
	return func(context.Context) ([]Folder, error) { return []Folder{{Workspace: w}}, nil }
}

// Editors are programs in which notes lie open: these are changed there and not in their files. The methods are called by many goroutines at once.
type Editors interface {
	// Settle returns when the workspaces have the texts that editors have sent so far.
	Settle(ctx context.Context) error
	// Apply makes edits of notes that have unsaved text, and gives one of them another path if move is not nil, all in one step that the user sees under
	// label. It returns when the workspace has the new text. The error says why the editor, or its user, refused.
	Apply(ctx context.Context, w *notes.Workspace, label string, edits []notes.NoteEdits, move *notes.Move) error
}

// Options are the settings of a Server.
type Options struct {
	Name string // the server's
	// Folders returns the folders there are now, when they are ready. With a context that has ended it returns those that are, and an error.
	Folders func(context.Context) ([]Folder, error)
	// Editors is nil where there are none.
	Editors Editors
	// OnChange is told what the server has changed in files. Nil: nobody is.
	OnChange func(w *notes.Workspace, changes []notes.Change)
}

// Server is the MCP server. Its methods may be called by many goroutines at once.
type Server struct {
	*mcp.Server
	o       Options
	tools   mcp.Toolbox
	prompts mcp.PromptSet

	mu sync.Mutex // of writes by this server: two agents take turns, and the second sees what the first did
}

// New makes a Server.
func New(o Options) *Server {
	s := &Server{o: o, Server: &mcp.Server{
		Name: o.Name, Title: "Notes", Version: "0.1.0",
		Instructions: "A folder of Markdown notes. Start with search or list_notes, then read_note. Slugs identify notes: the path without .md. " +
			"To change a note, give edit_note the version that read_note told; when somebody else was faster, it tells the current version and text. " +
			"Rename notes and headings with rename, which keeps links whole; check_links finds those that are broken.",
		PageSize:    maxListed,
		Logging:     true,
		ListChanged: true,
		Tasks:       &mcp.Tasks{Experimental: true},
	}}
	s.addTools()
	s.addEdits()
	s.addPrompts()
	s.tools.Attach(s.Server)
	s.prompts.Attach(s.Server)
	s.Server.Resources = s.list
	s.Server.Templates = templates
	s.Server.Reader = s.read
	s.Server.Subscriber = s.subscribe
	s.Server.Completer = s.complete
	return s
}

// Changed tells clients that notes have changed: those that have subscribed to one of them, and everybody where a note came, went, or has another title.
func (s *Server) Changed(w *notes.Workspace, changes ...notes.Change) {
	now, stop := context.WithCancel(context.Background())
	stop() // nobody has read the notes of a folder that is not ready
	folders, _ := s.o.Folders(now)
	for i, f := range folders {
		if f.Workspace != w {
			continue
		}
		listed := false
		for _, c := range changes {
			if text(c.Old) == text(c.New) && (c.Old == nil) == (c.New == nil) {
				continue // saved, say
			}
			s.Updated(uriOf(name(folders, i, notes.SlugOf(c.Path))))
			listed = listed || c.Old == nil || c.New == nil || c.Old.Title != c.New.Title
		}
		if listed {
			s.Server.Changed(mcp.Resources)
		}
	}
}

// FoldersChanged tells clients that there are other folders than before.
func (s *Server) FoldersChanged() { s.Server.Changed(mcp.Resources) }

func text(n *notes.Note) string {
	if n == nil {
		return ""
	}
	return n.Text
}
