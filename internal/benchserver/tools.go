package main

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/tandem-rpc/tandem/mcp"
)

type echo struct {
	Text string `json:"text" jsonschema:"the text to echo"`
}

// tools is an MCP server: echo, hang and active as in plain, and noargs, progress and panic.
func tools() *mcp.Server {
	type none struct{}
	var active atomic.Int64
	var box mcp.Toolbox
	mcp.AddTool(&box, mcp.Tool{Name: "echo", Description: "Return the text."}, func(_ context.Context, in echo) (string, error) {
		return in.Text, nil
	})
	mcp.AddTool(&box, mcp.Tool{Name: "hang", Description: "Wait until cancelled."}, func(ctx context.Context, _ none) (string, error) {
		active.Add(1)
		defer active.Add(-1)
		<-ctx.Done()
		return "", ctx.Err()
	})
	mcp.AddTool(&box, mcp.Tool{Name: "active", Description: "How many calls of hang wait."}, func(context.Context, none) (string, error) {
		return fmt.Sprintf("active=%d", active.Load()), nil
	})
	mcp.AddTool(&box, mcp.Tool{Name: "noargs", Description: "Take no arguments."}, func(context.Context, none) (string, error) {
		return "ok", nil
	})
	mcp.AddTool(&box, mcp.Tool{Name: "progress", Description: "Report progress three times."}, func(ctx context.Context, _ none) (string, error) {
		for i := range 3 {
			if err := mcp.Progress(ctx, float64(i+1), 3, fmt.Sprintf("step %d", i+1)); err != nil {
				return "", err
			}
		}
		return "done", nil
	})
	mcp.AddTool(&box, mcp.Tool{Name: "panic", Description: "Panic."}, func(context.Context, none) (string, error) {
		panic("asked for")
	})
	s := &mcp.Server{Name: "benchserver", Version: "1.0.0"}
	box.Attach(s)
	return s
}
