package format

import (
	"math"
	"testing"
)

// A figure has no digit beyond the second of its uncertainty, and none has an exponent.
func TestUncertain(t *testing.T) {
	inf := math.Inf(1)
	for _, test := range []struct{ got, want string }{
		{PlusMinus(1913, 47622), "2,000 ± 48,000"}, {PlusMinus(15.34, 0.46), "15.3 ± 0.5"},
		{PlusMinus(15.34, 0.012), "15.3 ± 0.01"}, {PlusMinus(332014, 500), "332,010 ± 500"},
		{PlusMinus(332014, 1.4), "332,014 ± 1"}, {PlusMinus(499.6, 9.96), "500 ± 10"},
		{PlusMinus(0.0123, 0.0004), "0.0123 ± 0.0004"}, {PlusMinus(12, 0), "12.0"},
		{PlusMinus(12, inf), "12.0"}, {PlusMinus(-1913, 47622), "-2,000 ± 48,000"},
		{PlusMinus(3, 47622), "3 ± 48,000"}, {PlusMinus(200, 47622), "200 ± 48,000"},
		{PlusMinus(0, 47622), "0 ± 48,000"}, {PlusMinus(-3.4, 47622), "-3 ± 48,000"},
		{WithInterval(40, 3, 4000), "40 [3, 4,000]"}, {WithInterval(0.4, 0, 4000), "0.4 [0, 4,000]"},
		{WithInterval(200100, 199600, 200600), "200,100 [199,600, 200,600]"},
		{WithInterval(500, 498.6, 501.2), "500 [499, 501]"}, {WithInterval(5, 5, 5), "5.00"},
		{WithInterval(1913, 100, 95344), "2,000 [100, 95,000]"},
		{InPercent(0.05), "5 %"}, {InPercent(0.0526), "5.26 %"}, {InPercent(1.5), "150 %"},
		{InPercent(72), "more than ten times"}, {InPercent(inf), "more than ten times"},
		{InPercent(1e-9), "below 0.00001 %"}, {InPercent(0.0000123), "0.00123 %"}, {InPercent(0), "0 %"},
		{Percentage(0.0009996, 4), "0.09996 %"}, {ByPercent(-12.3), "-12 %"}, {ByPercent(2300), "more than ten times"},
		{FinePercent(0.00099964), "0.09996 %"}, {FinePercent(0.99387), "99.39 %"}, {FinePercent(0.99996), "99.996 %"},
		{FinePercent(0.999988), "99.9988 %"}, {FinePercent(0.999999999), "99.9999999 %"}, {FinePercent(1), "100 %"}, {FinePercent(0), "0 %"},
		{ByPercent(123), "+123 %"}, {ByPercent(0.5), "+0.5 %"},
		{Digits3(1e19), "10,000,000,000,000,000,000"},
		{BothWays(0.48555494), "−33 to +49 %"}, {BothWays(0.123), "−11 to +12 %"},
		{BothWays(3.54), "−78 to +354 %"}, {BothWays(0.004), "±0.4 %"},
		{BothWays(12), "a factor of more than ten"}, {BothWays(0), "0 %"},
	} {
		if test.got != test.want {
			t.Errorf("%s, want %s", test.got, test.want)
		}
	}
}
