package result

import (
	"fmt"
	"slices"

	"dyno/internal/digits"
	"dyno/internal/fact"
	"dyno/internal/say"
)

// A Doubt classifies a reason of the generator's verdict. What a user can do about it depends on
// where the load is described, so whoever shows the reason adds advice, by Cause.
type Doubt struct {
	Cause   Cause  `json:"cause"`
	Kind    Kind   `json:"kind"`
	Verdict string `json:"verdict"` // that it causes: OK, Suspect or ClientBound
}

// A Kind is a class of doubts.
type Kind string

// The kinds.
const (
	Limit     Kind = "limit"     // the generator reached its limit
	HeldUp    Kind = "disturbed" // other programs or the machine slowed the generator
	Resource  Kind = "resource"  // ports, files, queues or segments ran short
	OtherLoad Kind = "load"      // the load was not the requested one
	Short     Kind = "short"     // too little was measured to judge
	Fault     Kind = "fault"     // a fault of dyno
)

// A Cause names the check that has a doubt.
type Cause string

// The causes.
const (
	Ended        Cause = "ended"
	NoServer     Cause = "no-server"
	Outage       Cause = "outage"
	NeverSent    Cause = "never-sent"
	Quota        Cause = "cpu-quota"
	StoodStill   Cause = "stood-still"
	Busy         Cause = "busy"
	ScenarioTime Cause = "scenario"
	SendLag      Cause = "send-lag"
	Unscheduled  Cause = "unscheduled"
	Scheduling   Cause = "scheduling"
	Steal        Cause = "steal"
	Spacing      Cause = "arrivals"
	Ports        Cause = "ports"
	Files        Cause = "files"
	TimeWait     Cause = "time-wait"
	Dropped      Cause = "dropped"
	Resent       Cause = "resent"
	Unserved     Cause = "unserved"
	Little       Cause = "little"
	Pauses       Cause = "gc-pause"
	Stops        Cause = "stop"
	ProbeLag     Cause = "probe-lag"
	TooShort     Cause = "too-short"
	FleetWide    Cause = "fleet"
)

// A check looks for one doubt about the generator.
type check struct {
	cause Cause
	kind  func(*Result) Kind

	// look returns the verdict that the doubt causes, or OK, and its reason, in words that hold
	// wherever the load is described.
	look func(*Result) (verdict, reason string)

	// whole is set if the check looks at all generators together. Otherwise it looks at each generator
	// that made a part of the load.
	whole bool

	needs need

	// find, in place of look, returns the doubt as a fact whose kind is the cause; nil: there is none.
	// Package say has its sentence.
	find func(*Result) *fact.Fact
}

// A need is how much must have been measured so that a check does not depend on chance.
type need int

const (
	certain   need = iota // it holds however little was measured
	ofWindow              // it needs a window that is long enough
	ofAnswers             // it also needs enough answers
)

// hasMeasured reports whether r measured what a check needs.
func (r *Result) hasMeasured(n need) bool {
	return n == certain || !r.isBrief() && (n == ofWindow || !r.hasFewAnswers())
}

// constantKind returns a function for a kind that does not depend on the result.
func constantKind(k Kind) func(*Result) Kind { return func(*Result) Kind { return k } }

// lateKind is the kind of a late send: the generator's limit, or something that slowed it.
func lateKind(r *Result) Kind {
	if r.Generator.BusyPercent >= busySuspect && !r.Generator.Disturbed() {
		return Limit
	}
	return HeldUp
}

// idleKind is why Little's law does not hold.
func idleKind(r *Result) Kind {
	if r.Generator.Little != nil && r.inFlightShare() > 1 {
		return Fault
	}
	return OtherLoad
}

