package judge

import (
	"slices"

	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/lab/design"
	"dyno/internal/lab/experiment"
	"dyno/internal/result"
	"dyno/internal/say"
	"dyno/internal/setting"
	"dyno/internal/stats"
)

// RepeatMax is the share of trials spoiled by the machine above which repeating them is pointless,
// because the machine will not improve.
const RepeatMax = 0.25

// warn is a fact that a reader must know before the verdicts.
func warn(args fact.Args, at fact.Scope) fact.Fact {
	return fact.Fact{Severity: fact.Warning, Scope: at, Args: args}
}

// cautionsOf are what a reader must know before the verdicts.
func cautionsOf(r *lab.Record, trials []*lab.Trial) (all []fact.Fact) {
	add := func(args fact.Args) { all = append(all, warn(args, fact.Scope{})) }
	all = append(all, coverageFacts(r)...)
	for _, c := range r.Verdicts {
		if c.Control && c.Verdict == stats.Different {
			all = append(all, selfDiffers(c, fact.Scope{Variant: c.Baseline, Level: c.Level}, false))
		}
	}
	d := r.Experiment.Design
	if !r.CPUs.Apart && r.Fleet == nil {
		add(fact.SharedCPUs{Why: r.CPUs.Reason})
	}
	switch {
	case d.Order == experiment.Sequential:
		add(fact.CellsInSequence{})
	case d.Isolation == experiment.Shared:
		add(fact.ServersKept{})
	}
	n := len(groupTrials(SelectBatch(trials, false)).roundNumbers())
	if n > 0 && n < experiment.LeastRounds && !d.Screen {
		add(design.FewRounds(n))
	}
	all = append(all, loadCautions(r)...)
	if n := countGrade(trials, lab.GradeF); n > 0 {
		add(fact.GradeF{Trials: n, Of: len(trials)})
	}
	all = append(append(all, lossCautions(r)...), miscountCautions(trials)...)
	if n := countSpoiled(trials); hasEnded(r) && isTooMany(n, len(trials)) {
		add(fact.MachineBusy{Trials: n, Of: len(trials)})
	}
	switch f := r.Fairness; {
	case r.Experiment.Fairness.Mode == experiment.Off:
		add(fact.FairnessOff{})
	case f != nil && r.Experiment.Fairness.Mode == experiment.Warn && len(f.Violations()) > 0:
		add(fact.ServersUnlike{})
	}
	return append(all, conditionCautions(r, trials)...)
}

// conditionCautions are about what changed from trial to trial.
func conditionCautions(r *lab.Record, trials []*lab.Trial) (all []fact.Fact) {
	add := func(args fact.Args, at fact.Scope) { all = append(all, warn(args, at)) }
	if arms := unsteadyArms(trials); len(arms) > 0 {
		add(fact.Unsteady{Variants: arms}, fact.Scope{})
	}
	if f := result.RatesApart(Group{Samples: []Sample{{Trials: trials}}}.Results()); f != nil {
		all = append(all, *f)
	}
	all = append(all, changedPrograms(r.Programs)...)
	if slow, fast, uneven := frequencyRange(trials); uneven {
		add(fact.FrequencyUneven{LowMHz: slow, HighMHz: fast}, fact.Scope{})
	}
	return all
}

// selfDiffers is the fact that a baseline differs from itself.
func selfDiffers(c lab.Comparison, at fact.Scope, before bool) fact.Fact {
	return fact.Fact{Severity: fact.Error, Scope: at,
		Args: fact.SelfDiffers{Change: c.Difference(), Before: before}}
}

// Cautions are the texts that a reader of JSON has of facts. That a server spoiled trials is no
// caution: it is a finding.
func Cautions(facts []fact.Fact) (all []string) {
	for _, f := range facts {
		if _, spoiled := f.Args.(fact.ServerSpoiled); !spoiled {
			all = append(all, say.Text(f, setting.Key))
		}
	}
	return all
}

// setFacts gives a record facts, and their texts.
func setFacts(r *lab.Record, facts []fact.Fact) { r.Facts, r.Cautions = facts, Cautions(facts) }

// loadCautions are about rounds that were added, servers that queue, and the generator.
func loadCautions(r *lab.Record) []fact.Fact {
	all := queueCautions(r)
	if s := r.Sensitive; s != nil && s.Matters {
		all = append(all, *s.Fact)
	}
	if len(r.Looks) > 0 {
		all = append(all, fact.Fact{Severity: fact.Note, Args: fact.RoundsAdded{After: r.Looks}})
	}
	return all
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
func unsteadyArms(trials []*lab.Trial) (arms []string) {
	for _, t := range trials {
		if (t.Steadiness == stats.Slowdown || t.Steadiness == stats.Unsteady) &&
			!slices.Contains(arms, t.Arm) {
			arms = append(arms, t.Arm)
		}
	}
	return arms
}
