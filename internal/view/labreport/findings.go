package labreport

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"dyno/internal/fairness"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/observe/profile"
	"dyno/internal/view/document"
	"dyno/internal/view/format"
	"dyno/internal/view/labanswer"
	"dyno/internal/view/report"
)

// processPart is what each process of a server cost.
func processPart(r *lab.Record) document.Part {
	out := document.Part{Head: "Server processes", Sides: "lllr",
		Text: []string{"Each figure is a median of the trials, so that those of user and system need " +
			"not add up to that of both."},
		Table: format.Table{{"level", "variant", "process", "CPU/request", "user", "system",
			"CPU of a core", "memory"}}}
	for i, p := range r.Parts {
		single := i+2 >= len(r.Parts) || r.Parts[i+2].Name == ""
		if p.Name == "" && single && i+1 < len(r.Parts) {
			continue // it is the one process below
		}
		name := p.Name
		if name == "" {
			name = "all"
		}
		out.Table = append(out.Table, []string{format.PlainLine(p.Level), format.PlainLine(p.Arm),
			format.PlainLine(name),
			report.ValueOrNA(p.CPU, format.Micros), report.ValueOrNA(p.User, format.Micros),
			report.ValueOrNA(p.System, format.Micros),
			report.ValueOrNA(p.Percent, format.Percent), report.ValueOrNA(p.Memory, format.Size)})
	}
	if len(r.Parts) == 0 {
		return document.Part{}
	}
	return out
}

// fairnessPart has the aspects in which answers differ.
func fairnessPart(r *lab.Record) document.Part {
	t := r.Fairness
	if t == nil || len(t.Variants) == 0 {
		return document.Part{}
	}
	out := document.Part{Head: "Fairness", Sides: "l"}
	same := 0
	rows := format.Table{append([]string{"aspect"}, t.Variants...)}
	for i := range rows[0] {
		rows[0][i] = format.PlainLine(rows[0][i])
	}
	for _, row := range t.Rows {
		if isInformative(row) {
			continue
		}
		if !slices.ContainsFunc(row.Cells, func(c fairness.Cell) bool {
			return c.State == fairness.Violating || c.State == fairness.Allowed
		}) {
			same++
			continue
		}
		line := []string{format.PlainLine(row.Aspect)}
		for _, c := range row.Cells {
			line = append(line, fairnessCell(c))
		}
		rows = append(rows, line)
	}
	out.Text = append(out.Text, fmt.Sprintf("Each variant was asked before the load. In %s their "+
		"answers are like that of %s or cannot be compared; %s.", format.Plural(int64(same), "aspect"),
		t.Reference, violationsText(t)))
	if len(rows) > 1 {
		out.Table = rows
	}
	return out
}

func fairnessCell(c fairness.Cell) string {
	s := format.Clip(format.PlainLine(c.Value), 60)
	if c.Percent != nil && *c.Percent != 0 {
		s += " (" + format.ByPercent(*c.Percent) + ")"
	}
	switch c.State {
	case fairness.Violating:
		s += " VIOLATION"
	case fairness.Allowed:
		s += " (allowed)"
	}
	return s
}

func violationsText(t *fairness.Table) string {
	n := len(t.Violations())
	if n == 0 {
		return "no variant violates what makes them comparable"
	}
	return format.Plural(int64(n), "violation") + " below"
}

// unavailablePart names the variants that were not tested, and why.
func unavailablePart(r *lab.Record) document.Part {
	out := document.Part{Head: "Not tested, or failed"}
	for _, a := range r.Arms {
		switch {
		case len(a.Missing) > 0:
			out.Text = append(out.Text, fmt.Sprintf("%s is not available here: %s", a.Name,
				strings.Join(a.Missing, "; ")))
		case a.Unfit != "" && !a.Control:
			out.Text = append(out.Text, fmt.Sprintf("%s was not tested: %s", a.Name,
				format.PlainLine(a.Unfit)))
		default:
			out.Text = append(out.Text, armFailures(r, a.Name)...)
		}
	}
	return out
}

