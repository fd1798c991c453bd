package jsonrpc2

// kind is what one JSON-RPC message is taken for.
type kind uint8

const (
	kindInvalid      kind = iota // not a message of JSON-RPC 2.0: an Invalid Request
	kindRequest                  // has method and id (section 4)
	kindNotification             // has method and no id (section 4.1)
	kindResponse                 // has no method, but result or error (section 5)
)

// envelope is what one JSON-RPC message holds, as slices of its frame: valid as
// long as the frame is. Filling it allocates nothing.
type envelope struct {
	kind          kind
	idNull        bool // id is present and null
	methodEscaped bool // method holds a backslash: unquote it before use

	// response says that the message has no method, but result or error, whatever
	// its kind. It tells an invalid message that nobody must answer, lest two peers
	// answer each other for ever, from one that is owed an answer.
	response bool

	// bare says that the message has neither method, result nor error. It is a broken
	// response if its id is that of a call of ours, and else an invalid request.
	bare bool

	// malformed marks a kindResponse that breaks section 5: wrong version, no
	// usable id, both result and error, or an error that is no object. What is in
	// the error object is not looked at.
	malformed bool

	id     []byte // exact text; nil when absent or not a string, number or null
	method []byte // between the quotes, undecoded
	params []byte // raw; nil when absent or null
	result []byte // raw; nil when absent, the text null when null
	err    []byte // raw; nil when absent, the text null when null
	raw    []byte // the whole object or, in a batch, the whole entry

	// bad is why the message is kindInvalid or malformed, and else empty: a constant
	// that never holds text of the peer.
	bad string

	// entries is the number of entries of a batch, set by scanMessage only.
	entries int

	// long has the long strings of params, if they were asked for.
	long []longString
}

// scanMessage checks that frame is one JSON value, with nothing but whitespace
// around it, in valid UTF-8 and at most maxDepth brackets deep, all in one pass
// that also finds the members of the message.
//
// A single message is described by e; a value that is neither object nor array
// is kindInvalid. For a batch (section 6) e holds just the number of entries and
// the frame, and scanBatch gives the entries one by one. The error is a
// *syntaxError, and then e holds nothing: an id is never taken out of broken
// text.
func scanMessage(frame []byte, maxDepth int, e *envelope) (isBatch bool, err error) {
	return scanWith(frame, maxDepth, e, nil)
}

// scanFor is scanMessage, and finds the long strings of the params of a single message if that is asked for.
func scanFor(frame []byte, maxDepth int, e *envelope, long bool) (isBatch bool, err error) {
	if !long || len(frame) <= shortString {
		return scanWith(frame, maxDepth, e, nil)
	}
	var l longReader
	if isBatch, err = scanWith(frame, maxDepth, e, &l); err == nil {
		e.long = l.list
	}
	return isBatch, err
}

func scanWith(frame []byte, maxDepth int, e *envelope, long *longReader) (isBatch bool, err error) {
	i, f := skipSpace(frame, 0), faultNone
	start := i
	switch {
	case i >= len(frame):
		f = faultEnd
	case frame[i] == '{':
		i, f = scanObject(frame, i, 0, maxDepth, e, long)
	case frame[i] == '[':
		isBatch = true
		*e = envelope{bad: badBatch}
		i, f = countEntries(frame, i, maxDepth, &e.entries)
	default:
		*e = envelope{bad: badShape}
		i, f = skipScalarValue(frame, i)
	}
	if f == faultNone {
		e.raw = frame[start:i]
		if i = skipSpace(frame, i); i == len(frame) {
			return isBatch, nil
		}
		f = faultTrailing
	}
	*e = envelope{}
	return false, &syntaxError{Offset: i, Reason: faultText[f]}
}

func skipScalarValue(b []byte, i int) (int, fault) { return skipValue(b, i, 0, 0) }

// countEntries skips the array at i and counts its entries.
func countEntries(b []byte, i, maxDepth int, entries *int) (int, fault) {
	if maxDepth < 1 {
		return i, faultDepth
	}
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == ']' {
		return i + 1, faultNone
	}
	for n := 1; ; n++ {
		var f fault
		if i, f = skipValue(b, i, 1, maxDepth); f != faultNone {
			return i, f
		}
		i = skipSpace(b, i)
		if i >= len(b) {
			return i, faultEnd
		}
		switch b[i] {
		case ']':
			*entries = n
			return i + 1, faultNone
		case ',':
			i = skipSpace(b, i+1)
		default:
			return i, faultByte
		}
	}
}

// scanBatch describes the entries of a batch that scanMessage has accepted, each
// in its turn by e, and stops when yield returns false. An entry that is not an
// object is kindInvalid without an id.
func scanBatch(frame []byte, e *envelope, yield func() bool) {
	i := skipSpace(frame, 0) + 1
	for {
		i = skipSpace(frame, i)
		if i >= len(frame) || frame[i] == ']' {
			return
		}
		start := i
		var f fault
		if frame[i] == '{' {
			i, f = scanObject(frame, i, 1, unlimited, e, nil)
		} else {
			*e = envelope{bad: badShape}
			i, f = skipValue(frame, i, 1, unlimited)
		}
		if f != faultNone {
			return // never: the frame was checked
		}
		e.raw = frame[start:i]
		if !yield() {
			return
		}
		if i = skipSpace(frame, i); i < len(frame) && frame[i] == ',' {
			i++
		}
	}
}

// member is a set of envelope members.
type member uint8

const (
	memberVersion member = 1 << iota
	memberID
	memberMethod
	memberParams
	memberResult
	memberError
)

