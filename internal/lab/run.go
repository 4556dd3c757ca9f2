package lab

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/fairness"
	"dyno/internal/lab/experiment"
	"dyno/internal/observe/probe"
	"dyno/internal/observe/profile"
	"dyno/internal/result"
	"dyno/internal/server"
)

// A Setting says what to start for a trial.
type Setting struct {
	Arm     string
	Variant experiment.Variant
	Level   experiment.Level
	Trial   string // how the names of its files of output begin
	Aside   bool   // it is not an arm's server, and not shared
}

// A Stand is a server that stands ready to be loaded.
type Stand interface {
	URL() string
	PProf() string // base URL of Go's profiles; "" for none
	Trees() []probe.Tree
	Died() <-chan server.Failure
	Load() Runner // nil: the laboratory's own will do
	Reach() Reach
	Stop() server.Report
}

// A Reach is how a server is spoken to besides its load, from where that can be done.
type Reach struct {
	Ask   Asker   // nil: the laboratory's own will do
	Fetch Fetcher // likewise
	Count Counter // nil: the server tells no count
}

// An Asker is what can ask a server a question: fairness.Ask, or that from another
// place.
type Asker func(context.Context, fairness.Question) (*fairness.Answer, error)

// A Fetcher is what can fetch a profile from a server: profile.Fetch, or that from another
// place.
type Fetcher func(ctx context.Context, base string, kind profile.Kind, d time.Duration) (
	*profile.Profile, error)

// asker is who asks the server of a stand.
func (l *Lab) asker(stand Stand) Asker {
	if ask := stand.Reach().Ask; ask != nil {
		return ask
	}
	return l.Ask
}

// runner is who loads the server of a stand.
func (l *Lab) runner(stand Stand) Runner {
	if run := stand.Load(); run != nil {
		return run
	}
	return l.Load
}

// shortAsk is how many exchanges the checks around each load make.
const shortAsk = 3

// trial is one trial from start to stop. It always returns one: what fails is
// in it.
func (r *running) trial(ctx context.Context, s Slot, attempt int) *Trial {
	t := &Trial{Format: TrialFormat, Slot: s, Attempt: attempt, Started: time.Now().UTC()}
	a, l := r.arm(s.Arm), r.level(s.Level)
	stand, err := r.Start(ctx, Setting{Arm: a.Name, Variant: a.variant, Level: l,
		Trial: s.id(attempt)})
	if err != nil {
		t.fail("start", err)
	} else {
		t.ReadyS = time.Since(t.Started).Seconds()
		r.measure(ctx, t, a, l, stand)
		t.Killed = stand.Stop().Killed
	}
	t.TookS = time.Since(t.Started).Seconds()
	for _, o := range r.Experiment.Objectives {
		t.Objectives = append(t.Objectives, o.Judge(t.Result))
	}
	t.Grade, t.Reasons = grade(t)
	return t
}

// measure loads a server that stands, and watches it.
func (r *running) measure(ctx context.Context, t *Trial, a *arm, l experiment.Level, stand Stand) {
	p, kept, err := r.plans(a, l, stand.URL(), r.record.CPUs.Generator)
	if err != nil {
		t.fail("start", err)
		return
	}
	p.Seed = uint64(r.record.Seed) + uint64(t.Round) // all arms of a round have the same arrivals
	t.kept = kept
	ctx, stop := whileItLives(ctx, stand)
	defer stop()
	body := r.workload(a).Expect.Body
	before, err := r.verify(ctx, p, body, r.asker(stand))
	if err != nil {
		t.fail("verify", cause(ctx, err))
		return
	}
	own := a.variant.Generator == nil
	if len(p.Requests) == 1 && !p.Target.TLS && own { // else the load's bytes are others
		t.Wire = before.WireBytes.Mean
	}
	if err := r.load(ctx, t, p, r.runner(stand), stand); err != nil {
		return
	}
	if r.Experiment.Fairness.Mode != experiment.Off {
		after, err := r.verify(ctx, p, body, r.asker(stand))
		if err != nil {
			t.Changed = []fairness.Difference{{Aspect: "answer", Before: "there",
				After: r.reason(cause(ctx, err))}}
		} else {
			t.Changed = r.changed(before, after)
		}
	}
}

// whileItLives is a context that ends when a process of the server does, with that
// as its cause.
func whileItLives(ctx context.Context, stand Stand) (_ context.Context, stop func()) {
	ctx, end := context.WithCancelCause(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		select {
		case f := <-stand.Died():
			end(&f)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		end(nil)
		<-over
	}
}

// changed is what of a server's answer is another after the load, but for what may
// differ between servers.
func (r *running) changed(before, after *fairness.Answer) (all []fairness.Difference) {
	t := fairness.Compare("before", []fairness.Asked{{Variant: "before", Answer: before},
		{Variant: "after", Answer: after}}, r.Experiment.Fairness.Allow)
	for _, v := range t.Violations() {
		all = append(all, fairness.Difference{Aspect: v.Aspect, Before: v.Reference, After: v.Value})
	}
	return all
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
	t.Result, err = t.counted(ctx, stand.Reach().Count, p, run)
	t.Meanwhile = recorded()
	err = errors.Join(err, t.Result.RestorePlan(t.kept, r.Keep)) // also what a load left that failed
	if err == nil && t.Result.Requests.Completed == 0 {
		err = nothing(t.Result)
	}
	if err = died(ctx, err); err != nil {
		t.fail("measure", err)
		return err
	}
	t.Programs = append(r.hashes.programs(t.Meanwhile.Trees),
		r.hashes.generator(t.Result.Generator.Program)...)
	t.use()
	t.course()
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
func (r *running) verify(ctx context.Context, p load.Plan, body experiment.BodyRule, ask Asker) (
	*fairness.Answer, error) {
	q := questionOf(p, r.Version)
	q.Times, q.KeepAlive, q.Brief, q.Contains = shortAsk, shortAsk, true, body.Contains()
	a, err := ask(ctx, q)
	if err != nil {
		return nil, err
	}
	r.conceal.answer(a)
	if sum := body.SHA256(); sum != "" && sum != a.BodySHA256 {
		return nil, fmt.Errorf("the body has the SHA-256 %s, and %s is expected", a.BodySHA256, sum)
	}
	if a.Lacks > 0 {
		return nil, fmt.Errorf("the body does not contain %q; it begins with %q", q.Contains, a.BodyStart)
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

func (t *Trial) fail(phase string, err error) {
	t.Failure = &Failure{Phase: phase, Reason: err.Error()}
	if f, is := errors.AsType[*server.Failure](err); is {
		t.Failure.Process, t.Failure.Reason, t.Failure.Output = f.Process, f.Reason, f.Output
	}
}

// nothing is the failure of a load that was never answered, or only with errors.
func nothing(r *result.Result) error {
	if r.OnlyErrors() {
		return fmt.Errorf("every answer was an error: %s",
			strings.Join(result.StatusCodes(r.Status), ", "))
	}
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
