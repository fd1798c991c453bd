package logging

import (
	"time"
	"unicode/utf8"
)

// work is the goroutine of the feed.
func (f *Feed) work() {
	defer close(f.ended)
	var q queue
	var text []byte
	for done := 0; ; {
		f.mu.Lock()
		f.size -= done
		for len(f.queue.items) == 0 && len(f.dropping) == 0 {
			f.release()
			if f.closing {
				f.mu.Unlock()
				return
			}
			f.asleep = true
			f.wake.Wait()
		}
		q, f.queue = f.queue, q.emptied()
		done = f.size
		lost := f.lost()
		idle := f.idle
		f.idle = nil
		f.mu.Unlock()
		for i := range q.items {
			text = f.emit(&q.items[i], q.text, text[:0])
		}
		for i := range lost {
			f.give(&lost[i])
		}
		f.flush()
		for _, c := range idle {
			close(c)
		}
		if cap(text) > keepText {
			text = nil
		}
	}
}

// release lets go who waits in Flush: nothing is left to do. The lock is held.
func (f *Feed) release() {
	for _, c := range f.idle {
		close(c)
	}
	f.idle = nil
}

// emptied is a queue to be filled again. One that has grown is left to the garbage collector.
func (q queue) emptied() queue {
	clear(q.items)
	if cap(q.text) > keepText || cap(q.items) > keepText/itemSize {
		return queue{}
	}
	return queue{q.items[:0], q.text[:0]}
}

// lost makes records of what was dropped. The lock is held.
func (f *Feed) lost() []Record {
	var all []Record
	for _, s := range f.dropping {
		all = append(all, Record{Time: time.Now(), Kind: KindDropped, Process: f.process, Connection: s.name, Count: s.dropped, Length: s.bytes})
		s.dropped, s.bytes = 0, 0
	}
	f.dropping = nil
	return all
}

// emit makes the record of an item. scratch is memory to be used, and is returned.
func (f *Feed) emit(i *item, texts, scratch []byte) []byte {
	r := Record{Time: i.time, Kind: i.kind, Process: f.process, Connection: i.source.name}
	text := i.own
	if text == nil {
		text = texts[i.lo:i.hi]
	}
	switch i.kind {
	case KindOpen:
		r.Protocol, r.Client, r.Cancel = i.source.protocol, i.source.client, i.source.cancels
	case KindClose:
		r.Message = printable(f.redactor.Text(string(text)), false)
	case KindTiming:
		r.Unit, r.Queued, r.Run = i.unit, i.queued, i.run
		if len(text) > 0 {
			scratch, _ = f.redactor.Append(scratch, text)
			r.ID = printable(string(scratch), true)
		}
	case KindMessage:
		r.Direction, r.Length, r.Unit = In, i.length, i.unit
		if i.out {
			r.Direction = Out
		}
		scratch, _ = f.redactor.Append(scratch, text)
		r.Message = printable(string(scratch), true)
		if f.limit >= 0 && len(r.Message) > f.limit {
			r.Message, r.Truncated = cut(r.Message, f.limit), true
		}
	}
	f.give(&r)
	return scratch
}

// give hands a record to the sink, and survives it.
func (f *Feed) give(r *Record) {
	defer func() { _ = recover() }()
	f.sink.Record(r)
}

func (f *Feed) flush() {
	defer func() { _ = recover() }()
	if s, ok := f.sink.(Flusher); ok {
		s.Flush()
	}
}

// cut returns at most n bytes of text, and no part of a character.
func cut(text string, n int) string {
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return string([]byte(text[:n])) // the rest is not to be kept
}
