package capacity

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/result"
)

// The values are those of R 4:
//
//	nls(X ~ g*N/(1+s*(N-1)+k*N*(N-1)), start=list(g=X[1]/N[1], s=0.02, k=1e-5),
//	    algorithm="port", lower=c(0,0,0), control=nls.control(tol=1e-12))
//
// and sum(resid(.)^2). Ray tracing is Gunther's example of an SGI Origin 2000
// ("Guerrilla Capacity Planning", 2007); MySQL is Schwartz's ("Practical
// Scalability Analysis with the Universal Scalability Law", 2015), of which he has
// σ 0.0267, κ 0.00077, N* 35.
var published = map[string]struct {
	n, x                     []float64
	gamma, sigma, kappa, rss float64
	peak                     float64 // 0: none in range
}{
	"ray tracing": {n: []float64{1, 4, 8, 12, 16, 20, 24, 28, 32, 48, 64},
		x:     []float64{20, 78, 130, 170, 190, 200, 210, 230, 260, 280, 310},
		gamma: 21.84884242231, sigma: 0.05777077884, rss: 697.2377997},
	"MySQL": {n: upTo(32), x: []float64{955.16, 1878.91, 2688.01, 3548.68, 4315.54, 5130.43, 5931.37,
		6531.08, 7219.8, 7867.61, 8278.71, 8646.7, 9047.84, 9426.55, 9645.37, 9897.24, 10097.6, 10240.5,
		10532.39, 10798.52, 11151.43, 11518.63, 11806, 12089.37, 12075.41, 12177.29, 12211.41, 12158.93,
		12155.27, 12118.04, 12140.4, 12074.39},
		gamma: 995.6488024, sigma: 0.02671594774, kappa: 7.690938726e-04, rss: 1023849.525},
	"more than linear": {n: []float64{1, 2, 4, 8, 16}, x: []float64{100, 201, 405, 800, 1610},
		gamma: 100.5337243, rss: 28.86217009},
	"retrograde": {n: []float64{1, 2, 4, 8, 16, 32}, x: []float64{100, 190, 330, 420, 350, 210},
		gamma: 100.14882142354, sigma: 0.01854071559, kappa: 0.01378637754, rss: 7.971536589, peak: 8.437447},
}

func upTo(n int) (all []float64) {
	for i := range n {
		all = append(all, float64(i+1))
	}
	return all
}

func TestFitIsThatOfR(t *testing.T) {
	for name, c := range published {
		f, err := FitLaw(c.n, c.x)
		if err != nil {
			t.Fatal(name, err)
		}
		for _, v := range []struct{ got, want, near float64 }{
			{f.Gamma, c.gamma, 1e-5 * c.gamma}, {f.Sigma, c.sigma, 1e-6}, {f.Kappa, c.kappa, 1e-8},
			{f.squaredResiduals(c.n, c.x), c.rss, 1e-6 * c.rss},
		} {
			if math.Abs(v.got-v.want) > v.near {
				t.Errorf("%s: %v, want %v (%+v)", name, v.got, v.want, f.Law)
			}
		}
		if (f.PeakN != nil) != (c.peak > 0) || c.peak > 0 && math.Abs(*f.PeakN-c.peak) > 1e-4 {
			t.Errorf("%s: the peak is at %v, want %v", name, f.PeakN, c.peak)
		}
		if len(f.Residuals) != len(c.n) || f.R2 < 0.97 || f.R2 > 1 {
			t.Errorf("%s: %d residuals, R² %v", name, len(f.Residuals), f.R2)
		}
	}
}

// The law is found again in what follows it, whatever its size.
func TestFitFindsTheLaw(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		law := Law{Gamma: math.Pow(10, 6*r.Float64()), Sigma: 0.9 * r.Float64() * r.Float64(),
			Kappa: math.Pow(10, -1-6*r.Float64())}
		var n, x []float64
		for i := range 9 {
			n = append(n, math.Pow(2, float64(i)))
			x = append(x, law.At(n[i]))
		}
		f, err := FitLaw(n, x)
		if err != nil || math.Abs(f.Gamma/law.Gamma-1) > 1e-4 || math.Abs(f.Sigma-law.Sigma) > 1e-4 ||
			math.Abs(f.Kappa/law.Kappa-1) > 1e-2 {
			t.Fatalf("%+v is found as %+v, %v", law, f, err)
		}
	}
}

func TestTooFewLevels(t *testing.T) {
	if f, err := FitLaw([]float64{1, 2, 2, 4}, []float64{1, 2, 2, 3}); err == nil {
		t.Errorf("a fit of three levels: %+v", f)
	}
}

// lawful is a server whose throughput follows a law, with noise.
func lawful(law Law, noise float64, seen *[]int) result.Runner {
	r := rand.New(rand.NewPCG(9, 9))
	return func(_ context.Context, p loadplan.Plan, _ func(loadresult.Interval)) (*result.Result, error) {
		if seen != nil {
			*seen = append(*seen, p.Connections)
		}
		n := float64(p.Connections)
		x := law.At(n) * (1 + noise*r.NormFloat64())
		l := &loadresult.Result{Plan: p, Total: metric.NewCounters(), Measured: time.Second,
			Ended: loadresult.ByDuration, Totals: loadresult.Totals{
				ConnectionTotals: loadresult.ConnectionTotals{Served: p.Connections}}}
		for range int(x) {
			l.Total.Completed++
			l.Total.Latency.Record(int64(n / x * 1e9))
		}
		if p.Connections == 1000 {
			l.Busy = 1
		}
		return result.From(l, "test")
	}
}

