package capacity

import (
	"context"
	"math"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/fact"
	"dyno/internal/objective"
	"dyno/internal/result"
	"dyno/internal/say"
)

const (
	// backlogMost is how many seconds of arrivals may wait to be sent until a probe
	// has failed. The queue grows from there: to watch it adds time and no knowledge.
	backlogMost = 1.0

	// sentLeast is the share of what was due that has to be sent in the window.
	sentLeast = 0.99

	// longestProbe is how many times longer than asked for a probe may be measured so
	// that it has enough requests for its percentile.
	longestProbe = 10
)

// A prober makes the probes of a search.
type prober struct {
	run        result.Runner
	plan       loadplan.Plan
	objectives []objective.Objective
	settings   Settings
	made       int
	last       *result.Result
	level      float64 // of last
	// Of streams: how long half of them, and 99 %, took in that probe in which they were fastest.
	median, long loadplan.Seconds
}

// backlog sees when more waits to be sent than a server catches up with.
type backlog struct {
	plan  loadplan.Plan
	begun int64 // of what was due, at least
}

func (b *backlog) grown(iv loadresult.Interval) bool {
	b.begun += begunIn(&b.plan, iv)
	if iv.From >= time.Duration(b.plan.Duration) {
		return false
	}
	rate := b.plan.Rate.PerSecond()
	due := rate * min(iv.To, time.Duration(b.plan.Duration)).Seconds()
	// At a low rate one request is on its way, and the next is just due.
	limit := max(backlogMost*rate, 2)
	if b.plan.Arrival == loadplan.Poisson { // as many may be due by chance
		limit += 4 * math.Sqrt(due)
	}
	if b.plan.CountsIterations() { // of each user one may have begun that is not over
		limit += float64(b.plan.UserCount())
	}
	return due-float64(b.begun) > limit
}

// begunIn is how much of what was due was begun in an interval: requests, also those that were
// refused for a value that does not fit, or iterations, which are counted as they end.
func begunIn(p *loadplan.Plan, iv loadresult.Interval) int64 {
	if p.CountsIterations() {
		return iv.Iterations + iv.IterationsFailed
	}
	n := iv.Sent
	for _, f := range iv.Failures {
		if loadresult.IsRefusal(f.Phase, f.Kind, f.Address) {
			n += f.Count
		}
	}
	return n
}

// probe loads at a level for a time, and judges. An error is the plan's.
func (p *prober) probe(ctx context.Context, purpose Purpose, level float64,
	measure time.Duration) (Probe, error) {
	plan := p.settings.Axis.planAt(p.plan, level)
	plan.Duration = loadplan.Seconds(p.measureTime(level, measure))
	plan.Warmup = max(plan.Warmup, min(p.long, streamTimeMost))
	if plan.Seed != 0 {
		plan.Values = loadplan.SeedOfValues(plan.Seed, uint64(p.made)+1)
		plan.Seed += uint64(p.made) // the same arrivals again would prove nothing
	}
	p.made++
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	waiting, aborted, wrong := backlog{plan: plan}, false, wrongness{}
	var intervals []loadresult.Interval
	r, err := p.run(within, plan, func(iv loadresult.Interval) {
		intervals = append(intervals, iv)
		if waiting.grown(iv) && !aborted {
			aborted = true
			cancel()
		}
		if wrong.isAll(iv) {
			cancel()
		}
	})
	if err != nil {
		return Probe{}, err
	}
	p.last, p.level = r, level
	p.noteStreams(r)
	begun, completed := countedRates(r)
	probe := Probe{Purpose: purpose, Sent: begun, Completed: completed,
		Measured: r.Window.MeasuredS, Started: r.Window.Started,
		Verdict: r.Generator.Verdict, Reasons: r.Generator.Reasons, Checks: r.Checks}
	probe.setLevel(p.settings.Axis, level)
	probe.Judged = p.judgeObjectives(r, intervals, time.Duration(plan.Duration).Seconds())
	probe.Outcome, probe.Facts = worstOutcome(r, probe.Judged)
	// The queue of a closed loop is no longer than it has users.
	open := p.settings.Axis == Rates
	if open && probe.Outcome == Passed && isGrowing(intervals, time.Duration(plan.Duration)) {
		probe.Outcome, probe.Facts = Undecided, because(fact.LatencyGrowing{})
	}
	over, why := p.overallOutcome(ctx, r, aborted)
	if over == OurLimit && p.answersWrongly(r, probe.Judged) {
		over = "" // a generator at its limit does not make answers wrong
	}
	if over != "" {
		probe.Outcome, probe.Facts = over, why
	}
	blamed := probe.Outcome == Failed || probe.Outcome == OurLimit
	still, _, stopped := fact.Find[fact.StoodStill](r.Facts)
	if blamed && stopped && purpose != Again && r.Generator.Bound() != result.Limit {
		probe.Outcome, probe.Facts = Undecided, []fact.Fact{still} // a repetition may show more
	}
	probe.Why = say.Because(probe.Facts)
	return probe, nil
}

