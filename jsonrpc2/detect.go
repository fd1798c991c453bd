package jsonrpc2

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// Detect finds out how the peer frames its messages, so that one address can serve both framings. It waits for the first byte that is not
// blank: a letter begins a header field, anything else that JSON can begin with begins a message on a line of its own. Blanks and a byte order
// mark before it are dropped.
//
// The stream it returns takes the place of rwc, which must not be read any more, and gives the bytes that Detect has read once again; closing
// it closes rwc. The error is io.EOF if the peer sent nothing, a [*FrameError] if what it sent is neither, else that of the read. Detect closes
// nothing and waits as long as the peer is silent: to give up, close rwc, or set its read deadline.
func Detect(rwc io.ReadWriteCloser) (Framing, io.ReadWriteCloser, error) {
	var (
		buf   [512]byte // a first request fits, mostly
		n     int       // bytes in buf
		seen  int       // bytes dropped
		empty int
	)
	for {
		got, err := rwc.Read(buf[n:])
		n += max(0, got)
		at, framing, verdict := sniff(buf[:n], seen == 0)
		switch {
		case verdict == known:
			return framing, &replay{ReadWriteCloser: rwc, first: append([]byte(nil), buf[at:n]...), err: err}, nil
		case verdict == unknown:
			return 0, nil, &FrameError{Reason: fmt.Sprintf("first byte 0x%02x begins neither a message nor a header", buf[at])}
		case errors.Is(err, io.EOF) && at < n:
			return 0, nil, &FrameError{Reason: "end of input inside the first character"}
		case errors.Is(err, io.EOF):
			return 0, nil, io.EOF
		case err != nil:
			return 0, nil, fmt.Errorf("read: %w", err)
		}
		if seen += at; seen > DefaultMaxHeader {
			return 0, nil, &FrameError{Reason: fmt.Sprintf("nothing but blanks in the first %d bytes", DefaultMaxHeader)}
		}
		n = copy(buf[:], buf[at:n])
		if empty++; got > 0 {
			empty = 0
		} else if empty == maxEmptyReads {
			return 0, nil, fmt.Errorf("read: %w", io.ErrNoProgress)
		}
	}
}

type verdict uint8

const (
	undecided verdict = iota
	known
	unknown
)

// sniff looks for the first byte that means something and returns where it is.
func sniff(p []byte, start bool) (at int, f Framing, v verdict) {
	const bom = "\xEF\xBB\xBF"
	if start {
		for at < len(p) && at < len(bom) && p[at] == bom[at] {
			at++
		}
		switch {
		case at == len(bom), at == 0:
		case at == len(p):
			return 0, 0, undecided
		default:
			return 0, 0, unknown
		}
	}
	for ; at < len(p); at++ {
		switch b := p[at]; {
		case b == ' ' || b == '\t' || b == '\r' || b == '\n':
		case 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z':
			return at, Header, known
		case b == '{' || b == '[' || b == '"' || b == '-' || '0' <= b && b <= '9':
			return at, Lines, known
		default:
			return at, 0, unknown
		}
	}
	return at, 0, undecided
}

// replay is a stream of which the beginning has been read already.
type replay struct {
	io.ReadWriteCloser
	first []byte
	err   error // came with the last of first
}

func (r *replay) Read(p []byte) (int, error) {
	if len(r.first) > 0 {
		n := copy(p, r.first)
		if r.first = r.first[n:]; len(r.first) == 0 {
			r.first = nil
			return n, r.err
		}
		return n, nil
	}
	if r.err != nil {
		return 0, r.err
	}
	return r.ReadWriteCloser.Read(p)
}

// SetWriteDeadline passes the deadline on, so that a connection can still give up on a peer that does not read.
func (r *replay) SetWriteDeadline(t time.Time) error { return setWriteDeadline(r.ReadWriteCloser, t) }
