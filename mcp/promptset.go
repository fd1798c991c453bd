package mcp

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// PromptSet is a set of prompts that can change while they are served:
//
//	type review struct {
//		Code string `json:"code" jsonschema:"what to review"`
//		Lang string `json:"lang,omitempty" enum:"go,c,rust"`
//	}
//
//	var prompts mcp.PromptSet
//	mcp.AddPrompt(&prompts, mcp.Prompt{Name: "review", Description: "Review code."}, func(ctx context.Context, in review) (string, error) {
//		return "Please review:\n" + in.Code, nil
//	})
//	prompts.Attach(server)
//
// The zero PromptSet is empty and ready to use. Prompts can be added and removed at any time, by many goroutines at once; the clients of the servers it is
// attached to are told. It must not be copied after first use.
type PromptSet struct {
	// Visible, if set, says which prompts a caller may list and use. What is not visible does not exist. It is asked often, by many goroutines at once.
	Visible func(ctx context.Context, p Prompt) bool

	mu       sync.Mutex // held by writers
	view     atomic.Pointer[promptView]
	watchers watchers
}

// promptView is never changed once stored.
type promptView struct {
	byName map[string]*prompter
	list   []Prompt // by name
}

// prompter is one prompt.
type prompter struct {
	prompt Prompt
	make   func(ctx context.Context, a Arguments) (any, error)
}

// UnknownPrompt is the error a Prompter returns for a name that names nothing: code -32602 (MCP prompts, error handling).
func UnknownPrompt(name string) error {
	return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "Unknown prompt: " + clip(name)}
}

// AddPrompt adds a prompt made of a typed function. Args is a struct whose fields are strings: they are the arguments, unless d.Arguments is set, with
// names and descriptions as in [AddTool]; a field without omitempty is required. The tags of AddTool say more about their values, and those of enum are
// suggested. Arguments that do not fit are refused with code -32602, which names the argument and the reason; f is not called.
//
// The Out becomes the result: a *[PromptResult], or a []PromptMessage; a string or a [Content] is one message of the user.
//
// AddPrompt panics if the name is empty or taken, if Args is none, and if an icon is none. [TryAddPrompt] returns that as an error.
func AddPrompt[Args, Out any](set *PromptSet, d Prompt, f func(ctx context.Context, args Args) (Out, error)) {
	must(TryAddPrompt(set, d, f))
}

// TryAddPrompt is AddPrompt with an error where that panics.
func TryAddPrompt[Args, Out any](set *PromptSet, d Prompt, f func(ctx context.Context, args Args) (Out, error)) error {
	if f == nil {
		return fmt.Errorf("mcp: prompt %q without a function", clip(d.Name))
	}
	in, err := newInput(reflect.TypeFor[Args](), nil)
	if err != nil {
		return fmt.Errorf("mcp: arguments of prompt %q: %w", clip(d.Name), err)
	}
	if d.Arguments == nil {
		d.Complete = maps.Clone(d.Complete)
		if d.Arguments, err = argumentsOf(in.schema.source, &d.Complete); err != nil {
			return fmt.Errorf("mcp: arguments of prompt %q: %w", clip(d.Name), err)
		}
	}
	name := d.Name
	return set.add(d, func(ctx context.Context, a Arguments) (any, error) {
		var v Args
		if err := in.decode(a, &v); err != nil {
			return nil, InvalidParams("Invalid arguments for prompt %s: %v", name, err)
		}
		return f(ctx, v)
	})
}

// argumentsOf are the arguments of a prompt whose values come as an object with that schema.
func argumentsOf(s *jsonschema.Schema, complete *map[string]Suggest) ([]PromptArgument, error) {
	args := []PromptArgument{}
	for _, name := range s.PropertyOrder {
		p := s.Properties[name]
		if !isType(p, "string") {
			return nil, fmt.Errorf("argument %q: values are strings", clip(name))
		}
		args = append(args, PromptArgument{Name: name, Title: p.Title, Description: p.Description, Required: slices.Contains(s.Required, name)})
		if p.Enum == nil || (*complete)[name] != nil {
			continue
		}
		var values []string
		for _, e := range p.Enum {
			if text, ok := e.(string); ok {
				values = append(values, text)
			}
		}
		if *complete == nil {
			*complete = make(map[string]Suggest)
		}
		(*complete)[name] = SuggestFrom(values...)
	}
	if len(s.Properties) != len(args) || s.AdditionalProperties == nil || !isFalse(s.AdditionalProperties) {
		return nil, fmt.Errorf("they are the fields of a struct")
	}
	return args, nil
}

// Add adds a prompt that takes its arguments as they are, once they have been held against p.Arguments: what is required is there, what is there is known and
// text. It panics as [AddPrompt] does; [PromptSet.TryAdd] returns that as an error.
func (set *PromptSet) Add(p Prompt, f func(ctx context.Context, a Arguments) (any, error)) {
	must(set.TryAdd(p, f))
}

// TryAdd is Add with an error where that panics, for prompts that are not the program's own.
func (set *PromptSet) TryAdd(p Prompt, f func(ctx context.Context, a Arguments) (any, error)) error {
	if f == nil {
		return fmt.Errorf("mcp: prompt %q without a function", clip(p.Name))
	}
	p.Arguments = slices.Clone(p.Arguments)
	return set.add(p, func(ctx context.Context, a Arguments) (any, error) {
		if why := checkArguments(p.Arguments, a); why != "" {
			return nil, InvalidParams("Invalid arguments for prompt %s: %s", p.Name, why)
		}
		return f(ctx, a)
	})
}

