package vectors

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// shortDelay is how long the handlers take that are overtaken, on the fake clock.
const shortDelay = 10 * time.Millisecond

type (
	requestFunc = func(ctx context.Context, r *jsonrpc2.Request) (any, error)
	object      = map[string]json.RawMessage
	list        = []json.RawMessage
)

// handle registers requests that look at the message themselves.
func handle(m *jsonrpc2.Mux, handlers map[string]requestFunc) {
	for method, f := range handlers {
		m.HandleRequest(method, jsonrpc2.HandlerFunc(f))
	}
}

// value is a handler that answers v.
func value(v any) requestFunc {
	return func(context.Context, *jsonrpc2.Request) (any, error) { return v, nil }
}

func slow(context.Context, *jsonrpc2.Request) (any, error) {
	time.Sleep(shortDelay) // fake time: it passes when nothing else can go on
	return "slow", nil
}

// run blocks until it is cancelled.
func run(ctx context.Context, _ *jsonrpc2.Request) (any, error) {
	<-ctx.Done()
	return nil, jsonrpc2.Errorf(-32000, "Request canceled.")
}

// recorded registers notifications that do nothing but be seen.
func recorded(m *jsonrpc2.Mux, w *witness, methods ...string) {
	for _, method := range methods {
		m.HandleNotification(method, jsonrpc2.HandlerFunc(func(context.Context, *jsonrpc2.Request) (any, error) {
			w.saw(method)
			return nil, nil
		}))
	}
}

// customCancel cancels the request that params.request.id names.
func customCancel(m *jsonrpc2.Mux) {
	m.HandleNotification("custom/cancel", jsonrpc2.Note(func(ctx context.Context, p *struct {
		Request struct {
			ID json.RawMessage `json:"id"`
		} `json:"request"`
	}) error {
		id, err := jsonrpc2.ParseID(p.Request.ID)
		if c := jsonrpc2.ConnFrom(ctx); c != nil && err == nil {
			c.Cancel(id)
		}
		return nil
	}))
}

func none(*witness) *jsonrpc2.Mux { return nil }

func base(w *witness) *jsonrpc2.Mux {
	m := jsonrpc2.NewMux()
	handle(m, map[string]requestFunc{
		"ping": value("pong"),
		"fast": value("fast"),
		"same": value("request"),
		"big":  value(strings.Repeat("x", 500)),
		"bad":  value(make(chan int)),
		"slow": slow,
		"run":  run,
		"echo": func(_ context.Context, r *jsonrpc2.Request) (any, error) { return r.Params(), nil },
		"wait": func(ctx context.Context, _ *jsonrpc2.Request) (any, error) {
			<-ctx.Done()
			return "canceled", nil
		},
		"boom": func(context.Context, *jsonrpc2.Request) (any, error) {
			return nil, errors.New("secret: the password is hunter2")
		},
		"badData": func(context.Context, *jsonrpc2.Request) (any, error) {
			return nil, jsonrpc2.Errorf(-32000, "bad data").WithData(make(chan int))
		},
		"inspect": func(_ context.Context, r *jsonrpc2.Request) (any, error) {
			id, _ := r.ID()
			return map[string]any{"id": id, "method": r.Method}, nil
		},
	})
	m.HandleRequest("fail", jsonrpc2.Call(func(_ context.Context, p *struct {
		Code    jsonrpc2.Code   `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	}) (any, error) {
		return nil, &jsonrpc2.Error{Code: p.Code, Message: p.Message, Data: p.Data}
	}))
	m.HandleRequest("object", jsonrpc2.Call(func(context.Context, *object) (string, error) { return "ok", nil }))
	m.HandleRequest("list", jsonrpc2.Call(func(context.Context, *list) (string, error) { return "ok", nil }))

	recorded(m, w, "note", "same")
	m.HandleNotification("objectNote", jsonrpc2.Note(func(context.Context, *object) error {
		w.saw("objectNote")
		return nil
	}))
	m.HandleNotification("badNote", jsonrpc2.HandlerFunc(func(context.Context, *jsonrpc2.Request) (any, error) {
		return nil, errors.New("secret: the notification failed")
	}))
	customCancel(m)
	return m
}
