package run

import (
	"context"
	"dyno/internal/engine/loadplan"
	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"dyno/internal/engine/data"
	"dyno/internal/fairness"
	"dyno/internal/lab/experiment"
	"dyno/internal/lab/workload"
	"dyno/internal/observe/probe"
	"dyno/internal/redact"
	"dyno/internal/result"
	"dyno/internal/server"
)

// A Lab is an experiment to be run, and what it needs to run.
type Lab struct {
	Experiment *experiment.Experiment
	Quick      bool     // Experiment was made quick: it is only said
	Rounds     int      // likewise, that Experiment was given so many; 0: it has its file's
	Dir        string   // folder of the record and the trials
	Resume     bool     // Dir has trials, which are not repeated
	Source     string   // name of a file in Dir for the experiment's text, to be edited; "": none
	History    string   // folder of the folders of earlier experiments; "": none
	Version    string   // of dyno
	Dyno       string   // path of its executable
	Supervisor []string // its command line as a supervisor
	CPUs       server.Split

	Fleet *lab.Fleet    // makes the load; nil: this machine
	Load  result.Runner // the generator, unless a Stand has one
	Start func(context.Context, Setting) (Stand, error)
	Ask   func(context.Context, fairness.Question) (*fairness.Answer, error)
	Watch func(trees func() []probe.Tree) (recorded func() *probe.Recording, err error)
	Tell  func(Event) // called from one goroutine with progress; nil: not called

	Keep redact.Replacer // replaces secrets; nil: they are stored
}

// An Event is a step of an experiment. Fields that do not apply are zero.
type Event struct {
	Step   string // build, check, waiting, unfit, pilot, ceiling, trial, done or profile
	Arm    string
	Level  string
	Round  int
	Trial  *lab.Trial // of done
	Done   int        // trials
	Of     int        // expected number
	Remark string

	Waiting server.Waiting // of waiting
}

// A running is a Lab in progress.
type running struct {
	*Lab
	folder  lab.Folder
	record  *lab.Record
	arms    []*arm
	tuned   []*arm // that try settings of the generator
	trials  []*lab.Trial
	stored  map[lab.AttemptKey]bool // the stored trials
	hashes  hasher
	source  []byte // of the experiment, as it is stored
	inputs  *workload.Inputs
	conceal concealer
	planned int
	until   time.Time // no round begins later; zero: no limit
	began   time.Time // when this session began
	worked  float64   // seconds in earlier sessions; below 0: unknown

	values, loads uint64 // seed of the session's random values, and how many loads had some
}

// Run runs the experiment and returns the record. If ctx ends early, what was measured is stored,
// and another Run with Resume continues. An error means that nothing could be run, compared or
// stored; ErrNothingLeft ends it before any load, or as soon as failed trials leave no comparison.
func (l *Lab) Run(ctx context.Context) (*lab.Record, error) {
	r, err := l.prepareRun()
	if err != nil {
		return nil, err
	}
	defer r.folder.Unlock()
	err = r.runSteps(ctx)
	stopped := ctx.Err()
	asked := err == nil || errors.Is(err, stopped) || errors.Is(err, context.Cause(ctx))
	if stopped != nil && asked {
		r.record.State, err = lab.Interrupted, nil
	} else if errors.Is(err, ErrNothingLeft) {
		if r.record.State == lab.Running {
			r.record.State = lab.Interrupted // after a remedy it can continue
		}
	} else if err != nil {
		r.record.State = lab.Failed
	}
	return r.record, errors.Join(err, r.storeConclusion())
}

// runSteps runs all steps that start servers.
func (r *running) runSteps(ctx context.Context) error {
	if !r.record.Checked {
		if err := r.prepareVariants(ctx); err != nil {
			return err
		}
		if err := r.chooseRates(ctx); err != nil {
			return err
		}
		r.measureCeilings(ctx)
		r.record.Checked = ctx.Err() == nil
		if err := r.folder.WriteJSON(lab.RecordFile, r.record); err != nil {
			return err
		}
	}
	if err := r.runRounds(ctx); err != nil {
		return err
	}
	if err := r.decideGate(ctx); err != nil {
		return err
	}
	if err := r.checkMeasured(true); err != nil {
		return err
	}
	if err := r.trySettings(ctx); err != nil {
		return err
	}
	r.takeProfiles(ctx)
	return nil
}

