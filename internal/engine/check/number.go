package check

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
)

// A number is a JSON number: 0.DIGITS × 10^exponent. In this form numbers are compared by all of
// their digits: an identifier may have more of them than a float64 can tell apart.
type number struct {
	negative bool
	digits   []byte // as written, perhaps with the point; without 0 at either end; of 0 there are none
	exponent int
}

// parseNumber parses a text that is a JSON number; ok is false if its exponent is beyond ±10⁹.
func parseNumber(text []byte) (n number, ok bool) {
	mantissa := text
	if n.negative = text[0] == '-'; n.negative {
		mantissa = text[1:]
	}
	if e := bytes.IndexAny(mantissa, "eE"); e >= 0 {
		given, err := strconv.Atoi(string(mantissa[e+1:]))
		if err != nil || given < -1e9 || given > 1e9 {
			return n, false
		}
		mantissa, n.exponent = mantissa[:e], given
	}
	point := bytes.IndexByte(mantissa, '.')
	if point < 0 {
		point = len(mantissa)
	}
	first := bytes.IndexAny(mantissa, "123456789")
	if first < 0 {
		return number{}, true
	}
	if n.exponent += point - first; first > point {
		n.exponent++
	}
	n.digits = mantissa[first : bytes.LastIndexAny(mantissa, "123456789")+1]
	return n, true
}

// equals reports whether two numbers are the same.
func (n number) equals(o number) bool {
	if n.negative != o.negative || n.exponent != o.exponent {
		return false
	}
	a, b := n.digits, o.digits
	for {
		a, b = skipPoint(a), skipPoint(b)
		if len(a) == 0 || len(b) == 0 {
			return len(a) == len(b)
		}
		if a[0] != b[0] {
			return false
		}
		a, b = a[1:], b[1:]
	}
}

func skipPoint(digits []byte) []byte {
	if len(digits) > 0 && digits[0] == '.' {
		return digits[1:]
	}
	return digits
}

// sameNumber reports whether two texts are the same number.
func sameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	x, ok := parseNumber([]byte(a))
	y, also := parseNumber([]byte(b))
	return ok && also && x.equals(y)
}

// decode decodes valid JSON. Its numbers stay as they are written.
func decode(text []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	_ = d.Decode(&v)
	return v
}

// same reports whether two decoded values are the same.
func same(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		b, is := b.(json.Number)
		return is && sameNumber(a, b)
	case []any:
		b, is := b.([]any)
		return is && slices.EqualFunc(a, b, same)
	case map[string]any:
		b, is := b.(map[string]any)
		for key, v := range a {
			other, has := b[key]
			if is = is && has && same(v, other); !is {
				return false
			}
		}
		return is && len(a) == len(b)
	}
	return a == b
}
