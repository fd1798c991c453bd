package jsonrpc2

import "encoding/json"

// Kind is what a payload is taken for.
type Kind uint8

// The kinds of payload.
const (
	KindInvalid      Kind = iota // JSON that is no message of JSON-RPC 2.0
	KindRequest                  // a method and an id (section 4)
	KindNotification             // a method and no id (section 4.1)
	KindResponse                 // a result or an error (section 5)
	KindBatch                    // an array (section 6)
)

// Message is what [Inspect] finds in a payload. Params and the ID are as they stand there; Params shares its memory.
type Message struct {
	Kind    Kind
	ID      ID              // of a request or response, and of an invalid message that has one; zero: none
	Method  string          // of a request or notification
	Params  json.RawMessage // an object or array; nil when absent or null
	Entries int             // of a batch

	e       envelope
	payload []byte
	depth   int    // it was scanned with
	hold    *chunk // of a payload whose memory is used again
}

// Borrow says that the payload's memory will be used again once [Dispatcher.HandleInspected] has returned. Handlers that keep their params for good
// ([Request.Params]) do so all the same, and then [Message.Taken] is true and the memory is theirs.
func (m *Message) Borrow() {
	if m.hold == nil {
		m.hold = new(chunk)
	}
}

// Taken reports whether somebody keeps a part of a payload that was to be used again.
func (m *Message) Taken() bool { return m.hold != nil && m.hold.kept.Load() }

// Inspect looks at a payload as [Dispatcher.Handle] will, for a transport that must know what it carries before it hands it over: HTTP routes
// and refuses messages by what is in them. Nesting beyond maxDepth, invalid UTF-8 and what is not JSON are a *[UnitError]; a maxDepth of 0 is
// [DefaultMaxDepth].
func Inspect(payload []byte, maxDepth int) (Message, error) { return inspect(payload, maxDepth, false) }

// InspectLong is Inspect for handlers that use [Request.LongStrings], as with [Options.LongStrings].
func InspectLong(payload []byte, maxDepth int) (Message, error) {
	return inspect(payload, maxDepth, true)
}

func inspect(payload []byte, maxDepth int, long bool) (Message, error) {
	if maxDepth <= 0 {
		maxDepth = DefaultMaxDepth
	}
	m := Message{payload: payload, depth: maxDepth}
	e := &m.e
	batch, err := scanFor(payload, maxDepth, e, long)
	if err != nil {
		return Message{}, &UnitError{Reason: err.Error()}
	}
	if batch {
		m.Kind, m.Entries = KindBatch, e.entries
		return m, nil
	}
	m.ID, m.Params = ID{string(e.id)}, e.params
	switch e.kind {
	case kindRequest:
		m.Kind = KindRequest
	case kindNotification:
		m.Kind = KindNotification
	case kindResponse:
		m.Kind = KindResponse
		return m, nil
	}
	if e.method != nil {
		m.Method = methodName(e)
	}
	return m, nil
}
