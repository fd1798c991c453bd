package mcp

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

const (
	// MaxSchemaDepth bounds how deep a schema given by the program may be nested.
	MaxSchemaDepth = 64
	// MaxSchemaSize bounds how many bytes its text may have.
	MaxSchemaSize = 256 << 10
	// MaxSubschemas bounds how many schemas it may consist of.
	MaxSubschemas = 2000

	maxPattern = 10_000  // instructions of a compiled pattern
	maxSteps   = 100_000 // applications of a schema to a value, beside one for each byte of the value
)

// dialects are the values of $schema that are understood: 2020-12, which is also what a schema without one is, and draft-07.
var dialects = []string{
	"", "https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-07/schema",
	"https://json-schema.org/draft-07/schema#", "https://json-schema.org/draft-07/schema",
}

// place says to what a subschema is applied: to the value its parent is applied to, to parts of that, or to nothing until something refers to it.
type place uint8

const (
	sameValue     place = iota
	propertyValue       // the member of that name
	otherMembers        // those that are no properties
	anyMember
	memberName
	oneItem // at the index
	anyItem
	nowhere
)

// subschema is a schema inside another.
type subschema struct {
	*jsonschema.Schema
	where string // the end of its JSON pointer
	name  string // of the member it stands in, where that is not a keyword
	index int
	place place
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// subschemas returns the schemas right below s, in an order that is always the same.
func subschemas(s *jsonschema.Schema) (out []subschema) {
	one := func(part *jsonschema.Schema, where string, p place) {
		if part != nil {
			out = append(out, subschema{Schema: part, where: where, place: p})
		}
	}
	list := func(parts []*jsonschema.Schema, where string, p place) {
		for i, part := range parts {
			if part != nil {
				out = append(out, subschema{Schema: part, where: where + "/" + strconv.Itoa(i), index: i, place: p})
			}
		}
	}
	named := func(parts map[string]*jsonschema.Schema, where string, p place) {
		for _, name := range slices.Sorted(maps.Keys(parts)) {
			if parts[name] != nil {
				out = append(out, subschema{Schema: parts[name], where: where + "/" + pointerEscapes.Replace(name), name: name, place: p})
			}
		}
	}
	named(s.Defs, "$defs", nowhere)
	named(s.Definitions, "definitions", nowhere)
	one(s.ContentSchema, "contentSchema", nowhere)
	list(s.AllOf, "allOf", sameValue)
	list(s.AnyOf, "anyOf", sameValue)
	list(s.OneOf, "oneOf", sameValue)
	one(s.Not, "not", sameValue)
	one(s.If, "if", sameValue)
	one(s.Then, "then", sameValue)
	one(s.Else, "else", sameValue)
	named(s.DependentSchemas, "dependentSchemas", sameValue)
	named(s.DependencySchemas, "dependencies", sameValue)
	named(s.Properties, "properties", propertyValue)
	named(s.PatternProperties, "patternProperties", anyMember)
	one(s.AdditionalProperties, "additionalProperties", otherMembers)
	one(s.PropertyNames, "propertyNames", memberName)
	one(s.UnevaluatedProperties, "unevaluatedProperties", otherMembers)
	list(s.PrefixItems, "prefixItems", oneItem)
	one(s.Items, "items", anyItem)
	list(s.ItemsArray, "items", oneItem)
	one(s.AdditionalItems, "additionalItems", anyItem)
	one(s.Contains, "contains", anyItem)
	if s.Items == nil {
		one(s.UnevaluatedItems, "unevaluatedItems", anyItem)
	}
	return out
}

// anatomy is what a schema consists of.
type anatomy struct {
	parts    map[*jsonschema.Schema][]subschema          // of those that have some
	refs     map[*jsonschema.Schema][]*jsonschema.Schema // where references lead
	patterns map[*jsonschema.Schema]int                  // how large they are
}

// survey holds a schema against what is allowed, and finds out what it consists of.
func survey(root *jsonschema.Schema) (*anatomy, error) {
	if !slices.Contains(dialects, root.Schema) {
		return nil, fmt.Errorf("schema: $schema %q: dialect not supported: 2020-12 and draft-07 are", clip(root.Schema))
	}
	type at struct {
		s     *jsonschema.Schema
		base  *url.URL // of the resource it is in
		where string   // in that
	}
	a := &anatomy{
		parts: make(map[*jsonschema.Schema][]subschema), refs: make(map[*jsonschema.Schema][]*jsonschema.Schema), patterns: make(map[*jsonschema.Schema]int),
	}
	var all []at
	known := make(map[string]*jsonschema.Schema) // by absolute URI
	anchors := make(map[string][]*jsonschema.Schema)
	var walk func(s *jsonschema.Schema, base *url.URL, where string) error
	walk = func(s *jsonschema.Schema, base *url.URL, where string) error {
		if len(all) >= MaxSubschemas {
			return fmt.Errorf("the schema has more than %d subschemas", MaxSubschemas)
		}
		if err := a.checkPatterns(s); err != nil {
			return err
		}
		if s.ID != "" {
			id, err := base.Parse(s.ID)
			if err != nil {
				return fmt.Errorf("schema: $id %q is no URI", clip(s.ID))
			}
			base, where = id, ""
			known[id.String()] = s
		}
		all = append(all, at{s, base, where})
		known[base.String()+"#"+where] = s
		for _, anchor := range []string{s.Anchor, s.DynamicAnchor} {
			if anchor != "" {
				known[base.String()+"#"+anchor] = s
			}
		}
		if s.DynamicAnchor != "" {
			anchors[s.DynamicAnchor] = append(anchors[s.DynamicAnchor], s)
		}
		parts := subschemas(s)
		if len(parts) > 0 {
			a.parts[s] = parts
		}
		for _, part := range parts {
			if err := walk(part.Schema, base, where+"/"+part.where); err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk(root, new(url.URL), ""); err != nil {
		return nil, err
	}
	if known[""] == nil {
		known[""] = root
	}
	for _, x := range all {
		for _, ref := range []string{x.s.Ref, x.s.DynamicRef} {
			if ref == "" {
				continue
			}
			target := lookupRef(known, x.base, ref)
			if target == nil {
				return nil, fmt.Errorf("schema: the reference %q leads outside of the schema, or nowhere: nothing is fetched", clip(ref))
			}
			a.refs[x.s] = append(a.refs[x.s], target)
		}
		if _, name, ok := strings.Cut(x.s.DynamicRef, "#"); ok {
			a.refs[x.s] = append(a.refs[x.s], anchors[name]...)
		}
	}
	if len(a.refs) > 0 && a.circular(all[0].s) {
		return nil, errors.New("schema: a reference leads back to itself without a step into the value")
	}
	return a, nil
}

func lookupRef(known map[string]*jsonschema.Schema, base *url.URL, ref string) *jsonschema.Schema {
	u, err := base.Parse(ref)
	if err != nil {
		return nil
	}
	fragment := u.Fragment // without percent-encoding
	u.Fragment, u.RawFragment = "", ""
	if fragment == "" {
		return known[u.String()]
	}
	return known[u.String()+"#"+fragment]
}

// checkPatterns: patterns are those of RE2, whose time is linear, and of a size that is reasonable.
func (a *anatomy) checkPatterns(s *jsonschema.Schema) error {
	for _, p := range append(slices.Sorted(maps.Keys(s.PatternProperties)), s.Pattern) {
		if p == "" {
			continue
		}
		n, err := patternSize(p)
		a.patterns[s] += n
		if err != nil {
			return fmt.Errorf("schema: pattern %q: %w", clip(p), err)
		} else if n > maxPattern {
			return fmt.Errorf("schema: pattern %q is too large", clip(p))
		}
	}
	return nil
}

func patternSize(pattern string) (int, error) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, err
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return 0, err
	}
	return len(prog.Inst), nil
}

// circular reports whether some schema comes to be applied to a value in order to apply it to that value.
func (a *anatomy) circular(root *jsonschema.Schema) bool {
	const open, done = 1, 2
	state := make(map[*jsonschema.Schema]uint8)
	var visit func(s *jsonschema.Schema) bool
	visit = func(s *jsonschema.Schema) bool {
		switch state[s] {
		case open:
			return true
		case done:
			return false
		}
		state[s] = open
		for _, target := range a.refs[s] {
			if visit(target) {
				return true
			}
		}
		for _, part := range a.parts[s] {
			if part.place == sameValue && visit(part.Schema) {
				return true
			}
		}
		state[s] = done
		return false
	}
	if visit(root) {
		return true
	}
	for _, parts := range a.parts {
		for _, part := range parts {
			if visit(part.Schema) {
				return true
			}
		}
	}
	return false
}
