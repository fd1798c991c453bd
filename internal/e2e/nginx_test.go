package e2e

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tandem-rpc/tandem/mcp"
	"github.com/tandem-rpc/tandem/mcp/mcphttp"
)

// proxy is an nginx that ends TLS with the server block of docs/clients.md, and
// a client that finds it under every name.
type proxy struct {
	client *http.Client
	port   string
}

// newProxy starts nginx in front of backend, HOST:PORT. Of the documented block
// only addresses and files are changed.
func newProxy(t *testing.T, backend string) *proxy {
	t.Helper()
	program := need(t, "nginx")[0]
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "clients.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```nginx\n(.*?)```").FindSubmatch(page)
	if block == nil {
		t.Fatal("docs/clients.md shows no nginx block")
	}
	dir := t.TempDir()
	pool := certificate(t, dir, "mcp.example.com", "localhost", "other.example.com")
	port := freePort(t)
	server := string(block[1])
	for _, r := range [][2]string{
		{"listen 443 ssl;", "listen 127.0.0.1:" + port + " ssl;"},
		{"server_name mcp.example.com;", "server_name mcp.example.com localhost other.example.com;"},
		{"/etc/ssl/mcp.example.com.pem", filepath.Join(dir, "cert.pem")},
		{"/etc/ssl/private/mcp.example.com.key", filepath.Join(dir, "key.pem")},
		{"http://127.0.0.1:4391;", "http://" + backend + ";"},
	} {
		if !strings.Contains(server, r[0]) {
			t.Fatalf("the nginx block has no %q", r[0])
		}
		server = strings.Replace(server, r[0], r[1], 1)
	}
	config := filepath.Join(dir, "nginx.conf")
	text := "daemon off;\nworker_processes 1;\npid nginx.pid;\nerror_log stderr info;\nevents {}\nhttp {\naccess_log off;\n"
	for _, name := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		text += name + "_temp_path " + name + ";\n"
	}
	if err := os.WriteFile(config, []byte(text+server+"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { // nginx's workers are another user if this is root
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-p", dir, "-c", config)
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		interrupt(t, cmd)
		if t.Failed() {
			t.Logf("nginx:\n%s", tail(said.String(), 4000))
		}
	})
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool},
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", "127.0.0.1:"+port)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	p := &proxy{&http.Client{Transport: transport, Timeout: 3 * time.Minute}, port}
	for end := time.Now().Add(2 * time.Minute); ; {
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			_ = c.Close()
			return p
		}
		if time.Now().After(end) {
			t.Fatalf("nginx does not listen: %v\n%s", err, said.String())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// freePort returns a port of this machine that nobody uses, from below those
// that systems give to whoever wants just any: nobody gets it in between.
func freePort(t *testing.T) string {
	t.Helper()
	var failed error
	for range 1000 {
		port := strconv.Itoa(20_000 + mathrand.IntN(10_000))
		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err == nil {
			_ = l.Close()
			return port
		}
		failed = err
	}
	t.Fatal(failed)
	return ""
}

// certificate writes cert.pem and key.pem for the names, signed by themselves,
// and returns a pool that trusts them.
func certificate(t *testing.T, dir string, names ...string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: names, BasicConstraintsValid: true, IsCA: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: cert}, "key.pem": {Type: "PRIVATE KEY", Bytes: secret},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	parsed, err := x509.ParseCertificate(cert)
	if err != nil {
		t.Fatal(err)
	}
	pool.AddCert(parsed)
	return pool
}

