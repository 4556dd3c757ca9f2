package labanswer

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dyno/internal/fact"
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
		"less CPU":      {less, answer.Better, ""},
		"more CPU":      {compared("cpu", "b", 1.4, 1.3, 1.5, stats.Different), answer.Worse, ""},
		"worse, maybe":  {compared("cpu", "b", 1.03, 1+1e-9, 1.06, stats.Different), answer.Worse, "maybe by less than 2 %"},
		"better, maybe": {compared("cpu", "b", 0.95, 0.92, 0.99, stats.Different), answer.Better, "maybe by less than 2 %"},
		"more requests": {compared("throughput", "b", 1.4, 1.3, 1.5, stats.Different), answer.Better, ""},
		"equivalent":    {compared("cpu", "b", 1, 0.99, 1.01, stats.Equivalent), answer.Same, "2 %"},
		"negligible":    {compared("cpu", "b", 1.01, 1.005, 1.015, stats.Negligible), answer.Same, "2 %"},
		"negligible, perhaps": {compared("cpu", "b", 1.015, 1.004, 1.06, stats.Negligible), answer.Undecided,
			"it differs, by about +1 %; whether by 2 % is open"},
		"at the limit":   {with(func(c *lab.Comparison) { c.ClientBound = true }), answer.NotValid, "the generator was the limit"},
		"too few rounds": {with(func(c *lab.Comparison) { c.Confidence = 0.5 }), answer.Undecided, "too few"},
		"below the noise": {with(func(c *lab.Comparison) { c.Verdict, c.Floor = stats.Inconclusive, 0.9 }),
			answer.Undecided, "may differ from itself by −47 to +90 %"},
		"corrected away": {with(func(c *lab.Comparison) {
			c.Verdict, c.High, c.Alone = stats.Inconclusive, 1.1, stats.Interval{Low: 0.6, High: 0.9, Level: 0.96}
		}), answer.Undecided, "not significant after the correction for 2 comparisons"},
		"more would decide": {with(func(c *lab.Comparison) { c.Verdict, c.High, c.More = stats.Inconclusive, 1.1, 14 }),
			answer.Undecided, "about 14 rounds more would decide"},
		"no end": {with(func(c *lab.Comparison) { c.Verdict, c.High, c.More = stats.Inconclusive, 1.1, stats.MoreMax }),
			answer.Undecided, "too wide"},
	} {
		if v, _, why := verdictOf(c.c, []lab.Comparison{c.c, c.c, {Control: true}}); v != c.want || !strings.Contains(why, c.why) || c.why == "" && why != "" {
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
		"nginx needs less CPU per request than go: −64 % [−66, −61]; throughput cannot be told apart: " +
			"the generator was the limit": record(bound, compared("cpu", "nginx", 0.36, 0.34, 0.39, stats.Different)),
		"nginx needs more CPU per request than go: +245 % [+41, +749]": record(
			compared("cpu", "nginx", 3.449, 1.413, 8.486, stats.Different)),
		"a needs less CPU per request than go: −35 % [−45, −15] and b more: +12 % [+9, +15]": record(
			compared("cpu", "b", 1.12, 1.09, 1.15, stats.Different), compared("cpu", "a", 0.65, 0.55, 0.85, stats.Different)),
		// what is worse for users comes first, and of that the most
		"a has a higher p99 latency than go: +20 % [+10, +30]; but CPU per request of a is better: −35 % [−45, −15]": record(
			compared("cpu", "a", 0.65, 0.55, 0.85, stats.Different), compared("p99", "a", 1.2, 1.1, 1.3, stats.Different)),
		"a has a higher p99 latency than go: ×22 [×9, ×40]; also CPU per request +12 % [+9, +15] and p50 latency +11 % [+8, +14]": record(
			compared("cpu", "a", 1.12, 1.09, 1.15, stats.Different), compared("p50", "a", 1.11, 1.08, 1.14, stats.Different),
			compared("p99", "a", 22, 9, 40, stats.Different)),
		// not only what speaks against the variant with the largest difference
		"a needs less CPU per request than go: −35 % [−45, −15] and b −12 % [−15, −9]; but p99 latency of b is worse: " +
			"+200 % [+190, +210]": record(compared("cpu", "a", 0.65, 0.55, 0.85, stats.Different),
			compared("cpu", "b", 0.88, 0.85, 0.91, stats.Different), compared("p99", "a", 1.2, 0.8, 1.8, stats.Inconclusive),
			compared("p99", "b", 3, 2.9, 3.1, stats.Different)),
		"b needs more CPU per request than go: +200 % [+100, +300], c +190 % [+180, +200] and a less: −35 % [−45, −15]": record(
			compared("cpu", "a", 0.65, 0.55, 0.85, stats.Different), compared("cpu", "b", 3, 2, 4, stats.Different),
			compared("cpu", "c", 2.9, 2.8, 3, stats.Different)),
		"a is like go in CPU per request: the difference is below 2 %; not valid: 1 (the generator was the limit)": record(
			compared("cpu", "a", 1, 0.99, 1.01, stats.Equivalent), func() lab.Comparison {
				c := compared("cpu", "nginx", 2, 1.9, 2.1, stats.Different)
				c.ClientBound = true
				return c
			}()),
		"d needs less CPU per request than go: −50 % [−51, −49], c −40 % [−41, −39] and b −30 % [−31, −29]; 1 more differs": record(
			compared("cpu", "a", 0.8, 0.79, 0.81, stats.Different), compared("cpu", "b", 0.7, 0.69, 0.71, stats.Different),
			compared("cpu", "c", 0.6, 0.59, 0.61, stats.Different), compared("cpu", "d", 0.5, 0.49, 0.51, stats.Different)),
		"e needs less CPU per request than go: −60 % [−61, −59], d −50 % [−51, −49] and a more: +20 % [+19, +21]; 2 more differ": record(
			compared("cpu", "a", 1.2, 1.19, 1.21, stats.Different), compared("cpu", "b", 0.7, 0.69, 0.71, stats.Different),
			compared("cpu", "c", 0.6, 0.59, 0.61, stats.Different), compared("cpu", "d", 0.5, 0.49, 0.51, stats.Different),
			compared("cpu", "e", 0.4, 0.39, 0.41, stats.Different)),
		"b needs less CPU per request than go: −35 % [−45, −15]; also p99 latency −20 % [−30, −10]": record(
			compared("cpu", "b", 0.65, 0.55, 0.85, stats.Different), compared("p99", "b", 0.8, 0.7, 0.9, stats.Different)),
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
		answer.QuickRun: {of(func(r *lab.Record) { r.Quick = true }), answer.Doubt, ""},
		answer.FewRounds: {of(func(r *lab.Record) {
			r.Experiment.Design.Rounds, r.Trials = 1, []lab.TrialSummary{r.Trials[0], r.Trials[6]}
		}), answer.Doubt, ""},
		answer.Planned: {of(func(r *lab.Record) { r.Trials = r.Trials[1:] }), answer.Doubt, ""},
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
		answer.AtLimit:     {with(load, func(c *lab.Comparison) { c.ClientBound = true }), answer.Doubt, "throughput of b"},
		answer.Disturbed:   {with(load, func(c *lab.Comparison) { c.Disturbed = 2 }), answer.Doubt, ""},
		answer.OtherLoad:   {with(load, func(c *lab.Comparison) { c.OtherLoad = 2 }), answer.Doubt, "throughput of b"},
		answer.MissingPair: {with(decided, func(c *lab.Comparison) { c.Missing = 1 }), answer.Doubt, "CPU per request of b"},
		answer.AboveNoise: {with(decided, func(c *lab.Comparison) { c.Verdict, c.Floor = stats.Inconclusive, 0.9 }), answer.Doubt,
			"CPU per request of b"},
		answer.SelfDiffers: {with(decided, func(c *lab.Comparison) { c.Control = true }), answer.Bad, ""},
		answer.Correction: {with(decided, func(c *lab.Comparison) {
			c.Verdict, c.High, c.Alone = stats.Inconclusive, 1.1, stats.Interval{Low: 0.6, High: 0.9, Level: 0.96}
		}), answer.Doubt, "CPU per request of b"},
		answer.Conditions: {of(func(r *lab.Record) { r.Facts = []fact.Fact{{Args: fact.ServersKept{}}} }), answer.Doubt, ""},
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
		if n != 1 || a.Box != c.box {
			t.Errorf("%s is there %d times, and the box is %s: %+v", kind, n, a.Box, a.Cautions)
		}
		if a.Next.Says == "" || strings.Contains(a.Next.Says, "nothing more") {
			t.Errorf("%s: the next step is %q", kind, a.Next.Says)
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
	r.Facts = []fact.Fact{{Args: fact.NotCompared{Comparable: 1, Variants: 2}}, {Args: fact.GradeF{Trials: 3, Of: 42}},
		{Args: fact.SharedCPUs{Why: "one core"}}}
	var kinds []string
	for _, c := range Of(r).Cautions {
		kinds = append(kinds, c.Kind+": "+c.Says)
	}
	if len(kinds) != 2 || !strings.Contains(strings.Join(kinds, "\n"), "The generator and the servers share CPUs: one core") {
		t.Errorf("%q", kinds)
	}
}

// Where all variants but the baseline failed in all trials, the sentence says so first, with the first
// failure. Where some were compared, a caution names the others.
func TestFailedInAllTrials(t *testing.T) {
	fail := func(r *lab.Record, arm string) {
		for i, s := range r.Trials {
			if s.Arm == arm {
				r.Trials[i].Failure = &lab.Failure{Phase: "start", Reason: fmt.Sprintf("ended with status %d", s.Round)}
			}
		}
	}
	r := record(compared("cpu", "b", 0.65, 0.55, 0.85, stats.Different), compared("cpu", "c", 1, 0.99, 1.01, stats.Equivalent))
	fail(r, "b")
	r.Verdicts = r.Verdicts[1:]
	a := Of(r)
	i := slices.IndexFunc(a.Cautions, func(c answer.Caution) bool { return c.Kind == answer.FailedTrial })
	if i < 0 || a.Cautions[i].Says != "6 of 18 trials failed" || a.Has(answer.Incomplete) ||
		a.Uncovered != "2 of 3 variants can be compared; b failed in each trial" {
		t.Errorf("%+v", a.Cautions)
	}
	fail(r, "c")
	r.Verdicts = nil
	for _, state := range []lab.State{lab.Complete, lab.Interrupted} {
		r.State = state
		a = Of(r)
		if a.Sentence != "0 of 3 variants can be compared: \"b\" failed in each of its 6 trials (start: ended with status 1), "+
			"and 1 more measured nothing" || a.BoxText != "Nothing is left to compare" ||
			a.Next.Command != "dyno lab show -v /runs/x" || !strings.Contains(a.Next.Says, "why trials failed") {
			t.Errorf("%s: %q; %q; %+v", state, a.Sentence, a.BoxText, a.Next)
		}
	}
	r.Trials = slices.DeleteFunc(r.Trials, func(s lab.TrialSummary) bool { return s.Round > 2 })
	if a = Of(r); a.BoxText == "Nothing is left to compare" {
		t.Errorf("interrupted after two rounds: %q; %q", a.Sentence, a.BoxText)
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
	decided := compared("cpu", "b", 0.65, 0.55, 0.85, stats.Different)
	of := func(change func(*lab.Record)) *lab.Record { r := record(decided); change(r); return r }
	odd := func(name string) *lab.Record {
		return of(func(r *lab.Record) {
			r.Arms = append(r.Arms, lab.Arm{Name: name, Unfit: "not alike", Remedy: "write allow: [x]"})
		})
	}
	left := func(a lab.Arm) *lab.Record { // nothing is left to compare: the laboratory says interrupted
		r := record()
		a.Name, a.Baseline = "odd", "go"
		r.State, r.Arms, r.Trials = lab.Interrupted, append(r.Arms, a), nil
		return r
	}
	for _, c := range []struct {
		r             *lab.Record
		says, command string
	}{
		{stopped, "go on", "dyno lab run --resume /runs/x"},
		{quick, "in full", "dyno lab run x"},
		{refused, "about 14 rounds more", "dyno lab run --resume /runs/x --rounds +14"},
		{record(open), "about 14 rounds more", "dyno lab run --resume /runs/x --rounds +14"},
		{record(bound), "more rounds will not help", "dyno lab run x"},
		{odd("odd"), "for odd, write allow: [x]", "dyno lab run x"},
		{left(lab.Arm{Unfit: "not alike", Remedy: "write allow: [x]"}), "for odd, write allow: [x]", "dyno lab run x"},
		{left(lab.Arm{Missing: []string{"nginx"}}), "for odd, install what is missing", "dyno lab run --resume /runs/x"},
		{of(func(r *lab.Record) { r.Trials = r.Trials[1:] }), "lacking", "dyno lab run --resume /runs/x"},
		{of(func(r *lab.Record) { r.State, r.Trials = lab.OverBudget, r.Trials[1:] }), "design.budget",
			"dyno lab run --resume /runs/x --rounds 6"},
		{of(func(r *lab.Record) { r.Gate = &lab.GateOutcome{Verdict: lab.Regression} }), "the profiles",
			"dyno lab show -v /runs/x"},
		{of(func(r *lab.Record) { r.Gate = &lab.GateOutcome{Verdict: lab.Undecided} }), "speaks against it",
			"dyno lab show -v /runs/x"},
		{of(func(r *lab.Record) {
			r.Objectives = []lab.ObjectiveCount{{Expr: "p99<1ms", Met: 1, Trials: 2}}
		}), "objective", "dyno lab show -v /runs/x"},
		{of(func(r *lab.Record) { r.Facts = []fact.Fact{{Args: fact.ServersKept{}}} }), "speaks against it", "dyno lab show -v /runs/x"},
		{of(func(r *lab.Record) {
			r.Trials[1].Failure = &lab.Failure{Phase: "start", Reason: "it exited"}
		}), "why trials failed", "dyno lab show -v /runs/x"},
		{new(lab.Record), "a second variant", "dyno lab run FILE"},
	} {
		if got := Of(c.r).Next; !strings.Contains(got.Says, c.says) || got.Command != c.command {
			t.Errorf("%+v, not %q with %q", got, c.says, c.command)
		}
	}
}

// Sentence and next step have one number for one question: the rounds that decide the measure of the
// sentence. The box is green only if everything is decided.
func TestRoundsAreTheSame(t *testing.T) {
	open := func(metric, variant string, more int) lab.Comparison {
		c := compared(metric, variant, 1.04, 0.9, 1.2, stats.Inconclusive)
		c.More = more
		return c
	}
	same := compared("cpu", "b", 1, 0.99, 1.01, stats.Equivalent)
	for name, c := range map[string]struct {
		all                             []lab.Comparison
		sentence, box, says, and, lacks string
	}{
		"both": {[]lab.Comparison{open("throughput", "b", 54), open("p99", "b", 15)}, "about 54 rounds more",
			"Nothing is decided", "about 54 rounds more would decide throughput and p99 latency of b", "+54", "15"},
		"more for the second": {[]lab.Comparison{open("throughput", "b", 15), open("p99", "b", 54)}, "about 15 rounds more",
			"Nothing is decided", "about 15 rounds more would decide throughput of b,", "+15", "54"},
		"several variants": {[]lab.Comparison{open("throughput", "b", 15), open("throughput", "c", 40), open("throughput", "d", 700)},
			"about 40 rounds more", "Nothing is decided", "about 40 rounds more would decide throughput of b and c,", "+40", "15"},
		"out of reach": {[]lab.Comparison{open("throughput", "b", 700), open("p99", "b", 15)}, "about 700 rounds more",
			"Nothing is decided", "longer windows", "dyno lab run x", "15"},
		"the rest": {[]lab.Comparison{same, open("p99", "b", 120)}, "p99 latency: undecided", "Undecided: p99 latency of b",
			"about 120 rounds more would also decide p99 latency of b", "+120", "nothing more"},
		"no end": {[]lab.Comparison{same, open("p99", "b", stats.MoreMax)}, "p99 latency: undecided",
			"Undecided: p99 latency of b", "longer windows", "dyno lab run x", "nothing more"},
	} {
		a := Of(record(c.all...))
		next := a.Next.Says + ": " + a.Next.Command
		if !strings.Contains(a.Sentence, c.sentence) || !strings.HasPrefix(a.BoxText, c.box) || a.Box != answer.Note ||
			!strings.Contains(next, c.says) || !strings.Contains(next, c.and) || strings.Contains(next, c.lacks) {
			t.Errorf("%s: %q; %s: %q; %q", name, a.Sentence, a.Box, a.BoxText, next)
		}
	}
}

// What can be done is said once: by the next step, or with its caution.
func TestRemediesAreSaidOnce(t *testing.T) {
	r := record(compared("cpu", "b", 0.65, 0.55, 0.85, stats.Different))
	for _, name := range []string{"odd", "queer"} {
		r.Arms = append(r.Arms, lab.Arm{Name: name, Unfit: "not alike", Remedy: "write allow: [x]"})
	}
	r.Arms = append(r.Arms, lab.Arm{Name: "other", Unfit: "it ended", Remedy: "mend it"})
	a := Of(r)
	if a.Next.Says != "for odd and queer, write allow: [x]" {
		t.Error(a.Next.Says)
	}
	if got := fmt.Sprint(a.Cautions[0].Reasons); got != "[odd: not alike queer: not alike other: it ended (mend it)]" {
		t.Error(got)
	}
	bound := compared("throughput", "b", 2, 1.9, 2.1, stats.Different)
	bound.ClientBound = true
	if a := Of(record(bound)); !strings.HasSuffix(a.Next.Says, boundRemedy(record(bound))) || a.Cautions[0].Remedy != "" {
		t.Errorf("%s; %+v", a.Next.Says, a.Cautions)
	}
}

// A rate below the generator's limit is half of the lowest throughput, in two digits, where there is one.
func TestRateBelowLimit(t *testing.T) {
	bound := compared("throughput", "b", 2, 1.9, 2.1, stats.Different)
	bound.ClientBound = true
	for median, want := range map[float64]float64{46_997: 23_000, 119: 59, 7: 3, 1: 0, 0: 0} {
		r := record(bound)
		r.Cells = nil
		for i, arm := range []string{"go", "b"} {
			c := lab.Cell{Arm: arm, Level: r.Verdicts[0].Level, Metric: "throughput"}
			c.Median.Estimate = median * float64(i+1)
			r.Cells = append(r.Cells, c, lab.Cell{Arm: arm, Level: r.Verdicts[0].Level, Metric: "cpu"})
		}
		a := Of(r)
		says := strings.Contains(a.Next.Says, fmt.Sprintf("/s (levels: [{rate: %.0f}])", want))
		if got := rateBelowLimit(r); got != want || a.Next.Rate != want || says != (want > 0) {
			t.Errorf("of %v: %v, %+v", median, got, a.Next)
		}
	}
}

// Medians have their unit once.
func TestMedians(t *testing.T) {
	for _, c := range [][3]string{{"22.4 µs", "14.6 µs", "22.4 → 14.6 µs"}, {"990 µs", "1.20 ms", "990 µs → 1.20 ms"},
		{"12,345/s", "13,000/s", "12,345 → 13,000/s"}, {"", "1 µs", ""}, {"1 µs", "", ""}} {
		if got := fromTo(c[0], c[1]); got != c[2] {
			t.Errorf("%q to %q: %q", c[0], c[1], got)
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

// Trials that were repeated well are used, and so do not count as unreliable; what ran besides the
// plan does not make it complete.
func TestRepeatedTrials(t *testing.T) {
	r := record(compared("cpu", "b", 0.65, 0.55, 0.85, stats.Different))
	first := r.Trials[1]
	first.Grade, r.Trials[1].Attempt = lab.GradeF, 2
	r.Trials = append(r.Trials, first)
	a := Of(r)
	if a.Box != answer.Note || len(a.Cautions) != 1 || a.Cautions[0].Kind != answer.Repeated ||
		!strings.HasPrefix(a.Cautions[0].Says, "1 of 12 trials were repeated") {
		t.Errorf("%s: %+v", a.Box, a.Cautions)
	}
}

// An experiment that is not complete says how much ran of what was planned, if that is known and
// was not all.
func TestHowMuchRan(t *testing.T) {
	decided := compared("cpu", "b", 0.65, 0.55, 0.85, stats.Different)
	of := func(change func(*lab.Record)) *lab.Record { r := record(decided); change(r); return r }
	for want, r := range map[string]*lab.Record{
		"Not complete: 11 of 12 planned trials ran": of(func(r *lab.Record) { r.Trials = r.Trials[1:] }),
		"Not complete: it stopped after 12 trials":  of(func(*lab.Record) {}),
		"Not complete: it stopped after 11 trials": of(func(r *lab.Record) {
			r.Trials, r.Experiment.Design.Precision = r.Trials[1:], 0.01
		}),
	} {
		if r.State = lab.Interrupted; Of(r).BoxText != want {
			t.Errorf("%q, not %q", Of(r).BoxText, want)
		}
	}
}

// What nothing was compared of has doubts, too: those of its trials.
func TestNothingCompared(t *testing.T) {
	r := record()
	if a := Of(r); a.Box != answer.Note || !a.Has(answer.NotCompared) {
		t.Errorf("%s: %+v", a.Box, a.Cautions)
	}
	for i := range r.Trials {
		r.Trials[i].Grade = lab.GradeB
		r.Trials[i].Reasons = []lab.Reason{{Grade: lab.GradeB, Says: "generator: it was busy",
			Fact: &fact.Fact{Severity: fact.Warning, Args: fact.Busy{Percent: float64(81 + i)}}}}
	}
	a := Of(r)
	at := slices.IndexFunc(a.Cautions, func(c answer.Caution) bool { return c.Kind == answer.Generator })
	if a.Box != answer.Doubt || at < 0 || !strings.Contains(a.Cautions[at].Reasons[0], "the generator was busy 81 to ") {
		t.Errorf("%s: %+v", a.Box, a.Cautions)
	}
	r = record()
	r.State, r.Trials = lab.Interrupted, nil
	r.Arms = append(r.Arms, lab.Arm{Name: "odd", Baseline: "go", Unfit: "not alike"})
	if a := Of(r); a.BoxText != "Nothing is left to compare" || a.Has(answer.NotCompared) ||
		!strings.Contains(a.Sentence, "odd was not tested (not alike)") {
		t.Errorf("%s; %s", a.BoxText, a.Sentence)
	}
}

// A scope names each measure once, and only the comparisons that have it.
func TestScope(t *testing.T) {
	all := []lab.Comparison{{Metric: "throughput", Level: "c100", Variant: "b"}, {Metric: "throughput", Level: "c10", Variant: "b"},
		{Metric: "p99", Level: "c10", Variant: "c"}, {Metric: "p99", Level: "c10", Control: true, Variant: "a"}}
	levels := func(n int) *lab.Record {
		r := new(lab.Record)
		r.Experiment = &experiment.Experiment{Levels: make([]experiment.Level, n)}
		return r
	}
	got := scopeOf(levels(2), all, func(lab.Comparison) bool { return true })
	if want := "throughput at c100 and c10 of b; p99 latency at c10 of c"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
	if got := scopeOf(levels(1), all[1:3], func(lab.Comparison) bool { return true }); got != "throughput of b; p99 latency of c" {
		t.Errorf("of one level: %q", got)
	}
}

// Differences at another load are the same measure, and a share of checks has all digits that it
// needs.
func TestOtherLoads(t *testing.T) {
	r := record(compared("cpu", "b", 0.65, 0.55, 0.85, stats.Different), compared("cpu", "b", 0.7, 0.6, 0.8, stats.Different))
	r.Experiment.Levels = append(r.Experiment.Levels, experiment.Level{Name: "c10", Connections: 10})
	r.Verdicts[1].Level = "c10"
	if got, want := Of(r).Sentence, "At c100, b needs less CPU per request than go: −35 % [−45, −15]; at c10 likewise"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
	if got := valueText("checks", "%", 99.97); got != "99.97 %" {
		t.Errorf("%q", got)
	}
}

// How many variants can be compared, and which cannot, is one line, if it is not all of them and something was compared.
func TestUncovered(t *testing.T) {
	decided := compared("cpu", "b", 0.65, 0.55, 0.85, stats.Different)
	of := func(change func(*lab.Record)) *lab.Record { r := record(decided); change(r); return r }
	odd := func(r *lab.Record, names ...string) {
		for _, name := range names {
			r.Arms = append(r.Arms, lab.Arm{Name: name, Baseline: "go", Unfit: "not alike", Remedy: "allow it"})
		}
	}
	fail := func(r *lab.Record, arm string) {
		r.Arms = append(r.Arms, lab.Arm{Name: arm, Baseline: "go"})
		for round := range 6 {
			r.Trials = append(r.Trials, lab.TrialSummary{Grade: lab.GradeF, Slot: lab.Slot{Arm: arm, Level: "c100", Round: round + 1},
				Failure: &lab.Failure{Phase: "start", Reason: "ended with status 3"}})
		}
	}
	for want, r := range map[string]*lab.Record{
		"": record(decided),
		"2 of 3 variants can be compared; odd was not tested": of(func(r *lab.Record) { odd(r, "odd") }),
		"2 of 4 variants can be compared; odd was not tested; broken failed in each trial": of(func(r *lab.Record) {
			odd(r, "odd")
			fail(r, "broken")
		}),
		"2 of 6 variants can be compared; c, d and 2 more were not tested": of(func(r *lab.Record) { odd(r, "c", "d", "e", "f") }),
		"2 of 4 variants can be compared; other was not tested; nothing is left to compare 1 variant with": of(func(r *lab.Record) {
			odd(r, "other")
			r.Arms = append(r.Arms, lab.Arm{Name: "tuned", Baseline: "other"})
		}),
	} {
		if got := Of(r).Uncovered; got != want {
			t.Errorf("%q and not %q", got, want)
		}
	}
	nothing := record()
	odd(nothing, "odd")
	if got := Of(nothing); got.Uncovered != "" || !strings.Contains(got.Sentence, "0 of 2 variants can be compared: odd was not tested") {
		t.Errorf("nothing was compared, and it says %q besides %q", got.Uncovered, got.Sentence)
	}
	once := of(func(r *lab.Record) { // one trial of several
		r.Trials[len(r.Trials)-1].Failure = &lab.Failure{Phase: "start", Reason: "it exited"}
	})
	if got := Of(once).Uncovered; got != "" {
		t.Errorf("a variant of which one trial failed: %q", got)
	}
}

// What is only known to be higher is said to be, and decides in one direction only.
func TestBoundedFindings(t *testing.T) {
	for name, c := range map[string]struct {
		ratio, low, high float64
		bound            lab.Bound
		stored           stats.Verdict
		over             [2]bool // the medians of baseline and variant
		verdict          answer.Verdict
		row, sentence    string
	}{
		"a variant that starves": {800, 750, 850, lab.AtLeast, stats.Different, [2]bool{false, true}, answer.Worse,
			"2.50 ms → over 2.00 s, ×800 or higher [×750, ∞)",
			"b has a higher p99 latency than go: ×800 or higher [×750, ∞)"},
		"by less than twice": {1.5, 1.4, 1.6, lab.AtLeast, stats.Different, [2]bool{false, true}, answer.Worse,
			"2.50 ms → over 2.00 s, +50 % or higher [+40, ∞)", "b has a higher p99 latency than go: +50 % or higher [+40, ∞)"},
		"a baseline that starves": {0.2, 0.15, 0.25, lab.AtMost, stats.Different, [2]bool{true, false}, answer.Better,
			"over 2.50 ms → 2.00 s, −80 % or lower (−100, −75]", "b has a lower p99 latency than go: −80 % or lower (−100, −75]"},
		"a variant that seems better": {0.2, 0.15, 0.25, lab.AtLeast, stats.Inconclusive, [2]bool{false, true}, answer.Undecided,
			"2.50 ms → over 2.00 s, −80 % or higher [−85, ∞)", "These trials do not show whether b differs from go in p99 latency: " +
				"−80 % or higher [−85, ∞), requests of b had no answer, and its value is only known to be higher"},
		"both": {0.2, 0.15, 0.25, lab.NoBound, stats.Inconclusive, [2]bool{true, true}, answer.Undecided,
			"over 2.50 ms → over 2.00 s, – –", "These trials do not show whether b differs from go in p99 latency: " +
				"requests of both had no answer, and their values are only known to be higher"},
	} {
		t.Run(name, func(t *testing.T) {
			one := compared("p99", "b", c.ratio, c.low, c.high, c.stored)
			one.Bound = c.bound
			r := record(one)
			for i, arm := range []string{"go", "b"} {
				r.Cells = append(r.Cells, lab.Cell{Arm: arm, Level: "c100", Metric: "p99", Unit: "µs", Trials: 6,
					Median: stats.Interval{Estimate: []float64{2500, 2e6}[i]}, Over: c.over[i]})
			}
			a := Of(r)
			f := a.Groups[0].Findings[0]
			if row := f.Medians + ", " + f.Effect + " " + f.Interval; f.Verdict != c.verdict || row != c.row || a.Sentence != c.sentence {
				t.Errorf("%s: %s\n%s\nwant %s: %s\n%s", f.Verdict, row, a.Sentence, c.verdict, c.row, c.sentence)
			}
			if len(a.Groups[0].Notes) != 1 || !strings.Contains(a.Groups[0].Notes[0], "is only known to be higher") {
				t.Errorf("notes %q", a.Groups[0].Notes)
			}
		})
	}
}
