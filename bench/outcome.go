package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"dyno/internal/stats"
)

// An outcome is the result of a call of bench.
type outcome struct {
	Format  string       `json:"format"`
	Machine machine      `json:"machine"`
	Rows    []rowOutcome `json:"rows"`
}

// writeOutcome prints the outcome, and writes it to the file of -json.
func (o *outcome) writeOutcome(opt options, w io.Writer) error {
	if opt.json != "" {
		text, err := json.MarshalIndent(o, "", "\t")
		if err == nil {
			err = os.WriteFile(opt.json, append(text, '\n'), 0o644)
		}
		if err != nil {
			return fmt.Errorf("-json: %w", err)
		}
	}
	var b strings.Builder
	b.WriteString(o.Machine.machineText())
	for i := range o.Rows {
		o.Rows[i].writeRow(&b, opt.markdown)
	}
	o.barSummary().writeTable(&b, opt.markdown)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("print the outcome: %w", err)
	}
	return nil
}

// exitStatus returns the exit code.
func (o *outcome) exitStatus(ctx context.Context, gate bool) int {
	missed := false
	for _, r := range o.Rows {
		for _, t := range r.Trials {
			if t.Error != "" && !t.Calls && ctx.Err() == nil {
				return exitFailed
			}
		}
		for _, v := range r.Verdicts {
			missed = missed || !v.Reached
		}
	}
	switch {
	case ctx.Err() != nil:
		return exitInterrupted
	case gate && missed:
		return exitMissed
	}
	return exitOK
}

// A table is text in columns.
type table struct {
	title string
	lines [][]string // the first is the head
	notes []string
}

// writeTable writes the table as text, or as Markdown.
func (t table) writeTable(b *strings.Builder, markdown bool) {
	widths := make([]int, len(t.lines[0]))
	for _, line := range t.lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	between, edge, mark := "  ", "", ""
	if markdown {
		between, edge, mark = " | ", "|", "### "
	}
	fmt.Fprintf(b, "\n%s%s\n\n", mark, t.title)
	for i, line := range t.lines {
		var cells []string
		for j, cell := range line {
			cells = append(cells, cell+strings.Repeat(" ", widths[j]-utf8.RuneCountInString(cell)))
		}
		text := strings.Join(cells, between)
		if markdown {
			text = edge + " " + text + " " + edge
		}
		b.WriteString(strings.TrimRight(text, " ") + "\n")
		if markdown && i == 0 {
			b.WriteString(edge + strings.Repeat(" --- |", len(line)) + "\n")
		}
	}
	for _, note := range t.notes {
		fmt.Fprintf(b, "\n%s\n", note)
	}
}

// writeRow writes the row's table, with failed trials below it.
func (o *rowOutcome) writeRow(b *strings.Builder, markdown bool) {
	head, ratioHead := []string{"tool", "trials"}, "× "+o.Baseline
	length := fmt.Sprintf("%d s trials", o.Seconds)
	if o.row.slice > 0 {
		head[1], ratioHead, length = "slices", "dyno ÷ it", fmt.Sprintf("slices of %d ms", o.SliceMS)
	}
	for _, c := range o.row.columns {
		head = append(head, string(c.metric))
		if c.spread {
			head = append(head, "lowest–highest")
		}
		if c.ratio && o.hasRatios() {
			head = append(head, ratioHead)
		}
	}
	t := table{title: o.Name + ": " + o.Title, lines: [][]string{head}}
	for _, name := range o.Tools {
		t.lines = append(t.lines, o.tableLine(name))
	}
	if len(o.Ratios) > 0 {
		t.notes = append(t.notes, fmt.Sprintf("Ratios are of pairs of %s (interval: %s); "+
			"other values are medians.", length, formatLevel(o.Ratios[0].Level, o.Ratios[0].Pairs)))
	}
	if note := o.describeDisturbed(); note != "" {
		t.notes = append(t.notes, note)
	}
	for _, x := range o.Trials {
		if x.Error != "" {
			t.notes = append(t.notes, fmt.Sprintf("Failed: round %d, %s", x.Round+1, x))
		}
	}
	t.writeTable(b, markdown)
}

// hasRatios reports whether the row's tools can be compared.
func (o *rowOutcome) hasRatios() bool { return o.Baseline != "" || o.row.slice > 0 }

// quietPercent is how much of a CPU other programs may use before a trial counts as disturbed.
const quietPercent = 5.0

