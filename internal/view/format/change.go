package format

import (
	"math"
	"strconv"
	"strings"

	"dyno/internal/digits"
)

// mostChange is the ratio from which on a change is written as a multiple, because percentages of
// a thousand are hard to read.
const mostChange = 10

// Change is a ratio as a change in percent, with its sign: "−35 %" of 0.65. It has no digit that
// half of its interval, from low to high, is larger than, unless it takes more to show that
// something is left: "−99.6 %". Where an end is 10 times or more it is a multiple: "×12".
func Change(ratio, low, high float64) string {
	if !isRatio(ratio) {
		return TooFew
	}
	if max(ratio, high) >= mostChange {
		return "×" + RatioText(ratio, low, high)
	}
	return signed(100*(ratio-1), partDecimals(ratio, changeDecimals(low, high))) + " %"
}

// ChangeInterval is the interval of a Change: "[−45, −15]".
func ChangeInterval(low, high float64) string {
	least, most, ok := ChangeEnds(low, high)
	if !ok {
		return TooFew
	}
	return "[" + least + ", " + most + "]"
}

// ChangeEnds are the ends of the interval of a Change: "−45" and "−15". ok is false if it has none.
func ChangeEnds(low, high float64) (least, most string, ok bool) {
	switch {
	case !isRatio(low) || !isRatio(high):
		return "", "", false
	case high >= mostChange:
		least, most = RatioEnds(low, high)
		return "×" + least, "×" + most, true
	}
	d := changeDecimals(low, high)
	apart := low > 1+leastApart || high < 1-leastApart
	return changeEnd(low, d, apart), changeEnd(high, d, apart), true
}

// The ends of intervals that leave out no difference by less than any digit shows.
const (
	below0 = "below 0"
	above0 = "above 0"
)

// leastApart is how far from no difference an end of an interval is at least: nearer is rounding.
const leastApart = 1e-12

// AbsoluteChange is a Change without its sign, for sentences that say less or more: "35 %".
func AbsoluteChange(ratio, low, high float64) string {
	d := partDecimals(ratio, changeDecimals(low, high))
	return digits.Rounded(100*math.Abs(ratio-1), d) + " %"
}

// AbsoluteEnds are the ends of the interval of an AbsoluteChange, the smaller first: "15" and "45".
// An interval on both sides of no difference keeps its signs.
func AbsoluteEnds(low, high float64) (least, most string) {
	d := changeDecimals(low, high)
	switch {
	case low >= 1:
		return absoluteEnd(low, d), absoluteEnd(high, d)
	case high <= 1:
		return absoluteEnd(high, d), absoluteEnd(low, d)
	}
	return signed(100*(low-1), d), signed(100*(high-1), d)
}

// changeEnd is an end of an interval. If the interval leaves out no difference (apart), an end that
// would be 0 has more decimals, and if they are all 0 says on which side it is: "above 0".
func changeEnd(end float64, decimals int, apart bool) string {
	decimals = partDecimals(end, decimals)
	s := signed(100*(end-1), decimals)
	for more := decimals + 1; apart && s == "0" && more <= digits.Most; more++ {
		s = signed(100*(end-1), more)
	}
	switch {
	case !apart || s != "0":
		return s
	case end < 1:
		return below0
	}
	return above0
}

// partDecimals are so many decimals of the change of a ratio, or as many more as keep it above
// −100 %, which would say that nothing is left.
func partDecimals(ratio float64, decimals int) int {
	for ratio > 0 && decimals < digits.Most && signed(100*(ratio-1), decimals) == "−"+
		strconv.FormatFloat(100, 'f', decimals, 64) {
		decimals++
	}
	return decimals
}

// absoluteEnd is a changeEnd without its sign, of an interval that leaves out no difference.
func absoluteEnd(end float64, decimals int) string {
	s := changeEnd(end, decimals, true)
	if s == below0 {
		return above0
	}
	return strings.TrimLeft(s, "−+")
}

// RatioText is a ratio with as many digits as its interval allows, at most three but one that is
// not 0: "2.4", "12", "0.04". RatioEnds are the ends of its interval.
func RatioText(ratio, low, high float64) string {
	if !isRatio(ratio) {
		return TooFew
	}
	half := (high - low) / 2
	d := 2
	switch {
	case half >= 0.95 || ratio >= 99.5:
		d = 0
	case half >= 0.095 || ratio >= 9.95:
		d = 1
	}
	if ratio < 9.95 && ratio != math.Trunc(ratio) {
		d = max(d, 1)
	}
	return digits.Rounded(ratio, visibleDecimals(ratio, d))
}

// RatioEnds are the ends of the interval of a RatioText: "1.4" and "8.5".
func RatioEnds(low, high float64) (least, most string) {
	return RatioText(low, low, high), RatioText(high, low, high)
}

// changeDecimals are those of a change in percent whose interval is so wide: as many as give half
// of it one digit, but no more than three digits in all.
func changeDecimals(low, high float64) int {
	half, largest := 50*(high-low), 100*max(math.Abs(low-1), math.Abs(high-1))
	switch {
	case !(half > 0) || half >= 0.95 || largest >= 99.95:
		return 0
	case half >= 0.095 || largest >= 9.995:
		return 1
	}
	return 2
}

func isRatio(f float64) bool { return f >= 0 && !math.IsInf(f, 0) }

// signed is a number with its sign, which 0 has not. The minus is that of typography, as wide as
// the plus.
func signed(f float64, decimals int) string {
	s := strconv.FormatFloat(math.Abs(f), 'f', decimals, 64)
	if zero, err := strconv.ParseFloat(s, 64); err == nil && zero == 0 {
		return "0"
	}
	if f < 0 {
		return "−" + digits.Thousands(s)
	}
	return "+" + digits.Thousands(s)
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
