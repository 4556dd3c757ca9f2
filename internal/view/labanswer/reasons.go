package labanswer

import (
	"cmp"
	"slices"

	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/say"
	"dyno/internal/setting"
	"dyno/internal/view/format"
)

// Doubts are the reasons against trials, those of one kind together.
type Doubts struct {
	facts  []fact.Fact
	says   []string // each, as its trial has it
	trials []int
}

// Add adds the reason of a trial. Of an older dyno's, which are texts, only the same are one.
func (d *Doubts) Add(trial int, why lab.Reason) {
	f := why.Fact
	if f == nil {
		f = &fact.Fact{Args: fact.Told{Text: why.Says}}
	}
	d.facts, d.says = append(d.facts, *f), append(d.says, why.Says)
	d.trials = append(d.trials, trial)
}

// A Doubt is one reason against several trials.
type Doubt struct {
	Says   string // of all: amounts are ranges
	First  string // as the first of the trials has it
	Trials int
}

// Most are the doubts, the most frequent first.
func (d *Doubts) Most() (all []Doubt) {
	for _, said := range say.Merge(d.facts, setting.Key) {
		trials := map[int]bool{}
		for _, at := range said.Of {
			trials[d.trials[at]] = true
		}
		all = append(all, Doubt{format.PlainLine(said.Text), format.PlainLine(d.says[said.Of[0]]),
			len(trials)})
	}
	slices.SortStableFunc(all, func(a, b Doubt) int { return cmp.Compare(b.Trials, a.Trials) })
	return all
}

// lines are the doubts in words: "4 trials: the hypervisor took 5.7 to 16 % of the CPUs' time".
func (d *Doubts) lines() (all []string) {
	for _, one := range d.Most() {
		all = append(all, format.Plural(int64(one.Trials), "trial")+": "+one.Says)
	}
	return all
}

// linesOf are lines of so many trials, which are not counted again if one doubt is of all of them.
func (d *Doubts) linesOf(trials int) []string {
	if all := d.Most(); len(all) == 1 && all[0].Trials == trials {
		return []string{all[0].Says}
	}
	return d.lines()
}
