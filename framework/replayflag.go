package framework

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/tandem-rpc/tandem/framework/replay"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// replay sends the sessions of a recording to the front ends, one after the other, and prints what is different now. The code is ExitFailure if
// anything is, or if there was nothing to replay.
func (p *run) replay(ctx context.Context, fes []FrontEnd) (int, error) {
	f, err := os.Open(p.config.Replay)
	if err != nil {
		return ExitFailure, fmt.Errorf("--replay: %w", err)
	}
	sessions, err := replay.Read(f)
	_ = f.Close()
	if err != nil {
		return ExitFailure, fmt.Errorf("--replay: %w", err)
	}
	o := &replay.Options{Redact: p.rt.Redact}
	if p.config.Ignore != "" {
		o.Ignore = strings.Split(p.config.Ignore, ",")
	}
	all := p.withBeside(fes)
	code, played := 0, 0
	for _, s := range sessions {
		if s.Len() == 0 {
			continue
		}
		fmt.Printf("%s, %s: ", oneLine(s.Connection), oneLine(s.Protocol))
		fe := frontEndFor(s.Protocol, all)
		if s.Protocol == "" && len(fes) == 1 {
			fe = fes[0]
		}
		if fe == nil {
			fmt.Println("no front end for it here")
			continue
		}
		played++
		o.Opaque, o.Superseded = nil, nil
		if r, ok := fe.(Replayed); ok {
			o.Opaque, o.Superseded = r.Opaque(), r.Superseded()
		}
		r, err := p.replayOne(ctx, s, fe, o)
		if !r.Same() {
			fmt.Println()
			code = ExitFailure
		}
		if _, err := r.WriteTo(os.Stdout); err != nil {
			return ExitFailure, err
		}
		if err != nil {
			return ExitFailure, err
		}
	}
	if played == 0 {
		return ExitFailure, fmt.Errorf("--replay: %q has no session for this server", p.config.Replay)
	}
	return code, nil
}

// withBeside adds the front ends of endpoints, and what is served over HTTP where that is one too.
func (p *run) withBeside(fes []FrontEnd) []FrontEnd {
	all := slices.Clone(fes)
	for _, e := range append([]Endpoint{{Web: p.rt.Web}}, p.rt.Beside...) {
		all = append(all, e.FrontEnds...)
		if fe, ok := e.Web.(FrontEnd); ok {
			all = append(all, fe)
		}
	}
	return all
}

func frontEndFor(protocol string, fes []FrontEnd) FrontEnd {
	for _, fe := range fes {
		if fe.Protocol() == protocol {
			return fe
		}
	}
	return nil
}

func (p *run) replayOne(ctx context.Context, s *replay.Session, fe FrontEnd, o *replay.Options) (*replay.Report, error) {
	here, there := jsonrpc2.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = p.rt.ServeTransport(ctx, there, fe) // how it ends shows in the report
	}()
	r, err := s.Play(ctx, here, o)
	<-ended
	return r, err
}
