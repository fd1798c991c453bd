package mcp

import (
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

// explain says in one line where and why v does not match s, for the model that has to do better; "" if it finds nothing. It does not judge:
// that was done by jsonschema-go, whose own words are not used because they quote the value. Names in the path are quoted where they are not
// plain. It recurses as deep as the schema does.
func explain(s *jsonschema.Schema, v any, path string) string {
	if s == nil {
		return ""
	}
	at := path
	if at == "" {
		at = "arguments"
	}
	if types := append(append([]string(nil), s.Types...), s.Type); !hasType(types, v) {
		return fmt.Sprintf("%s: want %s, got %s", at, orList(types), typeName(v))
	}
	if s.Enum != nil && !slices.ContainsFunc(s.Enum, func(e any) bool { return fmt.Sprint(e) == fmt.Sprint(v) }) {
		return fmt.Sprintf("%s: want one of %s", at, clip(quoteAll(s.Enum)))
	}
	switch v := v.(type) {
	case float64:
		return explainNumber(s, v, at)
	case string:
		return explainString(s, v, at)
	case []any:
		if s.MinItems != nil && len(v) < *s.MinItems {
			return fmt.Sprintf("%s: want at least %d items, got %d", at, *s.MinItems, len(v))
		}
		if s.MaxItems != nil && len(v) > *s.MaxItems {
			return fmt.Sprintf("%s: want at most %d items, got %d", at, *s.MaxItems, len(v))
		}
		for i, item := range v {
			if why := explain(s.Items, item, path+"/"+strconv.Itoa(i)); why != "" {
				return why
			}
		}
	case map[string]any:
		return explainObject(s, v, path, at)
	}
	return ""
}

func explainNumber(s *jsonschema.Schema, v float64, at string) string {
	bound := func(word string, limit *float64, bad func(float64) bool) string {
		if limit != nil && bad(*limit) {
			return fmt.Sprintf("%s: want a number %s %v", at, word, *limit)
		}
		return ""
	}
	for _, why := range []string{
		bound("of at least", s.Minimum, func(l float64) bool { return v < l }),
		bound("of at most", s.Maximum, func(l float64) bool { return v > l }),
		bound("above", s.ExclusiveMinimum, func(l float64) bool { return v <= l }),
		bound("below", s.ExclusiveMaximum, func(l float64) bool { return v >= l }),
		bound("that is a multiple of", s.MultipleOf, func(l float64) bool { return math.Mod(v, l) != 0 }),
	} {
		if why != "" {
			return why
		}
	}
	return ""
}

func explainString(s *jsonschema.Schema, v, at string) string {
	n := utf8.RuneCountInString(v)
	if s.MinLength != nil && n < *s.MinLength {
		return fmt.Sprintf("%s: want at least %d characters, got %d", at, *s.MinLength, n)
	}
	if s.MaxLength != nil && n > *s.MaxLength {
		return fmt.Sprintf("%s: want at most %d characters, got %d", at, *s.MaxLength, n)
	}
	if s.Pattern != "" {
		if re, err := regexp.Compile(s.Pattern); err == nil && !re.MatchString(v) {
			return fmt.Sprintf("%s: want text that matches %q", at, s.Pattern)
		}
	}
	return ""
}

func explainObject(s *jsonschema.Schema, v map[string]any, path, at string) string {
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			return fmt.Sprintf("%s: missing the required member %q", at, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		p := s.Properties[name]
		if p == nil {
			if s.AdditionalProperties == nil || len(s.PatternProperties) > 0 {
				continue
			}
			if isFalse(s.AdditionalProperties) {
				return fmt.Sprintf("%s: unknown member %q", at, clip(name))
			}
			p = s.AdditionalProperties
		}
		if why := explain(p, v[name], path+"/"+pathName(name)); why != "" {
			return why
		}
	}
	return ""
}

func pathName(name string) string {
	for _, r := range name {
		if r <= ' ' || r == '/' || r == '"' || r == ':' || r == utf8.RuneError || !strconv.IsPrint(r) {
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
		if s, ok := v.(string); ok {
			out[i] = strconv.Quote(s)
		} else {
			out[i] = fmt.Sprint(v)
		}
	}
	return strings.Join(out, ", ")
}
