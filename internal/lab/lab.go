// Package lab compares servers. It starts them, proves that they answer alike,
// loads them in random order, round by round, with fresh processes each time,
// watches the machine meanwhile, and says no more than the trials allow.
//
// An experiment's way, each line a step deeper or further, none back:
//
//	Lab.Run                 lab.go       prepare, check, rounds, profiles, judge
//	  arms                  arms.go      variants, what is missing here, the A/A arm
//	  fairness              check.go     each variant asked once, before any load
//	  order → Slots         order.go     a round is all cells, shuffled
//	  trial                 run.go       start → ask → warm → measure ∥ watch → ask → stop
//	    Start → Stand       stage.go     processes of package server, or a URL
//	    warm, plan          warm.go, plan.go
//	    grade               grade.go     A, B or F, with reasons
//	  store.keep            store.go     a file for each trial, written once
//	  judgeAll              judge.go     paired by round: ratio, interval, verdict
//	  Record                record.go    what is stored of it all, and shown
//
// The trial is the statistical unit: requests and seconds of one are not
// independent, and their number says nothing of how well it repeats.
//
// The sources of the design are named where it is done; the method as a whole
// is that of randomised multiple interleaved trials (order.go) judged by
// paired ranks (package stats).
package lab

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"dyno/internal/fairness"
	"dyno/internal/lab/experiment"
	"dyno/internal/observe/probe"
	"dyno/internal/redact"
	"dyno/internal/result"
	"dyno/internal/server"
)

// A Lab is an experiment that is to be run, and what it is run with.
type Lab struct {
	Experiment *experiment.Experiment
	Quick      bool     // Experiment was made quick: it is only said
	Dir        string   // folder of the record and the trials
	Resume     bool     // Dir has trials, which are not run again
	History    string   // folder of the folders of earlier experiments; "": none
	Version    string   // of dyno
	Dyno       string   // path of it
	Supervisor []string // argv of it as the supervisor of what it starts
	CPUs       server.Split

	Fleet *Fleet        // by which Load is made; nil: by this machine
	Load  result.Runner // the generator, where a Stand has none of its own
	Start func(context.Context, Setting) (Stand, error)
	Ask   func(context.Context, fairness.Question) (*fairness.Answer, error)
	Watch func(trees func() []probe.Tree) (recorded func() *probe.Recording, err error)
	Tell  func(Event) // progress, from one goroutine; nil: nobody looks

	Keep redact.Replacer // what stands in the place of secrets; nil: all is kept
}

// An Event is one step of an experiment. What does not belong to it is unset.
type Event struct {
	Step   string // build, check, unfit, ceiling, trial, done or profile
	Arm    string
	Level  string
	Round  int
	Trial  *Trial // of done
	Done   int    // trials
	Of     int    // that there will be, as far as one can know
	Remark string
}

// A running is a Lab at work.
type running struct {
	*Lab
	store   store
	record  *Record
	arms    []*arm
	trials  []*Trial
	had     map[attempt]bool // the trials that are stored
	hashes  hasher
	source  []byte // of the experiment, as it is stored
	conceal concealer
	planned int
	until   time.Time // no round begins after it; zero: any time
	began   time.Time // this session did
	worked  float64   // s, in earlier sessions; below 0: not known
}

// minimum is how many rounds a 95 % interval needs.
const minimum = 6

// Run does what the file says, and returns the record, also when ctx ends
// before it is done: then what was measured is stored, and another Run with
// Resume goes on. An error means that nothing could be run, compared
// (ErrNothingLeft, before any load) or stored.
func (l *Lab) Run(ctx context.Context) (*Record, error) {
	r, err := l.prepare()
	if err != nil {
		return nil, err
	}
	defer r.store.unlock()
	err = r.work(ctx)
	stopped := ctx.Err()
	asked := err == nil || errors.Is(err, stopped) || errors.Is(err, context.Cause(ctx))
	if stopped != nil && asked {
		r.record.State, err = Interrupted, nil
	} else if errors.Is(err, ErrNothingLeft) {
		r.record.State = Interrupted // once the remedies are taken it can go on
	} else if err != nil {
		r.record.State = Failed
	}
	return r.record, errors.Join(err, r.conclude())
}

// work is all that starts servers.
func (r *running) work(ctx context.Context) error {
	if !r.record.Checked {
		if err := r.ready(ctx); err != nil {
			return err
		}
		r.ceilings(ctx)
		r.record.Checked = ctx.Err() == nil
		if err := r.store.write(experimentFile, r.record); err != nil {
			return err
		}
	}
	if err := r.rounds(ctx); err != nil {
		return err
	}
	if err := r.confirm(ctx); err != nil {
		return err
	}
	r.profiles(ctx)
	return nil
}

// ready builds and checks the servers. It is ErrNothingLeft if then none can be compared.
func (r *running) ready(ctx context.Context) error {
	if err := r.left(); err != nil {
		return err
	}
	r.build(ctx)
	r.versions(ctx)
	if err := r.left(); err != nil {
		return err
	}
	if r.check(ctx); ctx.Err() != nil {
		return nil
	}
	return r.left()
}

