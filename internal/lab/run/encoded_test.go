package run

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"dyno/internal/fairness"
)

// An answer with a Content-Encoding is looked at under load, where it is decoded: before and after,
// what its bytes contain says nothing. One without is looked at.
func TestEncodedAnswersAreNotSearched(t *testing.T) {
	text := strings.Replace(three, "variants:", "workload: {expect: {body: 'contains:ok'}}\nfairness: {mode: off}\nvariants:", 1)
	for _, encoding := range []string{"gzip", ""} {
		b := newTestBench(t)
		b.rates = map[string]float64{"base": 1000, "same": 1000, "slow": 1000}
		l := b.lab(filepath.Join(t.TempDir(), "out"), text)
		l.Ask = func(ctx context.Context, q fairness.Question) (*fairness.Answer, error) {
			a, err := b.ask(ctx, q)
			a.Lacks = 3
			if encoding != "" {
				a.Header = append(a.Header, fairness.Line{Name: "content-encoding", Value: encoding})
			}
			return a, err
		}
		r, err := l.Run(t.Context())
		if left := err == nil; left != (encoding != "") {
			t.Fatal(err)
		}
		for _, trial := range r.Trials {
			failed := trial.Failure != nil && strings.Contains(trial.Failure.Reason, `does not contain "ok"`)
			if failed != (encoding == "") {
				t.Errorf("encoding %q: %+v", encoding, trial.Failure)
			}
		}
	}
}
