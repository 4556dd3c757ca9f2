package judge

import (
	"dyno/internal/lab"
	"slices"
	"strings"

	"dyno/internal/lab/experiment"
)

// besidePublished compares published figures with ours. Only ratios are comparable, because the
// machine is another one.
func besidePublished(r *lab.Record, p *experiment.Published) (all []lab.PublishedFigure) {
	if p == nil {
		return nil
	}
	published := func(variant string, f experiment.Figure) *float64 {
		i := slices.IndexFunc(p.Figures, func(g experiment.Figure) bool {
			return g.Variant == variant && g.Level == f.Level && g.Metric == f.Metric
		})
		if i < 0 {
			return nil
		}
		return p.Figures[i].Value
	}
	for _, f := range p.Figures {
		if f.Level != "" && !slices.Contains(scopeOf(r).levels, f.Level) {
			continue // --quick left it out
		}
		b := lab.PublishedFigure{Figure: f, Ours: oursFor(r, f, f.Variant)}
		base := baselineOf(r, f.Variant)
		if base != f.Variant {
			b.Ratio = ratioOf(f.Value, published(base, f))
			b.OursRatio = judgedRatio(r, f)
			if b.OursRatio == nil {
				b.OursRatio = ratioOf(b.Ours, oursFor(r, f, base))
			}
		}
		all = append(all, b)
	}
	return all
}

func ratioOf(a, b *float64) *float64 {
	if a == nil || b == nil || *b == 0 {
		return nil
	}
	q := *a / *b
	return &q
}

// oursFor is our value of f for an arm, in the unit of f: a median of trials, or the share of a
// function in a profile.
func oursFor(r *lab.Record, f experiment.Figure, arm string) *float64 {
	if function, is := strings.CutPrefix(f.Metric, "share:"); is {
		return profileShare(r, function, arm, f.Level)
	}
	for _, c := range r.Cells {
		if c.Arm == arm && c.Level == f.Level && c.Metric == f.Metric {
			return convertUnit(c.Median.Estimate, c.Unit, f.Unit)
		}
	}
	return nil
}

// judgedRatio is the ratio of the verdict on f's arm. It comes from pairs, not from medians, which
// belong to different times.
func judgedRatio(r *lab.Record, f experiment.Figure) *float64 {
	for _, c := range r.Verdicts {
		if c.Variant == f.Variant && c.Level == f.Level && c.Metric == f.Metric && c.Ratio > 0 {
			return &c.Ratio
		}
	}
	return nil
}

// microseconds is the length of each unit of time, in µs.
var microseconds = map[string]float64{"ns": 1e-3, "µs": 1, "us": 1, "ms": 1e3, "s": 1e6}

// convertUnit converts a value into another unit; nil if that is impossible.
func convertUnit(value float64, from, to string) *float64 {
	if a, b := microseconds[from], microseconds[to]; a > 0 && b > 0 {
		value *= a / b
	} else if from != to && to != "" {
		return nil
	}
	return &value
}

// profileShare is the share of a function in a profile, in percent.
func profileShare(r *lab.Record, function, arm, level string) *float64 {
	for _, p := range r.Profiles {
		for _, s := range p.Shares {
			if p.Arm == arm && p.Level == level && s.Function == function {
				percent := 100 * s.Cumulative.Share
				return &percent
			}
		}
	}
	return nil
}

// baselineOf is the baseline of an arm.
func baselineOf(r *lab.Record, arm string) string {
	for _, c := range r.Verdicts {
		if c.Variant == arm {
			return c.Baseline
		}
	}
	return r.Experiment.Design.Baseline
}
