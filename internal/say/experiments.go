package say

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"dyno/internal/digits"
	"dyno/internal/fact"
)

// experimentSentence is Sentence for what an experiment shows; "" of another kind.
func experimentSentence(f fact.Fact) string {
	at := f.Scope
	switch a := f.Args.(type) {
	case fact.NotCompared:
		return notCompared(a)
	case fact.SelfDiffers:
		return selfDiffers(at, a)
	case fact.FewRounds:
		return fmt.Sprintf("%s cannot show a difference: the least possible p is %s %%, and it "+
			"must be below 5 %%; a verdict takes %d rounds", digits.Plural(int64(a.Rounds), "round"),
			digits.Significant(a.Least, 3), a.Needs)
	case fact.RoundsAdded:
		return roundsAdded(a)
	case fact.CheaperByQueue:
		return cheaperByQueue(at, a)
	case fact.GeneratorChoice:
		return generatorChoice(at, a)
	case fact.TrialsLost:
		return fmt.Sprintf("%s %s not stored (%s): the comparisons use the other rounds",
			digits.Plural(int64(a.Trials), "planned trial"), digits.Were(int64(a.Trials)),
			Cells(a.Cells))
	case fact.ProfilesShared:
		return profilesShared(a)
	case fact.Unsteady:
		return "trials of " + quoted(a.Variants) + " had no steady state, or slowed down"
	case fact.NoiseUnusual:
		word := "noisier"
		if a.Now < a.Usual {
			word = "less noisy"
		}
		return fmt.Sprintf("%s%s is much %s than usual: compared with itself, the baseline varied by "+
			"%.1f %% from pair to pair; in %d earlier runs of this experiment on this machine, the "+
			"median was %.1f %%", a.Metric, atLevel(at.Level), word, a.Now, a.Others, a.Usual)
	case fact.WeakDesign:
		return weakDesign(a)
	case fact.Told:
		return a.Text
	}
	return conditionSentence(f)
}

// conditionSentence is Sentence for how an experiment was run; "" of another kind.
func conditionSentence(f fact.Fact) string {
	switch a := f.Args.(type) {
	case fact.SharedCPUs:
		return "the generator and the servers share CPUs: " + a.Why
	case fact.CellsInSequence:
		return "each variant ran all its trials at a level before the next began: whatever changed " +
			"meanwhile looks like a difference"
	case fact.ServersKept:
		return "each server was started once for all rounds: how much one start differs from the next " +
			"is not known"
	case fact.GradeF:
		return gradeF(f.Scope, a)
	case fact.Miscounted:
		return miscounted(f.Scope, a)
	case fact.MachineBusy:
		return fmt.Sprintf("the machine was busy in %d of %d trials, too many to repeat them: run the "+
			"experiment again when nothing else is at work", a.Trials, a.Of)
	case fact.FairnessOff:
		return "nothing checked whether the servers answer alike (fairness: off)"
	case fact.ServersUnlike:
		return "the servers do not answer alike, and were compared all the same (fairness: warn)"
	case fact.ProgramChanged:
		return fmt.Sprintf("the program %q of %q was not the same file in all trials", a.Program,
			f.Scope.Variant)
	case fact.FrequencyUneven:
		return fmt.Sprintf("the CPUs' frequency was %.0f MHz in one trial and %.0f MHz in another: CPU "+
			"time grows as the frequency falls", a.LowMHz, a.HighMHz)
	}
	return ""
}

// Coverage is how many variants can be compared.
func Coverage(comparable, variants int) string {
	return fmt.Sprintf("%d of %d variants can be compared", comparable, variants)
}

// notCompared says how many variants can be compared, and why the others cannot.
func notCompared(a fact.NotCompared) string {
	var why []string
	for _, v := range a.NotTested {
		switch {
		case len(v.Missing) > 0:
			why = append(why, fmt.Sprintf("%q is not available here (%s)", v.Variant,
				strings.Join(v.Missing, ", ")))
		case v.Remedy != "":
			why = append(why, fmt.Sprintf("%q is not tested: %s; %s", v.Variant, v.Why, v.Remedy))
		default:
			why = append(why, fmt.Sprintf("%q is not tested: %s", v.Variant, v.Why))
		}
	}
	for _, v := range a.Failed {
		why = append(why, Failed(v))
	}
	if a.Unpaired {
		why = append(why, "no round has two trials with results to compare")
	}
	if a.Comparable == 0 {
		return Coverage(0, a.Variants) + ": " + strings.Join(why, "; ")
	}
	return fmt.Sprintf("%d of %d variants cannot be compared: %s", a.Variants-a.Comparable, a.Variants,
		strings.Join(why, "; "))
}

// Failed says of a variant that it failed: `"go" failed in each of its 3 trials (start: ended with
// status 3)`.
func Failed(v fact.FailedVariant) string {
	in := fmt.Sprintf("each of its %d trials", v.Trials)
	if v.Trials == 1 {
		in = "its only trial"
	}
	return fmt.Sprintf("%q failed in %s (%s: %s)", v.Variant, in, v.Phase, v.Why)
}

// selfDiffers says by how much a baseline differs from itself.
func selfDiffers(of fact.Scope, a fact.SelfDiffers) string {
	when, cannot := "", "this machine cannot show smaller differences now"
	if a.Before {
		when, cannot = "in "+of.Group+", ", "its machine could not show smaller differences"
	}
	return fmt.Sprintf("%s%s was compared with itself, and %s still differed, by %s: %s", when,
		cell(of.Variant, of.Level), a.Metric, ChangeText(a.Change), cannot)
}

