package judge

import (
	"slices"

	"dyno/internal/fact"
	"dyno/internal/lab"
)

// programsRun are the programs of all arms, in the order in which they were first seen.
func programsRun(trials []*lab.Trial) (all []lab.ArmProgram) {
	for _, t := range trials {
		for _, p := range t.Programs {
			i := slices.IndexFunc(all, func(r lab.ArmProgram) bool {
				return r.Arm == t.Arm && r.SameVersion(p)
			})
			if i < 0 {
				i, all = len(all), append(all, lab.ArmProgram{Arm: t.Arm, Program: p})
			}
			all[i].Trials++
		}
	}
	return all
}

// changedPrograms are the facts about programs of which an arm had more than one version, as far as
// they could be read.
func changedPrograms(all []lab.ArmProgram) (facts []fact.Fact) {
	for i, a := range all {
		f := warn(fact.ProgramChanged{Program: a.Executable()}, fact.Scope{Variant: a.Arm})
		for _, b := range all[:i] {
			known := a.SHA256 != "" && b.SHA256 != ""
			other := a.Arm == b.Arm && a.SameExecutable(b.Program) && a.SHA256 != b.SHA256
			had := slices.ContainsFunc(facts, func(o fact.Fact) bool {
				return o.Scope.Variant == a.Arm && o.Args == f.Args
			})
			if known && other && !had {
				facts = append(facts, f)
			}
		}
	}
	return facts
}
