package run

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"time"

	"dyno/internal/capacity"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/result"
	"dyno/internal/stats"
)

const (
	// searchWithin is the ratio of the ends of a search's bracket.
	searchWithin = 1.03

	// knownStep is the first step of a search that begins where earlier rounds ended, closedStep that
	// of one that begins at closedShare of the closed workload of the warm-up.
	knownStep   = 1.06
	closedStep  = 1.2
	closedShare = 0.8

	// confirmWindows is how many windows the run takes that confirms a rate.
	confirmWindows = 2
)

// search is the measured part of a trial at a level with find: a search with its probes. It returns
// the result of the run that confirmed what was found, or else the first one.
func (r *running) search(ctx context.Context, t *lab.Trial, l experiment.Level, p loadplan.Plan,
	run result.Runner) (*result.Result, error) {
	var last, kept *result.Result
	watched := func(ctx context.Context, p loadplan.Plan, each func(loadresult.Interval)) (
		res *result.Result, err error) {
		last, err = run(ctx, p, each)
		return last, err
	}
	settings, known := r.searchSettings(t, l, &p)
	t.Search = &lab.Search{Known: known, Start: settings.Start}
	if l.SearchesCount() {
		t.Search.Axis, t.Search.Start = l.Axis, 0
	}
	p.Arrival, p.Warmup = l.Arrival, capacity.DefaultWarmup(settings.Probe)
	found, err := capacity.Find(ctx, watched, p, l.Objectives(), settings, func(b capacity.Probe) {
		if len(t.Search.Probes) == 0 { // of a rate 0
			t.Search.Count.Start = b.Connections + b.Users
		}
		t.Search.Probes = append(t.Search.Probes, lab.Probed{Purpose: string(b.Purpose), Rate: b.Rate,
			Connections: b.Connections, Users: b.Users, Measured: b.Measured, Outcome: string(b.Outcome)})
		if kept == nil || b.Purpose == capacity.Confirm {
			kept = last
		}
	})
	if err != nil {
		return last, err
	}
	if kept == nil { // it ended before its first probe
		return nil, errors.New(found.Reason)
	}
	s := t.Search
	s.End, s.Reason = string(found.End), found.Reason
	for to, from := range map[*float64]*float64{&s.Certified: found.Certified, &s.Low: found.Low,
		&s.High: found.High} {
		if from != nil {
			*to = *from
		}
	}
	if c := found.Count; c != nil {
		s.Count.Certified, s.Count.Low, s.Count.High = c.Certified, c.Low, c.High
	}
	if s.Highest() == 0 && found.End != capacity.Interrupted {
		return kept, fmt.Errorf("no %s was certified: %s", searched(l), found.Reason)
	}
	return kept, nil
}

// searched is what a level's trials search, in words.
func searched(l experiment.Level) string {
	if l.SearchesCount() {
		return "number of " + l.Axis
	}
	return "rate"
}

// searchSettings are how a trial's search begins: where the rounds before ended, or else below the
// throughput of the warm-up. known is how many rounds were known.
//
// The start is shifted at random by up to half a step. Otherwise a search would try the same rates
// in every round, and the distance of a variant's capacity from the next lower of them would be a
// bias that no number of rounds shows.
//
// A search for connections or users has p try other numbers of them, and first what p has.
func (r *running) searchSettings(t *lab.Trial, l experiment.Level, p *loadplan.Plan) (
	s capacity.Settings, known int) {
	window := time.Duration(r.Experiment.Design.Measure)
	s = capacity.Settings{Probe: window, Confirm: confirmWindows * window, Within: searchWithin}
	start, step := r.knownCapacity(t)
	known = len(r.searchesBefore(t))
	if l.SearchesCount() {
		s.Axis = capacity.Axis(l.Axis)
		first := p.Connections
		if p.Connections = 0; s.Axis == capacity.Users {
			first, p.Users = p.Users, 0
		}
		if known == 0 {
			s.Start = float64(first)
			return s, 0
		}
	}
	if start == 0 {
		return s, 0
	}
	seed := uint64(r.record.Seed)
	coin := rand.New(rand.NewPCG(seed^uint64(t.Round)<<32, hashOf(t.Arm+"\x00"+t.Level)))
	start *= math.Pow(step, coin.Float64()-0.5)
	if s.Step = step; l.SearchesCount() {
		s.Start = max(math.Round(start), 1)
		return s, known
	}
	s.Start = loadplan.RatePerSecond(start).PerSecond()
	return s, known
}

// knownCapacity is where a search begins, and its first step; 0 if nothing is known.
func (r *running) knownCapacity(t *lab.Trial) (rate, step float64) {
	if before := r.searchesBefore(t); len(before) > 0 {
		return stats.Median(before), knownStep
	}
	if w := t.Warmup; w != nil && w.Throughput > 0 {
		return closedShare * w.Throughput, closedStep
	}
	return 0, 0
}

// searchesBefore is what other rounds certified for the same arm and level.
func (r *running) searchesBefore(t *lab.Trial) (all []float64) {
	for _, o := range r.trials {
		if o.Arm == t.Arm && o.Level == t.Level && o.Search != nil && o.Search.Highest() > 0 {
			all = append(all, o.Search.Highest())
		}
	}
	return all
}

// hashOf is a number that differs from name to name.
func hashOf(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name)) // never fails
	return h.Sum64()
}
