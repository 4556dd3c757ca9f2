package say

import (
	"fmt"
	"strconv"
	"strings"

	"dyno/internal/digits"
	"dyno/internal/fact"
)

// Because is a fact with those that say why it is so.
func Because(all []fact.Fact) string {
	text := ""
	for i, f := range all {
		switch e, _ := all[0].Args.(fact.SearchEnded); {
		case i == 1 && isExplained(e.How):
			text += ": "
		case i > 0:
			text += "; "
		}
		text += Sentence(f)
	}
	return text
}

// isExplained reports whether what follows an ending is its cause alone.
func isExplained(how fact.Ending) bool {
	switch how {
	case fact.EndLimited, fact.EndNeverFree, fact.EndUnreachable, fact.EndLost:
		return true
	}
	return false
}

// searchPhrase is the sentence for a search, a probe or a point; empty of another kind.
func searchPhrase(args fact.Args) phrase {
	switch a := args.(type) {
	case fact.SearchEnded:
		return endingPhrase(a)
	case fact.GivenUp:
		return phrased("dyno stopped the probe after %v, because it was more than a second "+
			"behind: %v", seconds(a.AfterS, 0), Shortage(a.Shortage))
	case fact.LatencyGrowing:
		return phrased("latency grew from second to second until the end: above the server's limit it " +
			"grows without end")
	case fact.TooFewToBound:
		return phrased("%v are too few to decide %v", plural(a.Requests, "request"), a.Objective)
	case fact.NothingAnswered:
		return unansweredPhrase(a)
	case fact.AnsweredLate:
		return phrased("nothing was completed within %v; %v came later", micros(a.WindowS*1e6),
			plural(a.Later, "answer"))
	case fact.OnlyErrors:
		p := phrased("every answer was an error")
		for i, e := range a.Of {
			between := ", "
			if i == 0 {
				between = ": "
			}
			p = phrased("%v%v%v (%v)", p, between, errorName(e), counts(e.Count))
		}
		return p
	case fact.MostErrors:
		return phrased("%v of %v requests failed: %v", counts(a.Count), counts(a.Of),
			errorName(a.ErrorCount))
	case fact.LoadStopped:
		if a.Gone {
			return phrased("the server was gone: %v", a.Why)
		}
		return phrased("%v", a.Why)
	case fact.NoLaw:
		return phrased("no law of scaling was fitted: it has three parameters, and a fit takes at "+
			"least %v levels with valid points", a.Needs)
	case fact.AnswersMissing:
		return missingPhrase(a)
	case fact.StreamsUnended:
		return phrased("%v began but did not end: %v were cut, %v stalled",
			plural(a.Cut+a.Stalled, "stream"), counts(a.Cut), counts(a.Stalled))
	case fact.LoadNotApplied:
		return phrased("the server went away, and %v of the load was not applied",
			significant(a.Percent, 3))
	}
	return phrase{}
}

// errorName is what an answer was that was an error.
func errorName(e fact.ErrorCount) string {
	if e.Check {
		return fmt.Sprintf("check %q", e.What)
	}
	return ErrorName(e.What)
}

// ErrorName is the detail of an error as people read it: a status is called one.
func ErrorName(detail string) string {
	if _, err := strconv.Atoi(detail); err == nil {
		return "status " + detail
	}
	return detail
}

// endingPhrase says how a search ended.
func endingPhrase(a fact.SearchEnded) phrase {
	least := phrased("%v", rate(a.High))
	low, high, was := phrased("at %v", rate(a.Low)), phrased("at %v", least), "is the limit"
	noun := "rate"
	if a.Axis != "" {
		one := strings.TrimSuffix(a.Axis, "s")
		least = phrased("%v", plural(a.HighCount, one))
		low, high = phrased("with %v", plural(a.LowCount, one)), phrased("with %v", least)
		noun = "number of " + a.Axis
	}
	if a.HeldUp {
		was = "was held up"
	}
	switch a.How {
	case fact.EndFound:
		return phrased("the objectives are met %v, and not %v", low, high)
	case fact.EndLimited:
		return phrased("%v the generator %v, and the server's limit is not known", high, was)
	case fact.EndNeverFree:
		return phrased("the generator %v at every %v, and nothing is known of the server", was, noun)
	case fact.EndNoMore:
		return phrased("the objectives are met %v, and dyno offers no higher %v", low, noun)
	case fact.EndMissed:
		return phrased("the objectives are missed %v and above", high)
	case fact.EndMissedOpen:
		return phrased("the objectives are missed %v, the lowest %v that was tried; at no higher %v "+
			"was it clear whether they are met", high, noun, noun)
	case fact.EndUndecided:
		return phrased("no probe down to %v showed whether the objectives are met", least)
	case fact.EndUnconfirmed:
		return phrased("no %v down to %v met the objectives in the longer run that confirms a result",
			noun, least)
	case fact.EndUnreachable:
		return phrased("nothing could be reached")
	case fact.EndLost:
		return phrased("%v the server could not be reached any more", high)
	}
	switch hasLow, hasHigh := a.Low+float64(a.LowCount) > 0, a.High+float64(a.HighCount) > 0; {
	case hasLow && hasHigh && a.Open:
		return phrased("the search was interrupted: the objectives are met %v; whether they are met %v "+
			"is not known", low, high)
	case hasLow && hasHigh:
		return phrased("the search was interrupted: the objectives are met %v, and not %v", low, high)
	case hasLow:
		return phrased("the search was interrupted: the objectives are met %v", low)
	case hasHigh && a.Open:
		return phrased("the search was interrupted: whether the objectives are met %v is not known",
			high)
	case hasHigh:
		return phrased("the search was interrupted: the objectives are not met %v", high)
	}
	return phrased("the search was interrupted")
}

// rate is so much a second.
func rate(perSecond float64) amount {
	text := digits.Thousands(strconv.FormatFloat(perSecond, 'f', -1, 64))
	return amount{value: perSecond, text: text, unit: "/s"}
}

// unansweredPhrase says that nothing was answered, and why.
func unansweredPhrase(a fact.NothingAnswered) phrase {
	was := "answered"
	if a.Wrong {
		was = "completed"
	}
	if a.Why != "" {
		return phrased("nothing was %v: %v", was, ErrorName(a.Why))
	}
	return phrased("nothing was %v within %v, and nothing failed", was, amount{value: a.WithinS,
		text: digits.Significant(a.WithinS, 3), unit: " s"})
}

// missingPhrase says how much had no answer.
func missingPhrase(a fact.AnswersMissing) phrase {
	if a.Waited > 0 {
		return phrased("connections or streams spent %v of the time waiting for answers that did "+
			"not come", significant(a.Waited, 2))
	}
	what, had := "requests", "had no answer"
	if a.Iterations {
		what, had = "iterations", "had not ended"
	}
	p := phrased("%v of %v %v %v", counts(a.Count), counts(a.Of), what, had)
	late := amount{value: a.DeadlineUS, text: digits.Significant(a.DeadlineUS/1e6, 2), unit: " s"}
	switch a.By {
	case fact.ByTimeout:
		return phrased("%v in %v", p, late)
	case fact.WhenGone:
		return phrased("%v when the server was gone", p)
	}
	return phrased("%v %v after the window", p, late)
}
