package mcp

import (
	"context"
	"errors"
	"fmt"
)

// AddAskingTool adds a tool that asks before it works. ask puts questions, to q, and makes of the answers what do needs; do works, once, when every answer is
// there. Types, schemas and errors are as in [AddTool].
//
// ask is run again whenever answers have come, in every revision, and must be pure: it changes nothing, and what it asks follows from in, the answers so far
// and [Memo]. Where an answer is not there yet the functions and methods that ask report false and the value is zero; ask may go on with questions that do not
// depend on it, which are then put to the client together, or return. What it returns counts only when nothing is open. If the user declines or closes a
// question nothing more is asked, do is not run, and the model reads why; [FormOutcome] leaves that to ask. A question that the client cannot be asked is a
// *[CapabilityError] for the call; ask can look first, with [Session.Can].
//
// do does not ask. With t.SingleUse it is run once even if a client sends the last request again: see Server.Claimer.
func AddAskingTool[In, Ans, Out any](b *Toolbox, t Tool, ask func(ctx context.Context, in In, q *Asker) (Ans, error), do func(ctx context.Context, in In, answers Ans) (Out, error)) {
	if ask == nil || do == nil {
		panic(fmt.Sprintf("mcp: tool %q without a function", t.Name))
	}
	types, err := typesOf[In, Out](&t)
	must(err)
	single, name := t.SingleUse, t.Name
	t.SingleUse = false // it is taken care of here

	// prepare runs ask until it has every answer, and returns what is left to do.
	prepare := func(ctx context.Context, a Arguments) (body func(context.Context) (any, error), err error) {
		f := SessionFrom(ctx).flow(ctx)
		for {
			var v In
			if err := types.in().decode(a, &v); err != nil {
				text := fmt.Sprintf("Invalid arguments for tool %s: %v", name, err)
				return func(context.Context) (any, error) { return ErrorResult(text), nil }, nil
			}
			q := &Asker{f: f}
			ans, err := ask(ctx, v, q)
			again, verdict := q.verdict(ctx)
			switch {
			case verdict != nil:
				return nil, verdict
			case again:
				continue
			case err != nil:
				return func(ctx context.Context) (any, error) { return failed(ctx, err) }, nil
			}
			return func(ctx context.Context) (any, error) {
				if single {
					if err := Claim(ctx); err != nil {
						return nil, err
					}
				}
				f.work()
				res, err := do(ctx, v, ans)
				if err != nil {
					return failed(ctx, err)
				}
				return types.out().result(ctx, res)
			}, nil
		}
	}
	must(b.add(&boxed{tool: t, types: &types.shown, prepare: prepare, call: func(ctx context.Context, a Arguments) (any, error) {
		body, err := prepare(ctx, a)
		if err != nil {
			return nil, err
		}
		return body(ctx)
	}}, types.known))
}

// work says that what follows runs once.
func (f *flow) work() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.body = true
}

// Asker puts the questions of an asking tool. It belongs to one run of the tool's ask function, and one goroutine.
type Asker struct {
	f       *flow
	pending []*Question
	missing needs // of all questions
	cause   error
	err     error // the first other failure
	refused error
}

// put asks one question, and reports whether it is answered.
func (q *Asker) put(key string, x *Question) bool {
	x.key = key
	if q.err != nil || q.refused != nil {
		return false
	}
	open, err := q.f.put([]*Question{x}, true)
	if missing, ok := errors.AsType[*CapabilityError](err); ok {
		q.missing |= x.needs &^ q.f.offers()
		if q.missing == 0 { // the revision has no words for it
			q.missing = x.needs
		}
		q.cause = missing.cause
		return false
	}
	switch {
	case err != nil:
		q.err = err
	case len(open) > 0:
		q.pending = append(q.pending, x)
	default:
		return true
	}
	return false
}

// verdict says how it goes on after ask has returned: with an error, once more with the answers that have come, or with the work.
func (q *Asker) verdict(ctx context.Context) (again bool, err error) {
	f := q.f
	switch {
	case q.err != nil:
		return false, q.err
	case q.missing != 0:
		return false, &CapabilityError{Missing: q.missing.missing(), cause: q.cause}
	case q.refused != nil:
		return false, q.refused
	case len(q.pending) == 0:
		return false, nil
	case f.replay:
		f.mu.Lock()
		f.pending = q.pending
		f.mu.Unlock()
		return false, ErrInputRequired
	}
	if f.round++; f.round > maxRounds {
		return false, ErrRounds
	}
	err = f.fulfil(ctx, q.pending)
	f.land(q.pending)
	f.enter()
	return err == nil, err
}

// accepted takes an answer to a form or page: what is not accepted ends the call.
func (q *Asker) accepted(x *Question) bool {
	if err := x.Elicited().Action.err(); err != nil {
		q.refused = err
		return false
	}
	return true
}

// Form asks the user to fill in a form. The result is nil if ok is false.
func (q *Asker) Form(key string, form Form, o ...AskOption) (e *ElicitResult, ok bool) {
	x := form.Question(o...)
	if !q.put(key, x) || !q.accepted(x) {
		return nil, false
	}
	return x.Elicited(), true
}

// URL asks the user to visit a page, and reports whether they agreed to; see [URLElicitation] for what that means.
func (q *Asker) URL(key string, u URLElicitation, o ...AskOption) (ok bool) {
	x := u.Question(o...)
	return q.put(key, x) && q.accepted(x)
}

// Confirm asks the user to agree, and reports whether they did.
func (q *Asker) Confirm(key, message string) (ok bool) {
	x := confirmation(message, nil)
	return q.put(key, x) && q.accepted(x)
}

// Sample asks the client's model for a message. The result is nil if ok is false.
func (q *Asker) Sample(key string, r CreateMessageRequest, o ...AskOption) (m *CreateMessageResult, ok bool) {
	x := r.Question(o...)
	if !q.put(key, x) {
		return nil, false
	}
	return x.Message(), true
}

// Roots asks the client for its roots.
func (q *Asker) Roots(key string, o ...AskOption) (roots []Root, ok bool) {
	x := RootsQuestion(o...)
	if !q.put(key, x) {
		return nil, false
	}
	return x.Roots(), true
}

// FormAs asks the user to fill in a form made of the fields of T, as [FormFor] does. If ok is false there is no answer yet, or the user has refused: v is
// zero, and the ask function returns, or goes on with questions that do not depend on it.
func FormAs[T any](q *Asker, key, message string, o ...AskOption) (v T, ok bool) {
	v, action, ok := FormOutcome[T](q, key, message, o...)
	if ok && action != Accept {
		q.refused = action.err()
		ok = false
	}
	return v, ok
}

// FormOutcome is FormAs for tools that go on when the user declines: ok is true for every answer, and v is only set if the action is [Accept].
func FormOutcome[T any](q *Asker, key, message string, o ...AskOption) (v T, action Action, ok bool) {
	x := FormFor[T](message, o...)
	if !q.put(key, x) {
		return v, "", false
	}
	e := x.Elicited()
	if e.Action == Accept {
		if err := x.Decode(&v); err != nil {
			q.err = err
			var zero T
			return zero, "", false
		}
	}
	return v, e.Action, true
}
