package run

import (
	"context"
	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/fairness"
	"dyno/internal/lab/experiment"
	"dyno/internal/observe/probe"
	"dyno/internal/result"
	"dyno/internal/server"
	"dyno/internal/stats"
)

// A bench is a laboratory without servers: a trial takes no time, and its
// throughput is what the variant's name says, with noise.
type bench struct {
	t      *testing.T
	rates  map[string]float64
	noise  float64
	coin   *rand.Rand
	starts []string
	broken map[string]error // variants that do not start
	after  int              // trials after which the context ends; 0: never
	stop   context.CancelFunc
}

func newTestBench(t *testing.T) *bench {
	return &bench{t: t, rates: map[string]float64{}, noise: 0.01, coin: rand.New(rand.NewPCG(1, 2)),
		broken: map[string]error{}}
}

// fake is a server that stands and is none.
type fake struct {
	name    string
	stopped *bool
}

func (f fake) URL() string                 { return "http://" + f.name + ".invalid/" }
func (f fake) PProf() string               { return "" }
func (f fake) Trees() []probe.Tree         { return nil }
func (f fake) Died() <-chan server.Failure { return nil }
func (f fake) Load() result.Runner         { return nil }
func (f fake) Reach() Reach                { return Reach{} }
func (f fake) Stop() server.Report         { *f.stopped = true; return server.Report{} }

func (b *bench) start(_ context.Context, s Setting) (Stand, error) {
	if err := b.broken[s.Variant.Of]; err != nil {
		return nil, err
	}
	b.starts = append(b.starts, s.Trial+" "+s.Variant.Name+" "+s.Level.Name)
	stopped := new(bool)
	b.t.Cleanup(func() {
		if !*stopped {
			b.t.Errorf("%s was never stopped", s.Trial)
		}
	})
	return fake{s.Variant.Of, stopped}, nil
}

func (b *bench) ask(_ context.Context, q fairness.Question) (*fairness.Answer, error) {
	return &fairness.Answer{URL: q.Way.Target.URL, Version: "HTTP/1.1", Status: 200, Reason: "OK",
		Date: fairness.DateAbsent}, nil
}

func (b *bench) load(ctx context.Context, p loadplan.Plan, _ func(loadresult.Interval)) (*result.Result,
	error) {
	name := strings.TrimSuffix(p.Target.Host, ".invalid")
	rate := b.rates[name] * (1 + b.noise*b.coin.NormFloat64())
	if b.after--; b.after == 0 {
		b.stop()
	}
	if rate == 0 {
		return &result.Result{Format: result.Format, Plan: p, Ended: "duration"}, nil
	}
	return &result.Result{Format: result.Format, Plan: p, Ended: "duration",
		Window:    result.Window{Started: time.Now(), MeasuredS: 1},
		Requests:  result.Requests{Sent: int64(rate), Completed: int64(rate)},
		Rate:      result.Rate{Sent: rate, Completed: rate},
		Latency:   &result.Distribution{Count: int64(rate), Mean: 1e6 / rate, P50: 1e6 / rate, P99: 2e6 / rate},
		Generator: result.Generator{Verdict: result.OK}}, nil
}

// lab is a laboratory for the text of an experiment.
func (b *bench) lab(dir, text string) *Lab {
	b.t.Helper()
	e, err := experiment.Read("test.yaml", strings.NewReader(text))
	if err != nil {
		b.t.Fatal(err)
	}
	return &Lab{Experiment: e, Dir: dir, Version: "test", Load: b.load, Start: b.start, Ask: b.ask,
		Watch: func(func() []probe.Tree) (func() *probe.Recording, error) {
			return func() *probe.Recording { return new(probe.Recording) }, nil
		},
		CPUs: server.Split{Generator: []int{0}, Server: []int{1}, Apart: true}}
}

// three is an experiment of three servers.
const three = `
version: 1
name: three
design: {rounds: 8, seed: 7, warmup: {min: 0, max: 0}, measure: 1s, cooldown: 0, metrics: [throughput, p50]}
levels: [{name: low, connections: 1}, {name: high, connections: 9}]
variants:
  base: {url: http://base.invalid/}
  same: {url: http://same.invalid/}
  slow: {url: http://slow.invalid/}
`

