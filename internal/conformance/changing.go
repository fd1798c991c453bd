package conformance

import (
	"context"

	"github.com/tandem-rpc/tandem/mcp"
)

// changing adds the tools that make lists and resources change, so that there is something to be notified of.
func (s *Server) changing() {
	s.plain("test_trigger_tool_change", "Adds a tool, or takes it out again.", func(context.Context) (any, error) {
		const name = "test_triggered"
		if s.box.Remove(name) == 0 {
			s.plain(name, "Is there every second time.", func(context.Context) (any, error) { return "Triggered", nil })
		}
		s.Changed(mcp.Tools)
		return "The list of tools has changed", nil
	})
	s.plain("test_trigger_prompt_change", "Adds a prompt, or takes it out again.", func(context.Context) (any, error) {
		s.changed.Add(1)
		s.Changed(mcp.Prompts)
		return "The list of prompts has changed", nil
	})
	s.plain("test_trigger_resource_update", "Says that the watched resource has changed.", func(context.Context) (any, error) {
		s.Updated(watched.URI)
		return "The watched resource has changed", nil
	})
}
