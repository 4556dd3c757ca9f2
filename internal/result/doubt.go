package result

import (
	"fmt"
	"slices"
)

// A Doubt is what kind of thing a reason of the generator's verdict is. What can be done about
// it depends on where the load is described, so whoever shows the reason says that, by Cause.
type Doubt struct {
	Cause   Cause  `json:"cause"`
	Kind    Kind   `json:"kind"`
	Verdict string `json:"verdict"` // to which it leads: OK, Suspect or ClientBound
}

// A Kind is a sort of doubts.
type Kind string

// The kinds.
const (
	Limit     Kind = "limit"     // the generator did what it could
	HeldUp    Kind = "disturbed" // others, or the machine, kept it from what it could do
	Resource  Kind = "resource"  // ports, files, queues or segments ran short
	OtherLoad Kind = "load"      // the load was not the one asked for
	Short     Kind = "short"     // too little was measured to judge
	Fault     Kind = "fault"     // dyno is wrong
)

// A Cause names the check that has a doubt.
type Cause string

// The causes.
const (
	Ended       Cause = "ended"
	NoServer    Cause = "no-server"
	Outage      Cause = "outage"
	NeverSent   Cause = "never-sent"
	Busy        Cause = "busy"
	SendLag     Cause = "send-lag"
	Unscheduled Cause = "unscheduled"
	Scheduling  Cause = "scheduling"
	Steal       Cause = "steal"
	Spacing     Cause = "arrivals"
	Ports       Cause = "ports"
	Files       Cause = "files"
	TimeWait    Cause = "time-wait"
	Dropped     Cause = "dropped"
	Resent      Cause = "resent"
	Unserved    Cause = "unserved"
	Little      Cause = "little"
	Pauses      Cause = "gc-pause"
	Stops       Cause = "stop"
	ProbeLag    Cause = "probe-lag"
	TooShort    Cause = "too-short"
	FleetWide   Cause = "fleet"
)

// A check looks for one doubt about the generator.
type check struct {
	cause Cause
	kind  func(*Result) Kind

	// look returns the verdict to which the doubt leads, or OK, and its reason, in words that
	// hold wherever the load is described.
	look func(*Result) (verdict, reason string)

	// Where several generators loaded at once, a check of the whole looks at what all of them
	// did together, and the others at each, which alone knows how it fared.
	whole bool

	needs need
}

// A need is how much has to be measured for a check to be no matter of chance.
type need int

const (
	certain   need = iota // it holds however little was measured
	ofWindow              // it is of the window's time, which has to be long enough
	ofAnswers             // it is of latencies, too: of enough answers
)

// hasMeasured reports whether r measured what a check needs.
func (r *Result) hasMeasured(n need) bool {
	return n == certain || !r.isBrief() && (n == ofWindow || !r.hasFewAnswers())
}

// constantKind a kind that does not depend on the result.
func constantKind(k Kind) func(*Result) Kind { return func(*Result) Kind { return k } }

// lateKind is whether being late was the generator's limit or something that held it up.
func lateKind(r *Result) Kind {
	if r.Generator.BusyPercent >= busySuspect && !r.Generator.Disturbed() {
		return Limit
	}
	return HeldUp
}

// idleKind is why Little's law does not hold.
func idleKind(r *Result) Kind {
	if r.Generator.Little != nil && *r.Generator.Little > 1 {
		return Fault
	}
	return OtherLoad
}

