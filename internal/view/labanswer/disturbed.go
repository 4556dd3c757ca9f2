package labanswer

import (
	"fmt"
	"slices"

	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"dyno/internal/view/answer"
	"dyno/internal/view/format"
)

// This file is about what held the generator up, which is said once.

// thieves are what takes a CPU from a generator, the most precise first.
var thieves = []struct {
	says string
	is   func(fact.Args) bool
}{
	{"The hypervisor took the generator's CPU", isArgs[fact.Steal]},
	{"A CPU quota stopped the generator", isArgs[fact.CPUQuota]},
	{"Other programs took the generator's CPU", isArgs[fact.Unscheduled]},
	{"The generator was stopped, or had no CPU,", isArgs[fact.StoodStill]},
}

func isArgs[T fact.Args](a fact.Args) bool {
	_, is := a.(T)
	return is
}

// disturbedText says what held the generator up in most trials, and in how many. An older dyno did
// not store it.
func disturbedText(r *lab.Record) string {
	trials, _ := judge.CountedAttempts(r.Trials)
	says, most := "Something else on the machine disturbed these figures", 0
	for _, t := range thieves {
		n := 0
		for _, trial := range trials {
			if slices.ContainsFunc(trial.Reasons, func(why lab.Reason) bool {
				return why.Fact != nil && t.is(why.Fact.Args)
			}) {
				n++
			}
		}
		if n > most {
			most = n
			says = fmt.Sprintf("%s in %d of %s", t.says, n, format.Plural(int64(len(trials)), "trial"))
		}
	}
	return says
}

// withoutTwice are cautions without the one of two that says less, where trials are unreliable for
// what a caution about the generator says.
func withoutTwice(r *lab.Record, all []answer.Caution) []answer.Caution {
	at := func(kind string) int {
		return slices.IndexFunc(all, func(c answer.Caution) bool { return c.Kind == kind })
	}
	unreliable := at(answer.GradeF)
	if unreliable < 0 || !isOfMachine(r) {
		return all
	}
	f := all[unreliable]
	for _, kind := range []string{answer.Disturbed, answer.AtLimit} {
		of := at(kind)
		switch {
		case of < 0:
			continue
		case !f.IsManyUnreliable():
			n := judge.WorthOf(r.Trials).Unreliable
			f.Says = format.Plural(int64(n), "trial") + wasWere(n) + "of grade F"
			if c := &all[of]; c.Scope == "" {
				c.Says += "; " + f.Text()
			} else {
				c.Reasons = []string{f.Text()}
			}
			return slices.Delete(all, unreliable, unreliable+1)
		case kind == answer.Disturbed:
			return slices.Delete(all, of, of+1)
		}
	}
	return all
}

// isOfMachine reports whether no trial is unreliable for what its server did, but for what a fact
// about the server says.
func isOfMachine(r *lab.Record) bool {
	trials, _ := judge.CountedAttempts(r.Trials)
	for _, t := range trials {
		for _, why := range t.Reasons {
			ofServer := why.Server || why.Fact == nil
			if t.Failure == nil && why.Grade == lab.GradeF && ofServer && !isOfSpoiled(r, t, why) {
				return false
			}
		}
	}
	return true
}
