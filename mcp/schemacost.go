package mcp

import "github.com/google/jsonschema-go/jsonschema"

// affordable reports whether a value, of size bytes, can be validated in a bounded number of steps. With references they can grow exponentially with its
// depth.
func (a *anatomy) affordable(root *jsonschema.Schema, v any, size int) bool {
	left := maxSteps + size
	return a.spend(root, v, &left)
}

func (a *anatomy) spend(s *jsonschema.Schema, v any, left *int) bool {
	*left--
	if n := a.patterns[s]; n > 0 {
		*left -= sizeOf(v) * n / 1000
	}
	if n := len(s.Enum); n > 0 {
		*left -= n / comparisons(v)
	}
	if *left < 0 {
		return false
	}
	for _, target := range a.refs[s] {
		if !a.spend(target, v, left) {
			return false
		}
	}
	for _, part := range a.parts[s] {
		ok := true
		if part.place == sameValue {
			ok = a.spend(part.Schema, v, left)
		} else if items, is := v.([]any); is {
			ok = a.spendItems(part, items, left)
		} else if members, is := v.(map[string]any); is {
			ok = a.spendMembers(s, part, members, left)
		}
		if !ok {
			return false
		}
	}
	return true
}

// comparisons is how many values of an enum v is compared with in the time of a step. Numbers are compared exactly, which takes long.
func comparisons(v any) int {
	if _, number := v.(float64); number {
		return 2
	}
	return 8
}

// enumStep is comparisons where the values are only explained.
const enumStep = 16

func (a *anatomy) spendItems(part subschema, items []any, left *int) bool {
	if part.place == oneItem && part.index < len(items) {
		return a.spend(part.Schema, items[part.index], left)
	}
	if part.place != anyItem {
		return true
	}
	for _, item := range items {
		if !a.spend(part.Schema, item, left) {
			return false
		}
	}
	return true
}

func (a *anatomy) spendMembers(s *jsonschema.Schema, part subschema, members map[string]any, left *int) bool {
	if part.place == propertyValue {
		member, there := members[part.name]
		return !there || a.spend(part.Schema, member, left)
	}
	for name, member := range members {
		switch part.place {
		case otherMembers:
			if s.Properties[name] != nil {
				continue
			}
		case memberName:
			member = name
		case anyMember:
		default:
			return true
		}
		if !a.spend(part.Schema, member, left) {
			return false
		}
	}
	return true
}

// sizeOf is how many bytes a pattern has to look at in v: text, or names of members.
func sizeOf(v any) (n int) {
	switch v := v.(type) {
	case string:
		return len(v)
	case map[string]any:
		for name := range v {
			n += len(name)
		}
	}
	return n
}
