package run

import (
	"context"
	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"slices"

	"dyno/internal/lab/experiment"
)

// decideGate decides the gate, if there is one. If the trials show a regression, it runs a second
// batch that must confirm it. Only the final outcome is recorded.
func (r *running) decideGate(ctx context.Context) error {
	rule := r.Experiment.Gate
	if rule == nil {
		return nil
	}
	var variants []experiment.Variant
	for _, a := range r.loadableArms() {
		if !a.Control {
			variants = append(variants, a.variant)
		}
	}
	gate := judge.NewGate(r.record, variants)
	gate.JudgeFirst(r.trials)
	if gate.Outcome.Verdict == lab.Regression && rule.Confirm {
		if err := r.runSecondBatch(ctx, gate.Outcome.Missed); err != nil {
			return err
		}
		gate.JudgeSecond(r.trials)
	}
	r.record.Gate = &gate.Outcome
	return nil
}

// runSecondBatch runs the second batch of trials, for the arms of the comparisons: as many rounds
// as the first batch, and at least six.
func (r *running) runSecondBatch(ctx context.Context, missed []lab.Comparison) error {
	n := experiment.LeastRounds
	for _, t := range r.batch(false) {
		n = max(n, t.Round)
	}
	cells := r.cellsOfMissed(missed)
	r.planned = len(r.trials) + n*len(cells)
	for round := range n {
		slots := lab.OrderRound(experiment.Interleaved, r.record.Seed, lab.ConfirmingRound+round, cells)
		if err := r.runRound(ctx, slots); err != nil {
			return err
		}
	}
	return r.repeatSpoiled(ctx, true)
}

// batch is the first batch of trials, or the second.
func (r *running) batch(second bool) []*lab.Trial { return judge.SelectBatch(r.trials, second) }

// cellsOfMissed are the cells of the arms in the comparisons, controls included.
func (r *running) cellsOfMissed(bad []lab.Comparison) (all []lab.CellKey) {
	add := func(arm, level string) {
		if c := (lab.CellKey{Arm: arm, Level: level}); !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	for _, c := range bad {
		add(c.Variant, c.Level)
		add(c.Baseline, c.Level)
		for _, a := range r.loadableArms() {
			if a.Control && a.Baseline == c.Baseline {
				add(a.Name, c.Level)
			}
		}
	}
	return all
}
