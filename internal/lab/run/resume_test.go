package run

import (
	"bytes"
	"context"
	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dyno/internal/lab/experiment"
)

// An experiment of an earlier version, whose names differ in capitals alone, is shown and goes on.
func TestCapitalsOfAnOldFolder(t *testing.T) {
	text := strings.NewReplacer("base:", "Go:", "same:", "go:").Replace(three)
	e, err := experiment.ReadBegun("test.yaml", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "out")
	ctx, stop := context.WithCancel(t.Context())
	stop() // before any file has a variant's name
	b := newTestBench(t)
	l := b.lab(dir, three)
	l.Experiment = e
	if r := b.run(ctx, l); r.State != lab.Interrupted {
		t.Fatal(r.State)
	}
	old, err := judge.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	l = b.lab(dir, three)
	l.Experiment, l.Resume = old.Experiment, true
	if r := b.run(ctx, l); r.State != lab.Interrupted || r.Sessions != 2 {
		t.Errorf("%+v", r.Progress)
	}
}

// An experiment that is interrupted goes on with the same plan, and does nothing
// twice.
func TestResume(t *testing.T) {
	whole := newTestBench(t)
	whole.rates = map[string]float64{"base": 100, "same": 100, "slow": 90}
	whole.run(t.Context(), whole.lab(filepath.Join(t.TempDir(), "whole"), three))

	b := newTestBench(t)
	b.rates = whole.rates
	dir := filepath.Join(t.TempDir(), "parts")
	ctx, stop := context.WithCancel(t.Context())
	b.after, b.stop = 20, stop
	r := b.run(ctx, b.lab(dir, three))
	if r.State != lab.Interrupted || len(r.Trials) == 0 || len(r.Trials) > 20 {
		t.Fatalf("%s after %d trials", r.State, len(r.Trials))
	}
	had := len(r.Trials)
	b.starts = nil
	l := b.lab(dir, three)
	l.Experiment.Design.Seed, l.Resume = 0, true // the stored one counts
	r = b.run(t.Context(), l)
	if r.State != lab.Complete || len(r.Trials) != 64 {
		t.Errorf("%s with %d trials", r.State, len(r.Trials))
	}
	trials := slices.DeleteFunc(b.starts, func(s string) bool { return s[0] != 'r' })
	of := slices.DeleteFunc(whole.starts, func(s string) bool { return s[0] != 'r' })
	if !slices.Equal(trials, of[had:]) {
		t.Errorf("went on with\n%q\nnot with\n%q", trials, of[had:])
	}
	l = b.lab(dir, strings.Replace(three, "rounds: 8", "rounds: 9", 1))
	l.Resume = true
	if _, err := l.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "not the one") {
		t.Errorf("resumed another experiment: %v", err)
	}
	l = b.lab(dir, three)
	l.Resume, l.Fleet = true, &lab.Fleet{Agents: []string{"b", "a"}}
	if _, err := l.Run(t.Context()); err == nil || !strings.Contains(err.Error(),
		"made by this machine, and now would be by agent a, agent b") {
		t.Errorf("other machines went on with it: %v", err)
	}
	if _, err := b.lab(dir, three).Run(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "--resume") {
		t.Errorf("began in a folder in use: %v", err)
	}
}

// A busy machine is a reason to run an experiment again that has ended, not one that goes on.
func TestTooBusy(t *testing.T) {
	b := newTestBench(t)
	b.rates = map[string]float64{"base": 100, "same": 100, "slow": 90}
	dir := filepath.Join(t.TempDir(), "out")
	r := b.run(t.Context(), b.lab(dir, three))
	trials, err := lab.Folder{Dir: dir}.ReadTrials()
	if err != nil {
		t.Fatal(err)
	}
	for _, trial := range trials {
		trial.Grade, trial.Reasons = lab.GradeF, []lab.Reason{{Grade: lab.GradeF, Says: "others were at work", Passing: true}}
	}
	for state, want := range map[lab.State]int{lab.Complete: 1, lab.OverBudget: 1, lab.Interrupted: 0, lab.Running: 0} {
		r.State = state
		if judge.Compute(r, trials); cautioned(r, "too many to repeat") != want {
			t.Errorf("%s: %q", state, r.Cautions)
		}
	}
}

