package fleet

import (
	"sync"

	"dyno/internal/engine/load"
	"dyno/internal/engine/metric"
)

// A liveView merges the members' seconds into those of the whole fleet.
type liveView struct {
	mergeInterval func(from int, iv *load.Interval) // nil iv: the member sends no more
	seconds       []load.Interval                   // of all members together, without latencies
}

// unshownMax is how many seconds may wait to be shown: a few minutes, for each can have
// histograms of some hundred kilobytes.
const unshownMax = 256

// startLiveView has each called with what all measured in a second, and keeps that. It is called
// apart from listening, for it may wait: a terminal that is stopped must not have the
// agents believe that nobody is there. What show returns waits until all is shown.
func (r *fleetRun) startLiveView(each func(load.Interval)) (wait func()) {
	r.byName = map[string]*member{}
	for i, m := range r.members {
		m.index, r.byName[m.name] = i, m
	}
	unshown := make(chan load.Interval, unshownMax)
	r.mergeInterval = load.Together(len(r.members), func(iv load.Interval) {
		select {
		case unshown <- iv:
		default: // nobody looks, or not for long
		}
		iv.Latency, iv.Service, iv.Heat = metric.Sparse{}, metric.Sparse{}, nil
		iv.ErrorLatency = metric.Sparse{}
		iv.Status, iv.Failures = nil, nil // of which there is more in the finals
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
