package jsonrpc2

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestFramingString(t *testing.T) {
	if s := Lines.String() + " " + Header.String() + " " + Framing(7).String(); s != "lines header Framing(7)" {
		t.Error(s)
	}
}

type end struct {
	io.Reader
	io.Writer
	err    error
	closed int
}

func (e *end) Close() error { e.closed++; return e.err }

// Joined streams close the output even if the input cannot be closed, once, and report the first failure.
func TestJoin(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	for _, c := range []struct{ in, out, want error }{
		{nil, nil, nil}, {first, nil, first}, {nil, second, second}, {first, second, first},
	} {
		in, out := &end{Reader: strings.NewReader("1\n"), err: c.in}, &end{Writer: new(strings.Builder), err: c.out}
		s := Open(Join(in, out), Lines)
		if m, err := s.Read(); string(m) != "1" || err != nil {
			t.Errorf("read %q, %v", m, err)
		}
		if err := s.Write([]byte("2")); err != nil {
			t.Error(err)
		}
		if got := out.Writer.(*strings.Builder).String(); got != "2\n" {
			t.Errorf("wrote %q", got)
		}
		for range 2 {
			if err := s.Close(); err != c.want {
				t.Errorf("Close gives %v, want %v", err, c.want)
			}
		}
		if in.closed != 1 || out.closed != 1 {
			t.Errorf("input closed %d times, output %d times", in.closed, out.closed)
		}
	}
	if err := Join(strings.NewReader(""), io.Discard).Close(); err != nil {
		t.Error(err)
	}
}

func TestFrameErrorText(t *testing.T) {
	for want, err := range map[string]error{
		"end of input inside the body: 17 of 107 bytes missing": &FrameError{Reason: endInBody, Missing: 17, Length: 107},
		"header Content-Length: negative":                       &FrameError{Header: contentLength, Reason: "negative"},
		"header line begins with a blank":                       &FrameError{Reason: "header line begins with a blank"},
	} {
		if err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
}
