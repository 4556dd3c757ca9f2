package judge

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/lab/design"
	"dyno/internal/lab/experiment"
)

// Open reads the record of an experiment from its folder, and the experiment from its stored file.
func Open(dir string) (*lab.Record, error) { return Reopen(dir, nil) }

// A Filler puts the secrets back that an experiment was stored without.
type Filler func(*experiment.Experiment) (*experiment.Experiment, error)

// Reopen is Open for an experiment that is to be run; fill puts its secrets back.
func Reopen(dir string, fill Filler) (*lab.Record, error) {
	r, err := lab.ReadRecord(dir)
	if err != nil {
		return nil, err
	}
	if r.Experiment, err = readSource(dir, r, fill); err != nil {
		return nil, err
	}
	if r.State == lab.Running { // it was killed, or still runs: only what is stored counts
		trials, err := lab.Folder{Dir: dir}.ReadTrials()
		if err != nil {
			return nil, err
		}
		Compute(r, trials)
	}
	if all := withLosses(r); !reflect.DeepEqual(all, r.Facts) {
		setFacts(r, all)
	}
	return r, nil
}

// withLosses are a record's facts with those of variants that failed and of trials that were lost,
// which an earlier version had not, or otherwise. Where that has told texts alone, these stay as
// they are.
func withLosses(r *lab.Record) []fact.Fact {
	all := slices.Clone(r.Facts)
	if _, _, told := fact.Find[fact.Told](all); told {
		return all
	}
	for _, f := range append(failureCautions(r), lossCautions(r)...) { // each is the one of its kind
		at := slices.IndexFunc(all, func(had fact.Fact) bool { return had.Kind() == f.Kind() })
		if at < 0 {
			all = append(all, f)
			continue
		}
		all[at] = f
	}
	return all
}

func readSource(dir string, r *lab.Record, fill Filler) (*experiment.Experiment, error) {
	f, err := os.Open(filepath.Join(dir, lab.SourceFile))
	if err != nil {
		return nil, fmt.Errorf("reading what was begun: %w", err)
	}
	defer f.Close()
	name := r.File
	if r.Here != "" { // paths in the file are relative to its folder
		name = filepath.Join(r.Here, filepath.Base(r.File))
	}
	e, err := experiment.ReadBegun(name, f)
	if err == nil && fill != nil { // it is to be run
		if err = lab.CheckSource(e.Source, r.Definition); err != nil {
			return nil, fmt.Errorf("%s: %w; to run it as it is now: dyno lab run %s", dir, err, f.Name())
		}
		e, err = fill(e)
	}
	if err != nil {
		return nil, err
	}
	e.Here, e.Design.Seed = r.Here, r.Seed
	if e.Here == "" { // it ships inside dyno, and was extracted
		if e.Here, err = filepath.Abs(filepath.Join(dir, lab.FilesFolder)); err != nil {
			return nil, err
		}
	}
	if r.Quick {
		e = design.Quick(e)
	}
	if r.Rounds > 0 {
		e = design.WithRounds(e, r.Rounds)
	}
	if r.Chosen != nil {
		e = design.WithRates(e, r.Chosen.Rates)
	}
	return e, nil
}
