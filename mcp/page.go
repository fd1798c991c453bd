package mcp

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// cursor is where a page of a list begins: behind the first n items that have the key, and all whose key is less. It goes by key and not by number, so that
// nothing is missed or comes twice when items are added or removed between pages, and whatever is asked for next is behind what was sent.
type cursor struct {
	key string
	n   int
}

const cursorForm = 1

var errCursor = &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "Invalid params: unknown cursor"}

var cursorEncoding = base64.RawURLEncoding.Strict()

// encode makes the text of a cursor into the list of that name. It is not secret, and not sealed: a cursor that somebody makes only moves the place where
// a list begins. The sum is there to tell what is none.
func (c cursor) encode(list string) string {
	b := []byte{cursorForm}
	b = binary.AppendUvarint(b, uint64(c.n))
	b = append(b, c.key...)
	return cursorEncoding.EncodeToString(binary.BigEndian.AppendUint32(b, cursorSum(list, b)))
}

func cursorSum(list string, b []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE([]byte("cursor of "+list)), crc32.IEEETable, b)
}

// parseCursor reads what encode made, and nothing else: not with line ends in it, which the decoder would skip.
func parseCursor(list, text string) (c cursor, ok bool) {
	b, err := cursorEncoding.DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") || len(b) < 6 || b[0] != cursorForm {
		return c, false
	}
	body, sum := b[:len(b)-4], binary.BigEndian.Uint32(b[len(b)-4:])
	if cursorSum(list, body) != sum {
		return c, false
	}
	n, size := binary.Uvarint(body[1:])
	if size <= 0 || n == 0 || n > 1<<31-1 {
		return c, false
	}
	return cursor{string(body[1+size:]), int(n)}, true
}

// pageOf returns the page of a list that begins at a cursor, raw JSON or nil, and the cursor of the next one, "" at the end (MCP server utilities,
// pagination). A list of more than one page is ordered by key. items is the caller's own.
func pageOf[T any](list string, items []T, key func(*T) string, size int, at []byte) (page []T, next string, err error) {
	var from cursor
	if at != nil {
		text, ok := stringValue(at)
		if ok {
			from, ok = parseCursor(list, text)
		}
		if !ok || size <= 0 {
			return nil, "", errCursor
		}
	}
	if size <= 0 || at == nil && len(items) <= size {
		return items, "", nil
	}
	byKey := func(a, b T) int { return strings.Compare(key(&a), key(&b)) }
	if !slices.IsSortedFunc(items, byKey) {
		items = slices.Clone(items)
		slices.SortStableFunc(items, byKey)
	}
	start := 0
	if at != nil {
		start, _ = slices.BinarySearchFunc(items, from.key, func(x T, k string) int { return strings.Compare(key(&x), k) })
		for n := from.n; n > 0 && start < len(items) && key(&items[start]) == from.key; n-- {
			start++
		}
	}
	end := min(start+size, len(items))
	if end == len(items) {
		return items[start:], "", nil
	}
	last := cursor{key: key(&items[end-1])}
	for i := end - 1; i >= 0 && key(&items[i]) == last.key; i-- {
		last.n++
	}
	return items[start:end], last.encode(list), nil
}

// listing answers a list request.
func listing[T any](ctx context.Context, s *Server, c *call, v *values, name string, fetch func(context.Context) ([]T, error), key func(*T) string, fit func(revision, T) T, hint CacheHint) (any, error) {
	if s.PageSize <= 0 && v[1] != nil {
		return nil, errCursor
	}
	var items []T
	if fetch != nil {
		var err error
		if items, err = fetch(ctx); err != nil {
			return nil, err
		}
	}
	items, next, err := pageOf(name, items, key, s.PageSize, v[1])
	if err != nil {
		return nil, err
	}
	c.cachedBy(hint)
	rev := c.revision()
	fitted := make([]T, len(items))
	for i, x := range items {
		fitted[i] = fit(rev, x)
	}
	return listResult{name: name, list: fitted, next: next}, nil
}
