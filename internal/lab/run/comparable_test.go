package run

import (
	"context"
	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/fairness"
	"dyno/internal/result"
	"dyno/internal/server"
)

// two is an experiment of two servers.
const two = `
version: 1
name: two
design: {rounds: 6, seed: 7, warmup: {min: 0, max: 0}, measure: 1s, cooldown: 0, metrics: [throughput]}
levels: [{name: c1, connections: 1}]
variants:
  base: {url: http://base.invalid/}
  other: {url: http://other.invalid/}
`

// An experiment whose variants cannot be compared ends before the load, and says why, with a
// remedy for each.
func TestNothingLeft(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		spoil func(*bench, *Lab)
		says  []string
	}{
		"unlike": {two, func(b *bench, l *Lab) {
			l.Ask = func(ctx context.Context, q fairness.Question) (*fairness.Answer, error) {
				a, err := b.ask(ctx, q)
				if strings.Contains(q.Way.Target.URL, "other") {
					a.Header = append(a.Header, fairness.Line{Name: "ETag", Value: `"1"`, Bytes: 9})
				}
				return a, err
			}
		}, []string{"0 of 2 variants", `"other" is not tested`, "allow: [server, date, etag]", "fairness: {mode: warn}"}},
		"crashes": {two, func(b *bench, _ *Lab) {
			b.broken["other"] = &server.Failure{Process: "app", Reason: "ended with status 3"}
		}, []string{"0 of 2 variants", `"other" is not tested`, "ended with status 3"}},
		"the baseline crashes": {three, func(b *bench, _ *Lab) {
			b.broken["base"] = &server.Failure{Process: "app", Reason: "ended with status 3"}
		}, []string{"0 of 3 variants", `"base" is not tested`, "ended with status 3"}},
		"missing": {two, func(_ *bench, l *Lab) {
			l.Experiment.Variants[1].Value.Needs.Programs = []string{"no-such-program"}
		}, []string{"0 of 2 variants", "\"other\" is not available here (no-such-program is not on the PATH)"}},
	} {
		b := newTestBench(t)
		b.rates = map[string]float64{"base": 100, "same": 100, "other": 100, "slow": 100}
		l := b.lab(filepath.Join(t.TempDir(), "out"), c.text)
		l.Load = func(context.Context, loadplan.Plan, func(loadresult.Interval)) (*result.Result, error) {
			t.Errorf("%s: a load was made", name)
			return nil, errors.New("no")
		}
		c.spoil(b, l)
		r, err := l.Run(t.Context())
		if !errors.Is(err, ErrNothingLeft) || r == nil || len(r.Trials) > 0 || r.Checked {
			t.Errorf("%s: %v, %+v", name, err, r)
			continue
		}
		for _, says := range c.says {
			if !strings.Contains(err.Error(), says) || !strings.Contains(r.Cautions[0], says) {
				t.Errorf("%s: %q is not in %v; %q", name, says, err, r.Cautions)
			}
		}
	}
}

// What is lacking is installed, and the experiment goes on.
func TestNothingLeftResumed(t *testing.T) {
	b := newTestBench(t)
	b.rates = map[string]float64{"base": 100, "other": 100}
	dir := filepath.Join(t.TempDir(), "out")
	b.broken["other"] = errors.New("no")
	if _, err := b.lab(dir, two).Run(t.Context()); !errors.Is(err, ErrNothingLeft) {
		t.Fatal(err)
	}
	delete(b.broken, "other")
	l := b.lab(dir, two)
	l.Resume = true
	if r := b.run(t.Context(), l); r.State != lab.Complete || len(r.Trials) != 18 || len(r.Cautions) > 0 {
		t.Errorf("%s, %d trials, %q", r.State, len(r.Trials), r.Cautions)
	}
}

// Where some can be compared, those that cannot are the first caution.
func TestSomeLeft(t *testing.T) {
	b := newTestBench(t)
	b.rates = map[string]float64{"base": 100, "same": 100}
	b.broken["slow"] = errors.New("ended with status 3")
	r := b.run(t.Context(), b.lab(filepath.Join(t.TempDir(), "out"), three))
	want := `1 of 3 variants cannot be compared: "slow" is not tested: ended with status 3`
	if r.State != lab.Complete || len(r.Cautions) == 0 || !strings.HasPrefix(r.Cautions[0], want) {
		t.Errorf("%s, %q", r.State, r.Cautions)
	}
}

