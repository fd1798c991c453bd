package agent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tandem-rpc/tandem/mcp"
)

// The pause makes the tool slow enough to watch on a sample that is read in no time.
const defaultPause, maxPause = 100, 5000

type indexInput struct {
	PauseMS int `json:"pause_ms,omitempty" jsonschema:"milliseconds to wait before each note, to watch the progress; 100 if not given"`
}

type indexOutput struct {
	Notes  int `json:"notes"`
	Words  int `json:"words"`
	Links  int `json:"links"`
	Broken int `json:"broken"`
}

func (s *Server) index(ctx context.Context, in indexInput) (indexOutput, error) {
	pause := defaultPause
	if in.PauseMS > 0 {
		pause = min(in.PauseMS, maxPause)
	}
	var all []place
	var out indexOutput
	if err := s.each(ctx, func(p place) error { all = append(all, p); return nil }); err != nil {
		return out, err
	}
	for i, p := range all {
		if err := wait(ctx, time.Duration(pause)*time.Millisecond); err != nil {
			return out, err
		}
		out.count(p)
		if err := mcp.Progress(ctx, float64(i+1), float64(len(all)), p.name); err != nil {
			return out, err
		}
	}
	_ = mcp.SessionFrom(ctx).Log(ctx, mcp.LevelInfo, "index", fmt.Sprintf("%d notes indexed", out.Notes)) // nobody may listen
	return out, nil
}

func (o *indexOutput) count(p place) {
	o.Notes++
	o.Words += len(strings.Fields(p.note.Text))
	o.Links += len(p.note.Links)
	for _, x := range p.Check(p.note) {
		if x.Kind.Broken() {
			o.Broken++
		}
	}
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
