package jsonrpc2

import (
	"bytes"
	"math"
	"strconv"
)

const (
	contentLength = "Content-Length"
	contentType   = "Content-Type"
	crlf          = "\r\n"

	maxQuotedName = 64 // bytes of a name that an error quotes
	discardFactor = 64 // how many times the limit a message may announce and still be skipped rather than be the end

	endInHeader = "end of input inside the header block"
	endInBody   = "end of input inside the body"
)

// head is a header block that is being read.
type head struct {
	size    int   // bytes of the lines that are complete, with their ends
	length  int64 // Content-Length
	given   bool  // it has come
	named   bool  // the name of the line that is not complete has been checked
	foreign bool  // the charset is one we cannot read
	later   bool  // not the first block of the stream
}

// appendHeader appends the header block of a message of n bytes, always spelled like this.
func appendHeader(dst []byte, n int) []byte {
	dst = append(dst, contentLength+": "...)
	dst = strconv.AppendInt(dst, int64(n), 10)
	return append(dst, crlf+crlf...)
}

// nextBody is next for Header.
func (s *stream) nextBody() ([]byte, bool, error) {
	if s.skip > 0 {
		n := min(s.skip, int64(s.buffered()))
		s.r += int(n)
		if s.skip -= n; s.skip > 0 {
			return nil, false, s.short(s.skip, s.head.length)
		}
		s.head = head{later: true}
	}
	if s.need < 0 {
		done, err := s.readHead()
		if err != nil {
			return nil, false, s.lose(err)
		}
		if !done {
			if s.eof && s.inside() {
				return nil, false, s.lose(&FrameError{Reason: endInHeader})
			}
			return nil, false, nil
		}
		h := &s.head
		h.size = 0
		most := int64(s.lim.maxFrame)
		switch {
		case h.length > most && h.length/discardFactor >= most && h.length > most*discardFactor:
			return nil, false, s.lose(&FrameError{Header: contentLength, Reason: "message too large to be skipped"})
		case h.length > most:
			s.skip = h.length
			return nil, false, tooLarge(s.lim.maxFrame)
		case h.foreign:
			if s.skip = h.length; s.skip == 0 {
				s.head = head{later: true}
			}
			return nil, false, foreignCharset()
		}
		s.need = int(h.length)
	}
	if s.buffered() < s.need {
		return nil, false, s.short(int64(s.need-s.buffered()), int64(s.need))
	}
	frame := s.cur.buf[s.r : s.r+s.need : s.r+s.need]
	s.r += s.need
	s.need = -1
	s.head = head{later: true}
	return frame, true, nil
}

// short returns an error if the bytes that are missing of a body will never come.
func (s *stream) short(missing, length int64) error {
	if !s.eof {
		return nil
	}
	return s.lose(&FrameError{Reason: endInBody, Missing: missing, Length: length})
}

// readHead reads what is here of a header block, and reports whether that was all of it. Lines that are complete are taken out of the input at
// once, so a block needs no memory. Faults are found in the order of the bytes and as early as possible: a peer that speaks without headers must
// be told before it waits for an answer, and the result must not depend on how the input was cut.
func (s *stream) readHead() (done bool, err *FrameError) {
	h := &s.head
	if h.size == 0 && s.scan == 0 && s.quickHead() {
		return true, nil
	}
	for {
		p := s.input()
		n := bytes.IndexByte(p[s.scan:], '\n')
		whole := n >= 0
		if n += s.scan; !whole {
			n = len(p)
		}
		line, cr := bytes.CutSuffix(p[:n], []byte{'\r'})
		most := s.lim.maxHeader - h.size
		if !h.named {
			if err := h.checkName(line[:max(0, min(len(line), most))]); err != nil {
				return false, err
			}
		}
		if len(line) > 0 && len(line) > most {
			return false, &FrameError{Reason: "header block over the limit of " + strconv.Itoa(s.lim.maxHeader) + " bytes"}
		}
		if !whole {
			s.scan = len(p)
			return false, nil
		}
		if !cr {
			return false, &FrameError{Reason: "header line ends in LF without CR"}
		}
		s.scan, h.named = 0, false
		s.r += n + 1
		if len(line) == 0 {
			if !h.given {
				return false, &FrameError{Header: contentLength, Reason: "missing"}
			}
			return true, nil
		}
		if err := h.field(line); err != nil {
			return false, err
		}
		h.size += n + 1
	}
}

// quickHead reads the block that nearly all messages have, and only if all of it is here.
func (s *stream) quickHead() bool {
	p := s.input()
	const start = contentLength + ": "
	if len(p) < len(start)+len("0\r\n\r\n") || string(p[:len(start)]) != start {
		return false
	}
	n, i := 0, len(start)
	for ; i < len(p) && i < len(start)+9 && '0' <= p[i] && p[i] <= '9'; i++ {
		n = 10*n + int(p[i]-'0')
	}
	if i == len(start) || i > s.lim.maxHeader || len(p)-i < 4 || string(p[i:i+4]) != crlf+crlf {
		return false
	}
	s.head.length = int64(n)
	s.r += i + 4
	return true
}

