package labreport

import (
	"slices"

	"dyno/internal/lab"
	"dyno/internal/view/document"
	"dyno/internal/view/format"
)

// shiftPart is by how much each quantile of latency differs: a row for each quantile at each
// level, a column for each arm that is compared.
func shiftPart(r *lab.Record) document.Part {
	out := document.Part{Head: "Latency, quantile by quantile", Sides: "lr", Text: []string{
		"The shift function: by which factor each quantile of latency exceeds the baseline's, paired " +
			"by round, with the 95 % interval of each by itself. * marks what differs also when all " +
			"quantiles of a column are taken together (sign flips of rounds)."},
		Table: format.Table{{"level", "quantile"}}}
	var arms, levels []string
	var quantiles []float64
	for _, s := range r.Shifts {
		arms, levels = appendMissing(arms, s.Variant), appendMissing(levels, s.Level)
		for _, p := range s.Points {
			quantiles = appendMissing(quantiles, p.Quantile)
		}
	}
	if len(arms) == 0 {
		return document.Part{}
	}
	slices.Sort(quantiles)
	for _, arm := range arms {
		out.Table[0] = append(out.Table[0], format.PlainLine(arm))
	}
	for _, level := range levels {
		for _, q := range quantiles {
			row := []string{format.PlainLine(level), "p" + format.SignificantDigits(100*q, 3)}
			for _, arm := range arms {
				row = append(row, shiftCell(r.Shifts, level, arm, q))
			}
			out.Table = append(out.Table, row)
		}
	}
	return out
}

// appendMissing is all with one more, unless it is there.
func appendMissing[T comparable](all []T, one T) []T {
	if slices.Contains(all, one) {
		return all
	}
	return append(all, one)
}

func shiftCell(all []lab.Shift, level, arm string, quantile float64) string {
	for _, s := range all {
		if s.Level != level || s.Variant != arm {
			continue
		}
		for _, p := range s.Points {
			if p.Quantile == quantile {
				return shiftText(p)
			}
		}
	}
	return "–"
}

func shiftText(p lab.ShiftPoint) string {
	s := p.Bound.Text(format.RatioAlone(p.Ratio.Estimate))
	if r := p.Ratio; lab.Holds(r) && p.Bound != lab.NoBound {
		s = p.Bound.Text(format.RatioIn(r.Estimate, r.Low, r.High)) + " " +
			p.Bound.RatioInterval(r.Low, r.High)
	}
	if p.IsShown() {
		return s + " *"
	}
	return s
}
