package lsp

import (
	"reflect"
	"slices"
	"strings"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// The decoder of go.lsp.dev/protocol takes a member that is missing for its zero value. A function would then be asked about the beginning of a document
// without a name, and answer that nothing is there, where the client has made a mistake: such a request is answered -32602 (LSP 3.18, "Request Message").

// needs are the members of params that a request makes no sense without.
type needs []need

type need struct {
	index []int // of the field
	name  string
	below []string // members that its value must have
}

// forgiven are members that the specification requires and that a function can do without: there are clients that leave them out.
var forgiven = []string{"context", "options", "reason", "previousResultIds"}

// inside are the members that the values of common members must have.
var inside = map[string][]string{"textDocument": {"uri"}, "position": {"line", "character"}, "range": {"start", "end"}}

// neededOf finds them in params of type P, once for each method. The fields of members that may be missing are tagged omitzero.
func neededOf[P any]() (all needs) {
	t := reflect.TypeFor[P]()
	if t.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(t) {
		name, how, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "" || name == "-" || strings.Contains(how, "omit") || slices.Contains(forgiven, name) {
			continue
		}
		all = append(all, need{f.Index, name, inside[name]})
	}
	return all
}

// in reports whether params have all of them. Only those with a zero value are looked for.
func (n needs) in(params any, r *jsonrpc2.Request) bool {
	v := reflect.ValueOf(params).Elem()
	for i := range n {
		if !v.FieldByIndex(n[i].index).IsZero() {
			continue
		}
		value := member(rawParams(r), n[i].name)
		if value == nil {
			return false
		}
		for _, name := range n[i].below {
			if member(value, name) == nil {
				return false
			}
		}
	}
	return true
}
