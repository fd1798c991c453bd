package framework_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/framework"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// greeter is a protocol with one method, "greet".
type greeter struct{}

func (greeter) Protocol() string                 { return "greeter" }
func (greeter) Framing() jsonrpc2.Framing        { return jsonrpc2.Lines }
func (greeter) Conventions() []cancel.Convention { return nil }

func (greeter) Mount(*jsonrpc2.Options) (*jsonrpc2.Mux, error) {
	m := jsonrpc2.NewMux()
	m.HandleRequest("greet", jsonrpc2.Call(func(_ context.Context, p *struct {
		Name string `json:"name"`
	}) (string, error) {
		return "Hello, " + p.Name + "!", nil
	}))
	return m, nil
}

// A protocol of your own is four methods.
func Example() {
	here, there := net.Pipe()
	var rt framework.Runtime
	served := make(chan error, 1)
	go func() { served <- rt.ServeConn(context.Background(), there, greeter{}) }()

	fmt.Fprintln(here, `{"jsonrpc":"2.0","id":1,"method":"greet","params":{"name":"Ada"}}`)
	answer, _ := bufio.NewReader(here).ReadString('\n')
	fmt.Print(answer)
	here.Close()
	fmt.Println(<-served)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":"Hello, Ada!"}
	// <nil>
}

// A program with flags of its own.
func ExampleConfig() {
	fs := flag.NewFlagSet("greeter", flag.ContinueOnError)
	var config framework.Config
	config.Register(fs)
	root := fs.String("root", ".", "where the notes are")
	if err := fs.Parse([]string{"--stdio", "-root=/notes", "--node-ipc"}); err != nil {
		os.Exit(framework.ExitUsage)
	}
	fmt.Println(*root, config.Check())
	// os.Exit(config.Run(ctx, new(framework.Runtime), greeter{}))

	// Output:
	// /notes --node-ipc needs Node.js at both ends: use --stdio, --pipe or --socket
}

func ExampleMetrics() {
	var m framework.Metrics
	for range 3 {
		m.Observe(jsonrpc2.Event{Method: "greet", In: 14, Out: 13, Run: 2000, Queued: 1000})
	}
	var table strings.Builder
	_, _ = m.WriteTo(&table)
	for line := range strings.Lines(table.String()) {
		fmt.Println(strings.Join(strings.Fields(line), " "))
	}
	// Output:
	// method count errors cancelled in out wait p50 p90 p99 run p50 p90 p99
	// greet 3 0 0 42 B 39 B 1µs 1µs 1µs 2µs 2µs 2µs
}
