package mcphttp

import (
	"bytes"
	"strconv"
	"strings"
	"time"
)

// Events of server-sent events (WHATWG HTML section 9.2). Each message is one event named message with one line of data.

// appendEvent appends the event of a message. stream "": without id.
func appendEvent(dst []byte, stream string, seq uint64, message []byte) []byte {
	dst = append(dst, "event: message\n"...)
	dst = appendEventID(dst, stream, seq)
	dst = append(dst, "data: "...)
	n := len(dst)
	dst = append(dst, message...)
	if bytes.IndexByte(message, '\n') >= 0 || bytes.IndexByte(message, '\r') >= 0 {
		for i := n; i < len(dst); i++ { // between tokens only: strings have it escaped
			if dst[i] == '\n' || dst[i] == '\r' {
				dst[i] = ' '
			}
		}
	}
	return append(dst, "\n\n"...)
}

func appendEventID(dst []byte, stream string, seq uint64) []byte {
	if stream == "" {
		return dst
	}
	dst = append(append(append(dst, "id: "...), stream...), '_')
	return append(strconv.AppendUint(dst, seq, 10), '\n')
}

// appendPriming appends an event that only gives a client an id to come back with (MCP 2025-11-25, streamable HTTP).
func appendPriming(dst []byte, stream string, seq uint64, retry time.Duration) []byte {
	dst = appendEventID(dst, stream, seq)
	if retry > 0 {
		dst = appendRetryField(dst, retry)
	}
	return append(dst, "data: \n\n"...)
}

func appendRetryField(dst []byte, retry time.Duration) []byte {
	dst = append(dst, "retry: "...)
	return append(strconv.AppendInt(dst, max(retry.Milliseconds(), 0), 10), '\n')
}

// appendRetry appends how long to wait before coming back; it dispatches no event.
func appendRetry(dst []byte, retry time.Duration) []byte {
	return append(appendRetryField(dst, retry), '\n')
}

// comment is a line that says nothing, but that the stream lives.
const comment = ": \n\n"

// parseEventID splits the id of an event.
func parseEventID(s string) (stream string, seq uint64, ok bool) {
	i := strings.LastIndexByte(s, '_')
	if i <= 0 || len(s) > 64 || !isDigits(s[i+1:]) {
		return "", 0, false
	}
	seq, err := strconv.ParseUint(s[i+1:], 10, 64)
	return s[:i], seq, err == nil
}
