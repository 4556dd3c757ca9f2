package design

import (
	"math"
	"slices"
	"time"

	"dyno/internal/fact"
	"dyno/internal/lab/experiment"
)

// An Arm is a variant that takes part in an experiment. An A/A arm is the baseline a second time:
// its difference from the baseline is only noise.
type Arm struct {
	Name     string // the variant's, or that and "(A/A)"
	AA       bool
	Baseline string // name of the arm it is compared with; "" for none
	experiment.Variant
}

// A Cell is an arm at a level. Each round has one trial of every cell.
type Cell struct {
	Arm   Arm
	Level experiment.Level
}

// Arms returns the arms of variants, which are the available ones of e. If the design has A/A, a
// control follows each baseline that some variant is compared with. An experiment without
// comparisons has a control of its first variant.
func Arms(e *experiment.Experiment, variants []experiment.Variant) []Arm {
	compared := map[string]bool{}
	var arms []Arm
	for _, v := range variants {
		arm := Arm{Name: v.Name, Variant: v}
		if b, found := experiment.Baseline(e.Design.Baseline, v, variants); found && b.Name != v.Name {
			arm.Baseline = b.Name
			compared[b.Name] = true
		}
		arms = append(arms, arm)
	}
	if len(compared) == 0 && len(arms) > 0 {
		compared[arms[0].Name] = true
	}
	for i := len(arms) - 1; i >= 0 && e.Design.AA; i-- {
		if name := arms[i].Name; compared[name] {
			control := Arm{Name: name + experiment.ControlMark, AA: true, Baseline: name,
				Variant: arms[i].Variant}
			arms = slices.Insert(arms, i+1, control)
		}
	}
	return arms
}

// Cells returns all cells of e, levels varying fastest.
func Cells(e *experiment.Experiment, variants []experiment.Variant) []Cell {
	var cells []Cell
	for _, arm := range Arms(e, variants) {
		for _, l := range e.Levels {
			cells = append(cells, Cell{arm, l})
		}
	}
	return cells
}

// Comparisons is the number of verdicts of e: variants other than baselines and contrasts of
// factors, for each level and metric. Controls do not count.
func Comparisons(e *experiment.Experiment, variants []experiment.Variant) int {
	names := make([]string, len(variants))
	for i, v := range variants {
		names[i] = v.Name
	}
	compared := len(Contrasts(e, names))
	for _, v := range variants {
		if b, found := experiment.Baseline(e.Design.Baseline, v, variants); found && b.Name != v.Name {
			compared++
		}
	}
	measures := 0
	for _, l := range e.Levels {
		measures += len(MetricsAt(e.Design.Metrics, l))
	}
	return compared * measures
}

// MetricsAt are those of metrics that a level is judged by. One that searches has a capacity and
// nothing else: all other measures would be of another rate for each variant. An open level has no
// throughput if it has a latency: each variant is sent the same rate, and the latency of one that
// cannot keep up shows that it cannot.
func MetricsAt(metrics []experiment.Metric, l experiment.Level) []experiment.Metric {
	if l.IsSearch() {
		return []experiment.Metric{experiment.CapacityOf(l.Axis)}
	}
	sameRate := l.IsOpen() && slices.ContainsFunc(metrics, experiment.Metric.IsLatency)
	return slices.DeleteFunc(slices.Clone(metrics), func(m experiment.Metric) bool {
		return m.IsCapacity() || sameRate && m == experiment.Throughput
	})
}

// An Estimate is the duration of an experiment: Least if every warm-up is as short as possible,
// answers come at once and Rounds suffice, otherwise up to Most. That a gate's second batch may
// follow is in Most.
type Estimate struct {
	Trials      int // of Least
	Least, Most time.Duration
}

// Time estimates the duration of e with these cells. start is the time to start, check and stop a
// server, and drain for how long the answers of a trial are waited for at most.
func Time(e *experiment.Experiment, all []Cell, start time.Duration,
	drain func(experiment.Level) time.Duration) Estimate {
	d := e.Design
	least, most := time.Duration(0), time.Duration(0) // of a round
	for _, c := range all {
		measure := [2]time.Duration{time.Duration(d.Measure), time.Duration(d.Measure)}
		if c.Level.IsSearch() {
			measure = [2]time.Duration{searchLeast * measure[0], searchMost * measure[1]}
			most += (searchProbes - 1) * drain(c.Level)
		}
		rest := start + time.Duration(d.Cooldown)
		least += rest + time.Duration(d.Warmup.Min) + measure[0]
		most += rest + time.Duration(d.Warmup.Max) + measure[1] + drain(c.Level)
	}
	x := Estimate{
		Trials: len(all) * d.Rounds,
		Least:  multiplyTime(least, d.Rounds),
		Most:   multiplyTime(most, max(d.Rounds, d.MaxRounds)),
	}
	if d.Budget > 0 { // the current round is finished
		x.Most = min(x.Most, time.Duration(d.Budget)+most)
		x.Least = min(x.Least, x.Most)
	}
	if e.Gate != nil && e.Gate.Confirm {
		x.Most += multiplyTime(most, max(d.Rounds, d.MaxRounds, experiment.LeastRounds))
	}
	if e.Profile != nil {
		profiled := 0 // controls are not profiled
		for _, c := range all {
			if !c.Arm.AA {
				profiled++
			}
		}
		one := multiplyTime(start+time.Duration(d.Warmup.Min)+time.Duration(e.Profile.CPU), profiled)
		x.Least, x.Most = x.Least+one, x.Most+one
	}
	return x
}

