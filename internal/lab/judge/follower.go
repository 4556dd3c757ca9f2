package judge

import (
	"dyno/internal/lab"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dyno/internal/lab/experiment"
	"dyno/internal/stats"
)

// A Follower reads the folder of an experiment that another process runs. It reads each trial once,
// because a trial is written once, so repeated calls are cheap. Only one goroutine may use it.
type Follower struct {
	dir     string
	trials  map[string]*lab.Trial // by name of the file
	file    *experiment.Experiment
	sha     string // of the file that was read
	written stamp  // of the record that was read
	last    *Progress
}

// A stamp identifies a version of a file.
type stamp struct {
	at   time.Time
	size int64
}

// A Progress is how far an experiment has come.
type Progress struct {
	Record *lab.Record   // computed from the trials so far
	Latest *lab.Trial    // that ended last; nil: none has
	Queue  []lab.Slot    // trials still to run, in order, as far as is known
	Left   time.Duration // their estimated time; 0: unknown, or nothing is left
}

// Follow follows the experiment whose folder is dir.
func Follow(dir string) *Follower {
	return &Follower{dir: dir, trials: map[string]*lab.Trial{}}
}

// ReadProgress returns how far the experiment has come. It returns the same value as before if
// nothing has changed, and never changes a value that it has returned.
func (f *Follower) ReadProgress() (*Progress, error) {
	info, err := os.Stat(filepath.Join(f.dir, lab.RecordFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	more, err2 := f.readTrials()
	if err2 != nil {
		return nil, err2
	}
	if err == nil && !more && f.last != nil && f.written == (stamp{info.ModTime(), info.Size()}) {
		return f.last, nil
	}
	r, err := lab.ReadRecord(f.dir)
	if err != nil {
		return nil, err
	}
	if f.file == nil || f.sha != r.SHA256 {
		if f.file, err = readSource(f.dir, r, nil); err != nil {
			return nil, err
		}
		f.sha = r.SHA256
	}
	r.Experiment = f.file
	f.written, f.last = stamp{info.ModTime(), info.Size()}, f.progressOf(r)
	return f.last, nil
}

// readTrials reads the new trials. They are renamed into place, so each file is complete.
func (f *Follower) readTrials() (more bool, err error) {
	entries, err := os.ReadDir(filepath.Join(f.dir, lab.TrialsFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	for _, e := range entries {
		id, is := strings.CutSuffix(e.Name(), ".json")
		if !is || strings.HasPrefix(id, ".") || f.trials[id] != nil {
			continue
		}
		t, err := lab.ReadTrial(f.dir, id)
		if err != nil {
			return more, err
		}
		t.Meanwhile = nil
		f.trials[id], more = t, true
	}
	return more, nil
}

func (f *Follower) progressOf(r *lab.Record) *Progress {
	trials := make([]*lab.Trial, 0, len(f.trials))
	for _, t := range f.trials {
		trials = append(trials, t)
	}
	slices.SortFunc(trials, func(a, b *lab.Trial) int { return a.Started.Compare(b.Started) })
	p := &Progress{Record: r}
	if len(trials) > 0 {
		p.Latest = trials[len(trials)-1]
	}
	switch r.State {
	case lab.Running:
		Compute(r, trials)
	case lab.Interrupted: // --resume continues with the queue
	default:
		return p
	}
	p.Queue = queuedSlots(r, trials)
	if len(trials) > 0 {
		took := make([]float64, len(trials))
		for i, t := range trials {
			took[i] = t.TookS
		}
		each := stats.Median(took)*float64(time.Second) + float64(r.Experiment.Design.Cooldown)
		p.Left = time.Duration(each) * time.Duration(len(p.Queue))
	}
	return p
}

// queuedSlots are the first attempts that have not been made, in the order of the seed. Rounds that
// depend on results are not among them.
func queuedSlots(r *lab.Record, trials []*lab.Trial) (left []lab.Slot) {
	d := r.Experiment.Design
	had, rounds := map[lab.AttemptKey]bool{}, d.Rounds
	if d.Precision > 0 {
		rounds = max(rounds, experiment.LeastRounds)
	}
	for _, t := range trials {
		had[t.Key(t.Attempt)] = true
		if t.Round < lab.ConfirmingRound {
			rounds = max(rounds, t.Round)
		}
	}
	cells := r.LoadedCells()
	slots := lab.OrderRounds(d.Order, r.Seed, rounds, cells)
	if d.Order == experiment.Sequential {
		slots = lab.OrderSequence(rounds, cells)
	}
	for _, s := range slots {
		if !had[s.Key(1)] {
			left = append(left, s)
		}
	}
	return left
}
