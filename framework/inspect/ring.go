package inspect

// ring holds the last events. It grows as needed and stays within its limits.
type ring struct {
	events   []event // a circle of len(events) places
	first    int     // where the oldest is
	n        int     // how many there are
	messages int     // of them
	bytes    int
}

// push adds an event, and drops the oldest ones until the limits hold.
func (r *ring) push(e event, maxMessages, maxBytes int) {
	r.bytes += e.size()
	if e.isMessage() {
		r.messages++
	}
	if r.n == len(r.events) {
		r.grow()
	}
	r.events[(r.first+r.n)%len(r.events)] = e
	r.n++
	for r.n > 1 && (r.messages > maxMessages || r.bytes > maxBytes) {
		old := &r.events[r.first]
		r.bytes -= old.size()
		if old.isMessage() {
			r.messages--
		}
		*old = event{}
		r.first = (r.first + 1) % len(r.events)
		r.n--
	}
}

func (r *ring) grow() {
	events := make([]event, max(64, 2*len(r.events)))
	for i := range r.n {
		events[i] = r.events[(r.first+i)%len(r.events)]
	}
	r.events, r.first = events, 0
}

// oldest is the number of the oldest event, 0 if there is none.
func (r *ring) oldest() uint64 {
	if r.n == 0 {
		return 0
	}
	return r.events[r.first].Seq
}

// after appends to dst events behind number seq, at most count of them and, beyond the first, maxBytes.
func (r *ring) after(dst []event, seq uint64, count, maxBytes int) []event {
	if r.n == 0 {
		return dst
	}
	skip := 0
	if oldest := r.oldest(); seq >= oldest { // numbers have no gaps
		skip = int(min(seq-oldest+1, uint64(r.n)))
	}
	size := 0
	for i := skip; i < r.n && len(dst) < count; i++ {
		e := &r.events[(r.first+i)%len(r.events)]
		if size += e.size(); size > maxBytes && len(dst) > 0 {
			break
		}
		dst = append(dst, *e)
	}
	return dst
}
