package mcp

import (
	"context"
	"strings"
)

// Suggest suggests values for one argument of a prompt, or one variable of a template, of which value has been typed. others are the arguments chosen
// before (since 2025-06-18). Nil is no suggestion; what is more than 100 values is cut. See Prompt.Complete and Template.Complete.
type Suggest func(ctx context.Context, value string, others map[string]string) (*Completion, error)

// SuggestFrom suggests those of the given values that begin with what has been typed, whatever its case, in the order given.
func SuggestFrom(values ...string) Suggest {
	return func(_ context.Context, typed string, _ map[string]string) (*Completion, error) {
		c := &Completion{Values: []string{}}
		for _, v := range values {
			if len(v) >= len(typed) && strings.EqualFold(v[:len(typed)], typed) {
				c.Values = append(c.Values, v)
			}
		}
		c.Total = len(c.Values)
		return c, nil
	}
}

// completing puts a Completer before another one.
func completing(f func(context.Context, CompleteRequest) (*Completion, error), mine func(CompleteRequest) bool, next func(context.Context, CompleteRequest) (*Completion, error)) func(context.Context, CompleteRequest) (*Completion, error) {
	return func(ctx context.Context, r CompleteRequest) (*Completion, error) {
		switch {
		case mine(r):
			return f(ctx, r)
		case next != nil:
			return next(ctx, r)
		case r.Prompt != "":
			return nil, UnknownPrompt(r.Prompt)
		}
		return nil, InvalidParams("Unknown template: %s", clip(r.Template))
	}
}

// suggest asks one Suggest. An argument that is known and has none is answered with nothing.
func suggest(ctx context.Context, r CompleteRequest, all map[string]Suggest, known bool) (*Completion, error) {
	if f := all[r.Name]; f != nil {
		return f(ctx, r.Value, r.Others)
	}
	if !known {
		return nil, InvalidParams("Unknown argument: %s", clip(r.Name))
	}
	return nil, nil
}

// Complete suggests values for a variable of a template, named by its text, or by a URI that it makes. It is a Completer.
func (set *ResourceSet) Complete(ctx context.Context, r CompleteRequest) (*Completion, error) {
	v := set.now()
	if f := v.templates[r.Template]; f != nil && set.visible(ctx, r.Template) {
		return suggest(ctx, r, f.template.Complete, hasVariable(f.matcher, r.Name))
	}
	for _, f := range v.matching {
		if _, ok := f.match(r.Template); ok && set.visible(ctx, r.Template) {
			return suggest(ctx, r, f.template.Complete, hasVariable(f.matcher, r.Name))
		}
	}
	return nil, InvalidParams("Unknown template: %s", clip(r.Template))
}
