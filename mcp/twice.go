package mcp

import "strconv"

// memberTwice finds an object in valid JSON that has two members of one name, and returns the path of the second, "" if there is none. Decoders disagree on
// what such an object says, or put both together: what was validated, or agreed to, would not be what a function gets.
func memberTwice(raw []byte) string {
	i := skipSpace(raw, 0)
	if i >= len(raw) || raw[i] != '{' && raw[i] != '[' {
		return ""
	}
	return twiceIn(raw[i:], "")
}

// twiceIn looks into an object or a list. It goes as deep as the JSON, which whoever calls has bounded.
func twiceIn(raw []byte, path string) string {
	if raw[0] == '[' {
		n := 0
		for i := skipSpace(raw, 1); i < len(raw) && raw[i] != ']'; n++ {
			end := skipValue(raw, i)
			if at := twiceInside(raw[i:end], path, func() string { return strconv.Itoa(n) }); at != "" {
				return at
			}
			if i = skipSpace(raw, end); i < len(raw) && raw[i] == ',' {
				i = skipSpace(raw, i+1)
			} else if end == len(raw) {
				break
			}
		}
		return ""
	}
	seen := make(map[string]struct{}, 8)
	for o := (object{b: raw}); ; {
		name, value, ok := o.next()
		if !ok {
			return ""
		}
		text := unquoted(name)
		if _, twice := seen[text]; twice {
			return path + "/" + pathName(text)
		}
		seen[text] = struct{}{}
		if at := twiceInside(value, path, func() string { return pathName(text) }); at != "" {
			return at
		}
	}
}

func twiceInside(value []byte, path string, name func() string) string {
	if len(value) == 0 || value[0] != '{' && value[0] != '[' {
		return ""
	}
	return twiceIn(value, path+"/"+name())
}
