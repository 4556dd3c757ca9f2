package digits

import (
	"math"
	"strconv"
)

// mostChange is the ratio from which on a change is written as a multiple, because percentages of
// a thousand are hard to read.
const mostChange = 10

// Change is a ratio as a change in percent, with its sign: "−35 %" of 0.65. It has no digit that
// half of its interval, from low to high, is larger than, unless it takes more to show that
// something is left: "−99.6 %". Where an end is 10 times or more it is a multiple: "×12".
func Change(ratio, low, high float64) string {
	if !isRatio(ratio) {
		return None
	}
	if max(ratio, high) >= mostChange {
		return "×" + multiple(ratio, low, high)
	}
	return signed(100*(ratio-1), partDecimals(ratio, changeDecimals(low, high))) + " %"
}

// ChangeAlone is a Change whose interval is not known.
func ChangeAlone(ratio float64) string { return Change(ratio, 1, 1) }

// Change is a ratio as a change, with its interval: "−35 %" and "[−45, −15]". Sentences and tables
// have it from here, so that a reader finds the same figures in both. What is only bounded is
// "−35 % or lower", in "(−100, −15]". An interval that leaves out no difference by less than any
// digit shows is open there: "(0, +20]".
func (b Bound) Change(ratio, low, high float64) (change, interval string) {
	change = b.changed(Change(ratio, low, high))
	least, most, ok := changeEnds(low, high)
	nothing := "−100"
	switch {
	case !ok:
		return change, None
	case high >= mostChange:
		nothing = "×0"
	}
	return change, b.interval(least, most, nothing)
}

// ChangeAlone is a Change whose interval is not known.
func (b Bound) ChangeAlone(ratio float64) string { return b.changed(ChangeAlone(ratio)) }

func (b Bound) changed(change string) string {
	switch b {
	case AtLeast:
		return change + " or higher"
	case AtMost:
		return change + " or lower"
	case NoBound:
		return None
	}
	return change
}

// changeEnds are the ends of the interval of a Change: "[−45" and "−15]"; ok is false if none.
func changeEnds(low, high float64) (least, most string, ok bool) {
	switch {
	case !isRatio(low) || !isRatio(high):
		return "", "", false
	case high >= mostChange:
		return "[×" + multiple(low, low, high), "×" + multiple(high, low, high) + "]", true
	}
	d := changeDecimals(low, high)
	above, below := low > 1+leastApart, high < 1-leastApart
	least, most = changeEnd(low, d, above || below), changeEnd(high, d, above || below)
	opening, closing := "[", "]"
	if above && least == "0" {
		opening = "("
	}
	if below && most == "0" {
		closing = ")"
	}
	return opening + least, most + closing, true
}

// leastApart is how far from no difference an end of an interval is at least: nearer is rounding.
const leastApart = 1e-12

// changeEnd is an end of an interval. If the interval leaves out no difference (apart), an end that
// would be 0 has more decimals.
func changeEnd(end float64, decimals int, apart bool) string {
	decimals = partDecimals(end, decimals)
	s := signed(100*(end-1), decimals)
	for more := decimals + 1; apart && s == "0" && more <= Most; more++ {
		s = signed(100*(end-1), more)
	}
	return s
}

// partDecimals are so many decimals of the change of a ratio, or as many more as keep it above
// −100 %, which would say that nothing is left.
func partDecimals(ratio float64, decimals int) int {
	for ratio > 0 && decimals < Most && signed(100*(ratio-1), decimals) == "−"+
		strconv.FormatFloat(100, 'f', decimals, 64) {
		decimals++
	}
	return decimals
}

// multiple is a ratio, or an end of its interval, with as many digits as the interval allows, at
// most three but one that is not 0: "2.4", "12", "0.04".
func multiple(ratio, low, high float64) string {
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
	return Rounded(ratio, VisibleDecimals(ratio, d))
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
		return "−" + Thousands(s)
	}
	return "+" + Thousands(s)
}

// VisibleDecimals are d decimals, or so many that one digit of f is not 0: what was measured is not
// zero.
func VisibleDecimals(f float64, d int) int {
	if f == 0 {
		return d
	}
	return min(max(d, -PowerOfTen(f)), Most)
}
