package lab

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dyno/internal/engine/load"
	"dyno/internal/lab/experiment"
	"dyno/internal/result"
)

// status is what nginx says of itself.
const status = "Active connections: 291 \nserver accepts handled requests\n 16630948 16630940 %d \n" +
	"Reading: 6 Writing: 179 Waiting: 106 \n"

func TestReadCount(t *testing.T) {
	for text, want := range map[string]Count{
		fmt.Sprintf(status, 31070465):   {31070465, true},
		`{"served": 12}`:                {12, false},
		`{"served": 0, "more": [1, 2]}`: {0, false},
	} {
		if c, err := readCount([]byte(text)); err != nil || c != want {
			t.Errorf("%s: %+v, %v", text, c, err)
		}
	}
	for _, text := range []string{"", "12", `{"served": "12"}`, `{"served": -1}`, `{"requests": 12}`, `{"served": 1.5}`,
		"Active connections: 1 \nserver accepts handled requests\n 1 1 \nReading: 0",
		strings.Replace(status, "%d", strings.Repeat("9", 20), 1)} {
		if c, err := readCount([]byte(text)); err == nil {
			t.Errorf("%s: %+v", text, c)
		}
	}
}

func FuzzReadCount(f *testing.F) {
	f.Add([]byte(fmt.Sprintf(status, 7)))
	f.Add([]byte(`{"served": 7}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := readCount(b); err == nil && c.Served < 0 {
			t.Errorf("%q: %+v", b, c)
		}
	})
}

// A teller is a server that tells a count.
type teller struct {
	fake
	count Counter
}

func (s teller) Reach() Reach { return Reach{Count: s.count} }

// Servers are asked before and after each load. A trial of one that counted otherwise than its
// clients did is worth nothing, and the record says so.
func TestServed(t *testing.T) {
	b := newTestBench(t)
	b.rates = map[string]float64{"base": 10_000, "same": 10_000, "slow": 9_000}
	served := map[string]int64{}
	l := b.lab(filepath.Join(t.TempDir(), "out"), strings.Replace(three, "rounds: 8", "rounds: 1", 1))
	l.Load = func(ctx context.Context, p load.Plan, each func(load.Interval)) (*result.Result, error) {
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
		asked := func(context.Context) (Count, error) {
			if s.Variant.Of == "same" { // as nginx does
				served["same"]++
			}
			return Count{served[s.Variant.Of], s.Variant.Of == "same"}, nil
		}
		return teller{stand.(fake), asked}, nil
	}
	r := b.run(t.Context(), l)
	for _, brief := range r.Trials {
		trial, err := OpenTrial(l.Dir, brief.ID)
		if err != nil {
			t.Fatal(err)
		}
		q, s := trial.Result.Requests, trial.Served
		off := map[string]int64{"base": 2, "base (A/A)": 2, "same": 0, "slow": 3}[brief.Arm]
		if s.Clients != q.Sent+30 || s.Server != s.Clients+off || *brief.Served != *s {
			t.Errorf("%s: %+v of %+v", brief.ID, s, q)
		}
		if wrong := strings.Contains(fmt.Sprint(trial.Reasons), "the server counted"); wrong != (off == 3) ||
			(trial.Grade == GradeF) != wrong {
			t.Errorf("%s: %s %v", brief.ID, trial.Grade, trial.Reasons)
		}
	}
	said := strings.Join(r.Cautions, "\n")
	if !strings.Contains(said, "\nslow: in 2 of 2 trials the server counted ") ||
		strings.Count(said, "the server counted") != 1 {
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
		c, err := settled(t.Context(), func(context.Context) (Count, error) {
			asked++
			return Count{counts[asked-1], own}, nil
		})
		if err != nil || asked != len(counts) || c != (Count{counts[asked-1], own}) {
			t.Errorf("%s: %+v after %d, %v", name, c, asked, err)
		}
	}
	n := int64(0)
	c, err := settled(t.Context(), func(context.Context) (Count, error) {
		n++
		return Count{n, false}, nil
	})
	if err != nil || c.Served != settleMost+1 {
		t.Errorf("of a server that others load, too: %+v, %v", c, err)
	}
}

// A server that cannot tell its count is not loaded: there is nothing to hold the load against.
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
			return teller{stand.(fake), counter(s.URL)}, nil
		}
		r := b.run(t.Context(), l)
		same := r.Arms[slices.IndexFunc(r.Arms, func(a Arm) bool { return a.Name == "same" })]
		if asked != 1 || !strings.Contains(same.Unfit, want) || !strings.HasPrefix(same.Unfit, "served: ") ||
			len(r.Trials) != 3*2 || !r.Measured() {
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
	stand := teller{fake{"base", new(bool)}, counter(s.URL)}
	l := b.lab(filepath.Join(t.TempDir(), "out"), strings.Split(three, "  same:")[0]+"fairness: {mode: off}\n")
	l.Start = func(context.Context, Setting) (Stand, error) { return stand, nil }
	r, err := l.Run(t.Context())
	if err != nil || r.Measured() || !strings.Contains(r.Trials[0].Failure.Reason, "it says 404") {
		t.Errorf("%+v %v", r, err)
	}
}

// What a foreign generator did is not what asking for it was.
func TestForeignCounts(t *testing.T) {
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		fmt.Fprintf(w, status, 1000+asked)
	}))
	defer s.Close()
	f := &foreign{served: s.URL}
	for range 3 {
		if c, err := f.count(t.Context()); err != nil || c.served != 1000 {
			t.Errorf("%+v, %v", c, err)
		}
	}
}

// Whoever is not where the server is has a worker ask, in the same way.
func TestWorkerCounts(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, status, 42)
	}))
	defer s.Close()
	said := talk(t, task{Count: s.URL}, func(word) bool { return false })
	c, err := counter(s.URL)(t.Context())
	if err != nil || len(said) != 1 || *said[0].Counted != c || c != (Count{42, true}) {
		t.Errorf("%+v, asked from here %+v, %v", said, c, err)
	}
	for url, some := range map[string]bool{"": false, s.URL: true} {
		for _, private := range []bool{false, true} {
			h := &here{Instance: &experiment.Instance{Served: url}, private: private, workers: &Workers{}}
			if got := h.Reach().Count != nil; got != some {
				t.Errorf("%q, private %v: a count: %v", url, private, got)
			}
		}
	}
}
