package digits

// A Bound says what is known of a ratio of which a value is only known to be higher, because
// requests had no answer.
type Bound string

// The bounds.
const (
	AtLeast Bound = "at least" // the variant's values: neither ratio nor interval has an upper end
	AtMost  Bound = "at most"  // the baseline's: they have no lower end
	NoBound Bound = "none"     // those of both: the ratio says nothing
)

// With is the bound of a ratio that depends on what b is of, and on more.
func (b Bound) With(more Bound) Bound {
	switch {
	case b == "" || b == more:
		return more
	case more == "":
		return b
	}
	return NoBound
}

// Inverse is the bound of the inverse ratio.
func (b Bound) Inverse() Bound {
	switch b {
	case AtLeast:
		return AtMost
	case AtMost:
		return AtLeast
	}
	return b
}

// BoundOf is the bound of the ratio of a value to another; each may only be known to be higher.
func BoundOf(over, against bool) Bound {
	switch {
	case over && against:
		return NoBound
	case over:
		return AtLeast
	case against:
		return AtMost
	}
	return ""
}

// Shows reports whether a ratio that is so bounded shows what its interval shows: only in the
// direction in which the ratio that is not known is larger still.
func (b Bound) Shows(ratio float64) bool {
	return b == "" || b == AtLeast && ratio > 1 || b == AtMost && ratio < 1
}

// Text is a ratio, or a change, as "8.1", with what is known of it: "at least 8.1".
func (b Bound) Text(ratio string) string {
	switch b {
	case "":
		return ratio
	case NoBound:
		return None
	}
	return string(b) + " " + ratio
}

// RatioInterval is the Interval of a ratio.
func (b Bound) RatioInterval(low, high float64) string {
	return b.interval("["+Ratio(low, low, high), Ratio(high, low, high)+"]", "0")
}

// interval is an interval of ends with their brackets, as "[0.71, 0.93]", without the end that
// is not known; least is the lowest that there is. Of a ratio of which nothing is known it is None.
func (b Bound) interval(low, high, least string) string {
	switch b {
	case "":
		return low + ", " + high
	case AtLeast:
		return low + ", ∞)"
	case AtMost:
		return "(" + least + ", " + high
	}
	return None
}
