package labanswer

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/lab/judge"
	"dyno/internal/result"
	"dyno/internal/say"
	"dyno/internal/view/answer"
	"dyno/internal/view/format"
	"dyno/internal/view/report"
)

// OfComparison is the answer of a comparison of stored results, which are called A, B and so on.
// differing are the settings, besides the target, in which they are not alike.
func OfComparison(u *judge.Unpaired, differing []string) answer.Answer {
	r := recordOf(u)
	a := answer.Answer{Groups: loadLast(groupsOf(r, true), func(answer.Group) bool {
		return u.IsOpen()
	})}
	if u.IsSingle() {
		for g := range a.Groups {
			for f := range a.Groups[g].Findings {
				if one := &a.Groups[g].Findings[f]; one.Verdict != answer.NotValid {
					one.Because, one.Why = "", singleWhy
				}
			}
		}
	}
	a.Cautions = append(comparedCautions(u, r), likenessCautions(u, differing)...)
	if !u.IsSingle() {
		a.Cautions = append(a.Cautions, openCautions(r, a)...)
	}
	a.Judge("Nothing speaks against these runs")
	a.Sentence = sentenceOf(r, a)
	if u.IsSingle() {
		a.Sentence = singleSentence(r, u.IsOpen())
	}
	for _, c := range slices.Backward(failedGroups(u)) {
		a.Sentence = c.Says + "; " + a.Sentence
	}
	a.Conditions = comparedConditions(u)
	a.Next = comparedStep(u, a)
	sayOnce(&a)
	return a
}

// recordOf is a comparison as the findings of an experiment, with the names of groups.
func recordOf(u *judge.Unpaired) *lab.Record {
	r, names := new(lab.Record), groupNames(u)
	r.Verdicts = names.labelled(u, u.Verdicts)
	r.Cells = slices.Clone(u.Cells)
	for i, c := range r.Cells {
		r.Cells[i].Arm = names.of(u.Label(c.Arm))
	}
	if u.Gate != nil {
		gate := *u.Gate
		gate.Missed = names.labelled(u, gate.Missed)
		r.Gate = &gate
	}
	return r
}

const singleWhy = "one run each"

// comparedRemedy is what can be done about a generator that was at its limit.
const comparedRemedy = "compare CPU per request of a watched server, or give the generator more " +
	"CPUs"

// mostMeasures is how many measures the sentence about single runs names.
const mostMeasures = 3

// singleSentence sets single runs beside each other: in what each did better than the first, and in
// what worse. That is what was measured, and no verdict. A throughput that an open load fixed is no
// finding.
func singleSentence(r *lab.Record, open bool) string {
	var variants []string
	of := map[string][]lab.Comparison{}
	for _, c := range r.Verdicts {
		name := format.PlainLine(c.Variant)
		variants = appendOnce(variants, name)
		if isFixed := open && isOfLoad(c.Metric) &&
			format.ChangeAlone(c.Ratio) == format.ChangeAlone(1); isFixed {
			continue
		}
		if len(of[name]) < mostMeasures {
			of[name] = append(of[name], c)
		}
	}
	if len(variants) == 0 {
		return "Nothing could be compared: the runs have no measure in common"
	}
	var parts []string
	for _, name := range variants[:min(len(variants), mostNamed)] {
		parts = append(parts, name+" "+sideClause(of[name]))
	}
	s := strings.Join(parts, "; ")
	if n := len(variants) - mostNamed; n > 0 {
		s += fmt.Sprintf("; and %d more", n)
	}
	return s + "; one run each does not show whether that is more than chance"
}

// sideClause is how a run did beside the first: "was worse than A in throughput (−57 %)".
func sideClause(all []lab.Comparison) string {
	sides := map[string][]string{}
	for _, c := range all {
		change, side := format.ChangeAlone(c.Ratio), "worse than"
		switch {
		case math.IsNaN(c.Ratio), !c.Bound.Shows(c.Ratio):
			continue
		case change == format.ChangeAlone(1):
			side = "like"
		case (c.Ratio > 1) == (c.Better > 0):
			side = "better than"
		}
		sides[side] = append(sides[side], fmt.Sprintf("%s (%s)", MeasureName(c.Metric),
			c.Bound.ChangeAlone(c.Ratio)))
	}
	var parts []string
	for _, side := range []string{"better than", "worse than", "like"} {
		if measures := sides[side]; len(measures) > 0 {
			to := " " + format.PlainLine(all[0].Baseline)
			if len(parts) > 0 {
				to = " it"
			}
			parts = append(parts, side+to+" in "+fewNames(measures))
		}
	}
	if len(parts) == 0 {
		return "has no measure that can be compared"
	}
	return "was " + strings.Join(parts, ", and ")
}

