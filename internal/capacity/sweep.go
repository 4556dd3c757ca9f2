package capacity

import (
	"context"
	"math/rand/v2"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/fact"
	"dyno/internal/result"
	"dyno/internal/say"
	"dyno/internal/stats"
)

// A Sweeping is how a sweep goes about it.
type Sweeping struct {
	Axis   Axis
	Levels []float64     // each above 0; whole numbers of connections
	Time   time.Duration // measured at each
	Rounds int           // passes over all levels: 8 for intervals
	Seed   uint64        // of the order
}

// SweepFormat is what every sweep says of itself.
const SweepFormat = "dyno.sweep/1"

// A Curve is throughput over load, as measured.
type Curve struct {
	Format string        `json:"format"`
	Dyno   string        `json:"dyno"`
	Plan   loadplan.Plan `json:"plan"` // but for what Axis varies
	Host   result.Host   `json:"host"`
	Axis   Axis          `json:"axis"`
	Levels []float64     `json:"levels"`
	Rounds int           `json:"rounds"`
	Seed   uint64        `json:"seed"`
	Points []Point       `json:"points"` // in the order in which they were measured
	Fit    *Fit          `json:"fit,omitempty"`
	NoFit  string        `json:"no_fit,omitempty"` // why there is none
	Left   int           `json:"left,omitempty"`   // points that were not measured: interrupted
	Apart  int           `json:"apart,omitempty"`  // points that are no part of the fit: see Counts
}

// A Point is one run of a sweep.
type Point struct {
	Round   int      `json:"round"` // from 1
	Level   float64  `json:"level"`
	N       float64  `json:"n"`                    // in flight: rate × mean latency, if users may idle
	X       float64  `json:"x_per_s"`              // completed
	P50     float64  `json:"p50_us"`               // of latency
	P99     float64  `json:"p99_us"`               // likewise
	Over    []string `json:"over,omitempty"`       // of p50 and p99: only known to be higher
	Errors  int64    `json:"errors"`               // and what was given up
	Verdict string   `json:"verdict"`              // the generator's
	Short   bool     `json:"not_judged,omitempty"` // it is ok because too little was measured
	Reasons []string `json:"reasons"`              // of it
	Cause   string   `json:"cause,omitempty"`      // why nothing was completed: Facts in words

	Facts []fact.Fact `json:"facts,omitempty"`

	// Answered is whether there were answers where nothing was completed in the window: errors, or
	// late ones.
	Answered bool `json:"answered,omitempty"`

	Checks []result.CheckCount `json:"checks,omitempty"` // of responses, as the result has them
}

// Counts reports whether the point says something of the server's throughput: the
// generator's limit does not.
func (p Point) Counts() bool { return p.X > 0 && p.N > 0 && p.Verdict != result.ClientBound }

// Most is the level with the most throughput by the medians of its points, and that throughput, in
// requests or iterations per second. Both are 0 if no point counts.
func (c *Curve) Most() (level, x float64) {
	for _, l := range c.Levels {
		var all []float64
		for _, p := range c.Points {
			if p.Level == l && p.Counts() {
				all = append(all, p.X)
			}
		}
		if len(all) > 0 && stats.Median(all) > x {
			level, x = l, stats.Median(all)
		}
	}
	return level, x
}

// Sweep measures plan at each level, after plan's warm-up, every round in an order
// of its own, so that what drifts meanwhile does not look like the load's effect,
// and fits the law.
// each is called with every point. When ctx ends so does the sweep, with what was
// measured until then. An error is the runner's.
func Sweep(ctx context.Context, run result.Runner, plan loadplan.Plan, how Sweeping,
	each func(Point)) (*Curve, error) {
	plan.Stages, plan.Requested = nil, 0
	plan.Duration = loadplan.Seconds(how.Time)
	c := &Curve{Format: SweepFormat, Dyno: loadplan.Version, Axis: how.Axis, Levels: how.Levels,
		Rounds: how.Rounds, Seed: how.Seed, Points: []Point{}}
	for round := range how.Rounds {
		order := rand.New(rand.NewPCG(how.Seed, uint64(round))).Perm(len(how.Levels))
		for _, i := range order {
			if ctx.Err() != nil {
				c.Left++
				continue
			}
			p := how.Axis.planAt(plan, how.Levels[i])
			if p.Seed != 0 {
				p.Seed += uint64(len(c.Points))
			}
			r, err := run(ctx, p, func(loadresult.Interval) {})
			if err != nil {
				return nil, err
			}
			if ctx.Err() != nil {
				c.Left++
				continue
			}
			point := pointOf(r, how.Axis, how.Levels[i], round+1)
			c.Host, c.Plan = r.Host, r.Plan
			c.Points = append(c.Points, point)
			each(point)
		}
	}
	c.Plan.Seed = plan.Seed
	c.fitLaw()
	return c, nil
}

func pointOf(r *result.Result, axis Axis, level float64, round int) Point {
	p := Point{Round: round, Level: level, X: r.Rate.Completed,
		Errors:  r.Requests.Errors + r.Requests.Unfinished,
		Verdict: r.Generator.Verdict, Short: r.Generator.NotJudged(), Reasons: r.Generator.Reasons,
		Checks: r.Checks}
	if r.Latency == nil {
		var why fact.Args = nothingAnswered(r)
		if r.OnlyErrors() {
			why, p.Answered = onlyErrors(r), true
		}
		p.Facts = because(why)
		p.Cause = say.Because(p.Facts)
		return p
	}
	if p.X == 0 {
		p.Facts = because(fact.AnsweredLate{WindowS: time.Duration(r.Plan.Duration).Seconds(),
			Later: r.Latency.Count})
		p.Cause, p.Answered = say.Because(p.Facts), true
	}
	p.P50, p.P99 = r.Latency.P50, r.Latency.P99
	if r.Latency.IsOver(99) {
		p.Over = []string{"p99"}
	}
	if r.Latency.IsOver(50) {
		p.Over = []string{"p50", "p99"}
	}
	p.N = level * float64(r.Plan.Depth())
	if axis == Rates || r.Plan.MayIdle() { // Little's law
		p.N = r.Rate.Completed * r.Latency.Mean / 1e6
	}
	return p
}

// fitLaw finds the law of the points that count.
func (c *Curve) fitLaw() {
	var counted []Point
	levels := map[float64]bool{}
	for _, p := range c.Points {
		if p.Counts() {
			counted = append(counted, p)
			levels[p.Level] = true
		} else {
			c.Apart++
		}
	}
	f, err := FitLaw(axisNames(counted))
	if len(levels) < levelsLeast { // although N differs from round to round
		err = errLevels
	}
	if err != nil {
		c.NoFit = say.Plain(fact.NoLaw{Needs: levelsLeast})
		return
	}
	f.resampleIntervals(counted, c.Rounds, c.Seed)
	c.Fit = f
}

func axisNames(points []Point) (n, x []float64) {
	for _, p := range points {
		n, x = append(n, p.N), append(x, p.X)
	}
	return n, x
}

// Counts is what the levels count if they are rates: requests or iterations. Throughput is always
// of requests.
func (c *Curve) Counts() string { return counted(&c.Plan) }
