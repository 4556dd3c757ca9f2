package format

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// TooFew stands where there is no figure. A percentile has none if no measured value exceeds it: it
// would be the maximum by another name.
const TooFew = "–"

// decimalsFor is how many decimals a figure has of which half of the interval is so wide: as many
// as give that half two digits. It is negative where tens or more are left out.
func decimalsFor(half float64) int {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(half, 'e', 1, 64), 64)
	if err != nil || rounded <= 0 {
		return mostDecimals
	}
	return min(1-powerOfTen(rounded), mostDecimals)
}

// mostDecimals are those of any figure.
const mostDecimals = 6

// powerOfTen is the power of ten in f, which is not 0: 2 of 123.
func powerOfTen(f float64) int {
	_, power, _ := strings.Cut(strconv.FormatFloat(f, 'e', 16, 64), "e")
	n, err := strconv.Atoi(power)
	if err != nil { // no number at all
		return 0
	}
	return n
}

// roundedTo is f with so many decimals, thousands separated. With -2 it is in hundreds.
func roundedTo(f float64, decimals int) string {
	if decimals < 0 {
		scale := math.Pow10(-decimals)
		f, decimals = math.RoundToEven(f/scale)*scale, 0
	}
	return withThousands(strconv.FormatFloat(f+0, 'f', decimals, 64)) // +0: no −0
}

// withThousands is a decimal number with its thousands separated.
func withThousands(s string) string {
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

// visibleDecimals are d decimals, or so many that one digit of f is not 0: what was measured is not
// zero.
func visibleDecimals(f float64, d int) int {
	if f == 0 {
		return d
	}
	return min(max(d, -powerOfTen(f)), mostDecimals)
}

// PlusMinus is a figure and half of the width of its interval. The figure has three digits, or
// all of a whole number, but none beyond the second of that half, except its own first.
func PlusMinus(f, half float64) string {
	if !(half > 0) || math.IsInf(half, 0) {
		return Digits3(f)
	}
	d := min(decimalsFor(half), decimalsOf3(f))
	return roundedTo(f, visibleDecimals(f, d)) + " ± " + roundedTo(half, visibleDecimals(half, d))
}

// decimalsOf3 are those of a figure of three digits.
func decimalsOf3(f float64) int {
	if f == 0 {
		return 2
	}
	return min(max(2-powerOfTen(f), 0), mostDecimals)
}

// WithInterval is a figure and its interval, each as PlusMinus writes a figure.
func WithInterval(f, low, high float64) string {
	half := (high - low) / 2
	if !(half > 0) || math.IsInf(half, 0) {
		return Digits3(f)
	}
	d := min(decimalsFor(half), decimalsOf3(f))
	return fmt.Sprintf("%s [%s, %s]", roundedTo(f, visibleDecimals(f, d)),
		roundedTo(low, visibleDecimals(low, d)),
		roundedTo(high, visibleDecimals(high, d)))
}

const (
	ratioDecimals = 3 // of a ratio, at most, where its interval is known
	leastDigits   = 2 // of a ratio: 0.012 beside 144 is not 0
)

// RatioIn is a ratio, or an end of its interval, with as many decimals as the interval allows, but
// two digits at least: 0.287 in [0.245, 0.342], 0.81 in [0.71, 0.93].
func RatioIn(f, low, high float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return TooFew
	}
	d := ratioDecimals
	if half := (high - low) / 2; half > 0 && !math.IsInf(half, 0) {
		d = min(decimalsFor(half), ratioDecimals)
	}
	if f != 0 {
		d = max(d, leastDigits-1-powerOfTen(f))
	}
	return roundedTo(f, min(d, mostDecimals))
}

// RatioInterval is the interval of a ratio.
func RatioInterval(low, high float64) string {
	return "[" + RatioIn(low, low, high) + ", " + RatioIn(high, low, high) + "]"
}

// RatioAlone is a ratio whose interval is not known: three digits.
func RatioAlone(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return TooFew
	}
	d := ratioDecimals
	if f != 0 {
		d = 2 - powerOfTen(f)
	}
	return roundedTo(f, min(d, mostDecimals))
}

// SignificantDigits is f to n digits and without zeros at the end, and never with an exponent:
// whole numbers have all their digits.
func SignificantDigits(f float64, n int) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return TooFew
	}
	if f == 0 {
		return "0"
	}
	s := strconv.FormatFloat(f, 'f', max(n-1-powerOfTen(f), 0), 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return withThousands(s)
}

const (
	mostShare  = 10   // a share from which on its digits say nothing
	leastShare = 1e-7 // one below which they do not either, which is 0.00001 %
)

// InPercent is a share as a percentage, three digits of it.
func InPercent(share float64) string { return Percentage(share, 3) }

// Percentage is a share to n digits of a percentage. A share of ten or more is "more than ten
// times".
func Percentage(share float64, n int) string {
	switch a := math.Abs(share); {
	case math.IsNaN(share):
		return TooFew
	case a >= mostShare:
		return "more than ten times"
	case a > 0 && a < leastShare:
		return "below 0.00001 %"
	}
	return SignificantDigits(100*share, n) + " %"
}

// FinePercent is a share as a percentage that is held against a limit, or against 100 %. It has
// four digits; near 100 % it has more, so that two digits tell what is missing: 99.9988 %.
func FinePercent(share float64) string {
	digits := 4
	if missing := 100 * (1 - share); missing > 0 {
		digits = max(digits, 3-powerOfTen(missing))
	}
	return Percentage(share, digits)
}

// ByPercent is a difference of so many percent, with its sign.
func ByPercent(f float64) string {
	s := Percentage(f/100, 2)
	if f > 0 && f/100 < mostShare && f/100 >= leastShare {
		return "+" + s
	}
	return s
}