// prepare makes or opens the folder, and knows what will be run.
func (l *Lab) prepare() (*running, error) {
	if l.Tell == nil {
		l.Tell = func(Event) {}
	}
	r := &running{Lab: l, had: map[attempt]bool{}, hashes: hasher{}, store: store{dir: l.Dir},
		began: time.Now()}
	if err := lackingSecrets(l.Experiment); err != nil {
		return nil, err
	}
	if err := r.newRecord(); err != nil {
		return nil, err
	}
	if here := l.Experiment.Here; here != "" { // else each trial would fail without it
		if _, err := os.Stat(here); err != nil {
			return nil, fmt.Errorf("the experiment file's folder has what servers are started with, "+
				"and cannot be read; put it back: %w", err)
		}
	}
	take := r.begin
	if l.Resume {
		take = r.reopen
	}
	if err := take(); err != nil {
		return nil, errors.Join(err, r.letGo())
	}
	r.record.Sessions++
	if r.record.Seed == 0 {
		r.record.Seed = rand.Int64N(1<<53-1) + 1
	}
	if err := r.findArms(); err != nil { // what is missing can be installed, and this resumed
		r.record.State, r.record.WorkedS = Interrupted, max(r.worked, 0)
		err = fmt.Errorf("%w; then go on with --resume %s", err, l.Dir)
		return nil, errors.Join(err, r.store.write(experimentFile, r.record), r.store.unlock())
	}
	if err := r.store.write(experimentFile, r.record); err != nil {
		return nil, errors.Join(err, r.letGo())
	}
	return r, nil
}

// letGo leaves the folder of an experiment that could not begin as empty as it was found, and one
// that could not be gone on with as it is.
func (r *running) letGo() (err error) {
	if !r.Resume && r.store.lock != nil {
		err = r.store.clear()
	}
	return errors.Join(err, r.store.unlock())
}

// begin makes the folder, with the files of an experiment that ships with dyno.
func (r *running) begin() (err error) {
	if r.store, err = create(r.Dir); err != nil {
		return err
	}
	if err := r.store.claim(); err != nil {
		return err
	}
	if r.Experiment.Here == "" {
		here := filepath.Join(r.Dir, filesFolder)
		if err := experiment.Extract(r.Experiment.File, here); err != nil {
			return err
		}
		placed := *r.Experiment
		placed.Here, r.Experiment = here, &placed
	}
	return r.store.put(sourceFile, r.source)
}

// reopen takes over what an earlier run has stored.
func (r *running) reopen() error {
	if err := r.store.claim(); err != nil {
		return err
	}
	old, err := openRecord(r.Dir)
	if err != nil {
		return fmt.Errorf("resuming: %w", err)
	}
	if err := r.record.continues(old); err != nil {
		return fmt.Errorf("resuming %s: %w", r.Dir, err)
	}
	if old.Here == "" { // each trial would fail without its files, as if the server had
		if err := experiment.Extracted(old.File, filepath.Join(r.Dir, filesFolder)); err != nil {
			return fmt.Errorf("resuming: %w", err)
		}
	}
	if err := r.gone(old); err != nil {
		return fmt.Errorf("resuming %s: %w", r.Dir, err)
	}
	now := r.record
	r.record = old
	was := *old
	r.record.State, r.record.Plan, r.record.Experiment = Running, now.Plan, now.Experiment
	r.record.Fleet = now.Fleet // the same agents; their bus may have moved
	if r.trials, err = r.store.trials(); err != nil {
		return fmt.Errorf("resuming: %w", err)
	}
	r.worked, r.record.WorkedS = workedIn(&was, len(r.trials)), 0 // until this session ends
	for _, t := range r.trials {
		r.had[t.attempt(t.Attempt)] = true
	}
	return nil
}

// workedIn is how many seconds an experiment's sessions worked so far; -1 if that is not known:
// the last of them was killed, or an earlier one.
func workedIn(old *Record, trials int) float64 {
	if old.State == Running || old.WorkedS == 0 && trials > 0 {
		return -1
	}
	return old.WorkedS
}

// continues reports why r cannot go on with what was begun as old.
func (r *Record) continues(old *Record) error {
	switch {
	case old.SHA256 != r.SHA256 || old.Quick != r.Quick:
		return errors.New("its file is not the one that was begun with")
	case old.Dyno != r.Dyno:
		return fmt.Errorf("it was begun by dyno %s, and this is %s", old.Dyno, r.Dyno)
	case old.Host != r.Host || !slices.Equal(old.CPUs.Server, r.CPUs.Server) ||
		!slices.Equal(old.CPUs.Generator, r.CPUs.Generator):
		return errors.New("it was begun on another machine, or with other CPUs")
	case old.Fleet.String() != r.Fleet.String():
		return fmt.Errorf("its loads were made by %v, and now would be by %v", old.Fleet, r.Fleet)
	}
	return nil
}

