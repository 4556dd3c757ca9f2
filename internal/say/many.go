package say

import (
	"fmt"
	"strings"

	"dyno/internal/digits"
	"dyno/internal/fact"
)

// manySentence is Sentence for what many runs or trials show together; "" of another kind.
func manySentence(f fact.Fact) string {
	switch a := f.Args.(type) {
	case fact.RedirectsAway:
		return fmt.Sprintf("the redirects of %s led to an origin that nobody named, and were not "+
			"followed", digits.Plural(a.Count, "request"))
	case fact.UnprovenChange:
		return unprovenSentence(a)
	case fact.ServerSpoiled:
		return spoiledSentence(f.Scope, a)
	case fact.PooledPercentile:
		return fmt.Sprintf("%s is that of all trials of a server together, %s requests at least: a "+
			"trial has fewer than the %s that it takes for its own", percentile(a), count(a.Requests),
			count(a.Needs))
	}
	return ""
}

func percentile(a fact.PooledPercentile) string { return "p" + digits.Significant(a.Percent, 4) }

// unprovenSentence says what the newest runs look like, and what is missing for a change point.
func unprovenSentence(a fact.UnprovenChange) string {
	value := func(v float64) string {
		if strings.HasPrefix(a.Unit, "µs") {
			return digits.Micros(v)
		}
		return digits.Significant(v, 3) + " " + a.Unit
	}
	s := fmt.Sprintf("the last %d runs have %s, the %d before %s (%s times as much %s): too few for "+
		"a change point", a.After, value(a.MedianAfter), a.Before, value(a.MedianBefore),
		digits.Ratio(a.Ratio, a.Low, a.High), digits.RatioInterval(a.Low, a.High))
	switch a.More {
	case 0:
		return s
	case 1:
		return s + "; 1 more run like these would show one"
	}
	return s + fmt.Sprintf("; about %d more runs like these would show one", a.More)
}

// spoiledSentence says whose server spoiled trials, by what, and whether the machine had a part.
func spoiledSentence(of fact.Scope, a fact.ServerSpoiled) string {
	in := fmt.Sprintf("%d of %d trials", a.Trials, a.Of)
	if a.Trials == a.Of && a.Of > 1 {
		in = fmt.Sprintf("all %d trials", a.Of)
	}
	s := fmt.Sprintf("the server of %s spoiled %s (%s)", of.Variant, in, a.Why)
	if a.Starved > 0 {
		s = fmt.Sprintf("%s of %s connections got no answer with %s, in %s", count(a.Starved),
			count(a.Connections), of.Variant, in)
	}
	if a.OtherTrials > 0 && a.Others == 0 {
		s += fmt.Sprintf(" and in none of %d others", a.OtherTrials)
	} else if a.Others > 0 {
		s += fmt.Sprintf(" and in %d of %d others", a.Others, a.OtherTrials)
	}
	switch a.Disturbed {
	case 0:
		return s + "; the machine had no part in it"
	case a.Trials:
		return s + "; the machine was busy in each of them, too"
	}
	return s + fmt.Sprintf("; the machine was busy, too, in %d of them", a.Disturbed)
}
