package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"dyno/experiment"
)

// An Intent is what an experiment will do: its plan before anything starts.
type Intent struct {
	Name, Description string
	Arms              []Arm
	Levels            []experiment.Level
	Rounds            int
	Estimate          experiment.Estimate
	Warnings          []experiment.Warning
}

// Intent plans the experiment without starting anything.
func (l *Lab) Intent() Intent {
	e := l.Experiment
	i := Intent{Name: e.Name, Description: e.Description, Levels: e.Levels, Rounds: e.Design.Rounds}
	var here []experiment.Variant
	for _, v := range experiment.Expand(e) {
		a := Arm{Name: v.Name, Description: v.Description, Missing: experiment.Missing(v)}
		i.Arms = append(i.Arms, a)
		if len(a.Missing) == 0 {
			here = append(here, v)
		}
	}
	i.Estimate = e.Time(len(experiment.Cells(e, here)), startTime)
	i.Warnings = experiment.Warnings(e, here)
	return i
}

// startTime is about what it takes to start, check and stop a server.
const startTime = 500 * time.Millisecond

// Open reads the record of an experiment from its folder, and its experiment from
// the file that it was begun with.
func Open(dir string) (*Record, error) {
	r, err := openRecord(dir)
	if err != nil {
		return nil, err
	}
	if r.Experiment, err = source(dir, r); err != nil {
		return nil, err
	}
	if r.State == Running { // it ended without a word, or has not: what is stored counts
		trials, err := store{dir: dir}.trials()
		if err != nil {
			return nil, err
		}
		r.compute(trials)
	}
	return r, nil
}

// openRecord reads the record alone.
func openRecord(dir string) (*Record, error) {
	r := new(Record)
	err := store{dir: dir}.read(experimentFile, ExperimentFormat, r)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s is no experiment's folder: it has no %s", dir, experimentFile)
	}
	return r, err
}

func source(dir string, r *Record) (*experiment.Experiment, error) {
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
