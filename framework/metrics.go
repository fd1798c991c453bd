package framework

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/exp/stats"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// Limits of [Metrics] that hold where its fields are zero.
const (
	DefaultMaxMethods = 256
	DefaultSamples    = 1024
)

// Names under which [Metrics] groups what has no row of its own. The parentheses keep them apart from any sensible method.
const (
	UnknownMethod = "(unknown)" // messages no handler is registered for
	OtherMethods  = "(other)"   // methods that came after MaxMethods others
)

// Metrics counts messages by method and keeps a sample of their times. The zero value is ready to use; it must not be copied after the first
// [Metrics.Observe]. All methods are safe for concurrent use, and a Metrics can serve any number of connections.
//
// Memory is bounded: at most MaxMethods rows of Samples pairs of durations, 16 bytes each, whatever names a peer makes up.
type Metrics struct {
	// MaxMethods is how many methods get a row; later ones share [OtherMethods]. 0 is DefaultMaxMethods.
	MaxMethods int
	// Samples is how many messages of each method the quantiles are taken from: a uniform sample of all since the start (Vitter's
	// algorithm R). 0 is DefaultSamples. Both fields must not change after the first Observe.
	Samples int

	mu   sync.Mutex                            // held to add a row
	rows atomic.Pointer[map[string]*methodRow] // never changed once stored
}

// methodRow is what one method has gathered. The two slices are the reservoir, a message at the same place in both.
type methodRow struct {
	mu   sync.Mutex
	sum  MethodStats
	wait []time.Duration
	run  []time.Duration
}

// MethodStats are the figures of one method at one moment.
type MethodStats struct {
	Method    string // as the peer named it, or [UnknownMethod], or [OtherMethods]
	Count     int64  // requests and notifications handled
	Notes     int64  // how many of Count were notifications
	Errors    int64  // answered with an error, cancelled ones not among them
	Cancelled int64  // answered with the code of a cancellation convention, or not at all where it is silent
	In, Out   int64  // bytes of params, and of results and errors

	Queued, Run Quantiles // from read to start of the handler; from its start to its return
	Samples     int       // how many messages the quantiles are taken from
}

// Quantiles are three points of a distribution of times.
type Quantiles struct{ P50, P90, P99 time.Duration }

// Observe counts one message. It has the signature of [jsonrpc2.Options.Observe] and takes well under a microsecond.
func (m *Metrics) Observe(e jsonrpc2.Event) { m.observe(e, false) }

func (m *Metrics) observe(e jsonrpc2.Event, cancelled bool) {
	r := m.row(e.Method)
	limit := m.Samples
	if limit <= 0 {
		limit = DefaultSamples
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &r.sum
	s.Count++
	s.In += int64(e.In)
	s.Out += int64(e.Out)
	switch {
	case cancelled:
		s.Cancelled++
	case e.Code != 0:
		s.Errors++
	}
	if e.Notification {
		s.Notes++
	}
	if len(r.run) < limit {
		r.wait, r.run = append(r.wait, e.Queued), append(r.run, e.Run)
		return
	}
	if i := rand.Int64N(s.Count); i < int64(limit) {
		r.wait[i], r.run[i] = e.Queued, e.Run
	}
}

// row finds the row of a method or makes it.
func (m *Metrics) row(method string) *methodRow {
	if method == "" {
		method = UnknownMethod
	}
	if rows := m.rows.Load(); rows != nil {
		if r := (*rows)[method]; r != nil {
			return r
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	old := map[string]*methodRow{}
	if rows := m.rows.Load(); rows != nil {
		old = *rows
	}
	limit := m.MaxMethods
	if limit <= 0 {
		limit = DefaultMaxMethods
	}
	if len(old) >= limit && method != UnknownMethod {
		method = OtherMethods
	}
	if r := old[method]; r != nil { // it has been made since, or the limit moved us there
		return r
	}
	method = strings.Clone(method) // it may alias an input buffer
	rows := maps.Clone(old)
	r := &methodRow{sum: MethodStats{Method: method}}
	rows[method] = r
	m.rows.Store(&rows)
	return r
}

// Snapshot returns the figures of all methods, the most frequent first, equal ones by name. Rows are read one after the other while counting
// goes on. A nil Metrics has none.
func (m *Metrics) Snapshot() []MethodStats {
	if m == nil {
		return nil
	}
	rows := m.rows.Load()
	if rows == nil {
		return nil
	}
	all := make([]MethodStats, 0, len(*rows))
	for _, r := range *rows {
		all = append(all, r.snapshot())
	}
	slices.SortFunc(all, func(a, b MethodStats) int {
		if a.Count != b.Count {
			return int(max(-1, min(1, b.Count-a.Count)))
		}
		return strings.Compare(a.Method, b.Method)
	})
	return all
}

func (r *methodRow) snapshot() MethodStats {
	r.mu.Lock()
	s, wait, run := r.sum, nanoseconds(r.wait), nanoseconds(r.run)
	r.mu.Unlock()
	s.Samples = len(run)
	s.Queued, s.Run = quantiles(wait), quantiles(run)
	return s
}

func nanoseconds(ds []time.Duration) []float64 {
	fs := make([]float64, len(ds))
	for i, d := range ds {
		fs[i] = float64(d)
	}
	return fs
}

func quantiles(sample []float64) Quantiles {
	if len(sample) == 0 {
		return Quantiles{}
	}
	slices.Sort(sample) // Quantiles is quicker on sorted values, and copies others
	q := stats.Quantiles(sample, 0.5, 0.9, 0.99)
	return Quantiles{P50: time.Duration(q[0]), P90: time.Duration(q[1]), P99: time.Duration(q[2])}
}
