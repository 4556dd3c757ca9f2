package loadresult

import "sync"

// A Viewer shows intervals to somebody in a goroutine of its own, because whoever sees them may
// take any time: on a stopped terminal. While too many wait, one is added to the next, so that what
// is shown always adds up to what was counted. nil shows nothing.
type Viewer struct {
	waiting chan *Interval
	carried *Interval // what found no room
	showing sync.WaitGroup
}

// NewViewer returns a viewer that calls each with every interval, of which so many may wait. It is
// nil if each is. Close must be called at the end.
func NewViewer(most int, each func(Interval)) *Viewer {
	if each == nil {
		return nil
	}
	v := &Viewer{waiting: make(chan *Interval, most)}
	v.showing.Go(func() {
		for iv := range v.waiting {
			each(*iv)
		}
	})
	return v
}

// Show has an interval shown that is later than those before. It never blocks.
func (v *Viewer) Show(iv Interval) {
	if v == nil {
		return
	}
	if v.carried != nil {
		iv = v.carried.followedBy(iv)
	}
	select {
	case v.waiting <- &iv:
		v.carried = nil
	default:
		v.carried = &iv
	}
}

// Close returns when all is shown.
func (v *Viewer) Close() {
	if v == nil {
		return
	}
	if v.carried != nil {
		v.waiting <- v.carried
	}
	close(v.waiting)
	v.showing.Wait()
}

// followedBy is an interval with the next one of the same load.
func (iv *Interval) followedBy(next Interval) Interval {
	sum := Sum([]Interval{*iv, next})
	sum.Index, sum.InFlight = next.Index, next.InFlight
	return sum
}
