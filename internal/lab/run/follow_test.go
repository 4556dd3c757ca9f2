package run

import (
	"context"
	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Who follows an experiment sees each trial when it is done, and knows at each instant
// which comes next, in the order that was drawn.
func TestFollow(t *testing.T) {
	b, dir := newTestBench(t), t.TempDir()
	b.rates = map[string]float64{"base": 1000, "same": 1000, "slow": 900}
	l, f, done := b.lab(dir, three), judge.Follow(dir), 0
	look := func() *judge.Progress {
		t.Helper()
		p, err := f.ReadProgress()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := f.ReadProgress(); again != p || err != nil {
			t.Error("nothing has changed, and it is another")
		}
		return p
	}
	const all = 4 * 2 * 8
	l.Tell = func(e Event) {
		switch e.Step {
		case "trial":
			p := look()
			next := lab.Slot{Round: e.Round, Arm: e.Arm, Level: e.Level}
			if len(p.Queue)+done != all || len(p.Queue) > 0 && p.Queue[0].Arm != next.Arm ||
				p.Queue[0].Level != next.Level || p.Queue[0].Round != next.Round {
				t.Fatalf("after %d trials the queue has %d, first %v; want %v", done, len(p.Queue),
					p.Queue[:min(len(p.Queue), 1)], next)
			}
		case "done":
			done++
			p := look()
			if p.Latest.ID != e.Trial.ID || len(p.Record.Trials) != done || p.Record.State != lab.Running {
				t.Fatalf("after %s: %s, %d trials, %s", e.Trial.ID, p.Latest.ID, len(p.Record.Trials),
					p.Record.State)
			}
			if len(p.Record.Verdicts) == 0 && done > all/2 {
				t.Errorf("after %d trials they say nothing", done)
			}
		}
	}
	r := b.run(t.Context(), l)
	p := look()
	if p.Record.State != lab.Complete || len(p.Queue) > 0 || p.Left != 0 ||
		len(p.Record.Verdicts) != len(r.Verdicts) || done != all {
		t.Errorf("at the end: %s, %d to come, %d verdicts of %d", p.Record.State, len(p.Queue),
			len(p.Record.Verdicts), len(r.Verdicts))
	}
	if h, err := lab.ReadHeading(dir); err != nil || h != r.Heading() || h.Name != "three" {
		t.Errorf("heading %v, %v", h, err)
	}
}

// Of each trial that is left it is known about how long it takes.
func TestLeft(t *testing.T) {
	b, dir := newTestBench(t), t.TempDir()
	b.rates = map[string]float64{"base": 1000, "same": 1000, "slow": 900}
	l, f := b.lab(dir, three), judge.Follow(dir)
	l.Experiment.Design.Cooldown = 0
	l.Tell = func(e Event) {
		if e.Step != "trial" {
			return
		}
		p, err := f.ReadProgress()
		if err != nil {
			t.Fatal(err)
		}
		took := 0.0
		for _, brief := range p.Record.Trials {
			trial, err := lab.ReadTrial(dir, brief.ID)
			if err != nil {
				t.Fatal(err)
			}
			took = max(took, trial.TookS)
		}
		most := time.Duration(took*1e9+1) * time.Duration(len(p.Queue))
		if (p.Left > 0) != (len(p.Record.Trials) > 0) || p.Left > most {
			t.Errorf("after %d trials of at most %v s, %d take %v", len(p.Record.Trials), took, len(p.Queue), p.Left)
		}
	}
	b.run(t.Context(), l)
}

// What was stopped has still to come all that --resume goes on with.
func TestFollowInterrupted(t *testing.T) {
	b, dir := newTestBench(t), t.TempDir()
	b.rates = map[string]float64{"base": 1000, "same": 1000, "slow": 900}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	l, all := b.lab(dir, three), 0
	l.Tell = func(e Event) {
		if all = e.Of; e.Step == "done" && e.Done == 2 {
			stop()
		}
	}
	b.run(ctx, l)
	p, err := judge.Follow(dir).ReadProgress()
	if err != nil || p.Record.State != lab.Interrupted || len(p.Record.Trials) != 2 || len(p.Queue) != all-2 || all < 4 {
		t.Errorf("%s after %d trials of %d, %d to come, %v", p.Record.State, len(p.Record.Trials), all, len(p.Queue), err)
	}
}

// A folder that is none, or damaged, is said to be so, and followed on when it is mended.
func TestFollowDamaged(t *testing.T) {
	b, dir := newTestBench(t), t.TempDir()
	if _, err := judge.Follow(filepath.Join(dir, "none")).ReadProgress(); err == nil {
		t.Error("a folder that is not there has a state")
	}
	b.rates = map[string]float64{"base": 1000, "same": 1000, "slow": 900}
	b.run(t.Context(), b.lab(dir, three))
	bad := filepath.Join(dir, lab.TrialsFolder, "r099-x-y.json")
	if err := os.WriteFile(bad, []byte(`{"format":`), 0o600); err != nil {
		t.Fatal(err)
	}
	f := judge.Follow(dir)
	if _, err := f.ReadProgress(); err == nil {
		t.Error("a damaged trial is read")
	}
	if err := os.Remove(bad); err != nil {
		t.Fatal(err)
	}
	if _, err := f.ReadProgress(); err != nil {
		t.Error(err)
	}
}
