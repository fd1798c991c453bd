package logging

import (
	"encoding/json"
	"strconv"
	"time"

	fastjson "github.com/segmentio/encoding/json"
)

// RecordFormat and RecordVersion stand in the first line of every recording. A reader refuses versions it does not know; within a version only
// members and kinds are added, which readers skip.
const (
	RecordFormat  = "tandem-traffic"
	RecordVersion = 1
)

// Kind is what a [Record] tells.
type Kind string

// The kinds of record.
const (
	KindHeader  Kind = "header"  // a process begins to record: Format, Version, Program
	KindOpen    Kind = "open"    // a connection begins: Protocol, Client, Cancel
	KindMessage Kind = ""        // a message passed: Direction, Length, Message, Truncated, Unit
	KindTiming  Kind = "timing"  // a handler has returned: Unit, ID, Queued, Run
	KindDropped Kind = "dropped" // Count messages of Length bytes together are missing here, the record did not keep up
	KindClose   Kind = "close"   // a connection has ended: Message says why, if not in good order
	KindEnd     Kind = "end"     // the process has stopped recording: Message says why, if it was not the end of the process
)

// Direction of a message, seen from the process that records.
type Direction string

// The directions.
const (
	In  Direction = "inbound"
	Out Direction = "outbound"
)

// Cancel is how a protocol cancels: Method is a notification whose parameter Param is the id of the request to give up.
type Cancel struct {
	Method string `json:"method"`
	Param  string `json:"param"`
}

// Record is one line of a recording. Which members have a meaning depends on the kind; in JSON the others are left out.
type Record struct {
	Time       time.Time     `json:"time"`                 // RFC 3339 in UTC, with nanoseconds
	Kind       Kind          `json:"kind,omitempty"`       // none for a message
	Process    string        `json:"process,omitempty"`    // tells processes apart that write to one file
	Connection string        `json:"connection,omitempty"` // a name, unique in the process
	Protocol   string        `json:"protocol,omitempty"`   // spoken on the connection
	Client     string        `json:"client,omitempty"`     // what the other side calls itself, where that is known when the connection begins
	Cancel     []Cancel      `json:"cancel,omitempty"`     // how the protocol cancels
	Direction  Direction     `json:"direction,omitempty"`  // of the message
	Unit       uint64        `json:"unit,omitempty"`       // number of the inbound message on its connection, from 1
	ID         string        `json:"id,omitempty"`         // JSON text of the id, where the timing is of a request
	Queued     time.Duration `json:"queued_ns,omitempty"`  // from reading the message to the start of its handler
	Run        time.Duration `json:"run_ns,omitempty"`     // from there to its return
	Count      int           `json:"count,omitempty"`      // of messages that were dropped
	Length     int           `json:"length,omitempty"`     // bytes of the message, or of those dropped, as they were on the wire, without framing
	Message    string        `json:"message,omitempty"`    // redacted text, or Failed; for other kinds a remark
	Truncated  bool          `json:"truncated,omitempty"`  // Message was cut
	Format     string        `json:"format,omitempty"`     // RecordFormat
	Version    int           `json:"version,omitempty"`    // RecordVersion
	Program    string        `json:"program,omitempty"`    // name of the program
}

// Append appends the record as JSON and a line feed. A message always has its direction, length and text, also where they are empty.
func (r *Record) Append(b []byte) []byte {
	b = append(b, `{"time":"`...)
	b = r.Time.UTC().AppendFormat(b, time.RFC3339Nano)
	b = append(b, '"')
	b = appendMember(b, "kind", string(r.Kind))
	b = appendMember(b, "process", r.Process)
	b = appendMember(b, "connection", r.Connection)
	b = appendMember(b, "protocol", r.Protocol)
	b = appendMember(b, "client", r.Client)
	if len(r.Cancel) > 0 {
		text, _ := json.Marshal(r.Cancel) // strings always encode
		b = append(append(b, `,"cancel":`...), text...)
	}
	b = appendMember(b, "direction", string(r.Direction))
	b = appendNumber(b, "unit", int64(r.Unit))
	b = appendMember(b, "id", r.ID)
	if r.Kind == KindTiming {
		b = strconv.AppendInt(append(b, `,"queued_ns":`...), int64(r.Queued), 10)
		b = strconv.AppendInt(append(b, `,"run_ns":`...), int64(r.Run), 10)
	}
	b = appendNumber(b, "count", int64(r.Count))
	if r.Kind == KindMessage {
		b = strconv.AppendInt(append(b, `,"length":`...), int64(r.Length), 10)
		b = appendString(append(b, `,"message":`...), r.Message)
	} else {
		b = appendNumber(b, "length", int64(r.Length))
		b = appendMember(b, "message", r.Message)
	}
	if r.Truncated {
		b = append(b, `,"truncated":true`...)
	}
	b = appendMember(b, "format", r.Format)
	b = appendNumber(b, "version", int64(r.Version))
	b = appendMember(b, "program", r.Program)
	return append(b, "}\n"...)
}

func appendMember(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	return appendString(b, value)
}

func appendNumber(b []byte, name string, n int64) []byte {
	if n == 0 {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	return strconv.AppendInt(b, n, 10)
}

// appendString appends s as a JSON string. A string always encodes, so there is no error to pass on.
func appendString(b []byte, s string) []byte {
	out, err := fastjson.Append(b, s, 0)
	if err != nil {
		return append(b, `""`...)
	}
	return out
}
