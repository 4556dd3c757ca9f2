package run

import (
	"context"
	"dyno/internal/lab"
	"dyno/internal/lab/design"
	"dyno/internal/lab/workload"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// What trials took before an interruption is taken off the budget, and the round that had begun
// is ended all the same.
func TestBudgetResumed(t *testing.T) {
	text := strings.Replace(three, "rounds: 8", "rounds: 8, budget: 1h", 1)
	for _, c := range []struct {
		took   string // by each of the trials before the interruption
		trials int
		state  lab.State
	}{{"1", 64, lab.Complete}, {"3600", 24, lab.OverBudget}} {
		b := newTestBench(t)
		b.rates = map[string]float64{"base": 100, "same": 100, "slow": 90}
		dir := filepath.Join(t.TempDir(), "out")
		ctx, stop := context.WithCancel(t.Context())
		b.after, b.stop = 20, stop // in the third round of eight trials
		b.run(ctx, b.lab(dir, text))
		stored, err := filepath.Glob(filepath.Join(dir, "trials", "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range stored {
			setTook(t, name, c.took)
		}
		l := b.lab(dir, text)
		l.Resume = true
		if r := b.run(t.Context(), l); r.State != c.state || len(r.Trials) != c.trials {
			t.Errorf("after trials of %s s each: %s with %d trials, want %s with %d", c.took, r.State,
				len(r.Trials), c.state, c.trials)
		}
	}
}

// A number of rounds that was asked for is run, also after the budget of time was used up.
func TestRoundsAfterTheBudget(t *testing.T) {
	text := strings.Replace(three, "rounds: 8", "rounds: 8, budget: 1h", 1)
	b := newTestBench(t)
	b.rates = map[string]float64{"base": 100, "same": 100, "slow": 90}
	dir := filepath.Join(t.TempDir(), "out")
	ctx, stop := context.WithCancel(t.Context())
	b.after, b.stop = 20, stop
	b.run(ctx, b.lab(dir, text))
	stored, err := filepath.Glob(filepath.Join(dir, "trials", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range stored {
		setTook(t, name, "3600")
	}
	l := b.lab(dir, text)
	l.Resume, l.Rounds = true, 9
	l.Experiment = design.WithRounds(l.Experiment, l.Rounds)
	if r := b.run(t.Context(), l); r.State != lab.Complete || r.RoundsRun() != 9 {
		t.Errorf("%s after %d rounds", r.State, r.RoundsRun())
	}
}

// The time of a resumed experiment is that of its sessions, without the pause between them; after
// one that was killed it is not known.
func TestTimeWorkedInSessions(t *testing.T) {
	for _, killed := range []bool{false, true} {
		b := newTestBench(t)
		b.rates = map[string]float64{"base": 100, "same": 100, "slow": 90}
		dir := filepath.Join(t.TempDir(), "out")
		ctx, stop := context.WithCancel(t.Context())
		b.after, b.stop = 20, stop
		first := b.run(ctx, b.lab(dir, three))
		if first.Sessions != 1 || first.WorkedS <= 0 {
			t.Errorf("%d sessions, %v s", first.Sessions, first.WorkedS)
		}
		path := filepath.Join(dir, lab.RecordFile)
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		old := string(content) // as if it had ended long ago: an hour of work, and a pause
		old = regexp.MustCompile(`"worked_s": [^,]*`).ReplaceAllString(old, `"worked_s": 3600`)
		old = regexp.MustCompile(`"started": "[^"]*"`).ReplaceAllString(old, `"started": "2020-01-02T15:04:05Z"`)
		if killed {
			old = strings.Replace(old, `"state": "interrupted"`, `"state": "running"`, 1)
		}
		if err := os.WriteFile(path, []byte(old), 0o600); err != nil {
			t.Fatal(err)
		}
		l := b.lab(dir, three)
		l.Resume = true
		began := time.Now()
		r := b.run(t.Context(), l)
		most := 3600 + time.Since(began).Seconds()
		if known := r.WorkedS > 3600 && r.WorkedS <= most; r.Sessions != 2 || known == killed ||
			killed && r.WorkedS != 0 {
			t.Errorf("killed %v: %d sessions, %v s", killed, r.Sessions, r.WorkedS)
		}
	}
}

// What is printed before the start is of all that will be run, checks and ceilings too; what
// goes on is what is left.
func TestIntent(t *testing.T) {
	text := strings.Replace(three, "cooldown: 0", "cooldown: 1s", 1)
	b := newTestBench(t)
	b.rates = map[string]float64{"base": 100, "same": 100, "slow": 90}
	dir := filepath.Join(t.TempDir(), "out")
	l := b.lab(dir, text)
	whole := l.Intent()
	trials := 64 * (startTime + workload.SettlingTime(l.Experiment) + 2*time.Second)
	drains := 64 * 2 * time.Second
	if least := trials + 3*checkTime + 2*ceilingTime; whole.Estimate.Least != least || whole.Done != 0 || whole.Starts ||
		whole.Estimate.Most != least+drains+(trials+drains)/2 {
		t.Errorf("%+v, want %v and a half more of the trials, with their drains", whole.Estimate, least)
	}
	bare := strings.NewReplacer("connections: 9", "connections: 9, rate: 100",
		"levels:", "fairness: {mode: off}\nlevels:").Replace(text)
	if e := b.lab(dir, bare).Intent().Estimate; e.Least != trials+ceilingTime {
		t.Errorf("without checks, and with one closed level: %+v, want %v", e, trials+ceilingTime)
	}
	ctx, stop := context.WithCancel(t.Context())
	b.after, b.stop = 17, stop
	l = b.lab(dir, three)
	done := len(b.run(ctx, l).Trials)
	l = b.lab(dir, text)
	l.Resume = true
	rest := l.Intent()
	if want := trials * time.Duration(64-done) / 64; rest.Done != done || done == 0 ||
		rest.Estimate.Least.Round(time.Millisecond) != want.Round(time.Millisecond) {
		t.Errorf("after %d of 64 trials: %+v, want %v", done, rest, want)
	}
}

func setTook(t *testing.T, name, seconds string) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	took := regexp.MustCompile(`"took_s": [^,]*`)
	b = took.ReplaceAll(b, []byte(`"took_s": `+seconds))
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Trials that the machine spoiled are repeated as long as there is time, and no longer.
func TestNoRepetitionBeyondTheBudget(t *testing.T) {
	for _, budget := range []time.Duration{0, time.Hour, time.Nanosecond} {
		b := newTestBench(t)
		b.rates = map[string]float64{"base": 100, "same": 100, "slow": 90}
		dir := filepath.Join(t.TempDir(), "out")
		b.run(t.Context(), b.lab(dir, three))
		trials, err := lab.Folder{Dir: dir}.ReadTrials()
		if err != nil {
			t.Fatal(err)
		}
		trials[9].Grade = lab.GradeF
		trials[9].Reasons = []lab.Reason{{Grade: lab.GradeF, Says: "others were at work", Passing: true}}
		l := b.lab(dir, three)
		l.Resume = true
		r, err := l.prepareRun()
		if err != nil {
			t.Fatal(err)
		}
		defer r.folder.Unlock()
		if r.trials = trials; budget > 0 {
			r.until = time.Now().Add(budget)
		}
		if err := r.repeatSpoiled(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		if repeated := len(r.trials) > len(trials); repeated != (budget != time.Nanosecond) {
			t.Errorf("with %v left %d trials were repeated", budget, len(r.trials)-len(trials))
		}
	}
}
