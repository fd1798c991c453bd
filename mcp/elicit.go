package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

const methodElicit = "elicitation/create"

// Action is what a user did with a form or a page (MCP ElicitResult.action).
type Action string

// The actions. [Accept] of a page means that the user went there, and nothing more.
const (
	Accept  Action = "accept"
	Decline Action = "decline"
	Dismiss Action = "cancel"
)

// err is the error that stands for an action.
func (a Action) err() error {
	switch a {
	case Accept:
		return nil
	case Decline:
		return ErrDeclined
	}
	return ErrCancelled
}

// Form is a question that the user answers by filling in a form (MCP elicitation, form mode; since 2025-06-18). It must not ask for secrets: those go by
// [URLElicitation].
type Form struct {
	Message string
	// Schema is the JSON Schema of the form: an object whose properties are strings, numbers, booleans, or choices. Raw JSON is kept as it is; a
	// *jsonschema.Schema, and anything else that encodes as one, will do. Nil: the user can only accept or not. Clients of 2025-06-18 get it in the words
	// they know; a choice of several cannot be put to them.
	Schema any
}

// Question makes a question of the form, for [Session.Ask] and [InputRequired].
func (f Form) Question(o ...AskOption) *Question {
	b, err := newBlank(f.Schema)
	return b.question(f.Message, err, o)
}

// FormFor makes a question whose form is made of the fields of T, a struct: strings, numbers, booleans, each with the tags that [AddTool] knows. Fields
// with omitempty and pointers may be left empty.
func FormFor[T any](message string, o ...AskOption) *Question {
	b, err := blankOf[T]()
	return b.question(message, err, o)
}

// URLElicitation is a question that the user answers on a page of their own browser (MCP elicitation, URL mode; since 2025-11-25): the only way to ask
// for what the client must not see. Accepted means that the user agreed to go there. Whether they have done what the page asks is for the server to
// find out; the question may be asked again.
type URLElicitation struct {
	Message, URL string
	// ID is sent as elicitationId to clients of 2025-11-25. Empty: a random one.
	ID string
}

// Question makes a question of the page, for [Session.Ask] and [InputRequired].
func (u URLElicitation) Question(o ...AskOption) *Question {
	var err error
	if u.URL == "" {
		err = errors.New("mcp: elicitation without a URL")
	}
	write := func(id string) []byte {
		p := appendString([]byte(`{"mode":"url","message":`), u.Message)
		p = appendString(append(p, `,"url":`...), u.URL)
		if id != "" {
			p = appendString(append(p, `,"elicitationId":`...), id)
		}
		return append(p, '}')
	}
	q := newQuestion(methodElicit, "elicit", need(KindURL), write(""), err, o)
	q.fit = func(r revision) []byte {
		switch {
		case r.modern():
			return q.text
		case u.ID == "":
			return write(newCallID())
		}
		return write(u.ID)
	}
	return q
}

// ElicitResult is the user's answer (MCP ElicitResult).
type ElicitResult struct {
	Action  Action
	Content json.RawMessage // what was filled in, an object; nil unless accepted
}

// Decode decodes what was filled in into v. If the user has not accepted, it returns [ErrDeclined] or [ErrCancelled].
func (e *ElicitResult) Decode(v any) error {
	if err := e.Action.err(); err != nil {
		return err
	}
	err := jsonrpc2.DefaultCodec.Unmarshal(e.Content, v)
	if err != nil {
		// 3.0 is an integer to a schema and not to a Go int: once more, with those written as 3.
		if again := wholeNumbers(e.Content); again != nil {
			err = jsonrpc2.DefaultCodec.Unmarshal(again, v)
		}
	}
	if err != nil {
		return fmt.Errorf("%w: it does not decode into %T", ErrAnswer, v)
	}
	return nil
}

var errNoElicit = errors.New("no answer to an elicitation")

// parseElicit reads an ElicitResult. Accepted without content is accepted with an empty one.
func parseElicit(raw []byte) (*ElicitResult, error) {
	var v [2][]byte
	if !pick(raw, []string{"action", "content"}, v[:]) {
		return nil, errNoElicit
	}
	action, _ := stringValue(v[0])
	e := &ElicitResult{Action: Action(action)}
	switch e.Action {
	case Accept:
		e.Content = bytes.Clone(v[1])
		if v[1] == nil {
			e.Content = emptyResult
		} else if !isObject(v[1]) {
			return nil, errNoElicit
		}
	case Decline, Dismiss:
	default:
		return nil, errNoElicit
	}
	return e, nil
}

// Elicit lets the user fill in a form (MCP elicitation/create), and returns what they did: to decline is no error here. See [Session.Ask] for what it means
// in each era, and for the errors.
func (ses *Session) Elicit(ctx context.Context, f Form, o ...AskOption) (*ElicitResult, error) {
	q := f.Question(o...)
	if err := ses.Ask(ctx, q); err != nil {
		return nil, err
	}
	return q.Elicited(), nil
}

// ElicitURL sends the user to a page (MCP elicitation/create, URL mode), if they agree.
func (ses *Session) ElicitURL(ctx context.Context, u URLElicitation, o ...AskOption) (*ElicitResult, error) {
	q := u.Question(o...)
	if err := ses.Ask(ctx, q); err != nil {
		return nil, err
	}
	return q.Elicited(), nil
}

// ElicitAs lets the user fill in a form made of the fields of T, as [FormFor] does, and returns what they filled in. If they did not accept it returns
// [ErrDeclined] or [ErrCancelled]. See [Session.Ask] for what it means in each era.
func ElicitAs[T any](ctx context.Context, message string, o ...AskOption) (T, error) {
	var v T
	q := FormFor[T](message, o...)
	err := SessionFrom(ctx).Ask(ctx, q)
	if err == nil {
		err = q.Decode(&v)
	}
	return v, err
}

// Confirm asks the user to agree, and returns nil only if they did: everything else is an error, and a function that gets one must not go on. Tools that
// destroy something begin with it:
//
//	if err := mcp.SessionFrom(ctx).Confirm(ctx, "Delete "+in.Path+"?"); err != nil {
//		return "", err
//	}
//
// The question must say all that is agreed to: it is the text of the message that the answer is bound to.
func (ses *Session) Confirm(ctx context.Context, message string, o ...AskOption) error {
	q := confirmation(message, o)
	if err := ses.Ask(ctx, q); err != nil {
		return err
	}
	return q.confirmed()
}

func confirmation(message string, o []AskOption) *Question {
	q := Form{Message: message}.Question(o...)
	q.unpinned = false
	return q
}

func (q *Question) confirmed() error {
	e := q.Elicited()
	if e == nil {
		return ErrCancelled
	}
	return e.Action.err()
}
