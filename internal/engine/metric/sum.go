package metric

import (
	"errors"
	"math"
	"math/big"
	"math/bits"
)

// A Sum is a sum of nanoseconds in 128 bits. It cannot overflow, because it has room for 2⁶⁴ values
// of any size. An int64 would not be enough: 90 million latencies of 225 s overflow it, as in a
// quarter of an hour with a server that answers half of the requests. The zero value is 0.
type Sum struct {
	high int64 // two's complement of both
	low  uint64
}

// AddValue adds v.
func (s *Sum) AddValue(v int64) {
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

// multiply is v × n; n is not negative.
func multiply(v, n int64) Sum {
	high, low := bits.Mul64(uint64(v), uint64(n))
	if v < 0 { // uint64(v) is v + 2⁶⁴
		high -= uint64(n)
	}
	return Sum{int64(high), low}
}

// word is 2⁶⁴.
const word = 1 << 64

// Float64 is s, exact to one part in 2⁵².
func (s Sum) Float64() float64 {
	if s.high < 0 { // else a small negative sum is the difference of two large numbers
		return -Sum{}.subtract(s).Float64()
	}
	return float64(s.high)*word + float64(s.low)
}

// nearestSum is the sum that is nearest to f, which has 53 significant bits. |f| is below 2¹²⁷.
func nearestSum(f float64) Sum {
	if f < 0 { // else what is near 0 would be the difference of two large numbers
		return Sum{}.subtract(nearestSum(-f))
	}
	f = math.RoundToEven(f)
	high := math.Floor(f / word)
	return Sum{int64(high), uint64(f - high*word)}
}

// toBigInt is s in the type that reads and writes decimals.
func (s Sum) toBigInt() *big.Int {
	n := new(big.Int).Lsh(big.NewInt(s.high), 64)
	return n.Add(n, new(big.Int).SetUint64(s.low))
}

// String is s in decimal.
func (s Sum) String() string { return s.toBigInt().String() }

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
