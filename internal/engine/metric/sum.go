package metric

import (
	"errors"
	"math"
	"math/big"
	"math/bits"
)

// A Sum is a sum of nanoseconds in 128 bits. It cannot overflow: 2⁶⁴ values of any size fit.
// 90 million latencies of 225 s, a quarter of an hour behind a server that does half of what
// it is asked for, are more than an int64 holds. The zero value is 0.
type Sum struct {
	high int64 // two's complement of both
	low  uint64
}

// Add adds v.
func (s *Sum) Add(v int64) {
	var carry uint64
	s.low, carry = bits.Add64(s.low, uint64(v), 0)
	s.high += v>>63 + int64(carry)
}

// Plus is s + o.
func (s Sum) Plus(o Sum) Sum {
	low, carry := bits.Add64(s.low, o.low, 0)
	return Sum{s.high + o.high + int64(carry), low}
}

// subtract is s - o.
func (s Sum) subtract(o Sum) Sum {
	low, borrow := bits.Sub64(s.low, o.low, 0)
	return Sum{s.high - o.high - int64(borrow), low}
}

// product is n values of v; n is not below 0.
func product(v, n int64) Sum {
	high, low := bits.Mul64(uint64(v), uint64(n))
	if v < 0 { // uint64(v) is v + 2⁶⁴
		high -= uint64(n)
	}
	return Sum{int64(high), low}
}

// word is 2⁶⁴.
const word = 1 << 64

// Float is s to within one part in 2⁵².
func (s Sum) Float() float64 {
	if s.high < 0 { // else a small negative sum is the difference of two large numbers
		return -Sum{}.subtract(s).Float()
	}
	return float64(s.high)*word + float64(s.low)
}

// sumOf is the sum that is nearest to f, of which a float64 has 53 bits. |f| is below 2¹²⁷.
func sumOf(f float64) Sum {
	if f < 0 { // else what is near 0 would be the difference of two large numbers
		return Sum{}.subtract(sumOf(-f))
	}
	f = math.RoundToEven(f)
	high := math.Floor(f / word)
	return Sum{int64(high), uint64(f - high*word)}
}

// toBig is s in the form that reads and writes decimals.
func (s Sum) toBig() *big.Int {
	n := new(big.Int).Lsh(big.NewInt(s.high), 64)
	return n.Add(n, new(big.Int).SetUint64(s.low))
}

// String is s in decimal.
func (s Sum) String() string { return s.toBig().String() }

// MarshalJSON writes s as a number, with all its digits.
func (s Sum) MarshalJSON() ([]byte, error) { return []byte(s.String()), nil }

// errSum is the fault of a number that no Sum is.
var errSum = errors.New("a sum is a whole number of at most 127 bits")

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Sum) UnmarshalJSON(b []byte) error {
	n, ok := new(big.Int).SetString(string(b), 10)
	if !ok || n.BitLen() > 127 {
		return errSum
	}
	low := new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64))
	*s = Sum{new(big.Int).Rsh(n, 64).Int64(), low.Uint64()}
	return nil
}
