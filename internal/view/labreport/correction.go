package labreport

import (
	"fmt"
	"slices"
	"strings"

	"dyno/internal/lab"
	"dyno/internal/view/format"
)

// correctionText is what was done about how many comparisons there are, in a line above what they
// say; none if nothing was compared.
func correctionText(all []lab.Comparison) []string {
	n, apart, uncorrected := 0, false, false
	for _, c := range all {
		if !c.Control {
			n++
			apart = apart || c.Against > 0
			uncorrected = uncorrected || c.PAdjusted == 0
		}
	}
	if slices.ContainsFunc(all, func(c lab.Comparison) bool { return c.Method == lab.ByLenth }) {
		return []string{"There are too few rounds for their own spread: the spread of all effects of a " +
			"measure is the measure of noise (Lenth's method, simultaneous at 95 %). It finds less where " +
			"most effects are real."}
	}
	const promise = "what they say holds of all together, in 95 of 100 experiments."
	switch {
	case n == 0:
		return nil
	case uncorrected:
		return []string{"An older dyno judged each comparison by itself: the verdicts are not " +
			"corrected for how many there are."}
	case apart:
		return []string{fmt.Sprintf("Verdicts and intervals are corrected for %s (Holm, Bonferroni): "+
			"%s", format.Plural(int64(n), "comparison"), promise)}
	}
	var texts []string
	for _, one := range familyCounts(all) {
		texts = append(texts, one.text())
	}
	return []string{fmt.Sprintf("Verdicts and intervals are corrected for %s (maxT over sign flips "+
		"of rounds): if noise is symmetric, %s", strings.Join(texts,
		", and apart from these for "), promise)}
}

// A familyCount is a number of comparisons that are corrected together, and what they are.
type familyCount struct {
	n    int64
	what string
}

func (f familyCount) text() string { return format.Count(f.n) + " " + f.what }

// familyCounts counts the comparisons that are corrected together: "6 comparisons", or "8
// comparisons of settings" and "4 of interactions".
func familyCounts(all []lab.Comparison) (parts []familyCount) {
	for _, f := range lab.Families[1:] {
		n := int64(0)
		for _, c := range all {
			if c.Family() == f {
				n++
			}
		}
		switch {
		case n == 0:
		case len(parts) == 0:
			what := "comparisons"
			if n == 1 {
				what = "comparison"
			}
			if f != lab.OfVariants {
				what += " of " + string(f)
			}
			parts = append(parts, familyCount{n, what})
		default:
			parts = append(parts, familyCount{n, "of " + string(f)})
		}
	}
	return parts
}