// comparedCautions are those of the comparisons and of the runs.
func comparedCautions(u *judge.Unpaired, r *lab.Record) (all []answer.Caution) {
	all = append(all, outcomeCautions(r)...)
	bound := false
	for _, c := range comparisonCautions(r) {
		switch c.Kind {
		case answer.AtLimit:
			bound = true
			c.Reasons = sentencesOf(u.Facts, isClientBound)
			c.Remedy = comparedRemedy
		case answer.MissingPair:
			if !u.AreInRounds() {
				c.Says = "Runs lack the measure"
			}
		}
		all = append(all, c)
	}
	if u.IsSingle() {
		all = append(all, answer.Caution{Kind: answer.OneRun, Severity: answer.Doubt,
			Says: "One run each: the same run, repeated, may differ as much",
			Remedy: "repeat each, in turns, and compare all runs: dyno compare A1,A2 B1,B2, and in " +
				"the dashboard tick them all, which takes those of one URL and load together"})
		for i, g := range u.Groups {
			all = append(all, runDoubts(judge.Letter(i), g.Results())...)
		}
		return all
	}
	all = append(all, failedGroups(u)...)
	var few []string
	for _, c := range r.Verdicts {
		if !c.Control && !c.HasInterval() {
			few = appendOnce(few, runsOf(c))
		}
	}
	if len(few) > 0 {
		all = append(all, answer.Caution{Kind: answer.FewRounds, Severity: answer.Doubt,
			Says: "Too few " + repetition(u) + "s for a verdict", Scope: fewNames(few),
			Reasons: sentencesOf(u.Facts, isOf[fact.TooFewRuns])})
	}
	for _, f := range u.Facts {
		if isOf[fact.SelfDiffers](f) || bound && isClientBound(f) ||
			len(few) > 0 && isOf[fact.TooFewRuns](f) {
			continue
		}
		all = append(all, conditionOf(f))
	}
	return all
}

// isOf reports whether a fact is of a kind.
func isOf[T fact.Args](f fact.Fact) bool {
	_, is := f.Args.(T)
	return is
}

// isClientBound reports whether a fact says that runs were limited by the generator.
func isClientBound(f fact.Fact) bool {
	a, is := f.Args.(fact.GeneratorDoubted)
	return is && a.Verdict == result.ClientBound
}

// failedGroups are the groups whose requests failed, with how many: their rates and latencies are
// those of the others.
func failedGroups(u *judge.Unpaired) (all []answer.Caution) {
	names := groupNames(u)
	for i, g := range u.Groups {
		var sum result.Result
		for _, r := range g.Results() {
			sum.Requests.Errors += r.Requests.Errors
			sum.Requests.Sent += r.Requests.Sent
		}
		if share := sum.FailedShare(); share >= result.FailingShare {
			all = append(all, answer.Caution{Kind: answer.Failing, Severity: answer.Bad,
				Says: fmt.Sprintf("%s of the requests of %s FAILED, which no rate or latency counts",
					format.Percentage(share, 2), names.of(judge.Letter(i)))})
		}
	}
	return all
}

// runsOf is on how many runs, or rounds, a comparison of a variant rests.
func runsOf(c lab.Comparison) string {
	s := format.Plural(int64(c.Trials), c.Repetition())
	if c.Against > 0 {
		s += " against " + format.Count(int64(c.Against))
	}
	return s + " of " + format.PlainLine(c.Variant)
}

// repetition is what it takes more of for a verdict: runs, or rounds of the experiment.
func repetition(u *judge.Unpaired) string {
	if u.AreInRounds() {
		return "round"
	}
	return "run"
}

// sentencesOf are the sentences of some of the facts.
func sentencesOf(all []fact.Fact, some func(fact.Fact) bool) (found []string) {
	for _, f := range all {
		if some(f) {
			found = append(found, format.PlainLine(say.Sentence(f)))
		}
	}
	return found
}

// runDoubts are what speaks against single runs, said of the run that has the letter.
func runDoubts(letter string, rs []*result.Result) (all []answer.Caution) {
	for _, r := range rs {
		for _, c := range report.RunAnswer(r).Cautions {
			own := c.Kind == answer.Objectives || c.Kind == answer.OneRun // not of the comparison
			if !own && (c.Severity == answer.Doubt || c.Severity == answer.Bad) {
				c.Says, c.Remedy = letter+": "+c.Says, ""
				all = append(all, c)
			}
		}
	}
	return all
}

// likenessCautions say that unlike things are compared.
func likenessCautions(u *judge.Unpaired, differing []string) (all []answer.Caution) {
	var machine, others []string
	for _, setting := range differing {
		if strings.HasPrefix(setting, "host.") {
			machine = append(machine, setting)
		} else {
			others = append(others, setting)
		}
	}
	if len(machine) > 0 {
		all = append(all, answer.Caution{Kind: answer.Conditions, Severity: answer.Doubt,
			Says: "The machines that made the load differ", Scope: fewNames(machine)})
	}
	if len(others) > 0 {
		all = append(all, answer.Caution{Kind: answer.Conditions, Severity: answer.Doubt,
			Says: "The loads differ, and so the ratios are also theirs", Scope: fewNames(others)})
	}
	models := map[string]bool{}
	for _, g := range u.Groups {
		for _, r := range g.Results() {
			models[r.Model] = true
		}
	}
	if len(models) > 1 {
		all = append(all, answer.Caution{Kind: answer.Conditions, Severity: answer.Doubt,
			Says: "Closed and open loads are compared: their latencies are not the same quantity"})
	}
	return all
}

