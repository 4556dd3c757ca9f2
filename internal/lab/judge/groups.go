package judge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"dyno/internal/lab"
	"dyno/internal/lab/grade"

	"dyno/internal/result"
	"dyno/internal/stats"
)

// Letter names the i-th group of a comparison: A, B, … for at most 26.
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
	i := slices.IndexFunc(u.Groups, func(g Group) bool {
		return slices.ContainsFunc(g.Samples, func(o Sample) bool { return o.Name == s.Name })
	})
	if s.Arm == "" || s.named {
		return Letter(i)
	}
	return Letter(i) + " " + s.Arm
}

// samplePlace describes where a sample was measured.
func (u *Unpaired) samplePlace(s Sample) string {
	if s.Level == "" {
		return u.sampleLabel(s)
	}
	return u.sampleLabel(s) + " at " + s.Level
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
				u.gaps = append(u.gaps, fmt.Sprintf("%s is not in %s", u.samplePlace(s), Letter(i+1)))
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
				return fmt.Errorf("%s and %s are the same run, %s: give two runs", Letter(k), Letter(i), a.ID)
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

// addCautions adds what a reader must know before the verdicts.
func (u *Unpaired) addCautions() {
	say := func(format string, args ...any) {
		u.Cautions = append(u.Cautions, fmt.Sprintf(format, args...))
	}
	for _, c := range u.Labelled(u.Verdicts) {
		if c.Control && c.Verdict == stats.Different {
			say("%s differs from itself, by a factor of %s: its machine did not support comparisons "+
				"that fine", c.Place(), c.RatioText())
		}
	}
	u.cautionOfOrder(say)
	u.cautionOfTooFew(say)
	for i, g := range u.Groups {
		cautionOfGroup(Letter(i), g, say)
	}
	var all []*result.Result
	for _, g := range u.Groups {
		all = append(all, g.Results()...)
	}
	if why := result.RatesApartText(all); why != "" {
		say("%s", why)
	}
	for _, gap := range u.gaps {
		say("%s", gap)
	}
}

// cautionOfOrder finds groups that were measured one after the other, and groups that would have
// been compared in pairs without the others.
func (u *Unpaired) cautionOfOrder(say func(string, ...any)) {
	if u.IsSingle() || u.AreInRounds() {
		return
	}
	first, last := u.Groups[0].timeSpan()
	for i, g := range u.Groups[1:] {
		from, to := g.timeSpan()
		one, other := "A", Letter(i+1)
		if to.Before(first) {
			one, other = other, one
		} else if !last.Before(from) {
			continue
		}
		say("every run of %s began before the first of %s: whatever changed on the machine "+
			"meanwhile looks like a difference; run them in turns (dyno lab run does)", one, other)
	}
	for i, g := range u.Groups[1:] {
		if g.isOf(u.Groups[0].Record) {
			say("A and %s are of one experiment, whose rounds are pairs; beside runs of others they are "+
				"compared as if they had been measured apart: compare them alone", Letter(i+1))
		}
	}
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

// cautionOfTooFew finds samples with so few runs that even completely separate values could not
// differ significantly. Holm's correction multiplies the smallest p by the number of comparisons.
// Of rounds there is no such number: it takes MinRounds, and each comparison says how many it has.
func (u *Unpaired) cautionOfTooFew(say func(string, ...any)) {
	compared, least := u.leastSignificance()
	if compared == 0 || u.IsSingle() || u.AreInRounds() || least*float64(compared) <= significance {
		return
	}
	say("too few runs: after Holm's correction for all that is compared, %d in number, p is at "+
		"least %.3f, so that nothing can be significant; for a verdict it takes %d runs of each",
		compared, min(least*float64(compared), 1), u.EnoughRuns())
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
	return max(MinRounds, enoughFor(compared))
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

// notJudged is the verdict on a generator that measured too little.
const notJudged = "not judged"

func verdictOf(r *result.Result) string {
	if r.Generator.NotJudged() {
		return notJudged
	}
	return r.Generator.Verdict
}

// cautionOfGroup adds cautions about the runs of one group.
func cautionOfGroup(label string, g Group, say func(string, ...any)) {
	trials := g.allTrials()
	for _, verdict := range []string{result.ClientBound, result.Suspect, notJudged} {
		n, why := 0, ""
		for _, t := range trials {
			if t.Result == nil || verdictOf(t.Result) != verdict {
				continue
			}
			if n++; why == "" {
				why = strings.Join(grade.GeneratorReasons(t), "; ")
			}
		}
		if n > 0 {
			say("%d of %d runs of %s are %s, the first because: %s", n, len(trials), label, verdict, why)
		}
	}
	if n := countGrade(trials, lab.GradeF); n > 0 {
		i := slices.IndexFunc(trials, func(t *lab.Trial) bool { return t.Grade == lab.GradeF })
		say("%d of %d runs of %s are of grade F, the first because: %s", n, len(trials), label,
			trials[i].FirstReason(func(r lab.Reason) bool { return r.Grade == lab.GradeF }))
	}
	switch {
	case g.Record == nil:
	case g.Record.State == lab.Interrupted || g.Record.State == lab.Running:
		say("the experiment %s is not complete", label)
	case g.Record.Quick:
		say("%s was run with --quick: it shows that the experiment works, not what it says", label)
	}
}
