package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
)

// noFigure stands for a missing figure.
const noFigure = "–"

// formatTables formats an experiment in Markdown: how good its trials are, and a table for each
// level.
func formatTables(r *lab.Record) string {
	var b strings.Builder
	bad := 0
	for _, t := range r.Trials {
		if t.Grade == lab.GradeF {
			bad++
		}
	}
	d := r.Experiment.Design
	fmt.Fprintf(&b, "## %s\n\n%s: %d trials of %v in %d rounds, %d of grade F; %s, %d CPUs.\n\n",
		r.Name, r.Started.Format("2006-01-02"), len(r.Trials), d.Measure, d.Rounds, bad, r.Host.CPU,
		r.Host.CPUs)
	for _, l := range r.Experiment.Levels {
		levelTable{r, l.Name}.writeTable(&b)
	}
	for _, a := range r.Arms {
		switch {
		case len(a.Missing) > 0:
			fmt.Fprintf(&b, "- %s is not available here: %s\n", a.Name, strings.Join(a.Missing, "; "))
		case a.Unfit != "" && !a.Control:
			fmt.Fprintf(&b, "- %s was not tested: %s\n", a.Name, a.Unfit)
		}
	}
	b.WriteString("\n")
	return b.String()
}

// A levelTable is the table of a level.
type levelTable struct {
	*lab.Record
	level string
}

// A column has a cell for each arm.
type column struct {
	head string
	of   func(lab.Arm) string
}

// writeTable writes the table, without empty columns and without arms that did not run.
func (s levelTable) writeTable(b *strings.Builder) {
	var arms []lab.Arm
	for _, a := range s.Arms {
		if len(a.Missing) == 0 && a.Unfit == "" {
			arms = append(arms, a)
		}
	}
	columns := slices.DeleteFunc(s.allColumns(), func(c column) bool {
		return !slices.ContainsFunc(arms, func(a lab.Arm) bool { return c.of(a) != noFigure })
	})
	heads := "| " + s.level + " |"
	for _, c := range columns {
		heads += " " + c.head + " |"
	}
	fmt.Fprintln(b, heads)
	fmt.Fprintln(b, "|---|"+strings.Repeat("---|", len(columns)))
	for _, a := range arms {
		row := "| " + a.Name + " |"
		for _, c := range columns {
			row += " " + c.of(a) + " |"
		}
		fmt.Fprintln(b, row)
	}
	fmt.Fprintln(b)
}

// allColumns returns all possible columns: published figures with their ratios, and ours.
func (s levelTable) allColumns() (all []column) {
	all = append(all, column{"bytes", answerBytesCell})
	metrics := slices.Clone(s.Experiment.Design.Metrics)
	if !slices.Contains(metrics, "cpu") {
		metrics = append(metrics, "cpu")
	}
	for _, m := range metrics {
		name := string(m)
		all = append(all,
			column{name + ", published", func(a lab.Arm) string { return s.publishedCell(a, name) }},
			column{"ratio", func(a lab.Arm) string { return s.publishedRatioCell(a, name) }},
			column{name, func(a lab.Arm) string { return s.medianCell(a, name) }},
			column{"ratio", func(a lab.Arm) string { return s.ratioCell(a, name) }})
	}
	if s.Experiment.Profile != nil {
		for _, f := range s.Experiment.Profile.Functions {
			all = append(all,
				column{f + ", published", func(a lab.Arm) string { return s.publishedCell(a, "share:"+f) }},
				column{f, func(a lab.Arm) string { return s.profileShareCell(a, f) }})
		}
	}
	return all
}

// unexplainedArms returns the arms, with their level, that have neither a result nor a reason why
// there is none.
func unexplainedArms(r *lab.Record) (all []string) {
	for _, l := range r.Experiment.Levels {
		for _, a := range r.Arms {
			table := levelTable{r, l.Name}
			if len(a.Missing) == 0 && a.Unfit == "" && table.medianCell(a, "throughput") == noFigure {
				all = append(all, a.Name+" at "+l.Name)
			}
		}
	}
	return all
}

// answerBytesCell returns the size of an answer.
func answerBytesCell(a lab.Arm) string {
	if a.Answer == nil || a.Control {
		return noFigure
	}
	return strconv.FormatFloat(a.Answer.WireBytes.Mean, 'f', -1, 64)
}

// publishedFigure returns what was published about an arm.
func (s levelTable) publishedFigure(a lab.Arm, metric string) (lab.PublishedFigure, bool) {
	i := slices.IndexFunc(s.Published, func(b lab.PublishedFigure) bool {
		return b.Variant == a.Name && b.Metric == metric && b.Level == s.level
	})
	if i < 0 {
		return lab.PublishedFigure{}, false
	}
	return s.Published[i], true
}

func (s levelTable) publishedCell(a lab.Arm, metric string) string {
	switch f, has := s.publishedFigure(a, metric); {
	case !has:
		return noFigure
	case f.Value == nil:
		return "failed"
	default:
		return strings.TrimSpace(formatDigits(*f.Value) + " " + unitOfFigure(f.Figure))
	}
}

// unitOfFigure returns the unit of a figure, unless it is the column's.
func unitOfFigure(f experiment.Figure) string {
	if f.Unit == "req/s" {
		return ""
	}
	return f.Unit
}

func (s levelTable) publishedRatioCell(a lab.Arm, metric string) string {
	f, has := s.publishedFigure(a, metric)
	if !has || f.Ratio == nil {
		return noFigure
	}
	return fmt.Sprintf("%.2f", *f.Ratio)
}

// medianCell returns the median of our trials, or how they failed.
func (s levelTable) medianCell(a lab.Arm, metric string) string {
	for _, c := range s.Cells {
		if c.Arm == a.Name && c.Level == s.level && c.Metric == metric {
			v, unit := c.Median.Estimate, c.Unit
			if unit == "µs" && v >= 1000 {
				v, unit = v/1000, "ms"
			}
			if unit == "req/s" {
				return formatDigits(v)
			}
			return formatDigits(v) + " " + strings.TrimSuffix(unit, "/req")
		}
	}
	for _, t := range s.Trials {
		if metric == "throughput" && t.Arm == a.Name && t.Level == s.level && t.Failure != nil {
			first, _, _ := strings.Cut(t.Failure.Reason, "\n")
			return "failed: " + first
		}
	}
	return noFigure
}

// ratioCell returns the ratio of an arm to its baseline, with its interval.
func (s levelTable) ratioCell(a lab.Arm, metric string) string {
	for _, c := range s.Verdicts {
		if c.Variant == a.Name && c.Level == s.level && c.Metric == metric {
			text := fmt.Sprintf("%.2f", c.Ratio)
			if c.Confidence >= 0.949 {
				text += fmt.Sprintf(" [%.2f, %.2f]", c.Low, c.High)
			}
			return text
		}
	}
	return noFigure
}

// profileShareCell returns a function's share of an arm's profile.
func (s levelTable) profileShareCell(a lab.Arm, function string) string {
	for _, p := range s.Profiles {
		for _, f := range p.Shares {
			if p.Arm == a.Name && p.Level == s.level && f.Function == function && f.Cumulative.Share > 0 {
				return fmt.Sprintf("%.1f %%", 100*f.Cumulative.Share)
			}
		}
	}
	return noFigure
}

// formatDigits formats a number with three digits, or with all digits of its integer part.
func formatDigits(v float64) string {
	if v < 100 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	whole := strconv.FormatFloat(math.Round(v), 'f', 0, 64)
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return whole
}
