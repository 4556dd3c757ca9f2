package main

import (
	"cmp"
	"fmt"
	"slices"

	"dyno/internal/stats"
)

// confidence is the level of all intervals.
const confidence = 0.95

// A rowOutcome is the result of a row.
type rowOutcome struct {
	Name     string    `json:"name"`
	Title    string    `json:"title"`
	Seconds  int       `json:"seconds,omitempty"`
	SliceMS  int64     `json:"slice_ms,omitempty"` // trials are slices so long
	Tools    []string  `json:"tools"`
	Baseline string    `json:"baseline,omitempty"` // of the ratios
	Ratios   []ratio   `json:"ratios"`
	Verdicts []verdict `json:"verdicts"`
	Trials   []trial   `json:"trials"`
	row      row
}

// A ratio is a tool's metric divided by another's.
type ratio struct {
	Tool   string `json:"tool"`
	To     string `json:"to"`
	Metric metric `json:"metric"`
	Pairs  int    `json:"pairs"`
	stats.Interval
}

// A verdict says whether dyno has reached a bar.
type verdict struct {
	Bar     string          `json:"bar"`
	Found   *stats.Interval `json:"found,omitempty"`
	Trials  int             `json:"trials"` // or pairs
	Reached bool            `json:"reached"`
	Why     string          `json:"why,omitempty"` // it could not be judged
	// Barely: the interval reaches the bar, the estimate does not.
	Barely bool `json:"barely,omitempty"`
}

// judgeRow computes the ratios and verdicts from the trials.
func (o *rowOutcome) judgeRow() {
	if o.row.slice == 0 {
		o.Baseline = cmp.Or(o.bestTool(o.row.baseline, rate), o.bestTool(otherDyno, rate))
	}
	for _, c := range o.row.columns {
		for _, name := range o.Tools {
			tool, to := o.ratioOf(name)
			if !c.ratio || tool == to {
				continue
			}
			v, pairs, err := o.compareTools(tool, to, c.metric)
			if err == nil { // else the table shows that there is none
				o.Ratios = append(o.Ratios, ratio{tool, to, c.metric, pairs, v})
			}
		}
	}
	for _, b := range o.row.bars {
		o.Verdicts = append(o.Verdicts, o.judgeBar(b))
	}
}

// ratioOf returns which tool is divided by which in the line of a tool: the tool by the baseline,
// or with slices dyno by the tool.
func (o *rowOutcome) ratioOf(name string) (tool, to string) {
	if o.row.slice > 0 {
		return "dyno", name
	}
	return name, o.Baseline
}

// bestTool returns the tool with the highest median rate, or the lowest median of another metric;
// "" if none has a trial.
func (o *rowOutcome) bestTool(names []string, m metric) string {
	best, lead := "", 0.0
	for _, name := range names {
		v := stats.Median(o.toolValues(name, m))
		if m != rate {
			v = 1 / v
		}
		if v > lead { // NaN is not
			best, lead = name, v
		}
	}
	return best
}

// toolValues returns a tool's values of a metric, in the order of the trials.
func (o *rowOutcome) toolValues(tool string, m metric) []float64 {
	var out []float64
	for _, t := range o.Trials {
		if v, ok := t.Values[m]; ok && t.Tool == tool {
			out = append(out, v)
		}
	}
	return out
}

// compareTools returns the ratio of two tools, over the rounds in which both have the metric.
func (o *rowOutcome) compareTools(tool, base string, m metric) (stats.Interval, int, error) {
	a, b := o.pairedValues(tool, base, m)
	v, err := stats.PairedRatio(a, b, confidence)
	return v, len(a), err
}

func (o *rowOutcome) pairedValues(one, other string, m metric) (a, b []float64) {
	of := func(tool string, round int) (float64, bool) {
		i := slices.IndexFunc(o.Trials, func(t trial) bool {
			return t.Tool == tool && t.Round == round
		})
		if i < 0 {
			return 0, false
		}
		v, ok := o.Trials[i].Values[m]
		return v, ok
	}
	for round := range o.row.pairs {
		x, okX := of(one, round)
		y, okY := of(other, round)
		if okX && okY {
			a, b = append(a, x), append(b, y)
		}
	}
	return a, b
}

// judgeBar compares a tool with a bar.
func (o *rowOutcome) judgeBar(b bar) verdict {
	if b.op == exactly {
		b.value = o.row.load.requestedCount(b.metric)
	}
	tool, base, among := cmp.Or(b.tool, "dyno"), o.bestTool(o.row.baseline, rate), o.row.baseline
	if b.to != nil {
		base, among = o.bestTool(b.to, b.metric), b.to
	}
	v := verdict{Bar: b.describeBar(base)}
	var found stats.Interval
	var err error
	if b.ratio {
		if base == "" {
			v.Why = fmt.Sprintf("no trial of %v: not installed, or it failed", among)
			return v
		}
		found, v.Trials, err = o.compareTools(tool, base, b.metric)
	} else {
		values := o.toolValues(tool, b.metric)
		v.Trials = len(values)
		found, err = stats.MedianInterval(values, confidence)
		if b.op == exactly && err == nil { // every one counts, not the middle
			found.Low, found.High = slices.Min(values), slices.Max(values)
		}
	}
	if err != nil {
		v.Why = err.Error()
		return v
	}
	v.Found = &found
	v.Reached = b.isReachedBy(found.Low, found.High)
	v.Barely = v.Reached && !b.isReachedBy(found.Estimate, found.Estimate)
	return v
}

// isReachedBy reports whether an interval reaches the bar.
func (b bar) isReachedBy(low, high float64) bool {
	switch b.op {
	case atLeast:
		return high >= b.value
	case atMost:
		return low <= b.value
	case within:
		return low <= b.value+b.tolerance && high >= b.value-b.tolerance
	default: // asAsked
		return low == b.value && high == b.value
	}
}

// describeBar describes the bar.
func (b bar) describeBar(baseline string) string {
	what := string(b.metric)
	if b.tool != "" {
		what = b.tool + ": " + what
	}
	if b.ratio {
		return fmt.Sprintf("%s %s %g × %s", what, b.op, b.value, cmp.Or(baseline, "the baseline"))
	}
	if b.op == within {
		return fmt.Sprintf("%s %s ± %s", what, formatValue(b.metric, b.value),
			formatValue(b.metric, b.tolerance))
	}
	return fmt.Sprintf("%s %s %s", what, b.op, formatValue(b.metric, b.value))
}

func (op operator) String() string {
	return [...]string{atLeast: "≥", atMost: "≤", within: "±", exactly: "="}[op]
}
