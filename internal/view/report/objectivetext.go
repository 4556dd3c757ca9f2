package report

import (
	"fmt"
	"strings"

	"dyno/internal/objective"
	"dyno/internal/result"
	"dyno/internal/view/format"
)

// objectiveText is an objective and how it came out.
func objectiveText(o result.Outcome) string {
	s := format.PlainLine(o.Expr) + ": met, " + objectiveValue(o)
	if o.IsUndecided() {
		s = format.PlainLine(o.Expr) + ": UNDECIDED: " + WhyUndecided(o)
	} else if !o.Met {
		s = format.PlainLine(o.Expr) + ": MISSED, " + objectiveValue(o)
	}
	if isMissedFor(o) {
		s = format.PlainLine(o.Expr) + ": MISSED: " + missedFor(o)
	} else if o.Note != "" {
		s += "; " + format.PlainLine(o.Note)
	}
	if o.Aborted != nil {
		s += "; this ended the run after " + format.Seconds(*o.Aborted)
	}
	return s
}

// isMissedFor reports whether an objective was missed for what its note says alone: its value would
// meet it.
func isMissedFor(o result.Outcome) bool {
	of, err := objective.Parse(o.Expr)
	return err == nil && o.IsMissed() && o.Note != "" && o.Value != nil && of.Meets(*o.Value)
}

// missedFor is why such an objective was missed, before its value.
func missedFor(o result.Outcome) string {
	return format.PlainLine(o.Note) + "; without that it is " + objectiveValue(o)
}

// WhyUndecided is why an objective is neither met nor missed.
func WhyUndecided(o result.Outcome) string {
	of, _ := objective.Parse(o.Expr)
	quantity := format.PlainLine(of.Quantity())
	switch {
	case o.Needs > 0:
		return fmt.Sprintf("%s takes at least %s values, and the longest of fewer was %s", quantity,
			format.Count(o.Needs), objectiveValue(o))
	case o.Over:
		return fmt.Sprintf("%s is %s, and nobody knows by how much", quantity, objectiveValue(o))
	}
	return fmt.Sprintf("%s of what was answered is %s", quantity, objectiveValue(o))
}

// UndecidedObjectives names the objectives that are undecided; "" if none is.
func UndecidedObjectives(all []result.Outcome) string {
	var undecided []string
	for _, o := range all {
		if o.IsUndecided() {
			undecided = append(undecided, objectiveText(o))
		}
	}
	return strings.Join(undecided, ", ")
}

// objectiveValue is an objective's value.
func objectiveValue(o result.Outcome) string {
	switch {
	case o.Value == nil:
		return "nothing was measured of it"
	case o.Unit == "us":
		return format.Known(o.Over, format.Micros(*o.Value))
	case o.Unit == "percent":
		return format.FinePercent(*o.Value / 100)
	case o.Unit == "per_s":
		return format.Digits3(*o.Value) + "/s"
	}
	return format.Exact3(*o.Value)
}

// MissedObjectives names the objectives that were missed; "" if none was.
func MissedObjectives(all []result.Outcome) string {
	return namedObjectives(all, result.Outcome.IsMissed)
}

// namedObjectives names some objectives, each with its value.
func namedObjectives(all []result.Outcome, some func(result.Outcome) bool) string {
	var named []string
	for _, o := range all {
		if some(o) {
			value := objectiveValue(o)
			if isMissedFor(o) {
				value = missedFor(o)
			} else if o.Note != "" {
				value += "; " + format.PlainLine(o.Note)
			}
			named = append(named, format.PlainLine(o.Expr)+" ("+value+")")
		}
	}
	return strings.Join(named, ", ")
}
