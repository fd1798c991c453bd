package mcp

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Keys of _meta that belong to the protocol (MCP 2026-07-28, basic, _meta).
const (
	metaPrefix       = "io.modelcontextprotocol/"
	MetaVersion      = metaPrefix + "protocolVersion"
	MetaCapabilities = metaPrefix + "clientCapabilities"
	MetaClient       = metaPrefix + "clientInfo"
	MetaLevel        = metaPrefix + "logLevel"
	MetaServer       = metaPrefix + "serverInfo"
	MetaSubscription = metaPrefix + "subscriptionId"
)

// envelope is what the _meta of a request says about the request itself. Values are raw, nil where there is none; null is a value.
type envelope struct {
	version, capabilities, client, level []byte
	token                                []byte
	twice                                bool // a key of the protocol's stands there twice
	tokenTwice                           bool
}

// readMeta walks over _meta once.
func readMeta(meta []byte) (e envelope) {
	if !isObject(meta) {
		return e
	}
	for o := (object{b: meta}); ; {
		raw, value, ok := o.next()
		if !ok {
			return e
		}
		var slot *[]byte
		switch name := metaName(raw); string(name) {
		case MetaVersion:
			slot = &e.version
		case MetaCapabilities:
			slot = &e.capabilities
		case MetaClient:
			slot = &e.client
		case MetaLevel:
			slot = &e.level
		case "progressToken":
			if e.token != nil {
				e.tokenTwice = true
			}
			e.token = value
			continue
		default:
			continue
		}
		if *slot != nil {
			e.twice = true
		}
		*slot = value
	}
}

// metaName is a member name without escapes.
func metaName(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	return unquote(raw)
}

// modern reports whether the request is of the era without initialize: it names its revision, well or badly, or its capabilities without one.
func (e *envelope) modern() bool { return e.version != nil || e.capabilities != nil }

// problem is what is wrong with the envelope of a modern request: what is required is missing, or of the wrong type.
func (e *envelope) problem() *jsonrpc2.Error {
	switch {
	case e.twice:
		return envelopeError("a key of the protocol stands in _meta twice")
	case e.version == nil:
		return envelopeError("_meta must have " + MetaVersion)
	case e.version[0] != '"':
		return envelopeError(MetaVersion + " in _meta must be a string")
	case e.capabilities == nil:
		return envelopeError("_meta must have " + MetaCapabilities)
	case !isObject(e.capabilities):
		return envelopeError(MetaCapabilities + " in _meta must be an object")
	case e.client != nil && !isObject(e.client):
		return envelopeError(MetaClient + " in _meta must be an object")
	}
	return nil
}

// supported finds the revision, or the error that names those there are.
func (e *envelope) supported() (revision, *jsonrpc2.Error) {
	if n := len(e.version); n > 2 && string(e.version[1:n-1]) == revisionNames[lastRevision] {
		return lastRevision, nil
	}
	name, _ := stringValue(e.version)
	if r := revisionNamed(name); r.modern() {
		return r, nil
	}
	return 0, unsupportedVersion(name, ModernVersions)
}

// rest checks what is optional: it comes after the method is known.
func (e *envelope) rest() (level uint8, err *jsonrpc2.Error) {
	if e.level != nil {
		name, _ := stringValue(e.level)
		l, ok := levelNamed(name)
		if !ok {
			return 0, envelopeError(MetaLevel + " in _meta is no level")
		}
		level = uint8(l) + 1
	}
	if e.token != nil && (e.tokenTwice || !isToken(e.token)) {
		return 0, envelopeError("progressToken must be a string or an integer")
	}
	return level, nil
}

func envelopeError(what string) *jsonrpc2.Error {
	return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "Invalid params: " + what}
}

