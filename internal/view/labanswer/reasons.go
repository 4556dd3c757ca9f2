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
	reasons []lab.Reason
	trials  []int // of each reason, its trial
}

// Add adds the reason of a trial.
func (d *Doubts) Add(trial int, why lab.Reason) {
	d.reasons, d.trials = append(d.reasons, why), append(d.trials, trial)
}

// A Doubt is one reason against several trials.
type Doubt struct {
	Says   string // of all: amounts are ranges
	First  string // as the first of the trials has it
	Trials int
}

// Most are the doubts, the most frequent first. Reasons of an older dyno are texts, of which only
// the same are one.
func (d *Doubts) Most() (all []Doubt) {
	var facts []fact.Fact
	var of []int // the place of each fact's reason
	var texts []string
	same := map[string][]int{}
	for i, why := range d.reasons {
		switch {
		case why.Fact != nil:
			facts, of = append(facts, *why.Fact), append(of, i)
		case same[why.Says] == nil:
			texts = append(texts, why.Says)
			fallthrough
		default:
			same[why.Says] = append(same[why.Says], i)
		}
	}
	doubt := func(says string, places []int) {
		trials := map[int]bool{}
		for _, at := range places {
			trials[d.trials[at]] = true
		}
		all = append(all, Doubt{format.PlainLine(says), format.PlainLine(d.reasons[places[0]].Says),
			len(trials)})
	}
	for _, said := range say.Merge(facts, setting.Key) {
		places := make([]int, len(said.Of))
		for i, at := range said.Of {
			places[i] = of[at]
		}
		doubt(said.Text, places)
	}
	for _, text := range texts {
		doubt(text, same[text])
	}
	slices.SortStableFunc(all, func(a, b Doubt) int { return cmp.Compare(b.Trials, a.Trials) })
	return all
}

// lines are the doubts in words: "4 trials: the machine's host took 5.7 to 15.9 % of its time".
func (d *Doubts) lines() (all []string) {
	for _, one := range d.Most() {
		all = append(all, format.Plural(int64(one.Trials), "trial")+": "+one.Says)
	}
	return all
}
