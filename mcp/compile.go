package mcp

import (
	"bytes"
	"math"
	"reflect"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"
)

// node is a compiled schema. It only ever says yes: what it does not accept may still be valid.
type node struct {
	types     typeSet // 0: any
	props     []property
	byName    map[string]int // instead of going through props, where there are many
	required  uint64         // bits of props
	closed    bool           // no members beside props
	others    *node          // for members beside props; nil: any
	items     *node          // nil: any
	low, high int64          // for integers, where bounded
	bounded   bool
	checks    *checks // nil: none
}

type property struct {
	name string
	node *node
}

type typeSet uint8

const (
	typeObject typeSet = 1 << iota
	typeArray
	typeString
	typeNumber
	typeInteger
	typeBoolean
	typeNull
)

// typeNamed returns the set of a type's values, 0 for a name that is none.
func typeNamed(name string) typeSet {
	switch name {
	case "object":
		return typeObject
	case "array":
		return typeArray
	case "string":
		return typeString
	case "number":
		return typeNumber | typeInteger
	case "integer":
		return typeInteger
	case "boolean":
		return typeBoolean
	case "null":
		return typeNull
	}
	return 0
}

const (
	maxProperties = 64 // bits of required and seen
	manyProps     = 8  // from here on a map is faster than comparing
)

// compile returns nil for a schema outside the subset: types, properties, required, additionalProperties, items, what is in [checks], bounds of integers,
// and annotations.
func compile(s *jsonschema.Schema) *node {
	rest := *s
	rest.ID, rest.Anchor, rest.DynamicAnchor, rest.Defs, rest.Definitions, rest.ContentSchema, rest.Extra = "", "", "", nil, nil, nil, nil
	rest.Schema, rest.Comment, rest.Title, rest.Description, rest.Format, rest.ContentEncoding, rest.ContentMediaType = "", "", "", "", "", "", ""
	rest.Default, rest.Examples, rest.Deprecated, rest.ReadOnly, rest.WriteOnly, rest.PropertyOrder = nil, nil, false, false, false, nil
	rest.Type, rest.Types, rest.Properties, rest.Required, rest.AdditionalProperties, rest.Items = "", nil, nil, nil, nil, nil
	rest.Enum, rest.Const, rest.Minimum, rest.Maximum, rest.ExclusiveMinimum, rest.ExclusiveMaximum, rest.MultipleOf = nil, nil, nil, nil, nil, nil, nil
	rest.MinLength, rest.MaxLength, rest.Pattern, rest.MinItems, rest.MaxItems = nil, nil, "", nil, nil
	if !reflect.ValueOf(rest).IsZero() || len(s.Properties) > maxProperties {
		return nil
	}
	n := new(node)
	for _, t := range append(append([]string(nil), s.Types...), s.Type) {
		if t != "" {
			bit := typeNamed(t)
			if bit == 0 {
				return nil
			}
			n.types |= bit
		}
	}
	if !n.compileBounds(s) || !n.compileProperties(s) {
		return nil
	}
	if s.Items != nil {
		if n.items = compile(s.Items); n.items == nil {
			return nil
		}
	}
	return n
}

// compileBounds: those of integers, which most schemas of Go types have, are compared as integers; all the others are checks.
func (n *node) compileBounds(s *jsonschema.Schema) bool {
	low, high, ok := integerBounds(s)
	if ok && n.types&^(typeInteger|typeNull) == 0 && n.types != 0 {
		n.bounded, n.low, n.high = s.Minimum != nil || s.Maximum != nil, low, high
		plain := *s
		plain.Minimum, plain.Maximum = nil, nil
		s = &plain
	}
	n.checks, ok = compileChecks(s)
	return ok
}

func integerBounds(s *jsonschema.Schema) (low, high int64, ok bool) {
	const exact = 1 << 53
	low, high = math.MinInt64, math.MaxInt64
	if s.Minimum != nil {
		if *s.Minimum != math.Trunc(*s.Minimum) || math.Abs(*s.Minimum) > exact {
			return 0, 0, false
		}
		low = int64(*s.Minimum)
	}
	if s.Maximum != nil {
		if *s.Maximum != math.Trunc(*s.Maximum) || math.Abs(*s.Maximum) > exact {
			return 0, 0, false
		}
		high = int64(*s.Maximum)
	}
	return low, high, true
}

func (n *node) compileProperties(s *jsonschema.Schema) bool {
	index := make(map[string]int, len(s.Properties))
	add := func(name string) bool {
		if _, known := index[name]; known {
			return true
		}
		p := s.Properties[name]
		if p == nil {
			return false
		}
		c := compile(p)
		if c == nil {
			return false
		}
		index[name] = len(n.props)
		n.props = append(n.props, property{name, c})
		return true
	}
	for _, name := range s.PropertyOrder { // the order they are likely to come in
		if s.Properties[name] != nil && !add(name) {
			return false
		}
	}
	for name := range s.Properties {
		if !add(name) {
			return false
		}
	}
	for _, name := range s.Required {
		i, ok := index[name]
		if !ok {
			return false // required and not described: rare, and not worth a bit
		}
		n.required |= 1 << i
	}
	if len(n.props) > manyProps {
		n.byName = index
	}
	if a := s.AdditionalProperties; a != nil {
		if isFalse(a) {
			n.closed = true
		} else if n.others = compile(a); n.others == nil {
			return false
		}
	}
	return true
}

