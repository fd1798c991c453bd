package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
)

// working adds the tools whose calls are tasks.
func (s *Server) working() {
	s.asks("greet", "Says hello, at once.", "name", func(_ context.Context, name string) (any, error) {
		return "Hello, " + name + "!", nil
	})
	type job struct {
		Seconds float64 `json:"seconds" jsonschema:"how long to work"`
		Label   string  `json:"label,omitempty" jsonschema:"what to call it"`
	}
	mcp.AddTool(&s.box, mcp.Tool{Name: "slow_compute", Description: "Works for some time.", Task: mcp.TaskMay},
		func(ctx context.Context, in job) (string, error) {
			if err := pause(ctx, time.Duration(in.Seconds*float64(time.Second))); err != nil {
				return "", err
			}
			return fmt.Sprintf("Computed %q in %g seconds", in.Label, in.Seconds), nil
		})
	s.tasks("failing_job", "Works for a second, then fails.", mcp.TaskMust, func(ctx context.Context) (any, error) {
		return nil, errors.Join(pause(ctx, time.Second), errors.New("the job has failed, as it always does"))
	})
	s.tasks("protocol_error_job", "Fails with an error of the protocol.", mcp.TaskMay, func(context.Context) (any, error) {
		return nil, jsonrpc2.Errorf(jsonrpc2.CodeInternalError, "the job has failed, as it always does")
	})
	mcp.AddTool(&s.box, mcp.Tool{Name: "confirm_delete", Description: "Asks before it pretends to delete.", Task: mcp.TaskMay},
		func(ctx context.Context, in struct {
			Filename string `json:"filename"`
		},
		) (string, error) {
			answer, err := mcp.ElicitAs[struct {
				Confirm bool `json:"confirm"`
			}](ctx, "Delete "+in.Filename+"?")
			switch {
			case err != nil:
				return "", err
			case !answer.Confirm:
				return in.Filename + " was kept", nil
			}
			return in.Filename + " was deleted", nil
		})
	s.tasks("multi_input", "Asks for two things at once while it works.", mcp.TaskMay, func(ctx context.Context) (any, error) {
		one, two := mcp.FormFor[person]("Who is the first?", mcp.Key("first")), mcp.FormFor[person]("Who is the second?", mcp.Key("second"))
		if err := mcp.SessionFrom(ctx).Ask(ctx, one, two); err != nil {
			return nil, err
		}
		return "Both have been named", nil
	})
	mcp.AddAskingTool(&s.box, mcp.Tool{Name: "test_tool_with_task", Description: "Asks first, then works.", Task: mcp.TaskMust},
		func(_ context.Context, _ struct{}, q *mcp.Asker) (person, error) {
			p, _ := mcp.FormAs[person](q, "user_name", "What is your name?")
			return p, nil
		},
		func(ctx context.Context, _ struct{}, p person) (string, error) {
			return "Worked for " + p.Name, pause(ctx, 200*time.Millisecond)
		})
}

// tasks adds a tool without arguments whose calls are tasks.
func (s *Server) tasks(name, description string, support mcp.TaskSupport, f func(ctx context.Context) (any, error)) {
	mcp.AddTool(&s.box, mcp.Tool{Name: name, Description: description, Task: support}, func(ctx context.Context, _ struct{}) (any, error) {
		return f(ctx)
	})
}
