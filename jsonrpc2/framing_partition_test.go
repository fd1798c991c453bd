package jsonrpc2

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// partitionMessages have characters of two to four bytes, escapes, separators that are not line ends, and, in the Header framing only, line
// breaks.
var partitionMessages = []string{
	`{"jsonrpc":"2.0","id":1,"method":"é","params":["你😀"]}`,
	"{\"jsonrpc\":\"2.0\",\"method\":\"a\u2028\u0085\\r\\n\"}",
	"{\"jsonrpc\":\"2.0\",\r\n \"id\":\n3,\r\n\"result\":\"\U0010FFFF\"}",
}

func partitionStreams() map[string]framingCase {
	lines := slices.Clone(partitionMessages)
	lines[2] = strings.NewReplacer("\r", " ", "\n", " ").Replace(lines[2])
	header := framingCase{want: partitionMessages}
	for i, m := range partitionMessages {
		switch b := appendHeader(nil, len(m)); i {
		case 0:
			header.in += string(b) + m
		case 1:
			header.in += "content-type: \"a\"; charset=UTF8\r\n" + strings.ToLower(string(b)) + m
		case 2:
			header.in += "X: é\r\n" + strings.Replace(string(b), "\r\n", " \t\r\nY:z\r\n", 1) + m
		}
	}
	return map[string]framingCase{
		"lines":  {in: "\xEF\xBB\xBF" + lines[0] + "\r\n\r\n" + lines[1] + "\n \n" + lines[2], want: lines},
		"header": header,
	}
}

// cut returns in cut at the given places.
func cut(in string, at ...int) (p [][]byte) {
	from := 0
	for _, i := range append(at, len(in)) {
		p = append(p, []byte(in[from:i]))
		from = i
	}
	return p
}

// TestEveryPartition reads a stream of three messages cut into reads in every way: not at all, everywhere, at each place, at each pair of
// places, and at random; whole reads and reads of nothing, the end of input with the last read and after it. The same three messages come out.
func TestEveryPartition(t *testing.T) {
	for name, c := range partitionStreams() {
		framing := Lines
		if name == "header" {
			framing = Header
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runs := 0
			check := func(parts [][]byte, ends ...bool) {
				runs++
				for _, with := range ends {
					got, end := drain(t, framing, limits{}, &pieces{in: slices.Clone(parts), with: with})
					if end != "" || !slices.Equal(got, c.want) {
						t.Fatalf("pieces %q:\n got %q, end %q\nwant %q", parts, got, end, c.want)
					}
				}
			}
			check(whole(c.in), false, true)
			check(bytewise(c.in), false, true)
			for i := range len(c.in) + 1 {
				check(cut(c.in, i), false, true)
				for j := i; j <= len(c.in); j++ {
					check(cut(c.in, i, j), (i+j)%2 == 0) // the end comes with the last piece for half of them
				}
			}
			for seed := range uint64(64) {
				random := rand.New(rand.NewPCG(seed, 1))
				var at []int
				for i := range len(c.in) {
					if random.IntN(1+int(seed)/2) == 0 {
						at = append(at, i)
					}
				}
				check(cut(c.in, at...), false, true)
			}
			t.Logf("%d bytes in %d partitions", len(c.in), runs)
		})
	}
}

// TestPartitionAcrossChunks moves a stream of messages of all sizes over the end of a chunk, a byte at a time, so that every kind of byte stands
// at the end of one once. The messages are held for a while, as handlers do.
func TestPartitionAcrossChunks(t *testing.T) {
	for name, c := range partitionStreams() {
		framing := Lines
		if name == "header" {
			framing = Header
		}
		t.Run(name, func(t *testing.T) {
			for shift := range len(c.in) + 8 {
				before := strings.Repeat("x", chunkSize-shift-len("Content-Length: 99999\r\n\r\n"))
				s := Open(&pieces{}, framing).(*stream)
				in := string(s.appendEnd(append(s.appendOpen(nil, len(before)), before...))) + strings.TrimPrefix(c.in, "\xEF\xBB\xBF")
				s.rwc = &pieces{in: whole(in)}
				type held struct {
					c *chunk
					m []byte
				}
				var hold []held
				for {
					m, ok, err := s.next()
					if err != nil {
						t.Fatal(err)
					}
					if ok {
						s.chunk().retain()
						hold = append(hold, held{s.chunk(), m})
						continue
					}
					if s.fill() != nil {
						break
					}
				}
				if len(hold) != 4 || string(hold[0].m) != before {
					t.Fatalf("shift %d: %d messages", shift, len(hold))
				}
				for i, h := range hold[1:] {
					if string(h.m) != c.want[i] {
						t.Fatalf("shift %d: got %q, want %q", shift, h.m, c.want[i])
					}
				}
				for _, h := range hold {
					h.c.release()
				}
			}
		})
	}
}
