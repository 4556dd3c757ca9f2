// Package strftime writes and reads instants by formats such as %Y-%m-%d %H:%M:%S. It takes the
// formats of Hurl files, which are those of the Rust crate chrono, and differs from the C library
// where chrono does: %f is a fraction of a second, %.f one with its point, and %+ is RFC 3339.
//
//	read.go       reads a text by a format
//	strftime.go   parses formats; writes an instant by one
package strftime

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Format is a compiled format. The zero value writes nothing.
type Format struct{ items []item }

// An item is a piece of a format.
type item struct {
	spec    byte   // the letter; 0: text; ' ': white space
	text    string // of text and white space
	pad     byte   // 0, '-', '_' or '0'; 0: as the specifier has it
	digits  int    // of a fraction; 0: as many as there are
	dot     bool   // a fraction has its point
	colons  int    // of an offset
	minutes bool   // of an offset: may be missing
}

// expansions are specifiers that stand for others.
var expansions = map[byte]string{'D': "%m/%d/%y", 'x': "%m/%d/%y", 'F': "%Y-%m-%d", 'v': "%e-%b-%Y",
	'R': "%H:%M", 'T': "%H:%M:%S", 'X': "%H:%M:%S", 'r': "%I:%M:%S %p", 'c': "%a %b %e %H:%M:%S %Y",
	't': "\t", 'n': "\n", 'h': "%b", '+': "%Y-%m-%dT%H:%M:%S%.f%:z"}

// specifiers are those that stand for themselves: numbers first, which can be padded.
const (
	numbers    = "YCyqmdewuUWGgVjHkIlMSs"
	specifiers = numbers + "bBaApPfzZ"
)

// Parse compiles a format.
func Parse(format string) (Format, error) {
	var f Format
	for format != "" {
		n := strings.IndexByte(format, '%')
		if n != 0 {
			if n < 0 {
				n = len(format)
			}
			f.addText(format[:n])
			format = format[n:]
			continue
		}
		one, n := readItem(format)
		if n == 0 {
			return f, fmt.Errorf("%.20q is no specifier of a date", format)
		}
		format = format[n:]
		switch long, is := expansions[one.spec]; {
		case one.spec == '%':
			f.addText("%")
		case !is:
			f.items = append(f.items, one)
		default:
			parts, err := Parse(long)
			if err != nil {
				return f, err
			}
			if one.spec == '+' {
				parts.items[len(parts.items)-1].spec = '+' // takes Z, too
			}
			f.items = append(f.items, parts.items...)
		}
	}
	return f, nil
}

// addText adds text, and white space as items of its own.
func (f *Format) addText(s string) {
	for s != "" {
		first, _ := utf8.DecodeRuneInString(s)
		space := unicode.IsSpace(first)
		n := strings.IndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) != space })
		if n < 0 {
			n = len(s)
		}
		one := item{text: s[:n]}
		if space {
			one.spec = ' '
		}
		f.items = append(f.items, one)
		s = s[n:]
	}
}

// readItem reads the specifier that begins a format, and how long it is; 0: there is none.
func readItem(format string) (one item, n int) {
	s := format[1:]
	next := func() (c byte) {
		if s != "" {
			c, s = s[0], s[1:]
		}
		return c
	}
	c := next()
	switch {
	case c == '-' || c == '_' || c == '0':
		one.pad = c
		if c = next(); c == 0 || strings.IndexByte(numbers, c) < 0 {
			return one, 0
		}
	case c == '#':
		if one.minutes = true; next() != 'z' {
			return one, 0
		}
		c = 'z'
	case c == ':':
		for one.colons = 1; one.colons < 3 && strings.HasPrefix(s, ":"); one.colons++ {
			next()
		}
		if c = next(); c != 'z' {
			return one, 0
		}
	case c == '.' || c == '3' || c == '6' || c == '9':
		if one.dot = c == '.'; one.dot {
			c = next()
		}
		if c == '3' || c == '6' || c == '9' {
			one.digits = int(c - '0')
			c = next()
		}
		if c != 'f' {
			return one, 0
		}
	}
	if _, is := expansions[c]; !is && c != '%' && (c == 0 || strings.IndexByte(specifiers, c) < 0) {
		return one, 0
	}
	one.spec = c
	return one, len(format) - len(s)
}

