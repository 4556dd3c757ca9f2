package payload

import (
	"fmt"

	"dyno/internal/lab"
	"dyno/internal/stats"
	"dyno/internal/view/format"
	"dyno/internal/view/labreport"
)

// texts are how a page writes numbers, by their paths in its JSON: those whose digits another
// number decides, such as a ratio's interval.
type texts map[string]string

// writeNumbers makes the texts of an experiment.
func (p *Experiment) writeNumbers() {
	t, r := texts{}, p.Record
	p.Texts = t
	for i, c := range r.Verdicts {
		at := fmt.Sprintf("record.verdicts.%d.", i)
		own := stats.Interval{Low: c.Low, Estimate: c.Ratio, High: c.High, Level: c.Confidence}
		t[at+"ratio"] = ratioText(own, c.Bound)
		t.addEnds(at, own)
		t.addEnds(at+"alone.", c.Alone)
		if c.Floor > 0 {
			t[at+"floor"] = format.BothWays(c.Floor)
		}
	}
	for i, c := range r.Cells {
		t[fmt.Sprintf("record.cells.%d.median.estimate", i)] = labreport.MedianFigure(c)
	}
	for i, s := range r.Shifts {
		for k, q := range s.Points {
			at := fmt.Sprintf("record.shifts.%d.points.%d.", i, k)
			t[at+"ratio.estimate"] = ratioText(q.Ratio, q.Bound)
			t.addEnds(at+"ratio.", q.Ratio)
			t.addEnds(at+"band.", q.Band)
		}
	}
	for i, f := range r.Published {
		at := fmt.Sprintf("record.published.%d.", i)
		t.addNumber(at+"ratio", f.Ratio, format.RatioAlone)
		t.addNumber(at+"ours_ratio", f.OursRatio, format.RatioAlone)
	}
	if r.Fairness != nil {
		for i, row := range r.Fairness.Rows {
			for k, c := range row.Cells {
				t.addNumber(fmt.Sprintf("record.fairness.rows.%d.cells.%d.percent", i, k), c.Percent,
					format.ByPercent)
			}
		}
	}
	if r.Sensitive != nil {
		for i, s := range r.Sensitive.Settings {
			at := fmt.Sprintf("record.sensitivity.settings.%d.ratio.", i)
			t[at+"estimate"] = ratioText(s.Ratio, "")
			t.addEnds(at, s.Ratio)
		}
	}
	for i, f := range p.Floors {
		t[fmt.Sprintf("floors.%d.share", i)] = format.BothWays(f.Share)
	}
	for i, h := range p.HalfNormals {
		t.addHalfNormal(fmt.Sprintf("half_normals.%d.", i), h)
	}
	for i, l := range p.Ladders {
		for k, w := range l.Laws {
			t.addLaw(fmt.Sprintf("ladders.%d.laws.%d.", i, k), w)
		}
	}
}

// ratioText is a ratio with the digits that its interval allows, and with what is known of it.
func ratioText(r stats.Interval, bound lab.Bound) string {
	text := format.RatioAlone(r.Estimate)
	if lab.Holds(r) {
		text = format.RatioIn(r.Estimate, r.Low, r.High)
	}
	return bound.Text(text)
}

// addEnds adds the ends of the interval of a ratio, if it holds.
func (t texts) addEnds(at string, r stats.Interval) {
	if lab.Holds(r) {
		t[at+"low"] = format.RatioIn(r.Low, r.Low, r.High)
		t[at+"high"] = format.RatioIn(r.High, r.Low, r.High)
	}
}

func (t texts) addNumber(at string, v *float64, text func(float64) string) {
	if v != nil {
		t[at] = text(*v)
	}
}

// addHalfNormal adds the effects of a plot, with the digits that the margin of error allows.
func (t texts) addHalfNormal(at string, h lab.HalfNormal) {
	factor := format.RatioAlone
	if h.Together > 0 {
		factor = func(f float64) string { return format.RatioIn(f, 1, h.Together) }
	}
	for i, e := range h.Effects {
		t[fmt.Sprintf("%seffects.%d.size", at, i)] = factor(e.Size)
		t[fmt.Sprintf("%seffects.%d.quantile", at, i)] = format.SignificantDigits(e.Quantile, 4)
	}
	t[at+"noise"], t[at+"margin_of_error"] = factor(h.Noise), factor(h.Alone)
	t[at+"simultaneous_margin_of_error"] = factor(h.Together)
}

// addLaw adds the parameters of a law, which may be far below 1.
func (t texts) addLaw(at string, l law) {
	four := func(f float64) string { return format.SignificantDigits(f, 4) }
	t[at+"law.gamma_per_s"], t[at+"law.sigma"] = four(l.Law.Gamma), four(l.Law.Sigma)
	t[at+"law.kappa"], t[at+"r2"] = four(l.Law.Kappa), four(l.R2)
	t.addNumber(at+"peak_n", l.PeakN, four)
	t.addNumber(at+"peak_per_s", l.PeakX, four)
}
