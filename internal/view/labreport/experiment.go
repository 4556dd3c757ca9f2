// Package labreport renders what the laboratory judged: experiments, and comparisons of results,
// for a terminal, as Markdown, CSV, JUnit and Go benchmarks. It computes nothing: each number
// is in the record or in the result.
//
// A function whose name ends in Text returns a number, a fact or a verdict as it is printed; one
// whose name ends in Part returns a part of a report, which package document lays out.
//
//	an experiment  brief.go (the first 30 lines), experiment.go (verdicts, medians, the plan),
//	               findings.go (fairness, grades, profiles, method), loads.go (searches, CPU against
//	               latency, trials with other settings), shift.go (latency by quantile),
//	               serversettings.go (how servers were set up), programs.go (which programs ran),
//	               correction.go (for all that is compared), unsaid.go (cautions and undecided
//	               measures)
//	a comparison   compare.go (single results), comparemeasures.go (which measures it has),
//	               unpaired.go (groups of results)
//	formats        trials.go (CSV, and a line for a trial), junit.go, gobench.go (Go's benchmarks),
//	               pullrequest.go (Markdown in 60 lines, and for a pull request)
//	the page       experimentwords.go (the sentences, the command, the formulas)
//	while it runs  live.go (progress, and what was found so far); rehearsal.go (lab check --start)
//	dyno vs        versus.go (what speaks against it), standings.go (prints the lines that package
//	               labanswer makes, one for each server)
package labreport

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"dyno/internal/digits"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	labrun "dyno/internal/lab/run"
	"dyno/internal/say"
	"dyno/internal/view/answer"
	"dyno/internal/view/document"
	"dyno/internal/view/format"
	"dyno/internal/view/labanswer"
)

// experimentParts are the report behind its first lines, what matters most first.
func experimentParts(r *lab.Record) []document.Part {
	all := []document.Part{
		unavailablePart(r), verdictPart(r), shiftPart(r), gatePart(r),
		objectivePart(r), capacityPart(r), frontierPart(r), sensitivityPart(r),
		medianPart(r), processPart(r), fairnessPart(r), givenPart(r),
		gradePart(r), publishedPart(r), programPart(r),
	}
	all = append(all, profileParts(r)...)
	return append(all, methodPart(r))
}

// Experiment writes what an experiment found, for a terminal: in at most 30 lines of 100 columns if
// no more than eight variants were compared. With s.Detail everything else follows.
func Experiment(w io.Writer, r *lab.Record, s format.Style) error {
	return experimentDocument(r, s, placeRows(r)...).WriteText(w, s)
}

// WholeMarkdown writes everything that is known of an experiment as Markdown.
func WholeMarkdown(w io.Writer, r *lab.Record) error {
	return experimentDocument(r, format.Style{Detail: true}).WriteMarkdown(w)
}

func titleText(r *lab.Record) string {
	s := format.PlainLine(r.Name)
	if r.Experiment != nil && r.Experiment.Description != "" {
		s += ": " + format.PlainLine(r.Experiment.Description)
	}
	return s
}

// scopeText is how much was done.
func scopeText(r *lab.Record) string {
	s := fmt.Sprintf("%s in %s, seed %d%s", format.Plural(int64(len(r.Trials)), "trial"),
		timeTakenText(r), r.Seed, stateText(r))
	if r.State == lab.OverBudget {
		s += "; ended because its budget of time was over"
	}
	return s
}

// shortScope is scopeText without what repeats the experiment, and without what a caution says.
func shortScope(r *lab.Record) string {
	return fmt.Sprintf("%s%s in %v%s", format.Plural(int64(len(r.Trials)), "trial"),
		labanswer.WindowText(r, " of "), workedTime(r).Round(time.Second), stateText(r))
}

// stateText is what keeps an experiment from being complete; "" if nothing does.
func stateText(r *lab.Record) (s string) {
	if r.Quick {
		s = ", --quick"
	}
	switch r.State {
	case lab.Interrupted, lab.Running:
		s += "; NOT COMPLETE"
	case lab.Failed:
		s += "; NOT COMPLETE: something could not be stored"
	}
	return s
}

