package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/logging"
)

// Session is one connection of a recording.
type Session struct {
	Process    string // that recorded it
	Connection string
	Protocol   string
	Client     string // what the client calls itself, where that is known
	Whole      bool   // nothing of it was dropped, cut, or left out because it was no JSON

	steps   []step
	cancels []logging.Cancel // how requests are given up

	lastIn, end time.Time // of the last message that the server received, and of the end, if it was seen
}

// hurried reports whether the end came so soon after a message to the server that nobody knows what the server would have done because of it. Where
// nobody knows when it was it came right after the last message.
func (s *Session) hurried(st *step, within time.Duration) bool {
	end := s.end
	if end.IsZero() {
		end = s.lastIn
	}
	return !st.at.IsZero() && end.Sub(st.at) < within
}

// step is a message of a session, or one of a batch that the server sent.
type step struct {
	in     bool // the server received it
	text   []byte
	parts  []part // of a batch; else one
	remark string // why it cannot be replayed
	at     time.Time
}

// part is a message on its own.
type part struct {
	kind   jsonrpc2.Kind
	id     string // JSON text
	method string
	text   []byte
}

// maxSessions is how many connections are read from one recording.
const maxSessions = 10_000

// Read reads the sessions of a recording, in the order in which they begin. Lines that cannot be read, as the last one of a process that was killed,
// are skipped. The errors are those of [logging.RecordReader], and of r.
func Read(r io.Reader) ([]*Session, error) {
	var all []*Session
	byName := map[[2]string]*Session{}
	for in := logging.NewRecordReader(r); ; {
		rec, err := in.Next()
		if _, ok := errors.AsType[*logging.LineError](err); ok {
			continue
		}
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("replay: %w", err)
		}
		if rec.Connection == "" {
			continue
		}
		key := [2]string{rec.Process, rec.Connection}
		s := byName[key]
		if s == nil || rec.Kind == logging.KindOpen {
			if len(all) == maxSessions {
				return nil, fmt.Errorf("replay: more than %d connections", maxSessions)
			}
			s = &Session{Process: rec.Process, Connection: rec.Connection, Protocol: rec.Protocol, Client: rec.Client, Whole: true}
			s.cancels = slices.Clone(rec.Cancel)
			byName[key] = s
			all = append(all, s)
		}
		switch rec.Kind {
		case logging.KindMessage:
			s.add(&rec)
		case logging.KindClose:
			s.end = rec.Time
		case logging.KindDropped:
			s.Whole = false
		}
	}
}

// givenUp returns the ids of the requests that the client cancelled.
func (s *Session) givenUp() map[string]bool {
	ids := map[string]bool{}
	for i := range s.steps {
		for _, one := range s.steps[i].parts {
			for _, c := range s.cancels {
				if s.steps[i].in && one.kind == jsonrpc2.KindNotification && one.method == c.Method {
					ids[string(member(one.text, []string{"params", c.Param}))] = true
				}
			}
		}
	}
	return ids
}

// Len is how many messages the session has.
func (s *Session) Len() int { return len(s.steps) }

func (s *Session) add(rec *logging.Record) {
	st := step{in: rec.Direction == logging.In, text: []byte(rec.Message), at: rec.Time}
	switch {
	case rec.Truncated:
		st.remark = "it was cut when it was recorded"
	case rec.Message == logging.Failed:
		st.remark = "it was no JSON"
	default:
		st.parts = split(st.text)
		if st.parts == nil {
			st.remark = "it is no message"
		}
	}
	s.Whole = s.Whole && st.remark == ""
	s.steps = append(s.steps, st)
	if st.in {
		s.lastIn = rec.Time
	}
}

// split takes a batch apart. It returns nil for what is no message.
func split(text []byte) []part {
	m, err := jsonrpc2.Inspect(text, logging.MaxNesting)
	switch {
	case err != nil:
		return nil
	case m.Kind != jsonrpc2.KindBatch:
		return []part{{m.Kind, m.ID.String(), m.Method, text}}
	}
	var raw []json.RawMessage
	if json.Unmarshal(text, &raw) != nil {
		return nil
	}
	parts := []part{}
	for _, one := range raw {
		if m, err := jsonrpc2.Inspect(one, logging.MaxNesting); err == nil {
			parts = append(parts, part{m.Kind, m.ID.String(), m.Method, one})
		}
	}
	return parts
}
