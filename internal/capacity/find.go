package capacity

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/machine"
	"dyno/internal/fact"
	"dyno/internal/objective"
	"dyno/internal/result"
	"dyno/internal/say"
)

const (
	startShare = 0.2  // of what a closed loop reaches: where the search for a rate begins
	startCount = 10   // connections or users, where a search for their number begins
	lowest     = 32.0 // times lower than the start is looked, and no more
	highest    = 24   // times the load is doubled at most
	repeats    = 3    // probes of which the most decide
	stepDown   = 0.95 // when a confirmation fails

	largestStep = 2.0 // factor between two levels, until one is met and one is not
	steps       = 10  // down, at most
)

// defaultErrors is met in addition when no objective says how many requests may
// fail: a server that refuses most of them answers the rest very fast.
const defaultErrors = "errors<0.1%"

// Find searches the highest level of load at which plan meets all objectives, which must
// be harder to meet with more load. The load is a rate, unless settings say that it is the
// number of connections or of users of a closed loop. Plan's own rate is the first to be tried,
// if it has one; arrivals, connections, the warm-up before each probe and the rest are as it
// says. each is called with every probe when it is over. When ctx ends, so does the search,
// with what was found until then. An error is the runner's, of a plan that cannot be carried out.
func Find(ctx context.Context, run result.Runner, plan loadplan.Plan,
	objectives []objective.Objective, settings Settings, each func(Probe)) (*Search, error) {
	settings = settings.withDefaults()
	plan.Stages, plan.Requested = nil, 0
	s := &search{each: each, prober: prober{run: run, plan: plan, settings: settings,
		objectives: withErrorObjective(objectives)}}
	s.found = &Search{Format: Format, Dyno: loadplan.Version, Probes: []Probe{}}
	if settings.Axis != Rates {
		s.found.Axis = settings.Axis
	}
	for _, o := range s.objectives {
		s.found.Objectives = append(s.found.Objectives, o.Expr)
	}
	if s.findStart(ctx); s.err == nil && s.found.End == "" {
		s.bracket(ctx)
	}
	if s.err != nil {
		return nil, s.err
	}
	s.writeResult()
	return s.found, nil
}

// withErrorObjective is objectives and, unless they have one of errors, ours.
func withErrorObjective(objectives []objective.Objective) []objective.Objective {
	all := append([]objective.Objective{}, objectives...)
	for _, o := range all {
		if o.OfErrors() {
			return all
		}
	}
	o, err := objective.Parse(defaultErrors)
	if err != nil {
		panic(err) // it is a constant
	}
	return append(all, o)
}

// A search is a Find under way.
type search struct {
	prober
	each  func(Probe)
	found *Search
	err   error

	start     float64     // the first level
	low, high float64     // met, and not; 0 before one is
	missed    Outcome     // of high: OurLimit says that it is the generator's
	heldUp    bool        // then: the generator was, and was not at its limit
	short     bool        // or this machine had not what a level takes
	why       []fact.Fact // of high
	open      bool        // whether one of the levels that count as missed is met
	certified float64
}

// findStart finds where to begin.
func (s *search) findStart(ctx context.Context) {
	s.start = s.settings.Start
	switch {
	case s.start != 0:
	case s.settings.Axis != Rates:
		s.start = startCount
	case s.plan.Rate != 0:
		s.start = s.plan.Rate.PerSecond()
	}
	if s.start != 0 {
		return
	}
	r, err := s.runClosed(ctx, max(s.settings.Probe/5, 100*time.Millisecond))
	if err == nil && isSilent(r) && ctx.Err() == nil {
		r, err = s.runClosed(ctx, max(s.settings.Probe, time.Duration(s.plan.Timeout)))
	}
	if err != nil {
		s.err = err
		return
	}
	s.last = r
	switch {
	case ctx.Err() != nil:
		s.endAt(Interrupted, fact.EndInterrupted, nil)
	case r.Answers() == 0:
		s.endAs(Unreachable, nothingAnswered(r), nil)
	case r.OnlyErrors():
		s.endAs(Missed, onlyErrors(r), nil)
	default:
		_, reached := countedRates(r)
		s.found.Closed = &reached
		s.start = max(roundRate(startShare*reached), 1).PerSecond()
	}
}

