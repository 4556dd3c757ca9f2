package lab

import (
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

// A Heading is what a list of experiments has of one.
type Heading struct {
	Name    string    `json:"name"`
	State   State     `json:"state"`
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	Quick   bool      `json:"quick,omitempty"`
}

// Head is the record's Heading.
func (r *Record) Head() Heading { return Heading{r.Name, r.State, r.Started, r.Ended, r.Quick} }

// ReadHeading reads no more than the Heading of the experiment whose folder is dir.
func ReadHeading(dir string) (h Heading, err error) {
	err = store{dir: dir}.record(&h)
	return h, err
}

// A Follower looks at the folder of an experiment that another process runs. The
// folder's files are all it knows. Each trial, which is written once, is read once, so
// that looking again is cheap; it is for one goroutine.
type Follower struct {
	dir     string
	trials  map[string]*Trial // by name of the file
	file    *experiment.Experiment
	sha     string // of the file that was read
	written stamp  // of the record that was read
	last    *Progress
}

// A stamp tells a file from what it was before.
type stamp struct {
	at   time.Time
	size int64
}

// A Progress is how far an experiment has come.
type Progress struct {
	Record *Record       // with what the trials so far say
	Latest *Trial        // that ended last; nil: none has
	Queue  []Slot        // trials that are still to run, in their order, as far as can be known
	Left   time.Duration // that they will take, about; 0: unknown, or nothing is left
}

// Follow follows the experiment whose folder is dir.
func Follow(dir string) *Follower {
	return &Follower{dir: dir, trials: map[string]*Trial{}}
}

// Look is how far the experiment has come by now; the same value as before if
// nothing has changed. What it returns is not changed later.
func (f *Follower) Look() (*Progress, error) {
	info, err := os.Stat(filepath.Join(f.dir, experimentFile))
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
	r, err := openRecord(f.dir)
	if err != nil {
		return nil, err
	}
	if f.file == nil || f.sha != r.SHA256 {
		if f.file, err = source(f.dir, r, nil); err != nil {
			return nil, err
		}
		f.sha = r.SHA256
	}
	r.Experiment = f.file
	f.written, f.last = stamp{info.ModTime(), info.Size()}, f.progress(r)
	return f.last, nil
}

// readTrials reads those that are new. Whoever writes them renames them into place,
// so what is there is whole.
func (f *Follower) readTrials() (more bool, err error) {
	entries, err := os.ReadDir(filepath.Join(f.dir, trialsFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	for _, e := range entries {
		id, is := strings.CutSuffix(e.Name(), ".json")
		if !is || strings.HasPrefix(id, ".") || f.trials[id] != nil {
			continue
		}
		t, err := OpenTrial(f.dir, id)
		if err != nil {
			return more, err
		}
		t.Meanwhile = nil
		f.trials[id], more = t, true
	}
	return more, nil
}

func (f *Follower) progress(r *Record) *Progress {
	trials := make([]*Trial, 0, len(f.trials))
	for _, t := range f.trials {
		trials = append(trials, t)
	}
	slices.SortFunc(trials, func(a, b *Trial) int { return a.Started.Compare(b.Started) })
	p := &Progress{Record: r}
	if len(trials) > 0 {
		p.Latest = trials[len(trials)-1]
	}
	switch r.State {
	case Running:
		r.compute(trials)
	case Interrupted: // --resume goes on with the queue
	default:
		return p
	}
	p.Queue = r.queue(trials)
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

// queue are the first attempts that have not been made, in the order that the seed
// says. Rounds that depend on what is measured are not among them.
func (r *Record) queue(trials []*Trial) (left []Slot) {
	d := r.Experiment.Design
	again := &running{Lab: &Lab{Experiment: r.Experiment}, record: r}
	for _, a := range r.Arms {
		again.arms = append(again.arms, &arm{Arm: a})
	}
	had, rounds := map[attempt]bool{}, d.Rounds
	if d.Precision > 0 {
		rounds = max(rounds, minimum)
	}
	for _, t := range trials {
		had[t.attempt(t.Attempt)] = true
		if t.Round < Confirming {
			rounds = max(rounds, t.Round)
		}
	}
	cells := again.cells()
	slots := inRounds(d.Order, r.Seed, rounds, cells)
	if d.Order == experiment.Sequential {
		slots = inSequence(rounds, cells)
	}
	for _, s := range slots {
		if !had[s.attempt(1)] {
			left = append(left, s)
		}
	}
	return left
}