// Reasons for kindInvalid and malformed. They name the member and quote nothing.
const (
	badShape    = "message is not an object"
	badBatch    = "message is a batch"
	badEmpty    = "message has no method, result or error"
	badVersion  = `jsonrpc is not "2.0"`
	badID       = "id is not a string, number or null"
	badNoID     = "response has no id"
	badMethod   = "method is not a string"
	badParams   = "params is not an object or array"
	badOutcomes = "response has both result and error"
	badError    = "error is not an object"
)

// duplicates gives the reason for each member that must not be repeated.
var duplicates = [...]struct {
	m   member
	bad string
}{
	{memberID, "duplicate member id"},
	{memberMethod, "duplicate member method"},
	{memberParams, "duplicate member params"},
	{memberResult, "duplicate member result"},
	{memberError, "duplicate member error"},
	{memberVersion, "duplicate member jsonrpc"},
}

// scanObject skips the object at i, inside open brackets, and describes it as a
// message by e, raw and long excepted. long, if not nil, gets the strings of params.
func scanObject(b []byte, i, open, maxDepth int, e *envelope, long *longReader) (int, fault) {
	*e = envelope{}
	if open >= maxDepth {
		return i, faultDepth
	}
	open++
	var seen, twice, wrong member
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == '}' {
		e.classify(0, 0, 0)
		return i + 1, faultNone
	}
	for {
		if i >= len(b) {
			return i, faultEnd
		}
		if b[i] != '"' {
			return i, faultByte
		}
		at := i + 1
		end, escaped, f := skipString(b, at)
		if f != faultNone {
			return end, f
		}
		m := memberNamed(b[at:end-1], escaped)
		if i, f = skipColon(b, end); f != faultNone {
			return i, f
		}
		at = i
		switch {
		case i < len(b) && b[i] == '"':
			i, escaped, f = skipString(b, i+1)
		case m == memberParams && i < len(b) && (b[i] == '{' || b[i] == '['):
			i, f = skipContainer(b, i, open, maxDepth, long)
			escaped = false
		default:
			i, f = skipValue(b, i, open, maxDepth)
			escaped = false
		}
		if f != faultNone {
			return i, f
		}
		if m != 0 {
			twice |= seen & m
			seen |= m
			if !e.set(m, b[at:i], escaped) {
				wrong |= m
			}
		}
		i = skipSpace(b, i)
		if i >= len(b) {
			return i, faultEnd
		}
		switch b[i] {
		case '}':
			e.classify(seen, twice, wrong)
			return i + 1, faultNone
		case ',':
			i = skipSpace(b, i+1)
		default:
			return i, faultByte
		}
	}
}

// memberNamed returns the envelope member of that name, 0 for any other. Names
// match exactly and after unescaping: "Method" is another member than "method",
// "m\u0065thod" is not.
func memberNamed(name []byte, escaped bool) member {
	if escaped {
		if len(name) > maxEscaped*len("jsonrpc") {
			return 0
		}
		var buf [maxEscaped * len("jsonrpc")]byte
		name = appendDecoded(buf[:0], name, false)
	}
	switch string(name) {
	case "jsonrpc":
		return memberVersion
	case "id":
		return memberID
	case "method":
		return memberMethod
	case "params":
		return memberParams
	case "result":
		return memberResult
	case "error":
		return memberError
	}
	return 0
}

// set records the value of one member and reports whether it is of a type that
// the member may have.
func (e *envelope) set(m member, value []byte, escaped bool) bool {
	c := value[0]
	switch m {
	case memberVersion:
		return string(value) == `"2.0"` || escaped && nameIs(value[1:len(value)-1], "2.0")
	case memberID:
		e.idNull = c == 'n'
		if c == '{' || c == '[' || c == 't' || c == 'f' {
			e.id = nil
			return false
		}
		e.id = value
	case memberMethod:
		if c != '"' {
			return false
		}
		e.method, e.methodEscaped = value[1:len(value)-1], escaped
	case memberParams:
		if c == 'n' {
			e.params = nil
			return true
		}
		e.params = value
		return c == '{' || c == '['
	case memberResult:
		e.result = value
	case memberError:
		e.err = value
		return c == '{'
	}
	return true
}

// classify draws the conclusion from the members that were seen, those seen
// twice and those of a wrong type.
func (e *envelope) classify(seen, twice, wrong member) {
	hasID, hasMethod := seen&memberID != 0, seen&memberMethod != 0
	e.response = !hasMethod && seen&(memberResult|memberError) != 0
	e.bare = !hasMethod && !e.response
	if twice != 0 {
		if twice&memberID != 0 {
			e.id, e.idNull = nil, false // which of them was meant?
		}
		for _, d := range duplicates {
			if twice&d.m != 0 {
				e.bad = d.bad
				return
			}
		}
	}
	versioned := seen&memberVersion != 0 && wrong&memberVersion == 0
	switch {
	case e.response:
		e.kind = kindResponse
		switch {
		case wrong&memberID != 0:
			e.bad = badID
		case !hasID:
			e.bad = badNoID
		case !versioned:
			e.bad = badVersion
		case e.result != nil && e.err != nil:
			e.bad = badOutcomes
		case wrong&memberError != 0:
			e.bad = badError
		}
		e.malformed = e.bad != ""
	case wrong&memberID != 0:
		e.bad = badID
	case !hasMethod:
		e.bad = badEmpty
	case !versioned:
		e.bad = badVersion
	case wrong&memberMethod != 0:
		e.bad = badMethod
	case wrong&memberParams != 0:
		e.bad = badParams
	case hasID:
		e.kind = kindRequest
	default:
		e.kind = kindNotification
	}
}
