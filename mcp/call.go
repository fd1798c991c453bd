package mcp

import (
	"context"
	"errors"
	"math"
	"strconv"
	"sync"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// call is one request or notification of a hosted session. It is the context its handler gets, which saves an allocation and finds it again
// without a search.
type call struct {
	context.Context
	session *Session
	params  borrowed // of its request, for peek

	mu    sync.Mutex // held while a progress notification is on its way, so that none follows the end
	token string     // the progress token's exact text; "" if the client wants no progress, or no more
	last  float64
	sent  bool
}

type callKey struct{}

// Value implements context.Context.
func (c *call) Value(key any) any {
	if key == (callKey{}) {
		return c
	}
	return c.Context.Value(key)
}

func callFrom(ctx context.Context) *call {
	if c, ok := ctx.(*call); ok {
		return c
	}
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// revision is the one the session speaks, the newest where there is no session.
func (c *call) revision() revision {
	if c != nil {
		if t := c.session.terms.Load(); t != nil {
			return t.revision
		}
	}
	return newest
}

// name returns the string that raw is. Clients call few tools often, so the last name is kept.
func (c *call) name(raw []byte) (string, bool) {
	if c == nil {
		return stringValue(raw)
	}
	last := c.session.name.Load()
	if last != nil && len(raw) == len(*last)+2 && raw[0] == '"' && string(raw[1:len(raw)-1]) == *last {
		return *last, true
	}
	s, ok := stringValue(raw)
	if ok && len(s) <= maxName {
		c.session.name.Store(&s)
	}
	return s, ok
}

// arm takes the progress token out of _meta: a string or an integer, anything else is ignored (MCP progress).
func (c *call) arm(meta []byte) {
	if !isObject(meta) {
		return
	}
	var v [1][]byte
	if pick(meta, []string{"progressToken"}, v[:]) && isToken(v[0]) {
		c.mu.Lock()
		c.token = string(v[0])
		c.mu.Unlock()
	}
}

func isToken(raw []byte) bool {
	switch {
	case len(raw) == 0:
		return false
	case raw[0] == '"':
		return true
	case raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9':
		f, err := strconv.ParseFloat(string(raw), 64)
		return err == nil && f == math.Trunc(f)
	}
	return false
}

// finish disarms the call: whoever still holds its context reports to nobody.
func (c *call) finish() {
	c.mu.Lock()
	c.token = ""
	c.mu.Unlock()
}

// Progress tells the client how far the request that ctx belongs to has come (MCP progress): progress out of total, or of an unknown whole if
// total is not above 0, with an optional message for people. Nothing is sent, and nil returned, when the client did not ask for progress or
// the request is done or was cancelled, or the connection is ending; so tools need not ask. progress must increase with every call; one that does not, or is not finite,
// is dropped and [ErrProgress] returned. Progress may be called by many goroutines at once, and waits when the client reads too slowly.
func Progress(ctx context.Context, progress, total float64, message string) error {
	c := callFrom(ctx)
	if c == nil {
		return nil
	}
	if math.IsNaN(progress) || math.IsInf(progress, 0) || math.IsNaN(total) || math.IsInf(total, 0) {
		return ErrProgress
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	conn := c.session.conn.Load()
	if c.token == "" || conn == nil || c.Err() != nil {
		return nil
	}
	if c.sent && progress <= c.last {
		return ErrProgress
	}
	c.sent, c.last = true, progress
	p := append([]byte(`{"progressToken":`), c.token...)
	p = append(p, `,"progress":`...)
	p = appendFloat(p, progress)
	if total > 0 {
		p = append(p, `,"total":`...)
		p = appendFloat(p, total)
	}
	if message != "" && c.revision().progressMessage() {
		p = append(p, `,"message":`...)
		p = appendString(p, message)
	}
	return unlessClosed(conn.Notify(ctx, "notifications/progress", encoded(append(p, '}'))))
}

// unlessClosed drops the error of a connection that is ending: a tool goes on until its context ends, whether or not anybody listens.
func unlessClosed(err error) error {
	if errors.Is(err, jsonrpc2.ErrClosed) {
		return nil
	}
	return err
}

func appendFloat(dst []byte, f float64) []byte {
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return strconv.AppendInt(dst, int64(f), 10)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}

func appendInt(dst []byte, n int) []byte { return strconv.AppendInt(dst, int64(n), 10) }
