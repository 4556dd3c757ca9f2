package judge

import (
	"slices"
	"strings"
	"testing"

	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/observe/probe"
	"dyno/internal/result"
	"dyno/internal/say"
	"dyno/internal/stats"
)

// Gate and cautions write a change with the digits that its interval allows, as all reports do.
func TestChangesHaveNoDigitsOfTheNoise(t *testing.T) {
	c := lab.Comparison{Metric: "p50", Level: "c1", Baseline: "base", Variant: "slow", Ratio: 1.23456, Low: 0.71234, High: 1.93456,
		Verdict: stats.Different, Better: -1, Confidence: 0.96, Trials: 6}
	self := c
	self.Control = true
	r := &lab.Record{Definition: lab.Definition{Experiment: new(experiment.Experiment)},
		Findings: lab.Findings{Verdicts: []lab.Comparison{self}}}
	u := &Unpaired{Verdicts: []lab.Comparison{self}}
	for name, got := range map[string]string{"a regression": c.Worsening(), "undecided": sentences(addOpen(nil, c, variantScope))[0],
		"A/A": strings.Join(Cautions(cautionsOf(r, nil)), "\n"), "A/A of runs": strings.Join(Cautions(u.cautions()), "\n")} {
		if change := "+23 % [−29, +93]"; !strings.Contains(got, change) {
			t.Errorf("%s: %q does not have %q", name, got, change)
		}
	}
}

func sentences(facts []fact.Fact) (all []string) {
	for _, f := range facts {
		all = append(all, say.Sentence(f))
	}
	return all
}

// What differs from itself comes first, and hides nothing else that was found.
func TestDecide(t *testing.T) {
	compare := func(variant string, v stats.Verdict, control bool) lab.Comparison {
		return lab.Comparison{Metric: "p50", Variant: variant, Baseline: "base", Verdict: v, Ratio: 0.5, Better: 1, Control: control,
			Confidence: 0.95}
	}
	self := compare("base", stats.Different, true)
	bad, open := compare("slow", stats.Different, false), compare("odd", stats.Inconclusive, false)
	for _, test := range []struct {
		all     []lab.Comparison
		verdict string
		open    []string // how each begins
	}{
		{[]lab.Comparison{bad}, lab.Regression, nil},
		{[]lab.Comparison{bad, open}, lab.Regression, []string{"p50 of odd: "}},
		{[]lab.Comparison{open}, lab.Undecided, []string{"p50 of odd: "}},
		{[]lab.Comparison{self, bad, open}, lab.Undecided, []string{"\"base\" was compared with itself, and p50 still differed, by −50 %",
			"p50 of slow: worse: −50 %", "p50 of odd: "}},
		{[]lab.Comparison{self, self}, lab.Undecided, []string{"\"base\" was", "\"base\" was"}},
		{[]lab.Comparison{compare("base", stats.Equivalent, true)}, lab.Passed, nil},
	} {
		verdict, facts := decideBatch(test.all, variantScope, false)
		why := sentences(facts)
		if same := slices.EqualFunc(why, test.open, strings.HasPrefix); verdict != test.verdict || !same {
			t.Errorf("%s: %q, want %s: %q", verdict, why, test.verdict, test.open)
		}
	}
}

// Bad trials show neither a regression nor that there is none. A few of them take nothing back, nor
// do those that were repeated well.
func TestGateWithholds(t *testing.T) {
	bad := lab.Comparison{Metric: "p50", Variant: "slow", Verdict: stats.Different, Ratio: 0.5, Better: 1, Confidence: 0.95}
	for _, test := range []struct {
		unreliable, repeated int
		want                 []string // how each begins
	}{
		{2, 0, nil},
		{3, 0, []string{"3 of 8 trials are unreliable (grade F)", "p50 of slow: worse: −50 %"}},
		{3, 1, nil},
	} {
		var trials []*lab.Trial
		for i := range 8 {
			this := &lab.Trial{Slot: lab.Slot{Arm: "slow", Round: i + 1}, Attempt: 1, Grade: lab.GradeA}
			if i < test.unreliable {
				this.Grade, this.Reasons = lab.GradeF, []lab.Reason{{Grade: lab.GradeF, Passing: true}}
			}
			trials = append(trials, this)
		}
		for i := range test.repeated {
			trials = append(trials, &lab.Trial{Slot: trials[i].Slot, Attempt: 2, Grade: lab.GradeA})
		}
		why := sentences(unreliableFacts([]lab.Comparison{bad}, worthOfTrials(trials), variantScope))
		if !slices.EqualFunc(why, test.want, strings.HasPrefix) {
			t.Errorf("%+v: %q", test, why)
		}
	}
}