// Where an experiment could not begin, it can.
func TestBeginsAgain(t *testing.T) {
	b := newTestBench(t)
	b.rates = map[string]float64{"base": 100, "same": 100, "slow": 90}
	dir := filepath.Join(t.TempDir(), "out")
	l := b.lab(dir, three)
	l.Experiment.Here, l.Experiment.File = "", "nosuch" // whose files cannot be extracted
	if _, err := l.Run(t.Context()); err == nil {
		t.Fatal("began without its files")
	}
	if left, err := os.ReadDir(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left: %v, %v", left, err)
	}
	if r := b.run(t.Context(), b.lab(dir, three)); r.State != lab.Complete {
		t.Error(r.State)
	}
}

// A trial is known by what it is of, so that nothing else is taken for it when the
// order has changed.
func TestResumeWithOtherArms(t *testing.T) {
	b := newTestBench(t)
	b.rates = map[string]float64{"base": 100, "same": 100, "slow": 90}
	dir := filepath.Join(t.TempDir(), "out")
	ctx, stop := context.WithCancel(t.Context())
	b.after, b.stop = 20, stop
	b.run(ctx, b.lab(dir, three))
	b.broken["same"] = errors.New("gone")
	l := b.lab(dir, three)
	l.Resume = true
	r := b.run(t.Context(), l)
	seen := map[lab.Slot]int{}
	for _, trial := range r.Trials {
		s := trial.Slot
		s.Position = 0
		if seen[s]++; seen[s] > 1 {
			t.Errorf("%+v was run twice", s)
		}
	}
	if len(seen) != 64 {
		t.Errorf("%d trials", len(seen))
	}
}

// What is missing when an experiment begins, and what has gone when it is resumed, costs no trial.
func TestNothingIsThere(t *testing.T) {
	b := newTestBench(t)
	b.rates = map[string]float64{"base": 10_000, "same": 10_000, "slow": 8_000}
	dir := filepath.Join(t.TempDir(), "out")
	needy := func() *Lab {
		l := b.lab(dir, three)
		for i := range l.Experiment.Variants {
			l.Experiment.Variants[i].Value.Needs.Env = []string{"DYNO_TEST_NEEDED"}
		}
		return l
	}
	if _, err := needy().Run(t.Context()); err == nil || !strings.Contains(err.Error(), "--resume "+dir) {
		t.Fatalf("%v", err)
	}
	t.Setenv("DYNO_TEST_NEEDED", "1")
	gone := needy()
	gone.Resume, gone.Experiment.Here = true, filepath.Join(dir, "gone")
	if _, err := gone.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "put it back") {
		t.Fatalf("%v", err)
	}
	l := needy()
	l.Resume = true
	if r := b.run(t.Context(), l); r.State != lab.Complete || len(r.Trials) == 0 {
		t.Errorf("%s, %d trials", r.State, len(r.Trials))
	}
}

// needs is a lab of three that needs a variable of the environment for each variant.
func (b *bench) needs(dir string, resume bool) *Lab {
	l := b.lab(dir, three)
	for i, v := range l.Experiment.Variants {
		l.Experiment.Variants[i].Value.Needs.Env = []string{"DYNO_TEST_" + strings.ToUpper(v.Name)}
	}
	l.Resume = resume
	return l
}

// setNeeded sets the variables of these variants, and of no others.
func setNeeded(t *testing.T, names ...string) {
	for _, name := range []string{"base", "same", "slow"} {
		value := ""
		if slices.Contains(names, name) {
			value = "1"
		}
		t.Setenv("DYNO_TEST_"+strings.ToUpper(name), value)
	}
}