// checkArguments says what is wrong with the arguments of a prompt, "" if nothing is.
func checkArguments(known []PromptArgument, a Arguments) string {
	for o := (object{b: a.raw}); ; {
		raw, value, ok := o.next()
		if !ok {
			break
		}
		name := unquoted(raw)
		if !slices.ContainsFunc(known, func(k PromptArgument) bool { return k.Name == name }) {
			return fmt.Sprintf("unknown argument %q", clip(name))
		}
		if _, text := stringValue(value); !text {
			return fmt.Sprintf("argument %q must be a string", clip(name))
		}
	}
	for _, k := range known {
		if _, ok := a.lookup(k.Name); k.Required && !ok {
			return fmt.Sprintf("missing the required argument %q", clip(k.Name))
		}
	}
	return ""
}

func (set *PromptSet) add(p Prompt, f func(ctx context.Context, a Arguments) (any, error)) error {
	if p.Name == "" || len(p.Name) > maxName || strings.ToValidUTF8(p.Name, "") != p.Name {
		return fmt.Errorf("mcp: prompt name %q: must be 1 to %d bytes of UTF-8", clip(p.Name), maxName)
	}
	if _, err := checkShown(fmt.Sprintf("prompt %q", p.Name), p.Icons, nil, p.Meta); err != nil {
		return err
	}
	for i, a := range p.Arguments {
		if a.Name == "" || slices.ContainsFunc(p.Arguments[:i], func(b PromptArgument) bool { return a.Name == b.Name }) {
			return fmt.Errorf("mcp: prompt %q: argument %d has no name, or that of another", p.Name, i)
		}
	}
	for name := range p.Complete {
		if !p.has(name) {
			return fmt.Errorf("mcp: prompt %q has no argument %q to complete", p.Name, clip(name))
		}
	}
	return set.change(func(v map[string]*prompter) error {
		if v[p.Name] != nil {
			return fmt.Errorf("mcp: second prompt %q", p.Name)
		}
		v[p.Name] = &prompter{p, f}
		return nil
	})
}

func (p *Prompt) has(argument string) bool {
	return slices.ContainsFunc(p.Arguments, func(a PromptArgument) bool { return a.Name == argument })
}

// Remove takes prompts out and returns how many there were.
func (set *PromptSet) Remove(names ...string) (n int) {
	_ = set.change(func(v map[string]*prompter) error {
		before := len(v)
		for _, name := range names {
			delete(v, name)
		}
		if n = before - len(v); n == 0 {
			return errUnchanged
		}
		return nil
	})
	return n
}

func (set *PromptSet) change(do func(map[string]*prompter) error) error {
	set.mu.Lock()
	next := make(map[string]*prompter)
	maps.Copy(next, set.now().byName)
	err := do(next)
	if err == nil {
		v := &promptView{byName: next}
		for _, name := range slices.Sorted(maps.Keys(next)) {
			v.list = append(v.list, next[name].prompt)
		}
		set.view.Store(v)
	}
	set.mu.Unlock()
	if err == nil {
		set.watchers.changed(Prompts)
	}
	return err
}

func (set *PromptSet) now() *promptView {
	if v := set.view.Load(); v != nil {
		return v
	}
	return new(promptView)
}

func (set *PromptSet) find(ctx context.Context, name string) *prompter {
	if p := set.now().byName[name]; p != nil && (set.Visible == nil || set.Visible(ctx, p.prompt)) {
		return p
	}
	return nil
}

// Attach makes the prompts those of a server: it sets Prompts, Prompter and ListChanged, and answers completion of prompts before what Completer was set to.
// From then on clients are told when prompts come and go. It must be called before the server is in use, and panics if Prompts or Prompter is set. A
// PromptSet can be attached to many servers.
func (set *PromptSet) Attach(s *Server) {
	if s.Prompts != nil || s.Prompter != nil {
		panic("mcp: PromptSet.Attach: the server has Prompts or a Prompter")
	}
	s.Prompts, s.Prompter, s.ListChanged = set.List, set.Get, true
	s.Completer = completing(set.Complete, func(r CompleteRequest) bool { return r.Prompt != "" }, s.Completer)
	set.watchers.add(s)
}

// List returns the prompts the caller may see, ordered by name. It is a Server's Prompts.
func (set *PromptSet) List(ctx context.Context) ([]Prompt, error) {
	list := slices.Clone(set.now().list)
	if set.Visible != nil {
		list = slices.DeleteFunc(list, func(p Prompt) bool { return !set.Visible(ctx, p) })
	}
	return list, nil
}

// Get builds a prompt. It is a Prompter: a name that is not there, or not for this caller, is [UnknownPrompt].
func (set *PromptSet) Get(ctx context.Context, name string, a Arguments) (any, error) {
	p := set.find(ctx, name)
	if p == nil {
		return nil, UnknownPrompt(name)
	}
	v, err := p.make(ctx, a)
	if err != nil {
		return nil, err
	}
	one := func(c Content) (any, error) {
		return &PromptResult{Description: p.prompt.Description, Messages: []PromptMessage{{Role: RoleUser, Content: c}}}, nil
	}
	switch v := v.(type) {
	case *PromptResult: // before Content, whose methods it has
		return v, nil
	case string:
		return one(Text(v))
	case Content:
		return one(v)
	case []PromptMessage:
		return &PromptResult{Description: p.prompt.Description, Messages: v}, nil
	case PromptResult:
		return &v, nil
	}
	return v, nil
}

// Complete suggests values for an argument of a prompt. It is a Completer.
func (set *PromptSet) Complete(ctx context.Context, r CompleteRequest) (*Completion, error) {
	p := set.find(ctx, r.Prompt)
	if p == nil {
		return nil, UnknownPrompt(r.Prompt)
	}
	return suggest(ctx, r, p.prompt.Complete, p.prompt.has(r.Name))
}
