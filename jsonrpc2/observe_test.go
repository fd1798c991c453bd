package jsonrpc2

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
)

// unitTap keeps what Inbound was shown, by its number.
type unitTap struct {
	mu    sync.Mutex
	units []string
}

func (u *unitTap) Inbound(frame []byte) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.units = append(u.units, string(frame))
}

func (u *unitTap) Outbound([]byte) {}

// TestEventsNameTheirMessage: the unit of an event is the one that Tap was shown, on the reader, a worker and the lane, in batches, and after units
// that are no messages.
func TestEventsNameTheirMessage(t *testing.T) {
	m := NewMux()
	m.HandleRequest("quick", HandlerFunc(func(context.Context, *Request) (any, error) { return nil, nil }))
	m.HandleRequest("slow", HandlerFunc(func(ctx context.Context, _ *Request) (any, error) {
		ctx.Done() // gives the reader away, which is the point
		return nil, nil
	}))
	m.HandleNotification("note", Note(func(context.Context, *struct{ N int }) error { return nil }))
	var in strings.Builder
	in.WriteString("\n{\n")
	for i := range 60 {
		id := fmt.Sprint(i)
		in.WriteString(request(id, "quick", "") + "\n")
		switch i % 4 {
		case 0:
			in.WriteString(request(`"s`+id+`"`, "slow", "") + "\n")
		case 1:
			fmt.Fprintf(&in, `{"jsonrpc":"2.0","method":"note","params":{"n":%d}}`+"\n", i)
		case 2:
			in.WriteString("[" + request(`"b`+id+`"`, "quick", "") + "," + request(`"c`+id+`"`, "slow", "") + "]\nnonsense\n")
		}
	}
	tap := new(unitTap)
	var mu sync.Mutex
	var events []Event
	o := &Options{Tap: tap, Linger: time.Minute, Observe: func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, e)
	}}
	if err := NewConn(Open(oneWay{strings.NewReader(in.String())}, Lines), m, o).Serve(context.Background()); err != nil {
		t.Fatal(err)
	}
	if want := 60 + 15 + 15 + 30; len(events) != want {
		t.Fatalf("%d events, want %d", len(events), want)
	}
	for _, e := range events {
		if e.Unit == 0 || e.Unit > uint64(len(tap.units)) {
			t.Fatalf("unit %d of %d", e.Unit, len(tap.units))
		}
		unit := tap.units[e.Unit-1]
		switch {
		case e.Notification != e.ID.IsZero():
			t.Errorf("id %q, notification %v", e.ID, e.Notification)
		case !strings.Contains(unit, `"`+e.Method+`"`) || !e.Notification && !strings.Contains(unit, `"id":`+e.ID.String()+`,`):
			t.Errorf("event of %s with id %s names the unit %q", e.Method, e.ID, unit)
		}
	}
}

type oneWay struct{ io.Reader }

func (oneWay) Write(p []byte) (int, error) { return len(p), nil }
func (oneWay) Close() error                { return nil }
