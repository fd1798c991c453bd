package mcphttp

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// trusted is how much of a body is given memory for before any of it has come.
const trusted = 64 << 10

var (
	errTooLarge = errors.New("mcphttp: body over Options.MaxBody")
	errSlow     = errors.New("mcphttp: body took longer than Options.BodyTimeout")
)

// readBody reads a body to its end, which is also what lets the server see later that the client has gone. What it returns is nobody else's: handlers
// may keep parts of it.
func (h *Handler) readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength > int64(h.o.MaxBody) {
		return nil, errTooLarge
	}
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(h.o.BodyTimeout)) // a writer without deadlines has its own rules
	body, err := readAll(r.Body, r.ContentLength, h.o.MaxBody)
	if err == nil {
		// The deadline would end the stream of the answer too: the server reads on, to see the client leave.
		_ = rc.SetReadDeadline(time.Time{})
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = errSlow
	}
	return body, err
}

// readAll reads to the end, and not more than limit. n is how much is announced, -1 if nothing is.
func readAll(body io.Reader, n int64, limit int) ([]byte, error) {
	if n == 0 || body == nil {
		return nil, nil
	}
	size := min(n, trusted)
	if n < 0 {
		size = 2 << 10
	}
	b := make([]byte, 0, size+1) // and 1: the read that finds the end needs room
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
			b = append(make([]byte, 0, min(next, int64(limit)+1)), b...)
		}
	}
}
