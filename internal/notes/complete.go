package notes

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CandidateKind tells what a candidate stands for.
type CandidateKind uint8

// The kinds of candidates.
const (
	NoteCandidate CandidateKind = iota
	HeadingCandidate
	FileCandidate
	TagCandidate
)

// A Candidate is one way to go on at a cursor.
type Candidate struct {
	Kind   CandidateKind
	Label  string // what people look for: a title, a heading, a tag
	Detail string // where it is
	Insert string // the text for Completion.Span

	Heading string // with HeadingCandidate the heading's slug
}

// A Completion is what could stand at a cursor.
type Completion struct {
	Span       Span   // what a candidate replaces; the cursor is at its end
	Whole      Span   // Span with what of the name stands behind the cursor
	Close      string // what is missing behind Whole for the link to end: "]]", "]" or ""
	Candidates []Candidate
	More       bool // there were more than the limit
}

// Complete offers what can be written at an offset of a note: notes and files
// within the destination of a link or definition and within [[, headings behind
// '#', tags behind a '#' in the text. The best match comes first; limit <= 0
// means 50. ok is false where nothing can be offered, in code for instance.
func (w *Workspace) Complete(n *Note, offset, limit int) (c Completion, ok bool) {
	if limit <= 0 {
		limit = 50
	}
	if offset < 0 || offset > len(n.Text) || offset < len(n.Text) && !utf8.RuneStart(n.Text[offset]) {
		return c, false
	}
	at := cursorAt(n, offset)
	if at.kind == nowhere {
		return c, false
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	c.Span = Span{at.start, offset}
	c.Whole, c.Close = at.rest(n, offset)
	list := offers{typed: strings.ToLower(n.Text[at.start:offset]), limit: limit}
	switch at.kind {
	case inTag:
		for name, count := range w.tags {
			if count == 1 && name == n.Text[at.start:offset] {
				continue // it is the one being written
			}
			list.add(matchRank(strings.ToLower(name), list.typed), offer{kind: TagCandidate, label: "#" + name, order: -count})
		}
	case inHeading:
		w.headings(&list, n, at)
	case inWiki:
		w.noteNames(&list, n)
	case inDest:
		list.typed = strings.ToLower(unescape(n.Text[at.start:offset]))
		w.filePaths(&list, n)
	}
	for _, o := range list.best() {
		c.Candidates = append(c.Candidates, w.candidate(o, n, at, list.typed))
	}
	c.More = list.more
	return c, true
}

// place is what a cursor stands in.
type place uint8

const (
	nowhere place = iota
	inDest        // of an inline link or a definition
	inWiki
	inHeading
	inTag
)

type cursor struct {
	kind  place
	start int    // where what was typed begins
	file  string // with inHeading: the name before '#'
	wiki  bool
}

// cursorAt finds out what is being written from the line before the cursor: the
// link is not finished yet, so the parser does not know it as one.
func cursorAt(n *Note, offset int) cursor {
	line, _ := n.Position(offset)
	start := n.Line(line).Start
	text := n.Text[max(start, offset-maxDest):offset]
	base := offset - len(text)
	if strings.Count(text, "`")%2 == 1 || inFence(n, start) {
		return cursor{}
	}
	if i := strings.LastIndex(text, "[["); i >= 0 && !strings.ContainsAny(text[i+2:], "]|[") {
		name := text[i+2:]
		if j := strings.LastIndexByte(name, '#'); j >= 0 {
			file, _, _ := strings.Cut(name, "#")
			return cursor{inHeading, base + i + 2 + j + 1, strings.TrimSpace(file), true}
		}
		return cursor{kind: inWiki, start: base + i + 2, wiki: true}
	}
	dest := -1
	if i := strings.LastIndex(text, "]("); i >= 0 && !strings.ContainsAny(text[i+2:], ")") {
		dest = i + 2
	} else if i := strings.Index(text, "]:"); i >= 0 && strings.HasPrefix(strings.TrimLeft(text, " "), "[") {
		dest = i + 2 + len(text[i+2:]) - len(strings.TrimLeft(text[i+2:], " "))
	}
	if dest >= 0 {
		raw := text[dest:]
		angle := strings.HasPrefix(raw, "<")
		if angle {
			dest++
			raw = raw[1:]
		}
		if strings.ContainsAny(raw, "<>") || !angle && strings.ContainsAny(raw, " \t") || external(raw) {
			return cursor{}
		}
		if file, fragment, ok := strings.Cut(raw, "#"); ok {
			return cursor{inHeading, base + len(text) - len(fragment), file, false}
		}
		return cursor{kind: inDest, start: base + dest}
	}
	// A '#' that begins the line is a tag only with a letter behind it: until
	// then it is a heading.
	i := strings.LastIndexByte(text, '#')
	if i < 0 || strings.ContainsAny(text[i:], " \t,.;:()[]") {
		return cursor{}
	}
	begins := base == start && strings.TrimLeft(text[:i], " ") == ""
	if begins && i+1 == len(text) || i == 0 && !begins || !begins && !isBlank(text[i-1]) && text[i-1] != '(' && text[i-1] != ',' {
		return cursor{}
	}
	return cursor{kind: inTag, start: base + i + 1}
}

// rest returns the whole name that a cursor stands in, and what is missing for
// its link to end. What stands behind the cursor belongs to the name only if the
// link does end on this line.
func (c cursor) rest(n *Note, offset int) (whole Span, missing string) {
	whole = Span{c.start, offset}
	line, _ := n.Position(offset)
	after := n.Text[offset:min(max(n.Line(line).End, offset), offset+maxDest)]
	stop := map[place]string{inDest: "()#> \t", inHeading: "()> \t", inWiki: "[]|#"}[c.kind]
	switch {
	case c.kind == inTag:
		for i, r := range after {
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '_' && r != '-' && r != '/' {
				after = after[:i]
				break
			}
		}
		whole.End += len(after)
		return whole, ""
	case c.wiki:
		if c.kind == inHeading {
			stop = "[]|"
		}
		missing = "]]"
	}
	i := strings.IndexAny(after, stop)
	if i < 0 {
		return whole, missing
	}
	ends := after[i] == ')' || after[i] == '>' || after[i] == '#'
	if c.wiki {
		if ends = after[i] != '['; ends {
			missing = ""
		}
		if after[i] == ']' && !strings.HasPrefix(after[i:], "]]") {
			missing = "]"
		}
	}
	if ends {
		whole.End += i
	}
	return whole, missing
}

// inFence reports whether the line at offset stands in fenced code. It looks
// back a bounded number of bytes, to the nearest heading at most.
func inFence(n *Note, offset int) bool {
	from := 0
	if h, ok := n.HeadingAt(offset); ok {
		from = h.Span.End
	}
	from = max(from, offset-64<<10)
	fence := ""
	for at := from; at < offset; {
		line, next := cutLine(n.Text, at)
		trimmed := strings.TrimLeft(n.Slice(line), " ")
		if mark := fenceMark(trimmed); mark != "" && (at > from || from == 0 || n.Text[from-1] == '\n') {
			if fence == "" {
				fence = mark
			} else if strings.HasPrefix(mark, fence) {
				fence = ""
			}
		}
		at = next
	}
	return fence != ""
}

// candidate makes an offer ready to be inserted. Only the offers that are handed
// out come this far.
func (w *Workspace) candidate(o offer, n *Note, at cursor, typed string) Candidate {
	c := Candidate{Kind: o.kind, Label: o.label, Detail: o.path}
	switch {
	case o.kind == TagCandidate:
		c.Insert, c.Detail = o.label[1:], plural(-o.order, "note")
	case o.kind == HeadingCandidate:
		h := o.note.Headings[o.order]
		c.Insert, c.Heading = h.Slug, h.Slug
		// A repeated heading is told apart by its slug alone.
		if at.wiki && !strings.ContainsAny(h.Text, "[]|#\n") && Slugify(h.Text) == h.Slug {
			c.Insert = h.Text
		}
	case at.wiki:
		stem, _ := cutNoteExt(o.path)
		c.Insert = path.Base(stem)
		if len(w.names[nameKey(c.Insert)]) > 1 {
			c.Insert = stem
		}
		if strings.ContainsAny(c.Insert, "[]|#") {
			c.Insert = nameKey(path.Base(stem))
		}
	default:
		rel := RelPath(n.Path, o.path)
		if strings.HasPrefix(typed, "/") {
			rel = "/" + o.path
		} else if strings.HasPrefix(typed, "./") && !strings.HasPrefix(rel, "../") {
			rel = "./" + rel
		}
		c.Insert = EscapePath(rel)
	}
	return c
}

// headings offers the headings of the note that a cursor names.
func (w *Workspace) headings(list *offers, n *Note, at cursor) {
	target := n
	if at.file != "" {
		l := Link{Kind: Inline, Dest: at.file}
		if at.wiki {
			l.Kind = Wiki
		}
		if target = w.resolve(n, l).Note; target == nil {
			return
		}
	}
	for i, h := range target.Headings {
		if h.Text != "" {
			rank := min(matchRank(strings.ToLower(h.Text), list.typed), matchRank(h.Slug, list.typed)+1)
			list.add(rank, offer{kind: HeadingCandidate, label: h.Text, path: target.Path, note: target, order: i})
		}
	}
}

// noteNames offers all notes by file name and title.
func (w *Workspace) noteNames(list *offers, n *Note) {
	dir := directory(n.Path)
	hash := hashOf(dir)
	for i := range w.catalog {
		c := &w.catalog[i]
		rank := 0
		if list.typed != "" {
			if !strings.Contains(c.fold, list.typed) {
				continue
			}
			file, title, _ := strings.Cut(c.fold, "\n")
			rank = min(matchRank(file[strings.LastIndexByte(file, '/')+1:], list.typed), matchRank(title, list.typed)+1)
			if rank == noMatch {
				rank = matchRank(file, list.typed) + 1 // by directory
			}
		}
		list.note(rank, c, n, dir, hash)
	}
}

// filePaths offers all notes and files. What was typed is a part of a path that
// leads from the note, or any part of a path or title.
func (w *Workspace) filePaths(list *offers, n *Note) {
	dir := directory(n.Path)
	hash := hashOf(dir)
	whole, ok := joinDest(strings.ToLower(n.Path), list.typed)
	if strings.HasSuffix(list.typed, "/") || list.typed == "" {
		whole = strings.TrimPrefix(whole+"/", "./")
	}
	// Dots or a slash at the beginning say that a path is meant, literally.
	loose := !strings.HasPrefix(list.typed, ".") && !strings.HasPrefix(list.typed, "/")
	for i := range w.catalog {
		c := &w.catalog[i]
		rank := noMatch
		switch {
		case ok && strings.HasPrefix(c.fold, whole):
			rank = 0
		case loose && list.typed == "":
			rank = 1
		case loose && strings.Contains(c.fold, list.typed):
			file, title, _ := strings.Cut(c.fold, "\n")
			rank = min(matchRank(file, list.typed), matchRank(title, list.typed)) + 1
		}
		list.note(rank, c, n, dir, hash)
	}
	for p := range w.assets {
		fold := strings.ToLower(p)
		o := offer{kind: FileCandidate, label: path.Base(p), path: p, far: directory(p) != dir}
		if ok && strings.HasPrefix(fold, whole) {
			list.add(0, o)
		} else if loose {
			list.add(matchRank(fold, list.typed)+1, o)
		}
	}
}

// directory is path.Dir without its cleaning.
func directory(p string) string { return p[:strings.LastIndexByte(p, '/')+1] }

// An offer is a candidate in the making.
type offer struct {
	kind  CandidateKind
	rank  int    // how well it matches, 0 is best
	order int    // position among headings, minus the use of a tag
	far   bool   // not in the note's directory
	label string // what it is called
	path  string
	note  *Note // that has the heading
}

func (a offer) compare(b offer) int {
	// Step by step: thousands are compared, and few as far as their names.
	switch {
	case a.rank != b.rank:
		return a.rank - b.rank
	case a.order != b.order:
		return a.order - b.order
	case a.far != b.far:
		if a.far {
			return 1
		}
		return -1
	case a.label != b.label:
		return strings.Compare(a.label, b.label)
	}
	return strings.Compare(a.path, b.path)
}

// offers keeps the best of what it is offered, as ranking does for searches.
type offers struct {
	typed string // lower case
	limit int
	list  []offer
	worst offer // of the best, once there were more than enough
	more  bool
}

// wants reports whether something that matches so well may come among the best.
func (o *offers) wants(rank int) bool { return rank < noMatch && !(o.more && rank > o.worst.rank) }

// note offers a note other than n, which is in the directory dir. It looks no
// further than it has to: most of many notes are beaten by what stands in the
// catalog itself.
func (o *offers) note(rank int, c *listed, n *Note, dir string, hash uint32) {
	if !o.wants(rank) {
		return
	}
	far := c.dir != hash
	if o.more && rank == o.worst.rank && o.worst.order == 0 {
		if far && !o.worst.far || far == o.worst.far && c.head > headOf(o.worst.label) {
			return
		}
	}
	if far = far || directory(c.path) != dir; c.path != n.Path {
		o.add(rank, offer{label: c.title, path: c.path, far: far})
	}
}

func (o *offers) add(rank int, x offer) {
	if !o.wants(rank) {
		return
	}
	x.rank = rank
	if o.more && o.worst.compare(x) < 0 {
		return
	}
	if o.list = append(o.list, x); len(o.list) > 2*o.limit {
		o.best()
	}
}

func (o *offers) best() []offer {
	slices.SortFunc(o.list, offer.compare)
	if len(o.list) > o.limit {
		o.list = o.list[:o.limit]
		o.worst, o.more = o.list[o.limit-1], true
	}
	return o.list
}

const noMatch = 8

// matchRank tells how well a name in lower case matches what was typed: at its
// beginning, at the beginning of a word, anywhere, not at all.
func matchRank(name, typed string) int {
	i := strings.Index(name, typed)
	switch {
	case i == 0:
		return 0
	case i < 0:
		return noMatch
	}
	for i > 0 {
		if c := name[i-1]; c < utf8.RuneSelf && asciiTerm[c] == 0 {
			return 2
		}
		j := strings.Index(name[i+1:], typed)
		if j < 0 {
			break
		}
		i += 1 + j
	}
	return 4
}
