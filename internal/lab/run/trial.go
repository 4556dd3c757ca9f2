package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/say"
	"dyno/internal/setting"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/redirect"
	"dyno/internal/fairness"
	"dyno/internal/lab/experiment"
	"dyno/internal/lab/grade"
	"dyno/internal/observe/probe"
	"dyno/internal/observe/profile"
	"dyno/internal/remote"
	"dyno/internal/result"
	"dyno/internal/server"
)

// A Setting is what to start for a trial.
type Setting struct {
	Arm     string
	Variant experiment.Variant
	Level   experiment.Level
	Trial   string // how the names of its output files begin
	Aside   bool   // not an arm's server, and never shared

	Waits func(server.Waiting) // is told of a process that is not ready soon; nil: nobody is
}

// start starts a server, and says what it waits for if that takes long.
func (r *running) start(ctx context.Context, s Setting) (Stand, error) {
	s.Waits = func(w server.Waiting) {
		w.URL, w.Log = r.conceal.said(w.URL), r.conceal.said(w.Log)
		r.Tell(Event{Step: "waiting", Arm: s.Arm, Waiting: w})
	}
	return r.Start(ctx, s)
}

// A Stand is a server that is ready to be loaded.
type Stand interface {
	URL() string
	PProf() string // base URL of Go's profiles; "": none
	Trees() []probe.Tree
	Died() <-chan server.Failure
	Load() result.Runner // nil: use the laboratory's own
	Reach() Reach
	Stop() server.Report
}

// A Reach is how a server is reached for anything but the load.
type Reach struct {
	Ask   Asker          // nil: use the laboratory's own
	Fetch Fetcher        // likewise
	Count remote.Counter // nil: the server has no count
}

// An Asker queries a server: fairness.Ask, here or in another process.
type Asker func(context.Context, fairness.Question) (*fairness.Answer, error)

// A Fetcher fetches a profile from a server: profile.Fetch, here or in another process.
type Fetcher func(ctx context.Context, base string, kind profile.Kind, d time.Duration) (
	*profile.Profile, error)

// askerFor is the Asker for the server of a stand.
func (l *Lab) askerFor(stand Stand) Asker {
	if ask := stand.Reach().Ask; ask != nil {
		return ask
	}
	return l.Ask
}

// runnerFor is the generator for the server of a stand. Each of its loads has random values that no
// other load of the experiment has: keys that a server knows already are refused, or answered at
// once. With the same seed, each has the same values again.
func (r *running) runnerFor(stand Stand) result.Runner {
	run := r.generatorFor(stand)
	return func(ctx context.Context, p loadplan.Plan, each func(loadresult.Interval)) (
		*result.Result, error) {
		if p.Scenario != nil {
			r.loads++
			p.Values = loadplan.SeedOfValues(r.values, r.loads)
		}
		return run(ctx, p, each)
	}
}

// generatorFor is the generator for the server of a stand.
func (l *Lab) generatorFor(stand Stand) result.Runner {
	if run := stand.Load(); run != nil {
		return run
	}
	return l.Load
}

// shortAsk is how many requests the checks around each load send.
const shortAsk = 3

// makeTrial runs one trial from start to stop. It always returns a trial, which contains its
// failure if there is one.
func (r *running) makeTrial(ctx context.Context, s lab.Slot, attempt int) *lab.Trial {
	t := &lab.Trial{Format: lab.TrialFormat, Slot: s, Attempt: attempt, Started: time.Now().UTC()}
	a, l := r.armNamed(s.Arm), r.levelNamed(s.Level)
	stand, err := r.start(ctx, Setting{Arm: a.Name, Variant: a.variant, Level: l,
		Trial: s.FileID(attempt)})
	if err != nil {
		setFailure(t, "start", err)
	} else {
		t.ReadyS = time.Since(t.Started).Seconds()
		r.measureArm(ctx, t, a, l, stand)
		t.Killed = stand.Stop().Killed
	}
	t.TookS = time.Since(t.Started).Seconds()
	for _, o := range r.Experiment.Objectives {
		t.Objectives = append(t.Objectives, o.Judge(t.Result))
	}
	r.conceal.trial(t) // first, because reasons repeat texts of others
	t.Grade, t.Reasons = grade.Of(t)
	return t
}

