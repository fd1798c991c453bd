package mcphttp

import "strings"

// accepts is which forms of answer a client takes.
type accepts struct{ json, stream bool }

const (
	jsonMedia   = "application/json"
	streamMedia = "text/event-stream"
	bothMedia   = jsonMedia + ", " + streamMedia
)

// parseAccept reads Accept (RFC 9110 section 12.5.1). Clients must name both forms (MCP transports); many do not, so one that says nothing, or
// that anything will do, gets both.
func parseAccept(values []string) accepts {
	switch {
	case len(values) == 0:
		return accepts{true, true}
	case len(values) == 1 && values[0] == bothMedia:
		return accepts{true, true}
	}
	// The most specific range decides, whatever its place: "*/*;q=0, application/json" takes JSON.
	var a accepts
	var js, ss, at int // how specific what decided was
	for _, v := range values {
		for v != "" {
			var item string
			item, v = nextItem(v, ',')
			media, params := nextItem(item, ';')
			media = strings.ToLower(strings.Trim(media, " \t"))
			if media == "" {
				continue
			}
			yes := !zeroWeight(params)
			at++
			switch media {
			case jsonMedia:
				rank(&a.json, &js, 3, yes)
			case streamMedia:
				rank(&a.stream, &ss, 3, yes)
			case "application/*":
				rank(&a.json, &js, 2, yes)
				if yes && ss == 0 {
					a.stream = true // as from clients that name nothing: see Options.EarlySSE
				}
			case "text/*":
				rank(&a.stream, &ss, 2, yes)
			case "*/*":
				rank(&a.json, &js, 1, yes)
				rank(&a.stream, &ss, 1, yes)
			}
		}
	}
	if at == 0 {
		return accepts{true, true}
	}
	return a
}

func rank(to *bool, have *int, specific int, yes bool) {
	if specific > *have {
		*have, *to = specific, yes
	} else if specific == *have {
		*to = *to || yes
	}
}

// nextItem cuts s at the first sep that stands in no quoted string.
func nextItem(s string, sep byte) (item, rest string) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == sep && !quoted:
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

// zeroWeight reports whether params have a weight of 0: not acceptable.
func zeroWeight(params string) bool {
	for params != "" {
		var p string
		p, params = nextItem(params, ';')
		name, value, _ := strings.Cut(p, "=")
		if strings.EqualFold(strings.Trim(name, " \t"), "q") {
			value = strings.Trim(value, " \t")
			return value != "" && strings.Trim(value, "0.") == "" && strings.HasPrefix(value, "0")
		}
	}
	return false
}

// isJSON reports whether the Content-Type of a request is one we read: JSON in UTF-8, or nothing.
func isJSON(values []string) bool {
	switch {
	case len(values) == 0 || len(values) == 1 && values[0] == jsonMedia:
		return true
	case len(values) > 1:
		return false
	}
	media, params := nextItem(values[0], ';')
	if !strings.EqualFold(strings.Trim(media, " \t"), jsonMedia) {
		return strings.Trim(values[0], " \t") == ""
	}
	for params != "" {
		var p string
		p, params = nextItem(params, ';')
		name, value, _ := strings.Cut(p, "=")
		if !strings.EqualFold(strings.Trim(name, " \t"), "charset") {
			continue
		}
		value = strings.Trim(strings.Trim(value, " \t"), `"`)
		if !strings.EqualFold(value, "utf-8") && !strings.EqualFold(value, "utf8") {
			return false
		}
	}
	return true
}

// isIdentity reports whether a body is as it is.
func isIdentity(values []string) bool {
	for _, v := range values {
		for v != "" {
			var item string
			item, v = nextItem(v, ',')
			if item = strings.Trim(item, " \t"); item != "" && !strings.EqualFold(item, "identity") {
				return false
			}
		}
	}
	return true
}
