package lab

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"dyno/internal/lab/experiment"
	"dyno/internal/stats"
)

// The outcomes of a gate.
const (
	Passed     = "passed"
	Regression = "regression"
	Undecided  = "inconclusive"
)

// Confirming is the number of the first round of a second batch: above all that
// a file may ask for.
const Confirming = 1001

// significance is the error that a gate may make, over all that it compares.
const significance = 0.05

// confirm decides the gate, if there is one. A regression counts only if a
// second batch of trials, of the arms that it is about, shows it too; what the
// first batch alone shows was picked out for being large. Only the final outcome
// is recorded.
func (r *running) confirm(ctx context.Context) error {
	g := r.Experiment.Gate
	if g == nil {
		return nil
	}
	q := r.gateQuestion(g)
	first := judgeAll(q, r.batch(false))
	out := &GateOutcome{Missed: worse(first)}
	verdict, open := decide(first)
	open = append(open, r.gaps(q, first)...)
	out.settle(verdict, open)
	if verdict == Regression && g.Confirm {
		if err := r.secondBatch(ctx, q, out, open); err != nil {
			return err
		}
	}
	r.record.Gate = out
	return nil
}

// secondBatch runs the second batch, as many rounds as the first had and six at least, and
// settles the gate by it. What the first batch left open stays so.
func (r *running) secondBatch(ctx context.Context, q question, out *GateOutcome,
	open []string) error {
	n := experiment.LeastRounds
	for _, t := range r.batch(false) {
		n = max(n, t.Round)
	}
	cells := r.concerned(out.Missed)
	r.planned = len(r.trials) + n*len(cells)
	for round := range n {
		slots := order(experiment.Interleaved, r.record.Seed, Confirming+round, cells)
		if err := r.round(ctx, slots); err != nil {
			return err
		}
	}
	if err := r.again(ctx, true); err != nil {
		return err
	}
	second := judgeThese(q, r.batch(true), func(c Comparison) bool { return among(out.Missed, c) })
	verdict, why := decide(second)
	shown := worse(second)
	if verdict != Regression {
		verdict = Undecided
		again := "a second batch of trials did not show the regression again"
		open = append([]string{because(again, why)}, open...)
	} else if lost := places(out.Missed, shown); len(lost) > 0 {
		again := "not shown again by a second batch of trials: " + strings.Join(lost, ", ")
		open = append(open, because(again, why))
	}
	out.Confirmed = verdict == Regression
	out.settle(verdict, open)
	out.Missed = slices.DeleteFunc(judgeAll(q, r.trials), func(c Comparison) bool {
		return !among(shown, c) // what is left is of both batches together
	})
	return nil
}

// because is what, and in brackets why, if that is known.
func because(what string, why []string) string {
	if len(why) == 0 {
		return what
	}
	return what + " (" + strings.Join(why, "; ") + ")"
}

// places are those of the comparisons that are not among others.
func places(all, others []Comparison) (lost []string) {
	for _, c := range all {
		if !among(others, c) {
			lost = append(lost, c.place())
		}
	}
	return lost
}

// among reports whether all has a comparison of the same two by the same measure.
func among(all []Comparison, c Comparison) bool {
	return slices.ContainsFunc(all, func(d Comparison) bool {
		return c.Metric == d.Metric && c.Level == d.Level && c.Variant == d.Variant &&
			c.Baseline == d.Baseline
	})
}

// decide is what a batch says, with all that keeps it from passing: what differs from itself
// first, for it makes all else uncertain.
func decide(all []Comparison) (verdict string, open []string) {
	bad := worse(all)
	var controls []string
	for _, c := range all {
		switch {
		case c.Control && c.Verdict == stats.Different:
			controls = append(controls, c.place())
		case c.Control, among(bad, c):
		case c.Verdict == stats.Inconclusive:
			open = append(open, c.place()+": "+c.open())
		}
	}
	switch {
	case len(controls) > 0:
		differs := ": it differs from itself"
		if len(controls) > 1 {
			differs = ": each differs from itself"
		}
		why := []string{strings.Join(controls, ", ") + differs +
			"; the machine does not support the comparison now"}
		for _, c := range bad {
			why = append(why, c.worse()+", which this machine cannot show")
		}
		return Undecided, append(why, open...)
	case len(bad) > 0:
		return Regression, open
	case len(open) > 0:
		return Undecided, open
	}
	return Passed, nil
}

// settle is the outcome, with what is open: nothing passes of which something is.
func (g *GateOutcome) settle(verdict string, open []string) {
	if verdict == Passed && len(open) > 0 {
		verdict = Undecided
	}
	g.Verdict, g.Why = verdict, strings.Join(open, "; ")
	if verdict == Regression && g.Why != "" {
		g.Why = "undecided besides: " + g.Why
	}
}

