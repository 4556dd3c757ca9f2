package labanswer

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/stats"
	"dyno/internal/view/answer"
)

// record is a complete experiment of six rounds with these comparisons.
func record(all ...lab.Comparison) *lab.Record {
	e := &experiment.Experiment{Levels: []experiment.Level{{Name: "c100", Connections: 100}}}
	e.Design.Rounds, e.Design.Metrics = 6, []experiment.Metric{"throughput", "cpu", "p99"}
	r := &lab.Record{Progress: lab.Progress{Name: "x", State: lab.Complete},
		Definition: lab.Definition{Experiment: e, Dir: "/runs/x"}}
	arms := []string{"go"}
	for i, c := range all {
		all[i].Baseline, all[i].Level = "go", "c100"
		if !slices.Contains(arms, c.Variant) {
			arms = append(arms, c.Variant)
		}
	}
	for _, name := range arms {
		r.Arms = append(r.Arms, lab.Arm{Name: name, Baseline: "go"})
		for round := range 6 {
			r.Trials = append(r.Trials, lab.TrialSummary{Grade: lab.GradeA,
				Slot: lab.Slot{Arm: name, Level: "c100", Round: round + 1}})
		}
	}
	r.Arms[0].Baseline = ""
	r.Verdicts = all
	return r
}

// compared is a comparison of a variant with the baseline.
func compared(metric, variant string, ratio, low, high float64, v stats.Verdict) lab.Comparison {
	m, _ := lab.MeasureNamed(metric)
	return lab.Comparison{Metric: metric, Variant: variant, Ratio: ratio, Low: low, High: high, Verdict: v,
		Confidence: 0.96, Margin: 0.02, Better: m.Better, Trials: 6, PValues: lab.PValues{P: 0.03, PAdjusted: 0.03}}
}

// Each comparison has one verdict.
func TestOneVerdict(t *testing.T) {
	less := compared("cpu", "b", 0.65, 0.55, 0.85, stats.Different)
	with := func(change func(*lab.Comparison)) lab.Comparison { c := less; change(&c); return c }
	for name, c := range map[string]struct {
		c    lab.Comparison
		want answer.Verdict
		why  string
	}{
		"less CPU":       {less, answer.Better, ""},
		"more CPU":       {compared("cpu", "b", 1.4, 1.3, 1.5, stats.Different), answer.Worse, ""},
		"more requests":  {compared("throughput", "b", 1.4, 1.3, 1.5, stats.Different), answer.Better, ""},
		"equivalent":     {compared("cpu", "b", 1, 0.99, 1.01, stats.Equivalent), answer.Same, "2 %"},
		"negligible":     {compared("cpu", "b", 1.01, 1.005, 1.015, stats.Negligible), answer.Same, "2 %"},
		"at the limit":   {with(func(c *lab.Comparison) { c.ClientBound = true }), answer.Undecided, "the generator was the limit"},
		"too few rounds": {with(func(c *lab.Comparison) { c.Confidence = 0.5 }), answer.Undecided, "too few"},
		"below the noise": {with(func(c *lab.Comparison) { c.Verdict, c.Floor = stats.Inconclusive, 0.9 }),
			answer.Undecided, "differs from itself by 90 %"},
		"corrected away": {with(func(c *lab.Comparison) {
			c.Verdict, c.High, c.Alone = stats.Inconclusive, 1.1, stats.Interval{Low: 0.6, High: 0.9, Level: 0.96}
		}), answer.Undecided, "alone"},
		"more would decide": {with(func(c *lab.Comparison) { c.Verdict, c.High, c.More = stats.Inconclusive, 1.1, 14 }),
			answer.Undecided, "about 14 rounds more would decide, if this estimate holds"},
		"no end": {with(func(c *lab.Comparison) { c.Verdict, c.High, c.More = stats.Inconclusive, 1.1, stats.MoreMax }),
			answer.Undecided, "too wide"},
	} {
		if v, why := verdictOf(c.c); v != c.want || !strings.Contains(why, c.why) {
			t.Errorf("%s: %s because of %q", name, v, why)
		}
	}
}

// Findings are sorted by effect, the best first, whichever way a measure is better, and the measure
// that decides something comes before the one in which the generator was the limit.
func TestFindingsAreSorted(t *testing.T) {
	bound := compared("throughput", "b", 2, 1.9, 2.1, stats.Different)
	bound.ClientBound = true
	r := record(bound, compared("cpu", "worse", 1.4, 1.3, 1.5, stats.Different),
		compared("cpu", "best", 0.6, 0.5, 0.7, stats.Different), compared("cpu", "same", 1, 0.99, 1.01, stats.Equivalent))
	a := Of(r)
	if len(a.Groups) != 2 || a.Groups[0].Metric != "cpu" {
		t.Fatalf("%+v", a.Groups)
	}
	var order []string
	for _, f := range a.Groups[0].Findings {
		order = append(order, f.Variant)
	}
	if fmt.Sprint(order) != "[best same worse]" {
		t.Error(order)
	}
}

