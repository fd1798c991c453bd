package jsonrpc2

import (
	"slices"
	"testing"
)

// fuzzFraming holds, for any input: nothing panics, no more bytes come out than went in, and how the input is cut into reads makes no
// difference, to the messages or to the error at the end.
func fuzzFraming(t *testing.T, f Framing, in []byte, seed uint64) {
	lim := limits{maxFrame: 1 + int(seed%61), maxHeader: 1 + int(seed>>8%89)}
	if seed&1 == 0 {
		lim = limits{}
	}
	got, end := drain(t, f, lim, &pieces{in: [][]byte{slices.Clone(in)}})
	size := 0
	for _, m := range got {
		if m != "<Message too large>" && m != "<Invalid Request>" {
			size += len(m)
		}
	}
	if size > len(in) {
		t.Fatalf("%d bytes came out of %d", size, len(in))
	}
	check := func(p *pieces) {
		t.Helper()
		again, endAgain := drain(t, f, lim, p)
		if !slices.Equal(got, again) || end != endAgain {
			t.Fatalf("limits %v, whole: %q, end %q\nin pieces: %q, end %q", lim, got, end, again, endAgain)
		}
	}
	check(&pieces{in: bytewise(string(in)), with: true})
	var parts [][]byte
	for rest := in; len(rest) > 0; {
		seed = seed*6364136223846793005 + 1442695040888963407
		n := min(len(rest), int(seed>>60))
		parts, rest = append(parts, rest[:n]), rest[n:]
	}
	check(&pieces{in: parts})
}

func fuzzSeeds(f *testing.F) {
	for _, c := range partitionStreams() {
		f.Add([]byte(c.in), uint64(0))
		f.Add([]byte(c.in), uint64(21))
	}
	for _, in := range []string{
		"", "\n", "{}\r", "\xEF\xBB", "\xEF\xBB\xBF\r\n1\r\n", "1\r\r\n\n22222222222222222222222222222\n3",
		"Content-Length: 2\r\n\r\n{}Content-Length:3\r\nContent-Type: a; charset=\"utf-16\"\r\n\r\n123",
		"content-length:\t0\r\n\r\nContent-Length: 63\r\n\r\n", "Content-Length: 99999999999999999999\r\n\r\n", "A\rB\n", " A: b\r\n", "{",
	} {
		f.Add([]byte(in), uint64(1))
		f.Add([]byte(in), uint64(514))
	}
}

func FuzzLines(f *testing.F) {
	fuzzSeeds(f)
	f.Fuzz(func(t *testing.T, in []byte, seed uint64) { fuzzFraming(t, Lines, in, seed) })
}

func FuzzHeader(f *testing.F) {
	fuzzSeeds(f)
	f.Fuzz(func(t *testing.T, in []byte, seed uint64) { fuzzFraming(t, Header, in, seed) })
}
