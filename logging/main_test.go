package logging

import (
	"bytes"
	"context"
	"testing"

	"github.com/tandem-rpc/tandem/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// flushedTap is a connection of a feed that is recorded, with everything written when a call returns.
type flushedTap struct {
	t        testing.TB
	feed     *Feed
	recorder *Recorder
	source   *Source
}

func newFlushedTap(t testing.TB, w *bytes.Buffer, o *FeedOptions) *flushedTap {
	r := NewRecorder(w, &RecorderOptions{Program: "test"})
	f := NewFeed(r, o)
	tap := &flushedTap{t, f, r, f.Open("a", "test")}
	tap.flush()
	t.Cleanup(func() { _ = f.Close(context.Background()) })
	return tap
}

func (f *flushedTap) flush() {
	if err := f.feed.Flush(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

func (f *flushedTap) Inbound(frame []byte) {
	f.source.Inbound(frame)
	f.flush()
}

func (f *flushedTap) Outbound(frame []byte) {
	f.source.Outbound(frame)
	f.flush()
}
