package judge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/lab/grade"
	"dyno/internal/result"
	"dyno/internal/stats"
)

// UnpairedFormat is the format of a stored comparison.
const UnpairedFormat = "dyno.comparison/1"

// An Unpaired is a comparison of runs that were not measured in pairs: stored results, or two
// experiments. It includes whatever drifted between them. A Record's verdicts do not. It may be of
// arms of one experiment, too, whose rounds are pairs: see AreInRounds.
type Unpaired struct {
	Format   string           `json:"format"`
	Dyno     string           `json:"dyno"`   // version that compared
	Groups   []Group          `json:"groups"` // all are compared with the first
	Margin   float64          `json:"margin"` // share that a difference has to reach to matter
	Verdicts []lab.Comparison `json:"verdicts"`
	Cells    []lab.Cell       `json:"cells"`
	Gate     *lab.GateOutcome `json:"gate,omitempty"`
	Cautions []string         `json:"cautions"`
	Facts    []fact.Fact      `json:"facts,omitempty"` // of the cautions

	gaps  []fact.Fact // requested comparisons that could not be made
	asked []*asked    // comparisons that Verdicts contains
}

// A Group is runs that belong together: repeated runs of one thing, or the trials of an experiment.
type Group struct {
	Name    string   `json:"name"`
	Samples []Sample `json:"samples"` // of an experiment by level, then arm

	Record *lab.Record `json:"-"` // the experiment's; nil of stored results
	cells  byCell
}

// A Sample is runs of one thing under one load.
type Sample struct {
	Name  string `json:"name"` // as verdicts name it
	Arm   string `json:"arm,omitempty"`
	Level string `json:"level,omitempty"`
	Runs  []Run  `json:"runs"`

	Trials []*lab.Trial `json:"-"`
	named  bool         // the arm was named: it is compared with arms of other names too
}

// A Run is one run of a sample.
type Run struct {
	ID      string             `json:"id,omitempty"`
	Started time.Time          `json:"started"`
	Grade   lab.Grade          `json:"grade"`
	Reasons []lab.Reason       `json:"reasons,omitempty"`
	Values  map[string]float64 `json:"values,omitempty"` // by measure
	Over    []string           `json:"over,omitempty"`   // Values that are only known to be higher

	// Routes are the values of streams and of goodput by route, then by measure (lab.RouteMeasures).
	Routes  map[string]map[string]float64 `json:"routes,omitempty"`
	Failure *lab.Failure                  `json:"failure,omitempty"`
}

// GroupResults makes a group of stored results of one thing. Each becomes a trial that has only its
// result.
func GroupResults(name string, rs []*result.Result) Group {
	var trials []*lab.Trial
	for _, r := range rs {
		t := &lab.Trial{ID: r.ID, Started: r.Window.Started, Result: r}
		t.Grade, t.Reasons = grade.Of(t)
		trials = append(trials, t)
	}
	s := Sample{Name: name}
	s.setTrials(trials)
	return Group{Name: name, Samples: []Sample{s}}
}

// ReadGroup reads the trials of the experiment in dir: of all arms except controls, or of the named
// arm. It leaves out the second batch of a gate, which was run because of what the first showed.
func ReadGroup(name, dir, arm string) (Group, error) {
	record, err := lab.ReadRecord(dir) // the experiment's file may refer to another machine
	if err != nil {
		return Group{}, err
	}
	trials, err := lab.Folder{Dir: dir}.ReadTrials()
	if err != nil {
		return Group{}, err
	}
	g := Group{Name: name, Record: record, cells: groupTrials(SelectBatch(trials, false))}
	for _, level := range g.measuredLevels() {
		for _, a := range record.Arms {
			if a.Name == arm || arm == "" && !a.Control {
				g.addSample(a.Name, level, arm != "")
			}
		}
	}
	if len(g.Samples) == 0 && arm != "" {
		return g, fmt.Errorf("%s has no trial of %q; it has those of %s", dir, arm, g.armNames())
	}
	if len(g.Samples) == 0 {
		return g, fmt.Errorf("%s has no trial: the experiment was not run", dir)
	}
	return g, nil
}