// comparedConditions are what the answer of a comparison holds for: what each letter is.
func comparedConditions(u *judge.Unpaired) (all []string) {
	for i, g := range u.Groups {
		const most = 4
		if i == most {
			return append(all, fmt.Sprintf("and %d more", len(u.Groups)-most))
		}
		runs := 0
		for _, s := range g.Samples {
			runs += len(s.Runs)
		}
		s := fmt.Sprintf("%s: %s, %s", judge.Letter(i), format.Clip(format.PlainLine(g.Name), 60),
			format.Plural(int64(runs), "run"))
		if rs := g.Results(); len(rs) > 0 && g.Record == nil {
			s += ", " + report.MethodAndURL(rs[0]) + ", " + report.LoadText(rs[0])
		}
		if g.Record != nil {
			s += ", " + GroupLoad(g)
		}
		all = append(all, s)
	}
	return all
}

// GroupLoad is the loads of an experiment that is compared, with the files of its scenario.
func GroupLoad(g judge.Group) string {
	var all []string
	rs := g.Results()
	for _, r := range rs {
		all = appendOnce(all, report.LoadText(r))
	}
	if n := len(all) - mostLoads; n > 0 {
		all = append(all[:mostLoads:mostLoads], format.Plural(int64(n), "load")+" more")
	}
	if len(rs) > 0 {
		if files := planFiles(rs[0]); files != "" {
			all = append([]string{files}, all...)
		}
	}
	return strings.Join(all, "; ")
}

// comparedStep is one concrete step after a comparison.
func comparedStep(u *judge.Unpaired, a answer.Answer) answer.Step {
	inTurns := func(says string) answer.Step {
		if command := vsCommand(u); command != "" {
			return answer.Step{Says: says, Command: command, InTurns: true}
		}
		return step(says+": this writes its file", "dyno lab init")
	}
	more, of := roundsNeeded(recordOf(u), a.Groups)
	decided := len(a.Groups) > 0 && weight(a.Groups[0]) > 1
	if u.AreInRounds() {
		return stepInRounds(u, a, more, of, decided)
	}
	switch {
	case u.IsSingle():
		return inTurns("repeat them in turns, as an experiment does")
	case a.Has(answer.AtLimit):
		return step("the generator is the limit, and more runs will not help: "+comparedRemedy, "")
	case a.Has(answer.FewRounds):
		return inTurns(lackingRuns(u) + ", or repeat them in turns as an experiment does")
	case slices.ContainsFunc(u.Facts, isOf[fact.RunsInSequence]): // of which more show no more
		return inTurns("measure them in turns, as an experiment does, so that a drift of the machine " +
			"does not look like a difference")
	case more > 0:
		too := ""
		if decided {
			too = " too"
		}
		return inTurns(fmt.Sprintf("about %s more of each would decide %s%s, if this estimate holds; or "+
			"repeat them in turns as an experiment does", format.Plural(int64(more), "run"), of, too))
	case !decided || a.Has(answer.Open):
		return step("longer runs, or more of them, narrow the intervals", "")
	}
	return step("nothing more is needed", "")
}

// stepInRounds is the step after a comparison of arms of one experiment, to which rounds can be
// added.
func stepInRounds(u *judge.Unpaired, a answer.Answer, more int, of string,
	decided bool) answer.Step {
	run, lacking := commandsOf(u.Groups[0].Record), 0
	for _, c := range u.Verdicts {
		if !c.Control {
			lacking = max(lacking, experiment.LeastRounds-c.Trials)
		}
	}
	add := func(n int, why string) answer.Step {
		return step(fmt.Sprintf(why, format.Plural(int64(n), "round")),
			fmt.Sprintf("%s --rounds +%d", run.resume, n))
	}
	switch {
	case a.Has(answer.AtLimit):
		return step("the generator is the limit, and more rounds will not help: "+comparedRemedy, "")
	case lacking > 0:
		return add(lacking, "%s more, which is the least for a verdict")
	case more > 0 && !decided:
		return add(more, "about %s more would decide "+of+", if this estimate holds")
	case more > 0:
		return add(more, "about %s more would decide "+of+" too, if this estimate holds")
	}
	return step("see all tables of the experiment", run.show)
}

// lackingRuns is how many more runs of each group it takes for a verdict.
func lackingRuns(u *judge.Unpaired) string {
	enough := u.EnoughRuns()
	var parts []string
	for i, g := range u.Groups {
		if n := enough - len(g.Results()); n > 0 {
			parts = append(parts, fmt.Sprintf("%s of %s", format.Plural(int64(n), "more run"),
				judge.Letter(i)))
		}
	}
	if len(parts) == 0 {
		return "repeat each"
	}
	return fmt.Sprintf("a verdict takes %d runs of each, in turns: %s", enough, fewNames(parts))
}
