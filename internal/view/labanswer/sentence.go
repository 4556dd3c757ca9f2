package labanswer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"dyno/internal/say"
	"dyno/internal/view/answer"
	"dyno/internal/view/format"
)

// mostNamed is how many variants a sentence names.
const mostNamed = 3

// sentenceOf is the finding of an experiment in one sentence: what differs, by how much, and what
// else has to be known with it.
func sentenceOf(r *lab.Record, a answer.Answer) string {
	if len(a.Groups) == 0 {
		return nothingCompared(r, a)
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

func nothingCompared(r *lab.Record, a answer.Answer) string {
	if a.Has(answer.Incomplete) && !judge.LeavesNothing(r) {
		return "Nothing can be compared yet: the experiment is not complete"
	}
	head := "Nothing could be compared: "
	if judge.LeavesNothing(r) {
		head = judge.CoverageOf(r).String() + ": "
		if failed := judge.FailedArms(r); len(failed) > 0 {
			s := head + format.ClipText(format.PlainLine(say.Failed(failed[0])), 200)
			if n := len(failed) - 1 + len(a.NotLoaded); n > 0 {
				s += fmt.Sprintf(", and %d more measured nothing", n)
			}
			return s
		}
	}
	if n := len(a.NotLoaded); n > 0 {
		f := a.NotLoaded[0]
		s := head + fmt.Sprintf("%s was not tested (%s)", format.PlainLine(f.Variant),
			format.ClipText(f.Why, 120))
		if n > 1 {
			s += fmt.Sprintf(", and %d more", n-1)
		}
		return s
	}
	if asksGenerators(r) {
		if f := r.Sensitive.Fact; f != nil {
			return format.PlainLine(say.Start(*f))
		}
		return format.PlainLine(r.Sensitive.Sentence)
	}
	return "Nothing was compared: the experiment has no second variant that measured anything"
}

// asksGenerators reports whether the experiment compares generators and nothing else.
func asksGenerators(r *lab.Record) bool {
	return r.Sensitive != nil && r.Sensitive.Sentence != "" &&
		!slices.ContainsFunc(r.Verdicts, func(c lab.Comparison) bool { return !c.Control })
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
		return cmp.Compare(y.Size(), x.Size())
	})
	s := ""
	if level := r.ShownLevel(g.Level); level != "" {
		s = "At " + format.PlainLine(level) + ", "
	}
	if parts := factorClauses(r, decided); len(parts) > 0 {
		return s + strings.Join(parts[:min(len(parts), mostNamed)], "; ")
	}
	several := slices.ContainsFunc(decided, func(f answer.Finding) bool {
		return f.Baseline != decided[0].Baseline
	})
	if several {
		return s + rangeClauses(g, decided)
	}
	shown := mostTelling(decided)
	for i, f := range shown {
		if i == 0 {
			s += format.PlainLine(f.Variant) + " " + amount(f, g.Metric)
			continue
		}
		separator := ", "
		if i == len(shown)-1 {
			separator = " and "
		}
		s += separator + format.PlainLine(f.Variant) + " "
		if (f.Ratio < 1) != (shown[0].Ratio < 1) {
			s += direction(f, g.Metric) + ": "
		}
		s += changeText(f)
	}
	switch n := len(decided) - len(shown); {
	case n == 1:
		s += "; 1 more differs"
	case n > 1:
		s += fmt.Sprintf("; %d more differ", n)
	}
	return s
}

// mostTelling are the findings that a sentence names, of those that differ, the largest difference
// first. If some are better and some worse, there is one of each.
func mostTelling(decided []answer.Finding) []answer.Finding {
	if len(decided) <= mostNamed {
		return decided
	}
	shown := slices.Clone(decided[:mostNamed])
	for _, v := range []answer.Verdict{answer.Better, answer.Worse} {
		has := func(f answer.Finding) bool { return f.Verdict == v }
		if i := slices.IndexFunc(decided, has); i >= mostNamed {
			shown[mostNamed-1] = decided[i]
		}
	}
	return shown
}

// rangeClauses are the sentences of many variants that differ, for each baseline.
func rangeClauses(g answer.Group, decided []answer.Finding) string {
	var parts, baselines []string
	for _, f := range decided {
		baselines = appendOnce(baselines, f.Baseline)
	}
	for i, name := range baselines {
		if n := len(baselines) - i; i == mostNamed-1 && n > 1 {
			parts = append(parts, fmt.Sprintf("others differ from %d more baselines", n))
			break
		}
		parts = append(parts, rangeClause(g, decided, name))
	}
	return strings.Join(parts, "; ")
}