// prepareVariants builds and checks the servers. It returns ErrNothingLeft if none can be compared.
func (r *running) prepareVariants(ctx context.Context) error {
	if err := r.checkComparable(); err != nil {
		return err
	}
	r.buildVariants(ctx)
	r.readVersions(ctx)
	if err := r.checkComparable(); err != nil {
		return err
	}
	if r.checkFairness(ctx); ctx.Err() != nil {
		return nil
	}
	return r.checkComparable()
}

// prepareRun creates or opens the folder, and plans the run.
func (l *Lab) prepareRun() (*running, error) {
	if l.Tell == nil {
		l.Tell = func(Event) {}
	}
	r := &running{Lab: l, stored: map[lab.AttemptKey]bool{}, hashes: hasher{},
		folder: lab.Folder{Dir: l.Dir}, began: time.Now()}
	if err := lackingSecrets(l.Experiment); err != nil {
		return nil, err
	}
	most := int64(data.MaxBytes)
	if l.Fleet != nil {
		most = data.MaxFleetBytes
	}
	var err error
	if r.inputs, err = workload.Read(l.Experiment, most); err != nil {
		return nil, err
	}
	if err := r.newRecord(); err != nil {
		return nil, err
	}
	if here := l.Experiment.Here; here != "" { // otherwise each trial would fail without it
		if _, err := os.Stat(here); err != nil {
			return nil, fmt.Errorf("the experiment file's folder has what servers are started with, "+
				"and cannot be read; put it back: %w", err)
		}
	}
	take := r.createFolder
	if l.Resume {
		take = r.resumeFolder
	}
	if err := take(); err != nil {
		return nil, errors.Join(err, r.releaseFolder())
	}
	r.record.Sessions++
	if r.record.Seed == 0 {
		r.record.Seed = rand.Int64N(1<<53-1) + 1
	}
	r.values = loadplan.SeedOfValues(uint64(r.record.Seed), uint64(r.record.Sessions))
	if err := r.findArms(); err != nil { // the user can install what is missing and resume
		r.record.State, r.record.WorkedS = lab.Interrupted, max(r.worked, 0)
		err = fmt.Errorf("%w; then go on with --resume %s", err, l.Dir)
		return nil, errors.Join(err, r.folder.WriteJSON(lab.RecordFile, r.record), r.folder.Unlock())
	}
	if err := r.folder.WriteJSON(lab.RecordFile, r.record); err != nil {
		return nil, errors.Join(err, r.releaseFolder())
	}
	return r, nil
}

// releaseFolder leaves the folder of an experiment that could not begin as it was found, and one
// that could not be gone on with as it is.
func (r *running) releaseFolder() (err error) {
	if !r.Resume && r.folder.IsLocked() {
		err = r.folder.Clear()
	}
	return errors.Join(err, r.folder.Unlock())
}

// createFolder creates the folder, with the files of an experiment that ships with dyno.
func (r *running) createFolder() (err error) {
	if r.folder, err = lab.CreateFolder(r.Dir); err != nil {
		return err
	}
	if err := r.folder.Lock(); err != nil {
		return err
	}
	if r.Experiment.Here == "" {
		here := filepath.Join(r.Dir, lab.FilesFolder)
		if err := experiment.Extract(r.Experiment.File, here); err != nil {
			return err
		}
		placed := *r.Experiment
		placed.Here, r.Experiment = here, &placed
	}
	if r.Source != "" {
		if err := r.folder.WriteFile(r.Source, r.source); err != nil {
			return err
		}
	}
	return r.folder.WriteFile(lab.SourceFile, r.source)
}