// isFalse reports whether s is the schema false, which jsonschema-go writes as not: {}.
func isFalse(s *jsonschema.Schema) bool {
	if s.Not == nil || !reflect.ValueOf(*s.Not).IsZero() {
		return false
	}
	rest := *s
	rest.Not = nil
	return reflect.ValueOf(rest).IsZero()
}

// accepts reports whether raw, which is valid JSON, is certainly valid by the schema. It does not allocate. A nil node accepts nothing.
func (n *node) accepts(raw []byte) bool {
	if n == nil {
		return false
	}
	end, ok := n.value(raw, skipSpace(raw, 0))
	return ok && skipSpace(raw, end) == len(raw)
}

// value checks the value that begins at i and returns where it ends. It recurses as deep as the schema does, not the value.
func (n *node) value(b []byte, i int) (end int, ok bool) {
	if i >= len(b) {
		return i, false
	}
	switch c := b[i]; c {
	case '{':
		return n.object(b, i)
	case '[':
		return n.array(b, i)
	case '"':
		end = skipString(b, i)
		return end, n.allows(typeString) && (n.checks == nil || n.checks.text(b[i+1:max(end-1, i+1)]))
	case 't', 'f':
		return skipValue(b, i), n.allows(typeBoolean) && (n.checks == nil || !n.checks.enum)
	case 'n':
		return skipValue(b, i), n.allows(typeNull) && (n.checks == nil || !n.checks.enum || n.checks.null)
	default:
		end = skipValue(b, i)
		return end, n.number(b[i:end])
	}
}

func (n *node) allows(t typeSet) bool { return n.types == 0 || n.types&t != 0 }

// number accepts what needs no thought: integers a double holds exactly, and decimals without an exponent. 1.0, which is an integer, is not
// among them.
func (n *node) number(text []byte) bool {
	const plain = 15 // digits that a double holds
	integer := true
	for i, c := range text {
		switch {
		case '0' <= c && c <= '9', c == '-' && i == 0:
		case c == '.':
			integer = false
		default:
			return false
		}
	}
	if len(text) > plain {
		return false
	}
	if !integer && !n.allows(typeNumber) || integer && !n.allows(typeInteger) {
		return false
	}
	if n.checks != nil && !n.checks.number(text) {
		return false
	}
	if !n.bounded || !integer {
		return true
	}
	v, err := strconv.ParseInt(string(text), 10, 64)
	return err == nil && n.low <= v && v <= n.high
}

func (n *node) array(b []byte, i int) (end int, ok bool) {
	if !n.allows(typeArray) || n.checks != nil && n.checks.enum {
		return i, false
	}
	counts := n.checks != nil && n.checks.items
	if n.items == nil && !counts {
		return skipValue(b, i), true
	}
	if i = skipSpace(b, i+1); i < len(b) && b[i] == ']' {
		return i + 1, !counts || n.checks.minItems <= 0
	}
	for length := 1; ; length++ {
		if n.items == nil {
			i = skipValue(b, i)
		} else if i, ok = n.items.value(b, i); !ok {
			return i, false
		}
		if i = skipSpace(b, i); i >= len(b) || b[i] != ',' {
			fits := !counts || n.checks.minItems <= length && length <= n.checks.maxItems
			return i + 1, i < len(b) && b[i] == ']' && fits
		}
		i = skipSpace(b, i+1)
	}
}

func (n *node) object(b []byte, i int) (end int, ok bool) {
	if !n.allows(typeObject) || n.checks != nil && n.checks.enum {
		return i, false
	}
	var seen uint64
	if i = skipSpace(b, i+1); i < len(b) && b[i] == '}' {
		return i + 1, n.required == 0
	}
	for {
		if i >= len(b) || b[i] != '"' {
			return i, false
		}
		end = skipString(b, i)
		name := b[i+1 : max(end-1, i+1)]
		if i = skipSpace(b, end); i >= len(b) || b[i] != ':' {
			return i, false
		}
		i = skipSpace(b, i+1)
		child := n.others
		if p := n.find(name); p >= 0 {
			if seen>>p&1 != 0 {
				return i, false // twice: which one counts is not ours to say
			}
			seen |= 1 << p
			child = n.props[p].node
		} else if n.closed || bytes.IndexByte(name, '\\') >= 0 {
			return i, false
		}
		if child == nil {
			i = skipValue(b, i)
		} else if i, ok = child.value(b, i); !ok {
			return i, false
		}
		if i = skipSpace(b, i); i >= len(b) || b[i] != ',' {
			return i + 1, i < len(b) && b[i] == '}' && seen&n.required == n.required
		}
		i = skipSpace(b, i+1)
	}
}

func (n *node) find(name []byte) int {
	if n.byName != nil {
		if i, ok := n.byName[string(name)]; ok {
			return i
		}
		return -1
	}
	for i := range n.props {
		if n.props[i].name == string(name) {
			return i
		}
	}
	return -1
}
