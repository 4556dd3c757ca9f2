package labreport

import (
	"slices"
	"testing"
	"time"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/stats"
	"dyno/internal/view/labanswer"
	"dyno/internal/view/reporttest"
)

// experimentPhrases are the sentences of an experiment.
func experimentPhrases(r *lab.Record) []reporttest.Phrase {
	w := ExperimentWordsOf(r)
	return slices.Concat(reporttest.Phrases("title", w.Title), reporttest.Phrases("scope", w.Scope), reporttest.Phrases("command", w.Command),
		reporttest.Phrases("caution", r.Cautions...), reporttest.Phrases("unavailable", w.Unavailable...), reporttest.Phrases("gate", w.Gate...),
		reporttest.Phrases("correction", w.Correction...), reporttest.Phrases("verdict", w.Verdicts...), reporttest.Phrases("trials", w.Trials),
		reporttest.Phrases("fairness", w.Fairness...), reporttest.Phrases("given", w.Given...), reporttest.Phrases("published", w.Published...),
		reporttest.Phrases("profile", w.Profiles...), reporttest.Phrases("level", w.Levels...), reporttest.Phrases("method", w.Methods...),
		reporttest.Phrases("formula", w.Formulas...))
}

// What is said of experiments, of their verdicts and of their levels.
func TestExperimentSentences(t *testing.T) {
	book := reporttest.Phrasebook{}
	for name, r := range map[string]*lab.Record{"servers": servers(), "described": described(), "small": small(),
		"of agents": ofAgents(), "nothing": new(lab.Record)} {
		book.Collect(name, experimentPhrases(r))
	}
	for name, r := range durationsOfExperiments() {
		book.Collect(name, reporttest.Phrases("scope", scopeText(&r)))
	}
	for name, c := range verdicts() {
		book.Collect(name, slices.Concat(reporttest.Phrases("sentence", comparisonSentence(c, labanswer.FindingOf(c, []lab.Comparison{c, c}))), reporttest.Phrases("mark", VerdictMark(c, labanswer.FindingOf(c, nil)))))
	}
	for name, l := range map[string]experiment.Level{
		"one":       {Connections: 1, Pipeline: 1},
		"pipelined": {Connections: 2000, Pipeline: 8},
		"closing":   {Connections: 10, Reconnect: 1},
		"open":      {Connections: 10, Rate: 5000, Arrival: "poisson"},
		"slow":      {Connections: 1, Rate: 0.5, Reconnect: 7},
	} {
		book.Collect(name, reporttest.Phrases("load", labanswer.LevelText(l, experiment.Workload{})))
	}
	golden(t, "experiment.sentences", book.Text())
}

// verdicts are comparisons that differ in what is said of them: also such as are of the baseline
// with itself, and such whose generator was at its limit, was held up, or made another load.
func verdicts() map[string]lab.Comparison {
	control := lab.Comparison{Metric: "cpu", Level: "c1", Baseline: "go", Variant: "go (A/A)", Control: true,
		Ratio: 0.99, Low: 0.95, High: 1.01, Confidence: 0.97, Trials: 10, Verdict: stats.Inconclusive}
	apart, few, other := control, control, control
	apart.Verdict = stats.Different
	few.Confidence, few.Trials = 0.5, 2
	other.Control, other.Variant, other.Better = false, "nginx", -1
	other.Verdict, other.Ratio, other.Low, other.High = stats.Different, 1.2, 1.1, 1.3
	alike := lab.Comparison{Metric: "p99", Variant: "b", Baseline: "a", Ratio: 1, Low: 0.9, High: 1.1, Confidence: 0.95,
		Trials: 14, Verdict: stats.Equivalent}
	bound, held, both, unasked := alike, alike, alike, alike
	bound.ClientBound, held.Disturbed, unasked.OtherLoad = true, 1, 2
	both.ClientBound, both.Disturbed = true, 1
	return map[string]lab.Comparison{"control": control, "apart": apart, "few": few, "other": other,
		"alike": alike, "bound": bound, "held up": held, "bound and held up": both, "another load": unasked}
}

