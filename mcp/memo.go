package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Memo computes a value once in all the rounds of a call that asks, and returns the same in each: what a question shows must not change between the
// question and the answer. The value travels to the client and back, sealed, and so must be small and encode as JSON; what is returned is always the
// decoded copy. An error is not kept. If several goroutines compute the same key at once, the first result counts.
func Memo[T any](ctx context.Context, key string, f func() (T, error)) (T, error) {
	var v T
	fl := SessionFrom(ctx).flow(ctx)
	raw := fl.memo(key)
	if raw == nil {
		made, err := f()
		if err != nil {
			return made, err
		}
		text, err := appendValue(nil, made)
		if err != nil {
			return v, fmt.Errorf("mcp: memo %q of type %T: %w", key, made, err)
		}
		raw = fl.keep(key, text)
	}
	if err := jsonrpc2.DefaultCodec.Unmarshal(raw, &v); err != nil {
		return v, fmt.Errorf("mcp: memo %q does not decode into %T", key, v)
	}
	return v, nil
}

func (f *flow) memo(key string) json.RawMessage {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.memos[key]
}

func (f *flow) keep(key string, text json.RawMessage) json.RawMessage {
	f.mu.Lock()
	defer f.mu.Unlock()
	if had := f.memos[key]; had != nil {
		return had
	}
	if f.memos == nil {
		f.memos = make(map[string]json.RawMessage)
	}
	f.memos[key] = text
	return text
}

// CallID returns an identifier of the call that ctx belongs to. It is the same in all the rounds of a call that asks, and no other call has it: give it
// downstream as idempotency key. Outside of a call each one is new.
func CallID(ctx context.Context) string {
	f := SessionFrom(ctx).flow(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.callID()
}

// callID mints the identifier when it is first needed. mu is held.
func (f *flow) callID() string {
	if f.id == "" {
		f.id = newCallID()
	}
	return f.id
}

func newCallID() string { return rand.Text() }

// Replaying reports whether the function that got ctx is being run again and has not yet come to where it left off: answers of earlier rounds are still to be
// asked for. [Session.Log] is silent then.
func Replaying(ctx context.Context) bool {
	c := callFrom(ctx)
	return c != nil && c.replaying()
}

func (c *call) replaying() bool {
	f := c.asks.Load()
	if f == nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.unread > 0
}
