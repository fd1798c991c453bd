package mcp

import (
	"context"

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

// LogEnabled reports whether Log would send a message of that level: [Server.Logging] is on, the session is open, and the client wants the
// level. Until it says otherwise with logging/setLevel a client gets warnings and worse.
func (ses *Session) LogEnabled(level Level) bool {
	return ses != nil && ses.server.Logging && ses.open.Load() && int32(level) >= ses.level.Load() && level.String() != ""
}

// Log sends a log message to the client (notifications/message), with the name of a logger if that is not empty. data is anything that encodes
// as JSON; keep secrets out of it. Nothing is sent, and nil returned, where [Session.LogEnabled] is false or the connection is
// ending.
func (ses *Session) Log(ctx context.Context, level Level, logger string, data any) error {
	if !ses.LogEnabled(level) {
		return nil
	}
	return unlessClosed(ses.Notify(ctx, "notifications/message", logMessage{level.String(), logger, data}))
}

type logMessage struct {
	Level  string `json:"level"`
	Logger string `json:"logger,omitempty"`
	Data   any    `json:"data"`
}

// setLevel answers logging/setLevel.
func (s *Server) setLevel(_ context.Context, c *call, r *jsonrpc2.Request) (any, error) {
	if c == nil {
		return nil, jsonrpc2.ErrMethodNotFound // there is no session to set it for
	}
	var v [2][]byte
	if err := take(r, c, []string{"_meta", "level"}, v[:]); err != nil {
		return nil, err
	}
	name, _ := stringValue(v[1])
	for l, n := range levelNames {
		if n == name {
			c.session.level.Store(int32(l))
			return emptyResult, nil
		}
	}
	return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "Invalid params: unknown level"}
}