// because is one reason of an outcome.
func because(args fact.Args) []fact.Fact {
	return []fact.Fact{{Severity: fact.Warning, Args: args}}
}

// A wrongness sees when no answer of a probe was right. To go on would add time and no knowledge.
type wrongness struct{ sent, right, wrong int64 }

const (
	wrongFor   = 3 * time.Second // how long a probe goes on without a right answer
	wrongLeast = 30              // and until so many were wrong
)

// isAll reports whether nothing was right so far. Right answers may take longer than wrong ones, so
// most of what was sent has to have failed.
func (w *wrongness) isAll(iv loadresult.Interval) bool {
	w.sent += iv.Sent
	w.right += iv.Answered()
	w.wrong += iv.Failed
	return w.right == 0 && w.wrong >= wrongLeast && 2*w.wrong >= w.sent && iv.To >= wrongFor
}

// answersWrongly reports whether an objective of errors is missed, and most errors are answers.
func (p *prober) answersWrongly(r *result.Result, judged []Judged) bool {
	for i, o := range p.objectives {
		if o.OfErrors() && judged[i].Verdict == Failed && 2*r.ErrorAnswers() > r.Requests.Errors {
			return true
		}
	}
	return false
}

// measureTime is how long to measure so that percentiles have bounds, and so that streams of events
// begin and end in it.
func (p *prober) measureTime(level float64, measure time.Duration) time.Duration {
	longest := longestProbe * measure
	rate := p.expectedRate(level)
	for _, o := range p.objectives {
		if q, _, ok := o.Bounded(); ok && rate > 0 {
			needs := time.Duration(math.Min(requestsForBound(q)/rate*1e9, float64(longest)))
			measure = max(measure, needs.Round(time.Millisecond))
		}
	}
	return max(measure, min(streamsInProbe*time.Duration(p.median), longest))
}

// streamsInProbe is how many streams of events follow one another in a probe at least.
const streamsInProbe = 3

// noteStreams notes how long streams took, if answers are streams. Where they queued, that is no
// length of a stream.
func (p *prober) noteStreams(r *result.Result) {
	if !p.plan.Stream.IsSet() || r.Latency == nil {
		return
	}
	median, long := loadplan.Seconds(r.Latency.P50*1e3), loadplan.Seconds(r.Latency.P99*1e3)
	if p.long == 0 || long < p.long {
		p.median, p.long = median, long
	}
}

// streamTimeMost limits how long a load runs before its window until its first streams have ended.
const streamTimeMost = loadplan.Seconds(time.Minute)

// expectedRate is how many requests a second a level has; 0 if nobody knows. A closed loop is
// expected to have as many for each connection or user as in the probe before.
func (p *prober) expectedRate(level float64) float64 {
	if p.settings.Axis == Rates {
		return level
	}
	if p.last == nil {
		return 0
	}
	_, completed := countedRates(p.last)
	return completed * min(level/p.level, 1)
}

// overallOutcome is what decides whatever the objectives say; "" if nothing does. What is
// the generator's fault is looked for before what is the server's.
func (p *prober) overallOutcome(ctx context.Context, r *result.Result, aborted bool) (Outcome,
	[]fact.Fact) {
	share, late := sentShare(r)
	sent := fact.SentInTime{Percent: 100 * share, Iterations: r.Plan.CountsIterations(),
		OwnDelay: late, Shortage: r.Shortage()}
	switch {
	case ctx.Err() != nil:
		return Cut, because(fact.SearchEnded{How: fact.EndInterrupted})
	case r.Ended == string(loadresult.Unreachable):
		return Gone, because(fact.LoadStopped{Why: r.Cause})
	case r.Generator.Verdict == result.ClientBound:
		return OurLimit, r.ReasonFacts()
	case share < sentLeast && late:
		return OurLimit, because(sent)
	case (aborted || share < sentLeast) && allFailed(r):
		return Failed, because(nothingAnswered(r))
	case aborted:
		return Failed, because(fact.GivenUp{AfterS: r.Window.MeasuredS, Shortage: sent.Shortage})
	case share < sentLeast:
		return Failed, because(sent)
	}
	return "", nil
}

