package jsonrpc2

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tandem-rpc/tandem/cancel"
)

// viaBoth runs messages through a Conn, one by one unless they are to be a batch, and as a batch through a Dispatcher, where nothing else can be cancelled.
// It hands over the answers, "" if there are none, and what was reported.
func viaBoth(t *testing.T, m func() *Mux, conventions *cancel.Registry, batched bool, frames []string, check func(t *testing.T, answer string, reports []string)) {
	batch := "[" + strings.Join(frames, ",") + "]"
	t.Run("Conn", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			w := newWire(t, m(), &Options{Cancel: conventions})
			if batched {
				frames = []string{batch}
			}
			for _, f := range frames {
				w.send(f)
				synctest.Wait()
			}
			w.send(request(`"end"`, "ping", ""))
			answer := ""
			for {
				got, err := w.peer.Read()
				if err != nil {
					t.Fatal(err)
				}
				if string(got) == result(`"end"`, `"pong"`) {
					break
				}
				answer += string(got)
			}
			_ = w.close()
			check(t, answer, w.reports)
		})
	})
	t.Run("Dispatcher", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			var reports []string
			d := NewDispatcher(m(), &Options{Cancel: conventions, Report: func(_ context.Context, r *Request, err error) {
				reports = append(reports, fmt.Sprintf("%s: %v", r.Method, err))
			}})
			check(t, string(d.Handle(context.Background(), []byte(batch))), reports)
		})
	})
}

// A request that is cancelled by several conventions is answered by the first of them that says how.
func TestCancelledByTwoConventions(t *testing.T) {
	conventions := cancel.NewRegistry(answered, silent)
	conventions.OnCancel("cancel", "requestId")
	one := request("1", "wait", "")
	loud, quiet, bare := note("$/cancel", `{"id":1}`), note("$/silence", `{"id":1}`), note("cancel", `{"requestId":1}`)
	cancelled := "[" + failure("1", -32800, "Request cancelled") + "]"
	for _, tt := range []struct {
		name string
		send []string
		want string
	}{
		{"answered, then silent", []string{one, loud, quiet}, cancelled},
		{"silent, then answered", []string{one, quiet, loud}, ""},
		{"answered, then one that only listens", []string{one, loud, bare}, cancelled},
		{"silent, then one that only listens", []string{one, quiet, bare}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			viaBoth(t, func() *Mux { return testMux(nil) }, conventions, true, tt.send, func(t *testing.T, answer string, reports []string) {
				if answer != tt.want || len(reports) > 0 {
					t.Errorf("got %q, want %q; reported %q", answer, tt.want, reports)
				}
			})
		})
	}
}

// A cancelled request that is owed no answer is owed a report where something went wrong in it.
func TestSilentlyCancelledFailure(t *testing.T) {
	for _, tt := range []struct {
		name string
		fail func(ctx context.Context) error
		want int
	}{
		{"panic", func(context.Context) error { panic("oh") }, 1},
		{"unexpected error", func(context.Context) error { return io.ErrUnexpectedEOF }, 1},
		{"error for the peer", func(context.Context) error { return Errorf(-1, "no") }, 0},
		{"error of the context", func(ctx context.Context) error { return fmt.Errorf("gave up: %w", ctx.Err()) }, 0},
		{"none", func(context.Context) error { return nil }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			mux := func() *Mux {
				m := testMux(nil)
				m.HandleRequest("fail", HandlerFunc(func(ctx context.Context, _ *Request) (any, error) {
					<-ctx.Done()
					return nil, tt.fail(ctx)
				}))
				return m
			}
			// The handler has started when it is cancelled, or it never would be.
			send := []string{request("1", "fail", ""), note("$/silence", `{"id":1}`)}
			viaBoth(t, mux, cancel.NewRegistry(silent), false, send, func(t *testing.T, answer string, reports []string) {
				if answer != "" || len(reports) != tt.want {
					t.Errorf("answered %q, reported %q, want %d", answer, reports, tt.want)
				}
			})
		})
	}
}
