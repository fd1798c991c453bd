package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// settings are what is known of the client's configuration until it says that something has changed.
type settings struct {
	mu      sync.Mutex
	asked   map[settingKey]json.RawMessage // answers of the client
	changes int                            // notifications of a change so far
	pushed  json.RawMessage                // what the last one carried
	told    bool                           // the client has been asked to send them
	next    *settingsChange                // the newest that Server.DidChangeConfiguration has not heard of
	running bool                           // it runs
}

// settingsChange is a notification with the documents as of its place.
type settingsChange struct {
	ctx    context.Context
	params *protocol.DidChangeConfigurationParams
}

type settingKey struct {
	scope   Key
	section string
}

// maxSettings bounds how many answers are remembered. Scopes are documents or folders, so a session can have many.
const maxSettings = 4096

// Configuration asks for settings (workspace/configuration) and returns one raw value for each item, null for a setting the client does not have. A
// client that answers with another number of values is an error. It needs the capability workspace.configuration.
func (c *Client) Configuration(ctx context.Context, items ...protocol.ConfigurationItem) ([]json.RawMessage, error) {
	var values []json.RawMessage
	if err := c.call(ctx, protocol.MethodWorkspaceConfiguration, &protocol.ConfigurationParams{Items: items}, &values); err != nil {
		return nil, err
	}
	if len(values) != len(items) {
		return nil, fmt.Errorf("lsp: client answered %d settings for %d", len(values), len(items))
	}
	return values, nil
}

// Setting decodes one section of the settings into v. A client that does not have it leaves v as it is. The answer is remembered until the client says that
// its configuration has changed, which [Server.DidChangeConfiguration] hears of. A client that cannot be asked has the section looked up in the settings
// that it sent with its last change.
func (c *Client) Setting(ctx context.Context, section string, v any) error {
	return c.SettingFor(ctx, "", section, v)
}

// SettingFor is [Client.Setting] for one document or folder, whose settings may differ from those of others.
func (c *Client) SettingFor(ctx context.Context, scope uri.URI, section string, v any) error {
	value, err := c.setting(ctx, scope, section)
	if err != nil || value == nil || string(value) == "null" {
		return err
	}
	if err := Codec.Unmarshal(value, v); err != nil {
		return fmt.Errorf("lsp: setting %q: %w", section, err)
	}
	return nil
}

func (c *Client) setting(ctx context.Context, scope uri.URI, section string) (json.RawMessage, error) {
	s := &c.settings
	if !c.Can("workspace.configuration") {
		if c.Conn() == nil {
			return nil, ErrNoClient
		}
		s.mu.Lock()
		v := s.pushed
		s.mu.Unlock()
		for part := range strings.SplitSeq(section, ".") {
			if section != "" && v != nil {
				v = member(v, part)
			}
		}
		return v, nil
	}
	key := settingKey{section: section}
	item := protocol.ConfigurationItem{}
	if section != "" {
		item.Section = &section
	}
	if scope != "" {
		key.scope, item.ScopeURI = KeyOf(scope), &scope
	}
	s.mu.Lock()
	v, ok := s.asked[key]
	changes := s.changes
	s.mu.Unlock()
	if ok {
		return v, nil
	}
	if s.tell() { // before the answer, so that no change gets lost in between
		c.watchSettings()
	}
	values, err := c.Configuration(ctx, item)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if changes == s.changes {
		if s.asked == nil || len(s.asked) >= maxSettings {
			s.asked = map[settingKey]json.RawMessage{}
		}
		s.asked[key] = values[0]
	}
	return values[0], nil
}

// tell reports, once, that the client is to be asked to tell of changes.
func (s *settings) tell() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := !s.told
	s.told = true
	return first
}

// watchSettings has the client tell when its settings change. Some do so without being asked, and cannot be asked.
func (c *Client) watchSettings() {
	if c.Can(byMethod()[protocol.MethodWorkspaceDidChangeConfiguration].dynamic()) {
		c.s.spawn(func() {
			_, err := c.Register(c.s.scope(c.s.ctx), protocol.MethodWorkspaceDidChangeConfiguration, nil)
			c.s.fail(c.s.ctx, nil, err)
		})
	}
}

// didChangeConfiguration forgets what is known, in order, and runs the user's function beside the lane: it may ask the client, and nothing should wait for
// that. Runs do not overlap and keep the order of the changes. While one goes on, changes replace each other: a client that says so a thousand times and
// answers no question costs one goroutine, and what the function would ask for is the newest anyway.
func (s *session) didChangeConfiguration(_ context.Context, r *jsonrpc2.Request) (any, error) {
	params := new(protocol.DidChangeConfigurationParams)
	if r.HasParams() {
		if err := r.Decode(params); err != nil {
			return nil, err
		}
	}
	set := &s.client.settings
	set.mu.Lock()
	defer set.mu.Unlock()
	set.changes++
	set.asked = nil
	set.pushed = json.RawMessage(params.Settings)
	if s.srv.DidChangeConfiguration == nil {
		return nil, nil
	}
	set.next = &settingsChange{s.scope(s.ctx), params}
	if !set.running {
		set.running = true
		s.spawn(s.tellSettings)
	}
	return nil, nil
}

// tellSettings runs Server.DidChangeConfiguration until it has heard of the newest change.
func (s *session) tellSettings() {
	set := &s.client.settings
	for {
		set.mu.Lock()
		c := set.next
		set.next = nil
		if c == nil || s.ctx.Err() != nil {
			set.running = false
			set.mu.Unlock()
			return
		}
		set.mu.Unlock()
		_, err := guarded(func() (struct{}, error) { return struct{}{}, s.srv.DidChangeConfiguration(c.ctx, c.params) })
		if err != nil {
			s.fail(c.ctx, nil, fmt.Errorf("lsp: DidChangeConfiguration: %w", err))
		}
	}
}
