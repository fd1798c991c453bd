package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Errors of asking the client. They are different on purpose: none of them is consent, and only the first means that the answer may still come.
var (
	// ErrInputRequired is returned by everything that asks when the answer is not there yet and the call will be run again with it (revision 2026-07-28).
	// The context of the call has ended then. Return it: whatever else is returned is dropped.
	ErrInputRequired = errors.New("mcp: input required")
	// ErrDeclined says that the user refused. The model reads its text where a tool returns it.
	ErrDeclined = errors.New("the user declined")
	// ErrCancelled says that the user closed the question without deciding.
	ErrCancelled = errors.New("the user cancelled")
	// ErrAskTimeout is returned when the client has not answered a question within Server.AskTimeout (revisions with requests to the client).
	ErrAskTimeout = errors.New("mcp: the client did not answer in time")
	// ErrAnswer is returned when a client has answered a form three times with what its schema does not allow, or with no answer at all.
	ErrAnswer = errors.New("mcp: the answer of the client does not fit the question")
	// ErrRounds is returned when a call would need more round trips than are allowed.
	ErrRounds = errors.New("mcp: too many rounds of questions")
)

// errAsksNowhere: results of other methods cannot ask (MCP 2026-07-28, patterns, MRTR).
var errAsksNowhere = errors.New("mcp: only a Caller, a Prompter and a Reader can ask the client in revision 2026-07-28")

// CapabilityError says that the client cannot be asked: it has not declared what that needs, its revision does not have it, or there is no way back to it.
// It is returned before anything is sent. A function that cannot go on without returns it: the client of 2026-07-28 then gets error -32021 with the
// missing capabilities; a model gets to read it in earlier revisions.
type CapabilityError struct {
	Missing ClientCapabilities // what would have been needed and is not there, and nothing else
	cause   error
}

// Error names what is missing.
func (e *CapabilityError) Error() string {
	return "the client cannot be asked: it lacks the capabilities " + string(e.Missing.encode())
}

// Unwrap returns [ErrNoSession] if there is no client at all.
func (e *CapabilityError) Unwrap() error { return e.cause }

// wire is the error that says so on the wire (MCP 2026-07-28, basic, error codes).
func (e *CapabilityError) wire() *jsonrpc2.Error {
	data := append([]byte(`{"requiredCapabilities":`), e.Missing.encode()...)
	return &jsonrpc2.Error{Code: CodeMissingCapability, Message: "Missing required client capability", Data: append(data, '}')}
}

// encode writes the capabilities that are there.
func (c *ClientCapabilities) encode() []byte {
	dst := []byte{'{'}
	for _, m := range []struct {
		name  string
		value json.RawMessage
	}{
		{"roots", c.Roots}, {"sampling", c.Sampling}, {"elicitation", c.Elicitation}, {"experimental", c.Experimental}, {"tasks", c.Tasks}, {"extensions", c.Extensions},
	} {
		if m.value == nil {
			continue
		}
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, m.name), ':')
		dst = append(dst, m.value...)
	}
	return append(dst, '}')
}

// ClientError is the error answer of a client to a question (revisions with requests to the client).
type ClientError struct {
	Method  string
	Code    jsonrpc2.Code
	Message string // the client's own words
}

// Error quotes the client, shortened.
func (e *ClientError) Error() string {
	return fmt.Sprintf("mcp: the client answered %s with error %d %q", e.Method, e.Code, clip(e.Message))
}

// Kind is a kind of question, with what a client must be able to do for it. See [Session.Can].
type Kind uint8

// The kinds.
const (
	KindForm            Kind = iota + 1 // elicitation by a form (since 2025-06-18)
	KindURL                             // elicitation by a page that the user visits (since 2025-11-25)
	KindSampling                        // a message by the client's model
	KindSamplingTools                   // the same, with tools it may use (since 2025-11-25)
	KindSamplingContext                 // the same, with the context of other servers
	KindRoots                           // the client's roots
)

// needs is a set of kinds.
type needs uint8

func (n needs) has(k Kind) bool { return n>>k&1 != 0 }

