package inspect

import (
	"crypto/rand"
	"encoding/hex"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/logging"
)

// Limits that hold where [Options] has zeros.
const (
	DefaultMaxMessages = 100_000
	DefaultMaxBytes    = 64 << 20
	DefaultMaxText     = 16 << 10
	DefaultMaxViewers  = 32
	DefaultPatience    = 10 * time.Second
)

// Options are the settings of a [Page]. The zero value and nil are ready to use.
type Options struct {
	// Program is the name on the page; that of the program that runs if empty.
	Program string
	// MaxMessages and MaxBytes bound what is kept. Each message counts with its text and 264 bytes.
	MaxMessages, MaxBytes int
	// MaxText is how many bytes of a message can be seen.
	MaxText int
	// MaxViewers is how many pages may be open at once.
	MaxViewers int
	// Patience is how long a viewer may take nothing before it is dropped. Its page comes back when it can.
	Patience time.Duration
}

// Page shows traffic. It is the [logging.Sink] of a feed, and an [http.Handler]. All methods are safe for concurrent use.
type Page struct {
	o     Options
	token string

	mu       sync.Mutex
	ring     ring
	seq      uint64 // of the last event
	conns    map[string]*conn
	order    []string // of conns, the oldest first
	news     chan struct{}
	waiting  bool // somebody waits for news
	fresh    bool // there are some
	viewers  int
	gone     chan struct{} // closed by Close
	closed   bool
	standing sync.WaitGroup // viewers
}

// conn is a connection that was opened.
type conn struct {
	open    event
	end     *event
	cancels []cancel.Convention
}

// maxConns is how many connections are remembered; the oldest that has ended goes first.
const maxConns = 512

// New returns a Page with a token of its own. Nil options are the zero Options.
func New(o *Options) *Page {
	p := &Page{conns: map[string]*conn{}, news: make(chan struct{}), gone: make(chan struct{})}
	if o != nil {
		p.o = *o
	}
	def := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	def(&p.o.MaxMessages, DefaultMaxMessages)
	def(&p.o.MaxBytes, DefaultMaxBytes)
	def(&p.o.MaxText, DefaultMaxText)
	def(&p.o.MaxViewers, DefaultMaxViewers)
	if p.o.Patience <= 0 {
		p.o.Patience = DefaultPatience
	}
	if p.o.Program == "" && len(os.Args) > 0 {
		p.o.Program = strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	}
	var secret [16]byte
	_, _ = rand.Read(secret[:]) // never fails
	p.token = hex.EncodeToString(secret[:])
	return p
}

// URL is where the page is if it is served at addr. It has the token, which is all it takes to see the traffic: show it to the user alone.
func (p *Page) URL(addr net.Addr) string {
	host := addr.String()
	if _, port, err := net.SplitHostPort(host); err == nil && strings.HasPrefix(host, "127.0.0.1:") {
		host = net.JoinHostPort("localhost", port)
	}
	return "http://" + host + "/" + p.token + "/"
}

// Record takes one record. It is called by a feed.
func (p *Page) Record(r *logging.Record) {
	p.mu.Lock()
	c := p.conns[r.Connection]
	p.mu.Unlock()
	var conventions []cancel.Convention
	if c != nil {
		conventions = c.cancels
	}
	events := p.events(r, conventions)
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range events {
		e := &events[i]
		p.seq++
		e.Seq = p.seq
		switch e.Kind {
		case "open":
			p.remember(e, r.Cancel)
		case "close":
			if c := p.conns[e.Conn]; c != nil {
				c.end = e
			}
		}
		p.ring.push(*e, p.o.MaxMessages, p.o.MaxBytes)
		p.fresh = true
	}
}

// remember keeps a connection for viewers that come later. The lock is held.
func (p *Page) remember(e *event, cancels []logging.Cancel) {
	c := &conn{open: *e}
	for _, way := range cancels {
		c.cancels = append(c.cancels, cancel.Convention{Method: way.Method, Param: way.Param})
	}
	for len(p.order) >= maxConns {
		at := 0
		for i, name := range p.order {
			if p.conns[name].end != nil {
				at = i
				break
			}
		}
		delete(p.conns, p.order[at])
		p.order = append(p.order[:at], p.order[at+1:]...)
	}
	if p.conns[e.Conn] == nil {
		p.order = append(p.order, e.Conn)
	}
	p.conns[e.Conn] = c
}

// Flush tells the viewers that there is something new. It is called by a feed.
func (p *Page) Flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fresh && p.waiting {
		close(p.news)
		p.news, p.waiting = make(chan struct{}), false
	}
	p.fresh = false
}

// Close sends all viewers away and waits until they have gone. Later ones are refused.
func (p *Page) Close() {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		close(p.gone)
	}
	p.mu.Unlock()
	p.standing.Wait()
}

var (
	_ logging.Sink    = (*Page)(nil)
	_ logging.Flusher = (*Page)(nil)
	_ http.Handler    = (*Page)(nil)
)