// describeDisturbed says how many trials other programs have disturbed; "" if none.
func (o *rowOutcome) describeDisturbed() string {
	count, worst := 0, 0.0
	for _, t := range o.Trials {
		if v := t.Values[foreign]; v > quietPercent {
			count, worst = count+1, max(worst, v)
		}
	}
	if count == 0 {
		return ""
	}
	return fmt.Sprintf("Disturbed: in %d of %d trials other programs used more than %g %% "+
		"of a CPU, at most %.0f %%. Run it again on a quiet machine.",
		count, len(o.Trials), quietPercent, worst)
}

// tableLine returns a tool's line of the row's table. A missing value is a dash.
func (o *rowOutcome) tableLine(tool string) []string {
	trials := 0
	for _, t := range o.Trials {
		if t.Tool == tool && t.Error == "" && !t.Calls {
			trials++
		}
	}
	line := []string{tool, strconv.Itoa(trials)}
	for _, c := range o.row.columns {
		values := o.toolValues(tool, c.metric)
		middle, spread := "–", "–"
		if len(values) > 0 {
			middle = formatValue(c.metric, stats.Median(values))
			spread = formatRange(c.metric, values)
		}
		line = append(line, middle)
		if c.spread {
			line = append(line, spread)
		}
		if c.ratio && o.hasRatios() {
			line = append(line, o.ratioCell(tool, c.metric))
		}
	}
	return line
}

func (o *rowOutcome) ratioCell(name string, m metric) string {
	tool, to := o.ratioOf(name)
	if tool == to {
		return "1"
	}
	for _, r := range o.Ratios {
		if r.Tool == tool && r.To == to && r.Metric == m {
			return formatInterval("", r.Interval)
		}
	}
	return "–"
}

// barSummary returns the table of all rows' bars.
func (o *outcome) barSummary() table {
	t := table{title: "Bars", lines: [][]string{{"row", "bar", "found", "interval", "verdict"}}}
	reached, all := 0, 0
	for _, r := range o.Rows {
		for i, v := range r.Verdicts {
			found, basis, says := "–", "–", "not judged: "+v.Why
			if v.Found != nil {
				m := r.row.bars[i].metric
				if r.row.bars[i].ratio {
					m = ""
				}
				found, says = formatInterval(m, *v.Found), "NOT reached"
				basis = formatLevel(v.Found.Level, v.Trials)
			}
			switch {
			case v.Barely:
				says = "reached by the interval only"
			case v.Reached:
				says = "reached"
			}
			if all++; v.Reached {
				reached++
			}
			t.lines = append(t.lines, []string{r.Name, v.Bar, found, basis, says})
		}
	}
	t.notes = []string{fmt.Sprintf("%d of %d bars reached.", reached, all)}
	return t
}

// formatInterval formats an estimate with its interval, of a metric or, if m is "", of a ratio. A
// single value has no interval.
func formatInterval(m metric, v stats.Interval) string {
	if v.Level == 0 {
		return formatValue(m, v.Estimate)
	}
	return fmt.Sprintf("%s [%s, %s]", formatValue(m, v.Estimate), formatValue(m, v.Low),
		formatValue(m, v.High))
}

// formatLevel formats the confidence of an interval.
func formatLevel(level float64, values int) string {
	if level == 0 {
		return "none, 1 value"
	}
	return fmt.Sprintf("%.1f %%, %d values", level*100, values)
}

func formatRange(m metric, values []float64) string {
	low, high := values[0], values[0]
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	return formatValue(m, low) + "–" + formatValue(m, high)
}

// formatValue formats a value with as many digits as its metric deserves.
func formatValue(m metric, v float64) string {
	switch m {
	case rate, served, sent, failed, connServed, perConn, lagP50, lagP99,
		lagP999, lagMax:
		return groupThousands(v)
	case peak, foreign, meanOff, p99Off, size:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case latencyMean, latencyP50, latencyP99, latencyP999, serviceMean,
		truthMean, truthP50, truthP99, truthP999, startUp:
		return strconv.FormatFloat(v, 'f', 2, 64)
	default: // CPU, ratios
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
}

// groupThousands formats v without a fraction, with commas between groups of three digits.
func groupThousands(v float64) string {
	digits := strconv.FormatFloat(v, 'f', 0, 64)
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return sign + b.String()
}