// The sentence says what differs, by how much, and what the generator's limit hides.
func TestSentence(t *testing.T) {
	bound := compared("throughput", "nginx", 2, 1.9, 2.1, stats.Different)
	bound.ClientBound = true
	undecided := compared("cpu", "nginx", 1.03, 0.96, 1.1, stats.Inconclusive)
	undecided.More = 14
	for want, r := range map[string]*lab.Record{
		"nginx needs 64 % less CPU per request than go [61, 66]; throughput cannot be told apart: " +
			"the generator was the limit": record(bound, compared("cpu", "nginx", 0.36, 0.34, 0.39, stats.Different)),
		"nginx needs 3.4 times the CPU per request of go [1.4, 8.5]": record(
			compared("cpu", "nginx", 3.449, 1.413, 8.486, stats.Different)),
		"a needs 35 % less CPU per request than go [15, 45] and b 12 % more [9, 15]": record(
			compared("cpu", "b", 1.12, 1.09, 1.15, stats.Different), compared("cpu", "a", 0.65, 0.55, 0.85, stats.Different)),
		"a needs 35 % less CPU per request than go [15, 45]; but p99 latency of a is worse: +20 % [+10, +30]": record(
			compared("cpu", "a", 0.65, 0.55, 0.85, stats.Different), compared("p99", "a", 1.2, 1.1, 1.3, stats.Different)),
		"4 of 4 variants are better in CPU per request: most d, −50 % [−51, −49]; least a, −20 % [−21, −19]": record(
			compared("cpu", "a", 0.8, 0.79, 0.81, stats.Different), compared("cpu", "b", 0.7, 0.69, 0.71, stats.Different),
			compared("cpu", "c", 0.6, 0.59, 0.61, stats.Different), compared("cpu", "d", 0.5, 0.49, 0.51, stats.Different)),
		"The servers cannot be told apart in throughput: the generator was the limit": record(bound),
		"nginx is like go in CPU per request: the difference is below 2 %": record(
			compared("cpu", "nginx", 1, 0.99, 1.01, stats.Equivalent)),
		"These trials do not show whether nginx differs from go in CPU per request: +3 % [−4, +10], " +
			"about 14 rounds more would decide, if this estimate holds": record(undecided),
	} {
		if got := Of(r).Sentence; got != want {
			t.Errorf("%q\nnot\n%q", got, want)
		}
	}
}