// runClosed loads as fast as the connections allow.
func (s *search) runClosed(ctx context.Context, measured time.Duration) (*result.Result, error) {
	plan := s.plan
	plan.Rate, plan.Arrival, plan.Seed = 0, "", 0
	if s.plan.Seed != 0 {
		plan.Seed, plan.Values = s.plan.Seed, loadplan.SeedOfValues(s.plan.Seed, 0)
	}
	plan.Duration = loadplan.Seconds(measured)
	return s.run(ctx, plan, func(loadresult.Interval) {})
}

// isSilent reports whether requests were neither answered nor failed: the server may be slow.
func isSilent(r *result.Result) bool {
	return r.Answers() == 0 && r.Cause == "" && len(r.Errors) == 0
}

// countedRates are what was begun and completed in a second, of what the rate counts: requests or
// iterations.
func countedRates(r *result.Result) (begun, completed float64) {
	if i := r.Iterations; i != nil {
		return i.Rate.Started, i.Rate.Completed
	}
	return r.Rate.Sent, r.Rate.Completed
}

// onlyErrors says of a run of which every answer was an error what they were: statuses, and checks
// that failed.
func onlyErrors(r *result.Result) (args fact.OnlyErrors) {
	for _, e := range r.Errors {
		switch loadresult.Phase(e.Phase) {
		case loadresult.Expect, loadresult.Check:
			args.Of = append(args.Of, errorCount(e))
		}
	}
	return args
}

// errorCount is an error of answers with its name and number.
func errorCount(e result.Error) fact.ErrorCount {
	if loadresult.Phase(e.Phase) == loadresult.Check {
		return fact.ErrorCount{What: e.Kind, Check: true, Count: e.Count}
	}
	return fact.ErrorCount{What: cmp.Or(e.Detail, e.Kind), Count: e.Count}
}

// mostErrors says of a run what most of its errors were, and of how many requests.
func mostErrors(r *result.Result) fact.MostErrors {
	most := slices.MaxFunc(r.Errors, func(a, b result.Error) int {
		return cmp.Compare(a.Count, b.Count)
	})
	return fact.MostErrors{ErrorCount: errorCount(most), Of: r.Requests.Sent}
}

// causeText is an error as the cause that nothing was answered: with the address if there was no
// connection, as a load that ends early for that says it.
func causeText(e result.Error) string {
	if e.Phase == string(loadresult.Connect) && e.Address != "" {
		return loadresult.Failure{Phase: loadresult.Connect, Address: e.Address,
			Detail: e.Detail}.CauseText()
	}
	return cmp.Or(e.Detail, e.Kind)
}

// nothingAnswered says why nothing came of a run.
func nothingAnswered(r *result.Result) fact.NothingAnswered {
	args := fact.NothingAnswered{Wrong: r.Answers() > 0, Why: r.Cause}
	if args.Why == "" && len(r.Errors) > 0 {
		args.Why = causeText(r.Errors[0])
	}
	if args.Why == "" {
		args.WithinS = r.Window.MeasuredS
	}
	return args
}

// allFailed reports whether all requests of a run failed, and none was answered.
func allFailed(r *result.Result) bool { return r.Answers() == 0 && len(r.Errors) > 0 }

// roundRate is a rate of four digits, which people can read.
func roundRate(perSecond float64) loadplan.Rate {
	unit := math.Pow(10, math.Floor(math.Log10(max(perSecond, 1e-3)))-3)
	return loadplan.RatePerSecond(math.Round(perSecond/unit) * unit)
}