// durationsOfExperiments are experiments that took time in different ways: an experiment's time is
// that from its beginning to its end, and not that of its trials alone.
func durationsOfExperiments() map[string]lab.Record {
	began := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	all := map[string]lab.Record{}
	for name, p := range map[string]lab.Progress{
		"complete":          {Started: began, Ended: began.Add(234 * time.Second), State: lab.Complete},
		"paused":            {Started: began, Ended: began.Add(time.Hour), Sessions: 2, WorkedS: 180, State: lab.Complete},
		"paused for longer": {Started: began, Ended: began.Add(time.Hour), Sessions: 2, State: lab.Complete},
		"running":           {Started: began, State: lab.Running},
		"ended before":      {Started: began, Ended: began.Add(-time.Hour)},
	} {
		p.Seed = 7
		all[name] = lab.Record{Progress: p,
			Findings: lab.Findings{Trials: make([]lab.TrialSummary, 2), SpentS: 160.2}}
	}
	return all
}

// small is an experiment with profiles.
func small() *lab.Record {
	return &lab.Record{Progress: lab.Progress{Name: "x"},
		Definition: lab.Definition{Experiment: &experiment.Experiment{Levels: []experiment.Level{
			{Name: "c1", Connections: 1}, {Name: "c2", Connections: 2}}}},
		Findings: lab.Findings{Verdicts: []lab.Comparison{{Metric: "cpu"}, {Metric: "p99", Control: true}},
			Profiles: []lab.TakenProfile{{By: "perf", File: "a.pb.gz", Slowdown: 1.25}, {Problem: "no perf"}}}}
}

// The command repeats the experiment, whatever its file is called.
func TestExperimentCommand(t *testing.T) {
	for want, r := range map[string]lab.Record{
		"dyno lab run hello --seed 7 --quick": {Progress: lab.Progress{Name: "hello", Seed: 7, Quick: true}},
		"dyno lab run 'my file;rm.yaml' --seed 8": {Progress: lab.Progress{Name: "x", Seed: 8},
			Definition: lab.Definition{File: "my file;rm.yaml"}},
		"dyno lab run dir/experiment.yaml --seed 9": {Progress: lab.Progress{Name: "x", Seed: 9},
			Definition: lab.Definition{File: "dir/experiment.yaml"}},
	} {
		if got := experimentCommand(&r); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// There are words for each verdict, profile and level, and of an experiment of which nothing is
// known as well.
func TestWordsOf(t *testing.T) {
	w := ExperimentWordsOf(small())
	if len(w.Verdicts) != 2 || len(w.Levels) != 2 || len(w.Profiles) != 2 || len(w.Methods) == 0 || len(w.Formulas) == 0 {
		t.Errorf("%+v", w)
	}
	if w := ExperimentWordsOf(new(lab.Record)); w.Scope == "" || w.Trials == "" {
		t.Errorf("of nothing: %+v", w)
	}
}

// A generator at its limit, and one that was held up, are told apart.
func TestMarksOfLimits(t *testing.T) {
	all := verdicts()
	run := all["held up"]
	run.Against, run.GradeF = 6, 2
	all["runs held up"] = run
	for name, want := range map[string]string{"alike": "the same, within 0 %", "bound": "not valid, client-bound",
		"held up": "the same, within 0 %; 1 of 14 pairs held up", "bound and held up": "not valid, client-bound; 1 of 14 pairs held up",
		"runs held up": "the same, within 0 %; 1 of 20 runs client-bound, 2 of grade F"} {
		if VerdictMark(all[name], labanswer.FindingOf(all[name], nil)) != want {
			t.Errorf("%s: %q", name, VerdictMark(all[name], labanswer.FindingOf(all[name], nil)))
		}
		if name != "alike" && len(variantSentence(all[name], labanswer.FindingOf(all[name], nil))) <= len(variantSentence(all["alike"], labanswer.FindingOf(all["alike"], nil))) {
			t.Errorf("%s: nothing is said of it: %q", name, variantSentence(all[name], labanswer.FindingOf(all[name], nil)))
		}
	}
}
