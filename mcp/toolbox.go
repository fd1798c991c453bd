package mcp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// Toolbox is a set of tools that can change while they are served:
//
//	var box mcp.Toolbox
//	mcp.AddTool(&box, mcp.Tool{Name: "greet", Description: "Say hello."}, greet)
//	server := &mcp.Server{Name: "Greeter", Version: "1.0.0"}
//	box.Attach(server)
//
// Its methods List and Call are a Lister and a Caller, for a Server that wants to do more than that around them.
//
// The zero Toolbox is empty and ready to use. Tools can be added and removed at any time, by many goroutines at once, also while sessions are served; those
// of the servers it is attached to are told. It must not be copied after first use.
type Toolbox struct {
	// Visible, if set, says which tools a caller may see and call; the context has the caller's identity, see [CallerFrom]. A tool that is not
	// visible does not exist: a call of it is [UnknownTool]. It is asked often, by many goroutines at once.
	Visible func(ctx context.Context, t Tool) bool
	// AllowAnyName takes names of tools that other servers gave: anything of 1 to 128 bytes that is UTF-8.
	AllowAnyName bool

	mu       sync.Mutex // held by writers
	view     atomic.Pointer[toolView]
	watchers watchers
}

// toolView is never changed once stored.
type toolView struct {
	byName map[string]*boxed
	order  []*boxed // by name
	list   func() []Tool
}

// boxed is one tool.
type boxed struct {
	tool     Tool // without schemas that types has
	call     toolFunc
	warnings []string
	// prepare asks what the tool has to ask and returns what is left to do; nil for tools that do not say it apart.
	prepare func(ctx context.Context, a Arguments) (body func(context.Context) (any, error), err error)
	types   *shownTypes // schemas that are made when they are asked for; nil: none
}

// shown is the tool with its schemas.
func (b *boxed) shown() Tool {
	t := b.tool
	if b.types != nil {
		b.types.into(&t)
	}
	return t
}

type toolFunc = func(ctx context.Context, a Arguments) (any, error)

// Add adds a tool that takes its arguments as they are. An InputSchema is only shown to clients, not enforced; see [AddTool] for that. What f
// returns is sent as it is, as from a Caller.
//
// Add panics if the name is taken, is empty, or has characters other than letters, digits, _, -, . and / or more than 128 of them (MCP tools, tool names);
// if a schema cannot be used: no object schema, not the dialect 2020-12 or draft-07, a reference to elsewhere, more than [MaxSchemaSize],
// [MaxSchemaDepth] or [MaxSubschemas]; if an annotation x-mcp-header breaks the rules; if an icon is none. [Toolbox.TryAdd] returns that as an error,
// for tools that are not the program's own. What is allowed and yet not understood by all is told by [Toolbox.Warnings].
func (b *Toolbox) Add(t Tool, f func(ctx context.Context, a Arguments) (any, error)) {
	must(b.TryAdd(t, f))
}

// TryAdd is Add with an error where that panics.
func (b *Toolbox) TryAdd(t Tool, f func(ctx context.Context, a Arguments) (any, error)) error {
	if f == nil {
		return fmt.Errorf("mcp: tool %q without a function", clip(t.Name))
	}
	if t.InputSchema == nil {
		t.InputSchema = emptyObjectSchema
	}
	in, err := objectSchema(t.InputSchema)
	if err != nil {
		return fmt.Errorf("mcp: input of tool %q: %w", clip(t.Name), err)
	}
	t.InputSchema = in.text
	if t.OutputSchema != nil {
		out, err := givenOutput(t.OutputSchema)
		if err != nil {
			return fmt.Errorf("mcp: output of tool %q: %w", clip(t.Name), err)
		}
		t.OutputSchema = out.shown()
	}
	return b.add(&boxed{tool: t, call: f}, in)
}

// must panics with an error of TryAdd.
func must(err error) {
	if err != nil {
		panic(err.Error())
	}
}