// measuredLevels are the levels that were measured, in the order of the record, or by name if the
// experiment did not finish.
func (g Group) measuredLevels() (all []string) {
	for _, c := range g.Record.Cells {
		if !slices.Contains(all, c.Level) {
			all = append(all, c.Level)
		}
	}
	var others []string
	for at := range g.cells {
		if !slices.Contains(all, at.Level) && !slices.Contains(others, at.Level) {
			others = append(others, at.Level)
		}
	}
	slices.Sort(others)
	return append(all, others...)
}

// addSample adds a sample of an arm's trials at a level, if there are any.
func (g *Group) addSample(arm, level string, named bool) {
	s := Sample{Name: g.Name + ":" + arm, Arm: arm, Level: level, named: named}
	if named {
		s.Name = g.Name
	}
	var trials []*lab.Trial
	for _, round := range g.cells.roundNumbers() {
		if t := g.cells.bestTrial(arm, level, round); t != nil {
			trials = append(trials, t)
		}
	}
	if len(trials) > 0 {
		s.setTrials(trials)
		g.Samples = append(g.Samples, s)
	}
}

func (s *Sample) setTrials(trials []*lab.Trial) {
	s.Trials = trials
	for _, t := range trials {
		b := t.Summary()
		s.Runs = append(s.Runs, Run{b.ID, b.Started, b.Grade, b.Reasons, b.Values, b.Over,
			lab.RouteValues(t.Result), b.Failure})
	}
}

