package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

const (
	maxComplaints   = 10
	maxAlternatives = 3 // of an anyOf that are explained
)

// critic says where and why a value does not match a schema, for the model that has to do better. It does not judge: that was done by jsonschema-go,
// whose own words are not used because they quote the value. Names in the path are quoted where they are not plain. It goes where jsonschema-go has gone
// before, so it ends.
type critic struct {
	*search
	out []string
}

// search is what critics of one value share.
type search struct {
	anatomy  *anatomy
	root     string // what the whole value is called
	left     int    // steps: alternatives are looked at more than once
	patterns map[string]*regexp.Regexp
}

func (s *search) matches(pattern, text string) bool {
	re, ok := s.patterns[pattern]
	if !ok {
		re, _ = regexp.Compile(pattern)
		s.patterns[pattern] = re
	}
	return re != nil && re.MatchString(text)
}

// explain returns up to ten complaints in one line, "" if it finds none.
func (a *anatomy) explain(s *jsonschema.Schema, v any, root string) string {
	c := critic{search: &search{anatomy: a, root: root, left: maxSteps, patterns: make(map[string]*regexp.Regexp)}}
	c.look(s, v, "")
	return strings.Join(c.out, "; ")
}

func (c *critic) full() bool { return len(c.out) >= maxComplaints }

func (c *critic) complain(path, format string, args ...any) {
	if path == "" {
		path = c.root
	}
	line := path + ": " + fmt.Sprintf(format, args...)
	if !c.full() && !slices.Contains(c.out, line) {
		c.out = append(c.out, line)
	}
}

// accepts reports whether nothing is found wrong.
func (c *critic) accepts(s *jsonschema.Schema, v any, path string) bool {
	return len(c.of(s, v, path)) == 0
}

// of returns what is wrong with v.
func (c *critic) of(s *jsonschema.Schema, v any, path string) []string {
	inner := critic{search: c.search}
	inner.look(s, v, path)
	return inner.out
}

func (c *critic) look(s *jsonschema.Schema, v any, path string) {
	if c.left--; s == nil || c.full() || c.left < 0 {
		return
	}
	if s.Ref != "" && len(c.anatomy.refs[s]) > 0 {
		c.look(c.anatomy.refs[s][0], v, path)
	}
	if types := append(append([]string(nil), s.Types...), s.Type); !hasType(types, v) {
		c.complain(path, "want %s, got %s", orList(types), typeName(v))
		return
	}
	c.left -= len(s.Enum) / enumStep
	if s.Enum != nil && !slices.ContainsFunc(s.Enum, func(e any) bool { return sameValues(e, v) }) {
		c.complain(path, "want one of %s", clip(quoteAll(s.Enum)))
		return
	}
	if s.Const != nil && !sameValues(*s.Const, v) {
		c.complain(path, "want %s", clip(quoteAll([]any{*s.Const})))
		return
	}
	switch v := v.(type) {
	case float64:
		c.number(s, v, path)
	case string:
		c.text(s, v, path)
	case []any:
		c.items(s, v, path)
	case map[string]any:
		c.members(s, v, path)
	}
	c.logic(s, v, path)
}

func (c *critic) logic(s *jsonschema.Schema, v any, path string) {
	for _, part := range s.AllOf {
		c.look(part, v, path)
	}
	if s.AnyOf != nil {
		c.alternatives(s.AnyOf, v, path)
	}
	if s.OneOf != nil {
		fit := 0
		for _, part := range s.OneOf {
			if c.accepts(part, v, path) {
				fit++
			}
		}
		if fit > 1 {
			c.complain(path, "fits %d of the alternatives, and must fit one", fit)
		} else if fit == 0 {
			c.alternatives(s.OneOf, v, path)
		}
	}
	if s.Not != nil && c.accepts(s.Not, v, path) {
		if isFalse(s) {
			c.complain(path, "is not allowed")
		} else {
			c.complain(path, "is what the schema excludes")
		}
	}
	if s.If != nil {
		if c.accepts(s.If, v, path) {
			c.look(s.Then, v, path)
		} else {
			c.look(s.Else, v, path)
		}
	}
}

