package framework

import (
	"context"
	"net"
	"testing"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/logging"
)

type silent struct{}

func (silent) Protocol() string { return "silent" }
func (silent) Conventions() []cancel.Convention {
	return []cancel.Convention{{Method: "stop", Param: "id"}}
}
func (silent) Serve(context.Context, net.Listener, *jsonrpc2.Options) error {
	return nil
}

// TestNoFeeds: without feeds a connection is exactly what it would be, so nothing can cost anything.
func TestNoFeeds(t *testing.T) {
	for name, feeds := range map[string][]*logging.Feed{"none": nil, "nil ones": {nil, nil}} {
		rt := &Runtime{Feeds: feeds}
		o := new(jsonrpc2.Options)
		rt.feed(o, silent{}, place{name: "x"})(nil)
		if o.Tap != nil || o.Observe != nil {
			t.Errorf("%s: tap %v, observe %v", name, o.Tap != nil, o.Observe != nil)
		}
		if rt.feedSessions(silent{}, place{}) != nil {
			t.Errorf("%s: sessions are followed", name)
		}
	}
}