func TestSweep(t *testing.T) {
	law := Law{1000, 0.05, 0.001}
	p := loadplan.DefaultPlan()
	p.Target.Host = "server"
	var order []int
	points := 0
	how := Sweeping{Axis: Connections, Levels: []float64{1, 2, 4, 8, 16, 32, 64, 128, 1000}, Time: time.Second,
		Rounds: 8, Seed: 3}
	c, err := Sweep(t.Context(), lawful(law, 0.01, &order), p, how, func(Point) { points++ })
	if err != nil {
		t.Fatal(err)
	}
	if points != 72 || len(c.Points) != 72 || c.Apart != 8 || c.Fit == nil || len(c.Fit.Residuals) != 64 {
		t.Fatalf("%d points, %d of them apart; fit %+v %s", len(c.Points), c.Apart, c.Fit, c.NoFit)
	}
	for round := range 8 {
		each := slices.Clone(order[9*round : 9*round+9])
		if slices.IsSorted(each) || round > 0 && slices.Equal(each, order[:9]) {
			t.Errorf("round %d goes %v", round+1, each)
		}
		slices.Sort(each)
		if !slices.Equal(each, []int{1, 2, 4, 8, 16, 32, 64, 128, 1000}) {
			t.Errorf("round %d has %v", round+1, each)
		}
	}
	f, peak := c.Fit, law.PeakConcurrency()
	if f.PeakNInterval == nil || f.PeakNInterval.High == nil || f.PeakNInterval.Low > peak ||
		*f.PeakNInterval.High < peak || *f.PeakNInterval.High > 1.1*f.PeakNInterval.Low {
		t.Errorf("the peak is at %v, interval %+v; truth %v", *f.PeakN, f.PeakNInterval, peak)
	}
	if x := f.PeakXInterval; x == nil || x.Low > *f.PeakX || *x.High < *f.PeakX {
		t.Errorf("most throughput %v, interval %+v", *f.PeakX, x)
	}
	how.Rounds, how.Levels = 3, []float64{1, 2, 4, 8}
	c, err = Sweep(t.Context(), lawful(law, 0.001, nil), p, how, func(Point) {})
	if err != nil || c.Fit == nil || c.Fit.PeakN != nil || c.Fit.PeakNInterval != nil {
		t.Errorf("a peak in a range that has none: %+v, %v", c.Fit, err)
	}
}

// At rates, concurrency is what Little's law says: of M/M/1, ρ/(1−ρ).
func TestSweepOfRates(t *testing.T) {
	q := &queue{service: exponential(time.Millisecond), seed: 1}
	how := Sweeping{Axis: Rates, Levels: []float64{200, 400, 500, 800}, Time: 100 * time.Second, Rounds: 1}
	p := plan()
	p.Warmup = DefaultWarmup(how.Time)
	c, err := Sweep(t.Context(), q.run, p, how, func(Point) {})
	if err != nil || c.Fit == nil {
		t.Fatal(c, err)
	}
	for _, p := range c.Points {
		want := p.Level / (1000 - p.Level)
		if math.Abs(p.N/want-1) > 0.1 || math.Abs(p.X/p.Level-1) > 0.05 {
			t.Errorf("%v/s: %v under way, want %v; %v/s", p.Level, p.N, want, p.X)
		}
	}
}

func TestSweepInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	how := Sweeping{Axis: Connections, Levels: []float64{1, 2, 4}, Time: time.Second, Rounds: 2}
	c, err := Sweep(ctx, lawful(Law{Gamma: 10}, 0, nil), loadplan.DefaultPlan(), how, func(Point) { cancel() })
	if err != nil || len(c.Points) != 1 || c.Left != 5 || c.NoFit == "" {
		t.Errorf("%+v, %v", c, err)
	}
}

// Users who think have fewer requests in flight than there are connections.
func TestInFlightOfUsers(t *testing.T) {
	r := &result.Result{Latency: &result.Distribution{Count: 20, Mean: 5e4}, Rate: result.Rate{Completed: 10}}
	if p := pointOf(r, Connections, 4, 1); p.N != 4 {
		t.Errorf("connections that never idle: %v in flight, want 4", p.N)
	}
	r.Plan.Steps = []string{"login", "buy"}
	if p := pointOf(r, Connections, 4, 1); p.N != 0.5 {
		t.Errorf("users: %v in flight, want 10/s × 50 ms", p.N)
	}
}

// A request without an answer is an error of a point, as one that failed.
func TestErrorsOfAPoint(t *testing.T) {
	r := &result.Result{Requests: result.Requests{Errors: 30, Unfinished: 12},
		Latency: &result.Distribution{Count: 20}, Rate: result.Rate{Completed: 10}}
	if p := pointOf(r, Connections, 4, 1); p.Errors != 42 {
		t.Errorf("%d errors", p.Errors)
	}
}

// Answers that come after the window are answers, and no throughput.
func TestLateAnswers(t *testing.T) {
	r := &result.Result{Latency: &result.Distribution{Count: 20, P50: 5e5},
		Plan: loadplan.Plan{Duration: loadplan.Seconds(100 * time.Millisecond)}}
	p := pointOf(r, Connections, 4, 1)
	if !p.Answered || p.Counts() || p.Cause != "nothing was completed within 100 ms; 20 answers came later" {
		t.Errorf("%+v", p)
	}
}
