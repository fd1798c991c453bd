package mcp

import (
	"context"
	"encoding"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"time"
)

// LogOptions are the settings of [NewLogHandler]. The zero value is ready to use.
type LogOptions struct {
	// Logger is the name of the logger that clients see; "" is none.
	Logger string
	// Redact, if set, gets the data of each message as one line of JSON and returns what is sent instead, as (*logging.Redactor).Redact does. Without it
	// only attributes with the names of secrets are replaced, by "[redacted]".
	Redact func(data []byte) []byte
}

// NewLogHandler returns a slog.Handler that sends records to the client whose request the context belongs to, by [Session.Log]: a program's logging calls
// with a context reach the client as far as it wants them, and the others nobody. The data is an object of the message, as "msg", and the attributes,
// groups as objects. Levels of slog and MCP: debug, 0 info, 2 notice, 4 warning, 8 error, 12 critical, 16 alert, 20 emergency. It is safe for
// concurrent use.
func NewLogHandler(o *LogOptions) slog.Handler {
	h := new(logHandler)
	if o != nil {
		h.LogOptions = *o
	}
	return h
}

// LevelOf returns the level of MCP for one of slog.
func LevelOf(l slog.Level) Level {
	switch {
	case l < slog.LevelInfo:
		return LevelDebug
	case l < slog.LevelInfo+2:
		return LevelInfo
	case l < slog.LevelWarn:
		return LevelNotice
	case l < slog.LevelError:
		return LevelWarning
	}
	return min(LevelError+Level((min(l, 20)-slog.LevelError)/4), LevelEmergency)
}

// logHandler is never changed once made.
type logHandler struct {
	LogOptions
	opened []logGroup
}

// logGroup is a group with the attributes that were given since it was opened; the first has no name.
type logGroup struct {
	name  string
	attrs []slog.Attr
}

// Enabled reports whether the client wants the level.
func (h *logHandler) Enabled(ctx context.Context, l slog.Level) bool {
	return SessionFrom(ctx).LogEnabled(LevelOf(l))
}

// Handle sends a record.
func (h *logHandler) Handle(ctx context.Context, r slog.Record) error {
	ses, level := SessionFrom(ctx), LevelOf(r.Level)
	if !ses.LogEnabled(level) {
		return nil
	}
	data := append([]byte(`{"msg":`), appendString(nil, r.Message)...)
	groups := slices.Clone(h.opened)
	if len(groups) == 0 {
		groups = []logGroup{{}}
	}
	last := &groups[len(groups)-1]
	last.attrs = slices.Clone(last.attrs)
	r.Attrs(func(a slog.Attr) bool {
		last.attrs = append(last.attrs, a)
		return true
	})
	for len(groups) > 1 && len(groups[len(groups)-1].attrs) == 0 {
		groups = groups[:len(groups)-1] // empty groups are not shown
	}
	for i, g := range groups {
		if i > 0 {
			data = append(appendString(append(data, ','), g.name), `:{`...)
		}
		for _, a := range g.attrs {
			data = h.appendAttr(data, a, 0)
		}
	}
	data = append(data, strings.Repeat("}", len(groups))...)
	if h.Redact != nil {
		data = h.Redact(data)
		if !json.Valid(data) {
			data = appendString(nil, string(data))
		}
	}
	return ses.Log(ctx, level, h.Logger, encoded(data))
}

// WithAttrs implements slog.Handler.
func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	if len(attrs) == 0 {
		return h
	}
	next := *h
	next.opened = slices.Clone(h.opened)
	if len(next.opened) == 0 {
		next.opened = []logGroup{{}}
	}
	last := &next.opened[len(next.opened)-1]
	last.attrs = append(slices.Clone(last.attrs), attrs...)
	return &next
}

// WithGroup implements slog.Handler.
func (h *logHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	next := *h
	next.opened = slices.Clone(h.opened)
	if len(next.opened) == 0 {
		next.opened = []logGroup{{}}
	}
	next.opened = append(next.opened, logGroup{name: name})
	return &next
}

const maxLogDepth = 32 // of groups in groups

func (h *logHandler) appendAttr(dst []byte, a slog.Attr, depth int) []byte {
	v := a.Value.Resolve()
	if a.Equal(slog.Attr{}) || depth > maxLogDepth {
		return dst
	}
	if v.Kind() == slog.KindGroup {
		attrs := v.Group()
		if len(attrs) == 0 {
			return dst
		}
		if a.Key == "" {
			for _, x := range attrs {
				dst = h.appendAttr(dst, x, depth+1)
			}
			return dst
		}
		dst = appendKey(dst, a.Key)
		dst = append(dst, '{')
		for _, x := range attrs {
			dst = h.appendAttr(dst, x, depth+1)
		}
		return append(dst, '}')
	}
	dst = appendKey(dst, a.Key)
	if secretName(a.Key) {
		return append(dst, `"[redacted]"`...)
	}
	return appendLogValue(dst, v)
}

// appendKey starts a member, with a comma unless it is the first.
func appendKey(dst []byte, key string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(appendString(dst, key), ':')
}

func appendLogValue(dst []byte, v slog.Value) []byte {
	switch v.Kind() {
	case slog.KindString:
		return appendString(dst, v.String())
	case slog.KindTime:
		return appendString(dst, v.Time().Format(time.RFC3339Nano))
	case slog.KindDuration:
		return appendString(dst, v.String())
	case slog.KindFloat64:
		if f := v.Float64(); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return appendFloat(dst, f)
		}
		return appendString(dst, v.String()) // JSON has no such number
	case slog.KindInt64, slog.KindUint64, slog.KindBool:
		return append(dst, v.String()...)
	}
	switch x := v.Any().(type) {
	case json.Marshaler, encoding.TextMarshaler:
	case error:
		return appendString(dst, x.Error())
	case fmt.Stringer:
		return appendString(dst, x.String())
	}
	b, err := json.Marshal(v.Any())
	if err != nil {
		return appendString(dst, fmt.Sprint(v.Any()))
	}
	return append(dst, b...)
}

// secretName reports whether an attribute of that name holds a secret, by the list of the logging package.
func secretName(name string) bool {
	name = strings.ToLower(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' {
			return -1
		}
		return r
	}, name))
	switch name {
	case "authorization", "proxyauthorization", "apikey", "xapikey", "accesstoken", "refreshtoken", "idtoken", "token", "password", "passwd", "secret",
		"clientsecret", "cookie", "setcookie", "credential", "credentials", "privatekey", "sessionid", "mcpsessionid", "requeststate":
		return true
	}
	return false
}
