package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// createdTask is the answer to a tools/call that became a task: flat in the extension, and nowhere else of that type (CreateTaskResult).
type createdTask struct{ task Task }

func (createdTask) resultType() string { return "task" }

func (t createdTask) appendJSON(dst []byte) ([]byte, error) {
	if t.task.Experimental {
		dst = append(dst, `{"task":{`...)
		return append(t.task.appendExperimental(dst), "}}"...), nil
	}
	return append(t.task.appendPlain(append(dst, '{')), '}'), nil
}

// detailedTask is a task with what its status brings along (DetailedTask).
type detailedTask struct{ task Task }

func (t detailedTask) appendJSON(dst []byte) ([]byte, error) {
	return append(t.task.appendDetailed(append(dst, '{')), '}'), nil
}

// timeLayout is that of the wire (RFC 3339, UTC).
const timeLayout = "2006-01-02T15:04:05.000Z"

func appendTime(dst []byte, t time.Time) []byte {
	return append(t.UTC().AppendFormat(append(dst, '"'), timeLayout), '"')
}

// appendPlain writes the members that every task of the extension has.
func (t *Task) appendPlain(dst []byte) []byte {
	return t.appendMembers(dst, t.Status, "ttlMs", "pollIntervalMs")
}

func (t *Task) appendMembers(dst []byte, status TaskStatus, ttl, poll string) []byte {
	dst = appendString(append(dst, `"taskId":`...), t.ID)
	dst = appendString(append(dst, `,"status":`...), string(status))
	if t.Message != "" {
		dst = appendString(append(dst, `,"statusMessage":`...), t.Message)
	}
	dst = appendTime(append(dst, `,"createdAt":`...), t.Created)
	dst = appendTime(append(dst, `,"lastUpdatedAt":`...), t.Updated)
	dst = append(appendString(append(dst, ','), ttl), ':')
	dst = strconv.AppendInt(dst, max(t.TTL.Milliseconds(), 1), 10)
	dst = append(appendString(append(dst, ','), poll), ':')
	return strconv.AppendInt(dst, max(t.Poll.Milliseconds(), 1), 10)
}

// appendDetailed writes them and what is asked for, or has come of it.
func (t *Task) appendDetailed(dst []byte) []byte {
	dst = t.appendPlain(dst)
	switch t.Status {
	case TaskInputRequired:
		comma := byte('{')
		dst = append(dst, `,"inputRequests":`...)
		for _, r := range t.Requests {
			if r.Answer != nil {
				continue
			}
			dst = appendString(append(dst, comma), r.Key)
			comma = ','
			dst = appendString(append(dst, `:{"method":`...), r.Method)
			if len(r.Params) > 0 {
				dst = append(append(dst, `,"params":`...), r.Params...)
			}
			dst = append(dst, '}')
		}
		dst = append(dst, '}')
	case TaskCompleted:
		dst = append(append(dst, `,"result":`...), t.Result...)
	case TaskFailed:
		dst = append(append(dst, `,"error":`...), t.Error...)
	}
	return dst
}

// appendWireError writes the error object of JSON-RPC 2.0.
func appendWireError(dst []byte, e *jsonrpc2.Error) ([]byte, error) {
	dst = append(dst, `{"code":`...)
	dst = strconv.AppendInt(dst, int64(e.Code), 10)
	dst = appendString(append(dst, `,"message":`...), e.Message)
	if len(e.Data) > 0 && string(e.Data) != "null" {
		if !json.Valid(e.Data) {
			return nil, fmt.Errorf("mcp: data of an error with code %d is no JSON", e.Code)
		}
		dst = append(append(dst, `,"data":`...), oneLine(e.Data)...)
	}
	return append(dst, '}'), nil
}

// wireError reads what appendWireError has written.
func wireError(raw []byte) *jsonrpc2.Error {
	var v [3][]byte
	if !pick(raw, []string{"code", "message", "data"}, v[:]) {
		return jsonrpc2.ErrInternal
	}
	e := new(jsonrpc2.Error)
	if jsonrpc2.DefaultCodec.Unmarshal(v[0], &e.Code) != nil {
		return jsonrpc2.ErrInternal
	}
	e.Message, _ = stringValue(v[1])
	if v[2] != nil {
		e.Data = v[2]
	}
	return e
}

// oneLine takes line feeds out of JSON.
func oneLine(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\n"), []byte(" ")) }
