package mcp

import "github.com/tandem-rpc/tandem/jsonrpc2"

// Long texts are what tools carry, so what is done to them is what [jsonrpc2] has for that.

// skipString returns the index after the string that begins at i.
func skipString(b []byte, i int) int { return jsonrpc2.SkipString(b, i) }

// appendString appends s as a JSON string, <, > and & as they are. What is not UTF-8 in s becomes U+FFFD.
func appendString(dst []byte, s string) []byte { return jsonrpc2.AppendString(dst, s) }

// unquoted decodes the inside of a JSON string.
func unquoted(raw []byte) string { return jsonrpc2.Unquote(raw) }

// unquote decodes the inside of a JSON string. An unpaired surrogate becomes U+FFFD.
func unquote(raw []byte) []byte { return jsonrpc2.AppendUnquoted(nil, raw) }

// readString decodes the string that begins at i, and returns where it ends.
func readString(b []byte, i int) (text string, end int) {
	end = skipString(b, i)
	return unquoted(b[i+1 : max(end-1, i+1)]), end
}
