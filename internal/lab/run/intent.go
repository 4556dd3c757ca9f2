package run

import (
	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"os"
	"path/filepath"
	"slices"
	"time"

	"dyno/internal/lab/design"
	"dyno/internal/lab/experiment"
	"dyno/internal/lab/workload"
)

// An Intent is what an experiment will do, planned before anything starts.
type Intent struct {
	Name, Description string
	Arms              []lab.Arm
	Levels            []experiment.Level
	Rounds            int
	Done              int // trials that are already stored
	Estimate          design.Estimate
	Starts            bool // servers, for which there is any time, and nobody knows yet how long
	Warnings          []design.Warning
}

// Intent plans the experiment without starting anything.
func (l *Lab) Intent() Intent {
	e := l.Experiment
	i := Intent{Name: e.Name, Description: e.Description, Levels: e.Levels, Rounds: e.Design.Rounds}
	begun := new(lab.Record)
	if l.Resume {
		begun, _ = lab.ReadRecord(l.Dir) // Run reports why it cannot be read
	}
	var here []experiment.Variant
	for _, v := range experiment.Expand(e) {
		a := lab.Arm{Name: v.Name, Description: v.Description, Missing: l.exclusionReasons(begun, v)}
		i.Arms = append(i.Arms, a)
		old := checkedArm(begun, v.Name)
		if len(a.Missing) == 0 && (old == nil || old.Unfit == "") {
			here = append(here, v)
		}
	}
	i.Estimate = design.Time(e, design.Cells(e, here), startTime+workload.SettlingTime(e),
		func(level experiment.Level) time.Duration { return workload.DrainTime(e, level) })
	i.Starts = e.Design.Budget == 0 && slices.ContainsFunc(here, func(v experiment.Variant) bool {
		return len(v.Processes) > 0
	})
	i.Estimate.Least += sensitivityTime(e)
	i.Estimate.Most += sensitivityTime(e)
	again := time.Duration(repeated * float64(i.Estimate.Most))
	if d := e.Design; d.Budget > 0 { // nothing is repeated after it
		again = min(again, max(time.Duration(d.Budget)-i.Estimate.Most, 0))
	}
	i.Estimate.Most += again
	if i.Done = l.countStored(); i.Done > 0 {
		i.subtractDone()
	} else {
		first := timeBeforeTrials(e, here)
		i.Estimate.Least, i.Estimate.Most = i.Estimate.Least+first, i.Estimate.Most+first
	}
	i.Warnings = design.Warnings(e, here)
	return i
}

// timeBeforeTrials estimates the time of checks and ceilings, before the first trial.
func timeBeforeTrials(e *experiment.Experiment, here []experiment.Variant) time.Duration {
	first := time.Duration(len(ceilingLevels(e, here))) * ceilingTime
	if slices.ContainsFunc(e.Levels, func(l experiment.Level) bool { return l.Share > 0 }) {
		first += time.Duration(len(here)) * (startTime + pilotTime)
	}
	if e.Fairness.Mode != experiment.Off {
		first += time.Duration(len(here)) * checkTime
	}
	return first
}

// repeated is the share of trials that are repeated at most. Each is repeated together with the one
// it is paired with.
const repeated = 2 * judge.RepeatMax

// countStored is how many trials of a resumed experiment are already stored.
func (l *Lab) countStored() int {
	if !l.Resume {
		return 0
	}
	entries, err := os.ReadDir(filepath.Join(l.Dir, lab.TrialsFolder))
	if err != nil {
		return 0 // Run reports it
	}
	return len(entries)
}

// subtractDone subtracts the trials that are already stored.
func (i *Intent) subtractDone() {
	all := max(i.Estimate.Trials, 1)
	left := float64(max(all-i.Done, 0)) / float64(all)
	i.Estimate.Least = time.Duration(left * float64(i.Estimate.Least))
	i.Estimate.Most = time.Duration(left * float64(i.Estimate.Most))
}

// Estimates of the time to start, check and stop a server (measured: 0.1 s on an idle machine, 0.6
// s on a busy one), and to query it before all trials, where its Date must change.
const (
	startTime = 300 * time.Millisecond
	checkTime = 2 * time.Second
)
