package mcphttp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"sync"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
)

// line is the traffic of one client, for who looks at it (Options.Session): that of a session, of requests without one that seem to come from one client, or what
// belongs to nobody. One after the other, and never two at once: what is a consequence of something comes after it. A nil *line does nothing.
type line struct {
	mu     sync.Mutex
	o      *jsonrpc2.Options
	end    func(error)
	units  uint64 // what was received
	closed bool
}

// StatelessID is what [Options.Session] is given for clients that have no session.
const StatelessID = "stateless"

// begin asks where it leads to. mu is held, so that nothing gets ahead of the beginning, and given back.
func (l *line) begin(h *Handler, id, client string) {
	defer l.mu.Unlock()
	defer func() { _ = recover() }()
	l.o, l.end = h.o.Session(id, client)
}

// inbound notes a message of the client and returns its number, from 1.
func (l *line) inbound(message []byte) uint64 {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.units++
	if l.o != nil && l.o.Tap != nil {
		defer func() { _ = recover() }()
		l.o.Tap.Inbound(message)
	}
	return l.units
}

// outbound notes a message to the client.
func (l *line) outbound(message []byte) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.o != nil && l.o.Tap != nil {
		defer func() { _ = recover() }()
		l.o.Tap.Outbound(message)
	}
}

// observe notes how long a message ran.
func (l *line) observe(e jsonrpc2.Event) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.o != nil && l.o.Observe != nil {
		defer func() { _ = recover() }()
		l.o.Observe(e)
	}
}

// gaveUp notes that the client has closed the response to a request, which cancels it since 2026-07-28, in the words that other transports have for it.
func (l *line) gaveUp(id string) {
	if l == nil {
		return
	}
	m, err := encodeMessage(0, mcp.Cancel.Method, json.RawMessage(mcp.Cancel.Params([]byte(id), "the client closed the response")))
	if err == nil {
		l.inbound(m)
	}
}

// close ends the line, once. why is nil when that is in good order.
func (l *line) close(why error) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.closed = true
	if l.end != nil {
		defer func() { _ = recover() }()
		l.end(why)
	}
}

// shortID is enough of a session's id to tell sessions apart, and nothing that could be used.
func shortID(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:4])
}

// clientOf returns what the client of a message says it is: in initialize, or since 2026-07-28 in every message. "": it does not say.
func clientOf(m *mcp.Message) string {
	if len(m.Params) == 0 {
		return ""
	}
	type named struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	var in struct {
		Info named `json:"clientInfo"`
		Meta struct {
			Info named `json:"io.modelcontextprotocol/clientInfo"`
		} `json:"_meta"`
	}
	if json.Unmarshal(m.Params, &in) != nil {
		return ""
	}
	n := in.Info
	if n.Name == "" {
		n = in.Meta.Info
	}
	text := n.Name
	if text != "" && n.Version != "" {
		text += " " + n.Version
	}
	return text
}

// seen says whose a message is. The first who says so is right.
func (p *post) seen(l *line) {
	if l != nil && p.line == nil {
		p.line, p.unit = l, l.inbound(p.payload)
	}
}

// stray is the line of what belongs to nobody.
func (h *Handler) stray() *line {
	if h.o.Session == nil {
		return nil
	}
	return h.lines.nobody(h)
}

// follow says that a message belongs to the session, whose line begins with the first.
func (s *session) follow(p *post) {
	if s.h.o.Session == nil {
		return
	}
	l := s.line.Load()
	if l == nil {
		l = new(line)
		l.mu.Lock()
		if s.line.CompareAndSwap(nil, l) {
			l.begin(s.h, shortID(s.id), clientOf(&p.m))
		} else {
			l = s.line.Load()
		}
	}
	p.seen(l)
}

var errIdle = errors.New("mcphttp: the session was idle, or lasted, for too long")

// unfollow ends the line of a session that has ended and does nothing any more.
func (s *session) unfollow(ended error) {
	l := s.line.Load()
	if l == nil {
		return
	}
	switch {
	case s.left.Load():
		ended = nil
	case errors.Is(ended, ErrSessionEnded):
		ended = errIdle
	}
	l.close(ended)
}
