package framework

import (
	"errors"
	"io"
	"time"
)

// noHeader guards a listener on which messages stand one a line. A web page can make a browser post to any local port, and the lines of an HTTP
// request are skipped as no JSON until the last one, its body, is served. Such a connection begins with a letter, which no message does.
type noHeader struct {
	io.ReadWriteCloser
	seen bool
}

var errHTTP = errors.New("framework: the input begins with a header or an HTTP request, not with a message; HTTP needs Runtime.Web")

func (g *noHeader) Read(p []byte) (int, error) {
	n, err := g.ReadWriteCloser.Read(p)
	if g.seen {
		return n, err
	}
	for _, b := range p[:max(0, n)] {
		switch {
		case b == ' ' || b == '\t' || b == '\r' || b == '\n':
			continue
		case 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z':
			return 0, errHTTP
		}
		g.seen = true
		break
	}
	return n, err
}

// SetWriteDeadline passes the deadline on, so that the connection can give up on a peer that does not read.
func (g *noHeader) SetWriteDeadline(t time.Time) error {
	if d, ok := g.ReadWriteCloser.(interface{ SetWriteDeadline(time.Time) error }); ok {
		return d.SetWriteDeadline(t)
	}
	return errors.ErrUnsupported
}

var _ io.ReadWriteCloser = (*noHeader)(nil)
