package lsp

import (
	"context"
	"encoding/json"
	"iter"
	"maps"
	"slices"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// Notebook is an open notebook as of one version (LSP 3.18, "Notebook Document Synchronization"). It never changes. The text of a cell is a document like
// any other: [SnapshotFrom] has it under the cell's URI, its changes are told to DidOpen, DidChange and DidClose, and Diagnose looks at it. All methods may
// be called by many goroutines at once.
type Notebook struct {
	uri      uri.URI
	key      Key
	kind     string
	version  int32
	metadata json.RawMessage
	cells    []Cell
}

// Cell is one cell of a [Notebook]. Its raw members must not be changed.
type Cell struct {
	URI      uri.URI // of its document, as the client spells it
	Kind     protocol.NotebookCellKind
	Metadata json.RawMessage // an object; nil if there is none
	Summary  json.RawMessage // of its last execution (ExecutionSummary); nil if there is none
}

// URI returns the notebook's URI as the client spells it.
func (n *Notebook) URI() uri.URI { return n.uri }

// Key returns the key of the URI, for use in maps.
func (n *Notebook) Key() Key { return n.key }

// Type returns the type of the notebook, for example "jupyter-notebook".
func (n *Notebook) Type() string { return n.kind }

// Version returns the version number that the client gave to this state of the notebook. It grows with changes of cells and of their texts.
func (n *Notebook) Version() int32 { return n.version }

// Metadata returns the notebook's own metadata, an object, nil if there is none. It must not be changed.
func (n *Notebook) Metadata() json.RawMessage { return n.metadata }

// Len returns the number of cells.
func (n *Notebook) Len() int { return len(n.cells) }

// Cells yields the cells in their order, with their place.
func (n *Notebook) Cells() iter.Seq2[int, Cell] { return slices.All(n.cells) }

// Index returns the place of the cell with that URI, in any spelling, -1 if there is none.
func (n *Notebook) Index(cell uri.URI) int {
	k := KeyOf(cell)
	return slices.IndexFunc(n.cells, func(c Cell) bool { return KeyOf(c.URI) == k })
}

// notebooks is the set of open notebooks as of one moment. It never changes; nil is empty.
type notebooks struct {
	byKey  map[Key]*Notebook
	byCell map[Key]Key // from the key of a cell to that of its notebook
}

// NotebookFrom returns an open notebook by its URI, or by that of one of its cells, as of the place of the message that ctx belongs to; nil if there is none.
func NotebookFrom(ctx context.Context, u uri.URI) *Notebook {
	sc := scopeFrom(ctx)
	if sc == nil || sc.books == nil {
		return nil
	}
	k := KeyOf(u)
	if n := sc.books.byKey[k]; n != nil {
		return n
	}
	return sc.books.byKey[sc.books.byCell[k]]
}

// NotebooksFrom yields the notebooks that are open at the place of the message that ctx belongs to, in no particular order.
func NotebooksFrom(ctx context.Context) iter.Seq[*Notebook] {
	sc := scopeFrom(ctx)
	if sc == nil || sc.books == nil {
		return func(func(*Notebook) bool) {}
	}
	return maps.Values(sc.books.byKey)
}

// with returns a set with n in place of the notebook old, which may be nil; n is nil for a notebook that is closed.
func (b *notebooks) with(old, n *Notebook) *notebooks {
	next := &notebooks{byKey: map[Key]*Notebook{}, byCell: map[Key]Key{}}
	if b != nil {
		maps.Copy(next.byKey, b.byKey)
		maps.Copy(next.byCell, b.byCell)
	}
	if old != nil {
		delete(next.byKey, old.key)
		for _, c := range old.cells {
			delete(next.byCell, KeyOf(c.URI))
		}
	}
	if n != nil {
		next.byKey[n.key] = n
		for _, c := range n.cells {
			next.byCell[KeyOf(c.URI)] = n.key
		}
	}
	return next
}

func (b *notebooks) find(u uri.URI) *Notebook {
	if b == nil {
		return nil
	}
	return b.byKey[KeyOf(u)]
}
