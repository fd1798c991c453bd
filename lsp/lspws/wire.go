package lspws

import (
	"bufio"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// chunkSize is how much must get through within Options.Stall: a large message on a slow line is no stall.
const chunkSize = 64 << 10

// wire is the connection below the socket. It knows whether anything moves.
type wire struct {
	net.Conn
	stall    time.Duration
	received atomic.Int64
	writing  atomic.Bool
}

func (w *wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	w.received.Add(int64(n))
	return n, err
}

// Write is called by one goroutine at a time.
func (w *wire) Write(p []byte) (int, error) {
	w.writing.Store(true)
	defer w.writing.Store(false)
	done := 0
	for {
		if w.stall > 0 {
			if err := w.SetWriteDeadline(time.Now().Add(w.stall)); err != nil {
				return done, err
			}
		}
		n, err := w.Conn.Write(p[done:min(done+chunkSize, len(p))])
		if done += n; err != nil || done == len(p) {
			return done, err
		}
	}
}

// hijacker lays a wire under the socket that is made of a request.
type hijacker struct {
	http.ResponseWriter
	stall time.Duration
	wire  *wire
}

// Hijack implements [http.Hijacker].
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	h.wire = &wire{Conn: c, stall: h.stall}
	return h.wire, bufio.NewReadWriter(rw.Reader, bufio.NewWriterSize(h.wire, 16<<10)), nil
}
