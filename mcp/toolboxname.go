package mcp

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	maxName      = 128
	portableName = 64
)

// checkToolName says what is wrong with a name, and what is right and yet not understood everywhere. The pages since 2025-11-25 allow 128 letters, digits,
// _, - and .; SEP-986 has at most 64, and / as well; some hosts and models know neither . nor /.
func checkToolName(name string, anything bool) (wrong, warning string) {
	switch {
	case name == "":
		return "must not be empty", ""
	case len(name) > maxName:
		return fmt.Sprintf("is %d bytes long, more than %d", len(name), maxName), ""
	case !utf8.ValidString(name):
		return "has bytes that are not UTF-8", ""
	}
	for _, r := range name {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-', r == '.', r == '/':
		case anything:
			return "", fmt.Sprintf("has %q, which the protocol does not allow", r)
		default:
			return fmt.Sprintf("has %q: only letters, digits, _, -, . and / are allowed", r), ""
		}
	}
	switch {
	case len(name) > portableName:
		return "", fmt.Sprintf("is %d bytes long: some clients take no more than %d", len(name), portableName)
	case strings.ContainsRune(name, '/'):
		return "", "has '/': some revisions and clients do not allow it"
	case strings.ContainsRune(name, '.'):
		return "", "has '.': some clients allow only letters, digits, _ and -"
	}
	return "", ""
}
