package judge

import (
	"dyno/internal/lab"
	"fmt"
	"slices"
	"strings"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/result"
	"dyno/internal/stats"
)

// UnpairedFormat is what every stored comparison says of itself.
const UnpairedFormat = "dyno.comparison/1"

// An Unpaired is what runs say of each other that were not measured in pairs:
// stored results, or two experiments. Whatever drifted between them is part of
// what it finds, which a Record's verdicts are free of.
type Unpaired struct {
	Format   string           `json:"format"`
	Dyno     string           `json:"dyno"`   // version that compared
	Groups   []Group          `json:"groups"` // all are compared with the first
	Margin   float64          `json:"margin"` // share that matters in practice
	Verdicts []lab.Comparison `json:"verdicts"`
	Cells    []lab.Cell       `json:"cells"`
	Gate     *lab.GateOutcome `json:"gate,omitempty"`
	Cautions []string         `json:"cautions"`

	gaps  []string // what was asked for and is not answered
	asked []*asked // what Verdicts answer
}

// A Group is runs that belong together: repeated runs of one thing, or the
// trials of an experiment.
type Group struct {
	Name    string   `json:"name"`
	Samples []Sample `json:"samples"` // of an experiment by level, then arm

	Record *lab.Record `json:"-"` // the experiment's; nil of stored results
	cells  byCell
}

// A Sample is runs of one thing under one load.
type Sample struct {
	Name  string `json:"name"` // as verdicts call it
	Arm   string `json:"arm,omitempty"`
	Level string `json:"level,omitempty"`
	Runs  []Run  `json:"runs"`

	Trials []*lab.Trial `json:"-"`
	named  bool         // the arm was: it is compared with arms of other names too
}

// A Run is one of a sample.
type Run struct {
	ID      string             `json:"id,omitempty"`
	Started time.Time          `json:"started"`
	Grade   lab.Grade          `json:"grade"`
	Reasons []lab.Reason       `json:"reasons,omitempty"`
	Values  map[string]float64 `json:"values,omitempty"` // by measure
	Failure *lab.Failure       `json:"failure,omitempty"`
}

// GroupResults is a group of stored results of one thing. Each is a trial of which
// nothing is known but what its result holds.
func GroupResults(name string, rs []*result.Result) Group {
	var trials []*lab.Trial
	for _, r := range rs {
		t := &lab.Trial{ID: r.ID, Started: r.Window.Started, Result: r}
		t.Grade, t.Reasons = GradeTrial(t)
		trials = append(trials, t)
	}
	s := Sample{Name: name}
	s.setTrials(trials)
	return Group{Name: name, Samples: []Sample{s}}
}

// ReadGroup reads the trials of the experiment in dir: of all its arms but the
// controls, or of the one that is named. Those by which a gate was confirmed
// are left out: they were run because of what the others showed.
func ReadGroup(name, dir, arm string) (Group, error) {
	record, err := lab.ReadRecord(dir) // its file may name what is on another machine
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

// measuredLevels are those that were measured: as the record has them, or by name where
// the experiment did not come to an end.
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

// addSample makes a sample of an arm's trials at a level, if there are any.
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
		s.Runs = append(s.Runs, Run{b.ID, b.Started, b.Grade, b.Reasons, b.Values, b.Failure})
	}
}

// armNames names all that have trials.
func (g Group) armNames() string {
	var all []string
	for at := range g.cells {
		all = append(all, at.Arm)
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}

// allTrials are all of the group.
func (g Group) allTrials() (all []*lab.Trial) {
	for _, s := range g.Samples {
		all = append(all, s.Trials...)
	}
	return all
}

// Results are all that the group's runs measured.
func (g Group) Results() (all []*result.Result) {
	for _, t := range g.allTrials() {
		if t.Result != nil {
			all = append(all, t.Result)
		}
	}
	return all
}

// counterpart finds the sample that is to be compared with s.
func (g Group) counterpart(s Sample) (Sample, bool) {
	i := slices.IndexFunc(g.Samples, func(o Sample) bool {
		return o.Level == s.Level && o.named == s.named && (o.named || o.Arm == s.Arm)
	})
	if i < 0 {
		return Sample{}, false
	}
	return g.Samples[i], true
}

// CompareGroups judges groups against the first of them, by measures (none: by those
// that matter most). A margin is the share that matters in practice. It is an
// error if there is nothing that could be compared.
func CompareGroups(groups []Group, by []lab.Measure, margin float64) (*Unpaired, error) {
	u := &Unpaired{Format: UnpairedFormat, Dyno: load.Version, Groups: groups, Margin: margin,
		Verdicts: []lab.Comparison{}, Cells: []lab.Cell{}, Cautions: []string{}}
	if len(by) == 0 {
		by = usualMeasures(groups)
	}
	if !u.IsSingle() {
		if err := u.checkComparable(); err != nil {
			return nil, err
		}
	}
	for _, s := range groups[0].Samples {
		for _, m := range by {
			u.compareSample(s, m)
		}
	}
	if err := u.judgeAsked(); err != nil {
		return nil, err
	}
	u.addCautions()
	return u, nil
}

// usualMeasures are the measures that are compared unless others are asked for. Of the
// server's CPU few stored results know.
func usualMeasures(groups []Group) (all []lab.Measure) {
	for _, name := range []string{"throughput", "cpu", "p50", "p99"} {
		m, _ := lab.MeasureNamed(name)
		known := func(g Group) bool { return slices.ContainsFunc(g.allTrials(), m.Has) }
		if name != "cpu" || slices.ContainsFunc(groups, known) {
			all = append(all, m)
		}
	}
	return all
}

// IsSingle reports whether there is only one result of each: no repeated runs,
// and so nothing to be judged.
func (u *Unpaired) IsSingle() bool {
	return !slices.ContainsFunc(u.Groups, func(g Group) bool {
		return g.Record != nil || len(g.allTrials()) != 1
	})
}

// compareSample judges a sample of the first group, which the others are compared
// with, by one measure. Controls come first: what they show is the noise of all
// that follow, at the least, since it was measured in pairs.
func (u *Unpaired) compareSample(base Sample, m lab.Measure) {
	floor := u.addControl(0, base, m)
	u.addCell(base, m)
	var found []*asked
	for i, g := range u.Groups[1:] {
		other, ok := g.counterpart(base)
		if !ok {
			continue // comparable has said so
		}
		u.addCell(other, m)
		noise := max(floor, u.addControl(i+1, other, m))
		a, err := askUnpaired(base, other, m, stats.Margin{Practical: u.Margin, Floor: noise})
		if err != nil {
			u.gaps = append(u.gaps, fmt.Sprintf("%s of %s cannot be compared: %d runs have it, "+
				"and %d of %s", m.Name, u.samplePlace(other), countHaving(other, m), countHaving(base, m),
				u.samplePlace(base)))
			continue
		}
		found = append(found, a)
	}
	u.asked = append(u.asked, found...)
}

func countHaving(s Sample, m lab.Measure) (n int) {
	for _, t := range s.Trials {
		if m.Has(t) {
			n++
		}
	}
	return n
}

// addControl asks for a sample's control, if its experiment has one, and returns the
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
	if len(p.logs) >= MinRounds {
		floor, _ = stats.NoiseFloor(p.logs)
	}
	return floor
}

