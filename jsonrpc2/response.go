package jsonrpc2

import (
	"bytes"
	"fmt"
	"strconv"
)

// PeerError is what [Options.Report] gets for an error of the other side that names no request of ours: it could not read an id (JSON-RPC 2.0 section
// 5), so something we sent did not arrive as it should.
type PeerError struct{ Err *Error }

// Error returns the code; the message is the peer's text and stays in Err.
func (e *PeerError) Error() string {
	return "jsonrpc2: the peer reports an error without an id, code " + strconv.FormatInt(int64(e.Err.Code), 10)
}

// Unwrap returns Err.
func (e *PeerError) Unwrap() error { return e.Err }

// deliver gives a response to the call that waits for it.
func (c *Conn) deliver(e *envelope) {
	if e.idNull || e.id == nil {
		if err, ok := parseError(e.err); ok && !e.malformed {
			c.c.report(c.base, nil, &PeerError{err})
			return
		}
		c.c.report(c.base, nil, errStrayResponse)
		return
	}
	p, known := c.takeCall(e.id)
	switch {
	case p == nil:
		if !known {
			c.c.report(c.base, nil, errStrayResponse)
		}
	case e.malformed:
		p.fail(fmt.Errorf("%w: %s", ErrInvalidResponse, e.bad))
	case e.err != nil:
		err, ok := parseError(e.err)
		if !ok {
			p.fail(fmt.Errorf("%w: error needs an integer code and a string message", ErrInvalidResponse))
			return
		}
		p.fail(err)
	default:
		p.settle(bytes.Clone(e.result), nil)
	}
}

// deliverInvalid fails the call that an invalid message seems to answer. It returns false if the message is none of that kind, and is owed an answer.
func (c *Conn) deliverInvalid(e *envelope) bool {
	if e.id != nil && (e.response || e.bare) {
		if p, _ := c.takeCall(e.id); p != nil {
			p.fail(fmt.Errorf("%w: %s", ErrInvalidResponse, e.bad))
			return true
		}
	}
	if e.response {
		c.c.report(c.base, nil, &UnitError{Reason: e.bad})
	}
	return e.response
}

// takeCall takes the call with that id out of the table. known is whether there ever was one.
func (c *Conn) takeCall(raw []byte) (p *Pending, known bool) {
	if !idKeyIsRaw(raw) {
		raw = appendIDKey(nil, raw)
	}
	id, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if p = c.calls[id]; p != nil {
		delete(c.calls, id)
	}
	return p, id > 0 && id <= c.lastID
}

// oldestCall returns the call that waits longest. The lock is held.
func (c *Conn) oldestCall() *Pending {
	var oldest *Pending
	for _, p := range c.calls {
		if oldest == nil || p.id < oldest.id {
			oldest = p
		}
	}
	return oldest
}

// parseError reads an error object: code and message are needed, members match exactly.
func parseError(raw []byte) (*Error, bool) {
	if len(raw) == 0 || raw[0] != '{' {
		return nil, false
	}
	e := new(Error)
	var code, message bool
	for name, value := range members(raw) {
		switch Unquote(name) {
		case "code":
			key := value
			if !idKeyIsRaw(value) && value[0] != '"' {
				key = appendIDKey(nil, value)
			}
			n, err := strconv.ParseInt(string(key), 10, 64)
			if err != nil {
				return nil, false
			}
			e.Code, code = Code(n), true
		case "message":
			if value[0] != '"' {
				return nil, false
			}
			e.Message, message = Unquote(value[1:len(value)-1]), true
		case "data":
			if string(value) != "null" {
				e.Data = bytes.Clone(value)
			}
		}
	}
	return e, code && message
}