// unsupportedVersion is the error -32022 (MCP 2026-07-28 versioning).
func unsupportedVersion(requested string, supported []string) *jsonrpc2.Error {
	data := []byte(`{"supported":[`)
	for i, v := range supported {
		if i > 0 {
			data = append(data, ',')
		}
		data = appendString(data, v)
	}
	data = append(data, `],"requested":`...)
	data = append(appendString(data, clip(requested)), '}')
	return &jsonrpc2.Error{Code: CodeUnsupportedVersion, Message: "Unsupported protocol version", Data: data}
}

// Message is what a host has to know of a payload before it hands it over. See [Inspect].
type Message struct {
	jsonrpc2.Message
	// Modern says that the message belongs to the era without initialize: its _meta names a revision, of whatever type, or capabilities
	// without one. A host may know better, from a header for one.
	Modern bool
	// Version is the revision in _meta, "" if there is none or it is no string.
	Version string

	meta      envelope
	target    []byte
	arguments []byte

	picked bool // room is what the method, which has callNames, would look for
	clean  bool // none of it stands there twice
	room   values
}

// Inspect looks into a payload: which kind of message it is, which era it belongs to, and what a transport repeats of it in headers. The error
// says that it is not JSON, not UTF-8 or nested too deeply: a parse error (-32700). The Message shares the payload's memory.
func Inspect(payload []byte) (Message, error) {
	inner, err := jsonrpc2.InspectLong(payload, 0)
	m := Message{Message: inner}
	if err != nil || !isObject(m.Params) {
		return m, err
	}
	target := ""
	switch {
	case m.Method == "tools/call", m.Method == "prompts/get":
		m.clean = pickKnown(m.Params, callNames, m.room[:], m.LongStrings())
		m.picked = true
		m.look(m.room[0])
		m.target, m.arguments = m.room[1], m.room[2]
		return m, nil
	case m.Method == "resources/read", m.Method == "resources/subscribe", m.Method == "resources/unsubscribe":
		target = "uri"
	case strings.HasPrefix(m.Method, "tasks/"):
		target = "taskId"
	}
	var v [3][]byte
	pick(m.Params, []string{"_meta", "arguments", target}, v[:])
	m.look(v[0])
	m.arguments = v[1]
	if target != "" {
		m.target = v[2]
	}
	return m, nil
}

// look looks into _meta.
func (m *Message) look(meta []byte) {
	m.meta = readMeta(meta)
	m.Modern = m.meta.modern()
	m.Version, _ = stringValue(m.meta.version)
}

// Target returns what the request is about, if its method is about one thing and the params name it: the name of a tool or prompt, the URI of a
// resource, the id of a task.
func (m *Message) Target() (string, bool) { return stringValue(m.target) }

// Arguments returns the raw arguments of a tools/call or prompts/get, nil if they are absent or no object.
func (m *Message) Arguments() json.RawMessage {
	if !isObject(m.arguments) {
		return nil
	}
	return m.arguments
}

// Envelope returns the error for a modern request whose _meta misses what is required, or has it of the wrong type: code -32602 (MCP 2026-07-28,
// basic). Nil: nothing is missing.
func (m *Message) Envelope() *jsonrpc2.Error { return m.meta.problem() }

// Supported returns the error for a modern request of a revision that is not spoken: code -32022, with the revisions that are. Nil: it is one of
// [ModernVersions].
func (m *Message) Supported() *jsonrpc2.Error {
	_, err := m.meta.supported()
	return err
}

// AnswerCode returns the error code of an answer to one request, and 0 for a result, a batch and nil. It is how a transport chooses a status.
func AnswerCode(answer []byte) jsonrpc2.Code {
	for o := (object{b: answer}); ; {
		name, value, ok := o.next()
		if !ok || string(name) == "result" {
			return 0
		}
		if string(name) != "error" {
			continue
		}
		var v [1][]byte
		if !pick(value, []string{"code"}, v[:]) {
			return 0
		}
		var code jsonrpc2.Code
		if jsonrpc2.DefaultCodec.Unmarshal(v[0], &code) != nil {
			return 0
		}
		return code
	}
}