func cheaperByQueue(at fact.Scope, a fact.CheaperByQueue) string {
	times := digits.Two(a.InFlight)
	return fmt.Sprintf("%s needs %.0f %% less CPU per request than %q, because it queues: it has %s "+
		"times as many requests in flight [%s, %s], and each waits about %s times as long",
		cell(at.Variant, at.Level), a.Less, a.Than, times, digits.Two(a.Low), digits.Two(a.High), times)
}

func miscounted(of fact.Scope, a fact.Miscounted) string {
	return fmt.Sprintf("in %d of %d trials the server of %q counted more or fewer requests than the "+
		"clients sent: in the first of these, %s against %s", a.Trials, a.Of, of.Variant,
		count(a.Server), count(a.Clients))
}

// roundsAdded says when rounds were added, and what was done about it.
func roundsAdded(a fact.RoundsAdded) string {
	after := make([]string, len(a.After))
	for i, n := range a.After {
		after[i] = fmt.Sprint(n)
	}
	return fmt.Sprintf("rounds were added when the verdicts of %s rounds were known: verdicts and "+
		"intervals are corrected for %d looks at the data", Listed(after), len(a.After)+1)
}

// generatorChoice says how much the settings of the generator move a cell.
func generatorChoice(at fact.Scope, a fact.GeneratorChoice) string {
	figure := a.Metric + " of " + cell(at.Variant, at.Level)
	two := func(x float64) string { return digits.Significant(x, 2) }
	switch {
	case a.Open == fact.TooFewRounds:
		return fmt.Sprintf("other settings of the generator may change %s: %s are too few to tell",
			figure, digits.Plural(int64(a.Rounds), "round"))
	case a.Open == fact.RoundsDiffer:
		return fmt.Sprintf("other settings of the generator may change %s: the rounds differ too much "+
			"to tell", figure)
	case a.Setting == "":
		return fmt.Sprintf("no other setting of the generator was shown to change %s; a change of up to "+
			"%.0f %% is not excluded", figure, math.Ceil(a.High))
	}
	return fmt.Sprintf("another setting of the generator (%s) changes %s by %s %% [%s, %s]", a.Setting,
		figure, two(a.Percent), two(a.Low), two(a.High))
}

// gradeF says how many trials are of grade F: of all, of a variant, or of a group's runs.
func gradeF(of fact.Scope, a fact.GradeF) string {
	are, why, each, where := areIs(a.Trials), "; the reason in the first of them: ", "run", of.Group
	if a.Trials == 1 {
		why = ": "
	}
	if where == "" {
		each, where = "trial", cell(of.Variant, of.Level)
	}
	n := fmt.Sprintf("%d of the %d %ss of %s ", a.Trials, a.Of, each, where)
	switch {
	case of.Group == "" && of.Variant == "":
		return fmt.Sprintf("%d of %s %s of grade F: see their reasons", a.Trials,
			digits.Plural(int64(a.Of), "trial"), are)
	case a.Of == 1:
		n = fmt.Sprintf("the only %s of %s ", each, where)
	}
	n += are + " of grade F"
	if a.Lasting {
		n += " for other reasons than a busy machine"
	}
	return n + why + a.Why
}

// Cells lists cells with the number of their trials.
func Cells(cells []fact.CellTrials) string {
	all := make([]string, len(cells))
	for i, c := range cells {
		all[i] = fmt.Sprintf("%d of %s", c.Trials, cell(c.Variant, c.Level))
	}
	return strings.Join(all, ", ")
}

// cell names one: `"go" at level "c16"`.
func cell(variant, level string) string { return strconv.Quote(variant) + atLevel(level) }

// atLevel is where a level is: ` at level "c16"`; "" if there is only one.
func atLevel(level string) string {
	if level == "" {
		return ""
	}
	return fmt.Sprintf(" at level %q", level)
}

// quoted are names: `"go", "php" and "none"`.
func quoted(names []string) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = strconv.Quote(name)
	}
	return Listed(all)
}

// Listed are words: "status, body and date".
func Listed(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// profilesShared says of which cells the profiles were lost.
func profilesShared(a fact.ProfilesShared) string {
	all := make([]string, len(a.Cells))
	for i, c := range a.Cells {
		all[i] = cell(c.Variant, c.Level)
	}
	return fmt.Sprintf("the profiles of %s were written to one file, which has only the last of them",
		Listed(all))
}

// weakDesign says what a design cannot show, behind the key that it is about.
func weakDesign(a fact.WeakDesign) string {
	given, needs := duration(a.GivenS), duration(a.NeedsS)
	switch a.By {
	case fact.InSequence:
		return "in sequential order, whatever drifts meanwhile looks like a difference between " +
			"servers; interleaved order avoids that"
	case fact.NoControl:
		return "without an A/A comparison, nothing shows how much two measurements of one server " +
			"differ on this machine"
	case fact.NotIsolated:
		return "without isolation, a server keeps what an earlier trial left in it, and rounds are not " +
			"independent"
	case fact.ShortProbes:
		return fmt.Sprintf("a search with windows of %v may end at a rate that is slightly too high; "+
			"give %v or more", given, needs)
	case fact.CPUShared:
		return "the generator and a server share a CPU, so that each slows the other"
	case fact.OnlyOne:
		return fmt.Sprintf("there is nothing to compare with the baseline, %q", a.Baseline)
	}
	return fmt.Sprintf("%v is not enough for %d rounds, which take %v", given, a.Rounds, needs)
}

// duration is a time as files of experiments have it.
func duration(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(time.Millisecond)
}
