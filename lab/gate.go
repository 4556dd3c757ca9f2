package lab

import (
	"context"
	"fmt"
	"slices"

	"dyno/experiment"
	"dyno/stats"
)

// The outcomes of a gate.
const (
	Passed     = "passed"
	Regression = "regression"
	Undecided  = "inconclusive"
)

// confirming is the number of the first round of a second batch: above all that
// a file may ask for.
const confirming = 1001

// significance is the error that a gate may make, over all that it compares.
const significance = 0.05

// confirm decides the gate, if there is one. A regression counts only if a
// second batch of trials, of the arms that it is about, shows it too.
func (r *running) confirm(ctx context.Context) error {
	g := r.Experiment.Gate
	if g == nil {
		return nil
	}
	first := r.gated(g, r.batch(false))
	out := &GateOutcome{}
	r.record.Gate = out
	out.Missed = worse(first)
	out.Verdict, out.Why = decide(first)
	if out.Verdict != Regression || !g.Confirm {
		return nil
	}
	n := max(r.Experiment.Design.Rounds, minimum)
	cells := r.concerned(out.Missed)
	r.planned = len(r.trials) + n*len(cells)
	for round := range n {
		slots := order(experiment.Interleaved, r.record.Seed, confirming+round, cells)
		if err := r.round(ctx, slots); err != nil {
			return err
		}
	}
	again := worse(r.gated(g, r.batch(true)))
	out.Missed = slices.DeleteFunc(out.Missed, func(c Comparison) bool {
		return !slices.ContainsFunc(again, func(d Comparison) bool {
			return c.Metric == d.Metric && c.Level == d.Level && c.Variant == d.Variant
		})
	})
	out.Confirmed = len(out.Missed) > 0
	if !out.Confirmed {
		out.Verdict, out.Why = Undecided, "a second batch of trials did not show the regression again"
	}
	return nil
}

// decide is what a batch says.
func decide(all []Comparison) (verdict, why string) {
	for _, c := range all {
		if c.Control && c.Verdict == stats.Different {
			return Undecided, c.place() + ": it differs from itself; the machine does not support the " +
				"comparison now"
		}
	}
	if len(worse(all)) > 0 {
		return Regression, ""
	}
	for _, c := range all {
		switch {
		case c.Control:
		case c.Worse():
			return Undecided, fmt.Sprintf("%s: worse by a factor of %.3f, but after Holm's correction "+
				"for all that is compared p is %.3f", c.place(), c.Ratio, c.PHolm)
		case c.Verdict == stats.Inconclusive:
			return Undecided, c.place() + ": " + c.open()
		}
	}
	return Passed, ""
}

// open is why a comparison is inconclusive, and what would decide it.
func (c Comparison) open() string {
	number, more := fmt.Sprintf("%d pairs", c.Trials), "rounds"
	if c.Against > 0 {
		number, more = fmt.Sprintf("%d and %d runs", c.Against, c.Trials), "runs of each"
	}
	if c.Confidence < 0.95-1e-9 {
		return number + " are too few for a 95 % interval"
	}
	why := fmt.Sprintf("the interval [%.3f, %.3f] leaves it open", c.Low, c.High)
	switch {
	case c.More >= stats.MoreMax:
		why += fmt.Sprintf("; not even %d %s more would decide", stats.MoreMax, more)
	case c.More > 0:
		why += fmt.Sprintf("; about %d %s more are needed", c.More, more)
	}
	return why
}

// worse are the comparisons that show a regression, after Holm's correction.
func worse(all []Comparison) (bad []Comparison) {
	for _, c := range all {
		if !c.Control && c.Worse() && c.PHolm <= significance {
			bad = append(bad, c)
		}
	}
	return bad
}

// gated judges trials by the gate's own measures and margin.
func (r *running) gated(g *experiment.Gate, trials []*Trial) []Comparison {
	q := r.question()
	q.metrics, q.margin = g.Metrics, float64(g.Margin)
	return judgeAll(q, trials)
}

// batch is the first batch of trials, or the second.
func (r *running) batch(second bool) (all []*Trial) {
	for _, t := range r.trials {
		if (t.Round >= confirming) == second {
			all = append(all, t)
		}
	}
	return all
}

// concerned are the cells of the arms that comparisons are about, controls
// included.
func (r *running) concerned(bad []Comparison) (all []cell) {
	add := func(arm, level string) {
		if c := (cell{arm, level}); !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	for _, c := range bad {
		add(c.Variant, c.Level)
		add(c.Baseline, c.Level)
		for _, a := range r.fit() {
			if a.Control && a.baseline == c.Baseline {
				add(a.Name, c.Level)
			}
		}
	}
	return all
}