// Whatever stands below as a caution counts for the box, once, with what it is about.
func TestCautions(t *testing.T) {
	decided := compared("cpu", "b", 0.65, 0.55, 0.85, stats.Different)
	load := compared("throughput", "b", 0.65, 0.55, 0.85, stats.Different)
	with := func(c lab.Comparison, change func(*lab.Comparison)) *lab.Record { change(&c); return record(c) }
	of := func(change func(*lab.Record)) *lab.Record { r := record(decided); change(r); return r }
	for kind, c := range map[string]struct {
		r     *lab.Record
		box   answer.Severity
		scope string
	}{
		answer.QuickRun:  {of(func(r *lab.Record) { r.Quick = true }), answer.Doubt, ""},
		answer.FewRounds: {of(func(r *lab.Record) { r.Experiment.Design.Rounds, r.Trials = 1, r.Trials[:1] }), answer.Doubt, ""},
		answer.Planned:   {of(func(r *lab.Record) { r.Trials = r.Trials[1:] }), answer.Doubt, ""},
		answer.Incomplete: {of(func(r *lab.Record) { r.State = lab.Interrupted }),
			answer.Bad, ""},
		answer.Unloaded: {of(func(r *lab.Record) {
			r.Arms = append(r.Arms, lab.Arm{Name: "odd", Unfit: "not alike", Remedy: "allow it"})
		}), answer.Doubt, ""},
		answer.FailedTrial: {of(func(r *lab.Record) {
			r.Trials[1].Failure = &lab.Failure{Phase: "start", Reason: "it exited"}
		}), answer.Doubt, ""},
		answer.GradeF: {of(func(r *lab.Record) {
			r.Trials[1].Grade, r.Trials[1].Reasons = lab.GradeF, []lab.Reason{{Grade: lab.GradeF, Says: "busy"}}
		}), answer.Doubt, ""},
		answer.GateMissed: {of(func(r *lab.Record) { r.Gate = &lab.GateOutcome{Verdict: lab.Regression} }), answer.Bad, ""},
		answer.Objectives: {of(func(r *lab.Record) {
			r.Objectives = []lab.ObjectiveCount{{Expr: "p99<1ms", Met: 1, Trials: 2}}
		}), answer.Bad, ""},
		answer.AtLimit:     {with(load, func(c *lab.Comparison) { c.ClientBound = true }), answer.Doubt, "throughput at c100 of b"},
		answer.Disturbed:   {with(load, func(c *lab.Comparison) { c.Disturbed = 2 }), answer.Doubt, "throughput at c100 of b"},
		answer.OtherLoad:   {with(load, func(c *lab.Comparison) { c.OtherLoad = 2 }), answer.Doubt, "throughput at c100 of b"},
		answer.MissingPair: {with(decided, func(c *lab.Comparison) { c.Missing = 1 }), answer.Doubt, "CPU per request at c100 of b"},
		answer.AboveNoise: {with(decided, func(c *lab.Comparison) { c.Verdict, c.Floor = stats.Inconclusive, 0.9 }), answer.Doubt,
			"CPU per request at c100 of b"},
		answer.SelfDiffers: {with(decided, func(c *lab.Comparison) { c.Control = true }), answer.Bad, ""},
		answer.Correction: {with(decided, func(c *lab.Comparison) {
			c.Verdict, c.High, c.Alone = stats.Inconclusive, 1.1, stats.Interval{Low: 0.6, High: 0.9, Level: 0.96}
		}), answer.Doubt, "CPU per request at c100 of b"},
		answer.Conditions: {of(func(r *lab.Record) { r.Cautions = []string{"the machine was busy"} }), answer.Doubt, ""},
	} {
		a := Of(c.r)
		n := 0
		for _, one := range a.Cautions {
			if one.Kind == kind {
				n++
				if one.Severity != c.box || one.Scope != c.scope {
					t.Errorf("%s: %+v", kind, one)
				}
			}
		}
		if n != 1 || a.Box != c.box && a.Box != answer.Bad {
			t.Errorf("%s is there %d times, and the box is %s: %+v", kind, n, a.Box, a.Cautions)
		}
		if a.Next.Says == "" {
			t.Errorf("%s: no next step", kind)
		}
	}
	a := Of(record(decided))
	if a.Box != answer.Clear || len(a.Cautions) != 0 || !strings.Contains(a.Next.Says, "nothing more is needed") {
		t.Errorf("nothing speaks against it, and the answer is %+v", a)
	}
}

// What the record says in a sentence of its own is not said again.
func TestStoredCautionsAreSaidOnce(t *testing.T) {
	r := record(compared("cpu", "b", 0.65, 0.55, 0.85, stats.Different))
	r.Arms = append(r.Arms, lab.Arm{Name: "odd", Unfit: "not alike"})
	r.Cautions = []string{"1 of 2 variants can be compared: odd is not loaded: not alike",
		"3 of 42 trials are of grade F: see their reasons", "generator and servers share CPUs: one core"}
	var kinds []string
	for _, c := range Of(r).Cautions {
		kinds = append(kinds, c.Kind+": "+c.Says)
	}
	if len(kinds) != 2 || !strings.Contains(strings.Join(kinds, "\n"), "Generator and servers share CPUs: one core") {
		t.Errorf("%q", kinds)
	}
}

// The next step is concrete: with its command, and never more rounds where they do not help.
func TestNext(t *testing.T) {
	open := compared("cpu", "b", 1.03, 0.96, 1.1, stats.Inconclusive)
	open.More = 14
	bound := compared("throughput", "b", 2, 1.9, 2.1, stats.Different)
	bound.ClientBound = true
	stopped, quick, refused := record(open), record(open), record(open)
	stopped.State, quick.Quick = lab.Interrupted, true
	refused.Arms = append(refused.Arms, lab.Arm{Name: "odd", Unfit: "not alike", Remedy: "write allow: [x]"})
	for _, c := range []struct {
		r             *lab.Record
		says, command string
	}{
		{stopped, "go on", "dyno lab run --resume /runs/x"},
		{quick, "in full", "dyno lab run x"},
		{refused, "odd: write allow: [x]", "dyno lab run x"},
		{record(open), "about 14 rounds more", "dyno lab run --resume /runs/x --rounds +14"},
		{record(bound), "more rounds will not help", "dyno lab run x"},
	} {
		if got := Of(c.r).Next; !strings.Contains(got.Says, c.says) || got.Command != c.command {
			t.Errorf("%+v, not %q with %q", got, c.says, c.command)
		}
	}
}

// Of nothing there is an answer, too.
func TestNothing(t *testing.T) {
	for name, r := range map[string]*lab.Record{"zero": new(lab.Record), "no comparison": record()} {
		if a := Of(r); a.Sentence == "" || a.Next.Says == "" {
			t.Errorf("%s: %+v", name, a)
		}
	}
}