// checks, the most serious first.
var checks = []check{
	{Ended, constantKind(OtherLoad), checkEnded, false, certain, nil},
	{NoServer, constantKind(OtherLoad), nil, true, certain, (*Result).FindNoServer},
	{Outage, constantKind(OtherLoad), checkOutage, false, certain, nil},
	{NeverSent, constantKind(OtherLoad), checkNeverSent, true, certain, nil},
	{Unserved, constantKind(OtherLoad), checkUnserved, true, certain, nil},
	{cause: Quota, kind: constantKind(HeldUp), find: findQuota, needs: certain},
	{cause: StoodStill, kind: constantKind(HeldUp), find: findStandstill, needs: certain},
	{Busy, constantKind(Limit), checkBusy, false, ofWindow, nil},
	{ScenarioTime, constantKind(Limit), checkScenarioTime, false, ofWindow, nil},
	{SendLag, lateKind, checkSendLag, false, ofAnswers, nil},
	{Unscheduled, constantKind(HeldUp), checkUnscheduled, false, ofWindow, nil},
	{Scheduling, lateKind, checkScheduling, false, ofAnswers, nil},
	{cause: Steal, kind: constantKind(HeldUp), find: findSteal, needs: ofWindow},
	{Spacing, lateKind, checkLaw, false, ofAnswers, nil},
	{Ports, constantKind(Resource), checkPorts, false, certain, nil},
	{Files, constantKind(Resource), checkFiles, false, certain, nil},
	{TimeWait, constantKind(Resource), checkTimeWait, false, ofWindow, nil},
	{Dropped, constantKind(Resource), checkDropped, false, ofWindow, nil},
	{Resent, constantKind(Resource), checkResent, false, ofWindow, nil},
	{Little, idleKind, checkLittle, true, ofWindow, nil},
	{Pauses, constantKind(HeldUp), checkPauses, false, ofAnswers, nil},
	{Stops, constantKind(HeldUp), checkStops, false, ofAnswers, nil},
	{ProbeLag, lateKind, checkProbeLag, true, ofAnswers, nil},
}

// judgeGenerator sets the generator's verdict on itself, the worst of all checks, with the reasons.
// It uses only values that r stores, so that anyone can repeat it.
func (r *Result) judgeGenerator() { r.judgeGenerators([]*Result{r}) }

// judgeGenerators is judgeGenerator for r that several generators measured together. Reasons name
// the parts that have them, unless all parts have them.
func (r *Result) judgeGenerators(all []*Result) {
	g := &r.Generator
	g.Verdict, g.Reasons, g.Doubts = OK, []string{}, nil
	r.Facts = slices.DeleteFunc(slices.Clone(r.Facts), isOfGenerator)
	for _, c := range checks {
		looked := all
		if c.whole {
			looked = []*Result{r}
		}
		r.applyCheck(c, looked)
	}
	if r.TooShort() {
		g.addDoubt(checkTooShort(r))
	}
}

// applyCheck adds what a check finds in some parts, each reason once. Whether enough was measured
// is decided for all parts together: what 100 parts measured is no less certain than what one did.
func (r *Result) applyCheck(c check, parts []*Result) {
	type found struct {
		Doubt
		reason string
		fact   *fact.Fact
		parts  []int
	}
	if !r.hasMeasured(c.needs) {
		return
	}
	var all []found
	for i, part := range parts {
		verdict, reason, f := c.lookAt(part)
		if f == nil && verdict == OK {
			continue
		}
		at := slices.IndexFunc(all, func(f found) bool { return f.reason == reason })
		if at < 0 {
			at = len(all)
			all = append(all, found{Doubt{c.cause, c.kind(part), verdict}, reason, f, nil})
		}
		all[at].parts = append(all[at].parts, i+1)
	}
	for _, f := range all {
		if len(f.parts) < len(parts) {
			if f.fact != nil {
				f.fact.Scope.Parts = f.parts
			}
			f.reason = reasonOfParts(f.parts, len(parts), f.reason)
		}
		if f.fact != nil {
			r.Facts = append(r.Facts, *f.fact)
		}
		r.Generator.addDoubt(f.Doubt, f.reason)
	}
}

// lookAt is what a check says of a result; the fact is nil if it says nothing, or says it as a
// sentence.
func (c *check) lookAt(r *Result) (verdict, reason string, found *fact.Fact) {
	if c.find == nil {
		verdict, reason = c.look(r)
		return verdict, reason, nil
	}
	if found = c.find(r); found == nil {
		return OK, "", nil
	}
	return verdicts[found.Severity], say.Sentence(*found), found
}

// verdicts are what a fact about the generator makes of its verdict.
var verdicts = map[fact.Severity]string{
	fact.Note: OK, fact.Warning: Suspect, fact.Error: ClientBound,
}

// isOfGenerator reports whether a fact is a reason of the generator's verdict.
func isOfGenerator(f fact.Fact) bool {
	return slices.ContainsFunc(checks, func(c check) bool {
		return c.find != nil && c.cause == Cause(f.Kind())
	})
}