// armFailures says how many trials of an arm failed, and how the last of them did.
func armFailures(r *lab.Record, arm string) []string {
	failed, all, last := 0, 0, ""
	for _, t := range r.Trials {
		if t.Arm != arm {
			continue
		}
		if all++; t.Failure != nil {
			failed++
			last = t.Failure.Phase + ": " + t.Failure.Reason
			if t.Failure.Output != "" {
				last += "; it wrote: " + strings.Join(strings.Fields(t.Failure.Output), " ")
			}
		}
	}
	if failed == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s failed in %d of %s; the last time: %s", arm, failed,
		format.Plural(int64(all), "trial"), format.ClipText(last, 500))}
}

// gradePart says what the trials are worth, and what failed.
func gradePart(r *lab.Record) document.Part {
	grades := map[lab.Grade]int{}
	out := document.Part{Head: "Trials"}
	var doubts labanswer.Doubts
	for i, t := range r.Trials {
		grades[t.Grade]++
		for _, why := range t.Reasons {
			doubts.Add(i, why)
		}
	}
	out.Text = append(out.Text, gradesText("Of "+format.Plural(int64(len(r.Trials)), "trial"), grades))
	if s := r.Sensitive; s != nil && len(s.Trials) > 0 {
		out.Text = append(out.Text, fmt.Sprintf("%s more tried settings of the generator. They count "+
			"for nothing but the sensitivity to the generator.",
			format.Plural(int64(len(s.Trials)), "trial")))
	}
	most := doubts.Most()
	if len(most) == 0 {
		return out
	}
	out.Sides, out.Table = "rl", format.Table{{"trials", "doubt, as the first of them has it"}}
	for _, doubt := range most[:min(len(most), format.MostRows)] {
		out.Table = append(out.Table, []string{format.Count(int64(doubt.Trials)),
			format.ClipText(doubt.First, 300)})
	}
	return out
}

// gradesText says how many trials have which grade, after a beginning as "Of 12 trials".
func gradesText(of string, grades map[lab.Grade]int) string {
	return fmt.Sprintf("%s %d are of grade A, %d of B, %d of F.", of, grades[lab.GradeA],
		grades[lab.GradeB], grades[lab.GradeF])
}

// publishedPart sets published figures beside ours.
func publishedPart(r *lab.Record) document.Part {
	if len(r.Published) == 0 || r.Experiment.Published == nil {
		return document.Part{}
	}
	p := r.Experiment.Published
	out := document.Part{Head: "Published", Text: []string{p.Source}, Sides: "lllrrrr",
		Table: format.Table{{"variant", "level", "measure", "published", "ours", "published ratio",
			"our ratio"}}}
	if p.Note != "" {
		out.Text = append(out.Text, p.Note)
	}
	show := func(f *float64, how func(float64) string) string {
		if f == nil {
			return format.TooFew
		}
		return how(*f)
	}
	for _, b := range r.Published {
		was := show(b.Value, format.Digits3)
		if b.Failed != "" {
			was = "failed: " + format.PlainLine(b.Failed)
		}
		out.Table = append(out.Table, []string{format.PlainLine(b.Variant), format.PlainLine(b.Level),
			publishedMeasure(b), was, show(b.Ours, format.Digits3), show(b.Ratio, format.RatioAlone),
			show(b.OursRatio, format.RatioAlone)})
	}
	return out
}

// publishedMeasure is what a published figure is of, and in which unit.
func publishedMeasure(b lab.PublishedFigure) string {
	if b.Unit == "" {
		return format.PlainLine(b.Metric)
	}
	return format.PlainLine(b.Metric) + " (" + format.PlainLine(b.Unit) + ")"
}

// mostFunctions of a profile are shown.
const mostFunctions = 8

