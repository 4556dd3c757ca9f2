package judge

import (
	"errors"

	"dyno/internal/lab"
	"dyno/internal/stats"
)

// AreInRounds reports whether all groups are arms of one experiment. Their trials are pairs, round
// by round, and are judged as Compute judges them: by sign flips of whole rounds, all comparisons
// together. If another group is among them, there are no rounds that all have in common, and all
// are judged as what was measured apart.
func (u *Unpaired) AreInRounds() bool {
	for _, g := range u.Groups {
		if !g.isOf(u.Groups[0].Record) {
			return false
		}
	}
	return true
}

// isOf reports whether the group is of the experiment of that record, whichever copy of its folder
// it was read from.
func (g Group) isOf(r *lab.Record) bool {
	return g.Record != nil && r != nil && g.Record.Started.Equal(r.Started) &&
		g.Record.Seed == r.Seed && g.Record.SHA256 == r.SHA256
}

// askInRounds prepares the comparison of b, of that group, with a, of the first one. It is an error
// if there is no round in which both measured it.
func (u *Unpaired) askInRounds(group int, a, b Sample, m lab.Measure,
	margin stats.Margin) (*asked, error) {
	cells := byCell{}
	for at, trials := range u.Groups[0].cells {
		if at.Arm == a.Arm {
			cells[at] = trials
		}
	}
	for at, trials := range u.Groups[group].cells {
		if at.Arm == b.Arm {
			cells[at] = trials
		}
	}
	q := scope{arms: []scopeArm{{name: a.Arm}, {name: b.Arm}}}
	p := q.compareArms(cells, m, a.Level, a.Arm, b.Arm)
	if p == nil || len(p.logs) == 0 {
		return nil, errors.New("no round has both")
	}
	near := isNearCeiling(u.Groups[0].Record, p.Comparison, cells)
	p.ClientBound = p.ClientBound || near
	p.margin, p.Baseline, p.Variant = margin, a.Name, b.Name
	return &asked{paired: p}, nil
}

// judgeInRounds judges all prepared comparisons of one experiment, with its controls.
func (u *Unpaired) judgeInRounds() {
	var all []*paired
	for _, a := range u.asked {
		all = append(all, a.paired)
	}
	judgeTogether(all, len(u.Groups[0].Record.Looks)+1)
}
