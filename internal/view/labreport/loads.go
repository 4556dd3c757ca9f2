package labreport

import (
	"fmt"
	"slices"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/view/document"
	"dyno/internal/view/format"
)

// capacityPart has what searches certified.
func capacityPart(r *lab.Record) document.Part {
	if r.Experiment == nil {
		return document.Part{}
	}
	out := document.Part{Head: "Capacity", Sides: "lllrr", Table: format.Table{
		{"level", "variant", "objective", "certified (median)", "trials"}}, Text: []string{
		"The highest load that met the objective in a trial, and did so again in a longer run. Half of " +
			"the width of the 95 % interval of a median is behind ±. A search knows a rate to 3 %, and a " +
			"number to 3 % or 1; it starts each time from another one, so that this is no bias of the " +
			"ratios."}}
	for _, l := range r.Experiment.Levels {
		for _, arm := range r.Arms {
			if !l.IsSearch() {
				continue
			}
			metric := string(experiment.CapacityOf(l.Axis))
			if cell, n := medianFigure(r, arm.Name, l.Name, metric); n > 0 {
				out.Table = append(out.Table, []string{format.PlainLine(l.Name), format.PlainLine(arm.Name),
					format.PlainLine(string(l.Find)), cell + " " + metricUnit(r, metric),
					format.Count(int64(n))})
			}
		}
	}
	if len(out.Table) == 1 {
		return document.Part{}
	}
	return out
}

// frontierPart has what a request costs at rising rates.
func frontierPart(r *lab.Record) document.Part {
	f := r.Frontier
	if f == nil {
		return document.Part{}
	}
	out := document.Part{Head: "Efficiency at rising rates", Sides: "lrrrrr", Table: format.Table{
		{"variant", "rate (req/s)", "CPU (µs/req)", "mean latency (µs)", "p99 (µs)", "in flight"}}}
	if c := r.Chosen; c != nil {
		out.Text = append(out.Text, fmt.Sprintf("The rates are shares of the smallest capacity, %s/s "+
			"of %s.", format.Digits3(c.Capacity), format.PlainLine(c.Arm)))
	}
	for _, arm := range r.Arms {
		for i, level := range f.Levels {
			row, any := []string{format.PlainLine(arm.Name), format.Exact3(f.Rates[i])}, 0
			for _, m := range []string{lab.CPU.Name, "mean", "p99", lab.InFlight} {
				cell, n := medianFigure(r, arm.Name, level, m)
				if n == 0 {
					cell = "n/a"
				}
				row, any = append(row, cell), max(any, n)
			}
			if any > 0 {
				out.Table = append(out.Table, row)
			}
		}
		if text := idleText(r, arm.Name); text != "" && !arm.Control {
			out.Text = append(out.Text, text)
		}
	}
	return out
}

// idleText is what a request costs at the lowest rate and at the highest; "" if that is not known.
func idleText(r *lab.Record, arm string) string {
	f := r.Frontier
	cpu := func(level string) float64 {
		i := slices.IndexFunc(r.Cells, func(c lab.Cell) bool {
			return c.Arm == arm && c.Level == level && c.Metric == lab.CPU.Name
		})
		if i < 0 {
			return 0
		}
		return r.Cells[i].Median.Estimate
	}
	last := len(f.Levels) - 1
	idle, busy := cpu(f.Levels[0]), cpu(f.Levels[last])
	if idle == 0 || busy == 0 {
		return ""
	}
	return fmt.Sprintf("%s: a request costs %s of CPU at %s/s, the lowest rate, and %s at %s/s: %s "+
		"times as much at the lowest rate.", format.PlainLine(arm), format.Micros(idle),
		format.Exact3(f.Rates[0]), format.Micros(busy), format.Exact3(f.Rates[last]),
		format.RatioAlone(idle/busy))
}

// sensitivityPart has what other settings of the generator do to one cell.
func sensitivityPart(r *lab.Record) document.Part {
	s := r.Sensitive
	if s == nil {
		return document.Part{}
	}
	out := document.Part{Head: "Sensitivity to the generator", Sides: "lrrr", Text: []string{
		format.PlainLine(s.Sentence) + "."}, Table: format.Table{
		{"setting", "ratio of " + s.Metric, "95 % interval", "pairs"}}}
	for _, v := range s.Settings {
		out.Table = append(out.Table, []string{format.PlainLine(v.Name),
			format.RatioIn(v.Ratio.Estimate, v.Ratio.Low, v.Ratio.High),
			format.RatioInterval(v.Ratio.Low, v.Ratio.High), format.Count(int64(v.Trials))})
	}
	for _, why := range s.Skipped {
		out.Text = append(out.Text, "Not tried: "+format.PlainLine(why)+".")
	}
	if len(s.Trials) > 0 {
		grades := map[lab.Grade]int{}
		for _, t := range s.Trials {
			grades[t.Grade]++
		}
		out.Text = append(out.Text, gradesText(fmt.Sprintf("Of %s with settings of the generator",
			format.Plural(int64(len(s.Trials)), "trial")), grades))
	}
	if len(out.Table) == 1 {
		out.Table = nil
	}
	return out
}
