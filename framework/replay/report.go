package replay

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Report is what a replay has found.
type Report struct {
	Sent        int // messages that were sent to the server
	Compared    int // messages of the server that were compared with recorded ones
	Skipped     int // recorded messages that cannot be sent again, or compared
	Beyond      int // messages of the server that came when the recording was over already: they are no differences
	Differences []Difference
	More        int // differences beyond those that are listed
}

// Same reports whether the server did what it did when it was recorded.
func (r *Report) Same() bool { return len(r.Differences) == 0 }

// What a [Difference] is about.
const (
	Changed    = "changed"    // the server sent something else
	Missing    = "missing"    // the server did not send it
	Unexpected = "unexpected" // the server had not sent it
	Ended      = "ended"      // the server went away
)

// Difference is one thing that is not as it was recorded. Values are shortened, and have no secrets.
type Difference struct {
	What   string // Changed, Missing, Unexpected or Ended
	Step   int    // which message of the recorded session it is about, from 1; 0 if none
	Method string // of the message, or of the request that it answers
	ID     string // JSON text of the request's id, if it is about one
	Path   string // of the first member that differs, as "result.items.0.label"
	Want   string // what was recorded
	Got    string // what came
}

// String describes the difference on one line.
func (d Difference) String() string {
	var b strings.Builder
	if d.Step > 0 {
		fmt.Fprintf(&b, "message %d: ", d.Step)
	}
	b.WriteString(d.What)
	if d.Method != "" {
		b.WriteString(" " + strconv.Quote(d.Method))
	}
	if d.ID != "" {
		b.WriteString(" id " + d.ID)
	}
	if d.Path != "" {
		b.WriteString(" at " + strconv.Quote(d.Path))
	}
	if d.Want != "" {
		b.WriteString(": want " + oneLine(d.Want))
	}
	if d.Got != "" {
		b.WriteString(": got " + oneLine(d.Got))
	}
	return b.String()
}

// oneLine keeps a terminal from obeying the text of a peer.
func oneLine(s string) string {
	q := strconv.Quote(s)
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}

// WriteTo writes the report for people to read: one line for each difference and one that sums up.
func (r *Report) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	for _, d := range r.Differences {
		b.WriteString(d.String() + "\n")
	}
	if r.More > 0 {
		fmt.Fprintf(&b, "and %d more\n", r.More)
	}
	fmt.Fprintf(&b, "%d messages sent, %d compared, %d skipped", r.Sent, r.Compared, r.Skipped)
	if r.Beyond > 0 {
		fmt.Fprintf(&b, ", %d beyond the end", r.Beyond)
	}
	b.WriteString(": ")
	if r.Same() {
		b.WriteString("no difference\n")
	} else {
		fmt.Fprintf(&b, "%d differences\n", len(r.Differences)+r.More)
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

// maxDifferences is how many are listed.
const maxDifferences = 1000

func (r *Report) add(d Difference) {
	if len(r.Differences) == maxDifferences {
		r.More++
		return
	}
	r.Differences = append(r.Differences, d)
}
