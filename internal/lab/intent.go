package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"dyno/internal/lab/experiment"
)

// An Intent is what an experiment will do: its plan before anything starts.
type Intent struct {
	Name, Description string
	Arms              []Arm
	Levels            []experiment.Level
	Rounds            int
	Done              int // trials that are stored, of an experiment that goes on
	Estimate          experiment.Estimate
	Warnings          []experiment.Warning
}

// Intent plans the experiment without starting anything.
func (l *Lab) Intent() Intent {
	e := l.Experiment
	i := Intent{Name: e.Name, Description: e.Description, Levels: e.Levels, Rounds: e.Design.Rounds}
	begun := new(Record)
	if l.Resume {
		begun, _ = openRecord(l.Dir) // Run will say if it cannot be read
	}
	var here []experiment.Variant
	for _, v := range experiment.Expand(e) {
		a := Arm{Name: v.Name, Description: v.Description, Missing: l.absent(begun, v)}
		i.Arms = append(i.Arms, a)
		old := begun.checked(v.Name)
		if len(a.Missing) == 0 && (old == nil || old.Unfit == "") {
			here = append(here, v)
		}
	}
	i.Estimate = e.Time(experiment.Cells(e, here), startTime+settling(e))
	i.Estimate.Most += time.Duration(repeated * float64(i.Estimate.Most))
	if i.Done = l.stored(); i.Done > 0 {
		i.goOn()
	} else {
		first := before(e, here)
		i.Estimate.Least, i.Estimate.Most = i.Estimate.Least+first, i.Estimate.Most+first
	}
	i.Warnings = experiment.Warnings(e, here)
	return i
}

// before is about what checks and ceilings take, before the first trial.
func before(e *experiment.Experiment, here []experiment.Variant) time.Duration {
	first := time.Duration(len(yardsticks(e, here))) * ceilingTime
	if e.Fairness.Mode != experiment.Off {
		first += time.Duration(len(here)) * checkTime
	}
	return first
}

// repeated is the share of trials that are run again at most, of which each is repeated with what
// it is paired with: another at least.
const repeated = 2 * mostAgain

// stored is how many trials of an experiment that goes on need not be run again.
func (l *Lab) stored() int {
	if !l.Resume {
		return 0
	}
	entries, err := os.ReadDir(filepath.Join(l.Dir, trialsFolder))
	if err != nil {
		return 0 // Run will say so
	}
	return len(entries)
}

// goOn takes off what is done.
func (i *Intent) goOn() {
	all := max(i.Estimate.Trials, 1)
	left := float64(max(all-i.Done, 0)) / float64(all)
	i.Estimate.Least = time.Duration(left * float64(i.Estimate.Least))
	i.Estimate.Most = time.Duration(left * float64(i.Estimate.Most))
}

// About what it takes to start, check and stop a server (measured: 0.1 s on a quiet machine, 0.6
// on a busy one), and to ask it before all trials, when its Date must have changed.
const (
	startTime = 300 * time.Millisecond
	checkTime = 2 * time.Second
)

// Open reads the record of an experiment from its folder, and its experiment from
// the file that it was begun with.
func Open(dir string) (*Record, error) { return Reopen(dir, nil) }

// A Filler gives an experiment back the secrets that it was stored without.
type Filler func(*experiment.Experiment) (*experiment.Experiment, error)

// Reopen is Open of an experiment that is to be run, whose secrets fill gives back.
func Reopen(dir string, fill Filler) (*Record, error) {
	r, err := openRecord(dir)
	if err != nil {
		return nil, err
	}
	if r.Experiment, err = source(dir, r, fill); err != nil {
		return nil, err
	}
	if r.State == Running { // it ended without a word, or has not: what is stored counts
		trials, err := store{dir: dir}.trials()
		if err != nil {
			return nil, err
		}
		r.compute(trials)
	}
	for _, why := range r.lost() { // of which an earlier version did not know
		if !slices.Contains(r.Cautions, why) {
			r.Cautions = append(r.Cautions, why)
		}
	}
	return r, nil
}

// openRecord reads the record alone.
func openRecord(dir string) (*Record, error) {
	r := &Record{Dir: dir}
	err := store{dir: dir}.record(r)
	r.decimal()
	return r, err
}

func source(dir string, r *Record, fill Filler) (*experiment.Experiment, error) {
	f, err := os.Open(filepath.Join(dir, sourceFile))
	if err != nil {
		return nil, fmt.Errorf("reading what was begun: %w", err)
	}
	defer f.Close()
	name := r.File
	if r.Here != "" { // what lies beside the file is looked for from anywhere
		name = filepath.Join(r.Here, filepath.Base(r.File))
	}
	e, err := experiment.Read(name, f)
	if err == nil && fill != nil {
		e, err = fill(e)
	}
	if err != nil {
		return nil, err
	}
	e.Here, e.Design.Seed = r.Here, r.Seed
	if e.Here == "" { // it ships inside dyno, and was extracted
		if e.Here, err = filepath.Abs(filepath.Join(dir, filesFolder)); err != nil {
			return nil, err
		}
	}
	if r.Quick {
		e = experiment.Quick(e)
	}
	return e, nil
}

// Missed names an objective that an arm did not meet in every trial; "" if there
// is none.
func (r *Record) Missed() string {
	for _, o := range r.Objectives {
		if o.Met < o.Trials {
			return fmt.Sprintf("%s of %s at %s: met in %d of %d trials", o.Expr, o.Arm, o.Level, o.Met,
				o.Trials)
		}
	}
	return ""
}

// Measured reports whether any trial measured anything.
func (r *Record) Measured() bool {
	for _, t := range r.Trials {
		if t.Failure == nil {
			return true
		}
	}
	return false
}
