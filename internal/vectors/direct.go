package vectors

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// byteOrderMark may stand at the start of a stream. It belongs to the stream, not to the first message.
var byteOrderMark = []byte("\ufeff")

// direct reports whether a vector needs no connection: there are only whole messages, no other steps than those given, no handler that waits to be
// cancelled, and no limit on requests in flight, which a Dispatcher does not have.
func (v *Vector) direct(f *fixture, steps ...string) bool {
	if v.Raw || v.End == "error" || v.Opts.MaxConcurrentInbound != 0 || v.Futures != nil {
		return false
	}
	for _, s := range v.steps {
		switch {
		case s.Kind != "":
			if !slices.Contains(steps, s.Kind) {
				return false
			}
			continue
		case v.Framing == "line" && bytes.IndexByte(s.Payload, '\n') >= 0:
			return false // it is not one message
		}
		n, err := parse(s.Payload)
		if f.mux != nil && v.Fixture == "none" && (err != nil || n.named["method"].kind != '"') {
			return false // what is no message is dropped by a connection without handlers, which a Dispatcher is not
		}
		for _, m := range append([]node{n}, n.items...) {
			for _, method := range f.waits {
				if m.named["method"].text == quote(method) {
					return false
				}
			}
		}
	}
	return true
}

// payloads are the messages of the vector as a framing would hand them over.
func (v *Vector) payloads() [][]byte {
	var all [][]byte
	for i, s := range v.steps {
		payload := s.Payload
		if i == 0 {
			payload = bytes.TrimPrefix(payload, byteOrderMark)
		}
		if s.Kind == "" && (v.Framing != "line" || len(bytes.Trim(payload, " \t\r")) > 0) {
			all = append(all, payload)
		}
	}
	return all
}

// runDispatcher runs a vector through a Dispatcher, one message after the other.
func runDispatcher(v *Vector, f *fixture) (*observed, error) {
	w := new(witness)
	o := v.options(w)
	if f.conventions {
		o.Cancel = registry()
	}
	d := jsonrpc2.NewDispatcher(f.mux(w), o)
	got := &observed{logged: f.log}
	log := w.traffic(f)
	for _, payload := range v.payloads() {
		log.Inbound(payload) // a Dispatcher has no tap: who calls it logs
		answer := d.Handle(context.Background(), payload)
		if answer != nil {
			log.Outbound(answer)
		}
		if err := got.add(answer); err != nil {
			return got, err
		}
	}
	return got, w.observe(got)
}

// runHandle runs a vector through the Handle of an MCP server.
func runHandle(v *Vector, f *fixture) (*observed, error) {
	w := new(witness)
	s := f.server(w)
	if n := v.Opts.MaxBatchEntries; n != 0 {
		s.Batch = n
	}
	got := new(observed)
	for i, payload := range v.payloads() {
		name := ""
		if i < len(v.Contexts) {
			name = v.Contexts[i]
		}
		if err := got.add(s.Handle(w.context(name), payload)); err != nil {
			return got, err
		}
	}
	return got, w.observe(got)
}

// add adds an answer, if there is one.
func (o *observed) add(answer []byte) error {
	if answer == nil {
		return nil
	}
	o.out = append(o.out, string(answer))
	if _, err := parse(answer); err != nil {
		return fmt.Errorf("an answer that is not JSON, %w: %q", err, answer)
	}
	return nil
}
