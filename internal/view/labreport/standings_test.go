package labreport

import (
	"slices"
	"strings"
	"testing"

	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/say"
	"dyno/internal/stats"
	"dyno/internal/view/answer"
	"dyno/internal/view/document"
	"dyno/internal/view/format"
	"dyno/internal/view/labanswer"
	"dyno/internal/view/reporttest"
)

// pair is an experiment of two servers, of which node needs more CPU. The machine spoiled all trials
// but three.
func pair() *lab.Record {
	r := eight()
	r.Name, r.Dir, r.Experiment.Description = "vs-go-node", "/runs/report", "GET /, 50 connections"
	r.Experiment.Levels = r.Experiment.Levels[:1]
	r.Arms = []lab.Arm{{Name: "go"}, {Name: "go (A/A)", Baseline: "go", Control: true}, {Name: "node", Baseline: "go"}}
	r.Trials, r.Cells, r.Verdicts = nil, nil, nil
	for round := range 6 {
		for _, arm := range r.Arms {
			busy := &fact.Fact{Args: fact.MachineShare{By: fact.ByOthers, Percent: []float64{25, 62}[round%2]}}
			t := lab.TrialSummary{Grade: lab.GradeF, Slot: lab.Slot{Arm: arm.Name, Level: "c100", Round: round + 1},
				Reasons: []lab.Reason{{Grade: lab.GradeF, Passing: true, Says: say.Sentence(*busy), Fact: busy}}}
			if round == 5 {
				t.Grade, t.Reasons = lab.GradeA, nil
			}
			r.Trials = append(r.Trials, t)
		}
	}
	for i, metric := range []string{"cpu", "throughput", "p99"} {
		m, _ := lab.MeasureNamed(metric)
		c := lab.Comparison{Metric: metric, Level: "c100", Baseline: "go", Variant: "node", Margin: 0.02, Better: m.Better, Ratio: 1.7,
			Low: 1.42, High: 2.15, Verdict: stats.Different, Confidence: 0.97, Trials: 6, GradeF: 5, PValues: lab.PValues{P: 0.03, PAdjusted: 0.03}}
		if i > 0 {
			c.Verdict, c.Floor, c.Disturbed = stats.Inconclusive, 0.66, 2
		}
		r.Verdicts = append(r.Verdicts, c)
	}
	return r
}

// printed is what dyno vs prints of an experiment at its end.
func printed(t *testing.T, r *lab.Record, next bool) string {
	t.Helper()
	a := labanswer.Of(r)
	step := a.Next
	if !next {
		step = answer.Step{}
	}
	return reporttest.Text(t, func(b *strings.Builder) error {
		if err := Versus(b, r, a, step, format.Style{Width: 100}); err != nil {
			return err
		}
		return Standings(b, "go", labanswer.Standings(r, a), a.Unreliable, format.Style{})
	})
}

// What dyno vs prints of two servers whose trials must not be relied on: the first sentence, each
// verdict and the last line say so, and what the machine did is said once.
func TestUnreliablePair(t *testing.T) {
	text := printed(t, pair(), true)
	golden(t, "unreliable.text", []byte(text))
	if n := strings.Count(text, "other programs"); n != 1 {
		t.Errorf("it says %d times what the machine did:\n%s", n, text)
	}
	const again = "\n               dyno lab rerun /runs/report -o /runs/report-2\n"
	for _, text := range []string{text, briefly(t, pair(), 100)} {
		if !strings.Contains(text, again) {
			t.Errorf("what runs it again is not %q:\n%s", again, text)
		}
	}
}

// What dyno vs prints of two servers on a quiet machine: a few lines and the answer. What it does not
// cover is named.
func TestDecidedPair(t *testing.T) {
	r := pair()
	for i := range r.Trials {
		r.Trials[i].Grade, r.Trials[i].Reasons = lab.GradeA, nil
	}
	r.Trials[0].Grade = lab.GradeF
	r.Trials[0].Reasons = []lab.Reason{{Grade: lab.GradeF, Passing: true, Says: "other programs used 47 % of the machine's CPUs"}}
	r.Verdicts[1].ClientBound, r.Verdicts[1].Disturbed, r.Verdicts[2].Disturbed = true, 0, 0
	text := printed(t, r, false)
	golden(t, "decided.text", []byte(text))
	if n := len(strings.Fields(text)); n > 90 {
		t.Errorf("it has %d words:\n%s", n, text)
	}
}