// Worse names all that a gate found to be worse, with the ratios.
func (g *GateOutcome) Worse() string {
	var all []string
	for _, c := range g.Missed {
		all = append(all, c.worse())
	}
	return strings.Join(all, "; ")
}

// Says is why a gate did not pass, in a line: all that is worse, and all that is undecided.
func (g *GateOutcome) Says() string {
	switch {
	case g.Verdict != Regression:
		return "inconclusive: " + g.Why
	case g.Why != "":
		return "a regression: " + g.Worse() + "; " + g.Why
	}
	return "a regression: " + g.Worse()
}

// worse is by how much it is.
func (c Comparison) worse() string {
	return fmt.Sprintf("%s: worse by a factor of %.3f [%.3f, %.3f]", c.place(), c.Ratio, c.Low, c.High)
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

// worse are the comparisons that show a regression.
func worse(all []Comparison) (bad []Comparison) {
	for _, c := range all {
		if !c.Control && c.Worse() {
			bad = append(bad, c)
		}
	}
	return bad
}

// gateQuestion is what the gate asks: by its own measures, its own margin, and
// against its own baseline.
func (r *running) gateQuestion(g *experiment.Gate) question {
	q := r.record.question()
	q.metrics, q.margin = g.Metrics, float64(g.Margin)
	var here []experiment.Variant
	for _, a := range r.fit() {
		if !a.Control {
			here = append(here, a.variant)
		}
	}
	for i, arm := range q.arms {
		if arm.control {
			continue
		}
		q.arms[i].baseline = ""
		b, found := experiment.Baseline(g.Baseline, r.arm(arm.name).variant, here)
		if found && b.Name != arm.name {
			q.arms[i].baseline = b.Name
		}
	}
	return q
}

// gaps are why trials do not show that there is no regression, or none but those that they show.
func (r *running) gaps(q question, all []Comparison) (gaps []string) {
	say := func(format string, args ...any) { gaps = append(gaps, fmt.Sprintf(format, args...)) }
	for _, a := range r.arms {
		if a.variant.LeftOut {
			continue // by --quick, which gates the others
		}
		if len(a.Missing) > 0 {
			say("%s is not available here", a.Name)
		} else if a.Unfit != "" && !a.Control {
			say("%s was not loaded: %s", a.Name, a.Unfit)
		}
	}
	for _, arm := range q.arms {
		for _, level := range q.levels {
			for _, m := range q.metrics {
				c := Comparison{Metric: string(m), Level: level, Variant: arm.name, Baseline: arm.baseline}
				if arm.baseline != "" && !arm.control && !among(all, c) {
					say("%s was never measured", c.place())
				}
			}
		}
	}
	if !slices.ContainsFunc(all, func(c Comparison) bool { return !c.Control }) {
		say("nothing was compared")
	}
	var stored []Slot
	for _, t := range r.trials {
		stored = append(stored, t.Slot)
	}
	if lacks := r.record.lacking(stored); len(lacks) > 0 {
		say("trials are lacking: %s", counted(lacks))
	}
	bad := worse(all)
	for _, c := range all {
		switch {
		case c.Control, among(bad, c):
		case c.Missing > 0:
			say("%s: %d rounds lack it", c.place(), c.Missing)
		case c.ClientBound:
			say("%s: the generator was at its limit, which may hide a difference", c.place())
		case c.Disturbed > 0:
			say("%s: in %d pairs the generator was held up, which may hide a difference", c.place(),
				c.Disturbed)
		case c.OtherLoad > 0:
			say("%s: in %d pairs the load was not the one asked for", c.place(), c.OtherLoad)
		}
	}
	var spoiled []cell // of each one trial is named
	for _, t := range r.batch(false) {
		if t.Grade == GradeF && !t.mayPass() {
			why := t.why(func(why Reason) bool { return why.Grade == GradeF })
			if c := (cell{t.Arm, t.Level}); !slices.Contains(spoiled, c) {
				spoiled = append(spoiled, c)
				say("trial %s is of grade F: %s", t.ID, why)
			}
		}
	}
	return gaps
}

// batch is the first batch of trials, or the second.
func (r *running) batch(second bool) []*Trial { return batch(r.trials, second) }

func batch(trials []*Trial, second bool) (all []*Trial) {
	for _, t := range trials {
		if (t.Round >= Confirming) == second {
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
			if a.Control && a.Baseline == c.Baseline {
				add(a.Name, c.Level)
			}
		}
	}
	return all
}