// bracket brackets, narrows and confirms.
func (s *search) bracket(ctx context.Context) {
	a := s.settings.Axis.scaleOf(&s.plan)
	bottom := max(s.start/lowest, a.least())
	if a.Axis != Rates {
		bottom = a.least()
		s.start = max(a.round(s.start), bottom)
	}
	least := a.round(bottom)
	step := s.settings.Step
	for level, doubled := s.start, 0; s.low == 0 || s.high == 0; step = min(step*step, largestStep) {
		if s.try(ctx, level); s.isOver() {
			return
		}
		if s.low == 0 && level > least && s.last.OnlyErrors() {
			level = least // if not even this has a right answer, the load is not why
			continue
		}
		if s.low == level {
			level, doubled = a.above(level, step), doubled+1
		} else {
			level = a.below(level, step)
		}
		switch {
		case s.high == 0 && (doubled > highest || level > a.most()):
			s.endAt(Inconclusive, fact.EndNoMore, nil)
			return
		case s.low == 0 && level < bottom:
			s.endUnmet()
			return
		}
	}
	for s.high/s.low > s.settings.Within {
		middle := a.round(math.Sqrt(s.low * s.high))
		if middle <= s.low || middle >= s.high {
			break
		}
		if s.try(ctx, middle); s.isOver() {
			return
		}
	}
	s.confirm(ctx)
}

// endUnmet ends a search in which no level was met.
func (s *search) endUnmet() {
	end, how := Missed, fact.EndMissed
	switch {
	case s.missed == OurLimit:
		end, how = ClientBound, fact.EndNeverFree
	case s.missed == Undecided:
		end, how = Inconclusive, fact.EndUndecided
	case s.open:
		end, how = Inconclusive, fact.EndMissedOpen
	}
	s.endAt(end, how, s.why)
}

func (s *search) isOver() bool { return s.err != nil || s.found.End != "" }

// endAs ends the search, and says how and why.
func (s *search) endAs(e End, how fact.Args, why []fact.Fact) {
	s.found.End, s.found.Facts = e, append([]fact.Fact{{Severity: fact.Note, Args: how}}, why...)
	s.found.Reason = say.Because(s.found.Facts)
}

// endAt is endAs with the levels that are met and not.
func (s *search) endAt(e End, how fact.Ending, why []fact.Fact) {
	ended := fact.SearchEnded{How: how, HeldUp: s.heldUp,
		Open: how == fact.EndInterrupted && s.high > 0 && s.missed != Failed}
	if a := s.settings.Axis; a == Rates {
		ended.Low, ended.High = s.low, s.high
	} else {
		ended.Axis, ended.LowCount, ended.HighCount = string(a), int64(s.low), int64(s.high)
	}
	s.endAs(e, ended, why)
}

// try decides whether a level is met.
func (s *search) try(ctx context.Context, level float64) {
	o, why := s.decide(ctx, level)
	if s.isOver() {
		return
	}
	if o == Passed {
		s.low = level
		return
	}
	s.noteMissed(level, o, why)
}

// noteMissed notes that the probe just made did not pass at a level, and what kept the generator
// from more.
func (s *search) noteMissed(level float64, o Outcome, why []fact.Fact) {
	s.high, s.missed, s.why = level, o, why
	s.open = s.open || o != Failed
	s.heldUp = !s.short && !s.last.Generator.AtLimit()
}

// decide probes a level until it is clear whether it is met: once; twice as long;
// and again so, until most of those say the same. What stays unclear is Undecided, and
// counts as missed.
func (s *search) decide(ctx context.Context, level float64) (o Outcome, why []fact.Fact) {
	o, why = s.probeOnce(ctx, Trial, level, s.settings.Probe)
	if o == Undecided {
		o, why = s.probeOnce(ctx, Longer, level, 2*s.settings.Probe)
	}
	if o != Undecided {
		return o, why
	}
	votes := map[bool]int{}
	failed := false
	for max(votes[true], votes[false]) <= repeats/2 {
		o, why = s.probeOnce(ctx, Again, level, 2*s.settings.Probe)
		if s.isOver() || o == OurLimit {
			return o, why
		}
		votes[o == Passed]++
		failed = failed || o == Failed
	}
	switch {
	case votes[true] > votes[false]:
		return Passed, why
	case failed:
		return Failed, why
	}
	return Undecided, why
}

