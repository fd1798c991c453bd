package framework

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tandem-rpc/tandem/logging"
)

// WriteTo writes the figures as a table for people, one line a method, as [Metrics.Snapshot] orders them. Names that a peer made up are cut,
// and quoted where they hold anything but printable ASCII. It implements [io.WriterTo].
func (m *Metrics) WriteTo(w io.Writer) (int64, error) {
	n := &countingWriter{w: w}
	t := tabwriter.NewWriter(n, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "method\tcount\terrors\tcancelled\tin\tout\twait p50\tp90\tp99\trun p50\tp90\tp99\t")
	for _, s := range m.Snapshot() {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", showMethod(s.Method), s.Count, s.Errors, s.Cancelled, showBytes(s.In), showBytes(s.Out),
			showTime(s.Queued.P50), showTime(s.Queued.P90), showTime(s.Queued.P99), showTime(s.Run.P50), showTime(s.Run.P90), showTime(s.Run.P99))
	}
	err := t.Flush()
	return n.n, err
}

// maxShown is how much of a method name is worth a column.
const maxShown = 48

func showMethod(name string) string {
	name = new(logging.Redactor).Text(name) // a peer may name a method like anything
	plain := strings.IndexFunc(name, func(r rune) bool { return r < '!' || r > '~' }) < 0
	if len(name) > maxShown {
		name = name[:maxShown]
		if plain {
			return name + "..."
		}
	}
	if plain {
		return name
	}
	return strconv.QuoteToASCII(name)
}

func showBytes(n int64) string {
	switch {
	case n < 10<<10:
		return strconv.FormatInt(n, 10) + " B"
	case n < 10<<20:
		return strconv.FormatInt(n>>10, 10) + " KiB"
	}
	return strconv.FormatInt(n>>20, 10) + " MiB"
}

// showTime keeps three digits: nobody compares nanoseconds of an hour.
func showTime(d time.Duration) string {
	for unit := time.Duration(10); unit <= time.Minute; unit *= 10 {
		if d < 100*unit {
			return d.Round(unit / 10).String()
		}
	}
	return d.Round(time.Second).String()
}

type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