// add takes a tool with the schema of its input, nil for one that was left for later and has no annotations.
func (b *Toolbox) add(t *boxed, in *schema) error {
	why, warning := checkToolName(t.tool.Name, b.AllowAnyName)
	if why != "" {
		return fmt.Errorf("mcp: tool name %q: %s", clip(t.tool.Name), why)
	}
	if warning != "" {
		t.warnings = append(t.warnings, fmt.Sprintf("tool name %q: %s", t.tool.Name, warning))
	}
	warnings, err := checkShown(fmt.Sprintf("tool %q", t.tool.Name), t.tool.Icons, nil, t.tool.Meta)
	if err != nil {
		return err
	}
	t.warnings = append(t.warnings, warnings...)
	var headers []string
	if in != nil {
		if headers, err = in.checkHeaders(); err != nil {
			return fmt.Errorf("mcp: input of tool %q: %w", t.tool.Name, err)
		}
	}
	for _, h := range headers {
		if looksSecret(h) {
			t.warnings = append(t.warnings, fmt.Sprintf("tool %q: %s %q looks like a secret, and headers are logged", t.tool.Name, tagHeader, h))
		}
	}
	if t.tool.Timeout < 0 || t.tool.Concurrency < 0 {
		return fmt.Errorf("mcp: tool %q: Timeout and Concurrency must not be negative", t.tool.Name)
	}
	if t.tool.SingleUse {
		return fmt.Errorf("mcp: tool %q: SingleUse is for AddAskingTool; see Claim for other tools", t.tool.Name)
	}
	limits := limiter(&t.tool)
	t.call = t.tasked(limits(t.call), limits)

	b.mu.Lock()
	next := b.copied()
	taken := next[t.tool.Name] != nil
	if !taken {
		next[t.tool.Name] = t
		b.store(next)
	}
	b.mu.Unlock()
	if taken {
		return fmt.Errorf("mcp: second tool %q", t.tool.Name)
	}
	b.watchers.changed(Tools)
	return nil
}

// Remove takes tools out and returns how many there were. Calls that run go on.
func (b *Toolbox) Remove(names ...string) int {
	b.mu.Lock()
	next := b.copied()
	before := len(next)
	for _, name := range names {
		delete(next, name)
	}
	n := before - len(next)
	if n > 0 {
		b.store(next)
	}
	b.mu.Unlock()
	if n > 0 {
		b.watchers.changed(Tools)
	}
	return n
}

func (b *Toolbox) copied() map[string]*boxed {
	if v := b.view.Load(); v != nil {
		return maps.Clone(v.byName)
	}
	return make(map[string]*boxed)
}

func (b *Toolbox) store(byName map[string]*boxed) {
	v := &toolView{byName: byName, order: make([]*boxed, 0, len(byName))}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		v.order = append(v.order, byName[name])
	}
	v.list = sync.OnceValue(func() []Tool {
		list := make([]Tool, len(v.order))
		for i, t := range v.order {
			list[i] = t.shown()
		}
		return list
	})
	b.view.Store(v)
}

// Attach makes the tools those of a server: it sets Lister, Finder, Caller and ListChanged, and from then on clients are told when tools come and go. It must be
// called before the server is in use, and panics if Lister or Caller is set. A Toolbox can be attached to many servers.
func (b *Toolbox) Attach(s *Server) {
	if s.Lister != nil || s.Caller != nil {
		panic("mcp: Toolbox.Attach: the server has a Lister or a Caller")
	}
	s.Lister, s.Finder, s.Caller, s.ListChanged = b.List, b.Find, b.Call, true
	b.watchers.add(s)
}

// List returns the tools the caller may see, ordered by name. It is a Lister.
func (b *Toolbox) List(ctx context.Context) ([]Tool, error) {
	v := b.view.Load()
	if v == nil {
		return nil, nil
	}
	list := slices.Clone(v.list())
	if b.Visible != nil {
		list = slices.DeleteFunc(list, func(t Tool) bool { return !b.Visible(ctx, t) })
	}
	return list, nil
}

// Find returns a tool, and false if there is none of that name, or not for this caller. It is a Finder.
func (b *Toolbox) Find(ctx context.Context, name string) (Tool, bool) {
	if t := b.find(ctx, name); t != nil {
		return t.shown(), true
	}
	return Tool{}, false
}

func (b *Toolbox) find(ctx context.Context, name string) *boxed {
	if v := b.view.Load(); v != nil {
		if t := v.byName[name]; t != nil && (b.Visible == nil || b.Visible(ctx, t.shown())) {
			return t
		}
	}
	return nil
}

// Call runs a tool. It is a Caller: a name that is not there, or not for this caller, is [UnknownTool].
func (b *Toolbox) Call(ctx context.Context, name string, a Arguments) (any, error) {
	if t := b.find(ctx, name); t != nil {
		return t.call(ctx, a)
	}
	return nil, UnknownTool(name)
}

// Warnings tells what is allowed and yet not understood by all clients, or unwise: one line for each, ordered by tool. It is for logs and tests.
func (b *Toolbox) Warnings() []string {
	var warnings []string
	if v := b.view.Load(); v != nil {
		for _, t := range v.order {
			warnings = append(warnings, t.warnings...)
		}
	}
	return warnings
}