// measureArm loads a running server, and watches it.
func (r *running) measureArm(ctx context.Context, t *lab.Trial, a *arm, l experiment.Level,
	stand Stand) {
	p, kept, err := r.plans(a, l, stand.URL(), r.record.CPUs.Generator)
	if err != nil {
		setFailure(t, "start", err)
		return
	}
	if a.tune != nil {
		a.tune(&p)
	}
	p.Seed = uint64(r.record.Seed) + uint64(t.Round) // all arms of a round have the same arrivals
	ctx, stop := withServerAlive(ctx, stand)
	defer stop()
	body := r.workload(a).Expect.Body
	before, err := r.verifyAnswer(ctx, p, body, r.askerFor(stand))
	if err != nil {
		setFailure(t, "verify", causeOr(ctx, err))
		return
	}
	own := a.variant.Generator == nil
	// Otherwise the load has other sizes.
	if len(p.Requests) == 1 && !p.HasHoles() && p.Script == nil && !p.Target.TLS && own &&
		!p.Stream.IsSet() {
		t.Wire = before.WireBytes.Mean
	}
	if err := r.warmAndMeasure(ctx, t, l, p, kept, stand); err != nil {
		return
	}
	if r.Experiment.Fairness.Mode != experiment.Off {
		after, err := r.verifyAnswer(ctx, p, body, r.askerFor(stand))
		if err != nil {
			t.Changed = []fairness.Difference{{Aspect: "answer", Before: "there",
				After: r.reason(causeOr(ctx, err))}}
		} else {
			t.Changed = r.changedAspects(before, after)
		}
	}
}

