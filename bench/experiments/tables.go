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

// none stands where there is no figure.
const none = "–"

// tables are those of an experiment, in Markdown: one for each level, and before them how
// much its trials are worth.
func tables(r *lab.Record) string {
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
		sheet{r, l.Name}.write(&b)
	}
	for _, a := range r.Arms {
		switch {
		case len(a.Missing) > 0:
			fmt.Fprintf(&b, "- %s is not available here: %s\n", a.Name, strings.Join(a.Missing, "; "))
		case a.Unfit != "" && !a.Control:
			fmt.Fprintf(&b, "- %s was not loaded: %s\n", a.Name, a.Unfit)
		}
	}
	b.WriteString("\n")
	return b.String()
}

// A sheet is the table of a level.
type sheet struct {
	*lab.Record
	level string
}

// A column has a cell for each arm.
type column struct {
	head string
	of   func(lab.Arm) string
}

// write writes the table, without columns that are empty and arms that did not run.
func (s sheet) write(b *strings.Builder) {
	var arms []lab.Arm
	for _, a := range s.Arms {
		if len(a.Missing) == 0 && a.Unfit == "" {
			arms = append(arms, a)
		}
	}
	columns := slices.DeleteFunc(s.columns(), func(c column) bool {
		return !slices.ContainsFunc(arms, func(a lab.Arm) bool { return c.of(a) != none })
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

// columns are all that there could be: published figures with their ratios, then ours.
func (s sheet) columns() (all []column) {
	all = append(all, column{"bytes", bytesOf})
	metrics := slices.Clone(s.Experiment.Design.Metrics)
	if !slices.Contains(metrics, "cpu") {
		metrics = append(metrics, "cpu")
	}
	for _, m := range metrics {
		name := string(m)
		all = append(all,
			column{name + ", published", func(a lab.Arm) string { return s.published(a, name) }},
			column{"ratio", func(a lab.Arm) string { return s.publishedRatio(a, name) }},
			column{name, func(a lab.Arm) string { return s.median(a, name) }},
			column{"ratio", func(a lab.Arm) string { return s.ratio(a, name) }})
	}
	if s.Experiment.Profile != nil {
		for _, f := range s.Experiment.Profile.Functions {
			all = append(all,
				column{f + ", published", func(a lab.Arm) string { return s.published(a, "share:"+f) }},
				column{f, func(a lab.Arm) string { return s.share(a, f) }})
		}
	}
	return all
}

// unexplained are the arms, with their level, of which there is neither a result nor a
// reason why there is none.
func unexplained(r *lab.Record) (all []string) {
	for _, l := range r.Experiment.Levels {
		for _, a := range r.Arms {
			if len(a.Missing) == 0 && a.Unfit == "" && (sheet{r, l.Name}).median(a, "throughput") == none {
				all = append(all, a.Name+" at "+l.Name)
			}
		}
	}
	return all
}

// bytesOf is the size of an answer.
func bytesOf(a lab.Arm) string {
	if a.Answer == nil || a.Control {
		return none
	}
	return strconv.FormatFloat(a.Answer.WireBytes.Mean, 'f', -1, 64)
}

// figure is what was published of an arm.
func (s sheet) figure(a lab.Arm, metric string) (lab.PublishedFigure, bool) {
	i := slices.IndexFunc(s.Published, func(b lab.PublishedFigure) bool {
		return b.Variant == a.Name && b.Metric == metric && b.Level == s.level
	})
	if i < 0 {
		return lab.PublishedFigure{}, false
	}
	return s.Published[i], true
}

func (s sheet) published(a lab.Arm, metric string) string {
	switch f, has := s.figure(a, metric); {
	case !has:
		return none
	case f.Value == nil:
		return "failed"
	default:
		return strings.TrimSpace(digits(*f.Value) + " " + unitOf(f.Figure))
	}
}

// unitOf is the unit of a figure, unless it is that of the column.
func unitOf(f experiment.Figure) string {
	if f.Unit == "req/s" {
		return ""
	}
	return f.Unit
}

func (s sheet) publishedRatio(a lab.Arm, metric string) string {
	f, has := s.figure(a, metric)
	if !has || f.Ratio == nil {
		return none
	}
	return fmt.Sprintf("%.2f", *f.Ratio)
}

// median is of our trials, or how those failed that have none.
func (s sheet) median(a lab.Arm, metric string) string {
	for _, c := range s.Cells {
		if c.Arm == a.Name && c.Level == s.level && c.Metric == metric {
			v, unit := c.Median.Estimate, c.Unit
			if unit == "µs" && v >= 1000 {
				v, unit = v/1000, "ms"
			}
			if unit == "req/s" {
				return digits(v)
			}
			return digits(v) + " " + strings.TrimSuffix(unit, "/req")
		}
	}
	for _, t := range s.Trials {
		if metric == "throughput" && t.Arm == a.Name && t.Level == s.level && t.Failure != nil {
			first, _, _ := strings.Cut(t.Failure.Reason, "\n")
			return "failed: " + first
		}
	}
	return none
}

// ratio is what the trials say of an arm and its baseline.
func (s sheet) ratio(a lab.Arm, metric string) string {
	for _, c := range s.Verdicts {
		if c.Variant == a.Name && c.Level == s.level && c.Metric == metric {
			text := fmt.Sprintf("%.2f", c.Ratio)
			if c.Confidence >= 0.949 {
				text += fmt.Sprintf(" [%.2f, %.2f]", c.Low, c.High)
			}
			return text
		}
	}
	return none
}

// share is that of a function in an arm's profile.
func (s sheet) share(a lab.Arm, function string) string {
	for _, p := range s.Profiles {
		for _, f := range p.Shares {
			if p.Arm == a.Name && p.Level == s.level && f.Function == function && f.Cumulative.Share > 0 {
				return fmt.Sprintf("%.1f %%", 100*f.Cumulative.Share)
			}
		}
	}
	return none
}

// digits is a number with three digits, or with all of a whole one.
func digits(v float64) string {
	if v < 100 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	whole := strconv.FormatFloat(math.Round(v), 'f', 0, 64)
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return whole
}
