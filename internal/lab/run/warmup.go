package run

import (
	"context"
	"errors"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/result"
	"dyno/internal/stats"
)

// steadyOver is how many consecutive seconds must be alike. Source of the rule: Georges, Buytaert,
// Eeckhout, "Statistically Rigorous Java Performance Evaluation", OOPSLA 2007.
const steadyOver = 5

// warmUp loads until throughput is steady, at least for the rule's Min and at most for its Max. The
// result covers only the warm-up. It shows whether the server answered at all.
func warmUp(ctx context.Context, run result.Runner, p loadplan.Plan,
	rule experiment.Warmup) (*lab.Warmup, *result.Result, error) {
	if rule.Max <= 0 {
		return nil, nil, nil
	}
	p.Duration, p.Warmup, p.Requested = loadplan.Seconds(rule.Max), 0, 0
	if !p.Stream.IsSet() { // of which none may end within a shorter one
		p.Drain = min(p.Drain, loadplan.Seconds(time.Second))
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	w := &lab.Warmup{}
	r, err := run(ctx, p, func(iv loadresult.Interval) {
		if iv.To-iv.From < 900*time.Millisecond || iv.From >= time.Duration(p.Duration) {
			return // after the window
		}
		n := iv.Answered()
		if p.Stream.IsSet() {
			n = iv.Events
		}
		w.Rates = append(w.Rates, float64(n)/(iv.To-iv.From).Seconds())
		judgeWarmup(w, rule)
		if w.Steady == lab.Yes && iv.To >= time.Duration(rule.Min) {
			stop(errSteady)
		}
	})
	if err != nil {
		return nil, nil, err
	}
	w.TookS, w.Throughput = r.Window.MeasuredS, r.Rate.Completed
	return w, r, nil
}

var errSteady = errors.New("steady")

// judgeWarmup examines the last seconds. It compares fewer than the rule's number if the longest
// warm-up is shorter. Two seconds are too few.
func judgeWarmup(w *lab.Warmup, rule experiment.Warmup) {
	over := min(steadyOver, int(time.Duration(rule.Max)/time.Second))
	if over < 3 {
		return // Steady stays unknown
	}
	w.Steady = lab.No
	if n := len(w.Rates); n >= over {
		cov := stats.CoV(w.Rates[n-over:])
		if w.CoV = 0; cov > 0 { // a server that has stalled has no variation
			w.CoV = cov
		}
		if cov <= float64(rule.CoV) {
			w.Steady = lab.Yes
		}
	}
}

// settleStreams has a load run until its first streams have ended before its window begins, going
// by the load before: until then there are fewer of them at once, or all are at their beginning.
func settleStreams(p *loadplan.Plan, before *result.Result) {
	if p.Stream.IsSet() && p.Warmup > 0 && before != nil && before.Latency != nil {
		long := loadplan.Seconds(before.Latency.P99 * 1e3)
		p.Warmup = max(p.Warmup, min(long, settleStreamsMost))
	}
}

// settleStreamsMost limits how long that takes: less than in a search, where nothing else has
// warmed the server up, and there are fewer probes than an experiment has trials.
const settleStreamsMost = loadplan.Seconds(30 * time.Second)
