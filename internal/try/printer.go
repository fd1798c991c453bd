package try

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/tandem-rpc/tandem/logging"
)

// labelled prints the messages of another connection, with a label in front.
type labelled struct {
	*printer
	label string
}

func (p labelled) Inbound(frame []byte)  { p.print(p.label+" ←", frame) }
func (p labelled) Outbound(frame []byte) { p.print(p.label+" →", frame) }

// printer is the client's [jsonrpc2.Tap].
type printer struct {
	width  int
	redact *logging.Redactor
	start  time.Time
	bytes  atomic.Int64 // of outbound messages

	mu    sync.Mutex
	out   io.Writer
	first bool
}

func newPrinter(out io.Writer, width int, redact *logging.Redactor) *printer {
	if width <= 0 {
		width = DefaultWidth
	}
	return &printer{width: width, redact: redact, start: time.Now(), out: out, first: true}
}

// Inbound prints what the server sent.
func (p *printer) Inbound(frame []byte) { p.print("←", frame) }

// Outbound prints what the client sent.
func (p *printer) Outbound(frame []byte) {
	p.bytes.Add(int64(len(frame)))
	p.print("→", frame)
}

func (p *printer) print(arrow string, frame []byte) {
	at := time.Since(p.start)
	text := shorten(string(p.redact.Redact(frame)), p.width)
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.out, "%9.1fms %s %s\n", float64(at.Microseconds())/1000, arrow, text)
}

func (p *printer) step(title string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.first {
		fmt.Fprintln(p.out)
	}
	p.first = false
	fmt.Fprintf(p.out, "# %s\n", title)
}

func (p *printer) note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.out, "%11s   %s\n", "", text)
}

// shorten takes the middle out of what is longer than width.
func shorten(s string, width int) string {
	if len(s) <= width {
		return s
	}
	head, tail := width*3/4, len(s)-width/4
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return fmt.Sprintf("%s … %d bytes … %s", s[:head], tail-head, s[tail:])
}
