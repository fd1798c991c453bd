package vectors

import (
	"bytes"
	"fmt"
	"strconv"
	"sync"
)

// output is the far end of what a peer writes. It takes the bytes apart by rules of its own: a line is one LF, without CR; a header block is exactly
// one field, Content-Length, and counts bytes.
type output struct {
	framing string

	mu       sync.Mutex
	rest     []byte
	messages []string
	bad      error
	changed  chan struct{} // closed at the next message
}

func newOutput(framing string) *output {
	return &output{framing: framing, changed: make(chan struct{})}
}

// Write never blocks.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rest = append(o.rest, p...)
	for o.bad == nil && o.take() {
		close(o.changed)
		o.changed = make(chan struct{})
	}
	return len(p), nil
}

// take moves one message out of the bytes, if there is one.
func (o *output) take() bool {
	var message []byte
	switch o.framing {
	case "line":
		at := bytes.IndexByte(o.rest, '\n')
		if at < 0 {
			return false
		}
		message, o.rest = o.rest[:at], o.rest[at+1:]
		if len(message) == 0 || bytes.IndexByte(message, '\r') >= 0 {
			o.bad = fmt.Errorf("a line that is blank or has a carriage return: %q", message)
		}
	default:
		at := bytes.Index(o.rest, []byte("\r\n\r\n"))
		if at < 0 {
			return false
		}
		digits, ok := bytes.CutPrefix(o.rest[:at], []byte("Content-Length: "))
		n, err := strconv.ParseUint(string(digits), 10, 31)
		if !ok || err != nil || strconv.FormatUint(n, 10) != string(digits) {
			o.bad = fmt.Errorf("header block %q", o.rest[:at])
			return false
		}
		if at += 4; len(o.rest)-at < int(n) {
			return false
		}
		message, o.rest = o.rest[at:at+int(n)], o.rest[at+int(n):]
	}
	if _, err := parse(message); err != nil && o.bad == nil {
		o.bad = fmt.Errorf("a message that is not JSON, %w: %q", err, message)
	}
	o.messages = append(o.messages, string(message))
	return true
}

// count returns how many messages there are, and a channel that is closed when there are more.
func (o *output) count() (int, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.messages), o.changed
}

// all returns what was written, and what was wrong with it.
func (o *output) all() ([]string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.bad == nil && len(o.rest) > 0 {
		return o.messages, fmt.Errorf("an unfinished message: %q", o.rest)
	}
	return o.messages, o.bad
}
