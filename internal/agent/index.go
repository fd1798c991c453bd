package agent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tandem-rpc/tandem/mcp"
)

// The pause makes the tool slow enough to watch on a sample that is read in no time. Where nobody asks for one, many notes make it shorter.
const (
	defaultPause = 100 * time.Millisecond
	maxPause     = 5 * time.Second
	allPauses    = 10 * time.Second // of one call, where nobody asks
)

type indexInput struct {
	PauseMS int `json:"pause_ms,omitempty" jsonschema:"milliseconds to wait before each note, to watch the progress; if not given 100, with many notes less" minimum:"0"`
}

type indexOutput struct {
	Notes  int `json:"notes"`
	Words  int `json:"words"`
	Links  int `json:"links"`
	Broken int `json:"broken"`
}

func (s *Server) index(ctx context.Context, in indexInput) (indexOutput, error) {
	var all []place
	var out indexOutput
	if err := s.each(ctx, "", func(p place) error { all = append(all, p); return nil }); err != nil {
		return out, err
	}
	pause := min(defaultPause, allPauses/time.Duration(max(len(all), 1)))
	if in.PauseMS > 0 {
		pause = min(time.Duration(min(in.PauseMS, 1e6))*time.Millisecond, maxPause)
	}
	for i, p := range all {
		if err := wait(ctx, pause); err != nil {
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
