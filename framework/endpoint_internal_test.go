package framework

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// A client of an endpoint that takes nothing holds up the end of the program for a limited time; endpoints that end in time are waited for.
func TestEndBeside(t *testing.T) {
	late := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	good := func(context.Context) error { return nil }
	for _, tt := range []struct {
		name     string
		shutdown func(context.Context) error
		ends     time.Duration // the second of two endpoints, after the start
		want     time.Duration
	}{
		{"in good order", good, time.Minute, time.Minute},
		{"late, then at once", late, besideGrace, besideGrace},
		{"late, then soon", late, besideGrace + stuckGrace/2, besideGrace + stuckGrace/2},
		{"a client that takes nothing", late, 2 * besideGrace, besideGrace + stuckGrace},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan struct{}, 2)
				ended <- struct{}{}
				last := time.AfterFunc(tt.ends, func() { ended <- struct{}{} })
				defer last.Stop()
				start := time.Now()
				endBeside(t.Context(), tt.shutdown, ended, 2)
				if took := time.Since(start); took != tt.want {
					t.Errorf("took %v, want %v", took, tt.want)
				}
			})
		})
	}
}
