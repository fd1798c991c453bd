package mcp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// Toolbox is a set of tools. Its methods List and Call are a Lister and a Caller:
//
//	var box mcp.Toolbox
//	mcp.AddTool(&box, mcp.Tool{Name: "greet", Description: "Say hello."}, greet)
//	server := mcp.Server{Name: "Greeter", Version: "1.0.0", Lister: box.List, Caller: box.Call}
//
// The zero Toolbox is empty and ready to use. Tools can be added and removed at any time, also while sessions are served; see [Server.Changed]
// for telling them. It must not be copied after first use.
type Toolbox struct {
	mu   sync.Mutex // held by writers
	view atomic.Pointer[toolView]
}

// toolView is never changed once stored.
type toolView struct {
	byName map[string]*boxed
	list   []Tool // by name
}

// boxed is one tool.
type boxed struct {
	tool Tool
	call func(ctx context.Context, a Arguments) (any, error)
}

// Add adds a tool that takes its arguments as they are. An InputSchema is only shown to clients, not enforced; see [AddTool] for that. What f
// returns is sent as it is, as from a Caller. Add panics if the name is empty, longer than 128 bytes, has characters other than letters, digits,
// _, - and . (MCP tools, tool names), or is taken.
func (b *Toolbox) Add(t Tool, f func(ctx context.Context, a Arguments) (any, error)) {
	if f == nil {
		panic(fmt.Sprintf("mcp: tool %q without a function", t.Name))
	}
	if t.InputSchema == nil {
		t.InputSchema = emptyObjectSchema
	}
	b.add(&boxed{tool: t, call: f})
}

func (b *Toolbox) add(t *boxed) {
	if why := badToolName(t.tool.Name); why != "" {
		panic(fmt.Sprintf("mcp: tool name %q: %s", clip(t.tool.Name), why))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	next := b.copied()
	if next[t.tool.Name] != nil {
		panic(fmt.Sprintf("mcp: second tool %q", t.tool.Name))
	}
	next[t.tool.Name] = t
	b.store(next)
}

// Remove takes tools out and returns how many there were. Calls that run go on.
func (b *Toolbox) Remove(names ...string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	next := b.copied()
	before := len(next)
	for _, name := range names {
		delete(next, name)
	}
	b.store(next)
	return before - len(next)
}

func (b *Toolbox) copied() map[string]*boxed {
	if v := b.view.Load(); v != nil {
		return maps.Clone(v.byName)
	}
	return make(map[string]*boxed)
}

func (b *Toolbox) store(byName map[string]*boxed) {
	v := &toolView{byName: byName, list: make([]Tool, 0, len(byName))}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		v.list = append(v.list, byName[name].tool)
	}
	b.view.Store(v)
}

// List returns the tools, ordered by name. It is a Lister.
func (b *Toolbox) List(context.Context) ([]Tool, error) {
	v := b.view.Load()
	if v == nil {
		return nil, nil
	}
	return slices.Clone(v.list), nil
}

// Call runs a tool. It is a Caller: a name that is not there is [UnknownTool].
func (b *Toolbox) Call(ctx context.Context, name string, a Arguments) (any, error) {
	if v := b.view.Load(); v != nil {
		if t := v.byName[name]; t != nil {
			return t.call(ctx, a)
		}
	}
	return nil, UnknownTool(name)
}

const maxName = 128

// badToolName says what is wrong with a name, "" if nothing is.
func badToolName(name string) string {
	switch {
	case name == "":
		return "must not be empty"
	case len(name) > maxName:
		return fmt.Sprintf("is %d bytes long, more than %d", len(name), maxName)
	}
	for _, r := range name {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-', r == '.':
		default:
			return fmt.Sprintf("has %q: only letters, digits, _, - and . are allowed", r)
		}
	}
	return ""
}
