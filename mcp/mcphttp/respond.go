package mcphttp

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Values of headers, shared by all answers.
var (
	jsonType      = []string{jsonMedia}
	streamType    = []string{streamMedia}
	streamCache   = []string{"no-cache, no-transform"} // no-transform: no compression on the way, which would hold events back
	streamBuffers = []string{"no"}                     // nginx and others hold nothing back then
	retryLater    = []string{"5"}
)

const (
	allMethods  = "POST, GET, DELETE, OPTIONS"
	postMethods = "POST, OPTIONS"
)

// appendError appends an error response. Without an id it has no such member: the message was not read, or is of the era without null ids.
func appendError(dst []byte, id string, e *jsonrpc2.Error) []byte {
	dst = append(dst, `{"jsonrpc":"2.0",`...)
	if id != "" {
		dst = append(append(append(dst, `"id":`...), id...), ',')
	}
	dst = append(dst, `"error":{"code":`...)
	dst = strconv.AppendInt(dst, int64(e.Code), 10)
	dst = append(dst, `,"message":`...)
	dst = appendString(dst, e.Message)
	if e.Data != nil {
		dst = append(append(dst, `,"data":`...), e.Data...)
	}
	return append(dst, "}}"...)
}

// appendString appends a JSON string.
func appendString(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			b, _ := jsonrpc2.DefaultCodec.Marshal(s) // a string always encodes
			return append(dst, b...)
		}
	}
	return append(append(append(dst, '"'), s...), '"')
}

// refuse answers with an error of ours.
func (h *Handler) refuse(w http.ResponseWriter, status int, id string, e *jsonrpc2.Error) {
	h.reply(w, h.stray(), status, appendError(nil, id, e))
}

// busy is refuse for what may be tried again.
func (h *Handler) busy(w http.ResponseWriter, status int, id string, message string) {
	w.Header()["Retry-After"] = retryLater
	h.refuse(w, status, id, &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: message})
}

func (h *Handler) methodNotAllowed(w http.ResponseWriter, allow string) {
	w.Header()["Allow"] = []string{allow}
	h.refuse(w, http.StatusMethodNotAllowed, "", &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "Method not allowed"})
}

// wholeAnswer is up to where net/http sees the length of an answer itself, which costs it less.
const wholeAnswer = 2 << 10

// dates has the value of the header Date (RFC 9110 section 6.6.1), which net/http would make anew for each answer.
type dates struct{ last atomic.Pointer[date] }

type date struct {
	second int64
	values []string
}

func (d *dates) value(now time.Time) []string {
	last := d.last.Load()
	if second := now.Unix(); last == nil || last.second != second {
		last = &date{second, []string{now.UTC().Format(http.TimeFormat)}}
		d.last.Store(last)
	}
	return last.values
}

// longAnswer is from where on an answer does not fit the buffers on its way, and a client that does not read could hold us.
const longAnswer = 16 << 10

// reply writes an answer in JSON.
func (h *Handler) reply(w http.ResponseWriter, l *line, status int, body []byte) {
	h.outbound(body)
	l.outbound(body)
	header := w.Header()
	header["Content-Type"] = jsonType
	if status != http.StatusOK || len(body) >= wholeAnswer {
		header["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	header["Date"] = h.dates.value(time.Now())
	if status != http.StatusOK {
		w.WriteHeader(status)
	}
	if len(body) < longAnswer {
		_, _ = w.Write(body) // whoever does not read it has lost it
		return
	}
	rc := http.NewResponseController(w)
	_ = rc.SetWriteDeadline(time.Now().Add(h.o.WriteTimeout)) // not all writers have deadlines
	_, _ = w.Write(body)
	_ = rc.SetWriteDeadline(time.Time{}) // the connection is used again
}

// accepted answers what is owed nothing.
func accepted(w http.ResponseWriter) { w.WriteHeader(http.StatusAccepted) }

func invalidRequest(message string) *jsonrpc2.Error {
	return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "Invalid Request: " + message}
}

func (h *Handler) inbound(payload []byte) {
	if h.o.Tap != nil {
		defer func() { _ = recover() }()
		h.o.Tap.Inbound(payload)
	}
}

func (h *Handler) outbound(message []byte) {
	if h.o.Tap != nil {
		defer func() { _ = recover() }()
		h.o.Tap.Outbound(message)
	}
}
