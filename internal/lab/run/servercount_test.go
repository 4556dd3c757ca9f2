package run

import (
	"context"
	"dyno/internal/lab"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/remote"
	"dyno/internal/result"
)

// A teller is a server that tells a count.
type teller struct {
	fake
	count remote.Counter
}

func (s teller) Reach() Reach { return Reach{Count: s.count} }

// Servers are asked before and after each load. A trial of one that counted otherwise than its
// clients did is worth nothing, and the record says so.
func TestServed(t *testing.T) {
	b := newTestBench(t)
	b.rates = map[string]float64{"base": 10_000, "same": 10_000, "slow": 9_000}
	served := map[string]int64{}
	l := b.lab(filepath.Join(t.TempDir(), "out"), strings.Replace(three, "rounds: 8", "rounds: 1", 1))
	l.Load = func(ctx context.Context, p loadplan.Plan, each func(loadresult.Interval)) (*result.Result, error) {
		r, err := b.load(ctx, p, each)
		if err != nil {
			return nil, err
		}
		r.Requests.Warmup, r.Requests.Retried = 30, 2
		name := strings.TrimSuffix(p.Target.Host, ".invalid")
		switch served[name] += r.Requests.Sent + 30; name {
		case "base": // it saw also what was sent again
			served[name] += 2
		case "slow": // it counts wrongly
			served[name] += 3
		}
		return r, nil
	}
	l.Start = func(ctx context.Context, s Setting) (Stand, error) {
		stand, err := b.start(ctx, s)
		if err != nil {
			return nil, err
		}
		asked := func(context.Context) (remote.Count, error) {
			if s.Variant.Of == "same" { // as nginx does
				served["same"]++
			}
			return remote.Count{Served: served[s.Variant.Of], Own: s.Variant.Of == "same"}, nil
		}
		return teller{stand.(fake), asked}, nil
	}
	r := b.run(t.Context(), l)
	for _, brief := range r.Trials {
		trial, err := lab.ReadTrial(l.Dir, brief.ID)
		if err != nil {
			t.Fatal(err)
		}
		q, s := trial.Result.Requests, trial.Served
		off := map[string]int64{"base": 2, "base (A/A)": 2, "same": 0, "slow": 3}[brief.Arm]
		if s.Clients != q.Sent+30 || s.Server != s.Clients+off || *brief.Served != *s {
			t.Errorf("%s: %+v of %+v", brief.ID, s, q)
		}
		if wrong := strings.Contains(fmt.Sprint(trial.Reasons), "the server counted"); wrong != (off == 3) ||
			(trial.Grade == lab.GradeF) != wrong {
			t.Errorf("%s: %s %v", brief.ID, trial.Grade, trial.Reasons)
		}
	}
	said := strings.Join(r.Cautions, "\n")
	if !strings.Contains(said, "\nin 2 of 2 trials the server of \"slow\" counted more or fewer requests than the clients sent") ||
		strings.Count(said, "counted more or fewer requests") != 1 {
		t.Errorf("cautions: %s", said)
	}
	if a := r.Served; a == nil || a.Trials != len(r.Trials) || a.Alike != a.Trials/4 || a.Off != a.Alike ||
		a.Server != a.Clients+7*int64(a.Alike) {
		t.Errorf("%+v of %d trials", a, len(r.Trials))
	}
}

// What was sent before a load is none of it, however late a server reads it.
func TestServedSettles(t *testing.T) {
	for name, counts := range map[string][]int64{"at once": {7, 7}, "late": {3, 5, 6, 6}, "as nginx does": {3, 5, 6}} {
		own, asked := name == "as nginx does", 0
		c, err := settledCount(t.Context(), func(context.Context) (remote.Count, error) {
			asked++
			return remote.Count{Served: counts[asked-1], Own: own}, nil
		})
		if err != nil || asked != len(counts) || c != (remote.Count{Served: counts[asked-1], Own: own}) {
			t.Errorf("%s: %+v after %d, %v", name, c, asked, err)
		}
	}
	n := int64(0)
	c, err := settledCount(t.Context(), func(context.Context) (remote.Count, error) {
		n++
		return remote.Count{Served: n, Own: false}, nil
	})
	if err != nil || c.Served != settleMost+1 {
		t.Errorf("of a server that others load, too: %+v, %v", c, err)
	}
}

// A server that cannot tell its count is not tested: there is nothing to hold the load against.
// Others are.
func TestServedNowhere(t *testing.T) {
	for want, handler := range map[string]http.Handler{
		"it says 404":    http.NotFoundHandler(),
		"it says neithe": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "12") }),
	} {
		s := httptest.NewServer(handler)
		defer s.Close()
		b := newTestBench(t)
		b.rates = map[string]float64{"base": 100, "same": 100, "slow": 100}
		l := b.lab(filepath.Join(t.TempDir(), "out"), strings.Replace(three, "rounds: 8", "rounds: 1", 1))
		asked := 0
		l.Start = func(ctx context.Context, s2 Setting) (Stand, error) {
			stand, err := b.start(ctx, s2)
			if err != nil || s2.Variant.Of != "same" {
				return stand, err
			}
			asked++
			return teller{stand.(fake), remote.NewCounter(s.URL)}, nil
		}
		r := b.run(t.Context(), l)
		same := r.Arms[slices.IndexFunc(r.Arms, func(a lab.Arm) bool { return a.Name == "same" })]
		if asked != 1 || !strings.Contains(same.Unfit, want) || !strings.HasPrefix(same.Unfit, "served: ") ||
			len(r.Trials) != 3*2 || !r.HasMeasured() {
			t.Errorf("started %d times, %q, %d trials", asked, same.Unfit, len(r.Trials))
		}
	}
}

// Where nothing is checked before, it fails the trial.
func TestServedUnchecked(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	b := newTestBench(t)
	b.rates = map[string]float64{"base": 100}
	stand := teller{fake{"base", new(bool)}, remote.NewCounter(s.URL)}
	l := b.lab(filepath.Join(t.TempDir(), "out"), strings.Split(three, "  same:")[0]+"fairness: {mode: off}\n")
	l.Start = func(context.Context, Setting) (Stand, error) { return stand, nil }
	r, err := l.Run(t.Context())
	if err != nil || r.HasMeasured() || !strings.Contains(r.Trials[0].Failure.Reason, "it says 404") {
		t.Errorf("%+v %v", r, err)
	}
}

// What a foreign generator did is not what asking for it was.
func TestForeignCounts(t *testing.T) {
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		fmt.Fprintf(w, "Active connections: 1 \nserver accepts handled requests\n 1 1 %d \n"+
			"Reading: 0 Writing: 1 Waiting: 0 \n", 1000+asked)
	}))
	defer s.Close()
	f := &foreignGenerator{served: s.URL}
	for range 3 {
		if c, err := f.countServed(t.Context()); err != nil || c.served != 1000 {
			t.Errorf("%+v, %v", c, err)
		}
	}
}
