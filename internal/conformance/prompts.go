package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tandem-rpc/tandem/mcp"
)

var prompts = []mcp.Prompt{
	{Name: "test_input_required_result_prompt", Description: "Asks before it is one."},
	{Name: "test_prompt_with_arguments", Description: "Repeats its two arguments.", Arguments: []mcp.PromptArgument{
		{Name: "arg1", Title: "First", Description: "the first", Required: true},
		{Name: "arg2", Description: "the second", Required: true},
	}},
	{Name: "test_prompt_with_embedded_resource", Description: "Carries a resource.", Arguments: []mcp.PromptArgument{
		{Name: "resourceUri", Description: "the URI it is given", Required: true},
	}},
	{Name: "test_prompt_with_image", Description: "Carries a picture."},
	{Name: "test_simple_prompt", Title: "Simple prompt", Description: "Is a text.", Icons: icons, Meta: meta},
}

// prompts is a Lister of prompts; the trigger tool adds one and takes it out again.
func (s *Server) prompts(context.Context) ([]mcp.Prompt, error) {
	list := slices.Clone(prompts)
	if s.changed.Load()%2 == 1 {
		list = append(list, mcp.Prompt{Name: "test_triggered", Description: "Is there every second time."})
	}
	return list, nil
}

func (s *Server) prompt(ctx context.Context, name string, a mcp.Arguments) (any, error) {
	want := func(arg string) (string, error) {
		v, ok := a.Text(arg)
		if !ok {
			return "", mcp.InvalidParams("missing argument %q", arg)
		}
		return v, nil
	}
	switch name {
	case "test_simple_prompt", "test_triggered":
		return says(mcp.Text("This is a simple prompt for testing.")), nil
	case "test_input_required_result_prompt":
		in, err := mcp.ElicitAs[struct {
			Context string `json:"context"`
		}](ctx, "What is the prompt about?")
		if err != nil {
			return nil, err
		}
		return says(mcp.Text("This is a prompt about " + in.Context + ".")), nil
	case "test_prompt_with_arguments":
		one, err := want("arg1")
		if err != nil {
			return nil, err
		}
		two, err := want("arg2")
		if err != nil {
			return nil, err
		}
		return says(mcp.Text(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", one, two))), nil
	case "test_prompt_with_embedded_resource":
		uri, err := want("resourceUri")
		if err != nil {
			return nil, err
		}
		return says(embedded(uri, "text/plain", "Embedded resource content for testing."),
			mcp.Text("Please process the embedded resource above.")), nil
	case "test_prompt_with_image":
		return says(mcp.Image("image/png", png), mcp.Text("Please analyze the image above.")), nil
	}
	return nil, mcp.InvalidParams("unknown prompt %q", name)
}

// says is a prompt of the user.
func says(blocks ...mcp.Content) *mcp.PromptResult {
	r := new(mcp.PromptResult)
	for _, c := range blocks {
		r.Messages = append(r.Messages, mcp.PromptMessage{Role: mcp.RoleUser, Content: c})
	}
	return r
}

// complete suggests what begins with what has been typed.
func complete(_ context.Context, r mcp.CompleteRequest) (*mcp.Completion, error) {
	var all []string
	switch {
	case r.Template == dataTemplate.URITemplate && r.Name == "id":
		all = []string{"1", "12", "123"}
	case r.Prompt == "test_prompt_with_arguments" && (r.Name == "arg1" || r.Name == "arg2"):
		all = []string{"paris", "park", "party"}
	case r.Prompt == "test_prompt_with_embedded_resource" && r.Name == "resourceUri":
		all = []string{staticBinary.URI, staticText.URI, watched.URI}
	default:
		return nil, mcp.InvalidParams("nothing to complete")
	}
	c := &mcp.Completion{}
	for _, v := range all {
		if strings.HasPrefix(v, r.Value) {
			c.Values = append(c.Values, v)
		}
	}
	return c, nil
}
