package judge

import (
	"dyno/internal/lab"
	"fmt"
	"math"
	"slices"
	"strings"

	"dyno/internal/digits"
	"dyno/internal/lab/experiment"
	"dyno/internal/result"
	"dyno/internal/stats"
)

// RepeatMax is the share of trials spoiled by the machine above which repeating them is pointless,
// because the machine will not improve.
const RepeatMax = 0.25

// cautionsOf are what a reader must know before the verdicts.
func cautionsOf(r *lab.Record, trials []*lab.Trial) (all []string) {
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if why := Unloaded(r); why != "" {
		all = append(all, why)
	}
	for _, c := range r.Verdicts {
		if c.Control && c.Verdict == stats.Different {
			say("%s differs from itself in %s at %s by a factor of %s: this machine does not support "+
				"comparisons that fine now", c.Baseline, c.Metric, c.Level, c.RatioText())
		}
	}
	d := r.Experiment.Design
	if !r.CPUs.Apart && r.Fleet == nil {
		say("generator and servers share CPUs: %s", r.CPUs.Reason)
	}
	switch {
	case d.Order == experiment.Sequential:
		say("the trials ran one cell after the other: whatever changed meanwhile looks like a difference")
	case d.Isolation == experiment.Shared:
		say("servers stayed up over all rounds: what differs from one start to the next was drawn once")
	}
	if n := len(groupTrials(SelectBatch(trials, false)).roundNumbers()); n > 0 && n < MinRounds &&
		!d.Screen {
		say("with %d rounds the least p is %s %%, which is above 5 %%: whatever differs, no verdict "+
			"can say so; it takes %d rounds", n, digits.Significant(200*math.Pow(2, -float64(n)), 3),
			MinRounds)
	}
	all = append(all, loadCautions(r)...)
	if n := countGrade(trials, lab.GradeF); n > 0 {
		say("%d of %d trials are of grade F: see their reasons", n, len(trials))
	}
	all = append(append(all, lossCautions(r)...), miscountCautions(trials)...)
	if n := countSpoiled(trials); hasEnded(r) && isTooMany(n, len(trials)) {
		say("the machine was busy in %d of %d trials, too many to repeat them: run the experiment again "+
			"when nothing else is at work", n, len(trials))
	}
	switch f := r.Fairness; {
	case r.Experiment.Fairness.Mode == experiment.Off:
		say("fairness: off: whether the servers answer alike was not looked at")
	case f != nil && r.Experiment.Fairness.Mode == experiment.Warn && len(f.Violations()) > 0:
		say("the servers do not answer alike, and were compared all the same (fairness: warn)")
	}
	if s := unsteadyArms(trials); s != "" {
		say("no steady state, or a slowdown, in trials of %s", s)
	}
	if why := result.RatesApartText(Group{Samples: []Sample{{Trials: trials}}}.Results()); why != "" {
		say("%s", why)
	}
	for _, name := range changedPrograms(r.Programs) {
		say("%s is not the same file in all trials", name)
	}
	if slow, fast, uneven := frequencyRange(trials); uneven {
		say("the CPUs' frequency was %.0f MHz in one trial and %.0f MHz in another: CPU time grows as "+
			"it falls", slow, fast)
	}
	return all
}

// loadCautions are about rounds that were added, servers that queue, and the generator.
func loadCautions(r *lab.Record) []string {
	all := queueCautions(r)
	if s := r.Sensitive; s != nil && s.Matters {
		all = append(all, s.Sentence)
	}
	if len(r.Looks) > 0 {
		all = append(all, lookCaution(r))
	}
	return all
}

// lookCaution says when rounds were added, and what was done about it.
func lookCaution(r *lab.Record) string {
	after := make([]string, len(r.Looks))
	for i, n := range r.Looks {
		after[i] = fmt.Sprint(n)
	}
	return fmt.Sprintf("rounds were added after the verdicts of %s rounds had been seen; verdicts "+
		"and intervals are corrected for %d looks", strings.Join(after, " and of "), len(r.Looks)+1)
}

// unevenFrequency is the ratio of CPU frequencies from which on a reader must know of it.
const unevenFrequency = 1.05

// frequencyRange is the lowest and the highest CPU frequency, in MHz, of all trials in which it
// could be read. uneven reports whether they are far apart.
func frequencyRange(trials []*lab.Trial) (slow, fast float64, uneven bool) {
	for _, t := range trials {
		if t.Result == nil || t.Result.Server == nil || !(t.Result.Server.Host.Frequency > 0) {
			continue
		}
		f := float64(t.Result.Server.Host.Frequency)
		if slow == 0 || f < slow {
			slow = f
		}
		fast = max(fast, f)
	}
	return slow, fast, slow > 0 && fast > unevenFrequency*slow
}

// countSpoiled counts trials whose first attempt the machine spoiled.
func countSpoiled(trials []*lab.Trial) (n int) {
	for _, t := range trials {
		if t.Attempt == 1 && t.SpoiledByMachine() {
			n++
		}
	}
	return n
}

func countGrade(trials []*lab.Trial, g lab.Grade) (n int) {
	for _, t := range trials {
		if t.Grade == g {
			n++
		}
	}
	return n
}

// unsteadyArms names the arms with a trial that never became steady.
func unsteadyArms(trials []*lab.Trial) string {
	var arms []string
	for _, t := range trials {
		if (t.Steadiness == stats.Slowdown || t.Steadiness == stats.Unsteady) &&
			!slices.Contains(arms, t.Arm) {
			arms = append(arms, t.Arm)
		}
	}
	return strings.Join(arms, ", ")
}