// resumeFolder reads what an earlier session stored.
func (r *running) resumeFolder() error {
	if err := r.folder.Lock(); err != nil {
		return err
	}
	old, err := lab.ReadRecord(r.Dir)
	if err != nil {
		return fmt.Errorf("resuming: %w", err)
	}
	if err := resumeConflict(r.record, old); err != nil {
		return fmt.Errorf("resuming %s: %w", r.Dir, err)
	}
	if old.Here == "" { // otherwise each trial would fail without its files
		if err := experiment.Extracted(old.File, filepath.Join(r.Dir, lab.FilesFolder)); err != nil {
			return fmt.Errorf("resuming: %w", err)
		}
	}
	if err := r.checkStillAvailable(old); err != nil {
		return fmt.Errorf("resuming %s: %w", r.Dir, err)
	}
	now := r.record
	r.record = old
	was := *old
	r.record.State, r.record.Plan, r.record.Experiment = lab.Running, now.Plan, now.Experiment
	r.record.Fleet = now.Fleet // the same agents; their bus may have moved
	r.record.Rounds = now.Rounds
	r.setRates(old.Chosen)
	if r.trials, err = r.folder.ReadTrials(); err != nil {
		return fmt.Errorf("resuming: %w", err)
	}
	r.noteLook(&was)
	r.worked, r.record.WorkedS = secondsWorked(&was, len(r.trials)), 0 // until this session ends
	for _, t := range r.trials {
		r.stored[t.Key(t.Attempt)] = true
	}
	return nil
}

// noteLook notes that the verdicts of the rounds so far were seen, if more rounds are to run than
// were planned when the experiment was old. Fewer rounds than a verdict needs have shown none. To
// finish what was planned needs no correction, because nothing was decided by what the trials show.
func (r *running) noteLook(old *lab.Record) {
	done := 0
	for _, t := range r.trials {
		if t.Round < lab.ConfirmingRound {
			done = max(done, t.Round)
		}
	}
	d := r.Experiment.Design
	planned := old.PlannedRounds()
	if old.State == lab.Complete || old.State == lab.OverBudget {
		planned = done
	}
	least := experiment.LeastRounds
	if d.Screen { // which has verdicts without repetitions, too
		least = 1
	}
	added := d.Precision == 0 && d.Rounds > planned && done >= least
	if added && !slices.Contains(r.record.Looks, done) {
		r.record.Looks = append(r.record.Looks, done)
	}
}

// secondsWorked is how many seconds the sessions worked so far; -1 if that is unknown because one
// was killed.
func secondsWorked(old *lab.Record, trials int) float64 {
	if old.State == lab.Running || old.WorkedS == 0 && trials > 0 {
		return -1
	}
	return old.WorkedS
}

