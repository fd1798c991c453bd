package jsonrpc2

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// pieces is a peer that sends its input in given pieces, one a read, and takes what is written to it.
type pieces struct {
	in     [][]byte
	err    error // after the last piece; nil: io.EOF
	with   bool  // the error comes together with the last piece
	reads  int
	out    strings.Builder
	closed int
}

func (p *pieces) Read(b []byte) (int, error) {
	p.reads++
	if len(p.in) > 0 {
		n := copy(b, p.in[0])
		if p.in[0] = p.in[0][n:]; len(p.in[0]) == 0 {
			p.in = p.in[1:]
		}
		if p.with && len(p.in) == 0 {
			return n, p.end()
		}
		return n, nil // of an empty piece: 0, nil
	}
	return 0, p.end()
}

func (p *pieces) end() error {
	if p.err != nil {
		return p.err
	}
	return io.EOF
}

func (p *pieces) Write(b []byte) (int, error) { return p.out.Write(b) }
func (p *pieces) Close() error                { p.closed++; return nil }

// whole is input in one piece, bytewise input in pieces of one byte.
func whole(in string) [][]byte { return [][]byte{[]byte(in)} }

func bytewise(in string) (p [][]byte) {
	for i := range len(in) {
		p = append(p, []byte(in[i:i+1]))
	}
	return p
}

// drain reads everything: messages as they are, refusals as "<reason>", and the error at the end, "" for io.EOF.
func drain(t *testing.T, f Framing, l limits, p *pieces) (got []string, end string) {
	t.Helper()
	s := Open(p, f).(*stream)
	s.setLimits(l)
	for {
		m, err := s.Read()
		var refused *MessageError
		switch {
		case err == nil:
			got = append(got, string(m))
		case errors.As(err, &refused):
			got = append(got, "<"+refused.Reason+">")
		default:
			if _, again := s.Read(); again == nil || again.Error() != err.Error() {
				t.Errorf("after %v, Read returned %v", err, again)
			}
			if err != io.EOF {
				end = err.Error()
			}
			return got, end
		}
	}
}

// framingCase is one input and all that comes out of it.
type framingCase struct {
	name string
	in   string
	lim  limits
	want []string
	end  string
}

// run gives each case to a stream whole, byte by byte, cut once at every place, and with the end of input in the last read.
func runFraming(t *testing.T, f Framing, cases []framingCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			check := func(how string, p *pieces) {
				t.Helper()
				got, end := drain(t, f, c.lim, p)
				if !slices.Equal(got, c.want) || end != c.end {
					t.Fatalf("%s:\n got %q, end %q\nwant %q, end %q", how, got, end, c.want, c.end)
				}
			}
			check("whole", &pieces{in: whole(c.in)})
			check("whole, end in the same read", &pieces{in: whole(c.in), with: true})
			check("bytewise", &pieces{in: bytewise(c.in)})
			check("bytewise, end in the same read", &pieces{in: bytewise(c.in), with: true})
			for i := range len(c.in) {
				check(fmt.Sprintf("cut at %d", i), &pieces{in: [][]byte{[]byte(c.in[:i]), []byte(c.in[i:])}})
			}
		})
	}
}
