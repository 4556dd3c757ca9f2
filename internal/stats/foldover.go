package stats

import "math/bits"

// FewestScreened is how many factors a fraction is for. Fewer have eight combinations at most.
const FewestScreened = 4

// FoldOver returns the settings of a screening of k factors of two values each: runs[i][j] is
// the value, 0 or 1, of factor j in run i. There are 8 runs for 4 factors, 16 for up to 8, and 32
// for up to 16.
//
// The first half is k columns of a Hadamard matrix in Sylvester's order, the second half its mirror
// image (fold-over): run i+N/2 has the other value of every factor of run i. So the design has
// resolution IV: the mean effect of a factor is mixed with that of no other factor, and with no
// interaction of two. Interactions of two factors are mixed with one another (see AliasOf). Source:
// Box, Hunter, "The 2^(k-p) fractional factorial designs", Technometrics 3 (1961).
func FoldOver(k int) [][]int {
	half := FewestScreened
	for half < k {
		half *= 2
	}
	runs := make([][]int, 2*half)
	for i := range half {
		runs[i], runs[half+i] = make([]int, k), make([]int, k)
		for j := range k {
			odd := bits.OnesCount(uint(i&j)) % 2
			runs[i][j], runs[half+i][j] = odd, 1-odd
		}
	}
	return runs
}

// AliasOf is which interaction of two factors a screening measures: pairs of factors with the same
// number cannot be told apart.
func AliasOf(a, b int) int { return a ^ b }
