package lsptest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Recording is the recorded traffic of one connection between an editor and a server.
type Recording struct {
	Messages []Entry // Sent are those of the editor
}

// ErrRecording is wrapped by errors of [ReadRecording].
var ErrRecording = errors.New("lsptest: not a recording")

// maxRecordLine is how long a line may be.
const maxRecordLine = 256 << 20

// ReadRecording reads a recording: JSON lines, each of them one of
//
//	{"dir":"c2s","msg":{...}}                     a message of the client; "s2c" is one of the server
//	{"direction":"inbound","message":"{...}"}     as servers record that run with the package framework; "outbound" is one of the server
//
// Other members are ignored, and so are lines that record no message. Of a file with several connections only the first is read that speaks LSP.
// A message that was cut, or whose text is missing, is an error: what cannot be sent cannot be replayed.
func ReadRecording(r io.Reader) (*Recording, error) {
	rec := new(Recording)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxRecordLine)
	connection := ""
	for n := 1; lines.Scan(); n++ {
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		var l struct {
			Dir string          `json:"dir"`
			Msg json.RawMessage `json:"msg"`

			Direction  string  `json:"direction"`
			Message    *string `json:"message"`
			Truncated  bool    `json:"truncated"`
			Kind       string  `json:"kind"`
			Process    string  `json:"process"`
			Connection string  `json:"connection"`
			Protocol   string  `json:"protocol"`
		}
		if err := json.Unmarshal(text, &l); err != nil {
			return nil, fmt.Errorf("%w: line %d is no JSON object", ErrRecording, n)
		}
		e := Entry{Payload: l.Msg}
		switch {
		case l.Dir == "c2s" || l.Dir == "s2c":
			e.Sent = l.Dir == "c2s"
		case l.Direction == "inbound" || l.Direction == "outbound":
			if l.Protocol != "" && l.Protocol != "lsp" || l.Kind != "" {
				continue
			}
			name := l.Process + "\x00" + l.Connection
			if connection == "" {
				connection = name
			}
			if name != connection {
				continue
			}
			if l.Message == nil || l.Truncated {
				return nil, fmt.Errorf("%w: line %d: the message is not whole", ErrRecording, n)
			}
			e.Sent, e.Payload = l.Direction == "inbound", []byte(*l.Message)
		case l.Kind != "":
			continue
		default:
			return nil, fmt.Errorf("%w: line %d has no direction", ErrRecording, n)
		}
		if err := json.Unmarshal(e.Payload, &e.message); err != nil {
			return nil, fmt.Errorf("%w: line %d: the message is no JSON object", ErrRecording, n)
		}
		rec.Messages = append(rec.Messages, e)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRecording, err)
	}
	if len(rec.Messages) == 0 {
		return nil, fmt.Errorf("%w: no messages", ErrRecording)
	}
	return rec, nil
}

// LoadRecording is [ReadRecording] of a file, which fails the test.
func LoadRecording(t T, file string) *Recording {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatalf("lsptest: %v", err)
	}
	defer f.Close()
	rec, err := ReadRecording(f)
	if err != nil {
		t.Fatalf("%v: %s", err, file)
	}
	return rec
}
