package format

import (
	"math"
	"strconv"
)

// mostChange is the ratio from which on a change is written as a multiple, because percentages of
// a thousand are hard to read.
const mostChange = 10

// Change is a ratio as a change in percent, with its sign: "−35 %" of 0.65. It has no digit that
// half of its interval, from low to high, is larger than. Where an end is 10 times or more it is a
// multiple: "×12".
func Change(ratio, low, high float64) string {
	if !isRatio(ratio) {
		return TooFew
	}
	if max(ratio, high) >= mostChange {
		return "×" + RatioText(ratio, low, high)
	}
	return signed(100*(ratio-1), changeDecimals(low, high)) + " %"
}

// ChangeInterval is the interval of a Change: "[−45, −15]".
func ChangeInterval(low, high float64) string {
	if !isRatio(low) || !isRatio(high) {
		return TooFew
	}
	if high >= mostChange {
		return "[×" + RatioText(low, low, high) + ", ×" + RatioText(high, low, high) + "]"
	}
	d := changeDecimals(low, high)
	return "[" + signed(100*(low-1), d) + ", " + signed(100*(high-1), d) + "]"
}

// AbsoluteChange is a Change without its sign, for sentences that say less or more: "35 %".
func AbsoluteChange(ratio, low, high float64) string {
	return roundedTo(100*math.Abs(ratio-1), changeDecimals(low, high)) + " %"
}

// AbsoluteEnds are the ends of the interval of an AbsoluteChange, the smaller first: "15, 45". An
// interval on both sides of no difference keeps its signs.
func AbsoluteEnds(low, high float64) string {
	d := changeDecimals(low, high)
	switch {
	case low >= 1:
		return roundedTo(100*(low-1), d) + ", " + roundedTo(100*(high-1), d)
	case high <= 1:
		return roundedTo(100*(1-high), d) + ", " + roundedTo(100*(1-low), d)
	}
	return signed(100*(low-1), d) + ", " + signed(100*(high-1), d)
}

// RatioText is a ratio of 1 or more with as many digits as its interval allows, at most three:
// "2.4", "12". RatioEnds are the ends of its interval.
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
	return roundedTo(ratio, d)
}

// RatioEnds are the ends of the interval of a RatioText: "1.4, 8.5".
func RatioEnds(low, high float64) string {
	return RatioText(low, low, high) + ", " + RatioText(high, low, high)
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
		return "−" + withThousands(s)
	}
	return "+" + withThousands(s)
}
