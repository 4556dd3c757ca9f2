package report

import (
	"cmp"
	"slices"

	"dyno/internal/result"
	"dyno/internal/say"
	"dyno/internal/view/format"
)

// Reasons are those of the generator's self-check, with what can be done about each on the
// command line: first why the load ended early, then those that justify the verdict. Results of an
// older dyno have reasons that are no facts, for which nothing is advised.
func Reasons(r *result.Result) []string {
	return reasonsBut(r, func(result.Doubt) bool { return false })
}

// reasonsBut are Reasons without those of some doubts.
func reasonsBut(r *result.Result, without func(result.Doubt) bool) []string {
	all := make([]string, 0, len(r.Generator.Reasons))
	for _, i := range reasonOrder(r) {
		reason := format.PlainLine(r.Generator.Reasons[i])
		if i < len(r.Generator.Doubts) {
			d := r.Generator.Doubts[i]
			if without(d) {
				continue
			}
		}
		if remedy := remedyOf(r, i, r.Voice()); remedy != "" {
			reason += "; " + remedy
		}
		all = append(all, reason)
	}
	return all
}

// reasonOrder is the order in which the reasons of the generator's self-check are said: first why
// the load ended early, then those about the generator itself, the worst of each first.
func reasonOrder(r *result.Result) []int {
	order, doubts := make([]int, len(r.Generator.Reasons)), r.Generator.Doubts
	for i := range order {
		order[i] = i
	}
	if len(doubts) != len(order) {
		return order
	}
	rank := func(d result.Doubt) int {
		if d.Cause == result.Ended {
			return -1
		}
		rank := slices.Index([]string{result.ClientBound, result.Suspect, result.OK}, d.Verdict)
		if !r.IsOwn(d) {
			rank += 3
		}
		return rank
	}
	slices.SortStableFunc(order, func(i, k int) int {
		return cmp.Compare(rank(doubts[i]), rank(doubts[k]))
	})
	return order
}

// remedyOf is what can be done about a reason of the self-check; "" if nothing is known.
func remedyOf(r *result.Result, reason int, v say.Voice) string {
	facts := r.ReasonFacts()
	if facts == nil {
		return ""
	}
	return say.Advice(facts[reason], v)
}

// GeneratorWord is the generator's self-check in a word or two.
func GeneratorWord(r *result.Result) string {
	return generatorWord(r.OwnVerdict(), r.Generator.NotJudged())
}

func generatorWord(verdict string, notJudged bool) string {
	if notJudged {
		return "not judged"
	}
	return format.PlainLine(verdict)
}
