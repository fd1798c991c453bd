package mcp_test

import (
	"context"
	"fmt"
	"regexp"
	"time"

	"github.com/tandem-rpc/tandem/mcp"
)

// A tool that takes its time: a client that knows tasks gets one, asks how it is going, and has the result when it is there. Others wait for their answer.
func Example_task() {
	type in struct {
		Pages int `json:"pages"`
	}
	printed := make(chan struct{})
	var box mcp.Toolbox
	mcp.AddTool(&box, mcp.Tool{Name: "print", Task: mcp.TaskMay}, func(ctx context.Context, a in) (string, error) {
		_ = mcp.TaskFrom(ctx).SetStatusMessage(ctx, "warming up")
		select {
		case <-printed:
			return fmt.Sprintf("%d pages printed", a.Pages), nil
		case <-ctx.Done(): // cancelled, out of time, or the server goes away
			return "", ctx.Err()
		}
	})
	server := &mcp.Server{Name: "Printer", Version: "1.0.0", Lister: box.List, Caller: box.Call, Tasks: &mcp.Tasks{TTL: time.Hour}}

	// What an HTTP handler does with what clients send.
	ask := func(method, params string) string {
		return string(server.HandleModern(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{"_meta":{`+
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
			`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}},`+params+`}}`), nil))
	}
	status := regexp.MustCompile(`"status":"(\w+)"`)

	created := ask("tools/call", `"name":"print","arguments":{"pages":7}`)
	fmt.Println(status.FindStringSubmatch(created)[1])
	id := regexp.MustCompile(`"taskId":"([^"]+)"`).FindStringSubmatch(created)[1]

	close(printed)
	for {
		task := ask("tasks/get", `"taskId":"`+id+`"`)
		if status.FindStringSubmatch(task)[1] == "completed" {
			fmt.Println(regexp.MustCompile(`"text":"([^"]+)"`).FindStringSubmatch(task)[1])
			break
		}
	}
	_ = server.Shutdown(context.Background())
	// Output:
	// working
	// 7 pages printed
}
