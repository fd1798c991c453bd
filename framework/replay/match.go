package replay

import (
	"slices"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// take finds out what a message of the server is.
func (p *player) take(text []byte) {
	parts := split(text)
	if parts == nil {
		p.report.add(Difference{What: Unexpected, Got: string(p.cmp.redactor.Redact(text))})
		return
	}
	for _, one := range parts {
		switch one.kind {
		case jsonrpc2.KindResponse:
			p.takeAnswer(one)
		case jsonrpc2.KindRequest:
			p.takeRequest(one)
		case jsonrpc2.KindNotification:
			p.takeNote(one)
		default:
			p.report.add(Difference{What: Unexpected, Got: string(p.cmp.redactor.Redact(one.text))})
		}
	}
}

func (p *player) takeAnswer(one part) {
	if one.id == "" || one.id == "null" {
		if p.report.Skipped == 0 {
			p.report.add(Difference{What: Unexpected, ID: "null", Got: p.shown(one)})
		}
		return
	}
	for _, w := range p.want {
		if w.kind == jsonrpc2.KindResponse && !w.found && sameID(w.id, p.redacted(one.id)) {
			w.found = true
			p.report.Compared++
			if p.givenUp[w.id] && failed(w.text) != failed(one.text) {
				return
			}
			if d := p.cmp.compare(w.method, w.text, one.text, "result", "error"); d != nil {
				p.report.add(Difference{What: Changed, Step: w.step + 1, Method: w.method, ID: w.id, Path: d.path, Want: d.want, Got: d.got})
			}
			return
		}
	}
	if unanswered := p.unanswered(p.redacted(one.id)); unanswered && p.givenUp[one.id] {
		return
	} else if unanswered && p.beyond() {
		p.report.Beyond++
		return
	}
	p.report.add(Difference{What: Unexpected, ID: p.redacted(one.id), Method: p.methods[one.id], Got: p.shown(one)})
}

// beyond reports whether what comes now came, if at all, when the recording was over.
func (p *player) beyond() bool { return p.hurry > 0 && p.sent == p.total }

// unanswered reports whether the recording has no answer to a request.
func (p *player) unanswered(id string) bool {
	return !slices.ContainsFunc(p.want, func(w *expected) bool { return w.kind == jsonrpc2.KindResponse && sameID(w.id, id) })
}

// about says what a notification is about of which only the last one counts: its method and a member. "": each one counts.
func (p *player) about(one part) string {
	names, ok := p.superseded[one.method]
	if !ok {
		return ""
	}
	value := []byte("null")
	if len(names) > 0 {
		value = member(p.cmp.redactor.Redact(one.text), names)
	}
	return one.method + "\x00" + string(value)
}

// failed reports whether an answer is an error.
func failed(answer []byte) bool { return string(member(answer, []string{"error"})) != "null" }

// redacted is the text of an id as a recording has it.
func (p *player) redacted(id string) string { return string(p.cmp.redactor.Redact([]byte(id))) }

func sameID(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := jsonrpc2.ParseID([]byte(a))
	y, errY := jsonrpc2.ParseID([]byte(b))
	return errX == nil && errY == nil && x.Equal(y)
}

// takeRequest finds the recorded request for one of the server. One with the same params is the best. Others are refused, so that the server goes on.
func (p *player) takeRequest(one part) {
	var best *expected
	var differ *mismatch
	for _, w := range p.want {
		if w.kind != jsonrpc2.KindRequest || w.found || w.method != one.method {
			continue
		}
		d := p.cmp.compare(w.method, w.text, one.text, "params")
		if best == nil || d == nil {
			best, differ = w, d
		}
		if d == nil {
			break
		}
	}
	if best == nil {
		if p.beyond() {
			p.report.Beyond++
		} else {
			p.report.add(Difference{What: Unexpected, Method: one.method, Got: p.shown(one)})
		}
		_ = p.t.Write([]byte(`{"jsonrpc":"2.0","id":` + one.id + `,"error":{"code":-32601,"message":"Method not found"}}`))
		return
	}
	best.found = true
	p.report.Compared++
	p.ids[best.id] = one.id
	if differ != nil {
		p.report.add(Difference{What: Changed, Step: best.step + 1, Method: best.method, Path: differ.path, Want: differ.want, Got: differ.got})
	}
}

// takeNote takes a notification out of the bag, if it is in it.
func (p *player) takeNote(one part) {
	var best *expected
	for _, w := range p.want {
		if w.kind != jsonrpc2.KindNotification || w.found || w.method != one.method || !p.near(w.sent, p.sent) {
			continue
		}
		if p.cmp.compare(w.method, w.text, one.text, "params") != nil {
			continue
		}
		if best == nil || abs(w.sent-p.sent) < abs(best.sent-p.sent) {
			best = w
		}
	}
	if best == nil && p.beyond() && !p.owed(one.method) {
		p.report.Beyond++
		return
	}
	if about := p.about(one); about != "" {
		p.latest[about] = came{one, p.sent}
	}
	if best == nil {
		if len(p.extra) < maxDifferences {
			p.extra = append(p.extra, came{one, p.sent})
		} else {
			p.report.More++
		}
		return
	}
	best.found = true
	p.report.Compared++
}

// owed reports whether a notification of a method is still to come.
func (p *player) owed(method string) bool {
	return slices.ContainsFunc(p.want, func(w *expected) bool {
		return w.kind == jsonrpc2.KindNotification && !w.found && w.method == method
	})
}

func (p *player) near(a, b int) bool { return p.o.Window <= 0 || abs(a-b) <= p.o.Window }

func abs(n int) int { return max(n, -n) }

// conclude reports what has not come, and what nobody waited for.
func (p *player) conclude() {
	p.supersede()
	for _, w := range p.want {
		if w.found {
			continue
		}
		if w.kind == jsonrpc2.KindNotification { // one of the same method is taken for it
			if i := p.like(w); i >= 0 {
				now := p.extra[i]
				p.extra = append(p.extra[:i], p.extra[i+1:]...)
				p.report.Compared++
				d := p.cmp.compare(w.method, w.text, now.text, "params")
				if d == nil {
					d = &mismatch{path: "", want: "", got: "the same, out of its window"}
				}
				p.report.add(Difference{What: Changed, Step: w.step + 1, Method: w.method, Path: d.path, Want: d.want, Got: d.got})
				continue
			}
		}
		if w.kind == jsonrpc2.KindResponse && p.givenUp[w.id] {
			continue
		}
		d := Difference{What: Missing, Step: w.step + 1, Method: w.method, Want: short(string(w.text))}
		if w.kind == jsonrpc2.KindResponse {
			d.ID = w.id
		}
		p.report.add(d)
	}
	for _, one := range p.extra {
		p.report.add(Difference{What: Unexpected, Method: one.method, Got: p.shown(one.part)})
	}
}

// like finds a notification that came and is none that was recorded, the nearest of its method.
func (p *player) like(w *expected) int {
	best := -1
	for i, one := range p.extra {
		if one.method == w.method && (best < 0 || abs(one.sent-w.sent) < abs(p.extra[best].sent-w.sent)) {
			best = i
		}
	}
	return best
}

// supersede leaves of the notifications about one thing the last ones, if they differ.
func (p *player) supersede() {
	if len(p.superseded) == 0 {
		return
	}
	wanted := map[string]bool{}
	for _, w := range p.want {
		if w.about == "" {
			continue
		}
		wanted[w.about] = true
		now, ok := p.latest[w.about]
		if w.last && ok {
			switch d := p.cmp.compare(w.method, w.text, now.text, "params"); {
			case d == nil:
			case p.hurry > 0 && now.sent >= p.hurry: // there would have been a later one too
				p.report.Beyond++
			default:
				p.report.add(Difference{What: Changed, Step: w.step + 1, Method: w.method, Path: d.path, Want: d.want, Got: d.got})
			}
			if !w.found {
				p.report.Compared++
			}
		}
		w.found = w.found || ok || !w.last
	}
	p.extra = slices.DeleteFunc(p.extra, func(c came) bool {
		about := p.about(c.part)
		return about != "" && wanted[about]
	})
}

// shown is a message of the server, shortened and without its secrets.
func (p *player) shown(one part) string { return short(string(p.cmp.redactor.Redact(one.text))) }
