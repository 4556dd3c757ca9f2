package labanswer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"dyno/internal/lab"
	"dyno/internal/lab/design"
	"dyno/internal/lab/experiment"
	"dyno/internal/view/answer"
	"dyno/internal/view/format"
)

// labelRows gives each finding of a group with several baselines a label: the variant and its
// baseline. Of a baseline that is another value of the same factor only the value is repeated.
func labelRows(all []answer.Finding) {
	several := slices.ContainsFunc(all, func(f answer.Finding) bool {
		return f.Baseline != all[0].Baseline
	})
	for i, f := range all {
		if !several {
			return
		}
		_, value, _ := cutLast(f.Baseline)
		if factor, _, is := cutLast(f.Variant); !is || factor+"="+value != f.Baseline {
			value = f.Baseline
		}
		all[i].Label = f.Variant + " vs " + value
	}
}

// cutLast cuts a name at its last "=".
func cutLast(name string) (factor, value string, is bool) {
	i := strings.LastIndexByte(name, '=')
	if i < 0 {
		return "", name, false
	}
	return name[:i], name[i+1:], true
}

// factorClauses say the largest difference that each factor makes, the largest first, if all that
// is decided is about factors.
func factorClauses(r *lab.Record, decided []answer.Finding) (all []string) {
	var said []string
	for _, f := range decided {
		c := r.Verdicts[f.Comparison]
		if c.Factor == "" {
			return nil
		}
		of, _, _ := cutLast(f.Variant)
		if slices.Contains(said, of) {
			continue
		}
		said = append(said, of)
		all = append(all, withAliases(c)+" "+amount(f, c.Metric))
	}
	return all
}

// withAliases is the name of an effect, with the number of pairs of factors that a screening cannot
// tell apart from it.
func withAliases(c lab.Comparison) string {
	name := format.PlainLine(c.Variant)
	if c.Aliases == "" {
		return name
	}
	n := int64(1 + strings.Count(c.Aliases, design.AliasSeparator))
	return fmt.Sprintf("%s (or %s that it cannot be told apart from)", name,
		format.Plural(n, "other pair"))
}

// labelFactors gives variants whose names are long the factors in which they differ from their
// baseline as labels.
func labelFactors(r *lab.Record, all []answer.Finding) {
	if r.Experiment == nil {
		return
	}
	settings := map[string][]experiment.Setting{}
	for _, v := range experiment.Expand(r.Experiment) {
		settings[v.Name] = v.Factors
	}
	for i, f := range all {
		if utf8.RuneCountInString(f.Variant) <= longestName || f.Label != "" {
			continue
		}
		var differ []string
		for _, s := range settings[f.Variant] {
			if !slices.Contains(settings[f.Baseline], s) {
				differ = append(differ, s.Factor+"="+s.Value)
			}
		}
		if len(settings[f.Baseline]) > 0 && len(differ) > 0 {
			all[i].Label = strings.Join(differ, " ")
		}
	}
}

// curveNotes say, for each factor of a group with three or more rising numbers, up to which value
// it pays.
func curveNotes(r *lab.Record, g answer.Group) (all []string) {
	if r.Experiment == nil {
		return nil
	}
	for _, f := range r.Experiment.Factors {
		if len(f.Value) < 3 || !areRising(f.Value) {
			continue
		}
		var done []string // of each definition that has the factor
		for _, c := range g.Findings {
			of, _, is := cutLast(c.Variant)
			if v := r.Verdicts[c.Comparison]; !is || v.Factor != f.Name || v.With != "" ||
				slices.Contains(done, of) {
				continue
			}
			done = append(done, of)
			if note := curveNote(r, g, of, f.Value); note != "" {
				all = append(all, note)
			}
		}
	}
	return all
}

// aliasNotes say which interactions a screening cannot tell apart from those that are decided.
func aliasNotes(r *lab.Record, g answer.Group) (all []string) {
	for _, f := range g.Findings {
		if c := r.Verdicts[f.Comparison]; f.IsDecided() && len(c.Aliases) > 0 {
			all = append(all, fmt.Sprintf("%s cannot be told apart from %s", format.PlainLine(c.Variant),
				format.PlainLine(c.Aliases)))
		}
	}
	return all
}

// areRising reports whether values are numbers, each larger than the one before.
func areRising(values []string) bool {
	last := 0.0
	for i, v := range values {
		x, err := strconv.ParseFloat(v, 64)
		if err != nil || i > 0 && x <= last {
			return false
		}
		last = x
	}
	return true
}

// curveNote says up to which value a factor pays: the best one is the largest that is better than
// the best one below it. It is "" if a comparison that this needs has no interval, or is the
// generator's.
func curveNote(r *lab.Record, g answer.Group, factor string, values []string) string {
	best, next := 0, answer.Finding{}
	for i := 1; i < len(values); i++ {
		at := slices.IndexFunc(g.Findings, func(f answer.Finding) bool {
			return f.Variant == factor+"="+values[i] && f.Baseline == factor+"="+values[best]
		})
		if at < 0 {
			return ""
		}
		f := g.Findings[at]
		if c := r.Verdicts[f.Comparison]; !c.HasInterval() || c.ClientBound {
			return ""
		}
		if f.Verdict == answer.Better {
			best, next = i, answer.Finding{}
		} else if next.Variant == "" {
			next = f
		}
	}
	factor = format.PlainLine(factor)
	if best == len(values)-1 {
		return fmt.Sprintf("%s still pays at %s, its largest value", factor, values[best])
	}
	_, value, _ := cutLast(next.Variant)
	is := map[answer.Verdict]string{answer.Same: "is the same", answer.Worse: "is worse",
		answer.Undecided: "is not shown to be better"}[next.Verdict]
	because := fmt.Sprintf("%s %s (%s)", format.PlainLine(value), is, changeText(next))
	if best == 0 {
		return fmt.Sprintf("No value of %s is better than %s: %s", factor, values[0], because)
	}
	return fmt.Sprintf("%s pays up to %s: %s", factor, values[best], because)
}
