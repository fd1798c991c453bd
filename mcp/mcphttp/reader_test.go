package mcphttp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// event is one server-sent event.
type event struct {
	name, id, data string
	retry          time.Duration
	comments       int // before it
	hasData        bool
}

// reader reads server-sent events as a browser does, apart from reconnecting.
type reader struct {
	t      *testing.T
	r      *bufio.Reader
	header http.Header
	close  func()
	lastID string
}

func newReader(r io.Reader) *reader { return &reader{r: bufio.NewReader(r)} }

// next returns the next event: a block that has data, an id or retry.
func (r *reader) next() (event, error) {
	var e event
	some := false
	for {
		line, err := r.r.ReadString('\n')
		if err != nil {
			return e, err
		}
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			if some {
				return e, nil
			}
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "":
			e.comments++
			continue
		case "event":
			e.name = value
		case "id":
			e.id, r.lastID = value, value
		case "data":
			if e.hasData {
				e.data += "\n"
			}
			e.data += value
			e.hasData = true
		case "retry":
			n, err := strconv.Atoi(value)
			if err != nil {
				return e, fmt.Errorf("retry %q", value)
			}
			e.retry = time.Duration(n) * time.Millisecond
		default:
			return e, fmt.Errorf("field %q", line)
		}
		some = true
	}
}

// message returns the next message, past priming.
func (r *reader) message() string {
	r.t.Helper()
	for {
		e := r.event()
		if e.data == "" {
			continue
		}
		if e.name != "message" || !json.Valid([]byte(e.data)) {
			r.t.Fatalf("event %+v", e)
		}
		return e.data
	}
}

func (r *reader) event() event {
	r.t.Helper()
	type result struct {
		e   event
		err error
	}
	c := make(chan result, 1)
	go func() {
		e, err := r.next()
		c <- result{e, err}
	}()
	select {
	case x := <-c:
		if x.err != nil {
			r.t.Fatalf("stream: %v", x.err)
		}
		return x.e
	case <-time.After(patience):
		r.close()
		r.t.Fatal("stream: nothing came")
		return event{}
	}
}

// end fails unless the stream ends, without another message.
func (r *reader) end() {
	r.t.Helper()
	c := make(chan error, 1)
	go func() {
		for {
			e, err := r.next()
			if err == nil && e.data != "" {
				err = fmt.Errorf("event %+v", e)
			}
			if err != nil {
				c <- err
				return
			}
		}
	}()
	select {
	case err := <-c:
		if err != io.EOF {
			r.t.Fatalf("stream does not end well: %v", err)
		}
	case <-time.After(patience):
		r.close()
		r.t.Fatal("stream does not end")
	}
}

// readBody reads what is left of a response.
func readBody(resp *http.Response) string {
	b, _ := io.ReadAll(resp.Body)
	return string(b)
}