// timeTakenText is how long an experiment took from its beginning to its end, or in its sessions if
// it was resumed, and how much of that its trials took. The end of one that was cut off is not
// known.
func timeTakenText(r *lab.Record) string {
	trials := time.Duration(r.SpentS * 1e9).Round(time.Second)
	all, pauses := workedTime(r), ""
	if r.Sessions > 1 {
		pauses = " without the pauses"
		if r.WorkedS == 0 {
			all, pauses = elapsedTime(r), " with pauses"
		}
	}
	if all = all.Round(time.Second); all <= trials {
		return trials.String()
	}
	return fmt.Sprintf("%v%s, %v of it in trials with warm-up", all, pauses, trials)
}

// workedTime is the time that was worked on an experiment: of one that was resumed, in its
// sessions, or in its trials where the time of a session that was killed is not known.
func workedTime(r *lab.Record) time.Duration {
	if r.Sessions > 1 {
		return time.Duration(max(r.WorkedS, r.SpentS) * 1e9)
	}
	return elapsedTime(r)
}

// elapsedTime is the time from an experiment's beginning to its end by the wall clock, which is
// what its file keeps; that of its trials where the end is not known, or the clock was set back.
func elapsedTime(r *lab.Record) time.Duration {
	trials := time.Duration(r.SpentS * 1e9)
	return max(trials, r.Ended.Round(0).Sub(r.Started.Round(0)))
}

// verdictPart has the verdicts as a table, and above it what the table does not say.
func verdictPart(r *lab.Record) document.Part {
	findings := labanswer.Findings(r)
	out := document.Part{Head: "Verdicts", Sides: "lllrrlrr", Table: format.Table{
		{"level", "measure", "variant", "ratio", "95 % interval", "verdict", "pairs", "p (corrected)"}},
		Text: append(correctionText(r.Verdicts), openTexts(r.Verdicts, findings)...)}
	for _, c := range r.Verdicts {
		out.Table = append(out.Table, []string{format.PlainLine(c.Level), c.Metric,
			format.PlainLine(c.Variant), comparisonRatio(c), comparisonInterval(c),
			"", format.Count(int64(c.Trials)), pValueText(c.PAdjusted)})
	}
	if len(r.Verdicts) == 0 {
		return document.Part{Head: "Verdicts", Text: []string{"Nothing could be compared."}}
	}
	markVerdicts(&out, r.Verdicts, findings)
	return out
}

// markVerdicts fills the column of verdicts. A doubt that all comparisons have is one line below
// the table.
func markVerdicts(p *document.Part, all []lab.Comparison, findings []answer.Finding) {
	column := slices.Index(p.Table[0], "verdict")
	same := len(all) > 1
	for i, c := range all {
		same = same && pairDoubts(c) == pairDoubts(all[0])
		p.Table[i+1][column] = VerdictMark(c, findings[i])
	}
	if !same || pairDoubts(all[0]) == "" {
		return
	}
	for i, c := range all {
		p.Table[i+1][column] = plainMark(c, findings[i])
	}
	p.Under = append(p.Under, "In each comparison: "+pairDoubts(all[0])+".")
}

// openTexts are why comparisons are undecided or not valid, a sentence for each reason: with which
// they are, where there are several reasons.
func openTexts(all []lab.Comparison, findings []answer.Finding) (texts []string) {
	places, reasons := map[string][]string{}, map[answer.Verdict]int{}
	var of []answer.Finding
	for i, f := range findings {
		if all[i].Control || f.Why == "" || f.IsDecided() || f.Verdict == answer.Same {
			continue
		}
		why := string(f.Verdict) + ": " + f.Why
		if places[why] == nil {
			texts, of = append(texts, why), append(of, f)
			reasons[f.Verdict]++
		}
		places[why] = append(places[why], all[i].Place())
	}
	for i, why := range texts {
		texts[i] = digits.Capital(why)
		if reasons[of[i].Verdict] > 1 {
			texts[i] += " (" + strings.Join(places[why], ", ") + ")"
		}
	}
	return texts
}

