package probe

// An account is what a tree's ended processes left behind and nobody had read: the
// rule is in the package comment. Gains are what living parents were handed; what is
// known is what had been read of processes whose time is in it.
//
// A process is missed a little before or after its parent is read, so for a moment
// the sum can fall short; it catches up at the next settling. If it does not, then a
// process was waited for by nobody, and what was known of it never comes: after two
// settlings the debt is dropped, or it would swallow what others leave.
type account struct {
	sum  float64 // gained, less known
	left float64 // what was left behind: the highest the sum has been
	low  int     // settlings in a row with a debt
}

func (a *account) addGrowth(x float64)     { a.sum += x }
func (a *account) subtractKnown(x float64) { a.sum -= x }

// settleGrowth returns what was left behind since the last time, at least 0. A debt below
// slack is the rounding of the readings and may stay.
func (a *account) settleGrowth(slack float64) float64 {
	switch {
	case a.sum >= a.left:
		grown := a.sum - a.left
		a.left, a.low = a.sum, 0
		return grown
	case a.left-a.sum <= slack:
		a.low = 0
	case a.low < 2:
		a.low++
	default:
		a.sum, a.low = a.left, 0
	}
	return 0
}
