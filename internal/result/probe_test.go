package result

import (
	"reflect"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
)

// besideRun is a closed run with a probe beside it.
func besideRun() *loadresult.Result {
	r, side := closedRun(), openRun()
	side.Plan.Rate, side.Plan.Arrival, side.Plan.Connections = loadplan.RatePerSecond(100), loadplan.Poisson, 100
	r.Plan.Probe, r.Probe = side.Plan.Rate, side
	return r
}

// What the probe measured is beside what the load did, and not in it.
func TestProbeIsApart(t *testing.T) {
	with, without := from(t, besideRun()), from(t, closedRun())
	p := with.Probe
	if p == nil || *p.Rate.Offered != 100 || p.Connections.Asked != 100 || *p.SendLagMax != 30 ||
		*p.Requests.Waiting != 6 || p.Service.Count != 1 || p.Latency.HDR != without.Latency.HDR {
		t.Fatalf("%+v", p)
	}
	with.Probe, with.Plan.Probe = nil, 0
	with.Generator.Reasons, with.Generator.Verdict = nil, ""
	without.Generator.Reasons, without.Generator.Verdict = nil, ""
	if !reflect.DeepEqual(with, without) {
		t.Errorf("%+v\nwithout the probe\n%+v", with, without)
	}
}

// Of a load in parts, the first has the probe, and the whole keeps it.
func TestTogetherKeepsTheProbe(t *testing.T) {
	plan := besideRun().Plan
	plan.Connections, plan.Threads = 6, 3
	var all []*loadresult.Result
	for _, p := range plan.Split(3) {
		r := besideRun()
		r.Plan = p
		if p.Probe == 0 {
			r.Probe = nil
		}
		r.Total.Completed = r.Total.Latency.Count
		r.Total.Sent = r.Total.Completed + r.Total.Failed + r.Unfinished
		r.Started = r.Started.Add(time.Duration(p.Part) * time.Millisecond)
		all = append(all, r)
	}
	m := together(t, all...)
	if first := from(t, all[0]); all[0].Probe == nil || all[1].Probe != nil || m.Plan.Probe != plan.Probe ||
		!reflect.DeepEqual(m.Probe, written(t, first).Probe) {
		t.Errorf("of the whole %+v, of the first part %+v", m.Probe, first.Probe)
	}
}