// variantSentence is a comparison in words, with the verdict that the report's first lines have.
func variantSentence(c lab.Comparison, f answer.Finding) string {
	of := c.Metric
	if c.Level != "" {
		of += " at " + c.Level
	}
	of += ": " + c.Variant + " "
	if !c.HasInterval() && c.Bound != lab.NoBound {
		return of + fmt.Sprintf("has %s times that of %s in %s; that is too few for an interval",
			comparisonRatio(c), c.Baseline, trialsOf(c))
	}
	is, why := "is "+f.Words(), f.Why
	switch {
	case f.Verdict == answer.NotValid:
		is = "has no valid verdict"
	case f.Verdict != answer.Undecided:
		why = ""
	}
	if of += is; c.Bound != lab.NoBound {
		of += fmt.Sprintf(": %s times that of %s %s", comparisonRatio(c), c.Baseline,
			comparisonInterval(c))
	}
	if why != "" {
		of += "; " + why
	}
	if c.Disturbed > 0 {
		of += fmt.Sprintf("; in %d of %s the generator was held up, see the trials' doubts",
			c.Disturbed, trialsOf(c))
	}
	if c.OtherLoad > 0 {
		of += fmt.Sprintf("; in %d of %s the load was not the one asked for, see the trials' doubts",
			c.OtherLoad, trialsOf(c))
	}
	return of
}

func comparisonInterval(c lab.Comparison) string {
	if !c.HasInterval() {
		return "–"
	}
	return c.Bound.RatioInterval(c.Low, c.High)
}

// comparisonRatio is that of a comparison, with the digits that its interval allows.
func comparisonRatio(c lab.Comparison) string {
	if !c.HasInterval() {
		return c.Bound.Text(format.RatioAlone(c.Ratio))
	}
	return c.Bound.Text(format.RatioIn(c.Ratio, c.Low, c.High))
}

// VerdictMark is a verdict with what has to be known of it.
func VerdictMark(c lab.Comparison, f answer.Finding) string {
	if doubts := pairDoubts(c); doubts != "" {
		return plainMark(c, f) + "; " + doubts
	}
	return plainMark(c, f)
}

// plainMark is a verdict without doubts about pairs or runs.
func plainMark(c lab.Comparison, f answer.Finding) string {
	if f.Verdict == answer.Noise {
		f.Verdict = "A/A"
	}
	s := f.Words()
	if c.ClientBound {
		s += ", client-bound"
	}
	return s
}

// pairDoubts are the doubts about pairs, or runs, of a comparison; "" if there are none.
func pairDoubts(c lab.Comparison) string {
	var doubts []string
	add := func(n int, what string) {
		if n > 0 {
			doubts = append(doubts, format.Count(int64(n))+what)
		}
	}
	add(c.Disturbed, heldUp(c))
	add(c.OtherLoad, " of another load")
	add(c.GradeF, " of grade F")
	add(c.Missing, " missing")
	return strings.Join(doubts, ", ")
}

// heldUp is of how many pairs, or runs, a generator was held up. The cautions about runs that are
// no pairs call such a generator client-bound.
func heldUp(c lab.Comparison) string {
	if c.Against == 0 {
		return " of " + format.Plural(int64(c.Trials), "pair") + " held up"
	}
	return " of " + format.Plural(int64(c.Trials+c.Against), "run") + " client-bound"
}

func pValueText(p float64) string {
	if p == 0 {
		return "–" // of an older dyno
	}
	if p < 0.0001 {
		return "< 0.0001"
	}
	return fmt.Sprintf("%.4f", p)
}

func gatePart(r *lab.Record) document.Part { return gateOf(r.Gate) }

func gateOf(g *lab.GateOutcome) document.Part {
	if g == nil {
		return document.Part{}
	}
	s := document.Part{Head: "Gate", Text: []string{g.Verdict}}
	for _, c := range g.Missed {
		s.Text = append(s.Text, variantSentence(c, labanswer.FindingOf(c, g.Missed)))
	}
	if g.Confirmed {
		s.Text = append(s.Text, "A second batch of trials showed it again.")
	}
	s.Text = append(s.Text, g.OpenItems()...)
	return s
}

