package mcpauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestFetch(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") }))
	defer other.Close()
	var r *http.Request
	var loops atomic.Int32
	mux := http.NewServeMux()
	mux.HandleFunc("/ok", func(w http.ResponseWriter, req *http.Request) {
		r = req
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, "{}")
	})
	mux.HandleFunc("/jwk-set", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/jwk-set+json")
		fmt.Fprint(w, "{}")
	})
	mux.HandleFunc("/html", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "{}")
	})
	mux.HandleFunc("/near", func(w http.ResponseWriter, req *http.Request) { http.Redirect(w, req, "/jwk-set", http.StatusFound) })
	mux.HandleFunc("/far", func(w http.ResponseWriter, req *http.Request) { http.Redirect(w, req, other.URL, http.StatusFound) })
	mux.HandleFunc("/file", func(w http.ResponseWriter, req *http.Request) {
		http.Redirect(w, req, "file:///etc/passwd", http.StatusFound)
	})
	mux.HandleFunc("/loop", func(w http.ResponseWriter, req *http.Request) {
		loops.Add(1)
		http.Redirect(w, req, "/loop", http.StatusFound)
	})
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) {
		chunk := []byte(strings.Repeat(" ", 64<<10))
		for range fetchSize/len(chunk) + 1 {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/largest", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("{}" + strings.Repeat(" ", fetchSize-2)))
	})
	mux.HandleFunc("/headers", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X", strings.Repeat("x", 128<<10))
		fmt.Fprint(w, "{}")
	})
	mux.HandleFunc("/cut", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "{}")
		panic(http.ErrAbortHandler)
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	f := newFetcher(nil, false, false)
	for _, c := range []struct {
		path string
		size int // -1: an error
	}{
		{"/ok", 2}, {"/jwk-set", 2}, {"/near", 2}, {"/largest", fetchSize},
		{"/html", -1}, {"/far", -1}, {"/file", -1}, {"/loop", -1}, {"/large", -1}, {"/headers", -1}, {"/cut", -1}, {"/missing", -1},
	} {
		body, _, err := f.get(context.Background(), server.URL+c.path)
		if (err != nil) != (c.size < 0) || err == nil && len(body) != c.size {
			t.Errorf("%s: %d bytes, %v", c.path, len(body), err)
		}
	}
	if n := loops.Load(); n != redirects+1 {
		t.Errorf("went in a circle %d times", n)
	}
	// A form is not sent again, not even to the same host.
	if _, _, err := f.do(must(http.NewRequest(http.MethodPost, server.URL+"/near", strings.NewReader("token=x"))), replySize); !errors.Is(err, errRedirect) {
		t.Errorf("a form: %v", err)
	}
	if _, _, err := f.do(must(http.NewRequest(http.MethodGet, server.URL+"/largest", nil)), replySize); !errors.Is(err, errTooLarge) {
		t.Errorf("a smaller limit: %v", err)
	}
	if r.Header.Get("Accept") != "application/json" {
		t.Errorf("Accept %q", r.Header.Get("Accept"))
	}
}

// Names that are not of this machine and lead to it, or into a private network, are not followed, whatever DNS says.
func TestFetchPrivate(t *testing.T) {
	f := newFetcher(nil, false, false)
	for _, where := range []string{"https://10.0.0.1/", "https://192.168.1.1/", "https://169.254.169.254/latest", "https://[fd00::1]/", "https://[::ffff:10.0.0.1]/", "https://0.0.0.0/", "https://100.64.0.1/"} {
		if _, _, err := f.get(context.Background(), where); !errors.Is(err, errPrivate) {
			t.Errorf("%s: %v", where, err)
		}
	}
}

func TestIsPublic(t *testing.T) {
	for a, want := range map[string]bool{
		"8.8.8.8": true, "2001:4860:4860::8888": true, "127.0.0.1": false, "::1": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.0.1": false,
		"169.254.1.1": false, "fe80::1": false, "fc00::1": false, "0.0.0.0": false, "::": false, "224.0.0.1": false, "255.255.255.255": false,
		"100.64.0.1": false, "198.18.0.1": false, "64:ff9b::a00:1": false, "2002:a00:1::": false,
	} {
		if isPublic(netip.MustParseAddr(a)) != want {
			t.Errorf("%s: want %v", a, want)
		}
	}
}

// A client of the user keeps its transport and loses what is dangerous.
func TestFetcherOfTheUser(t *testing.T) {
	transport := new(http.Transport)
	user := &http.Client{Transport: transport, Timeout: time.Hour, Jar: must(cookiejar.New(nil))}
	f := newFetcher(user, false, false)
	if f.client.Transport != transport || f.client.Timeout != time.Hour || f.client.Jar != nil || f.client.CheckRedirect == nil {
		t.Errorf("%+v", f.client)
	}
	if user.CheckRedirect != nil {
		t.Error("the user's was changed")
	}
}

// A server that never answers costs 10 seconds.
func TestFetchTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		as := newAuthority(testIssuer, public(p256Key(), "k"))
		as.hold = make(chan struct{})
		start := time.Now()
		if err := check(keyed(as), p256Key(), "k"); !errors.Is(err, ErrUnavailable) {
			t.Errorf("got %v", err)
		}
		if d := time.Since(start); d != fetchTime {
			t.Errorf("it took %v", d)
		}
	})
}
