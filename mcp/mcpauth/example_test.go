package mcpauth_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/tandem-rpc/tandem/mcp"
	"github.com/tandem-rpc/tandem/mcp/mcpauth"
)

// Any http.Handler can be protected. Here one token was handed out beforehand.
func Example() {
	verifier, err := mcpauth.ReadTokens(strings.NewReader("4f1c0d7e9a6b4c0f8d2e5a7b9c1d3e5f ada notes:read"))
	if err != nil {
		panic(err)
	}
	resource, err := mcpauth.New(mcpauth.Options{
		Resource: "https://mcp.example.com/mcp",
		Issuers:  []string{"https://login.example.com"},
		Verifier: verifier,
		Scopes:   []string{"notes:read"},
	})
	if err != nil {
		panic(err)
	}
	hello := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, _ := mcpauth.PrincipalFrom(r.Context())
		fmt.Fprintf(w, "Hello, %s!", p.Subject)
	})
	mux := http.NewServeMux()
	mux.Handle("/.well-known/", resource.Metadata())
	mux.Handle("/mcp", resource.Protect(hello))

	get := func(path, token string) {
		r := httptest.NewRequest("GET", path, nil)
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		body, _ := io.ReadAll(w.Result().Body)
		fmt.Println(w.Code, string(body))
		if challenge := w.Header().Get("WWW-Authenticate"); challenge != "" {
			fmt.Println("   ", challenge)
		}
	}
	get("/mcp", "")
	get("/.well-known/oauth-protected-resource/mcp", "")
	get("/mcp", "4f1c0d7e9a6b4c0f8d2e5a7b9c1d3e5f")
	// Output:
	// 401 {"error":"unauthorized","error_description":"An access token is needed"}
	//     Bearer scope="notes:read", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"
	// 200 {"resource":"https://mcp.example.com/mcp","authorization_servers":["https://login.example.com"],"scopes_supported":["notes:read"],"bearer_methods_supported":["header"]}
	// 200 Hello, ada!
}

// A tool that needs more than the endpoint does. The answer to the client is a 403 with a challenge for these scopes.
func ExampleRequire() {
	type removal struct {
		Slug string `json:"slug"`
	}
	var box mcp.Toolbox
	mcp.AddTool(&box, mcp.Tool{Name: "remove"}, func(ctx context.Context, in removal) (string, error) {
		if err := mcpauth.Require(ctx, "notes:read", "notes:delete"); err != nil {
			return "", err
		}
		return "removed " + in.Slug, nil
	})
	server := &mcp.Server{Name: "Notes", Version: "1.0.0", Lister: box.List, Caller: box.Call}

	verifier, err := mcpauth.NewStatic(mcpauth.StaticToken{Token: "a-token-for-reading", Subject: "ada", Scopes: []string{"notes:read"}})
	if err != nil {
		panic(err)
	}
	resource, err := mcpauth.New(mcpauth.Options{Resource: "https://mcp.example.com/mcp", Verifier: verifier})
	if err != nil {
		panic(err)
	}
	handler := resource.Protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		message, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Write(server.Handle(r.Context(), message))
	}))

	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"remove","arguments":{"slug":"a"}}}`
	r := httptest.NewRequest("POST", "/mcp", strings.NewReader(call))
	r.Header.Set("Authorization", "Bearer a-token-for-reading")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	fmt.Println(w.Code)
	fmt.Println(w.Header().Get("WWW-Authenticate"))
	fmt.Println(w.Body)
	// Output:
	// 403
	// Bearer error="insufficient_scope", error_description="The access token does not allow this operation", scope="notes:read notes:delete", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"
	// {"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Insufficient scope","data":{"error":"insufficient_scope","scope":"notes:read notes:delete"}}}
}

// On stdio there are no tokens: whoever started the process is the caller, and the program says what they may do.
func ExampleWithPrincipal() {
	ctx := mcpauth.WithPrincipal(context.Background(), &mcpauth.Principal{Subject: "local", Scopes: []string{"notes:write"}})
	fmt.Println(mcpauth.Require(ctx, "notes:write"))
	fmt.Println(mcpauth.Require(ctx, "notes:delete"))
	fmt.Println(mcpauth.Require(context.Background(), "notes:write"))
	// Output:
	// <nil>
	// mcpauth: the access token lacks scope notes:delete
	// mcpauth: no principal
}

// sessions is a Verifier of one's own: tokens are looked up where the rest of a service keeps its logins.
type sessions map[string]string

func (s sessions) Verify(_ context.Context, token string, _ *http.Request) (*mcpauth.Principal, error) {
	user, ok := s[token]
	if !ok {
		return nil, mcpauth.ErrInvalidToken
	}
	return &mcpauth.Principal{Issuer: "https://login.example.com", Subject: user, Audience: []string{"https://mcp.example.com/mcp"}}, nil
}

func ExampleVerifier() {
	resource, err := mcpauth.New(mcpauth.Options{
		Resource: "https://mcp.example.com/mcp",
		Issuers:  []string{"https://login.example.com"},
		Verifier: sessions{"s3ss10n": "grace"},
	})
	if err != nil {
		panic(err)
	}
	handler := resource.Protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, _ := mcpauth.PrincipalFrom(r.Context())
		fmt.Fprint(w, p.Subject)
	}))
	for _, token := range []string{"s3ss10n", "guess"} {
		r := httptest.NewRequest("GET", "/mcp", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		fmt.Println(w.Code, w.Body)
	}
	// Output:
	// 200 grace
	// 401 {"error":"invalid_token","error_description":"The access token is not valid"}
}

// A challenge list is not split at commas.
func ExampleParseChallenges() {
	challenges, err := mcpauth.ParseChallenges([]string{
		`Bearer error="insufficient_scope", scope="a b", DPoP algs="ES256 EdDSA"`,
	})
	if err != nil {
		panic(err)
	}
	for _, c := range challenges {
		fmt.Printf("%s: scope %q, algs %q\n", c.Scheme, c.Param("scope"), c.Param("algs"))
	}
	// Output:
	// Bearer: scope "a b", algs ""
	// DPoP: scope "", algs "ES256 EdDSA"
}
