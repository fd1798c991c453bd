package mcp

import (
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

func TestMemoryClaimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &MemoryClaimer{Max: 3}
		claim := func(id string, life time.Duration, want bool, wantErr error) {
			t.Helper()
			if first, err := m.Claim(t.Context(), id, time.Now().Add(life)); first != want || !errors.Is(err, wantErr) {
				t.Errorf("claim of %s: %v, %v", id, first, err)
			}
		}
		claim("long", time.Hour, true, nil)
		claim("short", time.Minute, true, nil)
		claim("short", time.Hour, false, nil)
		claim("other", 2*time.Hour, true, nil)
		claim("too many", time.Hour, false, errClaims) // rather not at all than twice
		claim("long", time.Hour, false, nil)
		time.Sleep(2 * time.Minute)
		claim("now there is room", time.Hour, true, nil)
		claim("too many", time.Hour, false, errClaims)
		time.Sleep(3 * time.Hour)
		for i := range 3 {
			claim(strconv.Itoa(i), time.Minute, true, nil)
		}
		if len(m.claims) != 3 || len(m.queue) != 3 {
			t.Errorf("%d claims, %d in the queue", len(m.claims), len(m.queue))
		}
	})
}
