package fleet

import (
	"sync"

	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
)

// A liveView merges the members' seconds into those of the whole fleet.
type liveView struct {
	mergeInterval func(from int, iv *loadresult.Interval) // nil iv: the member sends no more
	seconds       []loadresult.Interval                   // of all members together, without latencies
}

// unshownMax is how many seconds may wait to be shown. Each can have histograms of some hundred
// kilobytes.
const unshownMax = 256

// startLiveView calls each with every merged second, and keeps the seconds. It does so in a
// goroutine of its own, because each may block (on a stopped terminal), and then the agents would
// hear no heartbeat. The function it returns waits until all seconds are shown.
func (r *fleetRun) startLiveView(each func(loadresult.Interval)) (wait func()) {
	r.byName = map[string]*member{}
	for i, m := range r.members {
		m.index, r.byName[m.name] = i, m
	}
	unshown := make(chan loadresult.Interval, unshownMax)
	r.mergeInterval = loadresult.Together(len(r.members), func(iv loadresult.Interval) {
		select {
		case unshown <- iv:
		default: // each blocks; the second is not shown
		}
		iv.Latency, iv.Service, iv.Heat = metric.Sparse{}, metric.Sparse{}, nil
		iv.ErrorLatency = metric.Sparse{}
		iv.Status, iv.Failures = nil, nil // the finals have them
		r.seconds = append(r.seconds, iv)
	})
	var group sync.WaitGroup
	group.Go(func() {
		for iv := range unshown {
			if each != nil {
				each(iv)
			}
		}
	})
	return func() {
		close(unshown)
		group.Wait()
	}
}
