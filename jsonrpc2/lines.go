package jsonrpc2

import "bytes"

// nextLine is next for Lines. Whatever the input is cut into, the same lines come out: nothing is decided by where a read ended.
func (s *stream) nextLine() ([]byte, bool, error) {
	for {
		p := s.input()
		if s.skipping {
			i := bytes.IndexByte(p, '\n')
			if i < 0 {
				s.r = s.w
				return nil, false, nil
			}
			s.r += i + 1
			s.skipping = false
			continue
		}
		// A large line comes in many reads. Only what is new is searched, or the time would grow with the square of its length.
		n := bytes.IndexByte(p[s.scan:], '\n')
		switch {
		case n >= 0:
			n += s.scan
			s.r += n + 1
		case s.eof && len(p) > 0:
			n = len(p)
			s.r = s.w
		default:
			s.scan = len(p)
			if len(p)-1 > s.lim.maxFrame || len(p)-1 == s.lim.maxFrame && p[len(p)-1] != '\r' {
				s.skipping = true
				s.r, s.scan = s.w, 0
				return nil, false, tooLarge(s.lim.maxFrame)
			}
			return nil, false, nil
		}
		s.scan = 0
		if n > 0 && p[n-1] == '\r' {
			n--
		}
		if n > s.lim.maxFrame {
			return nil, false, tooLarge(s.lim.maxFrame)
		}
		if line := p[:n:n]; !blank(line) {
			return line, true, nil
		}
	}
}

// blank reports whether there is nothing on a line.
func blank(line []byte) bool {
	for _, b := range line {
		if b != ' ' && b != '\t' && b != '\r' {
			return false
		}
	}
	return true
}
