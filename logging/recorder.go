package logging

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/segmentio/encoding/json"
)

// DefaultMaxMessage is how many bytes of a redacted message a [Recorder] keeps
// unless told otherwise.
const DefaultMaxMessage = 64 << 10

// RecorderOptions configure a [Recorder]. The zero value is useful.
type RecorderOptions struct {
	// Redact lists names that hold secrets, in addition to the built-in ones.
	// See [NewRedactor].
	Redact []string

	// Connection becomes a member of every record, if not empty.
	Connection string

	// MaxMessage is the number of bytes of a redacted message that are kept. 0:
	// DefaultMaxMessage; negative: all.
	MaxMessage int
}

// Recorder writes the traffic of connections as JSON lines, without secrets:
// one object for each message, with the members
//
//   - time: when it passed, RFC 3339 in UTC with nanoseconds
//   - direction: "inbound" or "outbound"
//   - connection: from the options, if any
//   - length: bytes of the message on the wire, without framing
//   - message: the redacted text as a string, or [Failed]
//   - truncated: true, if message was cut
//
// It satisfies the tap interface of package jsonrpc2. Each record is one Write,
// so several processes may append to one file. After the first error of the
// writer nothing more is written, see [Recorder.Err]; the connection goes on.
//
// A Recorder is safe for concurrent use: it never calls the writer twice at the
// same time. A nil *Recorder does nothing.
type Recorder struct {
	sink       *sink
	redactor   *Redactor
	connection string
	limit      int
}

// sink is the writer that all recorders of one file share.
type sink struct {
	mu  sync.Mutex
	w   io.Writer
	err error
}

// NewRecorder returns a Recorder that writes to w. Nil options are the zero
// RecorderOptions.
func NewRecorder(w io.Writer, o *RecorderOptions) *Recorder {
	if o == nil {
		o = new(RecorderOptions)
	}
	limit := o.MaxMessage
	if limit == 0 {
		limit = DefaultMaxMessage
	}
	return &Recorder{&sink{w: w}, NewRedactor(o.Redact...), o.Connection, limit}
}

// Named returns a Recorder for another connection that writes to the same
// place.
func (r *Recorder) Named(connection string) *Recorder {
	if r == nil {
		return nil
	}
	named := *r
	named.connection = connection
	return &named
}

// Inbound records a message that was received. It does not keep frame.
func (r *Recorder) Inbound(frame []byte) { r.record("inbound", frame) }

// Outbound records a message that is sent. It does not keep frame.
func (r *Recorder) Outbound(frame []byte) { r.record("outbound", frame) }

// Err returns the error that stopped the recording, or nil. A writer that
// panicked counts as one that failed.
func (r *Recorder) Err() error {
	if r == nil {
		return nil
	}
	r.sink.mu.Lock()
	defer r.sink.mu.Unlock()
	return r.sink.err
}

func (r *Recorder) record(direction string, frame []byte) {
	if r == nil {
		return
	}
	text := printable(string(r.redactor.Redact(frame)), true)
	cut := r.limit >= 0 && len(text) > r.limit
	if cut {
		end := r.limit
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
	}
	b := make([]byte, 0, len(text)+len(text)/8+160)
	b = append(b, `{"time":"`...)
	b = time.Now().UTC().AppendFormat(b, time.RFC3339Nano)
	b = append(b, `","direction":"`...)
	b = append(b, direction...)
	b = append(b, '"')
	if r.connection != "" {
		b = append(b, `,"connection":`...)
		b = appendString(b, printable(r.connection, false))
	}
	b = fmt.Appendf(b, `,"length":%d,"message":`, len(frame))
	b = appendString(b, text)
	if cut {
		b = append(b, `,"truncated":true`...)
	}
	r.sink.write(append(b, "}\n"...))
}

func (s *sink) write(line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	defer func() {
		if recover() != nil {
			// The value of the panic may quote the line; it is not kept.
			s.err = errors.New("traffic recorder: the writer panicked")
		}
	}()
	if _, err := s.w.Write(line); err != nil {
		s.err = fmt.Errorf("traffic recorder: %w", err)
	}
}

// appendString appends s as a JSON string. A string always encodes, so there is
// no error to pass on.
func appendString(b []byte, s string) []byte {
	out, err := json.Append(b, s, 0)
	if err != nil {
		return append(b, `""`...)
	}
	return out
}
