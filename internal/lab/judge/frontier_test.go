package judge

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/observe/probe"
	"dyno/internal/result"
)

// A model is a server as the frontier sees it: CPU time and mean latency of a request, in µs, at a
// rate.
type model struct{ cpu, latency func(rate float64) float64 }

const rising = `
version: 1
name: rising
design: {rounds: 8, metrics: [cpu], baseline: plain}
levels: [{name: load, rates: [500, 2k, 4k, 8k]}]
variants:
  plain: {url: http://127.0.0.1:1/}
  other: {url: http://127.0.0.1:2/}
`

// frontier is what is found of two servers, whose trials vary by so much, and of A/A.
func frontier(t *testing.T, plain, other model, noise float64, seed uint64) *lab.Record {
	t.Helper()
	e, err := experiment.Read("x.yaml", strings.NewReader(rising))
	if err != nil {
		t.Fatal(err)
	}
	coin := rand.New(rand.NewPCG(seed, 3))
	vary := func(x float64) float64 { return x * math.Exp(noise*coin.NormFloat64()) }
	r := &lab.Record{Definition: lab.Definition{Experiment: e}, Preparation: lab.Preparation{Arms: []lab.Arm{
		{Name: "plain"}, {Name: "plain (A/A)", Control: true, Baseline: "plain"}, {Name: "other", Baseline: "plain"}}}}
	var trials []*lab.Trial
	for round := range e.Design.Rounds {
		for _, a := range r.Arms {
			m := plain
			if a.Name == "other" {
				m = other
			}
			for _, l := range e.Levels {
				rate := float64(l.Rate)
				trials = append(trials, &lab.Trial{Attempt: 1, Grade: lab.GradeA,
					Slot: lab.Slot{Round: round + 1, Arm: a.Name, Level: l.Name},
					Result: &result.Result{Rate: result.Rate{Completed: rate},
						Latency: &result.Distribution{Mean: vary(m.latency(rate))},
						Observed: result.Observed{Server: &result.Server{Processes: []result.Usage{
							{CPU: probe.Value(vary(m.cpu(rate)))}}}}}})
			}
		}
	}
	Compute(r, trials)
	return r
}

// A server that is cheaper, and has more requests in flight, is cheaper because it queues. One that
// is cheaper and as fast, or slower and as cheap, or dearer and slower, is not.
func TestFrontier(t *testing.T) {
	flat := func(x float64) func(float64) float64 { return func(float64) float64 { return x } }
	// a request costs more when there are few, because the server sleeps and wakes for each
	usual := model{func(rate float64) float64 { return 30 + 10_000/rate }, flat(80)}
	batch := model{func(rate float64) float64 { return 8 + 5_000/rate }, flat(5_000)}
	for _, test := range []struct {
		name         string
		plain, other model
		queues       string // whom the caution is about; "": nobody
	}{
		{"alike", usual, usual, ""},
		{"waits on purpose", usual, batch, "other"},
		{"the baseline waits on purpose", batch, usual, "plain"},
		{"cheaper and faster", usual, model{flat(12), flat(60)}, ""},
		{"cheaper and a little slower", usual, model{flat(12), flat(96)}, ""},
		{"dearer and slower", usual, model{flat(60), flat(400)}, ""},
		{"as cheap and slower", usual, model{usual.cpu, flat(400)}, ""},
	} {
		const experiments = 50
		wrong := 0
		for seed := range uint64(experiments) {
			r := frontier(t, test.plain, test.other, 0.05, seed)
			found := ""
			for _, c := range r.Cautions {
				if name, said, is := strings.Cut(c, `" at level `); is && strings.Contains(said, "because it queues: ") {
					found += name[1:]
				}
			}
			if found != test.queues {
				wrong++
			}
			if f := r.Frontier; f == nil || len(f.Levels) != 4 || f.Levels[0] != "load-500" {
				t.Fatalf("%s: %+v", test.name, f)
			}
		}
		if wrong > 0 {
			t.Errorf("%s: wrong in %d of %d experiments", test.name, wrong, experiments)
		}
	}
}

// The caution is about one arm, with the level at which its queue is longest.
func TestQueueCaution(t *testing.T) {
	r := frontier(t, model{func(float64) float64 { return 30 }, func(float64) float64 { return 100 }},
		model{func(float64) float64 { return 15 }, func(rate float64) float64 { return 200 + rate/10 }}, 0.01, 1)
	want := `"other" at level "load-8000" needs 50 % less CPU per request than "plain", because it queues: ` +
		"it has 10 times as many requests in flight"
	n := 0
	for _, c := range r.Cautions {
		if strings.Contains(c, "queues") {
			n++
			if !strings.HasPrefix(c, want) {
				t.Errorf("%q; want %q", c, want)
			}
		}
	}
	if n != 1 || len(r.Frontier.Queues) != 4 {
		t.Errorf("%d cautions of %d queues", n, len(r.Frontier.Queues))
	}
}
