package mcp

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Level is the severity of a log message to the client (MCP logging, after RFC 5424). Higher is worse.
type Level int8

// The levels of the protocol.
const (
	LevelDebug Level = iota
	LevelInfo
	LevelNotice
	LevelWarning
	LevelError
	LevelCritical
	LevelAlert
	LevelEmergency
)

var levelNames = [...]string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// String returns the name on the wire, or "" for what is no level.
func (l Level) String() string {
	if l < 0 || int(l) >= len(levelNames) {
		return ""
	}
	return levelNames[l]
}

func levelNamed(name string) (Level, bool) {
	for l, n := range levelNames {
		if n == name {
			return Level(l), true
		}
	}
	return 0, false
}

// LogEnabled reports whether Log would send a message of that level: [Server.Logging] is on, the session is open, and the client wants the
// level. Until it says otherwise with logging/setLevel a client gets warnings and worse; since 2026-07-28 each request says what it wants, and
// without that it gets nothing.
func (ses *Session) LogEnabled(level Level) bool {
	if ses == nil || !ses.server.Logging || level.String() == "" {
		return false
	}
	if c := ses.request; c != nil {
		return c.level != 0 && int(level) >= int(c.level)-1
	}
	return ses.open.Load() && !ses.sessionless && int32(level) >= ses.level.Load()
}

// Log sends a log message to the client (notifications/message), with the name of a logger if that is not empty. data is anything that encodes
// as JSON; keep secrets out of it. Nothing is sent, and nil returned, where [Session.LogEnabled] is false or the connection is
// ending. It belongs to the request of ctx, if that is one, and goes before its result; since 2026-07-28 there are no others. Of one request, or of a
// session outside requests, at most 100 messages a second are sent; how many were dropped is sent when that is over.
func (ses *Session) Log(ctx context.Context, level Level, logger string, data any) error {
	if !ses.LogEnabled(level) || Replaying(ctx) {
		return nil
	}
	m := logMessage{level.String(), logger, data}
	c := callFrom(ctx)
	if ses.request != nil {
		c = ses.request
	}
	if c == nil || ses.request == nil && c.session != ses {
		ses.logs.mu.Lock()
		defer ses.logs.mu.Unlock()
		return ses.logs.log(m, func(m logMessage) error { return unlessClosed(ses.Notify(ctx, "notifications/message", m)) })
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done || ctx.Err() != nil {
		return nil
	}
	x := c.more()
	if x.logs == nil {
		x.logs = new(logQuota)
	}
	return x.logs.log(m, c.sendLog)
}

func (c *call) sendLog(m logMessage) error { return c.send("notifications/message", m) }

const (
	logWindow = time.Second
	logMost   = 100 // messages in one window
)

// logQuota limits the rate of log messages. Whoever uses it holds a lock for it.
type logQuota struct {
	start      time.Time
	n, dropped int
}

// lockedQuota is the quota of a session.
type lockedQuota struct {
	mu sync.Mutex
	logQuota
}

func (q *logQuota) log(m logMessage, send func(logMessage) error) error {
	if now := time.Now(); now.Sub(q.start) > logWindow {
		dropped := q.dropped
		*q = logQuota{start: now}
		if dropped > 0 {
			if err := send(droppedMessage(dropped)); err != nil {
				return err
			}
		}
	}
	if q.n++; q.n > logMost {
		q.dropped++
		return nil
	}
	return send(m)
}

// settle says at the end of a request how much of its log was dropped. The call's mu is held.
func (q *logQuota) settle(c *call) error {
	if q.dropped == 0 {
		return nil
	}
	n := q.dropped
	q.dropped = 0
	return c.sendLog(droppedMessage(n))
}

func droppedMessage(n int) logMessage {
	return logMessage{LevelWarning.String(), "", strconv.Itoa(n) + " messages dropped"}
}

type logMessage struct {
	Level  string `json:"level"`
	Logger string `json:"logger,omitempty"`
	Data   any    `json:"data"`
}

var levelParams = []string{"_meta", "level"}

// setLevel answers logging/setLevel.
func (s *Server) setLevel(_ context.Context, c *call, _ *jsonrpc2.Request, v values) (any, error) {
	if c == nil || c.session.sessionless {
		return nil, jsonrpc2.ErrMethodNotFound // there is no session to set it for
	}
	name, _ := stringValue(v[1])
	l, ok := levelNamed(name)
	if !ok {
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "Invalid params: unknown level"}
	}
	c.session.level.Store(int32(l))
	return emptyResult, nil
}