// An experiment goes on with the variants that it was checked with, and with no other.
func TestResumeWithOtherPrograms(t *testing.T) {
	for name, c := range map[string]struct {
		after              int // starts until it is stopped: 1 is within the first ceiling
		broken             string
		first, then, taken []string
		gone               string // why it does not go on
	}{
		"one comes":           {40, "", []string{"base", "slow"}, []string{"base", "same", "slow"}, []string{"base", "slow"}, ""},
		"one stays away":      {40, "", []string{"base", "slow"}, []string{"base", "slow"}, []string{"base", "slow"}, ""},
		"one goes":            {40, "", []string{"base", "slow"}, []string{"base"}, nil, "slow: the environment variable"},
		"a broken one goes":   {40, "same", []string{"base", "same", "slow"}, []string{"base", "slow"}, []string{"base", "slow"}, ""},
		"one comes unchecked": {1, "", []string{"base", "slow"}, []string{"base", "same", "slow"}, []string{"base", "same", "slow"}, ""},
		"one goes unchecked":  {1, "", []string{"base", "same", "slow"}, []string{"base", "slow"}, []string{"base", "slow"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newTestBench(t)
			b.rates = map[string]float64{"base": 100, "same": 100, "slow": 90}
			if c.broken != "" {
				b.broken[c.broken] = errors.New("no")
			}
			dir := filepath.Join(t.TempDir(), "out")
			ctx, stop := context.WithCancel(t.Context())
			b.after, b.stop = c.after, stop
			setNeeded(t, c.first...)
			if r := b.run(ctx, b.needs(dir, false)); r.State != lab.Interrupted || r.Checked != (c.after > 1) {
				t.Fatalf("%s, checked: %v, %d trials", r.State, r.Checked, len(r.Trials))
			}
			setNeeded(t, c.then...)
			b.resumes(t, dir, c.taken, c.gone)
		})
	}
}

// What builds a server is not needed once it is built.
func TestBuilderGone(t *testing.T) {
	l := newTestBench(t).lab(t.TempDir(), three)
	for i := range l.Experiment.Variants {
		l.Experiment.Variants[i].Value.Build = []experiment.Step{{
			Cmd: experiment.Command{"no-such-compiler"}}}
	}
	begun := &lab.Record{Preparation: lab.Preparation{Checked: true,
		Arms: []lab.Arm{{Name: "base"}, {Name: "same"}}}}
	if missing := l.missingReasons(experiment.Expand(l.Experiment)[0]); len(missing) != 1 {
		t.Errorf("missing: %q", missing)
	}
	if err := l.checkStillAvailable(begun); err != nil {
		t.Error(err)
	}
}

// resumes goes on with what is in dir, which takes the trials of these variants, or is refused.
func (b *bench) resumes(t *testing.T, dir string, taken []string, gone string) {
	t.Helper()
	file := filepath.Join(dir, lab.RecordFile)
	before, _ := os.ReadFile(file)
	l := b.needs(dir, true)
	intended := l.Intent().Estimate.Trials
	r, err := l.Run(t.Context())
	if gone != "" {
		if after, _ := os.ReadFile(file); err == nil || !strings.Contains(err.Error(), gone) ||
			strings.Contains(err.Error(), "base:") || !bytes.Equal(before, after) {
			t.Errorf("%v; the record is as it was: %v", err, bytes.Equal(before, after))
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string]int{}
	for _, trial := range r.Trials {
		ran[trial.Arm]++
	}
	want := map[string]int{taken[0] + lab.ControlMark: 16}
	for _, name := range taken {
		want[name] = 16
	}
	if r.State != lab.Complete || !maps.Equal(ran, want) || intended != 16*len(want) {
		t.Errorf("%s; trials %v, want %v; intended were %d", r.State, ran, want, intended)
	}
}

// An experiment whose folder cannot be written leaves none behind.
func TestUnstoredExperimentLeavesNoFolder(t *testing.T) {
	home := t.TempDir()
	b := newTestBench(t)
	l := b.lab(filepath.Join(home, "experiments", "three"), three)
	shipped := *l.Experiment
	shipped.Here, shipped.File = "", "of another dyno" // whose files cannot be put there
	l.Experiment = &shipped
	if r, err := l.Run(t.Context()); r != nil || err == nil {
		t.Fatalf("%v %v", r, err)
	}
	if all, err := os.ReadDir(home); err != nil || len(all) > 0 {
		t.Errorf("%v is left, %v", all, err)
	}
}
