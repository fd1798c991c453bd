package mcp

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func logged(level, members string) string {
	return `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"` + level + `"` + members + `}}`
}

// A modern request gets the log it asks for, before its answer, and one that does not ask gets none.
func TestModernLog(t *testing.T) {
	kept := make(chan context.Context, 1)
	s := echoServer()
	s.Logging = true
	s.Caller = func(ctx context.Context, _ string, _ Arguments) (any, error) {
		ses := SessionFrom(ctx)
		for l := LevelDebug; l <= LevelEmergency; l++ {
			if err := ses.Log(ctx, l, "tool", map[string]int{"l": int(l)}); err != nil {
				return nil, err
			}
		}
		kept <- ctx
		return nil, nil
	}
	answer := `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete",` + signed + `}}`
	for level := range levelNames {
		t.Run(levelNames[level], func(t *testing.T) {
			w := start(t, s, "2025-06-18")
			w.send(`{"jsonrpc":"2.0","id":9,"method":"logging/setLevel","params":{"level":"debug"}}`) // has no effect on the other era
			w.recv()
			w.send(withMeta("1", "tools/call", strings.TrimSuffix(modernMeta, "}")+`,"io.modelcontextprotocol/logLevel":"`+levelNames[level]+`"}`, `,"name":"x"`))
			for l := level; l < len(levelNames); l++ {
				w.want(logged(levelNames[l], fmt.Sprintf(`,"logger":"tool","data":{"l":%d}`, l)))
			}
			w.want(answer)
			ctx := <-kept
			if err := SessionFrom(ctx).Log(context.Background(), LevelEmergency, "", "too late"); err != nil {
				t.Error(err)
			}
			w.send(modern("1", "tools/call", `,"name":"x"`))
			w.want(answer)
			<-kept
			w.sync()
		})
	}
	t.Run("off", func(t *testing.T) {
		s := echoServer()
		s.Caller = func(ctx context.Context, _ string, _ Arguments) (any, error) {
			return nil, SessionFrom(ctx).Log(ctx, LevelEmergency, "", 1)
		}
		w := host(t, s)
		w.send(withMeta("1", "tools/call", strings.TrimSuffix(modernMeta, "}")+`,"io.modelcontextprotocol/logLevel":"debug"}`, `,"name":"x"`))
		w.want(answer)
	})
}

// Of a flood of messages so many come as is good for people, and what was dropped is told, in both eras and outside requests.
func TestLogFlood(t *testing.T) {
	flood := func(ctx context.Context, ses *Session) {
		for i := range 250 {
			_ = ses.Log(ctx, LevelError, "", i)
			if i == 199 {
				time.Sleep(logWindow + time.Millisecond)
			}
		}
	}
	check := func(t *testing.T, w *wire, answered bool) {
		t.Helper()
		for i := range logMost {
			w.want(logged("error", fmt.Sprintf(`,"data":%d`, i)))
		}
		w.want(logged("warning", `,"data":"100 messages dropped"`))
		for i := 200; i < 250; i++ {
			w.want(logged("error", fmt.Sprintf(`,"data":%d`, i)))
		}
		if answered {
			if _, code := errorCode(t, w.recv()); code != 0 {
				t.Errorf("code %d", code)
			}
		}
	}
	s := echoServer()
	s.Logging = true
	s.Caller = func(ctx context.Context, name string, _ Arguments) (any, error) {
		switch name {
		case "flood":
			flood(ctx, SessionFrom(ctx))
		case "outside":
			flood(context.Background(), SessionFrom(ctx))
		case "short":
			for i := range logMost + 7 {
				_ = SessionFrom(ctx).Log(ctx, LevelError, "", i)
			}
		}
		return nil, nil
	}
	meta := strings.TrimSuffix(modernMeta, "}") + `,"io.modelcontextprotocol/logLevel":"info"}`
	for _, c := range []struct{ name, payload string }{
		{"legacy", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"flood"}}`},
		{"outside", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"outside"}}`},
		{"modern", withMeta("1", "tools/call", meta, `,"name":"flood"`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := start(t, s, "2025-06-18")
				w.send(c.payload)
				check(t, w, true)
				w.close()
			})
		})
	}
	t.Run("told at the end", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := start(t, s, "2025-06-18")
			w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"short"}}`)
			for i := range logMost {
				w.want(logged("error", fmt.Sprintf(`,"data":%d`, i)))
			}
			w.want(logged("warning", `,"data":"7 messages dropped"`))
			w.want(`{"jsonrpc":"2.0","id":1,"result":{}}`)
			w.close()
		})
	})
}

// After the first few, progress comes at a pace people can follow: the latest at once or after a pause, the last before the result.
func TestProgressPace(t *testing.T) {
	step := func(i int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":%d}}`, i)
	}
	synctest.Test(t, func(t *testing.T) {
		s := echoServer()
		s.Caller = func(ctx context.Context, name string, _ Arguments) (any, error) {
			for i := 1; i <= 100; i++ {
				if err := Progress(ctx, float64(i), 0, ""); err != nil {
					return nil, err
				}
				if name == "slow" && i > 10 {
					time.Sleep(10 * time.Millisecond)
				}
			}
			return nil, nil
		}
		w := start(t, s, "2025-06-18")
		w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fast","_meta":{"progressToken":"p"}}}`)
		for i := 1; i <= 10; i++ {
			w.want(step(i))
		}
		w.want(step(100))
		w.want(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","_meta":{"progressToken":"p"}}}`)
		n, last := 0, ""
		for m := w.recv(); strings.Contains(m, "progressToken"); m = w.recv() {
			n, last = n+1, m
		}
		if n < 25 || n > 31 || last != step(100) {
			t.Errorf("%d steps, the last %s", n, last)
		}
		time.Sleep(time.Second)
		w.sync() // no timer of the call is left
		w.close()
	})
	// The last one comes by itself when the tool goes on without a word.
	synctest.Test(t, func(t *testing.T) {
		s := echoServer()
		s.Caller = func(ctx context.Context, _ string, _ Arguments) (any, error) {
			for i := 1; i <= 20; i++ {
				_ = Progress(ctx, float64(i), 0, "")
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}
		w := start(t, s, "2025-06-18")
		w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":"p"}}}`)
		for i := 1; i <= 10; i++ {
			w.want(step(i))
		}
		w.want(step(20))
		w.close()
	})
}
