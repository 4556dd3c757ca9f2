package labanswer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dyno/internal/lab"
	"dyno/internal/view/answer"
	"dyno/internal/view/format"
)

// mostNamed is how many variants a sentence names.
const mostNamed = 3

// sentenceOf is the finding of an experiment in one sentence: what differs, by how much, and what
// else has to be known with it.
func sentenceOf(r *lab.Record, a answer.Answer) string {
	if len(a.Groups) == 0 {
		return nothingCompared(a)
	}
	g := a.Groups[0]
	if isBound(g) { // the groups are sorted: nothing else is decided either
		return boundSentence(r, a.Groups)
	}
	s := decidedClause(r, g)
	if s == "" {
		s = undecidedClause(r, g)
	}
	if other := otherClause(r, a.Groups); other != "" {
		s += "; " + other
	}
	return s
}

func nothingCompared(a answer.Answer) string {
	for _, c := range a.Cautions {
		if c.Kind == answer.Incomplete {
			return "Nothing can be compared yet: the experiment is not complete"
		}
	}
	if n := len(a.NotLoaded); n > 0 {
		f := a.NotLoaded[0]
		s := fmt.Sprintf("Nothing could be compared: %s was not loaded (%s)",
			format.PlainLine(f.Variant), format.Clip(f.Why, 120))
		if n > 1 {
			s += fmt.Sprintf(", and %d more", n-1)
		}
		return s
	}
	return "Nothing was compared: the experiment has no second variant that measured anything"
}

// decidedClause names the variants that differ, the largest difference first; "" if none does.
func decidedClause(r *lab.Record, g answer.Group) string {
	var decided []answer.Finding
	for _, f := range g.Findings {
		if f.IsDecided() {
			decided = append(decided, f)
		}
	}
	if len(decided) == 0 {
		return ""
	}
	slices.SortStableFunc(decided, func(x, y answer.Finding) int {
		return cmp.Compare(size(y.Ratio), size(x.Ratio))
	})
	s := ""
	if severalLevels(r) && g.Level != "" {
		s = "At " + format.PlainLine(g.Level) + ", "
	}
	if parts := factorClauses(r, decided); len(parts) > 0 {
		return s + strings.Join(parts[:min(len(parts), mostNamed)], "; ")
	}
	several := slices.ContainsFunc(decided, func(f answer.Finding) bool {
		return f.Baseline != decided[0].Baseline
	})
	if several || len(decided) > mostNamed {
		return s + rangeClause(r, g, decided)
	}
	shown := decided
	for i, f := range shown {
		c := r.Verdicts[f.Comparison]
		switch {
		case i == 0:
		case i == len(shown)-1:
			s += " and "
		default:
			s += ", "
		}
		s += format.PlainLine(f.Variant) + " " + amount(f, c, i == 0)
	}
	return s
}