// Two comparisons are both, and one is none that others are judged with.
func TestAllOf(t *testing.T) {
	for counted, want := range map[familyCount]string{{2, "comparisons"}: "both comparisons together", {3, "comparisons"}: "all 3 comparisons together",
		{1200, "comparisons"}: "all 1,200 comparisons together", {2, "comparisons of settings"}: "both comparisons of settings together",
		{1, "of interactions"}: "1 of interactions"} {
		if got := allOf(counted); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// A measure in which all is the same says so as its verdict does; its reason is one, though each
// forecast has its own number.
func TestGroupReason(t *testing.T) {
	same := answer.Finding{Verdict: answer.Same, Why: "within 2 %"}
	withheld := same
	withheld.Unreliable = answer.ButUnreliable
	open := func(because, why string) answer.Finding {
		return answer.Finding{Verdict: answer.Undecided, Because: because, Why: why}
	}
	bound := answer.Finding{Verdict: answer.NotValid, Because: answer.AtLimit, Why: "the generator was the limit"}
	for want, all := range map[string][]answer.Finding{
		"the same, within 2 %":                 {same, same},
		"the same, within 2 %, but unreliable": {withheld, withheld},
		"the same, within 2 %, but unreliable, or not valid: the generator was the limit": {withheld, bound},
		"no variant is better or worse, but unreliable":                                   {withheld, open("", "it is too wide")},
		"undecided; more rounds would decide, if this estimate holds":                     {open(answer.Forecast, "about 9"), open(answer.Forecast, "about 14")},
		"undecided: about 9 more would decide, a name says":                               {open("", "about 9 more would decide, a name says")},
		"undecided: for several reasons (-v)":                                             {open(answer.AboveNoise, "noise"), open("", "it is too wide")},
	} {
		if got := groupReason(answer.Group{Margin: 0.02, Findings: all}).says; got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// The caution about noise is left out only where a reason on the screen is the noise.
func TestNoiseIsSaidOnce(t *testing.T) {
	noise := answer.Finding{Verdict: answer.Undecided, Because: answer.AboveNoise, Why: "go may differ from itself by ±9 %"}
	wide := answer.Finding{Verdict: answer.Undecided, Why: "the interval is too wide"}
	for name, c := range map[string]struct {
		groups []answer.Group
		want   int
	}{
		"in the first measure":       {[]answer.Group{{Findings: []answer.Finding{noise}}}, 0},
		"in a line about others":     {[]answer.Group{{Findings: []answer.Finding{wide}}, {Findings: []answer.Finding{noise}}}, 0},
		"among several reasons":      {[]answer.Group{{Findings: []answer.Finding{wide}}, {Findings: []answer.Finding{noise, wide}}}, 1},
		"beside what was decided":    {[]answer.Group{{Findings: []answer.Finding{wide}}, {Findings: []answer.Finding{noise, {Verdict: answer.Better}}}}, 1},
		"in a row that is not shown": {[]answer.Group{{Findings: append(slices.Repeat([]answer.Finding{wide}, mostRows), noise)}}, 1},
	} {
		a := answer.Answer{Groups: c.groups, Cautions: []answer.Caution{{Kind: answer.AboveNoise}}}
		if got := unsaid(format.Style{}, a); len(got) != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Pairs of factors that are undecided have no row, but a line that counts them; of one that is decided,
// and with details, there is a row.
func TestUndecidedPairs(t *testing.T) {
	pair := func(name string, v answer.Verdict) answer.Finding {
		return answer.Finding{Variant: name, Verdict: v, Interaction: true, Effect: "+1 %", Interval: "[−9, +9]"}
	}
	g := answer.Group{Name: "cpu", Findings: []answer.Finding{{Variant: "log=off", Verdict: answer.Better, Effect: "−9 %"},
		pair("a and b", answer.Undecided), pair("a and c", answer.Undecided), pair("b and c", answer.Worse)}}
	for detail, want := range map[bool][2]bool{false: {false, true}, true: {true, false}} {
		style := format.Style{Detail: detail, Width: 100}
		text := strings.Join(document.Doc{Parts: []document.Part{groupPart(g, style)}}.TextLines(style), "\n")
		if got := [2]bool{strings.Contains(text, "a and b"), strings.Contains(text, "2 pairs of factors: undecided (-v)")}; got != want ||
			!strings.Contains(text, "b and c") || !strings.Contains(text, "log=off") {
			t.Errorf("detail %v:\n%s", detail, text)
		}
	}
}
