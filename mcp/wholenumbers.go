package mcp

import (
	"bytes"
	"strconv"
)

// mostDigits is how many an integer of 64 bits has at most.
const mostDigits = 20

// wholeNumbers returns JSON, which was checked before, with the integers of at most mostDigits digits that are written with a fraction or an exponent, 3.0
// and 3e0, as a decoder of integers knows them. All else stays as it is, to the last digit. Nil: there are none.
func wholeNumbers(raw []byte) []byte {
	var out []byte
	copied := 0
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '"':
			i = skipString(raw, i)
		case c == '-' || '0' <= c && c <= '9':
			start := i
			for i++; i < len(raw) && isNumeral(raw[i]); i++ {
			}
			digits, negative, ok := wholeNumber(raw[start:i])
			if !ok {
				continue
			}
			out = append(out, raw[copied:start]...)
			if negative {
				out = append(out, '-')
			}
			out = append(out, digits...)
			copied = i
		default:
			i++
		}
	}
	if copied == 0 {
		return nil
	}
	return append(out, raw[copied:]...)
}

func isNumeral(c byte) bool {
	return '0' <= c && c <= '9' || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-'
}

// wholeNumber returns the digits of an integer that is written with a fraction or an exponent. It reports false for any other number.
func wholeNumber(number []byte) (digits []byte, negative, ok bool) {
	number, negative = bytes.CutPrefix(number, []byte("-"))
	mantissa, power, exponent := number, []byte(nil), 0
	if e := bytes.IndexAny(number, "eE"); e >= 0 {
		mantissa, power = number[:e], number[e+1:]
	}
	whole, fraction, dot := bytes.Cut(mantissa, []byte("."))
	if !dot && power == nil {
		return nil, false, false
	}
	fraction = bytes.TrimRight(fraction, "0")
	digits = bytes.TrimLeft(append(bytes.Clone(whole), fraction...), "0")
	if len(digits) == 0 {
		return []byte{'0'}, negative, true
	}
	if power != nil {
		var err error
		if exponent, err = strconv.Atoi(string(power)); err != nil {
			return nil, false, false
		}
	}
	zeros := exponent - len(fraction) // behind the digits
	switch last := len(digits) - len(bytes.TrimRight(digits, "0")); {
	case zeros < -last, zeros > mostDigits, len(digits)+zeros > mostDigits:
		return nil, false, false
	case zeros < 0:
		return digits[:len(digits)+zeros], negative, true
	}
	return append(digits, bytes.Repeat([]byte{'0'}, zeros)...), negative, true
}