func need(kinds ...Kind) (n needs) {
	for _, k := range kinds {
		n |= 1 << k
	}
	return n
}

// offers is what a client can be asked.
func (t *terms) offers() (n needs) {
	var v [2][]byte
	rev, c := t.revision, &t.capabilities
	if c.Roots != nil {
		n |= need(KindRoots)
	}
	if c.Sampling != nil {
		n |= need(KindSampling)
		pick(c.Sampling, []string{"tools", "context"}, v[:])
		if rev.samplingTools() && isObject(v[0]) {
			n |= need(KindSamplingTools)
		}
		if !rev.samplingTools() || isObject(v[1]) { // before, it needed no capability
			n |= need(KindSamplingContext)
		}
	}
	if c.Elicitation != nil && rev.elicitation() {
		v = [2][]byte{}
		pick(c.Elicitation, []string{"form", "url"}, v[:])
		if isObject(v[0]) || v[1] == nil || !rev.urlMode() {
			n |= need(KindForm)
		}
		if isObject(v[1]) && rev.urlMode() {
			n |= need(KindURL)
		}
	}
	return n
}

// missing is the capabilities that stand for kinds.
func (n needs) missing() (c ClientCapabilities) {
	if n.has(KindRoots) {
		c.Roots = json.RawMessage(`{}`)
	}
	switch tools, others := n.has(KindSamplingTools), n.has(KindSamplingContext); {
	case tools && others:
		c.Sampling = json.RawMessage(`{"tools":{},"context":{}}`)
	case tools:
		c.Sampling = json.RawMessage(`{"tools":{}}`)
	case others:
		c.Sampling = json.RawMessage(`{"context":{}}`)
	case n.has(KindSampling):
		c.Sampling = json.RawMessage(`{}`)
	}
	switch form, url := n.has(KindForm), n.has(KindURL); {
	case form && url:
		c.Elicitation = json.RawMessage(`{"form":{},"url":{}}`)
	case form:
		c.Elicitation = json.RawMessage(`{"form":{}}`)
	case url:
		c.Elicitation = json.RawMessage(`{"url":{}}`)
	}
	return c
}

// Question is one thing to ask the client. It is made by the Question methods of [Form], [URLElicitation] and [CreateMessageRequest], by [FormFor] and by
// [RootsQuestion], asked by [Session.Ask] or an [InputRequired], and belongs to one call.
type Question struct {
	method   string
	word     string // of its key, where it has none of its own
	key      string
	auto     bool // the key was made up
	unpinned bool
	timeout  time.Duration
	needs    needs
	text     []byte                  // the params, as the newest revision has them
	fit      func(r revision) []byte // and as others have them; nil: the same
	schema   *schema                 // of a form's content
	defaults json.RawMessage         // of fields of a form that are left empty
	several  bool                    // a form with a choice of several
	err      error                   // why it cannot be asked
	digest   []byte                  // of method and params
	answer   json.RawMessage         // nil: none yet
}

const digestSize = 16

// AskOption changes how one question is asked.
type AskOption func(*Question)

// Key gives a question a name of its own, for the rounds of a call. Without, it is named after its kind and its place in the order of questions: so
// a function that asks from several goroutines must give keys.
func Key(key string) AskOption { return func(q *Question) { q.key = key } }

// Unpinned takes an answer that a client sends without having been asked, in the first request of a call. By default an answer counts only if the very
// question was asked before, as the sealed state proves. [Session.Confirm] ignores it.
func Unpinned(q *Question) { q.unpinned = true }

// Within limits how long a function waits for the answer, instead of Server.AskTimeout. It means nothing in revision 2026-07-28, where nobody waits.
func Within(d time.Duration) AskOption { return func(q *Question) { q.timeout = d } }

func newQuestion(method, word string, n needs, text []byte, err error, o []AskOption) *Question {
	q := &Question{method: method, word: word, needs: n, text: text, err: err}
	for _, f := range o {
		f(q)
	}
	h := sha256.New()
	h.Write([]byte(method))
	h.Write([]byte{0})
	digestJSON(h, text)
	q.digest = h.Sum(nil)[:digestSize]
	return q
}