// profileParts are the profiles, one by one. A profile is compared with that of the baseline
// only if both ran the same programs.
func profileParts(r *lab.Record) (all []document.Part) {
	for _, p := range r.Profiles {
		s := document.Part{Sides: "rrl", Head: fmt.Sprintf("Profile of %s%s: %s",
			format.PlainLine(p.Arm), labanswer.AtLevel(r, p.Level), p.Kind)}
		s.Text = append(s.Text, profileOrigin(p))
		if p.Problem != "" {
			all = append(all, s)
			continue
		}
		for _, f := range p.Shares {
			s.Text = append(s.Text, fmt.Sprintf("%s: %.2f %% of %s, %.2f %% in itself%s", f.Function,
				100*f.Cumulative.Share, f.Type, 100*f.Flat.Share, intervalText(f.Cumulative.Interval)))
		}
		s.Table = format.Table{{"in itself", "with callees", "function"}}
		for _, line := range p.Top[:min(len(p.Top), mostFunctions)] {
			s.Table = append(s.Table, []string{format.InPercent(line.Flat.Share),
				format.InPercent(line.Cumulative.Share), format.Clip(format.PlainLine(line.Function), 80)})
		}
		differences := p.Different[:min(len(p.Different), 3)]
		if !r.SamePrograms(p.Arm, baselineOf(r, p.Arm)) {
			differences = nil
		}
		for _, d := range differences {
			s.Text = append(s.Text, fmt.Sprintf("compared with the baseline: %s %+.2f points%s", d.Function,
				100*d.Change, intervalText(d.Interval)))
		}
		all = append(all, s)
	}
	return all
}

// baselineOf is what an arm is compared with; "" if it is with nothing.
func baselineOf(r *lab.Record, arm string) string {
	i := slices.IndexFunc(r.Arms, func(a lab.Arm) bool { return a.Name == arm })
	if i < 0 {
		return ""
	}
	return r.Arms[i].Baseline
}

// profileOrigin is where a profile is from, or why there is none.
func profileOrigin(p lab.TakenProfile) string {
	if p.Problem != "" {
		return "none: " + p.Problem
	}
	s := fmt.Sprintf("by %s, in %s", p.By, p.File)
	if p.Slowdown > 0 {
		s += "; meanwhile throughput was " + format.RatioAlone(1/p.Slowdown) + " times that of the trials"
	}
	return s
}

// methodPart is how it was done, in the words that a reviewer asks for.
func methodPart(r *lab.Record) document.Part {
	if r.Experiment == nil {
		return document.Part{}
	}
	d := r.Experiment.Design
	order := map[string]string{
		experiment.Interleaved: "all cells of a round in random order (randomised multiple " +
			"interleaved trials; Abedi and Brecht, ICPE 2017)",
		experiment.ABBA:       "the cells forwards and backwards in turn",
		experiment.Sequential: "the trials of a cell one after the other",
	}[d.Order]
	text := []string{
		"Order: " + order + fmt.Sprintf("; seed %d. ", r.Seed) + trialMethod(r),
		"Ratios are paired by round: the Hodges-Lehmann estimate of the logarithms. Their intervals " +
			"are the ratios that sign flips of whole rounds do not reject, all comparisons together " +
			"(Westfall and Young 1993); those of the baseline with itself (A/A) are together by " +
			"themselves. better, worse: the interval leaves out 1 and the ratio is at least the margin of " +
			d.Margin.String() + ", or the factor by which the baseline differs from itself (A/A) if that " +
			"is more. " +
			"the same: the interval lies within the margin. No trial is left out for its value.",
		cpusText(r),
		"Machine: " + report.Machine(r.Host) + ".",
	}
	if r.Fleet != nil {
		text = append(text, fmt.Sprintf("The loads were made by %v: each number is of all together.",
			r.Fleet))
	}
	if r.Served != nil {
		text = append(text, agreementText(*r.Served))
	}
	if r.Sampler != nil {
		text = append(text, fmt.Sprintf("Watching took %.2f %% of a core (median of the trials).",
			*r.Sampler))
	}
	if a := r.Advice; a != nil {
		text = append(text, adviceText(*a, time.Duration(d.Measure)))
	}
	for _, n := range r.Noise {
		text = append(text, fmt.Sprintf("%s%s: a pair of the baseline and itself varied by %s, "+
			"and by %s in the median of %s.", n.Metric, labanswer.AtLevel(r, n.Level),
			format.InPercent(n.Now), format.InPercent(n.Usual),
			format.Plural(int64(n.Others), "earlier run")))
	}
	for _, c := range r.Ceilings {
		text = append(text, fmt.Sprintf("The generator reaches %s requests/s%s against a server "+
			"that does next to nothing.", format.Digits3(c.Throughput), labanswer.AtLevel(r, c.Level)))
	}
	return document.Part{Head: "Method", Text: text}
}

