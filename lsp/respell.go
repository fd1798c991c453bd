package lsp

import (
	"bytes"
	"math"
	"reflect"
	"strconv"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// The decoder of go.lsp.dev/protocol refuses URIs that it cannot respell, file:////server/share for one, and integers that are written 1.0 or 1e3. Both are
// valid, and clients send them. What it refuses is read again with integers written out and with stand-ins for the URIs, which are put back afterwards.

// standIn is the beginning of a URI that takes the place of one that is refused; its number follows.
const standIn = "tandem-uri:"

// uriMembers are the members of the protocol that hold a URI.
var uriMembers = map[string]bool{
	"uri": true, "targetUri": true, "oldUri": true, "newUri": true, "scopeUri": true, "rootUri": true, "baseUri": true, "target": true, "document": true, "href": true,
}

// respell decodes data, which protocol.Unmarshal has refused, into v.
func respell(data []byte, v any) error {
	if bytes.Contains(data, []byte(standIn)) {
		return errDecode
	}
	text, refused := replaceRefused(data)
	into := reflect.ValueOf(v)
	if text == nil || into.Kind() != reflect.Pointer || into.IsNil() {
		return errDecode
	}
	into.Elem().SetZero()
	if protocol.Unmarshal(text, v) != nil {
		return errDecode
	}
	if putBack(into, refused) != len(refused) { // in a place that cannot be written to
		return errDecode
	}
	return nil
}

// replaceRefused returns data with the replacements, nil if there is nothing to replace, and the URIs.
func replaceRefused(data []byte) (out []byte, refused []uri.URI) {
	name, done := "", 0
	replace := func(start, end int, by string) {
		out = append(append(out, data[done:start]...), by...)
		done = end
	}
	for i := 0; i < len(data); {
		switch c := data[i]; {
		case c == '"':
			end := jsonrpc2.SkipString(data, i)
			s, _ := text(data[i:end])
			if next := space(data, end); next < len(data) && data[next] == ':' {
				name = s
			} else if uriMembers[name] {
				if _, err := uri.Parse(s); err != nil {
					replace(i, end, `"`+standIn+strconv.Itoa(len(refused))+`"`)
					refused = append(refused, uri.URI(s))
				}
			}
			i = end
		case c == '-' || c >= '0' && c <= '9':
			end := skip(data, i)
			if n, ok := integer(data[i:end], name == "line" || name == "character"); ok {
				replace(i, end, n)
			}
			i = end
		default:
			i++
		}
	}
	if done == 0 {
		return nil, nil
	}
	return append(out, data[done:]...), refused
}

// integer writes a number as an integer, if it is one and is not written so. Positions beyond the largest of the protocol become that one.
func integer(number []byte, position bool) (string, bool) {
	f, err := strconv.ParseFloat(string(number), 64)
	if position && f > math.MaxUint32 {
		return strconv.FormatUint(math.MaxUint32, 10), true
	}
	if err != nil || !bytes.ContainsAny(number, ".eE") || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return "", false
	}
	return strconv.FormatInt(int64(f), 10), true
}

// putBack replaces the stand-ins in a decoded value, and returns how many.
func putBack(v reflect.Value, refused []uri.URI) (n int) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			n = putBack(v.Elem(), refused)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += putBack(v.Field(i), refused)
		}
	case reflect.Slice, reflect.Array:
		if k := v.Type().Elem().Kind(); k != reflect.Uint8 && k != reflect.Uint32 {
			for i := range v.Len() {
				n += putBack(v.Index(i), refused)
			}
		}
	case reflect.String:
		number, ok := strings.CutPrefix(v.String(), standIn)
		if i, err := strconv.Atoi(number); ok && err == nil && i < len(refused) && v.CanSet() {
			v.SetString(string(refused[i]))
			n = 1
		}
	}
	return n
}