// params is what is sent to a client of a revision.
func (q *Question) params(r revision) []byte {
	if q.fit == nil {
		return q.text
	}
	return q.fit(r)
}

// check says what is wrong with an answer: it is none of the kind that was asked for. It says nothing of its content.
func (q *Question) check(raw []byte) error { return checkAnswer(q.method, raw) }

func checkAnswer(method string, raw []byte) (err error) {
	switch method {
	case methodElicit:
		_, err = parseElicit(raw)
	case methodSample:
		_, err = parseMessage(raw)
	case methodRoots:
		_, err = parseRoots(raw)
	}
	return err
}

// fits reports whether the content of an accepted form, checked before, is what the form asked for.
func (q *Question) fits(raw []byte) bool {
	if q.schema == nil {
		return true
	}
	e, err := parseElicit(raw)
	return err == nil && (e.Action != Accept || q.schema.validate(e.Content, "content") == nil)
}

// Answered reports whether the client has answered.
func (q *Question) Answered() bool { return q.answer != nil }

// Elicited returns the answer to a form or a page, nil if there is none or it was another question.
func (q *Question) Elicited() *ElicitResult {
	if q.method != methodElicit || q.answer == nil {
		return nil
	}
	e, _ := parseElicit(q.answer)
	return e
}

// Decode decodes the content of an accepted form into v. It returns [ErrDeclined] and [ErrCancelled] for what they say, and [ErrInputRequired] if there is
// no answer.
func (q *Question) Decode(v any) error {
	e := q.Elicited()
	if e == nil {
		return ErrInputRequired
	}
	if q.defaults != nil && e.Action == Accept {
		_ = jsonrpc2.DefaultCodec.Unmarshal(q.defaults, v) // where v is of another type they are not its
	}
	return e.Decode(v)
}

// Message returns the answer to a [CreateMessageRequest], nil if there is none or it was another question.
func (q *Question) Message() *CreateMessageResult {
	if q.method != methodSample || q.answer == nil {
		return nil
	}
	m, _ := parseMessage(q.answer)
	return m
}

// Roots returns the answer to a [RootsQuestion], nil if there is none or it was another question.
func (q *Question) Roots() []Root {
	if q.method != methodRoots || q.answer == nil {
		return nil
	}
	roots, _ := parseRoots(q.answer)
	return roots
}

// Can reports whether the client can be asked that kind of question: it has declared it, its revision has it, and there is a way to ask.
func (ses *Session) Can(k Kind) bool {
	if ses == nil || ses.request == nil && ses.peer() == nil {
		return false
	}
	return ses.now().offers().has(k)
}

// Ask asks several things in one round trip, and returns nil when all are answered: then each Question has its answer. To decline is an answer, too; see
// [Question.Decode]. The client must be able to do all of it, or nothing is asked and a *[CapabilityError] returned.
//
// With initialize Ask waits, at most Server.AskTimeout, and the requests belong to the call of ctx. Since 2026-07-28 it does not wait: without answers it
// returns [ErrInputRequired], the call's function must return, and is run again when the client has the answers; then Ask returns them. What a
// function asks must follow from its arguments, earlier answers and [Memo]: an answer counts for the very question that was asked, and no other.
func (ses *Session) Ask(ctx context.Context, qs ...*Question) error {
	if len(qs) == 0 {
		return nil
	}
	return ses.flow(ctx).ask(ctx, qs)
}

// flow is what is known of the call that ctx belongs to. Without one, or where it is another session's, every ask stands for itself.
func (ses *Session) flow(ctx context.Context) *flow {
	c := callFrom(ctx)
	switch {
	case ses != nil && ses.request != nil:
		return ses.request.flow()
	case c != nil && c.session == ses && !c.modern() && c.begun:
		return c.flow()
	}
	return ses.looseFlow()
}

func sameDigest(a, b []byte) bool { return bytes.Equal(a, b) }
