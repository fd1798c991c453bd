package logging

// Texts that stand for what was taken out.
const (
	// Redacted replaces a secret.
	Redacted = "[redacted]"

	// Failed replaces a whole message that is not JSON, and so cannot be told
	// apart from its secrets.
	Failed = "[redaction failed]"
)

// MaxNesting is how deep brackets may nest in a message. Deeper ones are
// answered with [Failed].
const MaxNesting = 10_000

// maxNested is how many times JSON inside a string of JSON is followed.
const maxNested = 3

// Redactor takes secrets out of JSON text. Everything that is not a secret
// stays byte for byte: member order, white space, long numbers, escapes.
//
// What counts as a secret is listed in the package documentation. The zero
// Redactor and a nil *Redactor know the built-in names; [NewRedactor] adds to
// them. A Redactor does not change and is safe for concurrent use.
type Redactor struct {
	extra   map[string]bool // normal forms
	longest int             // of extra, in bytes
}

// NewRedactor returns a Redactor that also takes the given names for secret.
// They are compared like the built-in ones: without regard to case, '_' and
// '-'. Built-in names cannot be removed.
func NewRedactor(extra ...string) *Redactor {
	r := &Redactor{extra: make(map[string]bool, len(extra))}
	for _, name := range extra {
		n := normal(name)
		if n == "" {
			continue
		}
		r.extra[n] = true
		r.longest = max(r.longest, len(n))
	}
	return r
}

// Secret reports whether a member, header or parameter of that name holds a
// secret.
func (r *Redactor) Secret(name string) bool {
	return r.secretName([]byte(name), plainText)
}

// Redact returns one JSON message without its secrets, or [Failed] if line is
// not exactly one JSON value in UTF-8 that nests no deeper than [MaxNesting].
// The result is new memory; line is not kept.
func (r *Redactor) Redact(line []byte) []byte {
	out, _ := r.Append(make([]byte, 0, len(line)+16), line)
	return out
}

// Append appends to dst what [Redactor.Redact] returns. It reports false if
// that is [Failed]. Its cost grows linearly with the length of line.
func (r *Redactor) Append(dst, line []byte) ([]byte, bool) {
	p := pass{r: r}
	if !p.line(line) {
		return append(dst, Failed...), false
	}
	return p.append(dst, line), true
}

// Text returns free text, such as an error message, without the secrets that
// are found in string values: user-info and secret parameters of URLs, tokens
// after Bearer and Basic, JSON. There are no member names to go by, so it finds
// less than Redact does in JSON.
func (r *Redactor) Text(s string) string {
	p := pass{r: r}
	p.inspect([]byte(s), -1)
	if len(p.edits) == 0 {
		return s
	}
	return string(p.append(nil, []byte(s)))
}

// edit replaces the bytes lo to hi of a text.
type edit struct {
	lo, hi int
	quotes int // partText, tokenText: part of a string; else a value, in so many nested strings
}

// What takes the place of a part of a string.
const (
	partText  = -1 - iota // Redacted
	tokenText             // "Bearer [redacted]", whatever the scheme was and however the blank was written
)

// valueText is the replacement of a whole value, by the number of strings it is
// nested in. Each level escapes the one before.
var valueText = [maxNested + 1]string{
	`"[redacted]"`,
	`\"[redacted]\"`,
	`\\\"[redacted]\\\"`,
	`\\\\\\\"[redacted]\\\\\\\"`,
}

// pass is the state of one redaction. Edits are collected first, in the order
// of the text and without overlap, and applied at the end: that way nothing has
// to be encoded again.
type pass struct {
	r       *Redactor
	edits   []edit
	stack   []byte                // open brackets, over all nested texts
	scratch [maxNested + 1][]byte // decoded strings, one for each nested text
}

func (p *pass) add(lo, hi int) {
	if lo < hi {
		p.edits = append(p.edits, edit{lo, hi, partText})
	}
}

// addToken replaces the token from lo to hi with its scheme, which begins at scheme. One in quotes keeps what stands before.
func (p *pass) addToken(text []byte, scheme, lo, hi int) {
	if before := text[lo-1]; before == '"' || before == '\'' {
		p.add(lo, hi)
		return
	}
	p.edits = append(p.edits, edit{scheme, hi, tokenText})
}

func (p *pass) append(dst, text []byte) []byte {
	done := 0
	for _, e := range p.edits {
		dst = append(dst, text[done:e.lo]...)
		switch e.quotes {
		case partText:
			dst = append(dst, Redacted...)
		case tokenText:
			dst = append(append(dst, "Bearer "...), Redacted...)
		default:
			dst = append(dst, valueText[e.quotes]...)
		}
		done = e.hi
	}
	return append(dst, text[done:]...)
}
