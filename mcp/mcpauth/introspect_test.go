package mcpauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func introspection(as *authority, change func(*IntrospectionOptions)) *Introspection {
	o := IntrospectionOptions{Endpoint: testIssuer + "/introspect", Issuer: testIssuer, ClientID: "mcp", ClientSecret: "s", Client: memory(as)}
	if change != nil {
		change(&o)
	}
	return must(NewIntrospection(o))
}

func ask(v Verifier, token string) error {
	_, err := v.Verify(context.Background(), token, nil)
	return err
}

func TestIntrospection(t *testing.T) {
	now := time.Now()
	active := func(change m) m {
		c := goodClaims(change)
		c["active"] = true
		if v, ok := change["active"]; ok {
			c["active"] = v
		}
		return c
	}
	for _, c := range []struct {
		name   string
		answer m
		want   error
	}{
		{"active", active(nil), nil},
		{"inactive", m{"active": false}, ErrInvalidToken},
		{"inactive with claims", active(m{"active": false}), ErrInvalidToken},
		{"active a string", active(m{"active": "true"}), ErrUnavailable},
		{"active missing", m{"sub": "ada"}, ErrUnavailable},
		{"expired", active(m{"exp": now.Add(-2 * time.Minute).Unix()}), ErrExpiredToken},
		{"no expiry", active(m{"exp": nil}), nil},
		{"not yet", active(m{"nbf": now.Add(2 * time.Minute).Unix()}), ErrInvalidToken},
		{"no issuer", active(m{"iss": nil}), nil},
		{"another issuer", active(m{"iss": "https://evil.example"}), ErrInvalidToken},
		{"nobody", active(m{"sub": nil, "client_id": nil}), ErrInvalidToken},
		{"a subject of another kind", active(m{"sub": 5}), ErrInvalidToken},
	} {
		t.Run(c.name, func(t *testing.T) {
			as := newAuthority(testIssuer)
			as.tokens["opaque"] = c.answer
			p, err := introspection(as, nil).Verify(context.Background(), "opaque", nil)
			if !errors.Is(err, c.want) || c.want == nil && err != nil {
				t.Fatalf("got %v, want %v", err, c.want)
			}
			if err == nil && (p.Subject != "ada" || p.Issuer != testIssuer || !p.Has("notes:read") || len(p.Audience) != 1) {
				t.Errorf("%+v", *p)
			}
		})
	}
}

func TestIntrospectionRequest(t *testing.T) {
	for _, c := range []struct {
		name    string
		options func(*IntrospectionOptions)
		check   func(*http.Request) error
	}{
		{"basic", func(o *IntrospectionOptions) { o.ClientID, o.ClientSecret = "a:b c", "p%w" }, func(r *http.Request) error {
			// Encoded before they are joined (RFC 6749 section 2.3.1), so that a colon is no problem.
			if id, secret, _ := r.BasicAuth(); id != "a%3Ab+c" || secret != "p%25w" {
				return fmt.Errorf("credentials %q %q", id, secret)
			}
			return nil
		}},
		{"in the body", func(o *IntrospectionOptions) { o.InBody = true }, func(r *http.Request) error {
			if r.PostForm.Get("client_id") != "mcp" || r.PostForm.Get("client_secret") != "s" || r.Header.Get("Authorization") != "" {
				return fmt.Errorf("%v %v", r.PostForm, r.Header)
			}
			return nil
		}},
		{"another way", func(o *IntrospectionOptions) {
			o.ClientID, o.Authorize = "", func(r *http.Request) error { r.Header.Set("Authorization", "Bearer mine"); return nil }
		}, func(r *http.Request) error {
			if r.Header.Get("Authorization") != "Bearer mine" {
				return fmt.Errorf("%v", r.Header)
			}
			return nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			as := newAuthority(testIssuer)
			_ = ask(introspection(as, c.options), "tok+en/=")
			r := as.last
			if r.Method != "POST" || r.PostForm.Get("token") != "tok+en/=" || r.PostForm.Get("token_type_hint") != "access_token" || r.URL.RawQuery != "" {
				t.Errorf("%s %s %v", r.Method, r.URL, r.PostForm)
			}
			if err := c.check(r); err != nil {
				t.Error(err)
			}
		})
	}
	refuses := introspection(newAuthority(testIssuer), func(o *IntrospectionOptions) {
		o.ClientID, o.Authorize = "", func(*http.Request) error { return errors.New("no key") }
	})
	if err := ask(refuses, "x"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("Authorize fails: %v", err)
	}
}

func TestIntrospectionCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		as := newAuthority(testIssuer)
		good := func(change m) m { c := goodClaims(change); c["active"] = true; return c }
		as.tokens["good"] = good(nil)
		as.tokens["short"] = good(m{"exp": time.Now().Add(20 * time.Second).Unix()})
		v := introspection(as, func(o *IntrospectionOptions) { o.Leeway = -1 })
		asked := 0
		step := func(name, token string, want error, asks bool) {
			t.Helper()
			if err := ask(v, token); !errors.Is(err, want) || want == nil && err != nil {
				t.Errorf("%s: got %v, want %v", name, err, want)
			}
			if asks {
				asked++
			}
			if n := as.count("/introspect"); n != asked {
				t.Errorf("%s: asked %d times, want %d", name, n, asked)
				asked = n
			}
		}
		step("first", "good", nil, true)
		step("again", "good", nil, false)
		step("bad", "bad", ErrInvalidToken, true)
		step("bad again", "bad", ErrInvalidToken, false)
		step("short", "short", nil, true)
		time.Sleep(inactiveFor)
		step("bad, 5 s later", "bad", ErrInvalidToken, true)
		time.Sleep(15 * time.Second)
		step("short, expired", "short", ErrExpiredToken, true)
		as.set(func() { as.tokens["good"] = m{"active": false} })
		time.Sleep(39 * time.Second)
		step("withdrawn, 59 s", "good", nil, false)
		time.Sleep(time.Second)
		step("withdrawn, 60 s", "good", ErrInvalidToken, true)
		as.set(func() { as.status = 500 })
		step("down", "new", ErrUnavailable, true)
		step("down is not remembered", "new", ErrUnavailable, true)
		as.set(func() { as.status = 0; as.tokens["new"] = good(nil) })
		step("up", "new", nil, true)

		none := introspection(as, func(o *IntrospectionOptions) { o.CacheSize = -1 })
		before := as.count("/introspect")
		_, _ = ask(none, "new"), ask(none, "new")
		if n := as.count("/introspect"); n != before+2 {
			t.Errorf("without cache: asked %d times", n-before)
		}
	})
}

// Made-up tokens take little memory and do not push out good ones.
func TestIntrospectionCacheIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		as := newAuthority(testIssuer)
		as.tokens["good"] = m{"active": true, "sub": "ada"}
		v := introspection(as, func(o *IntrospectionOptions) { o.CacheSize = 10 })
		if err := ask(v, "good"); err != nil {
			t.Fatal(err)
		}
		for i := range 1000 {
			_ = ask(v, fmt.Sprint("made-up-", i))
		}
		if n := len(v.inactive.entries); n != 10 || v.inactive.order.Len() != 10 {
			t.Errorf("%d bad tokens remembered", n)
		}
		asked := as.count("/introspect")
		if err := ask(v, "good"); err != nil || as.count("/introspect") != asked {
			t.Errorf("the good one: %v, asked again: %v", err, as.count("/introspect") != asked)
		}
	})
}

func TestIntrospectionIsAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		as := newAuthority(testIssuer)
		as.hold = make(chan struct{})
		as.tokens["good"] = m{"active": true, "sub": "ada"}
		v := introspection(as, nil)
		errs := make(chan error, 50)
		for range cap(errs) {
			go func() { errs <- ask(v, "good") }()
		}
		synctest.Wait()
		ctx, cancel := context.WithCancel(context.Background())
		gone := make(chan error, 1)
		go func() { _, err := v.Verify(ctx, "good", nil); gone <- err }()
		synctest.Wait()
		cancel()
		if err := <-gone; !errors.Is(err, ErrUnavailable) {
			t.Errorf("who went away: %v", err)
		}
		close(as.hold)
		for range cap(errs) {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		if n := as.count("/introspect"); n != 1 || len(v.flights.now) != 0 {
			t.Errorf("asked %d times, %d left", n, len(v.flights.now))
		}
	})
}

