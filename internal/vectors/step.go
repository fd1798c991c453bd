package vectors

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Step is one element of a vector's In. Without a Kind it is bytes for the peer to read. The kinds are
//
//	@await N                                   until N messages have been written in all
//	@eof                                       the input ends
//	@close                                     the peer closes the connection
//	@join                                      until Serve has returned
//	@request NAME {"method":m,"params":p}      a call, whose outcome is NAME's
//	@request-cancelled NAME {...}              the same with a context that has ended
//	@notify {"method":m,"params":p}            a notification
//	@batch NAME,-,NAME! [{"request":m},{"notify":m},...]   a batch: - is a notification, ! has a context that has ended
//	@cancel NAME                               the call is given up
//	@settled NAME                              until the call has an outcome
//
// The connection is at rest before a step that acts for the peer's own side is taken.
type Step struct {
	Kind    string
	Bytes   []byte   // what is written
	Payload []byte   // the message in it, nil if Raw
	Count   int      // of @await
	Names   []string // of the calls, "" for a notification
	Ended   []bool   // whether each has a context that has ended
	Calls   []local
}

// local is a message that the peer sends of its own accord.
type local struct {
	method string
	params json.RawMessage
	notify bool
}

func (v *Vector) step(text string) (Step, error) {
	if strings.HasPrefix(text, "@") {
		s, err := parseStep(text)
		if err != nil {
			err = fmt.Errorf("step %q: %w", text, err)
		}
		return s, err
	}
	data := []byte(text)
	if v.B64 {
		var err error
		if data, err = base64.StdEncoding.DecodeString(text); err != nil {
			return Step{}, fmt.Errorf("in: %w", err)
		}
	}
	switch {
	case v.Raw:
		return Step{Bytes: data}, nil
	case v.Framing == "line":
		return Step{Bytes: append(bytes.Clone(data), '\n'), Payload: data}, nil
	}
	return Step{Bytes: append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(data)), data...), Payload: data}, nil
}

func parseStep(text string) (Step, error) {
	kind, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	s := Step{Kind: kind}
	switch kind {
	case "@eof", "@close", "@join":
		if rest != "" {
			return s, errors.New("takes nothing")
		}
	case "@await":
		n, err := strconv.Atoi(rest)
		if err != nil || n < 0 {
			return s, errors.New("takes a number")
		}
		s.Count = n
	case "@cancel", "@settled":
		if rest == "" {
			return s, errors.New("takes a name")
		}
		s.Names = []string{rest}
	case "@request", "@request-cancelled":
		name, message, _ := strings.Cut(rest, " ")
		call, err := parseLocal([]byte(message))
		if err != nil {
			return s, err
		}
		s.Names, s.Ended, s.Calls = []string{name}, []bool{kind == "@request-cancelled"}, []local{call}
	case "@notify":
		call, err := parseLocal([]byte(rest))
		if err != nil {
			return s, err
		}
		call.notify = true
		s.Calls = []local{call}
	case "@batch":
		return parseBatch(s, rest)
	default:
		return s, errors.New("unknown step")
	}
	return s, nil
}

func parseLocal(text []byte) (local, error) {
	var m struct {
		Method *string         `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if err := strict(text, &m); err != nil {
		return local{}, err
	}
	if m.Method == nil {
		return local{}, errors.New("no method")
	}
	return local{method: *m.Method, params: m.Params}, nil
}

func parseBatch(s Step, rest string) (Step, error) {
	at := strings.IndexByte(rest, '[')
	if at < 0 {
		return s, errors.New("no list of entries")
	}
	var entries []struct {
		Request *string         `json:"request"`
		Notify  *string         `json:"notify"`
		Params  json.RawMessage `json:"params"`
	}
	if err := strict([]byte(rest[at:]), &entries); err != nil {
		return s, err
	}
	if names := strings.TrimSpace(rest[:at]); names != "" {
		for name := range strings.SplitSeq(names, ",") {
			name, ended := strings.CutSuffix(strings.TrimSpace(name), "!")
			s.Names, s.Ended = append(s.Names, strings.TrimPrefix(name, "-")), append(s.Ended, ended)
		}
	}
	if len(entries) > 0 && len(s.Names) != len(entries) {
		return s, fmt.Errorf("%d names for %d entries", len(s.Names), len(entries))
	}
	for i, e := range entries {
		call := local{params: e.Params, notify: e.Request == nil}
		switch {
		case e.Request != nil && e.Notify == nil && s.Names[i] != "":
			call.method = *e.Request
		case e.Notify != nil && e.Request == nil && s.Names[i] == "":
			call.method = *e.Notify
		default:
			return s, fmt.Errorf("entry %d is not what its name says", i)
		}
		s.Calls = append(s.Calls, call)
	}
	return s, nil
}

// strict decodes JSON that has no other members than v and nothing behind it.
func strict(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if d.More() {
		return errors.New("something follows the JSON")
	}
	return nil
}
