package vectors

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Vector is one conversation and what must come of it. Members that are nil or empty are not looked at, Out excepted.
type Vector struct {
	ID       string `json:"id"`
	Group    string `json:"group"`
	Protocol string `json:"protocol"` // jsonrpc or mcp
	Framing  string `json:"framing"`  // line or content-length
	// In holds messages to be framed, or exact bytes if Raw, each one write; all of them in base64 if B64. What begins with @ is a [Step].
	In  []string `json:"in"`
	Raw bool     `json:"raw"`
	B64 bool     `json:"b64"`
	// Out holds every message that is written. With Order any they may come in any order, and so may the entries of batches; BatchOrder says
	// something else of the entries alone.
	Out        []json.RawMessage `json:"out"`
	Order      string            `json:"order"`
	BatchOrder string            `json:"batch_order"`
	Fixture    string            `json:"fixture"`
	Opts       Opts              `json:"opts"`
	// Contexts names, for MCP, the context of each message of In in turn.
	Contexts []string `json:"contexts"`
	// Seen are the notification handlers that ran, in order; Report the methods whose unexpected errors were reported.
	Seen   *[]string `json:"seen"`
	Report *[]string `json:"report"`
	// Futures holds the outcome of each local call, by name: {"result":v}, {"error":e}, {"closed":true}, {"cancelled":true}, {"invalid":true} for
	// a response that is none, or {"throws":why} for a call that was refused before it was sent.
	Futures map[string]json.RawMessage `json:"futures"`
	// Log holds the records of the traffic log: direction and text.
	Log *[][2]string `json:"log"`
	// End is clean, the default, or error: what Serve must return.
	End string `json:"end"`
	// SessionAfter is what sessions hold afterwards, by the name of the context.
	SessionAfter map[string]json.RawMessage `json:"session_after"`

	// For people.
	Note     string          `json:"note"`
	Src      json.RawMessage `json:"src"`
	Alt      json.RawMessage `json:"alt"` // results of other peers, not accepted
	Decision json.RawMessage `json:"decision"`

	steps   []Step
	invalid error // why it cannot be run
}

// Opts are limits of the peer; 0 is its default.
type Opts struct {
	MaxMessageBytes      int `json:"maxMessageBytes"`      // of one message, in either direction
	MaxHeaderBytes       int `json:"maxHeaderBytes"`       // of a header block
	MaxConcurrentInbound int `json:"maxConcurrentInbound"` // requests in flight, one more is refused
	MaxBatchEntries      int `json:"maxBatchEntries"`      // of a batch, in either direction
}

// Load reads vectors, one a line. A line that is no vector becomes one that fails and says so; the error is that of r.
func Load(r io.Reader) ([]Vector, error) {
	var all []Vector
	lines := bufio.NewReader(r)
	ids := map[string]bool{}
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if text := bytes.TrimSpace(line); len(text) > 0 {
			v := decode(text)
			if v.ID == "" {
				v.ID = fmt.Sprintf("line %d", n)
			}
			if ids[v.ID] && v.invalid == nil {
				v.invalid = errors.New("a second vector with this id")
			}
			ids[v.ID] = true
			all = append(all, v)
		}
		switch err {
		case nil:
		case io.EOF:
			return all, nil
		default:
			return nil, err
		}
	}
}

func decode(line []byte) Vector {
	var v Vector
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		v.invalid = fmt.Errorf("not a vector: %w", err)
		return v
	}
	v.invalid = v.check()
	return v
}

// check looks for what the format does not have, and takes the steps apart.
func (v *Vector) check() error {
	for _, c := range []struct {
		member, value string
		known         []string
	}{
		{"protocol", v.Protocol, []string{"jsonrpc", "mcp"}},
		{"framing", v.Framing, []string{"line", "content-length"}},
		{"order", v.Order, []string{"strict", "any", ""}},
		{"batch_order", v.BatchOrder, []string{"strict", "any", ""}},
		{"end", v.End, []string{"clean", "error", ""}},
	} {
		if !slices.Contains(c.known, c.value) {
			return fmt.Errorf("unknown %s %q", c.member, c.value)
		}
	}
	if v.In == nil || v.Out == nil {
		return errors.New("in or out is missing")
	}
	if fixtures[v.Fixture] == nil {
		return fmt.Errorf("unknown fixture %q", v.Fixture)
	}
	if (v.Protocol == "mcp") != (fixtures[v.Fixture].server != nil) {
		return fmt.Errorf("fixture %q does not speak %s", v.Fixture, v.Protocol)
	}
	v.steps = nil
	for _, text := range v.In {
		s, err := v.step(text)
		if err != nil {
			return err
		}
		v.steps = append(v.steps, s)
	}
	return nil
}
