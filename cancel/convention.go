package cancel

import (
	"slices"
	"unicode/utf8"

	"github.com/segmentio/encoding/json"
)

// MaxReason is the length in bytes to which [Convention.Why] cuts the reason a
// peer gave. It is meant for a log line or an error text, not for transport.
const MaxReason = 256

// Convention says how one protocol cancels a request. It is plain data: fill
// the fields and give it to a [Registry]. The methods read the Convention only
// and are safe for concurrent use as long as nobody writes to it; a Registry
// keeps its own copy.
type Convention struct {
	// Method is the method of the cancel notification, "$/cancelRequest" in
	// LSP. A message of that method which has an id is an ordinary request and
	// cancels nothing.
	Method string

	// Param is the member of the notification's params that holds the id of
	// the request to cancel. It is matched exactly and on the first level only.
	Param string

	// Reason is the member of params that holds a text for people. Empty: the
	// protocol has none.
	Reason string

	// Code is the error code with which a cancelled request is answered when
	// its handler returns the error of its context, or never started. Zero
	// leaves the answer to the handler.
	Code int64

	// Message goes with Code. Empty gives "Request cancelled".
	Message string

	// Silent leaves a cancelled request without any response, as MCP asks for.
	// Code and Message then have no effect.
	Silent bool

	// Exempt lists methods that must not be cancelled, such as "initialize" in
	// MCP: no cancel is sent for them and a cancel that names them is ignored.
	Exempt []string
}

// ID returns the text of the request id in the params of a cancel
// notification, as it stands on the wire. The result aliases params.
//
// It reports false, and the notification cancels nothing, when params is
// absent or no object, when the member is missing or occurs twice, and when its
// value is not a string, a number or null. Whether null names a request is for
// the caller to decide. Member names are compared after JSON unescaping, and
// exactly: "ID" is not "id".
//
// params must be valid JSON; ID does not allocate and does not recurse. For
// anything else it returns no useful id but does not panic.
func (c *Convention) ID(params []byte) (rawID []byte, ok bool) {
	v, n := member(params, c.Param)
	if n != 1 || len(v) == 0 {
		return nil, false
	}
	switch b := v[0]; {
	case b == '"', b == '-', b == 'n', '0' <= b && b <= '9':
		return v, true
	}
	return nil, false
}

// Why returns the reason in the params of a cancel notification, decoded and
// cut to at most [MaxReason] bytes at a rune boundary. It is empty when the
// convention has no reason, when the member is missing or occurs twice, and
// when it is not a string.
//
// The text is the peer's: quote it wherever it is shown. Control characters
// are kept, an unpaired surrogate becomes U+FFFD. params must be valid JSON.
func (c *Convention) Why(params []byte) string {
	if c.Reason == "" {
		return ""
	}
	v, n := member(params, c.Reason)
	if n != 1 || len(v) < 2 || v[0] != '"' {
		return ""
	}
	raw := v[1 : len(v)-1]
	var buf [MaxReason]byte
	text := buf[:0]
	for len(raw) > 0 {
		r, size, paired := nextRune(raw)
		if !paired {
			r = utf8.RuneError
		}
		if len(text)+utf8.RuneLen(r) > MaxReason {
			break
		}
		text = utf8.AppendRune(text, r)
		raw = raw[size:]
	}
	return string(text)
}

// Params builds the params of the cancel notification for a request that this
// side sent: an object with the id under Param, its text unchanged, and the
// reason where the convention has a member for it and reason is not empty.
//
// rawID is JSON text, a string with its quotes or a number; nil stands for
// null. The reason is sent to the peer as it is, so it must not carry a local
// error text.
func (c *Convention) Params(rawID []byte, reason string) []byte {
	b := make([]byte, 0, len(c.Param)+len(rawID)+len(c.Reason)+len(reason)+16)
	b = append(b, '{')
	b = appendString(b, c.Param)
	b = append(b, ':')
	if len(rawID) == 0 {
		b = append(b, "null"...)
	}
	b = append(b, rawID...)
	if c.Reason != "" && reason != "" {
		b = append(b, ',')
		b = appendString(b, c.Reason)
		b = append(b, ':')
		b = appendString(b, reason)
	}
	return append(b, '}')
}

// Exempts reports whether requests of that method cannot be cancelled.
func (c *Convention) Exempts(method string) bool {
	return slices.Contains(c.Exempt, method)
}

// Text returns the error message that goes with Code: Message, or "Request
// cancelled" if that is empty.
func (c *Convention) Text() string {
	if c.Message == "" {
		return "Request cancelled"
	}
	return c.Message
}

// appendString appends s as a JSON string. A string always encodes, so there is
// no error to pass on.
func appendString(b []byte, s string) []byte {
	out, err := json.Append(b, s, 0)
	if err != nil {
		return append(b, `""`...)
	}
	return out
}
