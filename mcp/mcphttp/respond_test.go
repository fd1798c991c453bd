package mcphttp

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// An answer says how long it is and when it was made, whoever has set that.
func TestLengthAndDate(t *testing.T) {
	c := serve(t, nil).connect("2025-11-25")
	for _, n := range []int{1, wholeAnswer - 200, wholeAnswer, 10 * wholeAnswer, longAnswer} {
		before := time.Now().Truncate(time.Second)
		a := c.post(call("1", "echo", `{"name":"`+strings.Repeat("x", n)+`"}`))
		made, err := http.ParseTime(a.header.Get("Date"))
		if a.status != 200 || a.header.Get("Content-Length") != strconv.Itoa(len(a.body)) || len(a.header["Date"]) != 1 || err != nil || made.Before(before) || made.After(time.Now()) {
			t.Errorf("a text of %d bytes: status %d, length %s of %d, date %q", n, a.status, a.header.Get("Content-Length"), len(a.body), a.header["Date"])
		}
	}
}

func TestDates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d dates
		for _, pause := range []time.Duration{0, time.Millisecond, time.Second - time.Millisecond, time.Second, 100 * time.Hour} {
			time.Sleep(pause)
			now := time.Now()
			if got, want := d.value(now), now.UTC().Format(http.TimeFormat); len(got) != 1 || got[0] != want {
				t.Errorf("%q at %s", got, want)
			}
		}
	})
}