// rangeClause is the sentence of many variants that differ, the largest difference first: how many
// are better and worse, and the extremes.
func rangeClause(r *lab.Record, g answer.Group, decided []answer.Finding) string {
	var parts []string
	for _, v := range []answer.Verdict{answer.Better, answer.Worse} {
		var all []answer.Finding
		for _, f := range decided {
			if f.Verdict == v {
				all = append(all, f)
			}
		}
		if len(all) == 0 {
			continue
		}
		most, least := all[0], all[len(all)-1]
		s := fmt.Sprintf("%s is %s in %s, %s", format.PlainLine(most.Variant), v,
			MeasureName(g.Metric), changeText(most))
		if len(all) > 1 {
			s = fmt.Sprintf("%d of %d variants are %s in %s: most %s, %s; least %s, %s", len(all),
				len(g.Findings), v, MeasureName(g.Metric), format.PlainLine(most.Variant), changeText(most),
				format.PlainLine(least.Variant), changeText(least))
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, "; ")
}

// changeText is a finding's change with its interval.
func changeText(f answer.Finding) string { return f.Effect + " " + f.Interval }

// undecidedClause is the sentence of a group in which nothing differs.
func undecidedClause(r *lab.Record, g answer.Group) string {
	var same, open []answer.Finding
	for _, f := range g.Findings {
		if f.Verdict == answer.Same {
			same = append(same, f)
		} else {
			open = append(open, f)
		}
	}
	measure := shortName(r, g)
	switch {
	case len(open) == 0 && len(same) == 1:
		return fmt.Sprintf("%s is like %s in %s: the difference is below %s",
			format.PlainLine(same[0].Variant), format.PlainLine(same[0].Baseline), measure,
			format.InPercent(g.Margin))
	case len(open) == 0:
		return fmt.Sprintf("No variant differs in %s by %s or more", measure, format.InPercent(g.Margin))
	case len(open) == 1 && len(same) == 0:
		f := open[0]
		s := fmt.Sprintf("These trials do not show whether %s differs from %s in %s: %s",
			format.PlainLine(f.Variant), format.PlainLine(f.Baseline), measure, f.Effect)
		if f.Interval != "" {
			s += " " + f.Interval
		}
		return s + ", " + f.Why
	case len(same) == 0:
		return fmt.Sprintf("These trials do not show that any of %s differs in %s: %s",
			format.Plural(int64(len(open)), "variant"), measure, commonReason(open))
	}
	return fmt.Sprintf("In %s %s differ by less than %s, and %d are undecided", measure,
		format.Plural(int64(len(same)), "variant"), format.InPercent(g.Margin), len(open))
}

// commonReason is the reason that most have.
func commonReason(all []answer.Finding) string {
	counted := map[string]int{}
	most := ""
	for _, f := range all {
		if counted[f.Why]++; counted[f.Why] > counted[most] {
			most = f.Why
		}
	}
	return most
}

// otherClause is what has to be known of the other measures: one that speaks against the first
// finding, those in which the generator was the limit, or that nothing else differs.
func otherClause(r *lab.Record, groups []answer.Group) string {
	first := groups[0]
	lead := largest(first)
	for _, g := range groups[1:] {
		for _, f := range g.Findings {
			if f.IsDecided() && f.Variant == lead.Variant && f.Verdict != lead.Verdict {
				return fmt.Sprintf("but %s of %s is %s: %s %s", shortName(r, g),
					format.PlainLine(f.Variant), f.Verdict, f.Effect, f.Interval)
			}
		}
	}
	var bound, undecided, more []string
	for _, g := range groups[1:] {
		switch {
		case slices.ContainsFunc(g.Findings, answer.Finding.IsDecided):
			more = appendOnce(more, MeasureName(g.Metric))
		case isBound(g):
			bound = append(bound, shortName(r, g))
		case slices.ContainsFunc(g.Findings, isUndecided):
			undecided = append(undecided, shortName(r, g))
		}
	}
	switch {
	case len(bound) > 0:
		return fmt.Sprintf("%s cannot be told apart: the generator was the limit", fewNames(bound))
	case len(more) > 0:
		return "there are differences in " + fewNames(more) + ", too"
	case len(undecided) > 0 && weight(first) > 1:
		return fewNames(undecided) + ": undecided"
	}
	return ""
}

// shortName is the name of a group, without its level where there is only one.
func shortName(r *lab.Record, g answer.Group) string {
	if severalLevels(r) {
		return g.Name
	}
	return MeasureName(g.Metric)
}

// isBound reports whether the generator was the limit, and nothing of the group is decided.
func isBound(g answer.Group) bool {
	return weight(g) < 3 && slices.ContainsFunc(g.Findings, func(f answer.Finding) bool {
		return f.Why == boundWhy
	})
}

// boundSentence is the sentence of an experiment of which nothing is decided because the generator
// was the limit.
func boundSentence(r *lab.Record, groups []answer.Group) string {
	var bound, open []string
	for _, g := range groups {
		if isBound(g) {
			bound = append(bound, shortName(r, g))
		} else {
			open = append(open, shortName(r, g))
		}
	}
	s := fmt.Sprintf("The servers cannot be told apart in %s: the generator was the limit",
		fewNames(bound))
	if len(open) > 0 {
		s += "; undecided: " + fewNames(open)
	}
	return s
}

func isUndecided(f answer.Finding) bool { return f.Verdict == answer.Undecided }

// largest is the finding with the largest difference of those that are decided; zero if none is.
func largest(g answer.Group) (most answer.Finding) {
	for _, f := range g.Findings {
		if f.IsDecided() && size(f.Ratio) > size(most.Ratio) {
			most = f
		}
	}
	return most
}

// fewNames lists names, as many as can be read at once.
func fewNames(all []string) string {
	if len(all) > mostNamed {
		few := strings.Join(all[:mostNamed-1], ", ")
		return few + fmt.Sprintf(" and %d more", len(all)-mostNamed+1)
	}
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1]
}

func severalLevels(r *lab.Record) bool {
	return r.Experiment != nil && len(r.Experiment.Levels) > 1
}