// No more than so many requests are on their way, and none for longer than 10 seconds.
func TestIntrospectionLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		as := newAuthority(testIssuer)
		as.hold = make(chan struct{})
		v := introspection(as, nil)
		errs := make(chan error, 3*maxAsking)
		start := time.Now()
		for i := range cap(errs) {
			go func() { errs <- ask(v, fmt.Sprint("token-", i)) }()
		}
		synctest.Wait()
		if n := as.count("/introspect"); n != maxAsking {
			t.Errorf("%d requests on their way", n)
		}
		for range cap(errs) {
			if err := <-errs; !errors.Is(err, ErrUnavailable) {
				t.Errorf("got %v", err)
			}
		}
		if d := time.Since(start); d > 2*fetchTime {
			t.Errorf("it took %v", d)
		}
	})
}

// With a panic in the transport, those that wait are told.
func TestIntrospectionPanic(t *testing.T) {
	v := introspection(nil, func(o *IntrospectionOptions) {
		o.Client = memory(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("transport") }))
	})
	func() {
		defer func() { _ = recover() }()
		_ = ask(v, "x")
		t.Error("no panic")
	}()
	if len(v.flights.now) != 0 || len(v.asking) != 0 {
		t.Error("something is still held")
	}
}

func TestIntrospectionOverHTTP(t *testing.T) {
	as := newAuthority(testIssuer)
	as.tokens["good"] = m{"active": true, "sub": "ada", "aud": testResource}
	server := httptest.NewServer(as)
	defer server.Close()
	v := must(NewIntrospection(IntrospectionOptions{Endpoint: server.URL + "/introspect", Issuer: testIssuer, ClientID: "mcp", ClientSecret: "secret-of-the-server"}))
	defer v.Close()
	var reports []string
	r := newResource(t, func(o *Options) {
		o.Verifier = v
		o.Report = func(_ context.Context, err error) { reports = append(reports, err.Error()) }
	})
	if w := serve(r.Protect(whoami), request("GET", "Bearer good")); w.Code != 200 || w.Body.String() != "ada" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	// Our own credentials are refused: that is not the client's fault.
	as.set(func() { as.status = 401 })
	if w := serve(r.Protect(whoami), request("GET", "Bearer another-opaque-token")); w.Code != 503 {
		t.Errorf("status %d", w.Code)
	}
	// And a redirect, which would take the token somewhere else.
	as.set(func() { as.status = 307; as.header = http.Header{"Location": {"https://evil.example/"}} })
	if w := serve(r.Protect(whoami), request("GET", "Bearer another-opaque-token")); w.Code != 503 {
		t.Errorf("status %d", w.Code)
	}
	server.CloseClientConnections()
	server.Close()
	if w := serve(r.Protect(whoami), request("GET", "Bearer another-opaque-token")); w.Code != 503 {
		t.Errorf("status %d", w.Code)
	}
	if said := strings.Join(reports, "\n"); len(reports) != 3 || strings.Contains(said, "another-opaque-token") || strings.Contains(said, "secret-of-the-server") {
		t.Errorf("reports %s", said)
	}
}

func TestNewIntrospectionRefuses(t *testing.T) {
	authorize := func(*http.Request) error { return nil }
	for name, o := range map[string]IntrospectionOptions{
		"nothing":        {},
		"plain http":     {Endpoint: "http://as.example/i", Issuer: testIssuer, ClientID: "a"},
		"no issuer":      {Endpoint: "https://as.example/i", ClientID: "a"},
		"no credentials": {Endpoint: "https://as.example/i", Issuer: testIssuer},
		"two":            {Endpoint: "https://as.example/i", Issuer: testIssuer, ClientID: "a", Authorize: authorize},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := NewIntrospection(o); err == nil {
				t.Error("accepted")
			}
		})
	}
}