// How long a search takes, in windows: two probes, and the confirmation, which is twice as long,
// each with a fifth of it as warm-up; or eight probes, some of them extended, and two
// confirmations.
const (
	searchLeast  = 5
	searchMost   = 20
	searchProbes = 8 + 2
)

// searchWindow is the shortest window in which a queue above the limit grows enough to be seen.
const searchWindow = 2 * time.Second

// longest is more than anybody waits for.
const longest = 366 * 24 * time.Hour

// multiplyTime is n times d, at most a year.
func multiplyTime(d time.Duration, n int) time.Duration {
	return time.Duration(min(float64(d)*float64(n), float64(longest)))
}

// A Warning is what an experimenter must know of a design before it is run.
type Warning struct {
	About string // the key of the file, as design.rounds
	Args  fact.Args
}

// FewRounds is what must be known of fewer rounds than can show a difference.
func FewRounds(n int) fact.FewRounds {
	return fact.FewRounds{Rounds: n, Least: 200 * math.Pow(2, -float64(n)),
		Needs: experiment.LeastRounds}
}

// Warnings returns the warnings on e with the variants that are available.
func Warnings(e *experiment.Experiment, variants []experiment.Variant) (all []Warning) {
	warn := func(is bool, about string, args fact.Args) {
		if is {
			all = append(all, Warning{about, args})
		}
	}
	d, m := e.Design, Comparisons(e, variants)
	few := d.Rounds < experiment.LeastRounds && d.Precision == 0 && !d.Screen
	warn(few, "design.rounds", FewRounds(d.Rounds))
	warn(d.Order == experiment.Sequential, "design.order", fact.WeakDesign{By: fact.InSequence})
	warn(!d.AA, "design.aa", fact.WeakDesign{By: fact.NoControl})
	warn(d.Isolation == experiment.Shared, "design.isolation",
		fact.WeakDesign{By: fact.NotIsolated})
	warn(slices.ContainsFunc(e.Levels, experiment.Level.IsSearch) &&
		time.Duration(d.Measure) < searchWindow, "design.measure",
		fact.WeakDesign{By: fact.ShortProbes, GivenS: time.Duration(d.Measure).Seconds(),
			NeedsS: searchWindow.Seconds()})
	shared := slices.ContainsFunc(d.CPUs.Generator, func(c int) bool {
		return slices.Contains(d.CPUs.Server, c)
	})
	warn(shared, "design.cpus", fact.WeakDesign{By: fact.CPUShared})
	warn(m == 0, "variants", fact.WeakDesign{By: fact.OnlyOne, Baseline: d.Baseline})
	start, soon := time.Second, func(experiment.Level) time.Duration { return 0 }
	full := Time(e, Cells(e, variants), start, soon)
	unlimited := *e
	unlimited.Design.Budget = 0
	least := Time(&unlimited, Cells(e, variants), start, soon).Least
	warn(d.Budget > 0 && least > full.Least, "design.budget",
		fact.WeakDesign{By: fact.SmallBudget, Rounds: d.Rounds,
			GivenS: time.Duration(d.Budget).Seconds(), NeedsS: least.Round(time.Second).Seconds()})
	return all
}

// WithRounds is e with exactly so many rounds, whatever its file says of rounds, precision and
// budget.
func WithRounds(e *experiment.Experiment, rounds int) *experiment.Experiment {
	q := *e
	q.Design.Rounds, q.Design.MaxRounds, q.Design.Precision, q.Design.Budget = rounds, 0, 0, 0
	return &q
}

// WithRates is e with the rates of levels that were given as shares, by the names of the levels.
func WithRates(e *experiment.Experiment, rates map[string]float64) *experiment.Experiment {
	q := *e
	q.Levels = slices.Clone(e.Levels)
	for i := range q.Levels {
		l := &q.Levels[i]
		if rate, known := rates[l.Name]; known && l.Share > 0 {
			l.Rate, l.Share = experiment.Rate(rate), 0
		}
	}
	return &q
}

// Quick shortens e to a test run: few rounds, few levels, short windows, and without variants that
// take long to build, as design.quick says. It never exceeds what the file asks for otherwise. Its
// intervals are wide.
func Quick(e *experiment.Experiment) *experiment.Experiment {
	q := *e
	d := &q.Design
	shorten := func(t *experiment.Duration, most time.Duration) {
		*t = min(*t, experiment.Duration(most))
	}
	d.Rounds, d.MaxRounds, d.Precision = min(d.Rounds, d.Quick.Rounds), 0, 0
	shorten(&d.Warmup.Min, 500*time.Millisecond)
	shorten(&d.Warmup.Max, 500*time.Millisecond) // too short to become steady, so not longer
	window := time.Duration(d.Quick.Measure)
	if slices.ContainsFunc(e.Levels, experiment.Level.IsSearch) {
		window = max(window, searchWindow)
	}
	shorten(&d.Measure, window)
	shorten(&d.Cooldown, 100*time.Millisecond)
	q.Levels = slices.DeleteFunc(slices.Clone(e.Levels), func(l experiment.Level) bool {
		return !slices.Contains(d.Quick.Levels, l.Name)
	})
	for i := range q.Levels {
		if e.Workload.DataOrder != experiment.Once { // which has as many as there are rows for
			q.Levels[i].Requests = 0 // as many as fit into the window
		}
	}
	q.Variants = slices.Clone(e.Variants)
	for i, v := range q.Variants {
		q.Variants[i].Value.LeftOut = slices.Contains(d.Quick.Without, v.Name)
	}
	if e.Profile != nil {
		p := *e.Profile
		shorten(&p.CPU, 2*time.Second)
		q.Profile = &p
	}
	return &q
}