// An asked comparison is one that waits to be judged with all others.
type asked struct {
	*paired           // a control has its pairs
	x, y    []float64 // of the variant and the baseline, if it is none
	group   int       // of a control
}

// askUnpaired asks how b differs from a. It is an error if that cannot be said.
func askUnpaired(a, b Sample, m lab.Measure, margin stats.Margin) (*asked, error) {
	c := lab.Comparison{Metric: m.Name, Level: a.Level, Baseline: a.Name, Variant: b.Name,
		Better: m.Better}
	y, x := sampleValues(&c, a, m), sampleValues(&c, b, m)
	j, err := stats.JudgeUnpaired(x, y, margin)
	if err != nil {
		return nil, err
	}
	c.Trials, c.Against, c.Alone = len(x), len(y), j.Ratio
	return &asked{paired: &paired{Comparison: c, margin: margin}, x: x, y: y}, nil
}

// judgeAsked judges all that was asked. Controls are pairs of their own experiment's
// rounds; nothing else has rounds, so that Holm's correction is what holds.
func (u *Unpaired) judgeAsked() error {
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
		judgeTogether(family)
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
	for _, a := range u.asked {
		u.Verdicts = append(u.Verdicts, a.Comparison)
	}
	return nil
}

// sampleValues are a sample's by a measure; what has to be known of them is added to c.
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
			Unit: m.Unit, Median: v, Trials: len(values)})
	}
}

// DecideGate decides the gate: a regression is what is different and worse. It passes
// only if all that was asked for is answered, by runs that can be relied on.
func (u *Unpaired) DecideGate() {
	all := u.Labelled(u.Verdicts)
	u.Gate = &lab.GateOutcome{Missed: regressions(u.Verdicts)}
	verdict, open := decideBatch(all)
	setOutcome(u.Gate, verdict, slices.Concat(open, u.gaps, u.gateDoubts(all)))
}

// gateDoubts are why runs do not show that there is no regression, or none but those that they
// show.
func (u *Unpaired) gateDoubts(all []lab.Comparison) (doubts []string) {
	bad := regressions(all)
	for _, c := range all {
		switch {
		case c.Control, containsLike(bad, c):
		case c.Missing > 0:
			doubts = append(doubts, fmt.Sprintf("%s: %d runs lack it", c.Place(), c.Missing))
		case c.ClientBound:
			doubts = append(doubts, fmt.Sprintf("%s: the generator was at its limit, which may "+
				"hide a difference", c.Place()))
		case c.Disturbed > 0:
			doubts = append(doubts, fmt.Sprintf("%s: in %d runs the generator was held up, which may "+
				"hide a difference", c.Place(), c.Disturbed))
		case c.OtherLoad > 0:
			doubts = append(doubts, fmt.Sprintf("%s: in %d runs the load was not the one asked for",
				c.Place(), c.OtherLoad))
		}
	}
	for i, g := range u.Groups {
		if n, why := countFailed(g.allTrials()); n > 0 {
			doubts = append(doubts, fmt.Sprintf("%d runs of %s are of grade F: %s", n, Letter(i), why))
		}
	}
	return doubts
}

// countFailed counts the trials of grade F for which the machine alone is not to
// blame, and says why the first is.
func countFailed(trials []*lab.Trial) (n int, why string) {
	for _, t := range trials {
		if t.Grade != lab.GradeF || t.SpoiledByMachine() {
			continue
		}
		if n++; n == 1 {
			why = t.FirstReason(func(r lab.Reason) bool { return r.Grade == lab.GradeF && !r.Passing })
		}
	}
	return n, why
}
