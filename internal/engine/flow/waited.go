package flow

import "math/bits"

// waitedMost is how many requests TakeWaiting counts at most, which takes some 20 ms.
const waitedMost = 1 << 20

// TakeWaiting takes the requests that were due in the window by now and were never sent, and counts
// them by how long they have been due: element i those of 2ⁱ ns to twice as much. What there is
// beyond waitedMost stays in the Backlog.
func (f *Flow) TakeWaiting(now int64, v *Window) (n int64, by [63]int64) {
	if f.IsClosed() || v.Start == NotYet {
		return 0, by
	}
	for range waitedMost {
		due := v.Start + f.Next
		if f.Over || f.Left == 0 || due >= min(v.End, now) {
			break
		}
		if due >= v.From {
			by[bits.Len64(uint64(now-due))-1]++
			n++
			f.Left--
		}
		f.AdvanceArrival()
	}
	return n, by
}
