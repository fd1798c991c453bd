package logging

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// DefaultMaxRecording is how many bytes a [Recorder] writes where MaxBytes is zero.
const DefaultMaxRecording = 4 << 30

// maxGather is how many bytes of records are written at once.
const maxGather = 256 << 10

// RecorderOptions configure a [Recorder]. The zero value is useful.
type RecorderOptions struct {
	// Process and Program stand in the header. Program is the name of the program that runs if empty.
	Process, Program string
	// MaxBytes is how much is written. What would go beyond is left out, and a last record says so. 0 is DefaultMaxRecording, negative: no limit.
	MaxBytes int64
	// OnError is told, once, why the recording has stopped before its end; nil: nobody is.
	OnError func(error)
}

// ErrRecordingFull is given to OnError when MaxBytes have been written.
var ErrRecordingFull = errors.New("recording has reached its limit")

// Recorder writes records as JSON lines: a recording that begins with a header, see [Record]. It is the [Sink] of a [Feed]:
//
//	feed := logging.NewFeed(logging.NewRecorder(file, nil), nil)
//	options.Tap = feed.Open("editor", "lsp")
//
// Records are written as soon as none waits any more, and always whole lines at once, so several processes may append to one file. After the first
// error of the writer nothing more is written; the connections go on.
//
// A Recorder is safe for concurrent use: it never calls the writer twice at the same time.
type Recorder struct {
	o RecorderOptions

	mu     sync.Mutex
	w      io.Writer
	buffer []byte
	left   int64 // that may be written; negative: no limit
	ended  bool
	err    error
}

// NewRecorder returns a Recorder that writes to w, the header first. Nil options are the zero RecorderOptions.
func NewRecorder(w io.Writer, o *RecorderOptions) *Recorder {
	r := &Recorder{w: w}
	if o != nil {
		r.o = *o
	}
	if r.o.Program == "" && len(os.Args) > 0 {
		r.o.Program = strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	}
	if r.left = r.o.MaxBytes; r.left == 0 {
		r.left = DefaultMaxRecording
	}
	r.Record(&Record{Time: time.Now(), Kind: KindHeader, Process: printable(r.o.Process, false), Format: RecordFormat, Version: RecordVersion,
		Program: printable(r.o.Program, false)})
	return r
}

// Record takes one record. It is written by this call or by Flush.
func (r *Recorder) Record(rec *Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	before := len(r.buffer)
	r.buffer = rec.Append(r.buffer)
	if n := int64(len(r.buffer) - before); r.left >= 0 {
		if n > r.left {
			r.buffer = r.buffer[:before]
			r.end(ErrRecordingFull)
			return
		}
		r.left -= n
	}
	if len(r.buffer) >= maxGather {
		r.write()
	}
}

// Flush writes what was gathered.
func (r *Recorder) Flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.write()
}

// Close writes a record that says that the recording ends here and was not cut off. The writer stays open.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		r.end(nil)
	}
	return r.err
}

// Err returns the error that stopped the recording, or nil. A writer that panicked counts as one that failed.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// end writes the last record. The lock is held.
func (r *Recorder) end(why error) {
	last := Record{Time: time.Now(), Kind: KindEnd, Process: printable(r.o.Process, false)}
	if why != nil {
		last.Message = why.Error()
	}
	r.buffer = last.Append(r.buffer)
	r.write()
	if why != nil {
		r.fail(why)
	}
	r.ended = true
}

// write writes what was gathered. The lock is held.
func (r *Recorder) write() {
	if len(r.buffer) == 0 || r.ended {
		return
	}
	defer func() {
		if recover() != nil { // the value of the panic may quote a line; it is not kept
			r.fail(errors.New("the writer panicked"))
		}
	}()
	_, err := r.w.Write(r.buffer)
	r.buffer = r.buffer[:0]
	if cap(r.buffer) > 4*maxGather {
		r.buffer = nil
	}
	if err != nil {
		r.fail(err)
	}
}

// fail stops the recording. The lock is held.
func (r *Recorder) fail(err error) {
	if r.err != nil {
		return
	}
	r.err, r.ended, r.buffer = fmt.Errorf("traffic recorder: %w", err), true, nil
	if r.o.OnError != nil {
		defer func() { _ = recover() }()
		r.o.OnError(r.err)
	}
}