// Where all variants but the baseline fail in all their trials, nothing was compared. The experiment
// ends as soon as that is known, and says why.
func TestNothingMeasured(t *testing.T) {
	const off = "fairness: {mode: off}\n"
	for name, c := range map[string]struct {
		text   string
		spoil  func(*bench)
		state  lab.State
		trials int // of the variant that fails
		says   string
	}{
		"at the end": {strings.Replace(two, "rounds: 6", "rounds: 2", 1), func(b *bench) { b.rates["other"] = 0 },
			lab.Complete, 2, `0 of 2 variants can be compared: "other" failed in each of its 2 trials (measure: no request completed)`},
		"early": {two, func(b *bench) { b.rates["other"] = 0 }, lab.Interrupted, 3,
			`0 of 2 variants can be compared: "other" failed in each of its 3 trials (measure: no request completed)`},
		"unchecked": {two + off, func(b *bench) { b.broken["other"] = errors.New("ended with status 3") },
			lab.Interrupted, 3,
			`0 of 2 variants can be compared: "other" failed in each of its 3 trials (start: ended with status 3)`},
		"once": {strings.Replace(two, "rounds: 6", "rounds: 1", 1) + off,
			func(b *bench) { b.broken["other"] = errors.New("ended with status 3") }, lab.Complete, 1,
			`0 of 2 variants can be compared: "other" failed in its only trial (start: ended with status 3)`},
		"all of them": {two, func(b *bench) { clear(b.rates) }, lab.Interrupted, 3,
			`0 of 2 variants can be compared: "base" failed in each of its 3 trials (measure: no request completed); ` +
				`"other" failed in each of its 3 trials (measure: no request completed)`},
		"one after the other": {strings.Replace(two, "rounds: 6", "rounds: 6, order: sequential", 1),
			func(b *bench) { b.rates["other"] = 0 }, lab.Complete, 6, `"other" failed in each of its 6 trials`},
	} {
		b := newTestBench(t)
		b.rates = map[string]float64{"base": 100, "other": 100}
		c.spoil(b)
		dir := filepath.Join(t.TempDir(), "out")
		r, err := b.lab(dir, c.text).Run(t.Context())
		if !errors.Is(err, ErrNothingLeft) || r == nil || r.State != c.state {
			t.Errorf("%s: %v, %+v", name, err, r)
			continue
		}
		if !strings.Contains(err.Error(), c.says) || !strings.Contains(r.Cautions[0], c.says) {
			t.Errorf("%s: %q is not in %v; %q", name, c.says, err, r.Cautions)
		}
		if n := countTrials(r, "other"); n != c.trials {
			t.Errorf("%s: %d trials of other, want %d", name, n, c.trials)
		}
		stored, err := judge.Open(dir)
		if err != nil || !judge.LeavesNothing(stored) {
			t.Errorf("%s: the folder says otherwise: %v, %+v", name, err, stored)
			continue
		}
		stored.Cautions, stored.Facts = nil, nil // as an earlier version left them
		if err := (lab.Folder{Dir: dir}).WriteJSON(lab.RecordFile, stored); err != nil {
			t.Fatal(err)
		}
		stored, err = judge.Open(dir)
		if err != nil || len(stored.Cautions) != 1 || !strings.Contains(stored.Cautions[0], c.says) {
			t.Errorf("%s: an older folder says otherwise: %v, %+v", name, err, stored)
		}
	}
}

func countTrials(r *lab.Record, arm string) (n int) {
	for _, s := range r.Trials {
		if s.Arm == arm {
			n++
		}
	}
	return n
}

// An experiment of which nothing was measured but the baseline can go on: with one round more it ends
// again, or does not once the server is mended.
func TestNothingMeasuredResumed(t *testing.T) {
	b := newTestBench(t)
	b.rates = map[string]float64{"base": 100, "other": 0}
	dir := filepath.Join(t.TempDir(), "out")
	resume := func() (*lab.Record, error) {
		l := b.lab(dir, two)
		l.Resume = true
		return l.Run(t.Context())
	}
	if _, err := b.lab(dir, two).Run(t.Context()); !errors.Is(err, ErrNothingLeft) {
		t.Fatal(err)
	}
	if r, err := resume(); !errors.Is(err, ErrNothingLeft) || countTrials(r, "other") != 4 {
		t.Errorf("%v, %+v", err, r)
	}
	b.rates["other"] = 100
	r, err := resume()
	if err != nil || r.State != lab.Complete || countTrials(r, "other") != 6 || len(r.Cautions) == 0 ||
		strings.Contains(r.Cautions[0], "can be compared") {
		t.Errorf("%v, %+v", err, r)
	}
	r, err = resume() // of what is complete
	if err != nil || len(r.Trials) != 18 {
		t.Errorf("%v, %d trials", err, len(r.Trials))
	}
}

// Where some were compared, those that failed in all trials are the first caution.
func TestSomeMeasured(t *testing.T) {
	b := newTestBench(t)
	b.rates = map[string]float64{"base": 100, "same": 100}
	r := b.run(t.Context(), b.lab(filepath.Join(t.TempDir(), "out"), three))
	want := `1 of 3 variants cannot be compared: "slow" failed in each of its 16 trials (measure: no request completed)`
	if r.State != lab.Complete || len(r.Cautions) == 0 || r.Cautions[0] != want {
		t.Errorf("%s, %q", r.State, r.Cautions)
	}
}

// Two variants that never measured anything in the same round were not compared.
func TestNeverInOneRound(t *testing.T) {
	b := newTestBench(t)
	b.noise = 0
	b.rates = map[string]float64{"base": 100, "other": 100}
	l := b.lab(filepath.Join(t.TempDir(), "out"), strings.Replace(two, "rounds: 6", "rounds: 2, aa: false", 1))
	start := l.Start
	l.Start = func(ctx context.Context, s Setting) (Stand, error) {
		if strings.HasPrefix(s.Trial, "r001-base") || strings.HasPrefix(s.Trial, "r002-other") {
			return nil, errors.New("ended with status 3")
		}
		return start(ctx, s)
	}
	r, err := l.Run(t.Context())
	if !errors.Is(err, ErrNothingLeft) || !strings.Contains(err.Error(), "0 of 2 variants can be compared: no round") {
		t.Errorf("%v, %+v", err, r)
	}
}
