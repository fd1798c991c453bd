package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tandem-rpc/tandem/mcp"
)

// person is what most of the tools want to know. The suites look at the name of the question, userName, and answer some of them before they were asked.
type person struct {
	Name string `json:"name" jsonschema:"your name"`
}

// asking adds the tools that ask the client.
func (s *Server) asking() {
	s.asks("test_sampling", "Lets the client's model answer a prompt.", "prompt", func(ctx context.Context, prompt string) (any, error) {
		m, err := mcp.SessionFrom(ctx).Sample(ctx, says100(prompt))
		if err != nil {
			return nil, err
		}
		return "LLM response: " + m.Text(), nil
	})
	s.asks("test_elicitation", "Asks the user for name and address.", "message", func(ctx context.Context, message string) (any, error) {
		return elicit(ctx, message, `{
			"type": "object",
			"properties": {
				"username": {"type": "string", "description": "User's response"},
				"email": {"type": "string", "description": "User's email address"}
			},
			"required": ["username", "email"]
		}`)
	})
	s.plain("test_elicitation_sep1034_defaults", "Shows a form that has defaults for every type.", func(ctx context.Context) (any, error) {
		return elicit(ctx, "Please review the defaults", `{
			"type": "object",
			"properties": {
				"name": {"type": "string", "default": "John Doe"},
				"age": {"type": "integer", "default": 30},
				"score": {"type": "number", "default": 95.5},
				"status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
				"verified": {"type": "boolean", "default": true}
			}
		}`)
	})
	s.plain("test_elicitation_sep1330_enums", "Shows a form that has choices of every kind.", func(ctx context.Context) (any, error) {
		return elicit(ctx, "Please choose", `{
			"type": "object",
			"properties": {
				"untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
				"titledSingle": {"type": "string", "oneOf": [
					{"const": "value1", "title": "First"}, {"const": "value2", "title": "Second"}, {"const": "value3", "title": "Third"}]},
				"legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]},
				"untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
				"titledMulti": {"type": "array", "items": {"anyOf": [
					{"const": "value1", "title": "First"}, {"const": "value2", "title": "Second"}, {"const": "value3", "title": "Third"}]}}
			}
		}`)
	})
	s.plain("test_missing_capability", "Needs a client that has a model.", func(ctx context.Context) (any, error) {
		_, err := mcp.SessionFrom(ctx).Sample(ctx, says100("Say anything"))
		return "There is one", err
	})
	s.plain("test_streaming_elicitation", "Says that it has begun, then asks.", func(ctx context.Context) (any, error) {
		if err := mcp.Progress(ctx, 1, 2, "about to ask"); err != nil {
			return nil, err
		}
		p, err := mcp.ElicitAs[person](ctx, "What is your name?")
		return "Hello, " + p.Name + "!", err
	})
	s.rounds()
}

// rounds adds the tools whose answers the suites follow from request to request.
func (s *Server) rounds() {
	s.plain("test_input_required_result_elicitation", "Asks for a name.", func(ctx context.Context) (any, error) {
		p, err := mcp.ElicitAs[person](ctx, "What is your name?", mcp.Key("user_name"), mcp.Unpinned)
		return "Hello, " + p.Name + "!", err
	})
	s.plain("test_input_required_result_sampling", "Asks the client's model.", func(ctx context.Context) (any, error) {
		m, err := mcp.SessionFrom(ctx).Sample(ctx, says100("What is the capital of France?"))
		if err != nil {
			return nil, err
		}
		return "LLM response: " + m.Text(), nil
	})
	s.plain("test_input_required_result_list_roots", "Asks for the roots.", func(ctx context.Context) (any, error) {
		roots, err := mcp.SessionFrom(ctx).Roots(ctx)
		if err != nil {
			return nil, err
		}
		return fmt.Sprintf("The client has %d roots", len(roots)), nil
	})
	for _, name := range []string{"test_input_required_result_request_state", "test_input_required_result_tampered_state"} {
		s.plain(name, "Asks for consent, and trusts only its own state.", func(ctx context.Context) (any, error) {
			return "state-ok", mcp.SessionFrom(ctx).Confirm(ctx, "Please confirm", mcp.Key("confirm"))
		})
	}
	s.plain("test_input_required_result_multiple_inputs", "Asks for three things at once.", func(ctx context.Context) (any, error) {
		name, greeting, roots := mcp.FormFor[person]("What is your name?"), says100("Write a greeting").Question(), mcp.RootsQuestion()
		if err := mcp.SessionFrom(ctx).Ask(ctx, name, greeting, roots); err != nil {
			return nil, err
		}
		var p person
		if err := name.Decode(&p); err != nil {
			return nil, err
		}
		return fmt.Sprintf("%s: %s (%d roots)", p.Name, greeting.Message().Text(), len(roots.Roots())), nil
	})
	s.plain("test_input_required_result_multi_round", "Asks for a name, then for a colour.", func(ctx context.Context) (any, error) {
		p, err := mcp.ElicitAs[person](ctx, "Step 1: What is your name?", mcp.Key("step1"))
		if err != nil {
			return nil, err
		}
		c, err := mcp.ElicitAs[struct {
			Color string `json:"color"`
		}](ctx, "Step 2: What is your favourite colour, "+p.Name+"?", mcp.Key("step2"))
		return p.Name + " likes " + c.Color, err
	})
	s.plain("test_input_required_result_capabilities", "Asks for what the client can be asked for.", func(ctx context.Context) (any, error) {
		ses := mcp.SessionFrom(ctx)
		var qs []*mcp.Question
		if ses.Can(mcp.KindForm) {
			qs = append(qs, mcp.FormFor[person]("What is your name?"))
		}
		if ses.Can(mcp.KindSampling) {
			qs = append(qs, says100("Write a greeting").Question())
		}
		if len(qs) == 0 {
			return "There is nobody to ask", nil
		}
		return fmt.Sprintf("%d answers", len(qs)), ses.Ask(ctx, qs...)
	})
}

// asks adds a tool with one argument, a text.
func (s *Server) asks(name, description, argument string, f func(ctx context.Context, text string) (any, error)) {
	schema := fmt.Sprintf(`{"type":"object","properties":{%q:{"type":"string"}},"required":[%q]}`, argument, argument)
	mcp.AddTool(&s.box, mcp.Tool{Name: name, Description: description, InputSchema: json.RawMessage(schema)},
		func(ctx context.Context, in map[string]string) (any, error) { return f(ctx, in[argument]) })
}

// says100 asks the model for at most 100 tokens.
func says100(prompt string) mcp.CreateMessageRequest {
	return mcp.CreateMessageRequest{
		Messages:  []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: []mcp.Content{mcp.Text(prompt)}}},
		MaxTokens: 100,
	}
}

// elicit shows a form and answers what the user has done.
func elicit(ctx context.Context, message, schema string) (any, error) {
	e, err := mcp.SessionFrom(ctx).Elicit(ctx, mcp.Form{Message: message, Schema: json.RawMessage(schema)})
	if err != nil {
		return nil, err
	}
	return strings.TrimSpace(fmt.Sprintf("User response: %s %s", e.Action, e.Content)), nil
}
