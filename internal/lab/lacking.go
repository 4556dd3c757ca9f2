package lab

import (
	"fmt"
	"slices"
	"strings"
)

// lacking are the trials of rounds 1 to the last that are not among those that are stored. Every
// round that has ended has a trial of each cell. One is lacking where its file was removed, and
// where an earlier version, whose files of two cells could have one name, took the other cell's
// for it.
func (r *Record) lacking(stored []Slot) (all []Slot) {
	had, last := map[cellRound]bool{}, 0
	for _, s := range stored {
		had[s.attempt(1).cellRound] = true
		if s.Round < Confirming {
			last = max(last, s.Round)
		}
	}
	q := r.question()
	for round := 1; round <= last; round++ {
		for _, a := range q.arms {
			for _, level := range q.levels {
				if !had[cellRound{a.name, level, round}] {
					all = append(all, Slot{Round: round, Arm: a.name, Level: level})
				}
			}
		}
	}
	return all
}

// slots are those of the trials that a record lists.
func (r *Record) slots() (all []Slot) {
	for _, t := range r.Trials {
		all = append(all, t.Slot)
	}
	return all
}

// lost says of which cells an experiment that has ended lacks trials or has no profile of its
// own; nothing if there is none.
func (r *Record) lost() (all []string) {
	if r.State != Complete && r.State != OverBudget {
		return nil
	}
	if lacks := r.lacking(r.slots()); len(lacks) > 0 {
		all = append(all, fmt.Sprintf("%d trials that were planned are not stored: %s; what is compared "+
			"rests on the other rounds, and --resume runs these", len(lacks), counted(lacks)))
	}
	var one []string
	for _, t := range r.Profiles {
		if t.File != "" && filed(r.Profiles, t) > 1 {
			one = append(one, t.Arm+" at "+t.Level)
		}
	}
	if len(one) > 0 {
		all = append(all, fmt.Sprintf("the profiles of %s share one file, in which only the last was "+
			"kept; --resume takes them again", strings.Join(one, " and of ")))
	}
	return all
}

// filed is how many of the profiles have the file of t.
func filed(all []Taken, t Taken) (n int) {
	for _, o := range all {
		if o.File == t.File {
			n++
		}
	}
	return n
}

// counted are the cells of trials, each with how many there are.
func counted(slots []Slot) string {
	var cells []cell
	count := map[cell]int{}
	for _, s := range slots {
		c := cell{s.Arm, s.Level}
		if count[c]++; !slices.Contains(cells, c) {
			cells = append(cells, c)
		}
	}
	var all []string
	for _, c := range cells {
		all = append(all, fmt.Sprintf("%d of %s at %s", count[c], c.arm, c.level))
	}
	return strings.Join(all, ", ")
}
