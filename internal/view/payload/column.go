package payload

import (
	"math"
	"strconv"
)

// A column is numbers to be drawn: four significant digits, which is more than a screen can
// show and a third of the bytes. What is not a number is null.
type column []float64

// MarshalJSON writes the numbers, rounded.
func (c column) MarshalJSON() ([]byte, error) {
	out := append(make([]byte, 0, 6*len(c)+2), '[')
	for i, x := range c {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendRounded(out, x)
	}
	return append(out, ']'), nil
}

// appendRounded writes x with four significant digits.
func appendRounded(out []byte, x float64) []byte {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return append(out, "null"...)
	}
	return strconv.AppendFloat(out, roundDigits(x, 4), 'f', -1, 64)
}
