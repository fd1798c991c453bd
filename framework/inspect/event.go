package inspect

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/logging"
)

// event is what the page is told: a message, or an entry of a batch, or something about them. Its names in JSON are short because there are a
// hundred thousand of them.
type event struct {
	Seq       uint64  `json:"s"`
	Kind      string  `json:"k"` // request, note, result, error, invalid, batch; timing, open, close, lost
	Millis    float64 `json:"t"` // since 1970
	Conn      string  `json:"c,omitempty"`
	Out       bool    `json:"o,omitempty"` // sent by the server
	Method    string  `json:"m,omitempty"`
	ID        string  `json:"i,omitempty"` // JSON text
	Cancels   string  `json:"x,omitempty"` // JSON text of the id of the request that this notification gives up
	Code      int64   `json:"e,omitempty"` // of an error
	Unit      uint64  `json:"u,omitempty"`
	Length    int     `json:"n,omitempty"`
	Text      string  `json:"d,omitempty"`
	Truncated bool    `json:"cut,omitempty"`
	Count     int     `json:"count,omitempty"` // of messages lost
	Queued    int64   `json:"q,omitempty"`     // ns
	Run       int64   `json:"r,omitempty"`     // ns
	Protocol  string  `json:"p,omitempty"`
	Client    string  `json:"a,omitempty"` // what the other side calls itself

	Cancel []logging.Cancel `json:"w,omitempty"` // how the protocol cancels
}

// eventSize is what an event takes beside its texts.
const eventSize = 264

func (e *event) size() int {
	return eventSize + len(e.Text) + len(e.Method) + len(e.ID) + len(e.Cancels) + len(e.Client)
}

// isMessage tells messages from what is said about them.
func (e *event) isMessage() bool {
	switch e.Kind {
	case "timing", "open", "close", "lost":
		return false
	}
	return true
}

const (
	maxName = 512 // bytes of a method or id that are shown
	maxPart = 256 // entries of a batch that are shown one by one
)

// events makes the events of a record. conventions are those of its connection.
func (p *Page) events(r *logging.Record, conventions []cancel.Convention) []event {
	e := event{Millis: float64(r.Time.UnixNano()) / float64(time.Millisecond), Conn: r.Connection}
	switch r.Kind {
	case logging.KindMessage:
		e.Out, e.Unit, e.Length = r.Direction == logging.Out, r.Unit, r.Length
		return p.messages(e, r, conventions)
	case logging.KindTiming:
		e.Kind, e.Unit, e.ID, e.Queued, e.Run = "timing", r.Unit, short(r.ID), int64(r.Queued), int64(r.Run)
	case logging.KindOpen:
		e.Kind, e.Protocol, e.Client, e.Cancel = "open", r.Protocol, r.Client, r.Cancel
	case logging.KindClose:
		e.Kind, e.Text = "close", r.Message
	case logging.KindDropped:
		e.Kind, e.Count, e.Length = "lost", r.Count, r.Length
	default:
		return nil
	}
	return []event{e}
}

// messages takes a message apart if it is a batch.
func (p *Page) messages(e event, r *logging.Record, conventions []cancel.Convention) []event {
	m, err := jsonrpc2.Inspect([]byte(r.Message), logging.MaxNesting)
	if err == nil && m.Kind == jsonrpc2.KindBatch {
		var parts []json.RawMessage
		if json.Unmarshal([]byte(r.Message), &parts) == nil && len(parts) <= maxPart {
			all := make([]event, 0, len(parts))
			for _, part := range parts {
				one := e
				one.Length = len(part)
				m, err := jsonrpc2.Inspect(part, logging.MaxNesting)
				p.describe(&one, &m, err, string(part), conventions)
				all = append(all, one)
			}
			return all
		}
	}
	e.Truncated = r.Truncated
	p.describe(&e, &m, err, r.Message, conventions)
	return []event{e}
}

// describe fills in what a message is.
func (p *Page) describe(e *event, m *jsonrpc2.Message, err error, text string, conventions []cancel.Convention) {
	e.Kind = "invalid"
	if err == nil {
		e.Method, e.ID = short(m.Method), short(m.ID.String())
		switch m.Kind {
		case jsonrpc2.KindRequest:
			e.Kind = "request"
		case jsonrpc2.KindNotification:
			e.Kind = "note"
			for _, c := range conventions {
				if c.Method != m.Method {
					continue
				}
				if id, ok := c.ID(m.Params); ok {
					e.Cancels = short(string(id))
				}
			}
		case jsonrpc2.KindResponse:
			e.Kind = "result"
			var body struct {
				Error *struct {
					Code json.Number `json:"code"`
				} `json:"error"`
			}
			if json.Unmarshal([]byte(text), &body) == nil && body.Error != nil {
				e.Kind = "error"
				e.Code, _ = body.Error.Code.Int64()
			}
		case jsonrpc2.KindBatch:
			e.Kind = "batch"
		}
	}
	if limit := p.o.MaxText; len(text) > limit {
		text, e.Truncated = strings.ToValidUTF8(text[:limit], ""), true
	}
	e.Text = strings.Clone(text) // not the whole of a message of which this is a part
}

// short bounds a name that a peer made up.
func short(s string) string {
	if len(s) > maxName {
		return strings.ToValidUTF8(s[:maxName], "") + "…"
	}
	return strings.Clone(s)
}
