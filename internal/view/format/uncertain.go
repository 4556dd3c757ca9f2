package format

import (
	"fmt"
	"math"
	"strings"

	"dyno/internal/digits"
)

// TooFew stands where there is no figure.
const TooFew = digits.None

// PlusMinus is a figure and half of the width of its interval. The figure has three digits, or
// all of a whole number, but none beyond the second of that half, except its own first.
func PlusMinus(f, half float64) string {
	if !(half > 0) || math.IsInf(half, 0) {
		return Digits3(f)
	}
	d := min(digits.DecimalsFor(half), decimalsOf3(f))
	return digits.Rounded(f, digits.VisibleDecimals(f, d)) + " ± " +
		digits.Rounded(half, digits.VisibleDecimals(half, d))
}

// decimalsOf3 are those of a figure of three digits.
func decimalsOf3(f float64) int {
	if f == 0 {
		return 2
	}
	return min(max(2-digits.PowerOfTen(f), 0), digits.Most)
}

// WithInterval is a figure and its interval, each as PlusMinus writes a figure.
func WithInterval(f, low, high float64) string {
	half := (high - low) / 2
	if !(half > 0) || math.IsInf(half, 0) {
		return Digits3(f)
	}
	d := min(digits.DecimalsFor(half), decimalsOf3(f))
	return fmt.Sprintf("%s [%s, %s]", digits.Rounded(f, digits.VisibleDecimals(f, d)),
		digits.Rounded(low, digits.VisibleDecimals(low, d)),
		digits.Rounded(high, digits.VisibleDecimals(high, d)))
}

// RatioIn is a ratio, or an end of its interval, as digits.Ratio writes it: what is judged and what
// reports add to it have the same digits.
func RatioIn(f, low, high float64) string { return digits.Ratio(f, low, high) }

// RatioInterval is the interval of a RatioIn.
func RatioInterval(low, high float64) string { return digits.RatioInterval(low, high) }

// RatioAlone is a ratio whose interval is not known: three digits.
func RatioAlone(f float64) string { return digits.RatioAlone(f) }

// Change is a ratio as a change in percent, as digits.Change writes it.
func Change(ratio, low, high float64) string { return digits.Change(ratio, low, high) }

// ChangeAlone is a Change whose interval is not known.
func ChangeAlone(ratio float64) string { return digits.ChangeAlone(ratio) }

// SignificantDigits is f to n digits and without zeros at the end, and never with an exponent:
// whole numbers have all their digits.
func SignificantDigits(f float64, n int) string { return digits.Significant(f, n) }

const (
	mostShare  = 10   // a share from which on its digits say nothing
	leastShare = 1e-7 // one below which they do not either, which is 0.00001 %
	leastPower = -5   // the power of ten of that percentage
)

// InPercent is a share as a percentage, three digits of it.
func InPercent(share float64) string { return Percentage(share, 3) }

// Percentage is a share to n digits of a percentage. A share of ten or more is "more than ten
// times".
func Percentage(share float64, n int) string {
	finite := min(max(share, -mostShare), mostShare)
	return form{Steps: percents(n), Trim: true}.write(100*finite, false)
}

// FinePercent is a share as a percentage that is held against a limit, or against 100 %. It has
// four digits; near 100 % it has more, so that two digits tell what is missing: 99.9988 %.
func FinePercent(share float64) string { return fine.write(100*share, false) }

// ByPercent is a difference of so many percent, with its sign.
func ByPercent(f float64) string {
	s := Percentage(f/100, 2)
	if f > 0 && f/100 < mostShare && f/100 >= leastShare {
		return "+" + s
	}
	return s
}

// BothWays is a difference that is a share upwards, and the same factor downwards, in percent:
// "−33 to +49 %" of 0.49, because 1/1.49 is 0.67. Where both are alike it is "±0.4 %".
func BothWays(share float64) string {
	up := Percentage(share, 2)
	switch down := Percentage(share/(1+share), 2); {
	case !(share >= leastShare):
		return up
	case share >= mostShare:
		return "a factor of more than ten"
	case up == down:
		return "±" + up
	default:
		return "−" + strings.TrimSuffix(down, " %") + " to +" + up
	}
}
