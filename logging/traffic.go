package logging

import (
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/hashicorp/go-hclog"
)

// TrafficMessage is the fixed text of every record of a [Traffic]. What the
// peer sent is in the record's fields.
const TrafficMessage = "traffic"

// Options configure a [Traffic]. The zero value is useful.
type Options struct {
	// Redact lists names of members, headers and URL parameters that hold
	// secrets, in addition to the built-in ones. See [NewRedactor].
	Redact []string

	// Protocol and Connection become fields of every record, if not empty: the
	// protocol spoken, and a name that tells one connection from another.
	Protocol   string
	Connection string
}

// Traffic writes every message of a connection to an [hclog.Logger], without
// its secrets. It satisfies the tap interface of package jsonrpc2.
//
// Records have the level Debug, the fixed message [TrafficMessage] and the
// fields
//
//   - direction: "inbound" or "outbound"
//   - message: the redacted text, or [Failed]
//   - length: bytes of the message as it was on the wire, without framing
//   - protocol, connection: from the Options
//
// While the logger's level is above Debug a message costs one call of IsDebug
// and no allocation. A logger that panics is ignored: a log must never hurt the
// connection. A logger that blocks does hold it up, and one that sends its
// records over the same connection must leave out those of Traffic.
//
// The zero Traffic and a nil *Traffic do nothing. A Traffic is safe for
// concurrent use if its logger is, as those of hclog are.
type Traffic struct {
	logger     hclog.Logger
	redactor   *Redactor
	protocol   string
	connection string
}

// NewTraffic returns a Traffic that writes to l. A nil logger gives a Traffic
// that does nothing; nil options are the zero Options.
func NewTraffic(l hclog.Logger, o *Options) *Traffic {
	if l == nil {
		return new(Traffic)
	}
	if o == nil {
		o = new(Options)
	}
	return &Traffic{
		logger:     l,
		redactor:   NewRedactor(o.Redact...),
		protocol:   printable(o.Protocol, false),
		connection: printable(o.Connection, false),
	}
}

// Named returns a Traffic for another connection: it writes to the same logger
// with the same redaction, and its records have that connection, none if empty.
func (t *Traffic) Named(connection string) *Traffic {
	if t == nil {
		return nil
	}
	named := *t
	named.connection = printable(connection, false)
	return &named
}

// Inbound records a message that was received. It does not keep frame.
func (t *Traffic) Inbound(frame []byte) { t.record("inbound", frame) }

// Outbound records a message that is sent. It does not keep frame.
func (t *Traffic) Outbound(frame []byte) { t.record("outbound", frame) }

func (t *Traffic) record(direction string, frame []byte) {
	if t == nil || t.logger == nil {
		return
	}
	defer func() { _ = recover() }()
	if t.logger.IsDebug() {
		t.write(direction, frame)
	}
}

func (t *Traffic) write(direction string, frame []byte) {
	text := printable(string(t.redactor.Redact(frame)), true)
	args := append(make([]any, 0, 10), "direction", direction, "message", hclog.Quote(text), "length", len(frame))
	if t.protocol != "" {
		args = append(args, "protocol", hclog.Quote(t.protocol))
	}
	if t.connection != "" {
		args = append(args, "connection", hclog.Quote(t.connection))
	}
	t.logger.Debug(TrafficMessage, args...)
}

// printable makes text safe for a log. hclog.Quote quotes it in hclog's text
// mode, but in JSON mode only the characters below U+0020 and few others are
// escaped: a next line (U+0085), a terminal's control sequence (U+009B) or a
// change of the writing direction would come through. So every character
// beyond ASCII that has no picture becomes an escape. In JSON, where it can only
// stand in a string, the text keeps its meaning; there the line breaks between
// values stay as they are, which both modes escape.
func printable(text string, inJSON bool) string {
	plain := 0
	for plain < len(text) && shows(rune(text[plain]), inJSON) {
		plain++
	}
	if plain == len(text) {
		return text
	}
	out := make([]byte, plain, len(text)+64)
	copy(out, text)
	for i := plain; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if shows(r, inJSON) || r >= utf8.RuneSelf && unicode.IsGraphic(r) {
			out = append(out, text[i:i+n]...)
		} else if r1, r2 := utf16.EncodeRune(r); r1 != utf8.RuneError {
			out = appendEscape(appendEscape(out, r1), r2)
		} else {
			out = appendEscape(out, r)
		}
		i += n
	}
	return string(out)
}

// shows reports whether an ASCII character may stay.
func shows(r rune, inJSON bool) bool {
	return ' ' <= r && r < 0x7f || inJSON && r < ' '
}

func appendEscape(b []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(b, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}