// sentShare is the share of what was due in the window that was sent in it, and
// whether the generator is to blame for the rest.
func sentShare(r *result.Result) (share float64, ours bool) {
	share, ok := r.InTime()
	if !ok {
		return 1, false
	}
	return share, r.OwnDelay()
}

// judgeObjectives holds a run against each objective.
func (p *prober) judgeObjectives(r *result.Result, intervals []loadresult.Interval,
	window float64) (all []Judged) {
	samples := map[string]*sample{}
	for _, o := range p.objectives {
		j := Judged{Verdict: Failed, good: o.OfGood()}
		j.Outcome, j.lacks = o.JudgeWhole(r)
		q, of, bounded := o.Bounded()
		if bounded && samples[of] == nil {
			samples[of] = newSample(intervals, valuesOf(of), window)
		}
		d := distributionOf(r, of)
		switch {
		case j.Value == nil:
		case bounded && j.IsMissed() && d != nil && d.Over != nil: // see its note
		case j.Undecided == result.NoAnswers:
			j.Verdict = Undecided
		case !bounded:
			if j.Met {
				j.Verdict = Passed
			} else if j.IsUndecided() || mayBeChance(o, j, r.Requests.Sent) {
				j.Verdict = Undecided
			}
		default:
			s := samples[of]
			b := s.boundQuantile(q, uint64(p.made))
			if d != nil {
				b.high = s.highWith(b.high, q, d.Known()-d.Count)
			}
			j.Verdict, j.Seconds = Undecided, b.seconds
			if !math.IsInf(b.high, 0) {
				j.High = &b.high
			}
			if b.low > 0 {
				j.Low = &b.low
			}
			if o.Meets(b.high) {
				j.Verdict = Passed
			} else if !o.Meets(b.low) {
				j.Verdict = Failed
			}
		}
		all = append(all, j)
	}
	return all
}

// distributionOf is what a result has of the values that an objective bounds, see
// objective.Bounded; nil if there are none.
func distributionOf(r *result.Result, of string) *result.Distribution {
	switch {
	case of != result.FirstEvent:
		return r.Latency
	case r.Stream == nil:
		return nil
	}
	return r.Stream.First
}

// valuesOf are those values of an interval.
func valuesOf(of string) func(*loadresult.Interval) metric.Sparse {
	return func(iv *loadresult.Interval) metric.Sparse {
		switch {
		case of != result.FirstEvent:
			return iv.Latency
		case iv.Stream == nil:
			return metric.Sparse{}
		}
		return iv.Stream.First()
	}
}

// mayBeChance reports whether a share of errors, or of requests that are not good, misses its limit
// by no more of them than one in 20 probes has of a server that errs exactly as often as the limit
// allows. Their number is taken as binomial.
func mayBeChance(o objective.Objective, j Judged, requests int64) bool {
	bad, share := *j.Value/100, o.Limit()/100
	if o.OfGood() {
		bad, share = 1-bad, 1-share
	} else if !o.OfErrors() {
		return false
	}
	if j.Unit != "percent" || o.Meets(*j.Value) || share <= 0 || share >= 1 {
		return false
	}
	low, _ := boundRanks(requests, 1-share)
	return math.Round(bad*float64(requests)) <= float64(requests-low)
}

// ofErrors reports whether errors are what is judged: they, or what is right, but not the share of
// requests that were good, most of which are only slow.
func (j *Judged) ofErrors() bool { return j.Unit == "percent" && !j.good }

// worstOutcome is the outcome of all objectives together: the worst.
func worstOutcome(r *result.Result, all []Judged) (o Outcome, why []fact.Fact) {
	o = Passed
	for _, j := range all {
		switch {
		case j.Verdict == Failed:
			if o = Failed; j.ofErrors() && len(r.Errors) > 0 {
				why = because(mostErrors(r))
			}
		case j.Verdict == Undecided && o == Passed:
			o = Undecided
		}
		if j.Verdict == Undecided && j.High == nil {
			n := r.Requests.Completed
			if j.Unit == "percent" { // of errors
				n = r.Requests.Sent
			}
			why = because(fact.TooFewToBound{Requests: n, Objective: j.Expr})
			if j.Undecided == result.NoAnswers && j.lacks != nil { // more requests would not help
				why = because(j.lacks)
			}
		}
	}
	if r.OnlyErrors() {
		why = because(onlyErrors(r))
	} else if allFailed(r) {
		why = because(nothingAnswered(r))
	}
	if r.Ended == string(loadresult.Gone) {
		o, why = Failed, because(fact.LoadStopped{Why: r.Cause, Gone: true})
	}
	return o, why
}
