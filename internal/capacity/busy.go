package capacity

import (
	"slices"

	"dyno/internal/fact"
)

// AllBusy is the shortage of a search that may have found the limit of its connections, not the
// server's: at each rate that failed all of them were busy. It is zero of another search.
func (s *Search) AllBusy() (busy fact.Shortage) {
	for _, p := range s.Probes {
		if p.Outcome != Failed {
			continue
		}
		busy = p.shortage()
		if busy.Of != fact.OfConnections || busy.Connections != s.Plan.Connections {
			return fact.Shortage{}
		}
	}
	return busy
}

// shortage is what a probe had too little of, if its facts tell.
func (p *Probe) shortage() fact.Shortage {
	if _, late, is := fact.Find[fact.SentInTime](p.Facts); is && !late.OwnDelay {
		return late.Shortage
	}
	_, ended, _ := fact.Find[fact.GivenUp](p.Facts)
	return ended.Shortage
}

// IsShort reports whether probes were too short for bounds by seconds.
func (s *Search) IsShort() bool {
	return slices.ContainsFunc(s.Probes, func(p Probe) bool {
		return p.Outcome == Passed && slices.ContainsFunc(p.Judged,
			func(j Judged) bool { return j.High != nil && j.Seconds == 0 })
	})
}
