package judge

import (
	"dyno/internal/lab"
	"fmt"
	"slices"
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

// changedPrograms names the programs of which an arm had more than one version, as far as they
// could be read.
func changedPrograms(all []lab.ArmProgram) (names []string) {
	for i, a := range all {
		for _, b := range all[:i] {
			name := fmt.Sprintf("%s of %s", a.Executable(), a.Arm)
			known := a.SHA256 != "" && b.SHA256 != ""
			other := a.Arm == b.Arm && a.SameExecutable(b.Program) && a.SHA256 != b.SHA256
			if known && other && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}
