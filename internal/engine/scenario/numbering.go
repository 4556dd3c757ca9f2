package scenario

// A Numbering numbers the iterations of one worker, so that no two of a run have one number.
type Numbering struct {
	share         Share
	begun, warmup int64
}

// NewNumbering numbers the iterations of a share.
func NewNumbering(s Share) Numbering { return Numbering{share: s} }

const (
	// perUser is how many iterations a worker can have for each of its users before it runs into
	// the numbers of the next: 10¹².
	perUser = 1 << 40
	// warmupNumbers are above all those of a run with a number of iterations (loadplan.MaxRequested).
	warmupNumbers = 1 << 50
)

// Next numbers an iteration that begins.
//
// The place is its position among those of the run, from 0, if their number is given. Otherwise,
// and in the warm-up, each worker counts by itself, and begins at the number of its first user.
//
// The sequence number is from 1 and unique in the run, warm-up included. If the number of
// iterations is given, it is the place + 1.
func (n *Numbering) Next(warmup bool) (place, sequence int64) {
	if n.share.Iterations == 0 {
		place, sequence = n.share.FirstUser+n.begun, n.share.FirstUser*perUser+n.begun+1
		n.begun++
		return place, sequence
	}
	if warmup {
		place = n.share.FirstUser + n.warmup
		sequence = warmupNumbers + n.share.FirstUser*perUser + n.warmup + 1
		n.warmup++
		return place, sequence
	}
	place = n.share.FirstIteration + n.begun
	n.begun++
	return place, place + 1
}
