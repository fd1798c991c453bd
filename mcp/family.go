package mcp

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/yosida95/uritemplate/v3"
)

// Variables are what a URI holds in the places of a template's variables, decoded. A value may be anything that can be written in a URI: it must not be
// taken for a file name unchecked. Variables the URI does not have are absent.
type Variables map[string][]string

// Text returns the value of a variable, the first where it is a list, "" if there is none.
func (v Variables) Text(name string) string {
	if list := v[name]; len(list) > 0 {
		return list[0]
	}
	return ""
}

const (
	maxMatched  = 2 << 10 // bytes of a URI that is held against templates
	maxTemplate = 4 << 10
)

// family is a template, and what reads the resources it makes.
type family struct {
	template Template
	matcher  *uritemplate.Template
	read     func(ctx context.Context, uri string, v Variables) (any, error)
	literal  int // bytes of it that are no variables
	prefix   string
}

func newFamily(t Template, read func(ctx context.Context, uri string, v Variables) (any, error)) (*family, error) {
	m, err := uritemplate.New(t.URITemplate)
	switch {
	case err != nil || len(t.URITemplate) > maxTemplate:
		return nil, fmt.Errorf("mcp: template %q is no URI template (RFC 6570)", clip(t.URITemplate))
	case t.Name == "":
		return nil, fmt.Errorf("mcp: template %q without a name", clip(t.URITemplate))
	case read == nil:
		return nil, fmt.Errorf("mcp: template %q without a function", clip(t.URITemplate))
	}
	if _, err := checkShown(fmt.Sprintf("template %q", clip(t.URITemplate)), t.Icons, t.Annotations, t.Meta); err != nil {
		return nil, err
	}
	for name := range t.Complete {
		if !hasVariable(m, name) {
			return nil, fmt.Errorf("mcp: template %q has no variable %q to complete", clip(t.URITemplate), clip(name))
		}
	}
	f := &family{template: t, matcher: m, read: read}
	inside := false
	for i, c := range []byte(t.URITemplate) {
		switch {
		case c == '{':
			if inside = true; f.prefix == "" {
				f.prefix = t.URITemplate[:i]
			}
		case c == '}':
			inside = false
		case !inside:
			f.literal++
		}
	}
	if f.literal == len(t.URITemplate) {
		f.prefix = t.URITemplate
	}
	return f, nil
}

func hasVariable(m *uritemplate.Template, name string) bool {
	for _, v := range m.Varnames() {
		if v == name {
			return true
		}
	}
	return false
}

// compare orders by what is tried first: more fixed text.
func (f *family) compare(g *family) int {
	return cmp.Or(cmp.Compare(g.literal, f.literal), strings.Compare(f.template.URITemplate, g.template.URITemplate))
}

// match returns the variables of a URI that the template makes. What quickly decides goes first: finding variables takes a while.
func (f *family) match(uri string) (Variables, bool) {
	v, ok := f.matchWritten(uri)
	if !ok {
		if again := asURI(uri); again != uri {
			return f.matchWritten(again)
		}
	}
	return v, ok
}

// asURI encodes what cannot stand in a URI, and which clients put there that fill in templates by replacing text: letters beyond ASCII and blanks.
func asURI(s string) string {
	if len(s) > maxMatched || strings.IndexFunc(s, func(r rune) bool { return r > '~' || r == ' ' }) < 0 {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c > '~' || c == ' ' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func (f *family) matchWritten(uri string) (Variables, bool) {
	if len(uri) > maxMatched || !strings.HasPrefix(uri, f.prefix) || !f.matcher.Regexp().MatchString(uri) {
		return nil, false
	}
	found := f.matcher.Match(uri)
	if found == nil {
		return nil, false
	}
	out := make(Variables, len(found))
	for name, value := range found {
		name, _, _ = strings.Cut(name, ":") // {name:3}
		out[name] = value.V
	}
	return out, true
}
