package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tandem-rpc/tandem/mcp"
)

// converse calls a tool as a client of 2026-07-28 does: it shows what it is asked, answers, and calls again.
func converse(s *mcp.Server, name, arguments string, answers ...string) {
	const meta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`
	members := `"name":"` + name + `","arguments":` + arguments
	for extra := ""; ; {
		out := s.HandleModern(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":`+meta+`,`+members+extra+`}}`), nil)
		var answer struct {
			Result struct {
				InputRequests map[string]struct{ Params struct{ Message string } }
				RequestState  string
				Content       []struct{ Text string }
			}
		}
		if err := json.Unmarshal(out, &answer); err != nil {
			fmt.Println(err)
			return
		}
		r := answer.Result
		if len(r.InputRequests) == 0 {
			for _, c := range r.Content {
				fmt.Println(c.Text)
			}
			return
		}
		for key, q := range r.InputRequests {
			fmt.Println("asked:", q.Params.Message)
			extra = fmt.Sprintf(`,"inputResponses":{%q:%s},"requestState":%q`, key, answers[0], r.RequestState)
			answers = answers[1:]
		}
	}
}

type deletion struct {
	Pattern string `json:"pattern"`
}

// A tool that asks before it works. What the user saw is what is deleted: the list is computed once, and the answer is bound to the question that shows it.
func ExampleAddAskingTool() {
	files := []string{"a.log", "b.log", "c.txt"}
	matching := func(pattern string) (found []string) {
		for _, f := range files {
			if strings.HasSuffix(f, pattern) {
				found = append(found, f)
			}
		}
		return found
	}
	var box mcp.Toolbox
	mcp.AddAskingTool(&box, mcp.Tool{Name: "delete", Description: "Delete files.", SingleUse: true},
		func(ctx context.Context, in deletion, q *mcp.Asker) ([]string, error) {
			found, err := mcp.Memo(ctx, "found", func() ([]string, error) { return matching(in.Pattern), nil })
			if err != nil {
				return nil, err
			}
			q.Confirm("sure", "Delete "+strings.Join(found, ", ")+"?")
			return found, nil
		},
		func(_ context.Context, _ deletion, found []string) (string, error) {
			return fmt.Sprintf("%d files are gone.", len(found)), nil
		})
	s := &mcp.Server{Name: "Files", Version: "1.0.0", Lister: box.List, Caller: box.Call}

	converse(s, "delete", `{"pattern":".log"}`, `{"action":"accept"}`)
	converse(s, "delete", `{"pattern":".txt"}`, `{"action":"decline"}`)
	// Output:
	// asked: Delete a.log, b.log?
	// 2 files are gone.
	// asked: Delete c.txt?
	// the user declined
}

// Straight code: with a client of 2026-07-28 the function runs once for each question, with others it waits.
func ExampleElicitAs() {
	type who struct {
		Name string `json:"name" jsonschema:"your name"`
	}
	var box mcp.Toolbox
	mcp.AddTool(&box, mcp.Tool{Name: "greet"}, func(ctx context.Context, _ struct{}) (string, error) {
		w, err := mcp.ElicitAs[who](ctx, "Who are you?")
		if err != nil {
			return "", err
		}
		if err := mcp.SessionFrom(ctx).Confirm(ctx, "Shall I greet "+w.Name+"?"); err != nil {
			return "", err
		}
		return "Hello, " + w.Name + "!", nil
	})
	s := &mcp.Server{Name: "Greeter", Version: "1.0.0", Lister: box.List, Caller: box.Call}

	converse(s, "greet", `{}`, `{"action":"accept","content":{"name":"Ada"}}`, `{"action":"accept"}`)
	// Output:
	// asked: Who are you?
	// asked: Shall I greet Ada?
	// Hello, Ada!
}

// A state machine: what is asked is the result.
func ExampleInputRequired() {
	s := &mcp.Server{Name: "Greeter", Version: "1.0.0"}
	s.Caller = func(ctx context.Context, _ string, _ mcp.Arguments) (any, error) {
		sure := mcp.Received(ctx).Elicited("sure")
		switch {
		case sure == nil:
			return &mcp.InputRequired{Requests: map[string]*mcp.Question{"sure": mcp.Form{Message: "Are you sure?"}.Question()}}, nil
		case sure.Action != mcp.Accept:
			return mcp.ErrorResult("Then not."), nil
		}
		return mcp.TextResult("Done."), nil
	}
	converse(s, "x", `{}`, `{"action":"cancel"}`)
	converse(s, "x", `{}`, `{"action":"accept"}`)
	// Output:
	// asked: Are you sure?
	// Then not.
	// asked: Are you sure?
	// Done.
}
