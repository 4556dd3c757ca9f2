package loadplan

import "math"

// probeConnectionsMost is how many connections a probe has at most. Up to that number it has one
// for each request of a second. With fewer, a request could wait for a connection of the probe, and
// latency would not be the server's alone.
const probeConnectionsMost = 100

// probeMost is the highest rate of a probe: one thread sends it beside the load.
const probeMost = 10_000

// ProbeConnections is how many connections the probe has, in addition to those of the plan.
func (p *Plan) ProbeConnections() int {
	return int(math.Ceil(min(p.Probe.PerSecond(), probeConnectionsMost)))
}

// ProbePlan is the plan of the light open load that runs together with p. It sends the same
// requests at random instants, because random arrivals see the average state of the server.
func (p *Plan) ProbePlan() Plan {
	q := *p
	// So high that the probe never waits for it: see runProbed.
	q.OwnerLimit = min(2*p.Probe, p.OwnerLimit)
	q.Probe, q.Rate, q.Stages, q.Arrival, q.Seed = 0, p.Probe, nil, Poisson, p.Seed+1
	q.Values = SeedOfValues(p.ValuesSeed(), 0) // not those of p
	q.Connections, q.Threads, q.Requested, q.ConnectRate = p.ProbeConnections(), 1, 0, 0
	q.Part, q.Parts, q.Weights, q.Before = 0, 0, nil, 0
	q.SaveErrors, q.Show, q.Log = false, 0, nil
	if q.Duration == 0 {
		q.Duration = Seconds(MaxTime) // until the main load ends
	}
	return q
}