// probeOnce makes one probe. After one that ended the search its outcome is no matter.
//
// There is no pause between probes: what the server still has of the one before is
// no more than there are connections, and the warm-up is there to end it.
func (s *search) probeOnce(ctx context.Context, purpose Purpose, level float64,
	measure time.Duration) (Outcome, []fact.Fact) {
	s.short = false
	p, err := s.probe(ctx, purpose, level, measure)
	if limit, is := errors.AsType[machine.Limit](err); is && (s.low > 0 || purpose == Confirm) {
		s.short = true
		return OurLimit, because(fact.LoadStopped{Why: limit.Error()})
	}
	if err != nil {
		s.err = err
		return Failed, nil
	}
	s.found.Probes = append(s.found.Probes, p)
	s.each(p)
	switch {
	case p.Outcome == Cut:
		s.endAt(Interrupted, fact.EndInterrupted, nil)
	case p.Outcome == Gone && len(s.found.Probes) == 1 && s.found.Closed == nil:
		s.endAs(Unreachable, fact.SearchEnded{How: fact.EndUnreachable}, p.Facts)
	case p.Outcome == Gone:
		missed := s.high
		s.high = level // the text names it; nobody knows whether it is met
		s.endAt(Inconclusive, fact.EndLost, p.Facts)
		s.high = missed
	}
	return p.Outcome, p.Facts
}

// confirm measures longer what the bisection found, and once more twice as long if
// that does not decide; then a little less, until it is met again.
func (s *search) confirm(ctx context.Context) {
	a, level := s.settings.Axis.scaleOf(&s.plan), s.low
	for range steps {
		o, why := s.probeOnce(ctx, Confirm, level, s.settings.Confirm)
		if o == Undecided {
			o, why = s.probeOnce(ctx, Confirm, level, 2*s.settings.Confirm)
		}
		if s.isOver() {
			return
		}
		if o == Passed {
			s.certified, s.low = level, level
			s.endMet()
			return
		}
		s.noteMissed(level, o, why)
		s.low = 0 // no level is known any more that is met
		if level = min(a.round(stepDown*level), a.below(level, 1)); level < a.least() {
			break
		}
	}
	s.endAt(Inconclusive, fact.EndUnconfirmed, nil)
}

// endMet ends a search that certified a level.
func (s *search) endMet() {
	s.found.Warnings = s.last.Warnings
	if s.missed == OurLimit {
		s.endAt(ClientBound, fact.EndLimited, s.why)
		return
	}
	s.endAt(Found, fact.EndFound, nil)
}

// writeResult writes down what was found.
func (s *search) writeResult() {
	if s.settings.Axis != Rates {
		s.found.Count = &Count{int(s.certified), int(s.low), int(s.high)}
	} else {
		for to, level := range map[**float64]float64{&s.found.Certified: s.certified,
			&s.found.Low: s.low, &s.found.High: s.high} {
			if level > 0 {
				*to = &level
			}
		}
	}
	if s.last != nil { // its plan has no secrets; what probes change is put back
		s.found.Host, s.found.Plan = s.last.Host, s.last.Plan
		s.found.Plan.Rate, s.found.Plan.Seed, s.found.Plan.Arrival = 0, s.plan.Seed, s.plan.Arrival
		s.found.Plan.Warmup = s.plan.Warmup
		if s.settings.Axis != Rates {
			s.found.Plan.Connections, s.found.Plan.Users = s.plan.Connections, s.plan.Users
			s.found.Plan.Threads = s.plan.Threads
		}
		s.found.Plan.Duration = loadplan.Seconds(s.settings.Probe)
	}
}
