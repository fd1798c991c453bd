package mcpauth

import (
	"bytes"
	"io"
	"net/http"
	"time"

	josejson "github.com/go-jose/go-jose/v4/json"
)

// maxAnonymous is how much of the body of a request without credentials is read to see its method.
const maxAnonymous = 64 << 10

// anonymousTime is how long its sender may take.
const anonymousTime = 10 * time.Second

// admitsAnonymous reports whether a request without credentials calls a method that needs none. It believes the body only: what the Mcp-Method
// header says is compared with it later, and only by some revisions. The body is put back together.
//
// The reading must not be more lenient than that of the JSON-RPC engine behind, or a body could show one method here and another there: the
// parser rejects duplicate members, matches names exactly, and wants one object and nothing after it.
//
// Strangers get a deadline for the little that is read.
func (r *Resource) admitsAnonymous(w http.ResponseWriter, req *http.Request) bool {
	if req.Method != http.MethodPost || req.Body == nil || req.ContentLength > maxAnonymous {
		return false
	}
	// Not every writer has deadlines; the server's own, if it has one, then has to do.
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(anonymousTime))
	head, err := io.ReadAll(io.LimitReader(req.Body, maxAnonymous+1))
	req.Body = &rejoined{Reader: io.MultiReader(bytes.NewReader(head), req.Body), Closer: req.Body}
	if err != nil || len(head) > maxAnonymous || !shallow(head) {
		return false
	}
	_ = rc.SetReadDeadline(time.Time{})
	var message struct {
		Method *string             `json:"method"`
		Result josejson.RawMessage `json:"result"`
		Error  josejson.RawMessage `json:"error"`
	}
	if bytes.IndexByte(bytes.TrimLeft(head, " \t\r\n"), '{') != 0 || josejson.Unmarshal(head, &message) != nil {
		return false
	}
	return message.Method != nil && message.Result == nil && message.Error == nil && r.anonymous[*message.Method]
}

type rejoined struct {
	io.Reader
	io.Closer
}

// maxDepth is how deep JSON of strangers may nest: tokens, keys, answers of authorization servers.
const maxDepth = 64

// shallow reports whether JSON nests no deeper than maxDepth. Parsers recurse.
func shallow(data []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch ch := data[i]; {
		case quoted:
			if ch == '\\' {
				i++
			} else if ch == '"' {
				quoted = false
			}
		case ch == '"':
			quoted = true
		case ch == '{' || ch == '[':
			if depth++; depth > maxDepth {
				return false
			}
		case ch == '}' || ch == ']':
			depth--
		}
	}
	return true
}
