package mcphttp_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/tandem-rpc/tandem/mcp"
	"github.com/tandem-rpc/tandem/mcp/mcpauth"
	"github.com/tandem-rpc/tandem/mcp/mcphttp"
)

func greeter() *mcp.Server {
	type greeting struct {
		Name string `json:"name" jsonschema:"who to greet"`
	}
	var box mcp.Toolbox
	mcp.AddTool(&box, mcp.Tool{Name: "greet", Description: "Say hello."}, func(ctx context.Context, in greeting) (string, error) {
		if p, ok := mcpauth.PrincipalFrom(ctx); ok {
			return "Hello, " + in.Name + ", from " + p.Subject + "!", nil
		}
		return "Hello, " + in.Name + "!", nil
	})
	server := &mcp.Server{Name: "Greeter", Version: "1.0.0"}
	box.Attach(server)
	return server
}

// A server on a port of this machine, until ctx ends.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	h := mcphttp.New(greeter(), nil)
	mux := http.NewServeMux()
	h.Register(mux, "/mcp")
	done := make(chan error)
	go func() { done <- h.Serve(ctx, listener, mcphttp.NewServer(mux)) }()

	// A client of 2026-07-28 needs no session.
	r, _ := http.NewRequest("POST", "http://"+listener.Addr().String()+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{
		"name":"greet","arguments":{"name":"Ada"},
		"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("MCP-Protocol-Version", "2026-07-28")
	r.Header.Set("Mcp-Method", "tools/call")
	r.Header.Set("Mcp-Name", "greet")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		fmt.Println(err)
		return
	}
	body, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	fmt.Println(resp.Status, strings.Contains(string(body), "Hello, Ada!"))

	http.DefaultClient.CloseIdleConnections()
	stop()
	fmt.Println(<-done)
	// Output:
	// 200 OK true
	// <nil>
}

// A server that wants an access token. Static tokens are for demonstrations; package mcpauth has the verifiers for tokens of an authorization server.
func Example_mcpauth() {
	verifier, err := mcpauth.NewStatic(mcpauth.StaticToken{Token: "s3cr3t-t0ken-of-ada", Subject: "ada"})
	if err != nil {
		fmt.Println(err)
		return
	}
	resource, err := mcpauth.New(mcpauth.Options{
		Resource: "https://mcp.example.com/mcp",
		Issuers:  []string{"https://login.example.com"},
		Verifier: verifier,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	h := mcphttp.New(greeter(), &mcphttp.Options{
		Hosts:     []string{"mcp.example.com"},
		Protect:   resource.Protect,
		Principal: mcpauth.Identify,
	})
	mux := http.NewServeMux()
	mux.Handle("/.well-known/", resource.Metadata())
	h.Register(mux, "/mcp")

	for _, token := range []string{"", "s3cr3t-t0ken-of-ada"} {
		r := httptest.NewRequest("POST", "https://mcp.example.com/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call",
			"params":{"name":"greet","arguments":{"name":"world"}}}`))
		r.Header.Set("Content-Type", "application/json")
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		fmt.Println(w.Code, strings.Contains(w.Body.String(), "from ada"))
	}
	// Output:
	// 401 false
	// 200 true
}
