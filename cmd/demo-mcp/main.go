// Command demo-mcp is an MCP server for a folder of Markdown notes: an AI client can list, read, search and change them.
// Without -root it serves a small sample that is part of the program.
//
//	demo-mcp                  serve on standard input and output, as clients start it
//	demo-mcp -root DIR        serve the notes of DIR
//	demo-mcp -http :4391      serve HTTP on a port of this machine, at http://127.0.0.1:4391/mcp
//	demo-mcp -http :4391 -token-file FILE    serve those who have a token
//	demo-mcp -lsp :4389       serve editors as well, which can connect there: agents see what has not been saved, and their edits appear in the editor
//	demo-mcp -listen :4390    serve plain TCP, one message a line, on a port of this machine
//	demo-mcp -stats           print what was called how often, and the times, at the end
//	demo-mcp -try             start itself as a child, talk to it as a client would, and print the traffic
//
// For the other flags, those of every server made with the framework, see demo-mcp -help.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"

	"github.com/tandem-rpc/tandem/framework"
	"github.com/tandem-rpc/tandem/internal/agent"
	"github.com/tandem-rpc/tandem/internal/editor"
	"github.com/tandem-rpc/tandem/internal/notes"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

func main() { os.Exit(run()) }

func run() int {
	// Nearly all of the heap are notes, which stay; what does not stay gets half as much room again, and not as much again, as the runtime would have it.
	// For 10,000 notes that saves 25 MB at the peak and costs a tenth more processor time while they are read.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
	var c framework.Config
	fs := flag.NewFlagSet("demo-mcp", flag.ContinueOnError)
	root := fs.String("root", "", "serve the Markdown notes of `DIR`; without it, a sample")
	addr := fs.String("http", "", "serve HTTP on `ADDR`, HOST:PORT or PORT of this machine, at /mcp")
	tokens := fs.String("token-file", "", "with -http, serve only those who send a token of `FILE`: one a line, then a name and read-only if it is")
	lsp := fs.String("lsp", "", "also serve editors, on `ADDR`: HOST:PORT, PORT or unix:PATH; agents then see what is not saved there, and edit it there")
	try := fs.Bool("try", false, "start this server as a child, talk to it and print the traffic")
	if code, ok := c.Parse(fs, os.Args[1:]); !ok {
		return code
	}
	if *try {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		if err := tryServer(ctx, os.Stdout, *root); err != nil {
			fmt.Fprintln(os.Stderr, "demo-mcp:", err)
			return framework.ExitFailure
		}
		return 0
	}
	rt := &framework.Runtime{Options: jsonrpc2.Options{MaxFrame: editor.MaxFrame}}
	server, end, err := serve(rt, *root, *lsp)
	if err != nil {
		return fail(err)
	}
	defer end()
	switch {
	case *addr == "" && *tokens != "":
		fmt.Fprintln(os.Stderr, "demo-mcp: --token-file: needs --http")
		return framework.ExitUsage
	case *addr == "":
		return c.Run(context.Background(), rt, server)
	case c.Listen != "":
		fmt.Fprintln(os.Stderr, "demo-mcp: more than one way to serve: --http and --listen")
		return framework.ExitUsage
	}
	site, err := server.Site(*addr, *tokens)
	if err != nil {
		return fail(err)
	}
	c.Listen, rt.Web = *addr, site
	return c.Run(context.Background(), rt)
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "demo-mcp:", err)
	return framework.ExitFailure
}

// serve makes the server, and with an address for editors theirs beside it. end has to be called when all serving is over.
func serve(rt *framework.Runtime, root, editors string) (s *agent.Server, end func(), err error) {
	if editors == "" {
		o, err := begin(root)
		if err != nil {
			return nil, nil, err
		}
		s := agent.New(agent.Options{Name: "demo-mcp", Folders: o.folders})
		return s, o.follow(s), nil
	}
	d := editor.New("demo-mcp")
	s = d.Agents()
	if root != "" {
		if err := d.Open(context.Background(), root); err != nil {
			d.Close()
			return nil, nil, err
		}
	} else {
		d.ShowSample()
	}
	rt.Beside = []framework.Endpoint{{Address: editors, FrontEnds: []framework.FrontEnd{d.LSP()}}}
	return s, d.Close, nil
}

func open(root string) (*notes.Workspace, error) {
	if root == "" {
		return notes.Sample(), nil
	}
	return notes.Open(root, nil)
}

// An opening is a folder that is being read: clients that connect do not wait for that, their first question does.
type opening struct {
	root  string
	ready chan struct{} // closed when what follows is set
	w     *notes.Workspace
	err   error
}

// begin finds out whether there is a folder. What follow starts reads it.
func begin(root string) (*opening, error) {
	if root != "" {
		info, err := os.Stat(root)
		if err != nil {
			return nil, fmt.Errorf("open workspace: %w", err)
		}
		if !info.IsDir() {
			return nil, fmt.Errorf("open workspace: %q is no directory", root)
		}
	}
	return &opening{root: root, ready: make(chan struct{})}, nil
}

// folders waits until the folder has been read.
func (o *opening) folders(ctx context.Context) ([]agent.Folder, error) {
	select {
	case <-o.ready:
	default:
		select {
		case <-o.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if o.err != nil {
		return nil, o.err
	}
	return []agent.Folder{{Workspace: o.w}}, nil
}

// manyNotes is how many it takes for memory to be given back after they were read.
const manyNotes = 2000

// follow reads the folder and then tells the clients what changes in it, until stop is called.
func (o *opening) follow(s *agent.Server) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if o.root == "" {
			o.w = notes.Sample()
		} else {
			o.w, o.err = notes.OpenContext(ctx, o.root, nil)
		}
		close(o.ready)
		if o.err != nil {
			fmt.Fprintln(os.Stderr, "demo-mcp:", o.err)
			return
		}
		defer o.w.Close()
		if o.w.Len() > manyNotes {
			debug.FreeOSMemory() // of reading them
		}
		if err := o.w.Watch(ctx, func(changes []notes.Change) { s.Changed(o.w, changes...) }); err != nil {
			<-ctx.Done() // nothing can be watched
		}
	}()
	return func() { cancel(); <-done }
}
