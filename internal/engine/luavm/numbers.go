package luavm

import (
	"math"
	"strconv"
	"strings"
)

// This file reads and writes numbers as LuaJIT does, which wrk has.

// spaces are what may stand around the text of a number.
const spaces = " \t\n\v\f\r"

// readNumber is the number that a text is.
func readNumber(text string) (v float64, ok bool) {
	text = strings.Trim(text, spaces)
	negative := strings.HasPrefix(text, "-")
	if negative || strings.HasPrefix(text, "+") {
		text = text[1:]
	}
	switch {
	case len(text) > 1 && text[0] == '0' && text[1]|0x20 == 'x':
		v, ok = readHex(text)
	case len(text) > 1 && text[0] == '0' && text[1]|0x20 == 'b':
		n, err := strconv.ParseUint(text[2:], 2, 64)
		v, ok = float64(n), err == nil
	case strings.EqualFold(text, "inf") || strings.EqualFold(text, "infinity"):
		v, ok = math.Inf(1), true
	case strings.EqualFold(text, "nan"):
		v, ok = math.NaN(), true
	default:
		v, ok = readDecimal(text)
	}
	if negative {
		v = -v
	}
	return v, ok
}

func readDecimal(text string) (v float64, ok bool) {
	n, short := 0, len(text) > 0 && len(text) < 16
	for i := range len(text) {
		c := text[i]
		switch {
		case c >= '0' && c <= '9':
			n = n*10 + int(c-'0')
		case c == '.' || c|0x20 == 'e' || (c == '+' || c == '-') && i > 0:
			short = false
		default:
			return 0, false
		}
	}
	if short {
		return float64(n), true
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil || math.IsInf(v, 0)
}

// readHex reads a text that begins with 0x.
func readHex(text string) (float64, bool) {
	if strings.IndexByte(text, '_') >= 0 { // which Go allows
		return 0, false
	}
	if !strings.ContainsAny(text, "pP") {
		text += "p0"
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil || math.IsInf(v, 0)
}

// exactText is a text that the compiler reads as that number.
func exactText(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'e', -1, 64)
}

// digits are how many Lua writes of a number.
const digits = 14

// AppendNumber appends a number as tostring writes it.
func AppendNumber(b []byte, v float64) []byte {
	if v == math.Trunc(v) && math.Abs(v) < 1e14 && (v != 0 || !math.Signbit(v)) {
		return strconv.AppendInt(b, int64(v), 10)
	}
	return appendFloat(b, v, 'g', digits)
}

// appendFloat appends a number as printf's %e, %f and %g do. Unlike C and Go, LuaJIT rounds a
// number that is exactly in the middle away from zero.
func appendFloat(b []byte, v float64, verb byte, precision int) []byte {
	switch {
	case math.IsNaN(v):
		return append(b, "nan"...)
	case math.IsInf(v, 1):
		return append(b, "inf"...)
	case math.IsInf(v, -1):
		return append(b, "-inf"...)
	}
	if verb == 'g' && precision == 0 {
		precision = 1
	}
	if isTie(v, verb, precision) {
		v = math.Nextafter(v, math.Copysign(math.Inf(1), v))
	}
	return strconv.AppendFloat(b, v, verb, precision, 64)
}

// isTie reports that a number is exactly in the middle of two that have so many digits.
func isTie(v float64, verb byte, precision int) bool {
	if verb == 'g' {
		verb, precision = 'e', precision-1
	}
	const beyond = 60 // digits that are 0 after the 5 of a tie
	var room, longer [512]byte
	text := strconv.AppendFloat(room[:0], v, verb, precision+1, 64)
	mantissa, _, _ := strings.Cut(string(text), "e")
	if !strings.HasSuffix(mantissa, "5") {
		return false
	}
	text = strconv.AppendFloat(longer[:0], v, verb, precision+1+beyond, 64)
	exact, _, _ := strings.Cut(string(text), "e")
	return exact == mantissa+strings.Repeat("0", beyond)
}

// NumberText is a number as tostring writes it.
func NumberText(v float64) string {
	var room [32]byte
	return string(AppendNumber(room[:0], v))
}
