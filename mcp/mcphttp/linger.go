package mcphttp

import (
	"io"
	"net/http"
	"time"
)

// A client whose request is refused before its body was read may still be sending that. If the connection were closed then, it would be reset, and many
// clients would report that and not the answer: that the body is too large, or that their token has expired. So what still comes is read and thrown
// away, for a while.
const (
	// lingerFrom is how much of a body net/http throws away by itself.
	lingerFrom = 256 << 10
	// lingerBytes is how much is read.
	lingerBytes = 64 << 20
)

// How long is read, and how long nothing may come. Tests change them: a client in their own process, on a busy machine, may be silent for longer.
var (
	lingerTime    = 5 * time.Second
	lingerSilence = 2 * time.Second
)

// sentBody is a body that a client may still be sending when the answer is written.
type sentBody struct {
	io.ReadCloser
	ended bool // it was read to its end, or cannot be
}

func (b *sentBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.ended = b.ended || err != nil
	return n, err
}

// follow returns r with a body that can be followed, which is nil where nothing has to be: a small one, one that is sent when asked for, and over
// HTTP/2, where requests have no connection of their own that could be reset.
func follow(r *http.Request) (*http.Request, *sentBody) {
	if r.ProtoMajor != 1 || r.Body == nil || r.ContentLength >= 0 && r.ContentLength < lingerFrom || r.Header["Expect"] != nil {
		return r, nil
	}
	b := &sentBody{ReadCloser: r.Body}
	r = r.WithContext(r.Context()) // the server looks at the body of its own request
	r.Body = b
	return r, b
}

// linger sends the answer and reads on.
func (b *sentBody) linger(w http.ResponseWriter) {
	if b == nil || b.ended {
		return
	}
	rc := http.NewResponseController(w)
	if rc.Flush() != nil {
		return
	}
	p := make([]byte, 32<<10)
	for n, end := 0, time.Now().Add(lingerTime); n < lingerBytes && !b.ended && time.Now().Before(end); {
		if rc.SetReadDeadline(time.Now().Add(lingerSilence)) != nil {
			return // nothing would end a read
		}
		k, _ := b.Read(p)
		n += k
	}
	_ = rc.SetReadDeadline(time.Time{})
}
