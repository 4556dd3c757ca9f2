package experiment

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// An Arm is a variant that takes part in an experiment. An A/A arm is the baseline a second time:
// its difference from the baseline is only noise.
type Arm struct {
	Name     string // the variant's, or that and "(A/A)"
	AA       bool
	Baseline string // name of the arm it is compared with; "" for none
	Variant
}

// controlMark is the ending of an A/A arm's name.
const controlMark = " (A/A)"

// A Cell is an arm at a level. Each round has one trial of every cell.
type Cell struct {
	Arm   Arm
	Level Level
}

// Arms returns the arms of variants, which are the available ones of e. If the design has A/A, a
// control follows each baseline that some variant is compared with. An experiment without
// comparisons has a control of its first variant.
func Arms(e *Experiment, variants []Variant) []Arm {
	compared := map[string]bool{}
	var arms []Arm
	for _, v := range variants {
		arm := Arm{Name: v.Name, Variant: v}
		if b, found := Baseline(e.Design.Baseline, v, variants); found && b.Name != v.Name {
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
			control := Arm{Name: name + controlMark, AA: true, Baseline: name, Variant: arms[i].Variant}
			arms = slices.Insert(arms, i+1, control)
		}
	}
	return arms
}

// Cells returns all cells of e, levels varying fastest.
func Cells(e *Experiment, variants []Variant) []Cell {
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
func Comparisons(e *Experiment, variants []Variant) int {
	names := make([]string, len(variants))
	for i, v := range variants {
		names[i] = v.Name
	}
	compared := len(Contrasts(e, names))
	for _, v := range variants {
		if b, found := Baseline(e.Design.Baseline, v, variants); found && b.Name != v.Name {
			compared++
		}
	}
	return compared * len(e.Levels) * len(e.Design.Metrics)
}

// An Estimate is the duration of an experiment: Least if every warm-up is as short as possible and
// Rounds suffice, otherwise up to Most.
type Estimate struct {
	Trials      int // of Least
	Least, Most time.Duration
}

// Time estimates the duration of e with these cells. start is the time to start, check and stop a
// server.
func (e *Experiment) Time(all []Cell, start time.Duration) Estimate {
	d, cells := e.Design, len(all)
	trial := func(warmup Duration) time.Duration {
		return start + time.Duration(warmup) + time.Duration(d.Measure) + time.Duration(d.Cooldown)
	}
	most := max(d.Rounds, d.MaxRounds)
	x := Estimate{
		Trials: cells * d.Rounds,
		Least:  multiplyTime(trial(d.Warmup.Min), cells*d.Rounds),
		Most:   multiplyTime(trial(d.Warmup.Max), cells*most),
	}
	if d.Budget > 0 { // the current round is finished
		x.Most = min(x.Most, time.Duration(d.Budget)+multiplyTime(trial(d.Warmup.Max), cells))
		x.Least = min(x.Least, x.Most)
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

// multiplyTime is n times d, at most a year.
func multiplyTime(d time.Duration, n int) time.Duration {
	return time.Duration(min(float64(d)*float64(n), float64(maxTime)))
}

// A Warning is what an experimenter must know of a design before it is run.
type Warning struct {
	About   string // the key of the file, as design.rounds
	Message string
}

// LeastRounds is the fewest rounds that can show a difference at 5 %, whatever the number of
// comparisons. The signs of six rounds have 2⁶ combinations, of which a clear difference has two.
// With fewer rounds even the widest interval covers less than 95 %.
const LeastRounds = 6

// Warnings returns the warnings on e with the variants that are available.
func Warnings(e *Experiment, variants []Variant) (all []Warning) {
	warn := func(is bool, about, format string, args ...any) {
		if is {
			all = append(all, Warning{about, fmt.Sprintf(format, args...)})
		}
	}
	d, m := e.Design, Comparisons(e, variants)
	few := d.Rounds < LeastRounds && d.Precision == 0 && !d.Screen
	warn(few, "design.rounds", "with %d of them the least p is %.3g %%, which is above 5 %%: "+
		"whatever differs, no verdict can say so; it takes %d",
		d.Rounds, 200*math.Pow(2, -float64(d.Rounds)), LeastRounds)
	warn(d.Order == Sequential, "design.order",
		"sequential: whatever drifts meanwhile looks like a difference of servers; %s does not",
		Interleaved)
	warn(!d.AA, "design.aa",
		"without the A/A arm nothing tells how large a difference this machine makes of none")
	warn(d.Isolation == Shared, "design.isolation",
		"none: a server keeps what an earlier trial left in it, and rounds are not independent")
	shared := slices.ContainsFunc(d.CPUs.Generator, func(c int) bool {
		return slices.Contains(d.CPUs.Server, c)
	})
	warn(shared, "design.cpus",
		"generator and server share a CPU: each is measured together with the other")
	warn(m == 0, "variants", "there is nothing to compare with the baseline, %s", d.Baseline)
	start := time.Second
	full := e.Time(Cells(e, variants), start)
	unlimited := *e
	unlimited.Design.Budget = 0
	least := unlimited.Time(Cells(e, variants), start).Least
	warn(d.Budget > 0 && least > full.Least, "design.budget",
		"%v is not enough for %d rounds, which take %v",
		d.Budget, d.Rounds, least.Round(time.Second))
	return all
}

// WithRounds is e with exactly so many rounds, whatever its file says of rounds, precision and
// budget.
func WithRounds(e *Experiment, rounds int) *Experiment {
	q := *e
	q.Design.Rounds, q.Design.MaxRounds, q.Design.Precision, q.Design.Budget = rounds, 0, 0, 0
	return &q
}

// Quick shortens e to a test run: few rounds, few levels, short windows, and without variants that
// take long to build, as design.quick says. It never exceeds what the file asks for otherwise. Its
// intervals are wide.
func Quick(e *Experiment) *Experiment {
	q := *e
	d := &q.Design
	shorten := func(t *Duration, most time.Duration) { *t = min(*t, Duration(most)) }
	d.Rounds, d.MaxRounds, d.Precision = min(d.Rounds, d.Quick.Rounds), 0, 0
	shorten(&d.Warmup.Min, 500*time.Millisecond)
	shorten(&d.Warmup.Max, 500*time.Millisecond) // too short to become steady, so not longer
	shorten(&d.Measure, time.Duration(d.Quick.Measure))
	shorten(&d.Cooldown, 100*time.Millisecond)
	q.Levels = slices.DeleteFunc(slices.Clone(e.Levels), func(l Level) bool {
		return !slices.Contains(d.Quick.Levels, l.Name)
	})
	for i := range q.Levels {
		if e.Workload.DataOrder != Once { // which has as many as there are rows for
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