// FactOf returns the fact that a doubt is; nil if it is none.
func (r *Result) FactOf(d Doubt) *fact.Fact {
	i := slices.IndexFunc(r.Facts, func(f fact.Fact) bool { return Cause(f.Kind()) == d.Cause })
	if i < 0 {
		return nil
	}
	return &r.Facts[i]
}

// addDoubt adds a reason, and makes the verdict the worse of two.
func (g *Generator) addDoubt(d Doubt, reason string) {
	g.Reasons, g.Doubts = append(g.Reasons, reason), append(g.Doubts, d)
	g.Verdict = worseVerdict(g.Verdict, d.Verdict)
}

// IsOwn reports whether a doubt is about the generator. The others are about the load: the server
// did not take all of it, or it ended early.
func (r *Result) IsOwn(d Doubt) bool {
	switch d.Cause {
	case Ended, NoServer, Outage, Unserved, Dropped:
		return false
	case NeverSent:
		return r.OwnDelay() && !r.WasGone()
	}
	return true
}

// OwnVerdict is the generator's verdict on itself, of the doubts about it alone.
func (r *Result) OwnVerdict() string {
	if g := r.Generator; len(g.Doubts) != len(g.Reasons) || len(g.Doubts) == 0 {
		return g.Verdict
	}
	own := OK
	for _, d := range r.Generator.Doubts {
		if r.IsOwn(d) {
			own = worseVerdict(own, d.Verdict)
		}
	}
	return own
}

// Bound is the kind of the doubt that caused the verdict ClientBound; of several kinds Limit, if it
// is among them. It is "" for another verdict. Results from before Doubts are judged by how busy
// the generator was.
func (g *Generator) Bound() (kind Kind) {
	switch {
	case g.Verdict != ClientBound:
		return ""
	case len(g.Doubts) == 0 && g.BusyPercent < busySuspect:
		return HeldUp
	case len(g.Doubts) == 0:
		return Limit
	}
	for _, d := range g.Doubts {
		if d.Verdict == ClientBound && (kind == "" || d.Kind == Limit) {
			kind = d.Kind
		}
	}
	return kind
}

// AtLimit reports whether the generator was about as busy as it can be.
func (g *Generator) AtLimit() bool {
	return g.BusyPercent >= busySuspect ||
		slices.ContainsFunc(g.Doubts, func(d Doubt) bool { return d.Kind == Limit })
}

// TooShort reports whether too little was measured for all checks of the generator. In a short
// window a single wait of milliseconds for a CPU would be a large share, and percentiles of few
// answers depend on single answers.
func (r *Result) TooShort() bool { return r.isBrief() || r.hasFewAnswers() }

// isBrief reports whether the window is too short for any check of the generator's time.
func (r *Result) isBrief() bool { return r.Answers() > 0 && r.Window.MeasuredS < leastMeasured }

// hasFewAnswers reports whether the answers are too few for percentiles.
func (r *Result) hasFewAnswers() bool { return r.Answers() > 0 && r.Answers() < leastCompleted }

// NotJudged reports whether nothing speaks against a generator but that it measured too little.
func (g *Generator) NotJudged() bool {
	return g.Verdict == OK && len(g.Doubts) == 1 && g.Doubts[0].Kind == Short
}

// checkTooShort is the doubt about a result that is TooShort. A short window is no fault of the
// run, unless requests failed: then more requests might have shown more failures.
func checkTooShort(r *Result) (Doubt, string) {
	many := digits.Plural
	verdict, got := OK, many(r.Answers(), "answer")
	if failed := r.Requests.Errors - r.ErrorAnswers() + r.Requests.Unfinished; failed > 0 {
		verdict, got = Suspect, got+" and "+many(failed, "failure")
	}
	got += fmt.Sprintf(" in %v", formatMicroseconds(r.Window.MeasuredS*1e6))
	if !r.isBrief() {
		return Doubt{TooShort, Short, Suspect}, "only " + got + ": too few for percentiles, and it " +
			fmt.Sprintf("takes at least %d", leastCompleted)
	}
	return Doubt{TooShort, Short, verdict}, fmt.Sprintf("too short to judge: %s; it takes at least "+
		"%d answers and a window of at least %v s", got, leastCompleted, leastMeasured)
}
