package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/lab/grade"
	"dyno/internal/result"
	"dyno/internal/stats"
)

// MostGroups is how many groups can be compared: they are called A to Z.
const MostGroups = 26

// Letter names the i-th group of a comparison: A, B, …
func Letter(i int) string { return string(rune('A' + i)) }

// Label is the short name that verdicts and cells use.
func (u *Unpaired) Label(name string) string {
	for _, g := range u.Groups {
		for _, s := range g.Samples {
			switch name {
			case s.Name:
				return u.sampleLabel(s)
			case s.Name + lab.ControlMark:
				return u.sampleLabel(s) + lab.ControlMark
			}
		}
	}
	return name
}

// Labelled returns comparisons with labels in place of the groups' names, which may be long.
func (u *Unpaired) Labelled(all []lab.Comparison) []lab.Comparison {
	all = slices.Clone(all)
	for i, c := range all {
		all[i].Baseline, all[i].Variant = u.Label(c.Baseline), u.Label(c.Variant)
	}
	return all
}

// sampleLabel is the label of a sample's group, and its arm if the group has several.
func (u *Unpaired) sampleLabel(s Sample) string {
	at := u.sampleScope(s)
	if at.Variant == "" {
		return at.Group
	}
	return at.Group + " " + at.Variant
}

// sampleScope is where a sample was measured: its group, its level, and its arm if the group has
// several.
func (u *Unpaired) sampleScope(s Sample) fact.Scope {
	i := slices.IndexFunc(u.Groups, func(g Group) bool {
		return slices.ContainsFunc(g.Samples, func(o Sample) bool { return o.Name == s.Name })
	})
	at := fact.Scope{Group: Letter(i), Level: s.Level}
	if !s.named {
		at.Variant = s.Arm
	}
	return at
}

// scopeOf is where a sample was measured, by its name in a comparison.
func (u *Unpaired) scopeOf(name, level string) fact.Scope {
	for _, g := range u.Groups {
		for _, s := range g.Samples {
			if s.Name == name && s.Level == level {
				return u.sampleScope(s)
			}
		}
	}
	return fact.Scope{Group: name, Level: level}
}

// checkComparable reports groups that cannot or must not be compared. It notes what only the first
// group has, because a gate must not pass without it.
func (u *Unpaired) checkComparable() error {
	if err := u.checkRepeated(); err != nil {
		return err
	}
	for i, g := range u.Groups[1:] {
		found := false
		for _, s := range u.Groups[0].Samples {
			_, ok := g.counterpart(s)
			found = found || ok
			if !ok {
				u.gaps = append(u.gaps, warn(fact.NotInGroup{Group: Letter(i + 1)}, u.sampleScope(s)))
			}
		}
		if !found {
			return fmt.Errorf("%s has nothing to compare with %s: it has %s, and the other %s; arms "+
				"and levels must have the same names, or name one arm of each, as DIR:ARM",
				g.Name, u.Groups[0].Name, g.describeContents(), u.Groups[0].describeContents())
		}
	}
	return nil
}

// describeContents lists a group's arms and levels.
func (g Group) describeContents() string {
	if g.Record == nil {
		return "results"
	}
	var arms, levels []string
	for _, s := range g.Samples {
		if !slices.Contains(arms, s.Arm) {
			arms = append(arms, s.Arm)
		}
		if !slices.Contains(levels, s.Level) {
			levels = append(levels, s.Level)
		}
	}
	return strings.Join(arms, ", ") + " at " + strings.Join(levels, ", ")
}

// checkDistinct reports single runs that are one: it differs from itself by nothing.
func (u *Unpaired) checkDistinct() error {
	if u.checkRepeated() == nil {
		return nil
	}
	for i, g := range u.Groups {
		for k, other := range u.Groups[:i] {
			a, b := other.allTrials()[0], g.allTrials()[0]
			if a.Started.Equal(b.Started) && a.ID == b.ID {
				// One that was not stored has no ID.
				which := cmp.Or(a.ID, "which began at "+a.Started.Format(time.RFC3339Nano))
				return fmt.Errorf("%s and %s are the same run, %s: give two runs", Letter(k), Letter(i), which)
			}
		}
	}
	return u.checkRepeated()
}

// checkRepeated reports a run that is given more than once. Repeating a number does not add
// knowledge.
func (u *Unpaired) checkRepeated() error {
	type identity struct {
		started   int64
		completed float64
	}
	seen := map[identity]string{}
	for _, g := range u.Groups {
		for _, t := range g.allTrials() {
			id := identity{started: t.Started.UnixNano()}
			if t.Result != nil {
				id.completed = t.Result.Rate.Completed
			}
			if other, had := seen[id]; had {
				where := "twice in " + g.Name
				if other != g.Name {
					where = fmt.Sprintf("in %s and in %s", other, g.Name)
				}
				return fmt.Errorf("the run that began at %s is %s; each may count once",
					t.Started.Format(time.RFC3339Nano), where)
			}
			seen[id] = g.Name
		}
	}
	return nil
}

