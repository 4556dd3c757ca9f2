package page

import (
	"io"
	"maps"
	"testing"

	"dyno/internal/capacity"
	"dyno/internal/engine/loadplan"
	"dyno/internal/result"
	"dyno/internal/view/page/pagetest"
	"dyno/internal/view/report"
)

func probed(purpose capacity.Purpose, rate, p99 float64, o capacity.Outcome, why string) capacity.Probe {
	j := capacity.Judged{Verdict: o, Low: set(p99 * 0.9), High: set(p99 * 1.15), Seconds: 10,
		Outcome: result.Outcome{Expr: "p99<10ms", Value: set(p99), Unit: "us", Met: p99 < 10_000}}
	errs := capacity.Judged{Outcome: result.Outcome{Expr: "errors<0.1%", Value: set(0.0), Unit: "percent", Met: true}, Verdict: capacity.Passed}
	return capacity.Probe{Purpose: purpose, Rate: rate, Sent: rate, Completed: rate * 0.99, Measured: 10, Judged: []capacity.Judged{j, errs},
		Outcome: o, Why: why, Verdict: result.OK, Reasons: []string{}}
}

func found() *capacity.Search {
	p := plan()
	p.Arrival, p.Duration = loadplan.Poisson, 0
	return &capacity.Search{Format: capacity.Format, Dyno: "0.1.0", Plan: p, Objectives: []string{"p99<10ms", "errors<0.1%"},
		Certified: set(727.8), Low: set(727.8), High: set(766.1), Closed: set(987.6), End: capacity.Found,
		Reason: "met at 727.8/s, and not at 766.1/s", Probes: []capacity.Probe{
			probed(capacity.Trial, 200, 2800, capacity.Passed, ""), probed(capacity.Trial, 400, 3640, capacity.Passed, ""),
			probed(capacity.Trial, 800, 9800, capacity.Undecided, ""), probed(capacity.Longer, 800, 12_300, capacity.Failed, ""),
			probed(capacity.Trial, 1600, 812_000, capacity.Failed, "given up after 3 s, when more than a second of arrivals waited"),
			probed(capacity.Trial, 3200, 912_000, capacity.OurLimit, "the generator was busy "+hostile),
			probed(capacity.Trial, 766.1, 10_600, capacity.Failed, ""), probed(capacity.Confirm, 727.8, 8640, capacity.Passed, "")}}
}

// missed has nothing but its end.
func missed() *capacity.Search {
	return &capacity.Search{Format: capacity.Format, Plan: plan(), Objectives: []string{"p99<1ms"}, End: capacity.Unreachable,
		Reason: "nothing was answered", Probes: []capacity.Probe{}, Warnings: []string{"every response was a redirect"}}
}

func swept(rounds int) *capacity.Curve {
	law := capacity.Law{Gamma: 1000, Sigma: 0.05, Kappa: 0.002}
	c := &capacity.Curve{Format: capacity.SweepFormat, Plan: plan(), Axis: capacity.Connections, Rounds: rounds, Seed: 3,
		Levels: []float64{1, 2, 4, 8, 16, 32, 64}, Points: []capacity.Point{}}
	random := newSampler().random
	var n, x []float64
	for round := range rounds {
		for _, level := range c.Levels {
			p := capacity.Point{Round: round + 1, Level: level, N: level, X: law.At(level) * (1 + 0.04*random.NormFloat64()), Verdict: result.OK, Reasons: []string{}}
			p.P50 = level / p.X * 1e6
			p.P99 = p.P50 * (2 + random.Float64())
			if level == 64 && round == 0 {
				p.Verdict = result.ClientBound
				c.Apart++
			} else {
				n, x = append(n, p.N), append(x, p.X)
			}
			c.Points = append(c.Points, p)
		}
	}
	c.Fit, _ = capacity.FitLaw(n, x)
	if rounds >= 8 {
		c.Fit.PeakNInterval = &capacity.Range{Low: 19, High: set(26.0)}
		c.Fit.PeakXInterval = &capacity.Range{Low: 6000, High: set(7000.0)}
	}
	return c
}

func noLaw() *capacity.Curve {
	c := swept(2)
	c.Axis, c.Points, c.Fit, c.NoFit, c.Left = capacity.Rates, c.Points[:3], nil, "too few", 11
	c.Points[1] = capacity.Point{Round: 1, Level: 2, Verdict: result.Suspect, Cause: "nothing was completed: " + hostile}
	return c
}

// A finding is what a page of capacity is of.
type finding struct {
	write func(io.Writer) error
	all   any
	words report.Sentences
}

func findings() map[string]finding {
	all := map[string]finding{}
	for name, s := range map[string]*capacity.Search{"found": found(), "missed": missed()} {
		all[name] = finding{func(w io.Writer) error { return Search(w, s) }, s, report.SearchSentences(s)}
	}
	for name, c := range map[string]*capacity.Curve{"swept": swept(10), "rough": swept(2), "no law": noLaw()} {
		all[name] = finding{func(w io.Writer) error { return Curve(w, c) }, c, report.CurveSentences(c)}
	}
	return all
}

// Every number and every sentence of a search and of a sweep is on its page, in its place.
func TestCapacityShowsAll(t *testing.T) {
	for name, f := range findings() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := chromium.OpenPage(t, made(t, f.write))
			says(t, tab, append(append([]string{f.words.Verdict, f.words.How, f.words.Command}, f.words.Reasons...),
				f.words.Warnings...), f.words.Facts)
			if bad := pagetest.Evaluate[string](tab, `[...document.querySelectorAll("figure.view svg")].map(
				(e) => e.outerHTML.match(/NaN|undefined|Infinity/)?.[0] ?? "").join("")`); bad != "" {
				t.Errorf("a plot has %s in it", bad)
			}
			placed(t, tab)
			tab.ShowTables()
			shows(t, tab, numbers(t, f.all))
			if n := pagetest.Evaluate[int](tab, `document.querySelectorAll("img").length`); n != 0 {
				t.Error("a name became markup")
			}
		})
	}
}

func BenchmarkScreenshotsOfCapacity(b *testing.B) {
	all := findings()
	maps.DeleteFunc(all, func(name string, _ finding) bool { return name == "rough" || name == "no law" })
	for name, f := range all {
		shoot(b, chromium.OpenPage(b, made(b, f.write)), "capacity-"+name)
	}
}
