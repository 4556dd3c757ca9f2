package luavm

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// A conversion is one of string.format, such as %-5.2f.
type conversion struct {
	minus, plus, space, alternate, zero bool
	width, precision                    int
	precise                             bool // it has a precision
	verb                                byte
}

// readConversion reads what follows a %. rest is what follows it.
func readConversion(s string) (c conversion, rest string, ok bool) {
	for flags := 0; s != "" && strings.IndexByte("-+ #0", s[0]) >= 0; flags++ {
		switch s[0] {
		case '-':
			c.minus = true
		case '+':
			c.plus = true
		case ' ':
			c.space = true
		case '#':
			c.alternate = true
		case '0':
			c.zero = true
		}
		s = s[1:]
	}
	if c.width, s, ok = twoDigits(s); !ok {
		return c, s, false
	}
	if strings.HasPrefix(s, ".") {
		c.precise = true
		if c.precision, s, ok = twoDigits(s[1:]); !ok {
			return c, s, false
		}
	}
	if s == "" {
		return c, s, false
	}
	c.verb = s[0]
	return c, s[1:], true
}

// twoDigits reads a number of at most two digits.
func twoDigits(s string) (n int, rest string, ok bool) {
	digits := 0
	for digits < len(s) && s[digits] >= '0' && s[digits] <= '9' {
		n = n*10 + int(s[digits]-'0')
		if digits++; digits > 2 {
			return 0, s, false
		}
	}
	return n, s[digits:], true
}

func format(t *Machine, l *lua.LState) int {
	const name = "string.format"
	all, b, argument := Text(l, 1), &builder{t: t, l: l, name: name}, 1
	for {
		plain, rest, is := strings.Cut(all, "%")
		b.add(plain)
		if !is {
			return pushText(l, b.String())
		}
		if strings.HasPrefix(rest, "%") {
			b.add("%")
			all = rest[1:]
			continue
		}
		c, after, ok := readConversion(rest)
		if !ok {
			l.RaiseError("invalid format (width or precision too long) in 'format'")
		}
		if argument++; argument > l.GetTop() {
			l.ArgError(argument, "no value")
		}
		c.add(b, argument)
		all = after
	}
}

// add adds an argument as the conversion writes it.
func (c conversion) add(b *builder, n int) {
	var room [128]byte
	switch c.verb {
	case 'd', 'i', 'u', 'o', 'x', 'X':
		b.add(c.padded(c.integer(room[:0], number(b.l, n)), !c.precise))
	case 'e', 'E', 'f', 'F', 'g', 'G':
		v := number(b.l, n)
		b.add(c.padded(c.float(room[:0], v), !math.IsInf(v, 0) && !math.IsNaN(v)))
	case 'c':
		b.add(c.padded([]byte{byte(integer(b.l, n))}, false))
	case 's':
		s := b.t.shown(b.l, b.l.Get(n))
		if c.precise {
			s = s[:min(c.precision, len(s))]
		}
		if c.width > len(s) {
			s = c.padded([]byte(s), false)
		}
		b.add(s)
	case 'q':
		b.quote(Text(b.l, n))
	default:
		b.l.RaiseError("invalid option '%%%s' to 'format'", string([]byte{c.verb}))
	}
}

// padded is a text of at least the conversion's width. Only numbers are padded with zeros.
func (c conversion) padded(s []byte, number bool) string {
	missing := c.width - len(s)
	switch {
	case missing <= 0:
	case c.minus:
		s = append(s, bytes.Repeat([]byte(" "), missing)...)
	case c.zero && number:
		sign := 0
		if s[0] == '-' || s[0] == '+' || s[0] == ' ' {
			sign = 1
		}
		if c.verb|0x20 == 'x' && c.alternate && len(s) > 1 && s[1]|0x20 == 'x' {
			sign = 2
		}
		return string(s[:sign]) + strings.Repeat("0", missing) + string(s[sign:])
	default:
		return strings.Repeat(" ", missing) + string(s)
	}
	return string(s)
}

// signed appends the sign of a number that is not negative.
func (c conversion) signed(b []byte) []byte {
	switch {
	case c.plus:
		return append(b, '+')
	case c.space:
		return append(b, ' ')
	}
	return b
}

// wholeNumber is a number without its fraction; one that has too many bits is the least.
func wholeNumber(v float64) int64 {
	if v >= -1<<63 && v < 1<<63 {
		return int64(v)
	}
	return math.MinInt64
}

// integer appends a number without its fraction.
func (c conversion) integer(b []byte, v float64) []byte {
	n := wholeNumber(v)
	magnitude, base := uint64(n), 10
	switch c.verb {
	case 'd', 'i':
		if n < 0 {
			b, magnitude = append(b, '-'), -uint64(n)
		} else {
			b = c.signed(b)
		}
	default:
		if v >= 1<<63 {
			magnitude = uint64(wholeNumber(v - 1<<64))
		}
	}
	switch c.verb {
	case 'o':
		base = 8
	case 'x', 'X':
		base = 16
	}
	digits := strconv.AppendUint(nil, magnitude, base)
	if magnitude == 0 && c.precise && c.precision == 0 {
		digits = nil
	}
	if c.alternate && magnitude != 0 && base == 16 {
		b = append(b, '0', 'x')
	} else if c.alternate && base == 8 && (len(digits) == 0 || digits[0] != '0') {
		digits = append([]byte("0"), digits...)
	}
	b = append(b, bytes.Repeat([]byte("0"), max(c.precision-len(digits), 0))...)
	if b = append(b, digits...); c.verb == 'X' {
		return bytes.ToUpper(b)
	}
	return b
}

// float appends a number with its fraction or exponent.
func (c conversion) float(b []byte, v float64) []byte {
	precision := 6
	if c.precise {
		precision = c.precision
	}
	if !math.Signbit(v) || math.IsNaN(v) {
		b = c.signed(b)
	}
	verb := c.verb | 0x20
	start := len(b)
	b = appendFloat(b, v, verb, precision)
	if c.alternate && !math.IsInf(v, 0) && !math.IsNaN(v) {
		b = append(b[:start], withPoint(string(b[start:]), verb, precision)...)
	}
	if c.verb < 'a' {
		return bytes.ToUpper(b)
	}
	return b
}

// withPoint is a number as %#g and %#.0f write it: with a point, and all digits.
func withPoint(s string, verb byte, precision int) string {
	mantissa, exponent, _ := strings.Cut(s, "e")
	if !strings.Contains(mantissa, ".") {
		mantissa += "."
	}
	if verb == 'g' {
		have := len(strings.TrimLeft(strings.NewReplacer("-", "", ".", "").Replace(mantissa), "0"))
		mantissa += strings.Repeat("0", max(max(precision, 1)-have, 0))
	}
	if exponent != "" {
		return mantissa + "e" + exponent
	}
	return mantissa
}

// quote adds a text as Lua reads it.
func (b *builder) quote(s string) {
	b.add(`"`)
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\' || c == '\n':
			b.add(`\` + s[i:i+1])
		case c < ' ' || c == 0x7f:
			code := strconv.Itoa(int(c))
			if i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9' {
				code = strings.Repeat("0", 3-len(code)) + code
			}
			b.add(`\` + code)
		default:
			b.add(s[i : i+1])
		}
	}
	b.add(`"`)
}