// cautions are what a reader must know before the verdicts.
func (u *Unpaired) cautions() (all []fact.Fact) {
	for _, c := range u.Verdicts {
		if !c.Control || c.Verdict != stats.Different {
			continue
		}
		all = append(all, selfDiffers(c, u.scopeOf(c.Baseline, c.Level), true))
	}
	all = append(append(all, u.orderFacts()...), u.tooFewFacts()...)
	var results []*result.Result
	for i, g := range u.Groups {
		all = append(all, groupFacts(Letter(i), g)...)
		results = append(results, g.Results()...)
	}
	if f := result.RatesApart(results); f != nil {
		all = append(all, *f)
	}
	return append(all, u.gaps...)
}

// orderFacts find groups that were measured one after the other, and groups that would have been
// compared in pairs without the others.
func (u *Unpaired) orderFacts() (all []fact.Fact) {
	if u.IsSingle() || u.AreInRounds() {
		return nil
	}
	first, last := u.Groups[0].timeSpan()
	for i, g := range u.Groups[1:] {
		from, to := g.timeSpan()
		args := fact.RunsInSequence{First: "A", Then: Letter(i + 1)}
		if to.Before(first) {
			args.First, args.Then = args.Then, args.First
		} else if !last.Before(from) {
			continue
		}
		all = append(all, warn(args, fact.Scope{}))
	}
	for i, g := range u.Groups[1:] {
		if g.isOf(u.Groups[0].Record) {
			all = append(all, warn(fact.PairsIgnored{First: "A", Other: Letter(i + 1)}, fact.Scope{}))
		}
	}
	return all
}

// timeSpan is when the first and the last run of the group began.
func (g Group) timeSpan() (first, last time.Time) {
	for i, t := range g.allTrials() {
		if i == 0 || t.Started.Before(first) {
			first = t.Started
		}
		if t.Started.After(last) {
			last = t.Started
		}
	}
	return first, last
}

// tooFewFacts find samples with so few runs that even completely separate values could not differ
// significantly. Holm's correction multiplies the smallest p by the number of comparisons. Of
// rounds there is no such number: it takes experiment.LeastRounds, and each comparison says how
// many it has.
func (u *Unpaired) tooFewFacts() []fact.Fact {
	compared, least := u.leastSignificance()
	if compared == 0 || u.IsSingle() || u.AreInRounds() || least*float64(compared) <= significance {
		return nil
	}
	return []fact.Fact{warn(fact.TooFewRuns{Compared: compared,
		LeastP: min(least*float64(compared), 1), Needs: u.EnoughRuns()}, fact.Scope{})}
}

// leastSignificance is how many comparisons are judged together, and the smallest p-value that one
// of them can have.
func (u *Unpaired) leastSignificance() (compared int, least float64) {
	least = 1
	for _, c := range u.Verdicts {
		if !c.Control {
			compared++
			least = min(least, leastPValue(c.Against, c.Trials))
		}
	}
	return compared, least
}

// EnoughRuns is how many runs of each it takes so that all that is compared can have an interval
// and a significant difference.
func (u *Unpaired) EnoughRuns() int {
	compared, _ := u.leastSignificance()
	return max(experiment.LeastRounds, enoughFor(compared))
}

// enoughFor is how many runs of each it takes so that one of so many comparisons can be
// significant.
func enoughFor(compared int) int {
	enough := 1
	for leastPValue(enough, enough)*float64(compared) > significance {
		enough++
	}
	return enough
}

// leastPValue is the p-value of m and n values that are completely separate.
func leastPValue(m, n int) float64 {
	x := make([]float64, m+n)
	for i := range x {
		x[i] = float64(i)
	}
	return stats.MannWhitney(x[:m], x[m:])
}

// groupFacts are about the runs of one group.
func groupFacts(letter string, g Group) (all []fact.Fact) {
	add := func(args fact.Args) { all = append(all, warn(args, fact.Scope{Group: letter})) }
	trials := g.allTrials()
	for _, args := range grade.GeneratorDoubts(trials) {
		add(args)
	}
	if n := countGrade(trials, lab.GradeF); n > 0 {
		i := slices.IndexFunc(trials, func(t *lab.Trial) bool { return t.Grade == lab.GradeF })
		add(fact.GradeF{Trials: n, Of: len(trials), Why: trials[i].FirstReason(func(r lab.Reason) bool {
			return r.Grade == lab.GradeF
		})})
	}
	switch {
	case g.Record == nil:
	case g.Record.State == lab.Interrupted || g.Record.State == lab.Running:
		add(fact.GroupIncomplete{})
	case g.Record.Quick:
		add(fact.GroupQuick{})
	}
	return all
}
