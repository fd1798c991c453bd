package notes

import (
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"
)

// IsNote reports whether a file of this name is a note: its name ends in .md
// or .markdown, in any case.
func IsNote(name string) bool {
	_, ok := cutNoteExt(name)
	return ok
}

func cutNoteExt(name string) (string, bool) {
	for _, ext := range [...]string{".md", ".markdown"} {
		if i := len(name) - len(ext); i > 0 && strings.EqualFold(name[i:], ext) {
			return name[:i], name[i-1] != '/'
		}
	}
	return name, false
}

// SlugOf returns the slug of the note at path: the path without ".md".
// Case, blanks and slashes stay, so every path has exactly one slug and
// PathOf turns it back; callers escape it for a URI with url.PathEscape.
// Where dropping ".md" would not be reversible (a.markdown, a.MD, a.md.md), the
// slug is the path.
func SlugOf(path string) string {
	if stem, ok := strings.CutSuffix(path, ".md"); ok && IsNote(path) && !IsNote(stem) {
		return stem
	}
	return path
}

// PathOf returns the path of the note with this slug.
func PathOf(slug string) string {
	if IsNote(slug) {
		return slug
	}
	return slug + ".md"
}

// checkPath refuses a path that is not in clean, slash-separated, relative form
// inside the root, or that could mean something else on some system.
func checkPath(name string) error {
	switch {
	case !utf8.ValidString(name):
		return fmt.Errorf("%w: %q is not valid UTF-8", ErrPath, name)
	case name == "." || !fs.ValidPath(name):
		return fmt.Errorf("%w: %q is not a clean path inside the workspace", ErrPath, name)
	case strings.ContainsAny(name, "\\\x00"):
		return fmt.Errorf("%w: %q has a backslash or NUL", ErrPath, name)
	}
	return nil
}

// checkNotePath is checkPath for a path that must name a note.
func checkNotePath(name string) error {
	if err := checkPath(name); err != nil {
		return err
	}
	if !IsNote(name) {
		return fmt.Errorf("%w: %q does not end in .md or .markdown", ErrPath, name)
	}
	return nil
}

// external reports whether a destination has a URI scheme or an authority, so
// that it leaves the workspace by design and is never looked up.
func external(dest string) bool {
	if strings.HasPrefix(dest, "//") {
		return true
	}
	for i := range len(dest) {
		switch c := dest[i]; {
		case c == ':':
			// One letter is a Windows drive, not a scheme; such a link is not
			// portable and is left alone all the same.
			return i > 0
		case 'a' <= c|0x20 && c|0x20 <= 'z':
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		default:
			return false
		}
	}
	return false
}

// splitDest splits a destination into its file part and its fragment, both
// percent-decoded. A sequence that is no valid escape stays as written: people
// do write "100%.md".
func splitDest(dest string) (file, fragment string, hasFragment bool) {
	file, fragment, hasFragment = strings.Cut(dest, "#")
	return unescape(file), unescape(fragment), hasFragment
}

func unescape(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	if u, err := url.PathUnescape(s); err == nil {
		if utf8.ValidString(u) {
			return u
		}
		return s
	}
	// Some escape is malformed: decode the others.
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if u, err := url.PathUnescape(s[i : i+3]); err == nil {
				b.WriteString(u)
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	if u := b.String(); utf8.ValidString(u) {
		return u
	}
	return s
}

// EscapePath percent-encodes a path for use as an inline link's destination,
// so that blanks, '#', '%', parentheses and angle brackets survive. Non-ASCII
// letters stay readable.
func EscapePath(p string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(p) {
		switch c := p[i]; {
		case c <= ' ', c == 0x7f, strings.IndexByte("#%()<>?\\\"*_[]`&", c) >= 0 && c != '_' && c != '*':
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// joinDest gives the path in the workspace that the file part of a destination
// names, seen from the note at from. ok is false when it leaves the root.
func joinDest(from, file string) (p string, ok bool) {
	if strings.HasPrefix(file, "/") {
		file = strings.TrimLeft(file, "/")
		if file == "" {
			return ".", true
		}
		p = path.Clean(file)
	} else {
		p = path.Join(path.Dir(from), file)
	}
	return p, p != ".." && !strings.HasPrefix(p, "../")
}

// RelPath gives the relative path that leads from the note at from to the file
// at to, both relative to the root.
func RelPath(from, to string) string {
	dir := strings.Split(path.Dir(from), "/")
	if dir[0] == "." {
		dir = nil
	}
	target := strings.Split(to, "/")
	i := 0
	for i < len(dir) && i < len(target)-1 && dir[i] == target[i] {
		i++
	}
	return strings.Repeat("../", len(dir)-i) + strings.Join(target[i:], "/")
}