// checks, the gravest for the numbers first.
var checks = []check{
	{Ended, constantKind(OtherLoad), checkEnded, false, certain},
	{NoServer, constantKind(OtherLoad), checkNoServer, false, certain},
	{Outage, constantKind(OtherLoad), checkOutage, false, certain},
	{NeverSent, constantKind(OtherLoad), checkNeverSent, true, certain},
	{Busy, constantKind(Limit), checkBusy, false, ofWindow},
	{SendLag, lateKind, checkSendLag, false, ofAnswers},
	{Unscheduled, constantKind(HeldUp), checkUnscheduled, false, ofWindow},
	{Scheduling, lateKind, checkScheduling, false, ofAnswers},
	{Steal, constantKind(HeldUp), checkSteal, false, ofWindow},
	{Spacing, lateKind, checkLaw, false, ofAnswers},
	{Ports, constantKind(Resource), checkPorts, false, certain},
	{Files, constantKind(Resource), checkFiles, false, certain},
	{TimeWait, constantKind(Resource), checkTimeWait, false, ofWindow},
	{Dropped, constantKind(Resource), checkDropped, false, ofWindow},
	{Resent, constantKind(Resource), checkResent, false, ofWindow},
	{Unserved, constantKind(OtherLoad), checkUnserved, true, certain},
	{Little, idleKind, checkLittle, true, ofWindow},
	{Pauses, constantKind(HeldUp), checkPauses, false, ofAnswers},
	{Stops, constantKind(HeldUp), checkStops, false, ofAnswers},
	{ProbeLag, lateKind, checkProbeLag, true, ofAnswers},
}

// judgeGenerator is the generator's verdict on itself, the worst that any check comes to, with what
// led to it. It looks only at the values that r keeps, so that anyone can redo it.
func (r *Result) judgeGenerator() { r.judgeGenerators([]*Result{r}) }

// judgeGenerators is judge of r, which several generators measured together. Their reasons name
// the parts that have them, unless these are all.
func (r *Result) judgeGenerators(all []*Result) {
	g := &r.Generator
	g.Verdict, g.Reasons, g.Doubts = OK, []string{}, nil
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
// is for all of them together to say: what 100 parts did is no less certain than what one did.
func (r *Result) applyCheck(c check, parts []*Result) {
	type found struct {
		Doubt
		reason string
		parts  []string
	}
	if !r.hasMeasured(c.needs) {
		return
	}
	var all []found
	for i, part := range parts {
		verdict, reason := c.look(part)
		if verdict == OK {
			continue
		}
		at := slices.IndexFunc(all, func(f found) bool { return f.reason == reason })
		if at < 0 {
			at = len(all)
			all = append(all, found{Doubt{c.cause, c.kind(part), verdict}, reason, nil})
		}
		all[at].parts = append(all[at].parts, fmt.Sprint(i+1))
	}
	for _, f := range all {
		if len(f.parts) < len(parts) {
			f.reason = reasonOfParts(f.parts, len(parts), f.reason)
		}
		r.Generator.addDoubt(f.Doubt, f.reason)
	}
}

// addDoubt adds a reason, and makes the verdict the worse of two.
func (g *Generator) addDoubt(d Doubt, reason string) {
	g.Reasons, g.Doubts = append(g.Reasons, reason), append(g.Doubts, d)
	g.Verdict = worseVerdict(g.Verdict, d.Verdict)
}

// Bound is of which kind the doubt is that made the verdict ClientBound; of several Limit, if it
// is among them. It is "" if the verdict is another. Of results from before Doubts it is told
// from how busy the generator was.
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

// AtLimit reports whether the generator had about as much to do as it can do.
func (g *Generator) AtLimit() bool {
	return g.BusyPercent >= busySuspect ||
		slices.ContainsFunc(g.Doubts, func(d Doubt) bool { return d.Kind == Limit })
}

// TooShort reports whether too little was measured for all checks of the generator: a single
// thread that waits for its CPU once, for milliseconds, would be much of a short window, and the
// percentiles of few answers are of single ones.
func (r *Result) TooShort() bool { return r.isBrief() || r.hasFewAnswers() }

// isBrief reports whether the window is too short for any check of the generator's time.
func (r *Result) isBrief() bool { return r.Answers() > 0 && r.Window.MeasuredS < leastMeasured }

// hasFewAnswers reports whether the answers are too few for percentiles.
func (r *Result) hasFewAnswers() bool { return r.Answers() > 0 && r.Answers() < leastCompleted }

// checkTooShort is the doubt about a result of which TooShort holds. That a window is short is no
// fault of the run, unless requests failed: how many of more would is not known.
func checkTooShort(r *Result) (Doubt, string) {
	many := func(n int64, one string) string {
		if n != 1 {
			one += "s"
		}
		return fmt.Sprintf("%d %s", n, one)
	}
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
