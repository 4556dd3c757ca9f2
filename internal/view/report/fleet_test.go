package report

import (
	"dyno/internal/result"
	"dyno/internal/view/reporttest"
)

// distributed is of a fleet of two, of which one was lost.
func distributed() *result.Result {
	r := reporttest.Closed()
	spread, late, after, yes := 420.0, 180.5, 7.5, true
	r.Fleet = &result.Fleet{Run: "r", StartSpread: &spread, OffsetBound: 35, Planned: 20, Covered: 17.5, AddsUp: true,
		Agents: []result.Agent{{Name: "web1", Weight: 2, Connections: 500, Late: &late, OffsetBound: 35, Final: true,
			Covered: 10, AddsUp: &yes, Requests: result.Requests{Sent: 1234567, Completed: 1234566, Errors: 1}},
			{Name: "web2", Weight: 1, Connections: 250, Lost: "gone\x07", LostAfter: &after, Covered: 7.5}}}
	return r
}

// drifting is of a fleet whose clocks drift, of which nobody told of connections and threads, and
// whose numbers do not add up.
func drifting() *result.Result {
	r, drift := distributed(), -12.34
	r.Fleet.DriftBound, r.Fleet.Agents[0].Final, r.Fleet.Agents[0].Drift = 70, false, &drift
	r.Fleet.AddsUp = false
	return r
}
