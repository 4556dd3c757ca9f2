package run

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dyno/internal/lab"
	"dyno/internal/lab/design"
)

// Who adds rounds after the verdicts were seen has another chance to find a difference. The record
// says so, and verdicts are corrected for it. To finish what was planned is no such chance.
func TestRoundsAddedAfterALook(t *testing.T) {
	for _, c := range []struct {
		name, text string
		after      int // loads after which the first session ends; 0: it is complete
		rounds     []int
		looks      []int
	}{
		{"complete", three, 0, []int{10}, []int{8}},
		{"complete, twice", three, 0, []int{10, 12}, []int{8, 10}},
		{"complete, and nothing is added", three, 0, []int{8}, nil},
		{"too few rounds for a verdict", strings.Replace(three, "rounds: 8", "rounds: 5", 1), 0, []int{8}, nil},
		{"stopped, and finished as planned", three, 54, []int{8}, nil},
		{"stopped, and more than planned", three, 54, []int{9}, []int{7}},
		{"out of time", strings.Replace(three, "rounds: 8", "rounds: 6, max_rounds: 8, precision: 0.001%", 1), 0,
			[]int{9}, []int{8}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newTestBench(t)
			b.rates = map[string]float64{"base": 100, "same": 100, "slow": 90}
			dir := filepath.Join(t.TempDir(), "out")
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			b.after, b.stop = c.after, stop
			r := b.run(ctx, b.lab(dir, c.text))
			for _, rounds := range c.rounds {
				l := b.lab(dir, c.text)
				l.Experiment, l.Rounds, l.Resume = design.WithRounds(l.Experiment, rounds), rounds, true
				r = b.run(t.Context(), l)
				if n := len(r.Trials); n != rounds*8 || r.State != lab.Complete {
					t.Errorf("%s with %d trials, not %d", r.State, n, rounds*8)
				}
			}
			if !slices.Equal(r.Looks, c.looks) {
				t.Errorf("looks after %v rounds, want %v", r.Looks, c.looks)
			}
			said := strings.Contains(strings.Join(r.Cautions, "\n"), "rounds were added when the verdicts")
			if said != (len(c.looks) > 0) {
				t.Errorf("says %q", r.Cautions)
			}
			for _, v := range r.Verdicts {
				if least := float64(int(1)<<len(c.looks)) / 8192; v.PAdjusted < least {
					t.Errorf("p of %s is %v, below %v", v.Place(), v.PAdjusted, least)
				}
			}
			again, err := lab.ReadRecord(dir)
			if err != nil || !slices.Equal(again.Looks, c.looks) {
				t.Errorf("stored are %v: %v", again.Looks, err)
			}
		})
	}
}

// A number of rounds that is asked for is run whatever budget the file has.
func TestRoundsBeyondTheBudget(t *testing.T) {
	b := newTestBench(t)
	b.rates = map[string]float64{"base": 100, "same": 100, "slow": 90}
	text := strings.Replace(three, "rounds: 8", "rounds: 8, budget: 1ns", 1)
	dir := filepath.Join(t.TempDir(), "out")
	if r := b.run(t.Context(), b.lab(dir, text)); r.State != lab.OverBudget || len(r.Trials) > 8 {
		t.Fatalf("%s with %d trials", r.State, len(r.Trials))
	}
	l := b.lab(dir, text)
	l.Experiment, l.Rounds, l.Resume = design.WithRounds(l.Experiment, 3), 3, true
	if r := b.run(t.Context(), l); r.State != lab.Complete || len(r.Trials) != 24 {
		t.Errorf("%s with %d trials", r.State, len(r.Trials))
	}
}