// medianPart has a row for each variant at each level: what is judged, with
// the letters of those that the trials do not distinguish.
func medianPart(r *lab.Record) document.Part {
	if r.Experiment == nil || len(r.Cells) == 0 {
		return document.Part{}
	}
	head := []string{"level", "variant"}
	metrics := slices.DeleteFunc(slices.Clone(r.Experiment.Design.Metrics),
		experiment.Metric.IsCapacity) // it has its own section
	for _, m := range metrics {
		head = append(head, fmt.Sprintf("%s (%s)", m, metricUnit(r, string(m))))
	}
	head = append(head, "trials")
	out := document.Part{Head: "Medians", Sides: "llr", Table: format.Table{head}, Text: []string{
		"Half of the width of the 95 % interval of a median is behind ±. Variants that share a letter " +
			"cannot be told apart by these trials; a is best. The ratio of two medians is not the change " +
			"of a verdict, which is the middle of the ratios within rounds: what the machine does to both " +
			"trials of a round cancels in these."}}
	for _, level := range r.Experiment.Levels {
		for _, arm := range r.Arms {
			row, any := []string{format.PlainLine(level.Name), format.PlainLine(arm.Name)}, 0
			for _, m := range metrics {
				cell, n := medianCell(r, arm.Name, level.Name, string(m))
				row, any = append(row, cell), max(any, n)
			}
			if any > 0 {
				out.Table = append(out.Table, append(row, format.Count(int64(any))))
			}
		}
	}
	return out
}

func metricUnit(r *lab.Record, metric string) string {
	for _, c := range r.Cells {
		if c.Metric == metric {
			return c.Unit
		}
	}
	return "n/a"
}

// medianCell is the median of a variant, with the letters of those that it is like.
func medianCell(r *lab.Record, arm, level, metric string) (cell string, trials int) {
	figure, trials := medianFigure(r, arm, level, metric)
	if trials == 0 {
		return "n/a", 0
	}
	return strings.TrimSpace(figure + " " + rankLetters(r, arm, level, metric)), trials
}

func rankLetters(r *lab.Record, arm, level, metric string) string {
	for _, rank := range r.Ranks {
		if rank.Level != level || rank.Metric != metric {
			continue
		}
		for i, name := range rank.Arms {
			if name == arm {
				return rank.Groups[i]
			}
		}
	}
	return ""
}

// IntentText writes an experiment's plan before anything starts.
func IntentText(i labrun.Intent) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", format.PlainLine(i.Name), format.PlainLine(i.Description))
	for _, a := range i.Arms {
		fmt.Fprintf(&b, "  variant %s", format.PlainLine(a.Name))
		if len(a.Missing) > 0 {
			fmt.Fprintf(&b, ": not available here: %s", format.PlainLine(strings.Join(a.Missing, "; ")))
		}
		fmt.Fprintln(&b)
	}
	for _, l := range i.Levels {
		fmt.Fprintf(&b, "  level %s\n", format.PlainLine(l.Name))
	}
	return b.String() + warningLines(i) + fmt.Sprintf("  %s\n", ExtentText(i))
}

// ExtentLines is how much of that plan there is to do, with its warnings, for those who have just
// named what is compared.
func ExtentLines(i labrun.Intent) string { return ExtentText(i) + "\n" + warningLines(i) }

func warningLines(i labrun.Intent) (lines string) {
	for _, w := range i.Warnings {
		lines += fmt.Sprintf("  warning: %s: %s\n", w.About, format.PlainLine(
			say.Plain(w.Args)))
	}
	return lines
}

// ExtentText is how much an experiment will do, and how long it takes.
func ExtentText(i labrun.Intent) string {
	out := fmt.Sprintf("%s in %s", format.Plural(int64(i.Estimate.Trials), "trial"),
		format.Plural(int64(i.Rounds), "round"))
	if i.Done > 0 {
		out += fmt.Sprintf(", of which %s done", format.Count(int64(i.Done)))
	}
	out += fmt.Sprintf(", %v to %v", i.Estimate.Least.Round(time.Second),
		i.Estimate.Most.Round(time.Second))
	if i.Starts {
		out += " if servers start at once"
	}
	return out
}

// Shipped lists the experiments that ship with dyno.
func Shipped(w io.Writer, all []experiment.Listing) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\twhat it compares\tprograms it needs")
	for _, l := range all {
		needs := strings.Join(l.Needs, ", ")
		if needs == "" {
			needs = "none"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", l.Name, l.Description, needs)
	}
	return t.Flush()
}
