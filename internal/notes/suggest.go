package notes

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// A Suggestion mends a broken link.
type Suggestion struct {
	Edit  Edit   // within the note that holds the link, or its definition
	Label string // the name it takes instead
}

// maxSuggest bounds the runes of names that are compared for likeness.
const maxSuggest = 64

// Suggest returns what a broken link may have been meant to say, the likeliest
// first, at most limit of it; limit <= 0 means 5. For a missing heading these are
// headings of the note, for a missing note other notes.
func (w *Workspace) Suggest(n *Note, l Link, limit int) []Suggestion {
	if limit <= 0 {
		limit = 5
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	t := w.resolve(n, l)
	if t.Err == nil {
		return nil
	}
	type scored struct {
		distance int
		s        Suggestion
	}
	var list []scored
	add := func(want, have string, span Span, text string) {
		if d, ok := likeness(want, have); ok {
			list = append(list, scored{d, Suggestion{Edit{span, text}, text}})
		}
	}
	raw := n.Slice(l.DestSpan)
	if t.Note != nil {
		span, ok := fragmentSpan(n, l)
		if !ok {
			return nil
		}
		want := Slugify(t.Fragment)
		for _, h := range t.Note.Headings {
			add(want, h.Slug, span, h.Slug)
		}
	} else if t.Path != "" {
		file, _, _ := strings.Cut(raw, "#")
		file = strings.TrimRight(file, " ")
		span := Span{l.DestSpan.Start, l.DestSpan.Start + len(file)}
		stem, _ := cutNoteExt(path.Base(t.Path))
		want := nameKey(stem)
		for _, e := range w.entries {
			have := e.note().Path
			stem, _ := cutNoteExt(path.Base(have))
			text := EscapePath(RelPath(n.Path, have))
			if l.Kind == Wiki {
				text = path.Base(stem)
				if strings.ContainsAny(text, "[]|#") || len(w.names[nameKey(text)]) > 1 {
					continue
				}
			}
			add(want, nameKey(stem), span, text)
		}
	}
	slices.SortFunc(list, func(a, b scored) int {
		return cmp.Or(a.distance-b.distance, len(a.s.Label)-len(b.s.Label), strings.Compare(a.s.Label, b.s.Label))
	})
	var out []Suggestion
	for _, s := range list[:min(limit, len(list))] {
		out = append(out, s.s)
	}
	return out
}

// likeness returns how far two names are from each other, and whether that is
// near enough for one to be meant as the other.
func likeness(want, have string) (int, bool) {
	a, b := []rune(want), []rune(have)
	if len(a) == 0 || len(b) == 0 || len(a) > maxSuggest || len(b) > maxSuggest {
		return 0, false
	}
	if strings.HasPrefix(have, want) || strings.HasPrefix(want, have) {
		return min(2, abs(len(a)-len(b))), len(a) > 2 && len(b) > 2 || want == have
	}
	limit := max(len(a), len(b))/3 + 1
	if abs(len(a)-len(b)) > limit {
		return 0, false
	}
	d := editDistance(a, b)
	return d, d <= limit && d < max(len(a), len(b))
}

// editDistance is Levenshtein's.
func editDistance(a, b []rune) int {
	var row [maxSuggest + 1]int
	for j := range len(b) + 1 {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func abs(n int) int { return max(n, -n) }

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
