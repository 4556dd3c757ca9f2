package run

import (
	"context"
	"dyno/internal/lab"
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
				if strings.Contains(q.URL, "other") {
					a.Header = append(a.Header, fairness.Line{Name: "ETag", Value: `"1"`, Bytes: 9})
				}
				return a, err
			}
		}, []string{"0 of 2 variants", "other is not tested", "allow: [server, date, etag]", "fairness: {mode: warn}"}},
		"crashes": {two, func(b *bench, _ *Lab) {
			b.broken["other"] = &server.Failure{Process: "app", Reason: "ended with status 3"}
		}, []string{"0 of 2 variants", "other is not tested", "ended with status 3"}},
		"the baseline crashes": {three, func(b *bench, _ *Lab) {
			b.broken["base"] = &server.Failure{Process: "app", Reason: "ended with status 3"}
		}, []string{"0 of 3 variants", "base is not tested", "ended with status 3"}},
		"missing": {two, func(_ *bench, l *Lab) {
			l.Experiment.Variants[1].Value.Needs.Programs = []string{"no-such-program"}
		}, []string{"0 of 2 variants", "other is not available here: no-such-program is not on the PATH"}},
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
	want := "2 of 3 variants can be compared: slow is not tested: ended with status 3"
	if r.State != lab.Complete || len(r.Cautions) == 0 || !strings.HasPrefix(r.Cautions[0], want) {
		t.Errorf("%s, %q", r.State, r.Cautions)
	}
}
