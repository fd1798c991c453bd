package jsonrpc2

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var errBrokenPipe = errors.New("broken pipe")

// deafPeer is a connection whose output is broken, and the end through which its peer goes on to speak.
type deafPeer struct {
	*wire
	out *io.PipeWriter

	mu    sync.Mutex
	notes []string // handled
}

// serveDeaf has, beyond those of testMux: "note" which records its params in order, "quit" which closes the connection, "slow" which takes a
// minute unless its context ends, "dam" which holds the lane until then, and "ask" which calls the peer.
func serveDeaf(t *testing.T, o *Options) *deafPeer {
	t.Helper()
	p := new(deafPeer)
	m := testMux(nil)
	m.HandleNotification("mark", HandlerFunc(func(_ context.Context, r *Request) (any, error) {
		p.mark(string(r.Params()))
		return nil, nil
	}))
	m.HandleNotification("quit", HandlerFunc(func(ctx context.Context, _ *Request) (any, error) {
		p.mark("quit")
		return nil, ConnFrom(ctx).Close()
	}))
	m.HandleRequest("slow", HandlerFunc(func(ctx context.Context, _ *Request) (any, error) {
		select {
		case <-time.After(time.Minute):
			p.mark("slow")
		case <-ctx.Done():
			p.mark("slow was cancelled")
		}
		return nil, nil
	}))
	m.HandleRequest("ask", HandlerFunc(func(ctx context.Context, _ *Request) (any, error) {
		if err := ConnFrom(ctx).Call(ctx, "question", nil, nil); errors.Is(err, ErrClosed) && errors.Is(err, errBrokenPipe) {
			p.mark("not asked")
		}
		return nil, nil
	}))
	m.HandleNotification("dam", HandlerFunc(func(ctx context.Context, _ *Request) (any, error) {
		<-ctx.Done()
		return nil, nil
	}))
	in, out := io.Pipe()
	p.out = out
	p.wire = serveWire(t, Open(&failing{in, errBrokenPipe}, Lines), nil, m, o)
	return p
}

func (p *deafPeer) mark(s string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notes = append(p.notes, s)
}

func (p *deafPeer) says(lines ...string) {
	p.t.Helper()
	if _, err := io.WriteString(p.out, strings.Join(lines, "\n")+"\n"); err != nil {
		p.t.Fatal(err)
	}
	synctest.Wait() // it has been handled, and the output is broken
}

// What a peer has said that takes nothing any more is handled all the same, until it has said all, or for a second.
func TestDeafPeer(t *testing.T) {
	ping := request("1", "ping", "")
	tests := []struct {
		name string
		does func(*deafPeer)
		end  bool // of the input, after that
		want []string
		err  error
		took time.Duration
	}{
		{"what comes behind the first answer", func(p *deafPeer) { p.says(ping); p.says(note("mark", "[1]")); p.says(note("mark", "[2]")) }, true,
			[]string{"[1]", "[2]"}, errBrokenPipe, 0},
		{"closed by what comes", func(p *deafPeer) { p.says(ping); p.says(note("quit", "")) }, false, []string{"quit"}, nil, 0},
		{"input stays open", func(p *deafPeer) { p.says(ping); p.says(note("mark", "[1]")) }, false, []string{"[1]"}, errBrokenPipe, hearing},
		{"handlers at the end of the input", func(p *deafPeer) { p.says(ping); p.says(request("2", "slow", "")) }, true,
			[]string{"slow was cancelled"}, errBrokenPipe, hearing},
		{"calls fail", func(p *deafPeer) { p.says(ping); p.says(request("2", "ask", "")) }, true, []string{"not asked"}, errBrokenPipe, 0},
		{"open calls fail", func(p *deafPeer) { p.says(request("2", "ask", "")) }, true, []string{"not asked"}, errBrokenPipe, 0},
		{"shut down meanwhile", func(p *deafPeer) {
			p.says(ping)
			p.says(request("2", "slow", ""))
			if err := p.conn.Shutdown(context.Background()); err != nil {
				p.t.Error(err)
			}
		}, false, []string{"slow"}, nil, time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := serveDeaf(t, &Options{Linger: time.Hour})
				start := time.Now()
				tt.does(p)
				if tt.end {
					_ = p.out.Close()
				}
				err := <-p.err
				if took := time.Since(start); took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
				if !errors.Is(err, tt.err) || (err == nil) != (tt.err == nil) {
					t.Errorf("Serve: %v, want %v", err, tt.err)
				}
				if !slices.Equal(p.notes, tt.want) {
					t.Errorf("handled %q, want %q", p.notes, tt.want)
				}
				lost := 0
				if tt.err == nil {
					lost = 1 // who is told by Serve needs no report
				}
				if n := p.reported("answers lost"); n != lost {
					t.Errorf("%d reports, want %d: %q", n, lost, p.reports)
				}
				if err := p.conn.Notify(context.Background(), "m", nil); !errors.Is(err, ErrClosed) {
					t.Error(err)
				}
				_ = p.out.Close()
			})
		})
	}
}

// A peer that takes nothing and goes on to send is held to the same limits as any other, and not for longer than a second.
func TestDeafPeerFloods(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const most = 100 << 10
		p := serveDeaf(t, &Options{MaxQueued: most})
		line := request("1", "slow", `["`+strings.Repeat("x", 1000)+`"]`)
		p.says(request("1", "ping", ""), note("dam", ""))
		sent := make(chan int)
		go func() {
			n := 0
			for {
				if _, err := io.WriteString(p.out, line+"\n"); err != nil {
					sent <- n
					return
				}
				n += len(line)
			}
		}()
		start := time.Now()
		if err := <-p.err; !errors.Is(err, errBrokenPipe) || time.Since(start) > hearing {
			t.Error(err, time.Since(start))
		}
		if n := <-sent; n > 4*most {
			t.Errorf("took %d bytes", n)
		}
	})
}

// A peer that is gone altogether ends the connection at once, whatever the linger.
func TestPeerGone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a, b := net.Pipe()
		w := serveWire(t, Open(a, Lines), Open(b, Lines), testMux(nil), &Options{Linger: time.Hour})
		w.send(request("1", "ping", ""))
		synctest.Wait()
		_ = b.Close()
		start := time.Now()
		err := <-w.err
		if n := w.reported("answers lost"); time.Since(start) != 0 || (err == nil) != (n == 1) { // by the one that was noticed first
			t.Error(err, time.Since(start), w.reports)
		}
	})
}