// alternatives complains if v is none of them: with what the only one wants that v is near to, or with what the first few want.
func (c *critic) alternatives(parts []*jsonschema.Schema, v any, path string) {
	var why [][]string
	var near [][]string
	for _, part := range parts {
		found := c.of(part, v, path)
		if len(found) == 0 {
			return
		}
		why = append(why, found)
		if hasType(append(append([]string(nil), part.Types...), part.Type), v) {
			near = append(near, found)
		}
	}
	if len(near) == 1 {
		for _, line := range near[0] {
			if !c.full() {
				c.out = append(c.out, line)
			}
		}
		return
	}
	first := make([]string, 0, maxAlternatives)
	for _, found := range why[:min(len(why), maxAlternatives)] {
		first = append(first, found[0])
	}
	c.complain(path, "fits none of the %d alternatives (%s)", len(parts), strings.Join(first, ", or "))
}

func (c *critic) number(s *jsonschema.Schema, v float64, path string) {
	bound := func(word string, limit *float64, bad func(float64) bool) {
		if limit != nil && bad(*limit) {
			c.complain(path, "want a number %s %v", word, *limit)
		}
	}
	bound("of at least", s.Minimum, func(l float64) bool { return v < l })
	bound("of at most", s.Maximum, func(l float64) bool { return v > l })
	bound("above", s.ExclusiveMinimum, func(l float64) bool { return v <= l })
	bound("below", s.ExclusiveMaximum, func(l float64) bool { return v >= l })
	bound("that is a multiple of", s.MultipleOf, func(l float64) bool { _, rest := math.Modf(v / l); return rest != 0 })
}

func (c *critic) text(s *jsonschema.Schema, v, path string) {
	n := utf8.RuneCountInString(v)
	if s.MinLength != nil && n < *s.MinLength {
		c.complain(path, "want at least %d characters, got %d", *s.MinLength, n)
	}
	if s.MaxLength != nil && n > *s.MaxLength {
		c.complain(path, "want at most %d characters, got %d", *s.MaxLength, n)
	}
	if s.Pattern != "" && !c.matches(s.Pattern, v) {
		c.complain(path, "want text that matches %q", clip(s.Pattern))
	}
}

func (c *critic) items(s *jsonschema.Schema, v []any, path string) {
	if s.MinItems != nil && len(v) < *s.MinItems {
		c.complain(path, "want at least %d items, got %d", *s.MinItems, len(v))
	}
	if s.MaxItems != nil && len(v) > *s.MaxItems {
		c.complain(path, "want at most %d items, got %d", *s.MaxItems, len(v))
	}
	first, rest := s.PrefixItems, s.Items
	if s.ItemsArray != nil {
		first, rest = s.ItemsArray, s.AdditionalItems
	}
	for i, item := range v {
		if c.full() {
			return
		}
		at := path + "/" + strconv.Itoa(i)
		if i < len(first) {
			c.look(first[i], item, at)
		} else {
			c.look(rest, item, at)
		}
	}
	if s.UniqueItems && !unique(v) {
		c.complain(path, "want items that are all different")
	}
	if s.Contains != nil {
		n := 0
		for _, item := range v {
			if c.accepts(s.Contains, item, path) {
				n++
			}
		}
		least := 1
		if s.MinContains != nil {
			least = *s.MinContains
		}
		if n < least {
			c.complain(path, "want at least %d of the items that the schema asks for, got %d", least, n)
		}
		if s.MaxContains != nil && n > *s.MaxContains {
			c.complain(path, "want at most %d of the items that the schema speaks of, got %d", *s.MaxContains, n)
		}
	}
}

func unique(items []any) bool {
	seen := make(map[string]bool, len(items))
	for _, item := range items {
		b, err := json.Marshal(item)
		if err != nil || seen[string(b)] {
			return false
		}
		seen[string(b)] = true
	}
	return true
}

