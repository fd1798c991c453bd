package mcp

import (
	"bytes"
	"math"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// checks is what a compiled schema asks for beyond types and members. As its node it only ever says yes to what is certain.
type checks struct {
	enum    bool // only what is listed: strings, numbers, null
	null    bool
	strings []string
	many    map[string]struct{} // strings, where there are too many to go through
	numbers []float64           // in order

	minLength, maxLength int
	pattern              *regexp.Regexp

	bounds             bool
	low, high          float64
	above, below       bool // low, or high, is not allowed itself
	multipleOf         float64
	items              bool
	minItems, maxItems int
}

const (
	fastPattern = 128      // instructions
	fastText    = 64 << 10 // bytes a pattern is held against here
	fewStrings  = 8        // of an enum, which are gone through
)

// compileChecks returns nil checks if there is nothing to check, and false for what it cannot express.
func compileChecks(s *jsonschema.Schema) (*checks, bool) {
	c := &checks{maxLength: math.MaxInt, maxItems: math.MaxInt, low: math.Inf(-1), high: math.Inf(1)}
	some := false
	length := func(to *int, n *int) {
		if n != nil {
			*to, some = *n, true
		}
	}
	length(&c.minLength, s.MinLength)
	length(&c.maxLength, s.MaxLength)
	length(&c.minItems, s.MinItems)
	length(&c.maxItems, s.MaxItems)
	c.items = s.MinItems != nil || s.MaxItems != nil
	if s.Pattern != "" {
		n, err := patternSize(s.Pattern)
		if err != nil || n > fastPattern {
			return nil, false
		}
		if c.pattern, err = regexp.Compile(s.Pattern); err != nil {
			return nil, false
		}
		some = true
	}
	if !c.compileEnum(s) {
		return nil, false
	}
	bound := func(f *float64, do func(float64)) {
		if f != nil {
			do(*f)
			some, c.bounds = true, true
		}
	}
	bound(s.Minimum, func(f float64) { c.low = f })
	bound(s.Maximum, func(f float64) { c.high = f })
	bound(s.ExclusiveMinimum, func(f float64) {
		if f >= c.low {
			c.low, c.above = f, true
		}
	})
	bound(s.ExclusiveMaximum, func(f float64) {
		if f <= c.high {
			c.high, c.below = f, true
		}
	})
	bound(s.MultipleOf, func(f float64) { c.multipleOf = f })
	if !some && !c.enum {
		return nil, true
	}
	return c, true
}

func (c *checks) compileEnum(s *jsonschema.Schema) bool {
	values := s.Enum
	if s.Const != nil {
		if values != nil {
			return false
		}
		values = []any{*s.Const}
	}
	c.enum = values != nil
	for _, e := range values {
		switch e := e.(type) {
		case nil:
			c.null = true
		case string:
			c.strings = append(c.strings, e)
		case float64:
			c.numbers = append(c.numbers, e)
		case int:
			c.numbers = append(c.numbers, float64(e))
		}
	}
	slices.Sort(c.numbers)
	if len(c.strings) > fewStrings {
		c.many = make(map[string]struct{}, len(c.strings))
		for _, e := range c.strings {
			c.many[e] = struct{}{}
		}
	}
	return true
}

// lists reports whether raw is one of the strings of the enum.
func (c *checks) lists(raw []byte) bool {
	if c.many != nil {
		_, ok := c.many[string(raw)]
		return ok
	}
	return slices.ContainsFunc(c.strings, func(e string) bool { return e == string(raw) })
}

func (c *checks) listsNumber(v float64) bool {
	_, ok := slices.BinarySearch(c.numbers, v)
	return ok
}

// text checks what stands between the quotes of a string.
func (c *checks) text(raw []byte) bool {
	escaped := bytes.IndexByte(raw, '\\') >= 0
	if c.enum && (escaped || !c.lists(raw)) {
		return false
	}
	if c.pattern != nil && (escaped || len(raw) > fastText || !c.pattern.Match(raw)) {
		return false
	}
	// A character takes 1 to 12 bytes: one of ASCII, or an escaped pair of surrogates.
	const most = 12
	if len(raw) <= c.maxLength && (c.minLength <= 0 || len(raw)/most >= c.minLength) {
		return true
	}
	if escaped {
		return false
	}
	n := utf8.RuneCount(raw)
	return c.minLength <= n && n <= c.maxLength
}

// number checks the text of a number, of which node.number has made sure that a double holds it.
func (c *checks) number(text []byte) bool {
	if !c.enum && !c.bounds {
		return true
	}
	v, err := strconv.ParseFloat(string(text), 64)
	switch {
	case err != nil,
		c.enum && !c.listsNumber(v),
		v < c.low, v > c.high, c.above && v == c.low, c.below && v == c.high:
		return false
	}
	if c.multipleOf != 0 {
		_, rest := math.Modf(v / c.multipleOf)
		return rest == 0
	}
	return true
}
