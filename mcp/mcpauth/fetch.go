package mcpauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

const (
	fetchTime = 10 * time.Second // for one answer, redirects and body included
	fetchSize = 1 << 20          // of a document, in bytes
	replySize = 64 << 10         // of an introspection response
	redirects = 3
)

var (
	errRedirect = errors.New("mcpauth: a redirect to another host")
	errPrivate  = errors.New("mcpauth: the host has a private address")
	errTooLarge = errors.New("mcpauth: the answer is too large")
)

// fetcher gets documents from authorization servers: by https, in bounded time and size, from the host that was named and no other.
type fetcher struct{ client *http.Client }

// newFetcher makes one. A client of the user keeps its transport (proxies, certificates, private networks); ours goes to public addresses only
// unless private is set, since an authorization server's metadata is text that chooses where we connect to.
func newFetcher(user *http.Client, private, keepAlive bool) *fetcher {
	c := new(http.Client)
	if user != nil {
		*c = *user
	}
	if c.Transport == nil {
		c.Transport = &http.Transport{
			DialContext:           dialer(private),
			ForceAttemptHTTP2:     true,
			DisableKeepAlives:     !keepAlive,
			MaxIdleConnsPerHost:   4,
			MaxConnsPerHost:       64,
			IdleConnTimeout:       30 * time.Second,
			TLSHandshakeTimeout:   fetchTime,
			ResponseHeaderTimeout: fetchTime,
			// An answer of 1 MiB has no use for more.
			MaxResponseHeaderBytes: 64 << 10,
		}
	}
	c.Jar = nil
	c.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		first := via[0]
		if len(via) > redirects || first.Method != http.MethodGet || req.URL.Scheme != first.URL.Scheme || !strings.EqualFold(req.URL.Host, first.URL.Host) {
			return errRedirect
		}
		return nil
	}
	return &fetcher{c}
}

// get fetches a JSON document.
func (f *fetcher) get(ctx context.Context, where string) ([]byte, http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, where, nil)
	if err != nil {
		return nil, nil, errors.New("mcpauth: not a URL")
	}
	req.Header.Set("Accept", "application/json")
	return f.do(req, fetchSize)
}

// do sends a request and reads an answer of at most limit bytes. Errors say what was wrong with it and quote nothing of it.
func (f *fetcher) do(req *http.Request, limit int64) ([]byte, http.Header, error) {
	// Not http.Client.Timeout, which takes a goroutine.
	ctx, cancel := context.WithTimeout(req.Context(), fetchTime)
	defer cancel()
	resp, err := f.client.Do(req.WithContext(ctx))
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, nil, &statusError{resp.StatusCode}
	}
	if media, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err == nil && media != "application/json" && !strings.HasSuffix(media, "+json") && media != "text/plain" && media != "application/octet-stream" {
		return nil, nil, errors.New("mcpauth: the answer is not JSON")
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return nil, nil, err
	}
	if int64(len(body)) > limit {
		return nil, nil, errTooLarge
	}
	return body, resp.Header, nil
}

// statusError is an answer that is not 200.
type statusError struct{ status int }

func (e *statusError) Error() string {
	return fmt.Sprintf("mcpauth: answered with status %d", e.status)
}

// dialer connects to what names may stand for. A loopback name must lead to a loopback address; any other to a public one.
func dialer(private bool) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		d := &net.Dialer{Timeout: fetchTime}
		if host, _, err := net.SplitHostPort(address); err == nil && !private {
			loopback := isLoopback(host)
			// After resolution, so that a name cannot show one address here and another to the connection.
			d.Control = func(_, resolved string, _ syscall.RawConn) error {
				ap, err := netip.ParseAddrPort(resolved)
				if err != nil {
					return errPrivate
				}
				a := ap.Addr().Unmap().WithZone("")
				if loopback && a.IsLoopback() || !loopback && isPublic(a) {
					return nil
				}
				return errPrivate
			}
		}
		return d.DialContext(ctx, network, address)
	}
}

// notPublic are ranges that netip has no words for (IANA special-purpose address registries).
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b::/96"), // IPv4 inside: whatever that is
	netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("fec0::/10"),
}

func isPublic(a netip.Addr) bool {
	if !a.IsGlobalUnicast() || a.IsPrivate() {
		return false
	}
	for _, p := range notPublic {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// checkJWKS says whether keys may be fetched from where, when an issuer's metadata says so: not from this machine, unless the issuer is on it.
func checkJWKS(issuer, where string) error {
	u, err := parseHTTPS(where)
	if err != nil {
		return fmt.Errorf("mcpauth: jwks_uri: %w", err)
	}
	if i, err := url.Parse(issuer); isLoopback(u.Hostname()) && (err != nil || !isLoopback(i.Hostname())) {
		return errPrivate
	}
	return nil
}
