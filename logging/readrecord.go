package logging

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// DefaultMaxLine is how long a line of a recording may be for a [RecordReader] whose MaxLine is zero.
const DefaultMaxLine = 256 << 20

var (
	// ErrNotRecording is returned for a file whose first line is no header of a recording.
	ErrNotRecording = errors.New("logging: not a recording of traffic")
	// ErrRecordVersion is returned for a recording of a later version.
	ErrRecordVersion = errors.New("logging: recording of a version that is not known")
)

// LineError is a line of a recording that cannot be read. What the line holds is not part of it.
type LineError struct {
	Line   int // from 1
	Reason string
}

func (e *LineError) Error() string {
	return fmt.Sprintf("logging: recording, line %d: %s", e.Line, e.Reason)
}

// RecordReader reads a recording. It must not be used by two goroutines at once.
type RecordReader struct {
	// MaxLine is how many bytes a line may have; 0 is DefaultMaxLine. A longer one is a LineError.
	MaxLine int

	in    *bufio.Reader
	line  int
	begun bool
}

// NewRecordReader returns a reader of the recording in r, of which it may read more than it returns.
func NewRecordReader(r io.Reader) *RecordReader {
	return &RecordReader{in: bufio.NewReaderSize(r, 64<<10)}
}

// Next returns the next record and, after the last, io.EOF. The first is a header, or else the error is [ErrNotRecording]; [ErrRecordVersion] is
// for headers of a later version. A line that cannot be read, as the last one of a process that was killed, gives a [*LineError], and the next call
// goes on behind it. Kinds that are not known are returned like others.
func (r *RecordReader) Next() (Record, error) {
	for {
		text, err := r.readLine()
		if err != nil {
			return Record{}, err
		}
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		var rec Record
		if err := json.Unmarshal(text, &rec); err != nil { // which limits depth
			if !r.begun {
				return Record{}, ErrNotRecording
			}
			return Record{}, &LineError{r.line, "not a JSON object of a record"}
		}
		switch {
		case !r.begun && (rec.Kind != KindHeader || rec.Format != RecordFormat):
			return Record{}, ErrNotRecording
		case rec.Kind == KindHeader && (rec.Version < 1 || rec.Version > RecordVersion):
			return Record{}, fmt.Errorf("%w: line %d: version %d", ErrRecordVersion, r.line, rec.Version)
		}
		r.begun = true
		return rec, nil
	}
}

// readLine returns a line without its end. Of one that is too long nothing is kept.
func (r *RecordReader) readLine() ([]byte, error) {
	limit := r.MaxLine
	if limit <= 0 {
		limit = DefaultMaxLine
	}
	r.line++
	var line []byte
	tooLong := false
	for {
		part, err := r.in.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > limit; !tooLong {
			if err == nil && line == nil {
				return part, nil // valid until the next read, which is after it was decoded
			}
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) == 0 && !tooLong:
			return nil, io.EOF
		case err != nil && !errors.Is(err, io.EOF):
			return nil, fmt.Errorf("logging: recording, line %d: %w", r.line, err)
		case tooLong && !r.begun:
			return nil, ErrNotRecording
		case tooLong:
			return nil, &LineError{r.line, "too long"}
		}
		return line, nil
	}
}