// A baseline that differs from itself leaves a gate undecided if it does so in a measure that the
// gate judges, by the gate's margin.
func TestGateJudgesItsOwnMeasures(t *testing.T) {
	e := &experiment.Experiment{Levels: []experiment.Level{{Name: "l", Connections: 10}}}
	variants := []experiment.Variant{{Name: "old"}, {Name: "new"}}
	e.Design.Rounds, e.Design.Margin, e.Design.Metrics = 8, 0.02, []experiment.Metric{"throughput", "cpu"}
	r := &lab.Record{Definition: lab.Definition{Experiment: e}}
	r.Arms = []lab.Arm{{Name: "old"}, {Name: "new", Baseline: "old"}, {Name: "old (A/A)", Baseline: "old", Control: true}}
	var trials []*lab.Trial
	for round := range e.Design.Rounds {
		for i, arm := range r.Arms {
			noise := 0.002 * float64((round+i)%3)
			this := logged(arm.Name, round+1, noise)
			if arm.Control {
				this.Result.Rate.Completed *= 1.2
			}
			this.Result.Server = &result.Server{Processes: []result.Usage{{CPU: probe.Value(20 + noise)}}}
			trials = append(trials, this)
		}
	}
	differ := func(c lab.Comparison) bool { return c.Control && c.Verdict == stats.Different }
	all := judgeScope(scopeOf(r), trials)
	if n := slices.IndexFunc(all, differ); n < 0 || all[n].Metric != "throughput" {
		t.Fatalf("the baseline's throughput does not differ from itself: %+v", all)
	}
	for _, c := range []struct {
		measure experiment.Metric
		margin  experiment.Share
		want    string
	}{{"cpu", 0.05, lab.Passed}, {"throughput", 0.05, lab.Undecided}, {"throughput", 0.5, lab.Passed}} {
		e.Gate = &experiment.Gate{Metrics: []experiment.Metric{c.measure}, Margin: c.margin, Baseline: "old"}
		g := NewGate(r, variants)
		if g.JudgeFirst(trials); g.Outcome.Verdict != c.want {
			t.Errorf("%s by %g: %+v", c.measure, c.margin, g.Outcome)
		}
	}
	// The reports count a second batch, which an earlier session measured. So does the gate.
	for _, first := range slices.Clone(trials) {
		second := *first
		second.Round, second.Grade = lab.ConfirmingRound+first.Round, lab.GradeF
		trials = append(trials, &second)
	}
	e.Gate = &experiment.Gate{Metrics: []experiment.Metric{"cpu"}, Margin: 0.05, Baseline: "old"}
	g := NewGate(r, variants)
	if g.JudgeFirst(trials); g.Outcome.Verdict != lab.Undecided {
		t.Errorf("half of the trials are unreliable: %+v", g.Outcome)
	}
}

// Against a baseline that answers with quick errors no variant is a regression: the figures are not
// those of the load. What the variant's own server spoils takes nothing back.
func TestGateOfASpoiledBaseline(t *testing.T) {
	e := &experiment.Experiment{Levels: []experiment.Level{{Name: "l", Connections: 10}}}
	e.Design.Rounds, e.Design.Margin, e.Design.Metrics = 8, 0.02, []experiment.Metric{"cpu"}
	e.Gate = &experiment.Gate{Metrics: []experiment.Metric{"cpu"}, Margin: 0.05, Baseline: "old"}
	r := &lab.Record{Definition: lab.Definition{Experiment: e}}
	r.Arms = []lab.Arm{{Name: "old"}, {Name: "new", Baseline: "old"}}
	for spoiled, want := range map[string]string{"": lab.Regression, "new": lab.Regression, "old": lab.Undecided} {
		var trials []*lab.Trial
		for n := range 2 * e.Design.Rounds {
			for i, arm := range r.Arms {
				round := n%e.Design.Rounds + 1
				if n >= e.Design.Rounds {
					round += lab.ConfirmingRound
				}
				this := logged(arm.Name, round, 0.002*float64((n+i)%3))
				this.Level, this.Grade = "l", lab.GradeA
				this.Result.Server = &result.Server{Processes: []result.Usage{{CPU: probe.Value(20 * (1 + i))}}}
				if arm.Name == spoiled {
					this.Grade = lab.GradeF
					this.Reasons = []lab.Reason{{Grade: lab.GradeF, Server: true, Says: "half failed"}}
				}
				trials = append(trials, this)
			}
		}
		g := NewGate(r, []experiment.Variant{{Name: "old"}, {Name: "new"}})
		g.JudgeFirst(SelectBatch(trials, false))
		if g.Outcome.Verdict == lab.Regression {
			g.JudgeSecond(trials)
		}
		why := strings.Contains(g.Outcome.Why, "the server of \"old\" spoiled all 8 of its trials (half failed)")
		if g.Outcome.Verdict != want || why != (spoiled == "old") {
			t.Errorf("%q spoiled: %+v", spoiled, g.Outcome)
		}
		if spoiled == "new" { // what is undecided of it is so because of its server, and more rounds do not help
			open := lab.Comparison{Metric: "cpu", Level: "l", Variant: "new", Baseline: "old", Verdict: stats.Inconclusive, More: 2}
			kept, facts := g.withoutSpoiled([]lab.Comparison{open}, trials[:16])
			why := sentences(facts)
			const want = "the server of \"new\" spoiled all 8 of its trials (half failed); this happened in none of 8 trials of other variants; nothing else disturbed the machine"
			if len(kept) > 0 || !slices.Equal(why, []string{want}) {
				t.Errorf("%+v, %q", kept, why)
			}
			if gaps := strings.Join(sentences(g.gateGaps(trials, nil)), "; "); strings.Contains(gaps, "grade F") {
				t.Error(gaps)
			}
		}
	}
}

// Where the machine has to be quiet, no number of rounds is forecast.
func TestNoForecast(t *testing.T) {
	open := lab.Comparison{Metric: "p50", Variant: "odd", Verdict: stats.Inconclusive, Ratio: 1.1, Low: 0.9, High: 1.3, More: 14, Confidence: 0.95}
	self := lab.Comparison{Metric: "p50", Variant: "base", Control: true, Verdict: stats.Different, Ratio: 1.1, Confidence: 0.95}
	for _, all := range [][]lab.Comparison{{open}, {self, open}} {
		_, why := decideBatch(all, variantScope, false)
		if said := strings.Join(sentences(why), "; "); strings.Contains(said, " more would decide") != (len(all) == 1) {
			t.Error(said)
		}
	}
}
