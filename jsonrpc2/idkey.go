package jsonrpc2

import (
	"bytes"
	"strconv"
)

// Ids are kept as the text they came in and given back byte for byte. To find
// the request that an id means, texts are compared by their key: equal for texts
// of one value, different for any two values. Nothing is rounded, so 2^53 and
// 2^53+1 have different keys, and nothing is expanded, so 1e999999999 costs no
// more than its own length.
//
// The key of a string is its decoded contents between quotes; lone surrogates,
// which UTF-8 cannot hold, keep their number in the three bytes that UTF-8 would
// give them. The key of an integer of at most maxPlain digits is its shortest
// decimal text. Any other number is written as significand, "e", exponent, the
// significand being an integer without a zero at either end. Strings begin with
// a quote, numbers do not, so the two never meet.

// maxPlain is the number of digits up to which an integer is its own key. It
// covers all integers of 64 bits.
const maxPlain = 20

// idKeyIsRaw reports whether raw, the text of a valid id, is its own key. It is
// so for all ids that are met in practice.
func idKeyIsRaw(raw []byte) bool {
	if len(raw) == 0 || raw[0] == '"' {
		return bytes.IndexByte(raw, '\\') < 0
	}
	if raw[0] == 'n' {
		return true
	}
	digits := raw
	if raw[0] == '-' {
		digits = raw[1:]
	}
	if len(digits) == 0 || len(digits) > maxPlain || digits[0] == '0' && len(raw) > 1 {
		return false
	}
	for _, c := range digits {
		if c-'0' > 9 {
			return false
		}
	}
	return true
}

// appendIDKey appends the key of raw, the text of a valid id, to dst.
func appendIDKey(dst, raw []byte) []byte {
	switch {
	case idKeyIsRaw(raw):
		return append(dst, raw...)
	case raw[0] == '"':
		dst = append(dst, '"')
		dst = appendDecoded(dst, raw[1:len(raw)-1], true)
		return append(dst, '"')
	}
	return appendNumberKey(dst, raw)
}

func appendNumberKey(dst, raw []byte) []byte {
	start := len(dst)
	if raw[0] == '-' {
		dst = append(dst, '-')
		raw = raw[1:]
	}
	mantissa, exponent := raw, []byte(nil)
	if i := bytes.IndexAny(raw, "eE"); i >= 0 {
		mantissa, exponent = raw[:i], raw[i+1:]
	}
	whole, fraction := mantissa, []byte(nil)
	if i := bytes.IndexByte(mantissa, '.'); i >= 0 {
		whole, fraction = mantissa[:i], mantissa[i+1:]
	}

	// The significand, and shift: how many places the point has moved to the right.
	first := len(dst)
	digits := bytes.TrimLeft(whole, "0")
	dst = append(dst, digits...)
	if len(digits) == 0 {
		dst = append(dst, bytes.TrimLeft(fraction, "0")...)
	} else {
		dst = append(dst, fraction...)
	}
	shift := -len(fraction)
	for len(dst) > first && dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
		shift++
	}
	if len(dst) == first {
		return append(dst[:start], '0') // also -0 and 0e5
	}

	negative := false
	if len(exponent) > 0 && (exponent[0] == '-' || exponent[0] == '+') {
		negative = exponent[0] == '-'
		exponent = exponent[1:]
	}
	exponent = bytes.TrimLeft(exponent, "0")
	if len(exponent) > 18 {
		// More than any shift: its sign stands.
		if negative {
			shift = -shift
			dst = append(dst, 'e', '-')
		} else {
			dst = append(dst, 'e')
		}
		return appendSum(dst, exponent, shift)
	}
	var e int64
	for _, c := range exponent {
		e = e*10 + int64(c-'0')
	}
	if negative {
		e = -e
	}
	e += int64(shift)
	if e >= 0 && e <= maxPlain-int64(len(dst)-first) {
		for ; e > 0; e-- {
			dst = append(dst, '0')
		}
		return dst
	}
	return strconv.AppendInt(append(dst, 'e'), e, 10)
}

// appendSum appends the decimal text of digits + n, where digits is a number of
// more than 18 digits without leading zeros and n is much smaller. The texts are
// as long as a peer likes, so this is done digit by digit in linear time.
func appendSum(dst, digits []byte, n int) []byte {
	start := len(dst)
	dst = append(dst, digits...)
	carry := n
	for i := len(dst) - 1; carry != 0 && i >= start; i-- {
		v := int(dst[i]-'0') + carry
		carry = v / 10
		if v %= 10; v < 0 {
			v += 10
			carry--
		}
		dst[i] = byte('0' + v)
	}
	switch {
	case carry > 0:
		dst = append(dst, 0)
		copy(dst[start+1:], dst[start:])
		dst[start] = byte('0' + carry)
	case dst[start] == '0':
		dst = append(dst[:start], dst[start+1:]...)
	}
	return dst
}
