package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dyno/experiment"
	"dyno/fairness"
	"dyno/load"
	"dyno/probe"
	"dyno/result"
	"dyno/server"
	"dyno/stats"
)

// A Setting says what to start for a trial.
type Setting struct {
	Variant experiment.Variant
	Level   experiment.Level
	Trial   string // names its output
}

// A Stand is a server that stands ready to be loaded.
type Stand interface {
	URL() string
	PProf() string // base URL of Go's profiles; "" for none
	Trees() []probe.Tree
	Died() <-chan server.Failure
	Load() Runner // nil: the laboratory's own will do
	Stop() server.Report
}

// shortAsk is how many exchanges the checks around each load make.
const shortAsk = 3

// trial is one trial from start to stop. It always returns one: what fails is
// in it.
func (r *running) trial(ctx context.Context, s Slot, attempt int) *Trial {
	t := &Trial{Format: TrialFormat, Slot: s, Attempt: attempt, Started: time.Now().UTC()}
	a, l := r.arm(s.Arm), r.level(s.Level)
	stand, err := r.Start(ctx, Setting{Variant: a.variant, Level: l, Trial: s.id(attempt)})
	if err != nil {
		t.fail("start", err)
	} else {
		t.ReadyS = time.Since(t.Started).Seconds()
		r.measure(ctx, t, a, l, stand)
		t.Killed = stand.Stop().Killed
	}
	t.TookS = time.Since(t.Started).Seconds()
	for _, o := range r.Experiment.Objectives {
		t.Objectives = append(t.Objectives, judgeObjective(o, t))
	}
	t.Grade, t.Reasons = grade(t)
	sleep(ctx, time.Duration(r.Experiment.Design.Cooldown))
	return t
}

// measure loads a server that stands, and watches it.
func (r *running) measure(ctx context.Context, t *Trial, a *arm, l experiment.Level, stand Stand) {
	p, err := plan(r.Experiment, l, r.workload(a), stand.URL(), r.record.CPUs.Generator)
	if err != nil {
		t.fail("start", err)
		return
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		select {
		case f := <-stand.Died():
			stop(&f)
		case <-ctx.Done():
		}
	}()
	before, err := r.verify(ctx, p)
	if err != nil {
		t.fail("verify", cause(ctx, err))
		return
	}
	if len(p.Requests) == 1 && !p.Target.TLS { // else the load's bytes are others
		t.Wire = before.WireBytes.Mean
	}
	run := stand.Load()
	if run == nil {
		run = r.Load
	}
	if err := r.load(ctx, t, p, run, stand); err != nil {
		return
	}
	if r.Experiment.Fairness.Mode != experiment.Off {
		after, err := r.verify(ctx, p)
		if err != nil {
			t.Changed = []fairness.Difference{{Aspect: "answer", Before: "there", After: err.Error()}}
		} else {
			t.Changed = fairness.Same(before, after)
		}
	}
}

// load warms and measures.
func (r *running) load(ctx context.Context, t *Trial, p load.Plan, run Runner, stand Stand) error {
	w, first, err := warm(ctx, run, p, r.Experiment.Design.Warmup)
	if err == nil && w != nil && first.Requests.Completed == 0 {
		err = nothing(first)
	}
	if err = died(ctx, err); err != nil {
		t.fail("warm", err)
		return err
	}
	t.Warmup = w
	recorded, err := r.Watch(stand.Trees)
	if err != nil {
		t.fail("measure", err)
		return err
	}
	t.Result, err = run(ctx, p, func(load.Interval) {})
	t.Meanwhile = recorded()
	if err == nil && t.Result.Requests.Completed == 0 {
		err = nothing(t.Result)
	}
	if err = died(ctx, err); err != nil {
		t.fail("measure", err)
		return err
	}
	t.use()
	t.classify()
	return nil
}

// Watch samples the machine and the trees of processes until what it returns is
// called.
func Watch(trees func() []probe.Tree) (recorded func() *probe.Recording, err error) {
	s, err := probe.Start(probe.Config{Trees: trees})
	if err != nil {
		return nil, err
	}
	return s.Stop, nil
}

// verify asks what a load is about to ask, a few times.
func (r *running) verify(ctx context.Context, p load.Plan) (*fairness.Answer, error) {
	q := questionOf(p, r.Version)
	q.Times, q.KeepAlive, q.Brief = shortAsk, shortAsk, true
	a, err := r.Ask(ctx, q)
	if err != nil {
		return nil, err
	}
	for _, s := range p.Expect {
		if int(s.From) <= a.Status && a.Status <= int(s.To) {
			return a, nil
		}
	}
	if len(p.Expect) > 0 {
		return nil, fmt.Errorf("the answer is %d %s, which is not expected", a.Status, a.Reason)
	}
	return a, nil
}

// classify looks for a trend in the seconds of warm-up and window together.
func (t *Trial) classify() {
	var rates []float64
	if t.Warmup != nil {
		rates = append(rates, t.Warmup.Rates...)
	}
	last := 0.0
	for _, p := range t.Result.Series {
		if length := p.T - last; length > 0.9 && p.T <= t.Result.Window.MeasuredS+0.01 {
			rates = append(rates, float64(p.Completed)/length)
		}
		last = p.T
	}
	t.Steadiness = stats.Classify(rates, 1)
}

func (t *Trial) fail(phase string, err error) {
	t.Failure = &Failure{Phase: phase, Reason: err.Error()}
	if f, is := errors.AsType[*server.Failure](err); is {
		t.Failure.Process, t.Failure.Reason, t.Failure.Output = f.Process, f.Reason, f.Output
	}
}

// nothing is the failure of a load that was never answered.
func nothing(r *result.Result) error {
	if len(r.Errors) > 0 {
		return fmt.Errorf("no exchange completed: %s: %s", r.Errors[0].Phase, r.Errors[0].Detail)
	}
	return errors.New("no exchange completed")
}

// died is err, or that the server died meanwhile, which explains it.
func died(ctx context.Context, err error) error {
	if f, is := errors.AsType[*server.Failure](context.Cause(ctx)); is {
		return f
	}
	return err
}

// cause is why ctx ended if it did, else err.
func cause(ctx context.Context, err error) error {
	if why := context.Cause(ctx); why != nil {
		return why
	}
	return err
}

// sleep is until d is over or ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// judgeObjective says how a trial stands to an objective of the file.
func judgeObjective(o experiment.Objective, t *Trial) result.Outcome {
	out := result.Outcome{Expr: o.String()}
	if t.Result == nil {
		return out
	}
	if o.Metric != "cpu" {
		parsed, err := result.ParseObjective(o.String())
		if err != nil {
			return out
		}
		return parsed.Judge(t.Result)
	}
	return out
}