// withServerAlive returns a context that ends when a process of the server does, with that as its
// cause.
func withServerAlive(ctx context.Context, stand Stand) (_ context.Context, stop func()) {
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

// changedAspects is how a server's answer differs after the load, except in what may differ between
// servers.
func (r *running) changedAspects(before, after *fairness.Answer) (all []fairness.Difference) {
	allow := r.Experiment.Fairness.Allow
	if before.Stream != nil { // each is one answer, and the next may be longer
		allow = append(slices.Clone(allow), "events", "tokens")
	}
	t := fairness.Compare("before", []fairness.Asked{{Variant: "before", Answer: before},
		{Variant: "after", Answer: after}}, allow)
	for _, v := range t.Violations() {
		all = append(all, fairness.Difference{Aspect: v.Aspect, Before: v.Reference, After: v.Value})
	}
	return all
}

// warmAndMeasure warms the server up and measures with p. The result stores the plan kept.
func (r *running) warmAndMeasure(ctx context.Context, t *lab.Trial, l experiment.Level,
	p, kept loadplan.Plan, stand Stand) error {
	run := r.runnerFor(stand)
	w, first, err := warmUp(ctx, run, p, r.Experiment.Design.Warmup)
	if err == nil && w != nil {
		err = unusable(first)
	}
	if err = deathOr(ctx, err); err != nil {
		setFailure(t, "warm", err)
		return err
	}
	t.Warmup = w
	settleStreams(&p, first)
	recorded, err := r.Watch(stand.Trees)
	if err != nil {
		setFailure(t, "measure", err)
		return err
	}
	if l.IsSearch() {
		t.Result, err = r.search(ctx, t, l, p, run)
	} else {
		t.Result, err = loadCounted(ctx, t, stand.Reach().Count, p, run)
	}
	t.Meanwhile = recorded()
	err = errors.Join(err, t.Result.RestorePlan(kept, r.Keep)) // a failed load has left texts too
	if err == nil && t.Result != nil {
		err = unusable(t.Result)
	}
	if err = deathOr(ctx, err); err != nil {
		setFailure(t, "measure", err)
		return err
	}
	t.Programs = append(r.hashes.serverPrograms(t.Meanwhile.Trees),
		r.hashes.generatorProgram(t.Result.Generator.Program)...)
	t.Result.Server = t.Result.Watched(t.Meanwhile)
	grade.SetCourse(t)
	return nil
}

// unusable is why a load says nothing of its server: its script failed, or nothing was answered.
func unusable(r *result.Result) error {
	switch {
	case r.Ended == string(loadresult.Faulted):
		return fmt.Errorf("the script failed: %s", r.Cause)
	case r.Requests.Completed == 0:
		return nothingCompleted(r)
	}
	return nil
}

// Watch samples the machine and the trees of processes until the function that it returns is
// called.
func Watch(trees func() []probe.Tree) (recorded func() *probe.Recording, err error) {
	s, err := probe.Start(probe.Config{Trees: trees})
	if err != nil {
		return nil, err
	}
	return s.Stop, nil
}

// verifyAnswer sends the first request of the load a few times, and checks the answer.
func (r *running) verifyAnswer(ctx context.Context, p loadplan.Plan, body experiment.BodyRules,
	ask Asker) (*fairness.Answer, error) {
	q, err := firstQuestion(p)
	if err != nil {
		return nil, err
	}
	q.Times, q.KeepAlive, q.Brief, q.Contains = shortAsk, shortAsk, true, body.Contains()
	a, err := ask(ctx, q)
	if err != nil {
		return nil, err
	}
	r.conceal.answer(a)
	if p.Follow > 0 && redirect.Is(uint16(a.Status)) {
		return a, nil // all that is expected is of the last answer
	}
	encoded := slices.ContainsFunc(a.Header, func(f fairness.Line) bool {
		return strings.EqualFold(f.Name, "Content-Encoding") // under load it is decoded, and checked
	})
	if sum := body.SHA256(); sum != "" && sum != a.BodySHA256 && !encoded {
		return nil, fmt.Errorf("the body has the SHA-256 %s, and %s is expected", a.BodySHA256, sum)
	}
	if a.Lacks > 0 && !encoded {
		return nil, fmt.Errorf("the body does not contain %q; it begins with %q", q.Contains, a.BodyStart)
	}
	first := &p.Requests[0]
	judged := len(p.Expect) > 0 || first.Expect != nil && first.Expect.Status != nil
	expected := func(code int) bool { return first.Expects(&p, uint16(code)) }
	if judged && !slices.ContainsFunc(a.AllStatuses(), expected) {
		return nil, fmt.Errorf("the answer is %d %s, which is not expected", a.Status, a.Reason)
	}
	return a, nil
}

func setFailure(t *lab.Trial, phase string, err error) {
	t.Failure = &lab.Failure{Phase: phase, Reason: say.Error(err, setting.Key)}
	if f, is := errors.AsType[*server.Failure](err); is {
		t.Failure.Process, t.Failure.Reason, t.Failure.Output = f.Process, f.Reason, f.Output
	}
}

// nothingCompleted is the failure of a load that got no answer, or only errors.
func nothingCompleted(r *result.Result) error {
	if r.OnlyErrors() {
		return fmt.Errorf("every answer was an error: status %s",
			strings.Join(result.StatusCodes(r.Status), ", "))
	}
	if len(r.Errors) > 0 {
		return fact.Mended{Mend: r.Errors[0].Remedies, Err: fmt.Errorf("no request completed: %s: %s",
			r.Errors[0].Phase, r.Errors[0].Detail)}
	}
	return errors.New("no request completed")
}

// deathOr is the server's death during the load, if it died, which explains err; otherwise err.
func deathOr(ctx context.Context, err error) error {
	if f, is := errors.AsType[*server.Failure](context.Cause(ctx)); is {
		return f
	}
	return err
}

// causeOr is the cause of ctx's end if it has ended, otherwise err.
func causeOr(ctx context.Context, err error) error {
	if why := context.Cause(ctx); why != nil {
		return why
	}
	return err
}

// sleepFor returns after d, or when ctx ends.
func sleepFor(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
