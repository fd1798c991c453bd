package jsonrpc2

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// Transport carries whole messages to and from one peer. [Open] makes one from a byte stream and [Pipe] a connected pair in memory; a WebSocket
// is a third kind, for which this interface is all that is needed.
//
// One goroutine at a time calls Read and one at a time calls Write, the two at the same time as each other. Close may be called at any time,
// by anyone, more than once, and makes a Read or a Write that waits return.
//
// A Transport may also have a method Buffered() int: how many bytes of input are already here, so that Read will not wait for them. A
// connection uses it to write the answers to a burst together.
type Transport interface {
	// Read returns the next message. The slice is the caller's until the next Read. At the end of the input, and after Close, the error is
	// io.EOF. A [*MessageError] concerns one message only and Read may be called again; after any other error it returns the same error.
	Read() ([]byte, error)
	// Write sends each frame as one message, in order. After an error the peer may have got a part of them, and nothing more can be sent. It
	// neither keeps nor changes the frames.
	Write(frames ...[]byte) error
	// Close ends both directions.
	Close() error
}

// Framing is how messages are told apart in a stream of bytes.
type Framing uint8

const (
	// Lines is one message a line, as in the stdio transport of MCP. Only LF ends a line and one CR before it does not count; blank lines are
	// skipped; the last line may lack its LF. Line breaks between the tokens of a message that is
	// written become spaces; within a string JSON does not allow them.
	Lines Framing = iota
	// Header is the base protocol of LSP 3.18: a block of header fields with Content-Length, an empty line, and so many bytes of message.
	Header
)

// String returns "lines" or "header".
func (f Framing) String() string {
	switch f {
	case Lines:
		return "lines"
	case Header:
		return "header"
	}
	return fmt.Sprintf("Framing(%d)", uint8(f))
}

// Open makes a [Transport] of a stream of bytes, such as a [net.Conn], or standard input and output joined by [Join]. It reads nothing before
// the first Read. Messages are limited to [DefaultMaxFrame] and header blocks to [DefaultMaxHeader] bytes until a [Conn] sets what its
// [Options] say.
//
// A byte order mark at the very start is skipped. A message that is too large is skipped without being stored, and Read returns a
// [*MessageError] as soon as it is known to be; messages after it are read. Where one message ends and the next begins can be lost, in the
// Header framing only: then Read returns a [*FrameError]. A message larger than 64 times the limit is taken for one of these cases. Memory
// for a message grows with the bytes that have come, not with the length that was announced.
//
// rwc may have a method SetWriteDeadline, as net.Conn and os.File do; a connection uses it to give up on a peer that does not read.
func Open(rwc io.ReadWriteCloser, f Framing) Transport {
	s := &stream{rwc: rwc, framing: f, need: -1}
	s.setLimits(limits{})
	return s
}

// Join makes one stream of two, for [Open] and [Detect]: what is read comes from r, what is written goes to w. Close closes those of the two
// that are an [io.Closer], w even when closing r has failed, and returns the first failure.
func Join(r io.Reader, w io.Writer) io.ReadWriteCloser { return &joined{r: r, w: w} }

type joined struct {
	r    io.Reader
	w    io.Writer
	once sync.Once
	err  error
}

func (j *joined) Read(p []byte) (int, error)  { return j.r.Read(p) }
func (j *joined) Write(p []byte) (int, error) { return j.w.Write(p) }

func (j *joined) Close() error {
	j.once.Do(func() {
		if c, ok := j.r.(io.Closer); ok {
			j.err = c.Close()
		}
		if c, ok := j.w.(io.Closer); ok {
			if err := c.Close(); j.err == nil {
				j.err = err
			}
		}
	})
	return j.err
}

func (j *joined) SetWriteDeadline(t time.Time) error { return setWriteDeadline(j.w, t) }

// setWriteDeadline sets the write deadline of w, or returns os.ErrNoDeadline if it cannot have one.
func setWriteDeadline(w any, t time.Time) error {
	if d, ok := w.(interface{ SetWriteDeadline(time.Time) error }); ok {
		return d.SetWriteDeadline(t)
	}
	return os.ErrNoDeadline
}

// FrameError says that framing is lost: it cannot be known where the next message begins. Nothing more can be read from the stream. It wraps
// [io.ErrUnexpectedEOF] where the input ended inside a message.
type FrameError struct {
	Header  string // the header field at fault, as in "Content-Length"; the peer's spelling of an unknown one is quoted, and cut to 64 bytes
	Reason  string // what is wrong, without any text of the peer
	Missing int64  // bytes of the body that did not come before the end of the input
	Length  int64  // bytes of the body that were announced, if Missing is above 0
}

// Error names the header field or the missing bytes: "header Content-Length: negative", "end of input inside the body: 17 of 107 bytes missing".
func (e *FrameError) Error() string {
	switch {
	case e.Missing > 0:
		return fmt.Sprintf("%s: %d of %d bytes missing", e.Reason, e.Missing, e.Length)
	case e.Header != "":
		return "header " + e.Header + ": " + e.Reason
	}
	return e.Reason
}

// Unwrap returns io.ErrUnexpectedEOF if the input ended too early, else nil.
func (e *FrameError) Unwrap() error {
	if e.Missing > 0 || e.Reason == endInHeader {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// MessageError says that one message was refused and skipped before it was looked at; the next one can be read. It is answered with an error
// that has this Code, Reason as its message, and id null (JSON-RPC 2.0 section 5: the id could not be read).
type MessageError struct {
	Code   Code   // CodeInvalidRequest
	Reason string // for the wire: "Message too large", "Invalid Request"
	Detail string // for the log: what was wrong, without any text of the peer
	Limit  int    // bytes that a message may have, if this one had more; else 0
}

// Error returns the reason and the detail.
func (e *MessageError) Error() string { return e.Reason + ": " + e.Detail }

func tooLarge(max int) *MessageError {
	return &MessageError{CodeInvalidRequest, "Message too large", fmt.Sprintf("over the limit of %d bytes", max), max}
}

func foreignCharset() *MessageError {
	return &MessageError{Code: CodeInvalidRequest, Reason: "Invalid Request", Detail: "header Content-Type: charset is not utf-8"}
}