// rangeClause says of the variants that differ from a baseline, the largest difference first, how
// many are better and worse, and the extremes.
func rangeClause(g answer.Group, decided []answer.Finding, baseline string) string {
	var parts []string
	compared := 0
	for _, f := range g.Findings {
		if f.Baseline == baseline {
			compared++
		}
	}
	in := MeasureName(g.Metric) + " than " + format.PlainLine(baseline)
	for _, v := range []answer.Verdict{answer.Better, answer.Worse} {
		var all []answer.Finding
		for _, f := range decided {
			if f.Verdict == v && f.Baseline == baseline {
				all = append(all, f)
			}
		}
		if len(all) == 0 {
			continue
		}
		most, least := all[0], all[len(all)-1]
		s := fmt.Sprintf("%s is %s in %s, %s", format.PlainLine(most.Variant), v, in, changeText(most))
		if most.Why != "" && len(all) == 1 {
			s += " (" + most.Why + ")"
		}
		if len(all) > 1 {
			s = fmt.Sprintf("%d of %d variants are %s in %s: most %s, %s; least %s, %s", len(all),
				compared, v, in, format.PlainLine(most.Variant), changeText(most),
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
	invalid := 0
	for _, f := range g.Findings {
		switch f.Verdict {
		case answer.Same:
			same = append(same, f)
		case answer.NotValid:
			invalid++
		default:
			open = append(open, f)
		}
	}
	s := openClause(r, g, same, open, invalid > 0)
	if invalid > 0 {
		s += fmt.Sprintf("; not valid: %d (%s)", invalid, boundWhy)
	}
	return s
}

// openClause is what an undecided group says of the variants that are the same, and of those that
// are open. others is whether it has more than these.
func openClause(r *lab.Record, g answer.Group, same, open []answer.Finding, others bool) string {
	measure, trials := g.Name, "trials"
	if r.Verdicts[g.Findings[0].Comparison].Against > 0 {
		trials = "runs"
	}
	switch {
	case len(open) == 0 && len(same) == 1:
		return fmt.Sprintf("%s is like %s in %s: the difference is below %s",
			format.PlainLine(same[0].Variant), format.PlainLine(same[0].Baseline), measure,
			format.InPercent(g.Margin))
	case len(open) == 0 && !others:
		return fmt.Sprintf("No variant differs in %s by %s or more", measure, format.InPercent(g.Margin))
	case len(open) == 1 && len(same) == 0:
		f := open[0]
		s := fmt.Sprintf("These %s do not show whether %s differs from %s in %s: ", trials,
			format.PlainLine(f.Variant), format.PlainLine(f.Baseline), measure)
		if f.Effect == format.TooFew {
			return s + fullWhy(f)
		}
		if s += f.Effect; f.Interval != "" {
			s += " " + f.Interval
		}
		return s + ", " + fullWhy(f)
	case len(same) == 0:
		return fmt.Sprintf("These %s do not show that any of %s differs in %s: %s", trials,
			format.Plural(int64(len(open)), "variant"), measure, commonReason(open))
	}
	differ := "differ"
	if len(same) == 1 {
		differ = "differs"
	}
	s := fmt.Sprintf("In %s %s %s by less than %s", measure,
		format.Plural(int64(len(same)), "variant"), differ, format.InPercent(g.Margin))
	if len(open) > 0 {
		s += fmt.Sprintf("; undecided: %d (%s)", len(open), commonReason(open))
	}
	return s
}

// fullWhy is why a finding is undecided, of a forecast with what it depends on.
func fullWhy(f answer.Finding) string {
	if f.Because == answer.Forecast {
		return f.Why + ", if this estimate holds"
	}
	return f.Why
}

// commonReason is the reason that most have. Forecasts are one reason: that of the most rounds, as
// the next step has it.
func commonReason(all []answer.Finding) string {
	counted := map[string]int{}
	most, forecast := "", answer.Finding{}
	for _, f := range all {
		why := f.Why
		if f.More > 0 {
			inReach := f.More <= mostRounds
			if forecast.More == 0 || inReach && (f.More > forecast.More || forecast.More > mostRounds) {
				forecast = f
			}
			why = "more would decide"
		}
		if counted[why]++; counted[why] > counted[most] {
			most = why
		}
	}
	if most == "more would decide" {
		return fullWhy(forecast)
	}
	return most
}

// otherClause is what has to be known of the other measures: the worst that speaks against what the
// first says, where else something differs, and where the generator was the limit.
func otherClause(r *lab.Record, groups []answer.Group) string {
	first := groups[0]
	var parts, likewise []string
	var more []answer.Group
	against, at := againstFirst(groups)
	var bound, undecided []place
	for _, g := range groups[1:] {
		here := placeOf(r, g)
		switch {
		case slices.ContainsFunc(g.Findings, answer.Finding.IsDecided):
			if g.Metric == first.Metric && decidesLike(first, g) {
				likewise = append(likewise, format.PlainLine(g.Level))
			} else {
				more = append(more, g)
			}
		case isBound(g):
			bound = append(bound, here)
		case slices.ContainsFunc(g.Findings, isUndecided):
			undecided = append(undecided, here)
		}
	}
	if len(likewise) > 0 {
		parts = append(parts, "at "+fewNames(likewise)+" likewise")
	}
	switch {
	case at >= 0:
		parts = append(parts, fmt.Sprintf("but %s of %s is %s: %s", groups[at].Name,
			format.PlainLine(against.Variant), against.Words(), changeText(against)))
	case len(more) > 0:
		parts = append(parts, alsoClause(first, more))
	}
	if len(bound) > 0 {
		parts = append(parts, placesText(bound)+" cannot be told apart: the generator was the limit")
	}
	if len(parts) == 0 && len(undecided) > 0 && weight(first) > 1 {
		return placesText(undecided) + ": undecided"
	}
	return strings.Join(parts, "; ")
}

// mostAmounts is of how many other measures a sentence says by how much they differ.
const mostAmounts = 2

// alsoClause says in what else variants differ, and by how much if there is only one to speak of.
func alsoClause(first answer.Group, groups []answer.Group) string {
	var names, amounts []string
	for _, g := range groups {
		names = appendOnce(names, MeasureName(g.Metric))
		if len(g.Findings) == 1 {
			amounts = append(amounts, MeasureName(g.Metric)+" "+changeText(g.Findings[0]))
		}
	}
	if len(first.Findings) == 1 && len(amounts) == len(names) && len(names) <= mostAmounts &&
		len(groups) == len(names) {
		return "also " + strings.Join(amounts, " and ")
	}
	return "there are differences in " + fewNames(names) + ", too"
}

// againstFirst is the largest difference of another measure that speaks against what the first
// group says of a variant, or against one of which it says nothing; at is its group, or -1.
func againstFirst(groups []answer.Group) (worst answer.Finding, at int) {
	at = -1
	said := map[string]answer.Verdict{}
	for _, f := range groups[0].Findings {
		if f.IsDecided() {
			said[f.Variant] = f.Verdict
		}
	}
	for i, g := range groups[1:] {
		for _, f := range g.Findings {
			before, known := said[f.Variant]
			opposite := known && f.Verdict != before || !known && f.Verdict == answer.Worse
			if f.IsDecided() && opposite && f.Size() > worst.Size() {
				worst, at = f, i+1
			}
		}
	}
	return worst, at
}

// decidesLike reports whether two groups decide the same of the same variants.
func decidesLike(a, b answer.Group) bool {
	decisions := func(g answer.Group) map[string]answer.Verdict {
		all := map[string]answer.Verdict{}
		for _, f := range g.Findings {
			if f.IsDecided() {
				all[f.Variant+"\n"+f.Baseline] = f.Verdict
			}
		}
		return all
	}
	return maps.Equal(decisions(a), decisions(b))
}

// placeOf is the place of a group, without its level where there is only one.
func placeOf(r *lab.Record, g answer.Group) place {
	return place{g.Metric, r.ShownLevel(g.Level)}
}

// isBound reports whether the generator was the limit in all comparisons of a group.
func isBound(g answer.Group) bool {
	return !slices.ContainsFunc(g.Findings, func(f answer.Finding) bool {
		return f.Verdict != answer.NotValid
	})
}

// boundSentence is the sentence of an experiment of which nothing is decided because the generator
// was the limit.
func boundSentence(r *lab.Record, groups []answer.Group) string {
	var bound, open []place
	for _, g := range groups {
		here := placeOf(r, g)
		if isBound(g) {
			bound = append(bound, here)
		} else {
			open = append(open, here)
		}
	}
	s := fmt.Sprintf("The servers cannot be told apart in %s: the generator was the limit",
		placesText(bound))
	if len(open) > 0 {
		s += "; undecided: " + placesText(open)
	}
	return s
}

func isUndecided(f answer.Finding) bool { return f.Verdict == answer.Undecided }

// fewNames lists names, as many as can be read at once.
func fewNames(all []string) string {
	if more := len(all) - mostNamed + 1; more > 1 {
		all = append(all[:mostNamed-1:mostNamed-1], fmt.Sprintf("%d more", more))
	}
	return say.Listed(all)
}