// cpusText are those that an experiment gave to whom. Those of agents are not its own to give.
func cpusText(r *lab.Record) string {
	if r.Fleet != nil {
		return fmt.Sprintf("CPUs: server %v; the agents were given none of their own.", r.CPUs.Server)
	}
	s := fmt.Sprintf("CPUs: generator %v", r.CPUs.Generator)
	starts, runs := serversBegun(r)
	if starts {
		s += fmt.Sprintf(", server %v", r.CPUs.Server)
	}
	if runs {
		s += "; not known of servers that dyno did not start"
	}
	return s + "."
}

// agreementText is what servers and clients counted.
func agreementText(a lab.Agreement) string {
	const same = "the server's own count of a load is what its clients sent together, to the request"
	if a.Alike == a.Trials {
		return fmt.Sprintf("In each of %s %s: %s in all.", format.Plural(int64(a.Trials), "trial"), same,
			format.Count(a.Server))
	}
	return fmt.Sprintf("In %d of %s %s, in %d they differ by no more than what failed or was sent "+
		"again, and in %d by more; of all together servers counted %s, and clients sent %s.",
		a.Alike, format.Plural(int64(a.Trials), "trial"), same, a.Trials-a.Alike-a.Off, a.Off,
		format.Count(a.Server), format.Count(a.Clients))
}

// adviceText is how long windows should be another time.
func adviceText(a lab.Advice, window time.Duration) string {
	s := fmt.Sprintf("A second of throughput varied by %s and a trial, besides, by %s; a "+
		"trial takes %s besides its window. ", format.Percentage(a.Within, 2),
		format.Percentage(a.Between, 2), format.Seconds(a.CostS))
	if a.WindowS == 0 {
		return s + "Trials differ by no more than their seconds do: longer windows would make the " +
			"intervals narrower (Kalibera and Jones, ISMM 2013)."
	}
	return s + fmt.Sprintf("In a given time, windows of about %d s and as many rounds as fit make "+
		"the intervals narrowest (Kalibera and Jones, ISMM 2013); these were of %v.", a.WindowS, window)
}

// serversBegun reports whether dyno starts servers of the experiment, and whether others, of which
// it has only a URL, run already.
func serversBegun(r *lab.Record) (starts, runs bool) {
	for _, v := range r.Experiment.Variants {
		only := len(v.Value.Processes) == 0 && v.Value.URL != ""
		starts, runs = starts || !only, runs || only
	}
	return starts || !runs, runs
}

// trialMethod says what a trial was.
func trialMethod(r *lab.Record) string {
	d := r.Experiment.Design
	s := "A trial is a fresh start of the server's processes"
	switch starts, runs := serversBegun(r); {
	case d.Isolation == experiment.Shared || !starts:
		s = "A trial is a load on a server that stays up"
	case runs:
		s += ", of those that dyno starts"
	}
	if d.Warmup.Max > 0 {
		s += fmt.Sprintf(", warm-up (%v to %v, until the throughput of up to 5 seconds varies by less "+
			"than %v)", d.Warmup.Min, d.Warmup.Max, d.Warmup.CoV)
	}
	s += fmt.Sprintf(", a window of %v, or as many requests as the level says", d.Measure)
	if r.Experiment.Fairness.Mode != experiment.Off {
		s += "; its answer is checked before and after"
	}
	return s + ". The trial is the unit of all statistics."
}

// objectivePart has the number of trials that met each objective.
func objectivePart(r *lab.Record) document.Part {
	if len(r.Objectives) == 0 {
		return document.Part{}
	}
	out := document.Part{Head: "Objectives", Sides: "lllr", Table: format.Table{{"objective", "level",
		"variant", "met"}}}
	for _, o := range r.Objectives {
		met := fmt.Sprintf("%d of %d", o.Met, o.Trials)
		if o.Undecided {
			met = "inconclusive: " + met
		}
		out.Table = append(out.Table, []string{format.PlainLine(o.Expr), format.PlainLine(o.Level),
			format.PlainLine(o.Arm), met})
	}
	return out
}

func intervalText(i *profile.Interval) string {
	if i == nil {
		return ""
	}
	return fmt.Sprintf(" [%.2f, %.2f]", 100*i.Low, 100*i.High)
}