// rounds runs rounds until there are enough, or no time is left.
func (r *running) rounds(ctx context.Context) error {
	d := r.Experiment.Design
	cells := r.cells()
	r.planned = d.Rounds * len(cells)
	if d.Order == experiment.Sequential {
		if err := r.sequence(ctx, cells); err != nil {
			return err
		}
		return r.again(ctx, false)
	}
	if d.Budget > 0 {
		r.until = time.Now().Add(time.Duration(d.Budget) - r.spent())
	}
	for round := 1; len(cells) > 0 && !r.enough(round); round++ {
		if !r.until.IsZero() && time.Now().After(r.until) && !r.begun(round) {
			r.record.State = OverBudget
			break
		}
		r.planned = max(r.planned, round*len(cells))
		if err := r.round(ctx, order(d.Order, r.record.Seed, round, cells)); err != nil {
			return err
		}
	}
	return r.again(ctx, false)
}

// spent is how much of the budget earlier runs have used: what their trials took.
func (r *running) spent() (d time.Duration) {
	for _, t := range r.trials {
		d += time.Duration(t.TookS*float64(time.Second)) + time.Duration(r.Experiment.Design.Cooldown)
	}
	return d
}

// begun reports whether a trial of a round is stored: then the round is ended.
func (r *running) begun(round int) bool {
	return slices.ContainsFunc(r.trials, func(t *Trial) bool { return t.Round == round })
}

// sequence runs all rounds of a cell before the next cell's, as one does by hand
// and should not: it is there to show what comes of it.
func (r *running) sequence(ctx context.Context, cells []cell) error {
	return r.round(ctx, inSequence(r.Experiment.Design.Rounds, cells))
}

// enough reports whether the rounds before this one are. They end when the
// ratios are known well enough, never when a difference shows: who stops at the
// first difference finds one where there is none.
func (r *running) enough(round int) bool {
	d := r.Experiment.Design
	done := round - 1
	if d.Precision == 0 {
		return done >= d.Rounds
	}
	if done < max(d.Rounds, minimum) {
		return false
	}
	return done >= d.MaxRounds || r.record.question().narrow(r.batch(false), float64(d.Precision))
}

// round runs the trials of a round that are not stored yet.
func (r *running) round(ctx context.Context, slots []Slot) error {
	for _, s := range slots {
		if err := r.once(ctx, s, 1); err != nil {
			return err
		}
	}
	return nil
}

// mostAgain is the share of trials above which repeating those that the machine
// spoiled is no use: it is not going to be better.
const mostAgain = 0.25

// again repeats, once, the trials of a batch whose grade of F lay in the machine,
// and those that they are paired with: what is compared must be close in time.
// All attempts are kept. What is repeated depends on the first attempts alone, so
// that it is the same when the experiment is resumed.
func (r *running) again(ctx context.Context, second bool) error {
	first := slices.DeleteFunc(r.batch(second), func(t *Trial) bool { return t.Attempt > 1 })
	spoiled := slices.DeleteFunc(slices.Clone(first), func(t *Trial) bool { return !t.mayPass() })
	if float64(len(spoiled)) > mostAgain*float64(len(first)) {
		return nil
	}
	var slots []Slot
	for _, t := range spoiled {
		for _, other := range first {
			together := other.Round == t.Round && other.Level == t.Level && r.paired(other.Arm, t.Arm)
			if together && !slices.Contains(slots, other.Slot) {
				slots = append(slots, other.Slot)
			}
		}
	}
	r.planned = len(first) + len(slots)
	for _, s := range slots {
		if err := r.once(ctx, s, 2); err != nil {
			return err
		}
	}
	return nil
}

// paired reports whether two arms are one, or compared with one another.
func (r *running) paired(a, b string) bool {
	return a == b || r.arm(a).Baseline == b || r.arm(b).Baseline == a
}

// mayPass reports whether all that makes a trial an F lies in the machine.
func (t *Trial) mayPass() bool {
	return t.Grade == GradeF && !slices.ContainsFunc(t.Reasons, func(why Reason) bool {
		return why.Grade == GradeF && !why.Passing
	})
}

// once runs and stores a trial, unless it is stored already.
func (r *running) once(ctx context.Context, s Slot, try int) error {
	this := s.attempt(try)
	if r.had[this] { // by an earlier run
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	r.Tell(Event{Step: "trial", Arm: s.Arm, Level: s.Level, Round: s.Round,
		Done: len(r.trials), Of: r.planned})
	t := r.trial(ctx, s, try)
	if err := ctx.Err(); err != nil {
		return err // a trial that was cut short is none
	}
	t.ID = s.id(try)
	r.conceal.trial(t)
	if err := r.store.keep(t); err != nil {
		return err
	}
	t.Meanwhile = nil
	r.had[this] = true
	r.trials = append(r.trials, t)
	r.Tell(Event{Step: "done", Arm: s.Arm, Level: s.Level, Round: s.Round, Trial: t,
		Done: len(r.trials), Of: max(r.planned, len(r.trials))})
	sleep(ctx, time.Duration(r.Experiment.Design.Cooldown))
	return nil
}
