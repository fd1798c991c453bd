package inspect

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/tandem-rpc/tandem/internal/leak"
	"github.com/tandem-rpc/tandem/logging"
)

func TestMain(m *testing.M) { leak.Main(m) }

// patience is for what takes a moment.
const patience = time.Minute

// world is a page that is served, and the feed it shows.
type world struct {
	t      *testing.T
	page   *Page
	feed   *logging.Feed
	url    string
	client *http.Client
}

func newWorld(t *testing.T, o *Options) *world {
	t.Helper()
	w := &world{t: t, page: New(o), client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}}
	w.feed = logging.NewFeed(w.page, nil)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.url = w.page.URL(ln.Addr())
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.page.Serve(ctx, ln) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		_ = w.feed.Close(context.Background())
	})
	return w
}

// flush waits until the page has what was fed.
func (w *world) flush() {
	w.t.Helper()
	if err := w.feed.Flush(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}