// Append appends an instant, in UTC.
func (f Format) Append(b []byte, t time.Time) []byte {
	t = t.UTC()
	for i := range f.items {
		b = f.items[i].append(b, t)
	}
	return b
}

func (i *item) append(b []byte, t time.Time) []byte {
	switch i.spec {
	case 0, ' ':
		return append(b, i.text...)
	case 'b':
		return t.AppendFormat(b, "Jan")
	case 'B':
		return t.AppendFormat(b, "January")
	case 'a':
		return t.AppendFormat(b, "Mon")
	case 'A':
		return t.AppendFormat(b, "Monday")
	case 'p':
		return t.AppendFormat(b, "PM")
	case 'P':
		return t.AppendFormat(b, "pm")
	case 'Z':
		return append(b, "UTC"...)
	case 'z', '+':
		return append(b, []string{"+0000", "+00:00", "+00:00:00", "+00"}[i.colons]...)
	case 'f':
		return i.appendFraction(b, t.Nanosecond())
	}
	value, width, pad := number(i.spec, t)
	switch i.pad {
	case '-':
		width = 0
	case '_':
		pad = ' '
	case '0':
		pad = '0'
	}
	if i.spec == 'Y' || i.spec == 'G' {
		if value > 9999 {
			b = append(b, '+')
		}
	}
	digits := fmt.Sprint(value)
	for n := len(digits); n < width; n++ {
		b = append(b, pad)
	}
	return append(b, digits...)
}

// appendFraction appends a fraction of a second. Without a number of digits there are nine, or with
// a point as many as it needs: none, three, six or nine.
func (i *item) appendFraction(b []byte, ns int) []byte {
	digits := i.digits
	if digits == 0 && i.dot {
		switch {
		case ns == 0:
			return b
		case ns%1e6 == 0:
			digits = 3
		case ns%1e3 == 0:
			digits = 6
		}
	}
	if i.dot {
		b = append(b, '.')
	}
	text := fmt.Sprintf("%09d", ns)
	if digits > 0 {
		text = text[:digits]
	}
	return append(b, text...)
}

// number is the value of a numeric specifier, the width to which it is padded, and with what.
func number(spec byte, t time.Time) (value int64, width int, pad byte) {
	n := func(v, width int) (int64, int, byte) { return int64(v), width, '0' }
	isoYear, isoWeek := t.ISOWeek()
	switch weekday := int(t.Weekday()); spec {
	case 'Y':
		return n(t.Year(), 4)
	case 'C':
		return n(t.Year()/100, 2)
	case 'y':
		return n(t.Year()%100, 2)
	case 'q':
		return n((int(t.Month())+2)/3, 1)
	case 'm':
		return n(int(t.Month()), 2)
	case 'd':
		return n(t.Day(), 2)
	case 'e':
		return int64(t.Day()), 2, ' '
	case 'w':
		return n(weekday, 1)
	case 'u':
		return n((weekday+6)%7+1, 1)
	case 'U':
		return n((t.YearDay()+6-weekday)/7, 2)
	case 'W':
		return n((t.YearDay()+6-(weekday+6)%7)/7, 2)
	case 'G':
		return n(isoYear, 4)
	case 'g':
		return n(isoYear%100, 2)
	case 'V':
		return n(isoWeek, 2)
	case 'j':
		return n(t.YearDay(), 3)
	}
	switch hour12 := (t.Hour()+11)%12 + 1; spec {
	case 'H':
		return n(t.Hour(), 2)
	case 'k':
		return int64(t.Hour()), 2, ' '
	case 'I':
		return n(hour12, 2)
	case 'l':
		return int64(hour12), 2, ' '
	case 'M':
		return n(t.Minute(), 2)
	case 'S':
		return n(t.Second(), 2)
	}
	return t.Unix(), 0, '0' // s
}
