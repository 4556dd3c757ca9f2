package format

import (
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
func Digits3(f float64) string { return digits3.write(f, false) }

// Exact3 is Digits3 where whole numbers have no decimals: 12.5, 100, 20,000.
func Exact3(f float64) string { return rate.write(f, false) }

// Known is the text of a value, "over 2.00 s" if it is only known to be higher.
func Known(over bool, text string) string {
	if over {
		return "over " + text
	}
	return text
}

// Micros is a time in µs for people, in the largest unit of which there is one: 83.1 µs, 4.12 ms,
// 1.20 s.
func Micros(us float64) string { return duration.write(us, false) }

// Seconds is a time in s for people: 1.20 s, 4.12 ms.
func Seconds(s float64) string { return Micros(s * 1e6) }

// Size is a size in powers of 1,000.
func Size(n float64) string { return size.write(n, false) }

// Percent is f, of 100.
func Percent(f float64) string { return percent.write(f, false) }

// Percentile is a quantile as people name it: p99.9.
func Percentile(q float64) string { return "p" + percentile.write(100*q, false) }

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