// armNames names all arms that have trials.
func (g Group) armNames() string {
	var all []string
	for at := range g.cells {
		all = append(all, at.Arm)
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}

// allTrials are all trials of the group.
func (g Group) allTrials() (all []*lab.Trial) {
	for _, s := range g.Samples {
		all = append(all, s.Trials...)
	}
	return all
}

// Results are the results of all runs of the group.
func (g Group) Results() (all []*result.Result) {
	for _, t := range g.allTrials() {
		if t.Result != nil {
			all = append(all, t.Result)
		}
	}
	return all
}

// counterpart returns the sample of g that s is compared with.
func (g Group) counterpart(s Sample) (Sample, bool) {
	i := slices.IndexFunc(g.Samples, func(o Sample) bool {
		return o.Level == s.Level && o.named == s.named && (o.named || o.Arm == s.Arm)
	})
	if i < 0 {
		return Sample{}, false
	}
	return g.Samples[i], true
}

// CompareGroups compares groups with the first of them, by measures; without any, by the most
// important ones. margin is the share that a difference has to reach to matter. It is an error if
// nothing can be compared.
func CompareGroups(groups []Group, by []lab.Measure, margin float64) (*Unpaired, error) {
	if n := len(groups); n < 2 || n > MostGroups {
		return nil, fmt.Errorf("comparing needs 2 to %d results, and %d are given", MostGroups, n)
	}
	u := &Unpaired{Format: UnpairedFormat, Dyno: loadplan.Version, Groups: groups, Margin: margin,
		Verdicts: []lab.Comparison{}, Cells: []lab.Cell{}, Cautions: []string{}}
	if len(by) == 0 {
		by = usualMeasures(groups)
	}
	check := u.checkComparable
	if u.IsSingle() {
		check = u.checkDistinct
	}
	if err := check(); err != nil {
		return nil, err
	}
	for _, s := range groups[0].Samples {
		for _, m := range by {
			u.compareSample(s, m)
		}
	}
	if err := u.judgeAsked(); err != nil {
		return nil, err
	}
	u.Facts = u.cautions()
	u.Cautions = append(u.Cautions, Cautions(u.Facts)...)
	return u, nil
}

// usualMeasures are the measures that are compared by default. Few stored results have the server's
// CPU time, a scenario or streams.
func usualMeasures(groups []Group) (all []lab.Measure) {
	always := []string{"throughput", "p50", "p99"}
	for _, name := range []string{"throughput", "cpu", "p50", "p99", "iterations", "iteration_p50",
		"iteration_p99", "checks", "first_event_p50", "first_event_p99", "gap_p99", "events", "tokens",
		"goodput"} {
		m, _ := lab.MeasureNamed(name)
		known := func(g Group) bool { return slices.ContainsFunc(g.allTrials(), m.Has) }
		if slices.Contains(always, name) || slices.ContainsFunc(groups, known) {
			all = append(all, m)
		}
	}
	return all
}

// IsSingle reports whether each group has only one result, so that nothing can be judged.
func (u *Unpaired) IsSingle() bool {
	return !slices.ContainsFunc(u.Groups, func(g Group) bool {
		return g.Record != nil || len(g.allTrials()) != 1
	})
}

// compareSample compares a sample of the first group with its counterparts by one measure. Controls
// come first. Their noise is the least that the others have, because controls were measured in
// pairs.
func (u *Unpaired) compareSample(base Sample, m lab.Measure) {
	floor := u.addControl(0, base, m)
	u.addCell(base, m)
	var found []*asked
	for i, g := range u.Groups[1:] {
		other, ok := g.counterpart(base)
		if !ok {
			continue // checkComparable reported it
		}
		u.addCell(other, m)
		noise := max(floor, u.addControl(i+1, other, m))
		a, err := u.ask(i+1, base, other, m, stats.Margin{Practical: u.Margin, Floor: noise})
		if err != nil {
			u.gaps = append(u.gaps, warn(fact.MetricLacking{Metric: m.Name, Runs: countHaving(other, m),
				Against: u.sampleScope(base), AgainstRuns: countHaving(base, m), InRounds: u.AreInRounds(),
				Needs: valuesNeeded(m, base, other)}, u.sampleScope(other)))
			continue
		}
		found = append(found, a)
	}
	u.asked = append(u.asked, found...)
}

// valuesNeeded is how many values a run needs for the percentile that a measure is, if a run of
// these samples has fewer; 0 if none has.
func valuesNeeded(m lab.Measure, all ...Sample) int64 {
	tail, is := lab.TailOf(m.Name)
	for _, s := range all {
		if is && slices.ContainsFunc(s.Trials, func(t *lab.Trial) bool {
			n := tail.Count(t)
			return n > 0 && n < tail.Least()
		}) {
			return tail.Least()
		}
	}
	return 0
}

func countHaving(s Sample, m lab.Measure) (n int) {
	for _, t := range s.Trials {
		if m.Has(t) {
			n++
		}
	}
	return n
}

// addControl adds the comparison of a sample's control, if its experiment has one, and returns the
// noise that it shows.
func (u *Unpaired) addControl(group int, s Sample, m lab.Measure) (floor float64) {
	g := u.Groups[group]
	p := pairArms(g.cells, m, s.Level, s.Arm, s.Arm+lab.ControlMark)
	if len(p.logs) == 0 {
		return 0
	}
	p.margin = stats.Margin{Practical: u.Margin}
	p.Control, p.Baseline, p.Variant = true, s.Name, s.Name+lab.ControlMark
	u.asked = append(u.asked, &asked{paired: p, group: group})
	if len(p.logs) >= experiment.LeastRounds {
		floor, _ = stats.NoiseFloor(p.logs)
	}
	return floor
}

// An asked is a comparison that waits to be judged together with all others.
type asked struct {
	*paired           // of a control, or of arms of one experiment
	x, y    []float64 // of the variant and the baseline, of anything else
	group   int       // of a control
}

// ask prepares the comparison of b, of that group, with a, of the first one. It is an error if they
// cannot be compared.
func (u *Unpaired) ask(group int, a, b Sample, m lab.Measure, margin stats.Margin) (*asked, error) {
	if u.AreInRounds() {
		return u.askInRounds(group, a, b, m, margin)
	}
	return askUnpaired(a, b, m, margin)
}

// askUnpaired prepares the comparison of b with a. It is an error if they cannot be compared.
func askUnpaired(a, b Sample, m lab.Measure, margin stats.Margin) (*asked, error) {
	c := lab.Comparison{Metric: m.Name, Level: a.Level, Baseline: a.Name, Variant: b.Name,
		Better: m.Better}
	y, x := sampleValues(&c, a, m), sampleValues(&c, b, m)
	j, err := stats.JudgeUnpaired(x, y, margin)
	if err != nil {
		return nil, err
	}
	c.Trials, c.Against, c.Alone = len(x), len(y), j.Ratio
	c.Bound = lab.BoundOf(slices.ContainsFunc(b.Trials, m.IsOver),
		slices.ContainsFunc(a.Trials, m.IsOver))
	return &asked{paired: &paired{Comparison: c, margin: margin}, x: x, y: y}, nil
}

// judgeAsked judges all prepared comparisons.
func (u *Unpaired) judgeAsked() (err error) {
	if u.AreInRounds() {
		u.judgeInRounds()
	} else {
		err = u.judgeApart()
	}
	for _, a := range u.asked {
		u.Verdicts = append(u.Verdicts, a.Comparison)
	}
	return err
}

// judgeApart judges comparisons of what was measured apart. Controls are pairs of their own
// experiment's rounds. Nothing else has rounds that it shares with what it is compared with, so
// those are corrected by Holm's method.
func (u *Unpaired) judgeApart() error {
	controls := make([][]*paired, len(u.Groups))
	var apart []*asked
	var x, y [][]float64
	var margins []stats.Margin
	for _, a := range u.asked {
		if a.Control {
			controls[a.group] = append(controls[a.group], a.paired)
			continue
		}
		apart = append(apart, a)
		x, y, margins = append(x, a.x), append(y, a.y), append(margins, a.margin)
	}
	for _, family := range controls {
		judgeTogether(family, 1)
	}
	all, err := stats.JudgeApart(x, y, margins)
	if err != nil {
		return err
	}
	alone := make([]float64, len(all))
	for i, j := range all {
		applyJudgement(&apart[i].Comparison, j, margins[i])
		apart[i].PHolm, alone[i] = j.Adjusted, j.P
	}
	for i, q := range stats.BenjaminiHochberg(alone) {
		apart[i].Q = q
	}
	return nil
}

// sampleValues are the values of a sample for a measure. It adds to c what a reader must know of
// them.
func sampleValues(c *lab.Comparison, s Sample, m lab.Measure) (all []float64) {
	for _, t := range s.Trials {
		v, ok := m.Value(t)
		if !ok {
			c.Missing++
			continue
		}
		all = append(all, v)
		if t.Grade == lab.GradeF {
			c.GradeF++
		}
		noteDoubts(c, m, t)
	}
	return all
}

func (u *Unpaired) addCell(s Sample, m lab.Measure) {
	var c lab.Comparison
	values := sampleValues(&c, s, m)
	if v, err := stats.MedianInterval(values, 0.95); err == nil {
		u.Cells = append(u.Cells, lab.Cell{Arm: s.Name, Level: s.Level, Metric: m.Name,
			Unit: m.Unit, Median: v, Trials: len(values), Over: isOverInMedian(s.Trials, m)})
	}
}

// DecideGate decides the gate. A regression is a difference for the worse. The gate passes only if
// all requested comparisons were made, from reliable runs.
func (u *Unpaired) DecideGate() {
	u.Gate = &lab.GateOutcome{Missed: regressions(u.Verdicts)}
	verdict, open := decideBatch(u.Verdicts, u.scopeOf, true)
	if unfit := unreliableFacts(u.Gate.Missed, u.worth(), u.scopeOf); len(unfit) > 0 {
		verdict, open = lab.Undecided, append(unfit, open...)
	}
	doubts := hiddenDifferences(u.Verdicts, u.scopeOf)
	for i, g := range u.Groups {
		doubts = append(doubts, lastingF(g.allTrials(), fact.Scope{Group: Letter(i)})...)
	}
	setOutcome(u.Gate, verdict, slices.Concat(open, u.gaps, doubts))
}

// worth counts the trials of all groups: runs of their own, each of which counts.
func (u *Unpaired) worth() (w Worth) {
	for _, g := range u.Groups {
		for _, t := range g.allTrials() {
			w.Trials++
			if t.Failure == nil && t.Grade == lab.GradeF {
				w.Unreliable++
			}
		}
	}
	return w
}
