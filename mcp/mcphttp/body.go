package mcphttp

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// trusted is how much of a body is given memory for before any of it has come.
const trusted = 64 << 10

var (
	errTooLarge = errors.New("mcphttp: body over Options.MaxBody")
	errSlow     = errors.New("mcphttp: body took longer than Options.BodyTimeout")
)

// slowBody makes the reading of a body fail that takes too long.
type slowBody struct {
	watched
	w   http.ResponseWriter
	cut bool
}

// readBody reads a body to its end, which is also what lets the server see later that the client has gone. Who has done with it may put it into the stock.
func (h *Handler) readBody(w http.ResponseWriter, r *http.Request, slow *slowBody) ([]byte, error) {
	if r.ContentLength > int64(h.o.MaxBody) {
		return nil, errTooLarge
	}
	*slow = slowBody{w: w}
	slow.owner = slow
	h.bodies.enter(&slow.watched, time.Now())
	body, err := h.stock.readAll(r.Body, r.ContentLength, h.o.MaxBody)
	h.bodies.leave(&slow.watched)
	if slow.cut {
		// The server reads on while the answer is written, to see the client leave: it must not find that deadline.
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
		if err != nil {
			err = errSlow
		}
	}
	return body, err
}

// overdue is called while the body is read, by the watch.
func (s *slowBody) overdue() {
	s.cut = true
	_ = http.NewResponseController(s.w).SetReadDeadline(time.Unix(1, 0)) // a writer without deadlines has its own rules
}

// readAll reads to the end, and not more than limit. n is how much is announced, -1 if nothing is.
func (s *stock) readAll(body io.Reader, n int64, limit int) ([]byte, error) {
	if n == 0 || body == nil {
		return nil, nil
	}
	var b []byte
	if n > trusted {
		b = s.get(int(n) + 1) // nothing is given for the promise
	}
	if b == nil {
		size := min(n, trusted)
		if n < 0 {
			size = 2 << 10
		}
		b = make([]byte, 0, size+1) // and 1: the read that finds the end needs room
	}
	for {
		k, err := body.Read(b[len(b):cap(b)])
		b = b[:len(b)+k]
		switch {
		case len(b) > limit:
			return nil, errTooLarge
		case err == io.EOF:
			return b, nil
		case err != nil:
			return nil, err
		case len(b) == cap(b):
			next := int64(cap(b)) * 2
			if n > 0 && len(b) > trusted {
				next = n + 1 // it is keeping its word
			}
			size := int(min(next, int64(limit)+1))
			larger := s.get(size)
			if larger == nil {
				larger = make([]byte, 0, size)
			}
			larger = append(larger, b...)
			s.put(b)
			b = larger
		}
	}
}
