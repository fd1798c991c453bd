package inspect

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// What a viewer gets at once, and how often.
const (
	maxEvents = 1000
	maxChunk  = 512 << 10
	breath    = 50 * time.Millisecond // before more is looked for
	heartbeat = 15 * time.Second      // after so much silence, to find out who has gone
)

// hello is the first thing a page is told.
type hello struct {
	Program     string  `json:"program"`
	MaxMessages int     `json:"maxMessages"`
	MaxBytes    int     `json:"maxBytes"`
	Conns       []event `json:"conns"` // opened, and closed, before what follows
}

// stream sends a viewer everything that is kept and then what comes, as server-sent events: hello, events (an array), and gap (how many are
// missing). The id of each is the number of the last event sent, with which a page whose connection broke goes on.
func (p *Page) stream(w http.ResponseWriter, r *http.Request) {
	last := r.Header.Get("Last-Event-ID") // of a page whose connection broke
	if last == "" {
		last = r.URL.Query().Get("after") // of one that had stopped
	}
	seq, _ := strconv.ParseUint(last, 10, 64) // none: from the start
	if !p.enter() {
		w.Header().Set("Retry-After", "10")
		http.Error(w, "too many viewers", http.StatusServiceUnavailable)
		return
	}
	defer p.leave()
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	v := &viewer{w: w, control: http.NewResponseController(w), patience: p.o.Patience}
	if !v.send("hello", seq, p.greeting()) {
		return
	}
	t := time.NewTimer(0)
	defer t.Stop()
	var batch []event
	for {
		var missed uint64
		var news <-chan struct{}
		batch, missed, news = p.next(batch[:0], seq)
		if missed > 0 && !v.send("gap", seq, missed) {
			return
		}
		wait := heartbeat
		if n := len(batch); n > 0 {
			seq = batch[n-1].Seq
			if !v.send("events", seq, batch) {
				return
			}
			clear(batch) // what the ring has dropped is not to be kept here
			news, wait = nil, breath
			if n > maxEvents/2 {
				wait = 0
			}
		}
		t.Reset(wait)
		select {
		case <-p.gone:
			return
		case <-r.Context().Done():
			return
		case <-news:
		case <-t.C:
			if wait == heartbeat && !v.write(": still here\n\n") {
				return
			}
		}
	}
}

// viewer is a page that is open.
type viewer struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration
}

func (v *viewer) send(kind string, seq uint64, data any) bool {
	text, err := json.Marshal(data) // which is of one line
	return err == nil && v.write(fmt.Sprintf("event: %s\nid: %d\ndata: %s\n\n", kind, seq, text))
}

// write returns false if the viewer has gone or takes nothing.
func (v *viewer) write(text string) bool {
	_ = v.control.SetWriteDeadline(time.Now().Add(v.patience)) // some writers have none
	if _, err := v.w.Write([]byte(text)); err != nil {
		return false
	}
	return v.control.Flush() == nil
}

// enter takes a place among the viewers.
func (p *Page) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.viewers >= p.o.MaxViewers {
		return false
	}
	p.viewers++
	p.standing.Add(1)
	return true
}

func (p *Page) leave() {
	p.mu.Lock()
	p.viewers--
	p.mu.Unlock()
	p.standing.Done()
}

func (p *Page) greeting() hello {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := hello{Program: p.o.Program, MaxMessages: p.o.MaxMessages, MaxBytes: p.o.MaxBytes, Conns: []event{}}
	oldest := p.ring.oldest()
	for _, name := range p.order {
		c := p.conns[name]
		if c.open.Seq < oldest {
			h.Conns = append(h.Conns, c.open)
		}
		if c.end != nil && c.end.Seq < oldest {
			h.Conns = append(h.Conns, *c.end)
		}
	}
	return h
}

// next returns events behind number seq, and how many of them are gone. Without any news is closed when there are some.
func (p *Page) next(batch []event, seq uint64) (_ []event, missed uint64, news <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	batch = p.ring.after(batch, seq, maxEvents, maxChunk)
	switch {
	case len(batch) == 0:
		p.waiting = true
	case seq > 0 && batch[0].Seq > seq+1:
		missed = batch[0].Seq - seq - 1
	}
	return batch, missed, p.news
}
