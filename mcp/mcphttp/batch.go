package mcphttp

import (
	"encoding/json"
	"net/http"

	"github.com/tandem-rpc/tandem/jsonrpc2"
	"github.com/tandem-rpc/tandem/mcp"
)

var errBatch = invalidRequest("the revision has no batches")

// batch serves an array: only 2025-03-26 has them (MCP 2025-03-26 base protocol, batching).
func (p *post) batch(byHeader bool) {
	h := p.h
	if byHeader {
		p.answer(http.StatusBadRequest, "", errBatch)
		return
	}
	if !p.checkVersion() {
		return
	}
	s := p.findSession()
	switch {
	case s == nil:
		return
	case s == nobody && (p.version != "" && p.version != silentVersion || !h.isLegacy(silentVersion)), s != nobody && s.mcp.Revision() != silentVersion:
		p.answer(http.StatusBadRequest, "null", errBatch)
		return
	}
	if s != nobody {
		s.follow(p)
	}
	if most := h.server.Dispatcher().MaxBatch(); p.m.Entries == 0 || p.m.Entries > most {
		p.answer(http.StatusBadRequest, "null", jsonrpc2.ErrInvalidRequest)
		return
	}
	// Inspect has seen that it is JSON and not too deep.
	var entries []json.RawMessage
	if json.Unmarshal(p.payload, &entries) != nil {
		p.answer(http.StatusBadRequest, "null", jsonrpc2.ErrInvalidRequest)
		return
	}
	rest := make([]json.RawMessage, 0, len(entries))
	var responses []mcp.Message
	var texts []json.RawMessage
	for _, e := range entries {
		m, err := mcp.Inspect(e)
		switch {
		case err == nil && (m.Modern || m.Method == "initialize"):
			p.answer(http.StatusBadRequest, "null", jsonrpc2.ErrInvalidRequest)
			return
		case err == nil && m.Kind == jsonrpc2.KindResponse:
			responses, texts = append(responses, m), append(texts, e)
		default:
			rest = append(rest, e)
		}
	}
	if s == nobody {
		for range responses {
			h.report(p.r.Context(), errStray)
		}
	} else {
		ok, full := s.enter(true)
		switch {
		case !ok:
			p.answer(http.StatusNotFound, "", errNoSession)
			return
		case full:
			p.busy(http.StatusTooManyRequests, "Too many requests of this session")
			return
		}
		defer func() {
			if !p.handed {
				s.leave(true)
			}
		}()
		for i, m := range responses {
			s.answer(p.r.Context(), m.ID, texts[i])
		}
	}
	if len(rest) == 0 {
		accepted(p.w)
		return
	}
	if len(rest) < len(entries) {
		p.payload, _ = json.Marshal(rest) // they are JSON
		p.m, _ = mcp.Inspect(p.payload)
	}
	if s == nobody {
		p.version = silentVersion
		p.withoutSession()
		return
	}
	p.request(s)
}
