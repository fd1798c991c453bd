package lsptest

import (
	"encoding/json"
	"slices"

	"go.lsp.dev/protocol"

	"github.com/tandem-rpc/tandem/lsp"
)

// Work is something that the server reports progress of (LSP 3.18, "Work Done Progress").
type Work struct {
	Token       protocol.ProgressToken
	Title       string
	Cancellable bool
	Reports     []Report // what begin said, if it said anything, and each report
	Ended       bool
	Message     string // of the end

	c *Client
	i int
}

// Report is one report of progress.
type Report struct {
	Message    string `json:"message"`
	Percentage *int   `json:"percentage"` // nil: not said
}

// notified takes a notification of the server. The lock is held.
func (c *Client) notified(m *message) {
	switch m.Method {
	case protocol.MethodTextDocumentPublishDiagnostics:
		c.published(m.Params)
	case protocol.MethodProgress:
		c.progressed(m.Params)
	}
}

func (c *Client) progressed(params json.RawMessage) {
	var p protocol.ProgressParams
	if lsp.Codec.Unmarshal(params, &p) != nil || p.Token == nil {
		return
	}
	var v struct {
		Report
		Kind        string `json:"kind"`
		Title       string `json:"title"`
		Cancellable bool   `json:"cancellable"`
	}
	_ = json.Unmarshal(p.Value, &v) // a partial result may be an array
	said := v.Report != Report{}
	switch v.Kind {
	case "begin":
		w := &Work{Token: p.Token, Title: v.Title, Cancellable: v.Cancellable, c: c, i: len(c.works)}
		if said {
			w.Reports = append(w.Reports, v.Report)
		}
		c.works = append(c.works, w)
	case "report", "end":
		for _, w := range slices.Backward(c.works) {
			if w.Token != p.Token || w.Ended {
				continue
			}
			if v.Kind == "end" {
				w.Ended, w.Message = true, v.Message
			} else {
				w.Reports = append(w.Reports, v.Report)
			}
			return
		}
	default:
		c.parts[p.Token] = append(c.parts[p.Token], json.RawMessage(p.Value))
	}
}

func (w *Work) snapshot() Work {
	s := *w
	s.Reports = slices.Clone(w.Reports)
	return s
}

// Works are those that the server has begun so far, in that order, as they are now.
func (c *Client) Works() []Work {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]Work, len(c.works))
	for i, w := range c.works {
		all[i] = w.snapshot()
	}
	return all
}

// Progress waits until work with that title has begun, and returns the newest of that title as it is now.
func (c *Client) Progress(title string) Work {
	c.t.Helper()
	var found Work
	c.await("progress of "+title, func() bool {
		for _, w := range slices.Backward(c.works) {
			if w.Title == title {
				found = w.snapshot()
				return true
			}
		}
		return false
	})
	return found
}

// Cancel is the user who gives the work up (window/workDoneProgress/cancel).
func (w Work) Cancel() {
	w.c.t.Helper()
	w.c.Notify(protocol.MethodWindowWorkDoneProgressCancel, &protocol.WorkDoneProgressCancelParams{Token: w.Token})
}

// End waits for the work to end and returns it as it is then.
func (w Work) End() Work {
	w.c.t.Helper()
	var ended Work
	w.c.await("end of "+w.Title, func() bool {
		ended = w.c.works[w.i].snapshot()
		return ended.Ended
	})
	return ended
}

// Partial are the partial results that have come so far under a partialResultToken.
func (c *Client) Partial(token protocol.ProgressToken) []json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.parts[token])
}
