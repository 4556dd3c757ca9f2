// Package digits writes numbers with as many digits as their noise carries, and never with an
// exponent. It is a package of its own, below all others, because texts with figures are made in
// many layers: what a gate decided is worded by package judge, below the reports. What only reports
// write, such as a figure with its ±, is in package view/format.
//
//	bound.go    values that are only known to be higher or lower
//	change.go   ratios as changes in percent, with their intervals
//	digits.go   decimals, thousands, ratios, plurals, capitals
package digits

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"dyno/internal/lazyregexp"
)

// None stands where there is no figure. A percentile has none if no measured value exceeds it: it
// would be the maximum by another name.
const None = "–"

// Most are the decimals of any figure.
const Most = 6

// DecimalsFor is how many decimals a figure has of which half of the interval is so wide: as many
// as give that half two digits. It is negative where tens or more are left out.
func DecimalsFor(half float64) int {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(half, 'e', 1, 64), 64)
	if err != nil || rounded <= 0 {
		return Most
	}
	return min(1-PowerOfTen(rounded), Most)
}

// PowerOfTen is the power of ten in f, which is not 0: 2 of 123.
func PowerOfTen(f float64) int {
	_, power, _ := strings.Cut(strconv.FormatFloat(f, 'e', 16, 64), "e")
	n, err := strconv.Atoi(power)
	if err != nil { // no number at all
		return 0
	}
	return n
}

// Rounded is f with so many decimals, thousands separated. With -2 it is in hundreds.
func Rounded(f float64, decimals int) string {
	if decimals < 0 {
		scale := math.Pow10(-decimals)
		f, decimals = math.RoundToEven(f/scale)*scale, 0
	}
	return Thousands(strconv.FormatFloat(f+0, 'f', decimals, 64)) // +0: no −0
}

// Thousands is a decimal number with its thousands separated.
func Thousands(s string) string {
	whole, rest := s, ""
	if i := strings.IndexByte(s, '.'); i >= 0 {
		whole, rest = s[:i], s[i:]
	}
	digits := len(strings.TrimPrefix(whole, "-"))
	for at := len(whole) - 3; digits > 3; at, digits = at-3, digits-3 {
		whole = whole[:at] + "," + whole[at:]
	}
	return whole + rest
}

// Significant is f to n digits and without zeros at the end: whole numbers have all their digits.
func Significant(f float64, n int) string {
	if isNone(f) {
		return None
	}
	if f == 0 {
		return "0"
	}
	s := strconv.FormatFloat(f, 'f', max(n-1-PowerOfTen(f), 0), 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return Thousands(s)
}

const (
	ratioDecimals = 3 // of a ratio, at most, where its interval is known
	leastDigits   = 2 // of a ratio: 0.012 beside 144 is not 0
)

// Ratio is a ratio, or an end of its interval, with as many decimals as the interval allows, but
// two digits at least: 0.287 in [0.245, 0.342], 0.81 in [0.71, 0.93].
func Ratio(f, low, high float64) string {
	if isNone(f) {
		return None
	}
	d := ratioDecimals
	if half := (high - low) / 2; half > 0 && !math.IsInf(half, 0) {
		d = min(DecimalsFor(half), ratioDecimals)
	}
	if f != 0 {
		d = max(d, leastDigits-1-PowerOfTen(f))
	}
	return Rounded(f, min(d, Most))
}

// RatioInterval is the interval of a ratio.
func RatioInterval(low, high float64) string {
	return "[" + Ratio(low, low, high) + ", " + Ratio(high, low, high) + "]"
}

// RatioAlone is a ratio whose interval is not known: three digits.
func RatioAlone(f float64) string {
	if isNone(f) {
		return None
	}
	d := ratioDecimals
	if f != 0 {
		d = 2 - PowerOfTen(f)
	}
	return Rounded(f, min(d, Most))
}

func isNone(f float64) bool { return math.IsNaN(f) || math.IsInf(f, 0) }

// Two is a number above 0 with two significant digits, such as 0.57, 2.3, 28 or 1,000: of what is
// measured, the next trial has others behind them.
func Two(x float64) string {
	if x < 9.95 {
		return Significant(x, 2)
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-1)
	return Thousands(strconv.FormatInt(int64(math.Round(x/unit)*unit), 10))
}

// Plural is n, thousands separated, of a thing that has a plural in s: "1 request", "2,000
// requests".
func Plural(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if strings.HasSuffix(thing, "s") { // process
		thing += "e"
	}
	return Thousands(strconv.FormatInt(n, 10)) + " " + thing + "s"
}

// Were is the verb of Plural's things: "was" of one.
func Were(n int64) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// Capital is a text that begins with a capital letter, as a sentence does.
func Capital(s string) string {
	_, size := utf8.DecodeRuneInString(s)
	return strings.ToUpper(s[:size]) + s[size:]
}

// Times is how often something was: "once", "12 times".
func Times(n int64) string {
	if n == 1 {
		return "once"
	}
	return Plural(n, "time")
}

// Micros is us microseconds in three digits, with a space before the unit: "3.65 ms".
func Micros(us float64) string {
	d := time.Duration(us * 1e3)
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return unitOfTime().ReplaceAllString(d.Round(unit).String(), "$1 $2")
}

// unitOfTime matches the unit of a duration that has only one.
var unitOfTime = lazyregexp.New(`^([0-9.]+)(ns|µs|ms|s)$`)
