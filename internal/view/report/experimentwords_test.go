package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/stats"
)

// A sentence for each verdict, also for that of the baseline with itself.
func TestVerdictWords(t *testing.T) {
	control := lab.Comparison{Metric: "cpu", Level: "c1", Baseline: "go", Variant: "go (A/A)", Control: true,
		Ratio: 0.99, Low: 0.95, High: 1.01, Confidence: 0.97, Trials: 10, Verdict: stats.Inconclusive}
	apart, few, other := control, control, control
	apart.Verdict = stats.Different
	few.Confidence, few.Trials = 0.5, 2
	other.Control, other.Variant, other.Better = false, "nginx", -1
	other.Verdict, other.Ratio, other.Low, other.High = stats.Different, 1.2, 1.1, 1.3
	for _, c := range []struct {
		lab.Comparison
		want string
	}{
		{control, "cpu at c1: noise floor 5.26 %: go measured twice (A/A) has 0.990 times its own [0.950, 1.010]"},
		{apart, "cpu at c1: noise floor 5.26 %: go measured twice (A/A) has 0.990 times its own [0.950, 1.010]; " +
			"it differs from itself"},
		{few, "cpu at c1: go measured twice (A/A) in 2 pairs; that is too few for a noise floor"},
		{other, "cpu at c1: nginx is different, and worse: 1.20 times that of go [1.10, 1.30]"},
	} {
		if got := verdictOf(c.Comparison); got != c.want {
			t.Errorf("%q\nnot %q", got, c.want)
		}
	}
}

func TestLoadWords(t *testing.T) {
	for want, l := range map[string]experiment.Level{
		"closed, 1 connection": {Connections: 1, Pipeline: 1},
		"closed, 2,000 connections, 8 requests under way on each":               {Connections: 2000, Pipeline: 8},
		"closed, 10 connections, a connection for each request":                 {Connections: 10, Reconnect: 1},
		"open, 5,000/s poisson, 10 connections":                                 {Connections: 10, Rate: 5000, Arrival: "poisson"},
		"open, 0.50/s constant, 1 connection, a connection for each 7 requests": {Connections: 1, Rate: 0.5, Reconnect: 7},
	} {
		if got := loadOf(l); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// An experiment's time is that from its beginning to its end, and not that of its trials alone.
func TestScopeSaysHowLongItTook(t *testing.T) {
	began := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	for want, r := range map[string]lab.Record{
		"2 trials in 3m54s, of which the trials took 2m40s, seed 7": {Started: began,
			Ended: began.Add(234 * time.Second), SpentS: 160.2, State: lab.Complete},
		"2 trials in 3m0s without the pauses, of which the trials took 2m40s, seed 7": {Started: began,
			Ended: began.Add(time.Hour), SpentS: 160.2, Sessions: 2, WorkedS: 180, State: lab.Complete},
		"2 trials in 1h0m0s with pauses, of which the trials took 2m40s, seed 7": {Started: began,
			Ended: began.Add(time.Hour), SpentS: 160.2, Sessions: 2, State: lab.Complete},
		"2 trials in 2m40s, seed 7; NOT COMPLETE": {Started: began, SpentS: 160.2, State: lab.Running},
		"2 trials in 2m40s, seed 7":               {Started: began, Ended: began.Add(-time.Hour), SpentS: 160.2},
	} {
		r.Seed, r.Trials = 7, make([]lab.TrialSummary, 2)
		if got := scope(&r); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// The command repeats the experiment, whatever its file is called.
func TestExperimentCommand(t *testing.T) {
	for want, r := range map[string]lab.Record{
		"dyno lab run hello --seed 7 --quick":       {Name: "hello", Seed: 7, Quick: true},
		"dyno lab run 'my file;rm.yaml' --seed 8":   {Name: "x", File: "my file;rm.yaml", Seed: 8},
		"dyno lab run dir/experiment.yaml --seed 9": {Name: "x", File: "dir/experiment.yaml", Seed: 9},
	} {
		if got := command(&r); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// There are words for each verdict, profile and level, and of an experiment of which nothing is
// known as well.
func TestWordsOf(t *testing.T) {
	r := &lab.Record{Name: "x", Experiment: &experiment.Experiment{Levels: []experiment.Level{
		{Name: "c1", Connections: 1}, {Name: "c2", Connections: 2}}},
		Verdicts: []lab.Comparison{{Metric: "cpu"}, {Metric: "p99", Control: true}},
		Profiles: []lab.TakenProfile{{By: "perf", File: "a.pb.gz", Slowdown: 1.25}, {Problem: "no perf"}}}
	w := WordsOf(r)
	if len(w.Verdicts) != 2 || len(w.Levels) != 2 || len(w.Methods) == 0 || len(w.Formulas) == 0 {
		t.Errorf("%+v", w)
	}
	if got := strings.Join(w.Profiles, "|"); got !=
		"by perf, in a.pb.gz; meanwhile throughput was 0.800 times that of the trials|none: no perf" {
		t.Errorf("profiles: %q", got)
	}
	if w := WordsOf(new(lab.Record)); w.Scope == "" || w.Trials == "" {
		t.Errorf("of nothing: %+v", w)
	}
}

// A generator at its limit, and one that was held up, are told apart.
func TestSentenceOfLimits(t *testing.T) {
	c := lab.Comparison{Metric: "p99", Variant: "b", Baseline: "a", Ratio: 1, Low: 0.9, High: 1.1, Confidence: 0.95,
		Trials: 14, Verdict: stats.Equivalent}
	const limit, held = "was at its limit", "; in 1 of 14 pairs the generator was held up"
	for _, test := range []struct {
		bound     bool
		disturbed int
		said      []string
		mark      string
	}{{false, 0, nil, ""}, {true, 0, []string{limit}, ", client-bound"}, {false, 1, []string{held}, ", 1 disturbed"},
		{true, 1, []string{limit, held}, ", client-bound, 1 disturbed"}} {
		c.ClientBound, c.Disturbed = test.bound, test.disturbed
		for _, words := range []string{limit, held} {
			if strings.Contains(sentence(c), words) != slices.Contains(test.said, words) {
				t.Errorf("%+v: %q", test, sentence(c))
			}
		}
		if mark(c) != "equivalent"+test.mark {
			t.Errorf("%+v: %q", test, mark(c))
		}
	}
	c.ClientBound, c.Disturbed, c.OtherLoad = false, 0, 2
	if mark(c) != "equivalent, 2 of another load" ||
		!strings.Contains(sentence(c), "; in 2 of 14 pairs the load was not the one asked for") {
		t.Errorf("%q: %q", mark(c), sentence(c))
	}
}