// resumeConflict reports why r cannot continue the experiment that was begun as old.
func resumeConflict(r *lab.Record, old *lab.Record) error {
	switch {
	case old.Shown && !r.Shown:
		return errors.New("it was begun with --show-secrets, and its trials have the secrets; give " +
			"--show-secrets again to go on, or begin anew without")
	case r.Shown && !old.Shown:
		return errors.New("it was begun without --show-secrets, and its trials have marks in the place " +
			"of secrets; go on without it, or begin anew")
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

// runRounds runs rounds until there are enough, or the time is used up.
func (r *running) runRounds(ctx context.Context) error {
	d := r.Experiment.Design
	cells := r.record.LoadedCells()
	r.planned = d.Rounds * len(cells)
	if d.Order == experiment.Sequential {
		if err := r.runSequence(ctx, cells); err != nil {
			return err
		}
		return r.repeatSpoiled(ctx, false)
	}
	if d.Budget > 0 {
		r.until = time.Now().Add(time.Duration(d.Budget) - r.timeSpent())
	}
	for round := 1; len(cells) > 0 && !r.enoughRounds(round); round++ {
		if !r.until.IsZero() && time.Now().After(r.until) && !r.roundStarted(round) {
			r.record.State = lab.OverBudget
			break
		}
		r.planned = max(r.planned, round*len(cells))
		if err := r.runRound(ctx, lab.OrderRound(d.Order, r.record.Seed, round, cells)); err != nil {
			return err
		}
	}
	return r.repeatSpoiled(ctx, false)
}

// timeSpent is how much of the time budget earlier sessions used: the time of their trials.
func (r *running) timeSpent() (d time.Duration) {
	for _, t := range r.trials {
		d += time.Duration(t.TookS*float64(time.Second)) + time.Duration(r.Experiment.Design.Cooldown)
	}
	return d
}

// roundStarted reports whether a trial of a round is stored: such a round is finished.
func (r *running) roundStarted(round int) bool {
	return slices.ContainsFunc(r.trials, func(t *lab.Trial) bool { return t.Round == round })
}

// runSequence runs all rounds of a cell before those of the next cell. This is how people measure
// by hand. It exists to show why one should not.
func (r *running) runSequence(ctx context.Context, cells []lab.CellKey) error {
	return r.runRound(ctx, lab.OrderSequence(r.Experiment.Design.Rounds, cells))
}

// enoughRounds reports whether the rounds before this one suffice. Rounds end when the ratios are
// known precisely enough, never when a difference appears: stopping at the first difference finds
// differences that do not exist.
func (r *running) enoughRounds(round int) bool {
	d := r.Experiment.Design
	done := round - 1
	if d.Precision == 0 {
		return done >= d.Rounds
	}
	if done < max(d.Rounds, experiment.LeastRounds) {
		return false
	}
	return done >= d.MaxRounds || judge.IsPrecise(r.record, r.trials)
}

// runRound runs the trials of a round that are not stored yet. The error is ErrNothingLeft if the
// rounds so far show that no comparison is left. A sequential order shows it at its end only:
// before, it has all rounds of one level.
func (r *running) runRound(ctx context.Context, slots []lab.Slot) error {
	stored := len(r.trials)
	for i, s := range slots {
		if err := r.runTrial(ctx, s, 1); err != nil {
			return err
		}
		ends := i == len(slots)-1 || slots[i+1].Round != s.Round
		ends = ends && r.Experiment.Design.Order != experiment.Sequential
		if ends && slices.ContainsFunc(r.trials[stored:], hasTrialFailed) {
			if err := r.checkMeasured(false); err != nil {
				return err
			}
		}
	}
	return nil
}

func hasTrialFailed(t *lab.Trial) bool { return t.Failure != nil }

// repeatSpoiled repeats, once, the trials of a batch whose grade of F was caused by the machine. It
// also repeats the trials that they are paired with, because compared trials must be close in time.
// All attempts are kept. What is repeated depends only on first attempts, so it is the same when
// the experiment is resumed. The trials of a round are not repeated once the budget is used up.
func (r *running) repeatSpoiled(ctx context.Context, second bool) error {
	first := slices.DeleteFunc(r.batch(second), func(t *lab.Trial) bool { return t.Attempt > 1 })
	spoiled := slices.DeleteFunc(slices.Clone(first), func(t *lab.Trial) bool {
		return !t.SpoiledByMachine()
	})
	if float64(len(spoiled)) > judge.RepeatMax*float64(len(first)) {
		return nil
	}
	var slots []lab.Slot
	for _, t := range spoiled {
		for _, other := range first {
			together := other.Round == t.Round && other.Level == t.Level && r.areCompared(other.Arm, t.Arm)
			if together && !slices.Contains(slots, other.Slot) {
				slots = append(slots, other.Slot)
			}
		}
	}
	r.planned = len(first) + len(slots)
	for i, s := range slots {
		begins := i == 0 || s.Round != slots[i-1].Round
		if begins && !r.until.IsZero() && time.Now().After(r.until) {
			r.planned = len(r.trials)
			return nil // what is spoiled stays so, and the report says it
		}
		if err := r.runTrial(ctx, s, 2); err != nil {
			return err
		}
	}
	return nil
}

// areCompared reports whether two arms are the same or are compared with each other.
func (r *running) areCompared(a, b string) bool {
	return a == b || r.armNamed(a).Baseline == b || r.armNamed(b).Baseline == a
}

// runTrial runs and stores a trial, unless it is stored already.
func (r *running) runTrial(ctx context.Context, s lab.Slot, try int) error {
	this := s.Key(try)
	if r.stored[this] { // by an earlier session
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	r.Tell(Event{Step: "trial", Arm: s.Arm, Level: s.Level, Round: s.Round,
		Done: len(r.trials), Of: r.planned})
	t := r.makeTrial(ctx, s, try)
	if err := ctx.Err(); err != nil {
		return err // an interrupted trial does not count
	}
	t.ID = s.FileID(try)
	if err := r.folder.StoreTrial(t); err != nil {
		return err
	}
	t.Meanwhile = nil
	r.stored[this] = true
	r.trials = append(r.trials, t)
	r.Tell(Event{Step: "done", Arm: s.Arm, Level: s.Level, Round: s.Round, Trial: t,
		Done: len(r.trials), Of: max(r.planned, len(r.trials))})
	sleepFor(ctx, time.Duration(r.Experiment.Design.Cooldown))
	return nil
}
