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
}

// Inspect looks at a payload as [Dispatcher.Handle] will, for a transport that must know what it carries before it hands it over: HTTP routes
// and refuses messages by what is in them. Nesting beyond maxDepth, invalid UTF-8 and what is not JSON are a *[UnitError]; a maxDepth of 0 is
// [DefaultMaxDepth].
func Inspect(payload []byte, maxDepth int) (Message, error) {
	if maxDepth <= 0 {
		maxDepth = DefaultMaxDepth
	}
	var e envelope
	batch, err := scanMessage(payload, maxDepth, &e)
	if err != nil {
		return Message{}, &UnitError{Reason: err.Error()}
	}
	if batch {
		return Message{Kind: KindBatch, Entries: e.entries}, nil
	}
	m := Message{ID: ID{string(e.id)}, Params: e.params}
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
		m.Method = methodName(&e)
	}
	return m, nil
}