// checkName checks a field name or the beginning of one (RFC 9110 section 5.1: a token), up to the colon.
func (h *head) checkName(line []byte) *FrameError {
	for i, b := range line {
		switch {
		case token(b):
			continue
		case b == ':' && i > 0:
			h.named = true
			return nil
		case b == ':':
			return &FrameError{Reason: "header line without a name"}
		case i == 0 && (b == ' ' || b == '\t'):
			return &FrameError{Reason: "header line begins with a blank"}
		case i == 0 && h.size == 0 && (b == '{' || b == '[') && !h.later:
			return &FrameError{Reason: "a message without a header block: the peer may be writing lines"}
		case i == 0 && h.size == 0 && h.later:
			return &FrameError{Header: quoteName(line[:1]),
				Reason: "no header name can begin like this: the Content-Length before it may be wrong"}
		}
		return &FrameError{Header: quoteName(line[:i+1]), Reason: "invalid character in the name"}
	}
	return nil
}

// field takes in one header field.
func (h *head) field(line []byte) *FrameError {
	name, value, ok := bytes.Cut(line, []byte{':'})
	if !ok {
		return &FrameError{Header: quoteName(line), Reason: "no colon"}
	}
	length, ctype := fold(name, contentLength), fold(name, contentType)
	fault := func(reason string) *FrameError {
		switch {
		case length:
			return &FrameError{Header: contentLength, Reason: reason}
		case ctype:
			return &FrameError{Header: contentType, Reason: reason}
		}
		return &FrameError{Header: quoteName(name), Reason: reason}
	}
	for _, b := range value {
		if b < ' ' && b != '\t' || b == 0x7F {
			return fault("control character in the value")
		}
	}
	value = bytes.Trim(value, " \t")
	switch {
	case ctype && !utf8Charset(value):
		h.foreign = true
	case length && h.given:
		return fault("given twice")
	case length:
		n, reason := parseLength(value)
		if reason != "" {
			return fault(reason)
		}
		h.length, h.given = n, true
	}
	return nil
}

// parseLength reads decimal digits. A number with too many is the largest there is.
func parseLength(v []byte) (n int64, reason string) {
	if len(v) == 0 {
		return 0, "empty"
	}
	for i, b := range v {
		switch {
		case b >= '0' && b <= '9':
		case b == '-' && i == 0:
			return 0, "negative"
		default:
			return 0, "not a decimal number"
		}
		if n > (math.MaxInt64-9)/10 {
			n = math.MaxInt64
			continue
		}
		n = 10*n + int64(b-'0')
	}
	return n, ""
}

// utf8Charset reports whether a media type (RFC 9110 section 8.3.1) names no charset, or utf-8, or utf8 as old LSP clients do. What follows no
// grammar names none.
func utf8Charset(v []byte) bool {
	_, v, more := bytes.Cut(v, []byte{';'})
	for more {
		i := bytes.IndexAny(v, "=;")
		if i < 0 || v[i] == ';' {
			_, v, more = bytes.Cut(v, []byte{';'})
			continue
		}
		name := bytes.Trim(v[:i], " \t")
		v = bytes.TrimLeft(v[i+1:], " \t")
		var val []byte
		if len(v) > 0 && v[0] == '"' {
			i := 1
			for ; i < len(v) && v[i] != '"'; i++ {
				if v[i] == '\\' && i+1 < len(v) {
					i++
				}
				val = append(val, v[i])
			}
			_, v, more = bytes.Cut(v[i:], []byte{';'})
		} else {
			val, v, more = bytes.Cut(v, []byte{';'})
		}
		if val = bytes.Trim(val, " \t"); fold(name, "charset") && !fold(val, "utf-8") && !fold(val, "utf8") {
			return false
		}
	}
	return true
}

// fold compares ASCII without case. bytes.EqualFold would take U+017F for an s.
func fold(p []byte, s string) bool {
	if len(p) != len(s) {
		return false
	}
	for i := range p {
		if lower(p[i]) != lower(s[i]) {
			return false
		}
	}
	return true
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		b += 'a' - 'A'
	}
	return b
}

// token reports whether b may stand in a field name.
func token(b byte) bool {
	switch {
	case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9':
		return true
	}
	switch b {
	case '!', '#', '$', '%', '&', '\'', '*', '+', '-', '.', '^', '_', '`', '|', '~':
		return true
	}
	return false
}

func quoteName(name []byte) string {
	return strconv.Quote(string(name[:min(len(name), maxQuotedName)]))
}
