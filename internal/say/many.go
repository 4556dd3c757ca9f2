package say

import (
	"fmt"
	"strconv"
	"strings"

	"dyno/internal/digits"
	"dyno/internal/fact"
)

// manySentence is Sentence for what many runs or trials show together; "" of another kind.
func manySentence(f fact.Fact) string {
	switch a := f.Args.(type) {
	case fact.RedirectsAway:
		return fmt.Sprintf("%s %s redirected to another origin, and dyno did not follow",
			digits.Plural(a.Count, "request"), digits.Were(a.Count))
	case fact.UnprovenChange:
		return unprovenSentence(a)
	case fact.ServerSpoiled:
		return spoiledSentence(f.Scope, a)
	case fact.PooledPercentile:
		p := percentile(a)
		return fmt.Sprintf("a %s needs %s requests, and a single trial has fewer: it is computed from "+
			"all trials of a server together (at least %s requests)", p, count(a.Needs),
			count(a.Requests))
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
	change, interval := digits.Bound("").Change(a.Ratio, a.Low, a.High)
	s := fmt.Sprintf("the median %s of the last %d runs is %s, and that of the %d runs before is %s "+
		"(%s %s): these are too few runs to show a change point", a.Metric, a.After,
		value(a.MedianAfter), a.Before, value(a.MedianBefore), change, interval)
	switch a.More {
	case 0:
		return s
	case 1:
		return s + "; 1 more run like the last ones would show it"
	}
	return s + fmt.Sprintf("; about %d more runs like the last ones would show it", a.More)
}

// spoiledSentence says whose server spoiled trials, by what, and whether the machine had a part.
func spoiledSentence(of fact.Scope, a fact.ServerSpoiled) string {
	in := fmt.Sprintf("%d of its %d trials", a.Trials, a.Of)
	switch {
	case a.Of == 1:
		in = "its only trial"
	case a.Trials == a.Of:
		in = fmt.Sprintf("all %d of its trials", a.Of)
	}
	s := fmt.Sprintf("the server of %q spoiled %s (%s)", of.Variant, in, a.Why)
	if a.Starved > 0 {
		s = fmt.Sprintf("the server of %q left %s of %s connections without an answer in %s", of.Variant,
			count(a.Starved), count(a.Connections), in)
	}
	if a.OtherTrials > 0 {
		others := "none"
		if a.Others > 0 {
			others = strconv.Itoa(a.Others)
		}
		s += fmt.Sprintf("; this happened in %s of %d trials of other variants", others, a.OtherTrials)
	}
	switch {
	case a.Disturbed == 0:
		return s + "; nothing else disturbed the machine"
	case a.Disturbed == a.Trials && a.Trials == 1:
		return s + "; the machine was busy in that trial, too"
	case a.Disturbed == a.Trials:
		return s + "; the machine was busy in each of these trials, too"
	}
	return s + fmt.Sprintf("; the machine was busy, too, in %d of these %d trials", a.Disturbed,
		a.Trials)
}