// post sends a message of 2026-07-28 to a server by name, and returns what was
// answered when its head has come.
func (p *proxy) post(t *testing.T, ctx context.Context, host, method, name, params string, header ...string) *http.Response {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"progressToken":7}}}`
	r, err := http.NewRequestWithContext(ctx, "POST", "https://"+host+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name, "Accept-Encoding": "gzip",
	} {
		if v != "" {
			r.Header.Set(k, v)
		}
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := p.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// event reads from a stream until a message in it has the text.
func event(t *testing.T, lines *bufio.Reader, text string) {
	t.Helper()
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the stream ended before %q: %v", text, err)
		}
		if strings.HasPrefix(line, "data:") && strings.Contains(line, text) {
			return
		}
	}
}

// TestNginx: a handler made as docs/clients.md shows, behind the nginx that it shows.
func TestNginx(t *testing.T) {
	_ = need(t, "nginx")
	gate, gone := make(chan struct{}), make(chan struct{}, 1)
	var box mcp.Toolbox
	mcp.AddTool(&box, mcp.Tool{Name: "slow", Description: "Report, wait, answer."}, func(ctx context.Context, _ struct{}) (string, error) {
		if err := mcp.Progress(ctx, 1, 2, "half of it"); err != nil {
			return "", err
		}
		select {
		case <-gate:
			return "all of it", nil
		case <-ctx.Done():
			gone <- struct{}{}
			return "", ctx.Err()
		}
	})
	mcp.AddTool(&box, mcp.Tool{Name: "length", Description: "Count bytes."}, func(_ context.Context, in struct {
		Text string `json:"text"`
	}) (int, error) {
		return len(in.Text), nil
	})
	h := mcphttp.New(&mcp.Server{Name: "behind", Version: "1", Lister: box.List, Caller: box.Call}, &mcphttp.Options{
		Hosts:      []string{"mcp.example.com"},
		TrustProxy: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("::1/128")},
		Heartbeat:  100 * time.Millisecond,
	})
	mux := http.NewServeMux()
	h.Register(mux, "/mcp")
	backend := httptest.NewServer(mux)
	defer backend.Close()
	p := newProxy(t, backend.Listener.Addr().String())
	const host = "mcp.example.com"

	t.Run("events go out when they come", func(t *testing.T) {
		resp := p.post(t, t.Context(), host, "tools/call", "slow", `"name":"slow","arguments":{},`)
		if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("Content-Encoding") != "" {
			t.Fatalf("status %d, header %v", resp.StatusCode, resp.Header)
		}
		lines := bufio.NewReader(resp.Body)
		event(t, lines, "half of it") // while the tool waits for this
		for beat := 0; beat < 2; {    // and so do the comments that keep the connection alive
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(line, ":") {
				beat++
			}
		}
		gate <- struct{}{}
		event(t, lines, "all of it")
		if _, err := io.Copy(io.Discard, lines); err != nil {
			t.Errorf("the stream does not end well: %v", err)
		}
	})
	t.Run("a client that goes away cancels", func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		resp := p.post(t, ctx, host, "tools/call", "slow", `"name":"slow","arguments":{},`)
		event(t, bufio.NewReader(resp.Body), "half of it")
		leave()
		select {
		case <-gone:
		case <-time.After(2 * time.Minute):
			t.Error("the tool still runs")
		}
	})
	t.Run("bodies of up to 4 MiB", func(t *testing.T) {
		long := strings.Repeat("x", 4<<20-1000)
		resp := p.post(t, t.Context(), host, "tools/call", "length", `"name":"length","arguments":{"text":"`+long+`"},`)
		if body, err := io.ReadAll(resp.Body); resp.StatusCode != 200 || err != nil || !strings.Contains(string(body), "4193304") {
			t.Errorf("status %d, %v: %s", resp.StatusCode, err, tail(string(body), 500))
		}
		resp = p.post(t, t.Context(), host, "tools/call", "length", `"name":"length","arguments":{"text":"`+long+strings.Repeat("x", 1000)+`"},`)
		if resp.StatusCode != 413 {
			t.Errorf("status %d for more, want 413", resp.StatusCode)
		}
	})
	for _, tt := range []struct {
		name, host, origin string
		want               int
	}{
		{"no page", host, "", 200},
		{"a page of its own", host, "https://mcp.example.com", 200},
		{"its page without TLS", host, "http://mcp.example.com", 403},
		{"another page", host, "https://evil.example", 403},
		{"a name of this machine", "localhost", "", 200},
		{"another name", "other.example.com", "", 403},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var header []string
			if tt.origin != "" {
				header = []string{"Origin", tt.origin}
			}
			resp := p.post(t, t.Context(), tt.host, "tools/list", "", "", header...)
			body, err := io.ReadAll(resp.Body)
			if resp.StatusCode != tt.want || err != nil || !strings.Contains(string(body), `"jsonrpc":"2.0"`) {
				t.Errorf("status %d, want %d and a message; %v: %s", resp.StatusCode, tt.want, err, tail(string(body), 500))
			}
		})
	}
}

// TestNginxDemo: demo-mcp behind the same nginx. It is a server for one machine, so it answers to localhost's name alone.
func TestNginxDemo(t *testing.T) {
	_ = need(t, "nginx")
	_, address := demoHTTP(t, notes(t))
	backend := strings.TrimSuffix(strings.TrimPrefix(address, "http://"), "/mcp")
	p := newProxy(t, backend)

	resp := p.post(t, t.Context(), "localhost", "tools/call", "index", `"name":"index","arguments":{"pause_ms":1},`)
	lines := bufio.NewReader(resp.Body)
	event(t, lines, "notifications/progress")
	event(t, lines, `"broken":1`)

	// A stream that does not end by itself shows its first event all the same.
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	resp = p.post(t, ctx, "localhost", "subscriptions/listen", "", `"notifications":{"resourcesListChanged":true},`)
	event(t, bufio.NewReader(resp.Body), "notifications/subscriptions/acknowledged")

	if resp := p.post(t, t.Context(), "mcp.example.com", "tools/list", "", ""); resp.StatusCode != 403 {
		t.Errorf("status %d by another name, want 403", resp.StatusCode)
	}
}