func (c *critic) members(s *jsonschema.Schema, v map[string]any, path string) {
	require := func(names []string, because string) {
		for _, name := range names {
			if _, ok := v[name]; !ok {
				c.complain(path, "missing the required member %q%s", clip(name), because)
			}
		}
	}
	require(s.Required, "")
	for _, dependent := range []map[string][]string{s.DependentRequired, s.DependencyStrings} {
		for _, name := range slices.Sorted(maps.Keys(dependent)) {
			if _, ok := v[name]; ok {
				require(dependent[name], fmt.Sprintf(", which goes with %q", clip(name)))
			}
		}
	}
	if s.MinProperties != nil && len(v) < *s.MinProperties {
		c.complain(path, "want at least %d members, got %d", *s.MinProperties, len(v))
	}
	if s.MaxProperties != nil && len(v) > *s.MaxProperties {
		c.complain(path, "want at most %d members, got %d", *s.MaxProperties, len(v))
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if c.full() {
			return
		}
		c.member(s, name, v[name], path)
	}
	for _, dependent := range []map[string]*jsonschema.Schema{s.DependentSchemas, s.DependencySchemas} {
		for _, name := range slices.Sorted(maps.Keys(dependent)) {
			if _, ok := v[name]; ok {
				c.look(dependent[name], v, path)
			}
		}
	}
}

func (c *critic) member(s *jsonschema.Schema, name string, v any, path string) {
	at, known := path+"/"+pathName(name), false
	if s.PropertyNames != nil && !c.accepts(s.PropertyNames, name, path) {
		c.complain(path, "member %q has a name that is not allowed", clip(name))
		return
	}
	if p := s.Properties[name]; p != nil {
		known = true
		c.look(p, v, at)
	}
	for pattern, p := range s.PatternProperties {
		if c.matches(pattern, name) {
			known = true
			c.look(p, v, at)
		}
	}
	if known || s.AdditionalProperties == nil {
		return
	}
	if isFalse(s.AdditionalProperties) {
		c.complain(path, "unknown member %q", clip(name))
		return
	}
	c.look(s.AdditionalProperties, v, at)
}

func pathName(name string) string {
	for _, r := range name {
		if r <= ' ' || r == '/' || r == '"' || r == ':' || r == ';' || r == utf8.RuneError || !strconv.IsPrint(r) {
			return strconv.Quote(clip(name))
		}
	}
	return clip(name)
}

func typeName(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

func hasType(types []string, v any) bool {
	got, any := typeName(v), true
	for _, t := range types {
		if t == "" {
			continue
		}
		any = false
		if t == got || t == "number" && got == "integer" {
			return true
		}
	}
	return any
}

// sameValues compares a value of a schema with one that was decoded. It looks at no more of that than it must: there may be thousands of values to compare
// it with.
func sameValues(want, got any) bool {
	switch w := want.(type) {
	case nil:
		return got == nil
	case bool:
		g, ok := got.(bool)
		return ok && w == g
	case string:
		g, ok := got.(string)
		return ok && w == g
	case float64:
		g, ok := got.(float64)
		return ok && w == g
	case []any:
		g, ok := got.([]any)
		return ok && slices.EqualFunc(w, g, sameValues)
	case map[string]any:
		g, ok := got.(map[string]any)
		return ok && maps.EqualFunc(w, g, sameValues)
	}
	// A program's own type.
	var plain any
	text, err := json.Marshal(want)
	if err != nil || json.Unmarshal(text, &plain) != nil {
		return false
	}
	return sameValues(plain, got)
}

func orList(types []string) string {
	var out []string
	for _, t := range types {
		if t != "" && t != "null" {
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		return "null"
	}
	return strings.Join(out, " or ")
}

func quoteAll(values []any) string {
	out := make([]string, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case string:
			out[i] = strconv.Quote(v)
		case nil:
			out[i] = "null"
		case bool, float64, int:
			out[i] = fmt.Sprint(v)
		default:
			b, _ := json.Marshal(v)
			out[i] = string(b)
		}
	}
	return strings.Join(out, ", ")
}