func (b *bench) run(ctx context.Context, l *Lab) *lab.Record {
	b.t.Helper()
	r, err := l.Run(ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

func verdict(t *testing.T, r *lab.Record, metric, level, variant string) lab.Comparison {
	t.Helper()
	i := slices.IndexFunc(r.Verdicts, func(c lab.Comparison) bool {
		return c.Metric == metric && c.Level == level && c.Variant == variant
	})
	if i < 0 {
		t.Fatalf("%s at %s of %s was not judged: %+v", metric, level, variant, r.Verdicts)
	}
	return r.Verdicts[i]
}

// What differs is found, what does not is not, and what is stored says the same.
func TestRun(t *testing.T) {
	b := newTestBench(t)
	b.rates = map[string]float64{"base": 10_000, "same": 10_000, "slow": 9_000}
	dir := filepath.Join(t.TempDir(), "out")
	r := b.run(t.Context(), b.lab(dir, three))
	if r.State != lab.Complete || len(r.Trials) != 8*4*2 {
		t.Errorf("%s, %d trials", r.State, len(r.Trials))
	}
	slow := verdict(t, r, "throughput", "low", "slow")
	if slow.Verdict != stats.Different || !slow.IsWorse() || slow.Low > 0.9 || slow.High < 0.9 {
		t.Errorf("slow: %+v", slow)
	}
	if p50 := verdict(t, r, "p50", "high", "slow"); p50.Verdict != stats.Different || !p50.IsWorse() {
		t.Errorf("slow: %+v", p50)
	}
	for _, name := range []string{"same", "base (A/A)"} {
		if c := verdict(t, r, "throughput", "high", name); c.Verdict == stats.Different ||
			c.Control != strings.Contains(name, "A/A") || c.Trials != 8 {
			t.Errorf("%+v", c)
		}
	}
	stored, err := judge.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(stored.Verdicts) != len(r.Verdicts) || stored.Experiment.Name != "three" ||
		stored.Seed != 7 || stored.Verdicts[2] != r.Verdicts[2] {
		t.Errorf("stored: %+v", stored)
	}
	for _, rank := range r.Ranks {
		if rank.Metric == "throughput" && (rank.Arms[2] != "slow" || rank.Groups[0] != rank.Groups[1] ||
			rank.Groups[2] == rank.Groups[0]) {
			t.Errorf("%+v", rank)
		}
	}
}

// A damaged trial is said, and run again once it is removed.
func TestDamagedTrial(t *testing.T) {
	b := newTestBench(t)
	b.rates = map[string]float64{"base": 100, "same": 100, "slow": 90}
	dir := filepath.Join(t.TempDir(), "out")
	b.run(t.Context(), b.lab(dir, three))
	file := filepath.Join(dir, "trials", "r002-same@low.json")
	if err := os.WriteFile(file, []byte(`{"format": "dyno.tr`), 0o600); err != nil {
		t.Fatal(err)
	}
	l := b.lab(dir, three)
	l.Resume = true
	if _, err := l.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "r002-same@low.json is damaged") {
		t.Errorf("%v", err)
	}
	os.Remove(file)
	file = filepath.Join(dir, lab.RecordFile)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, damaged := range []string{"{", `{"format": "` + lab.ExperimentFormat + `", "trials": 7}`} {
		if err := os.WriteFile(file, []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := judge.Open(dir) // to remove the record would lose the experiment
		if err == nil || strings.Contains(err.Error(), "remove") || !strings.Contains(err.Error(), "put it back") {
			t.Errorf("of %s: %v", damaged, err)
		}
	}
	if err := os.WriteFile(file, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	b.starts = nil
	b.run(t.Context(), l)
	if n := len(slices.DeleteFunc(b.starts, func(s string) bool { return s[0] != 'r' })); n != 1 {
		t.Errorf("%d trials were run: %q", n, b.starts)
	}
}

// A variant that does not start is a result and no failure of the others.
func TestBrokenVariant(t *testing.T) {
	b := newTestBench(t)
	b.rates = map[string]float64{"base": 100, "same": 100}
	b.broken["slow"] = &server.Failure{Process: "app", Kind: server.Ended, Reason: "ended with status 3",
		Output: "no\nconfiguration"}
	r := b.run(t.Context(), b.lab(filepath.Join(t.TempDir(), "out"), three))
	i := slices.IndexFunc(r.Arms, func(a lab.Arm) bool { return a.Name == "slow" })
	if !strings.Contains(r.Arms[i].Unfit, "ended with status 3") ||
		!strings.Contains(r.Arms[i].Unfit, "configuration") {
		t.Errorf("%+v", r.Arms[i])
	}
	if r.State != lab.Complete || len(r.Trials) != 8*3*2 {
		t.Errorf("%s, %d trials", r.State, len(r.Trials))
	}
	b.broken["base"], b.broken["same"] = errors.New("no"), errors.New("no")
	r, err := b.lab(filepath.Join(t.TempDir(), "out"), three).Run(t.Context())
	if !errors.Is(err, ErrNothingLeft) || r.HasMeasured() || len(r.Trials) != 0 {
		t.Errorf("%v, %d trials", err, len(r.Trials))
	}
}

// With a precision rounds go on until it is reached, but not beyond the most.
func TestPrecision(t *testing.T) {
	precise := strings.Replace(three, "rounds: 8", "rounds: 6, max_rounds: 25, precision: 1%", 1)
	for noise, want := range map[float64]func(int) bool{
		0.0001: func(n int) bool { return n == 6 },
		0.01:   func(n int) bool { return n > 6 && n < 25 },
		0.2:    func(n int) bool { return n == 25 },
	} {
		b := newTestBench(t)
		b.noise = noise
		b.rates = map[string]float64{"base": 10_000, "same": 10_000, "slow": 9_000}
		r := b.run(t.Context(), b.lab(filepath.Join(t.TempDir(), "out"), precise))
		rounds := 0
		for _, s := range r.Trials {
			rounds = max(rounds, s.Round)
		}
		if !want(rounds) {
			t.Errorf("noise %v: %d rounds", noise, rounds)
		}
	}
}

// A gate finds a regression only if a second batch finds it too.
func TestGate(t *testing.T) {
	gated := three + "gate: {metrics: [throughput], margin: 3%, confirm: true}\n"
	for _, c := range []struct {
		name    string
		slow    float64
		verdict string
	}{{"regression", 8_000, lab.Regression}, {"better", 11_000, lab.Passed}, {"same", 10_000, lab.Passed}} {
		b := newTestBench(t)
		b.noise = 0.002
		b.rates = map[string]float64{"base": 10_000, "same": 10_000, "slow": c.slow}
		r := b.run(t.Context(), b.lab(filepath.Join(t.TempDir(), "out"), gated))
		if r.Gate == nil || r.Gate.Verdict != c.verdict {
			t.Errorf("%s: %+v", c.name, r.Gate)
		}
		second := slices.ContainsFunc(r.Trials, func(t lab.TrialSummary) bool { return t.Round >= lab.ConfirmingRound })
		if second != (c.verdict == lab.Regression) || r.Gate.Confirmed != second {
			t.Errorf("%s: second batch %v, %+v", c.name, second, r.Gate)
		}
		if len(r.Gate.Missed) > 0 && r.Gate.Missed[0].Variant != "slow" {
			t.Errorf("%s: %+v", c.name, r.Gate.Missed)
		}
	}
	b := newTestBench(t) // slow only in the first batch
	b.noise = 0.002
	b.rates = map[string]float64{"base": 10_000, "same": 10_000, "slow": 8_000}
	l := b.lab(filepath.Join(t.TempDir(), "out"), gated)
	l.Tell = func(e Event) {
		if e.Step == "trial" && e.Round >= lab.ConfirmingRound {
			b.rates["slow"] = 10_000
		}
	}
	if r := b.run(t.Context(), l); r.Gate.Verdict != lab.Undecided || r.Gate.Confirmed {
		t.Errorf("%+v", r.Gate)
	}
	l = b.lab(filepath.Join(t.TempDir(), "out"), gated)
	for i, v := range l.Experiment.Variants {
		l.Experiment.Variants[i].Value.LeftOut = v.Name == "slow"
	}
	if r := b.run(t.Context(), l); r.Gate.Verdict != lab.Passed {
		t.Errorf("without slow: %+v", r.Gate)
	}
}

// What does not work never passes a gate, in whatever way it fails.
func TestGateOfWhatDoesNotWork(t *testing.T) {
	gated := three + "gate: {metrics: [throughput], margin: 3%, confirm: true}\n"
	run := func(spoil func(*bench, *Lab)) *lab.GateOutcome {
		b := newTestBench(t)
		b.noise = 0.002
		b.rates = map[string]float64{"base": 10_000, "same": 10_000, "slow": 10_000}
		l := b.lab(filepath.Join(t.TempDir(), "out"), gated)
		spoil(b, l)
		return b.run(t.Context(), l).Gate
	}
	for name, spoil := range map[string]func(*bench, *Lab){
		"does not start": func(b *bench, _ *Lab) { b.broken["slow"] = errors.New("no") },
		"answers nothing": func(b *bench, l *Lab) {
			b.rates["slow"] = 0
		},
		"fails now and then": func(b *bench, l *Lab) {
			n := 0
			l.Load = func(ctx context.Context, p loadplan.Plan, each func(loadresult.Interval)) (*result.Result, error) {
				if n++; strings.HasPrefix(p.Target.Host, "slow") && n%3 == 0 {
					return nil, errors.New("crashed")
				}
				return b.load(ctx, p, each)
			}
		},
	} {
		if g := run(spoil); g == nil || g.Verdict != lab.Undecided || g.Why == "" {
			t.Errorf("%s: %+v", name, g)
		}
	}
}

// An interruption in the second batch leaves no outcome, and the resumed
// experiment comes to the one that it would have come to.
func TestGateResumed(t *testing.T) {
	gated := three + "gate: {metrics: [throughput], margin: 3%, confirm: true}\n"
	b := newTestBench(t)
	b.noise = 0.002
	b.rates = map[string]float64{"base": 10_000, "same": 10_000, "slow": 8_000}
	dir := filepath.Join(t.TempDir(), "out")
	ctx, stop := context.WithCancel(t.Context())
	b.after, b.stop = 72, stop // of 64, and those after them
	r := b.run(ctx, b.lab(dir, gated))
	if r.State != lab.Interrupted || r.Gate != nil || len(r.Trials) < 65 {
		t.Fatalf("%s, %d trials, gate %+v", r.State, len(r.Trials), r.Gate)
	}
	l := b.lab(dir, gated)
	l.Resume = true
	r = b.run(t.Context(), l)
	if r.Gate == nil || r.Gate.Verdict != lab.Regression || !r.Gate.Confirmed {
		t.Errorf("%+v", r.Gate)
	}
	for _, c := range r.Gate.Missed {
		if c.Trials != 16 {
			t.Errorf("%d pairs, not those of both batches: %+v", c.Trials, c)
		}
	}
}

// A server that stalls in the warm-up is no reason for the laboratory to end.
func TestStalledServer(t *testing.T) {
	b := newTestBench(t)
	b.rates = map[string]float64{"base": 100, "same": 100, "slow": 90}
	text := strings.Replace(three, "warmup: {min: 0, max: 0}", "warmup: {min: 0, max: 6s}", 1)
	l := b.lab(filepath.Join(t.TempDir(), "out"), text)
	l.Load = func(ctx context.Context, p loadplan.Plan, each func(loadresult.Interval)) (*result.Result, error) {
		for i := range 6 {
			each(loadresult.Interval{From: time.Duration(i) * time.Second, To: time.Duration(i+1) * time.Second})
		}
		return b.load(ctx, p, each)
	}
	if r := b.run(t.Context(), l); r.State != lab.Complete || len(r.Trials) != 64 {
		t.Errorf("%s, %d trials", r.State, len(r.Trials))
	}
}

// Precision is not reached by too few rounds.
func TestPrecisionNeedsSixRounds(t *testing.T) {
	b := newTestBench(t)
	b.noise = 0.0001
	b.rates = map[string]float64{"base": 10_000, "same": 10_000, "slow": 9_000}
	text := strings.Replace(three, "rounds: 8", "rounds: 3, max_rounds: 25, precision: 1%", 1)
	if r := b.run(t.Context(), b.lab(filepath.Join(t.TempDir(), "out"), text)); len(r.Trials) != 6*8 {
		t.Errorf("%d trials", len(r.Trials))
	}
}
