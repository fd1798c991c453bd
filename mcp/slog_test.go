package mcp

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"
)

func TestLogHandler(t *testing.T) {
	type point struct {
		X int `json:"x"`
	}
	for _, c := range []struct {
		name  string
		o     *LogOptions
		log   func(ctx context.Context, l *slog.Logger)
		level string
		data  string
		as    string // logger
	}{
		{"message", nil, func(ctx context.Context, l *slog.Logger) { l.InfoContext(ctx, "a \"b\"") }, "info", `{"msg":"a \"b\""}`, ""},
		{"attributes", &LogOptions{Logger: "db"}, func(ctx context.Context, l *slog.Logger) {
			l.WarnContext(ctx, "m", "s", "x", "i", -1, "u", uint64(math.MaxUint64), "b", true, "d", time.Second, "e", errors.New("bad"), "n", nil,
				"p", point{1}, "t", time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC), "f", math.NaN(), "h", 0.5, "fn", slog.LevelInfo)
		}, "warning", `{"msg":"m","s":"x","i":-1,"u":18446744073709551615,"b":true,"d":"1s","e":"bad","n":null,"p":{"x":1},"t":"2025-01-02T03:04:05Z","f":"NaN","h":0.5,"fn":"INFO"}`, `,"logger":"db"`},
		{"groups", nil, func(ctx context.Context, l *slog.Logger) {
			l.With("a", 1).WithGroup("g").With("b", 2).WithGroup("h").ErrorContext(ctx, "m", "c", 3, slog.Group("in", "d", 4), slog.Group("", "e", 5), slog.Group("none"))
		}, "error", `{"msg":"m","a":1,"g":{"b":2,"h":{"c":3,"in":{"d":4},"e":5}}}`, ""},
		{"empty group", nil, func(ctx context.Context, l *slog.Logger) { l.WithGroup("g").WithGroup("h").InfoContext(ctx, "m") }, "info", `{"msg":"m"}`, ""},
		{"secrets", nil, func(ctx context.Context, l *slog.Logger) {
			l.InfoContext(ctx, "m", "api_key", "k", slog.Group("g", "Set-Cookie", "c"), "tokens", 3)
		}, "info", `{"msg":"m","api_key":"[redacted]","g":{"Set-Cookie":"[redacted]"},"tokens":3}`, ""},
		{"redacted", &LogOptions{Redact: func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("x"), []byte("y")) }}, func(ctx context.Context, l *slog.Logger) {
			l.InfoContext(ctx, "x")
		}, "info", `{"msg":"y"}`, ""},
		{"redaction failed", &LogOptions{Redact: func([]byte) []byte { return []byte("[redaction failed]") }}, func(ctx context.Context, l *slog.Logger) {
			l.InfoContext(ctx, "x")
		}, "info", `"[redaction failed]"`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := echoServer()
			s.Logging = true
			s.Caller = func(ctx context.Context, _ string, _ Arguments) (any, error) {
				c.log(ctx, slog.New(NewLogHandler(c.o)))
				c.log(context.Background(), slog.New(NewLogHandler(c.o))) // to nobody
				return nil, nil
			}
			w := host(t, s)
			w.send(withMeta("1", "tools/call", strings.TrimSuffix(modernMeta, "}")+`,"io.modelcontextprotocol/logLevel":"info"}`, `,"name":"x"`))
			w.want(logged(c.level, c.as+`,"data":`+c.data))
			if _, code := errorCode(t, w.recv()); code != 0 {
				t.Errorf("code %d", code)
			}
			w.send(modern("1", "tools/call", `,"name":"x"`)) // it wants none
			if _, code := errorCode(t, w.recv()); code != 0 {
				t.Errorf("code %d", code)
			}
		})
	}
	for l, want := range map[slog.Level]string{
		-8: "debug", -4: "debug", -1: "debug", 0: "info", 1: "info", 2: "notice", 3: "notice", 4: "warning", 7: "warning", 8: "error", 11: "error",
		12: "critical", 15: "critical", 16: "alert", 19: "alert", 20: "emergency", 100: "emergency",
	} {
		if got := LevelOf(l).String(); got != want {
			t.Errorf("%d: %s, want %s", l, got, want)
		}
	}
}
