package format

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"dyno/internal/digits"
)

// Count is n with thousands separated.
func Count(n int64) string {
	return digits.Thousands(strconv.FormatInt(n, 10))
}

// Plural is n, thousands separated, of a thing that has a plural in s.
func Plural(n int64, thing string) string { return digits.Plural(n, thing) }

// Digits3 is f to three significant digits, or to the whole number from 1,000,
// without an exponent.
func Digits3(f float64) string {
	switch a := math.Abs(f); {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return "–"
	case a >= 999.5:
		return digits.Thousands(strconv.FormatFloat(math.Round(f), 'f', 0, 64))
	case a >= 99.95:
		return strconv.FormatFloat(f, 'f', 0, 64)
	case a >= 9.995:
		return strconv.FormatFloat(f, 'f', 1, 64)
	}
	return strconv.FormatFloat(f, 'f', 2, 64)
}

// Exact3 is Digits3 where whole numbers have no decimals: 12.5, 100, 20,000.
func Exact3(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return Count(int64(f))
	}
	return Digits3(f)
}

// A unit is how large one is, in the unit of the quantity, and its name.
type unit struct {
	size float64
	name string
}

var (
	times = []unit{{1e6, "s"}, {1e3, "ms"}, {1, "µs"}, {1e-3, "ns"}}
	sizes = []unit{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}}
)

// inLargestUnit is f in the largest of the units of which it has at least one, after
// rounding: 999.9 µs are 1.00 ms.
func inLargestUnit(units []unit, f float64) string {
	for _, u := range units {
		if math.Abs(f) >= u.size*0.9995 {
			return Digits3(f/u.size) + " " + u.name
		}
	}
	last := units[len(units)-1]
	if f == 0 {
		return "0 " + last.name
	}
	return Digits3(f/last.size) + " " + last.name
}

// Known is the text of a value, "over 2.00 s" if it is only known to be higher.
func Known(over bool, text string) string {
	if over {
		return "over " + text
	}
	return text
}

// Micros is a time in µs for people: 83.1 µs, 4.12 ms, 1.20 s.
func Micros(us float64) string {
	if us == 0 {
		return "0 s"
	}
	return inLargestUnit(times, us)
}

// Seconds is a time in s for people: 1.20 s, 4.12 ms.
func Seconds(s float64) string { return Micros(s * 1e6) }

// Size is a size in powers of 1,000.
func Size(n float64) string {
	if math.Abs(n) < 999.5 {
		return Count(int64(math.Round(n))) + " B"
	}
	return inLargestUnit(sizes, n)
}

// Percent is f, of 100.
func Percent(f float64) string { return Digits3(f) + " %" }

// Bytes is a number of bytes for people.
func Bytes(n int64) string { return Size(float64(n)) }

// Clip is s if it has at most n characters, else the first of them and "…", n
// in all.
func Clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:max(n-1, 0)]) + "…"
}

// ClipText is a text of at most n characters. A longer one ends in " …" after a word, never inside
// a number or between a number and its unit.
func ClipText(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return Clip(FirstLines(s, n, 1)[0], n) // which may be one word
}

// PlainLine is s, which a server or a file may have written, on one line and
// without what a terminal would obey.
func PlainLine(s string) string { return printableOnly(strings.TrimSpace(s)) }

// printableOnly is PlainLine with the blanks around s.
func printableOnly(s string) string {
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return '·'
		}
		return r
	}, s)
}

// longestURL is how many characters of a URL are shown.
const longestURL = 2000

// URL is a URL on one line, without what cannot be printed, and cut after 2,000 characters.
func URL(url string) string { return Clip(PlainLine(url), longestURL) }

// Were is the verb of Plural's things: "was" of one.
func Were(n int64) string { return digits.Were(n) }
