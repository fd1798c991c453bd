package jsonrpc2

import (
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
)

func TestDetect(t *testing.T) {
	const long = 600 // more than Detect reads at once
	for _, c := range []struct {
		name, in string
		framing  Framing
		replay   string
		err      string
	}{
		{name: "object", in: "{}\n", framing: Lines, replay: "{}\n"},
		{name: "batch", in: "[{}]\n", framing: Lines, replay: "[{}]\n"},
		{name: "number", in: "1\n", framing: Lines, replay: "1\n"},
		{name: "negative number", in: "-1\n", framing: Lines, replay: "-1\n"},
		{name: "string", in: "\"a\"\n", framing: Lines, replay: "\"a\"\n"},
		{name: "header", in: "Content-Length: 2\r\n\r\n{}", framing: Header, replay: "Content-Length: 2\r\n\r\n{}"},
		{name: "other header", in: "x-a: {\r\n", framing: Header, replay: "x-a: {\r\n"},
		{name: "blanks", in: " \t\r\n{}", framing: Lines, replay: "{}"},
		{name: "blanks before a header", in: "\r\n\r\nC", framing: Header, replay: "C"},
		{name: "many blanks", in: strings.Repeat("\n", long) + "{}", framing: Lines, replay: "{}"},
		{name: "byte order mark", in: "\xEF\xBB\xBF{}", framing: Lines, replay: "{}"},
		{name: "byte order mark and blanks", in: "\xEF\xBB\xBF\r\nC", framing: Header, replay: "C"},
		{name: "long", in: "{" + strings.Repeat("x", long), framing: Lines, replay: "{" + strings.Repeat("x", long)},
		{name: "nothing", in: "", err: "EOF"},
		{name: "only blanks", in: " \n", err: "EOF"},
		{name: "only a byte order mark", in: "\xEF\xBB\xBF", err: "EOF"},
		{name: "cut byte order mark", in: "\xEF\xBB", err: "end of input inside the first character"},
		{name: "TLS", in: "\x16\x03\x01", err: "first byte 0x16 begins neither a message nor a header"},
		{name: "NUL", in: "\x00", err: "first byte 0x00 begins neither a message nor a header"},
		{name: "UTF-16", in: "\xFF\xFE{\x00", err: "first byte 0xff begins neither a message nor a header"},
		{name: "not a byte order mark", in: "\xEF\xBBx", err: "first byte 0xef begins neither a message nor a header"},
		{name: "byte order mark later", in: "\n\xEF\xBB\xBF{}", err: "first byte 0xef begins neither a message nor a header"},
		{name: "endless blanks", in: strings.Repeat(" ", 9<<10) + "{}", err: "nothing but blanks in the first 8192 bytes"},
	} {
		for how, p := range map[string]*pieces{"whole": {in: whole(c.in)}, "bytewise": {in: bytewise(c.in)}, "with the end": {in: whole(c.in), with: true}} {
			f, rwc, err := Detect(p)
			switch {
			case c.err != "":
				var lost *FrameError
				if err == nil || err.Error() != c.err || err != io.EOF && !errors.As(err, &lost) {
					t.Errorf("%s, %s: got %v, want %s", c.name, how, err, c.err)
				}
				continue
			case err != nil || f != c.framing:
				t.Errorf("%s, %s: got %v, %v, want %v", c.name, how, f, err, c.framing)
				continue
			}
			if got, err := io.ReadAll(iotest.OneByteReader(rwc)); string(got) != c.replay || err != nil {
				t.Errorf("%s, %s: replays %q, %v, want %q", c.name, how, got, err, c.replay)
			}
			if _, err := io.WriteString(rwc, "out"); err != nil || p.out.String() != "out" {
				t.Errorf("%s, %s: writes %q, %v", c.name, how, p.out.String(), err)
			}
			if err := rwc.Close(); err != nil || p.closed != 1 {
				t.Errorf("%s, %s: closed %d times, %v", c.name, how, p.closed, err)
			}
		}
	}
}

// A stream read through Detect gives the same messages as one read directly.
func TestDetectAndOpen(t *testing.T) {
	for name, c := range partitionStreams() {
		for i := range len(c.in) {
			f, rwc, err := Detect(&pieces{in: cut(c.in, i)})
			if err != nil || f.String() != name {
				t.Fatalf("%s: %v, %v", name, f, err)
			}
			s := Open(rwc, f)
			var got []string
			for {
				m, err := s.Read()
				if err != nil {
					if err != io.EOF {
						t.Fatal(err)
					}
					break
				}
				got = append(got, string(m))
			}
			if !slices.Equal(got, c.want) {
				t.Fatalf("%s, cut at %d: %q", name, i, got)
			}
		}
	}
}

func TestDetectReadErrors(t *testing.T) {
	broken := errors.New("broken")
	if _, _, err := Detect(&pieces{in: whole(" "), err: broken}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if _, _, err := Detect(&script{read: func([]byte) (int, error) { return 0, nil }}); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("got %v", err)
	}
	_, rwc, err := Detect(&pieces{in: whole("{"), err: broken, with: true})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := io.ReadAll(rwc); err != broken {
			t.Errorf("got %v", err)
		}
	}
}

// A peer that says nothing keeps Detect waiting until its connection is closed.
func TestDetectSilentPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		defer there.Close()
		got := make(chan error, 1)
		go func() {
			_, _, err := Detect(here)
			got <- err
		}()
		synctest.Wait()
		select {
		case err := <-got:
			t.Fatalf("returned %v", err)
		default:
		}
		here.Close()
		if err := <-got; !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("got %v", err)
		}
	})
}

// Detect reads no more than it needs to decide: one byte that came alone is enough.
func TestDetectIsLazy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		go there.Write([]byte("{"))
		f, rwc, err := Detect(here)
		if err != nil || f != Lines {
			t.Fatalf("%v, %v", f, err)
		}
		go there.Write([]byte("}\n"))
		if m, err := Open(rwc, f).Read(); err != nil || string(m) != "{}" {
			t.Errorf("%q, %v", m, err)
		}
		here.Close()
		there.Close()
	})
}
