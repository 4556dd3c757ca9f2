package say

import (
	"fmt"
	"strings"

	"dyno/internal/digits"
	"dyno/internal/fact"
)

// gateSentence is Sentence for why a gate is not decided; "" of another kind.
func gateSentence(f fact.Fact) string {
	switch a := f.Args.(type) {
	case fact.Worse:
		return MetricsAt(f.Scope, a.Metric) + ": worse: " + ChangeText(a.Change) + unshown[a.Unshown]
	case fact.LeftOpen:
		return MetricsAt(f.Scope, a.Metric) + ": " + leftOpen(a)
	case fact.MayHide:
		return mayHide(f.Scope, a)
	case fact.TrialsUnreliable:
		if a.Trials == 1 && a.Unreliable == 1 {
			return "the only trial is unreliable (grade F)"
		}
		return fmt.Sprintf("%d of %d trials %s unreliable (grade F)", a.Unreliable, a.Trials,
			areIs(a.Unreliable))
	}
	return ""
}

// areIs is the verb of so many things.
func areIs(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// unshown say that something does not show what seems to be so.
var unshown = map[fact.Unshown]string{
	fact.ByTrials:      ", which these trials cannot show",
	fact.ByMachine:     ", which this machine cannot show",
	fact.BySecondBatch: ", which a second batch of trials did not show again",
}

// MetricsAt are metrics of a variant, as short as a list of many needs it: "p50 and p99 of go at
// c16".
func MetricsAt(at fact.Scope, metrics ...string) string {
	s := Listed(metrics) + " of " + strings.TrimSpace(at.Group+" "+at.Variant)
	if at.Level != "" {
		s += " at " + at.Level
	}
	return s
}

// Change is by how much a variant differs, and the interval of that: "−35 %" and "[−45, −15]".
// The interval is "" if there is none.
func Change(c fact.Change) (change, interval string) {
	if c.Alone {
		return digits.Bound(c.Bound).ChangeAlone(c.Ratio), ""
	}
	return digits.Bound(c.Bound).Change(c.Ratio, c.Low, c.High)
}

// ChangeText is a Change in one text: "−35 % [−45, −15]".
func ChangeText(c fact.Change) string {
	change, interval := Change(c)
	return strings.TrimSpace(change + " " + interval)
}

// leftOpen says what leaves a comparison open, and what would decide it.
func leftOpen(a fact.LeftOpen) string {
	open := "undecided: " + ChangeText(a.Change)
	switch {
	case a.Beyond:
		return open + "; not even " + more(a.More, a.Apart) + " would decide"
	case a.More > 0:
		return open + "; " + Forecast(a.More, a.Apart)
	}
	return open
}

// Forecast says how many rounds more would decide a comparison, or runs of each if these were
// measured apart.
func Forecast(n int, apart bool) string { return "about " + more(n, apart) + " would decide" }

func more(n int, apart bool) string {
	if apart {
		return digits.Plural(int64(n), "run") + " more of each"
	}
	return digits.Plural(int64(n), "round") + " more"
}

// mayHide says why metrics may hide a difference.
func mayHide(at fact.Scope, a fact.MayHide) string {
	const hides = ", which may hide a difference"
	where, pairs, rounds, against := MetricsAt(at, a.Metrics...), "pair", "round", ""
	if a.Against > 0 {
		pairs, rounds, against = "run", "run", fmt.Sprintf(" against %d", a.Against)
	}
	n := digits.Plural(int64(a.Count), pairs)
	switch a.By {
	case fact.Unmeasured:
		return where + " " + digits.Were(int64(len(a.Metrics))) + " never measured"
	case fact.TooFew:
		return where + ": " + n + against + " " + areIs(a.Count) + " too few for a 95 % interval"
	case fact.ValueLacks:
		have := "have"
		if a.Count == 1 {
			have = "has"
		}
		return where + ": " + digits.Plural(int64(a.Count), rounds) + " " + have + " no value"
	case fact.HeldUp:
		return where + ": in " + n + " the generator was held up" + hides
	case fact.AnotherLoad:
		return where + ": in " + n + " the load was not the one asked for" + hides
	}
	return where + ": the generator was at its limit" + hides
}
