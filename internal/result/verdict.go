package result

import (
	"slices"

	"dyno/internal/fact"
	"dyno/internal/say"
)

// A Doubt classifies a reason of the generator's self-check. What a user can do about it depends on
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
	ReadLag      Cause = "read-lag"
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

	// find returns the doubt as a fact whose kind is the cause; nil: there is none.
	find func(*Result) *fact.Fact

	// whole is set if the check looks at all generators together. Otherwise it looks at each generator
	// that made a part of the load.
	whole bool

	needs need
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
	{Ended, constantKind(OtherLoad), findEnded, false, certain},
	{NoServer, constantKind(OtherLoad), (*Result).FindNoServer, true, certain},
	{Outage, constantKind(OtherLoad), findOutage, false, certain},
	{NeverSent, constantKind(OtherLoad), findNeverSent, true, certain},
	{Unserved, constantKind(OtherLoad), findUnserved, true, certain},
	{Quota, constantKind(HeldUp), findQuota, false, certain},
	{StoodStill, constantKind(HeldUp), findStandstill, false, certain},
	{Busy, constantKind(Limit), findBusy, false, ofWindow},
	{ScenarioTime, constantKind(Limit), findScenarioTime, false, ofWindow},
	{SendLag, lateKind, findSendLag, false, ofAnswers},
	{ReadLag, lateKind, findReadLag, false, ofAnswers},
	{Unscheduled, constantKind(HeldUp), findUnscheduled, false, ofWindow},
	{Scheduling, lateKind, findScheduling, false, ofAnswers},
	{Steal, constantKind(HeldUp), findSteal, false, ofWindow},
	{Spacing, lateKind, findArrivals, false, ofAnswers},
	{Ports, constantKind(Resource), findNoPort, false, certain},
	{Files, constantKind(Resource), findNoFile, false, certain},
	{TimeWait, constantKind(Resource), findTimeWait, false, ofWindow},
	{Dropped, constantKind(Resource), findDropped, false, ofWindow},
	{Resent, constantKind(Resource), findResent, false, ofWindow},
	{Little, idleKind, findLittle, true, ofWindow},
	{Pauses, constantKind(HeldUp), findPauses, false, ofAnswers},
	{Stops, constantKind(HeldUp), findStops, false, ofAnswers},
	{ProbeLag, lateKind, findProbeLag, true, ofAnswers},
	{TooShort, constantKind(Short), findTooShort, true, certain},
}

// judgeGenerator sets the generator's self-check, the worst of all checks, with the reasons.
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
}

// applyCheck adds what a check finds in some parts, each reason once. Whether enough was measured
// is decided for all parts together: what 100 parts measured is no less certain than what one did.
func (r *Result) applyCheck(c check, parts []*Result) {
	if !r.hasMeasured(c.needs) {
		return
	}
	found := make([]*fact.Fact, len(parts))
	for i, part := range parts {
		found[i] = c.find(part)
	}
	merged, of := say.MergeParts(found)
	for i, f := range merged {
		r.addDoubt(c.cause, c.kind(parts[of[i]]), f)
	}
}

// verdicts are what a fact about the generator makes of its verdict.
var verdicts = map[fact.Severity]string{
	fact.Note: OK, fact.Warning: Suspect, fact.Error: ClientBound,
}

// addDoubt adds a fact that is a reason of the verdict, and makes that the worse of two.
func (r *Result) addDoubt(c Cause, k Kind, f fact.Fact) {
	g, v := &r.Generator, verdicts[f.Severity]
	r.Facts = append(r.Facts, f)
	g.Reasons, g.Doubts = append(g.Reasons, say.Sentence(f)), append(g.Doubts, Doubt{c, k, v})
	g.Verdict = worseVerdict(g.Verdict, v)
}

// isOfGenerator reports whether a fact is a reason of the generator's self-check.
func isOfGenerator(f fact.Fact) bool {
	return isOfFleet(f) || slices.ContainsFunc(checks, func(c check) bool {
		return c.cause == Cause(f.Kind())
	})
}

// ReasonFacts are the facts that the reasons of the generator's self-check say, one for each. They
// are nil for a result of an older dyno, which kept some reasons as sentences alone.
func (r *Result) ReasonFacts() (all []fact.Fact) {
	for _, f := range r.Facts {
		if isOfGenerator(f) {
			all = append(all, f)
		}
	}
	if len(all) != len(r.Generator.Reasons) {
		return nil
	}
	return all
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

// OwnVerdict is the generator's self-check, of the doubts about it alone.
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

// findTooShort finds that a result is TooShort. A short window is no fault of the run, unless
// requests failed: then more requests might have shown more failures.
func findTooShort(r *Result) *fact.Fact {
	if !r.TooShort() {
		return nil
	}
	failed := max(r.Requests.Errors-r.ErrorAnswers()+r.Requests.Unfinished, 0)
	f := told(fact.TooShort{Answers: r.Answers(), Failures: failed,
		WindowUS: r.Window.MeasuredS * 1e6, LeastAnswers: leastCompleted,
		LeastWindowUS: leastMeasured * 1e6}, fact.Remedy{Setting: "duration", Value: fact.Higher})
	if r.Plan.Replay == 0 {
		f.Remedies = append(f.Remedies, fact.Remedy{Setting: "requests", Value: fact.Higher})
	}
	if failed == 0 && r.isBrief() {
		f.Severity = fact.Note
	}
	return f
}
