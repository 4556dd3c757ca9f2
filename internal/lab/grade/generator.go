package grade

import (
	"slices"

	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/result"
	"dyno/internal/say"
)

// notJudged is the verdict on a generator that measured too little.
const notJudged = "not judged"

func verdictOf(r *result.Result) string {
	if r.Generator.NotJudged() {
		return notJudged
	}
	return r.Generator.Verdict
}

// GeneratorDoubts are in how many trials the generator was doubted, and in how many it was not
// judged.
func GeneratorDoubts(trials []*lab.Trial) (all []fact.GeneratorDoubted) {
	of := map[string][]*lab.Trial{}
	for _, t := range trials {
		if t.Result != nil {
			v := verdictOf(t.Result)
			of[v] = append(of[v], t)
		}
	}
	bound, suspect := of[result.ClientBound], of[result.Suspect]
	doubted := fact.GeneratorDoubted{Verdict: result.ClientBound, Runs: len(bound),
		Suspect: len(suspect), Of: len(trials)}
	if len(bound) == 0 {
		doubted.Verdict, doubted.Runs, doubted.Suspect = result.Suspect, len(suspect), 0
	}
	mostFrequent(&doubted, slices.Concat(bound, suspect))
	short := fact.GeneratorDoubted{Verdict: notJudged, Runs: len(of[notJudged]), Of: len(trials)}
	mostFrequent(&short, of[notJudged])
	for _, args := range []fact.GeneratorDoubted{doubted, short} {
		if args.Runs > 0 {
			all = append(all, args)
		}
	}
	return all
}

// mostFrequent adds the reason of the generator's self-check that most trials have.
func mostFrequent(to *fact.GeneratorDoubted, trials []*lab.Trial) {
	type found struct {
		first string
		runs  int
		facts []fact.Fact
	}
	var causes []string
	of := map[string]*found{}
	for _, t := range trials {
		g, facts, had := t.Result.Generator, t.Result.ReasonFacts(), map[string]bool{}
		for i, text := range g.Reasons {
			cause := text // an older dyno's result may have no causes
			if i < len(g.Doubts) {
				cause = string(g.Doubts[i].Cause)
			}
			if of[cause] == nil {
				causes, of[cause] = append(causes, cause), &found{first: text}
			}
			one := of[cause]
			if !had[cause] {
				had[cause], one.runs = true, one.runs+1
			}
			if facts != nil {
				one.facts = append(one.facts, facts[i])
			}
		}
	}
	for _, cause := range causes {
		if one := of[cause]; one.runs > to.WhyRuns {
			to.Why, to.WhyRuns, to.OfOne = one.first, one.runs, one.runs > 1
			if said := say.Merge(one.facts, nil); len(said) == 1 && len(one.facts) >= one.runs {
				to.Why, to.OfOne = said[0].Text, false
			}
		}
	}
}
