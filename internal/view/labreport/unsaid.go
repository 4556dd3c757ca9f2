package labreport

import (
	"slices"
	"strings"

	"dyno/internal/digits"
	"dyno/internal/view/answer"
	"dyno/internal/view/format"
)

// This file is about what is said once: measures that decide nothing for the same reason, and
// cautions that the findings or the sentence say.

// A reason is why measures decide nothing.
type reason struct {
	names   []string // of the measures
	says    string
	because string // its kind, as Finding.Because has it; "": several kinds, or none
}

func (r reason) text() string { return strings.Join(r.names, ", ") + ": " + r.says }

// undecidedLines are the measures that decide nothing, a line for each reason.
func undecidedLines(groups []answer.Group) (all []reason) {
	for _, g := range groups {
		if slices.ContainsFunc(g.Findings, answer.Finding.IsDecided) {
			continue
		}
		one := groupReason(g)
		at := slices.IndexFunc(all, func(other reason) bool { return other.says == one.says })
		if at < 0 {
			all, at = append(all, one), len(all)
		}
		all[at].names = append(all[at].names, g.Name)
	}
	return all
}

// groupReason is what a measure says where no variant is better or worse.
func groupReason(g answer.Group) reason {
	same, invalid, mark := 0, 0, ""
	var open []answer.Finding
	for _, f := range g.Findings {
		if f.Unreliable != "" {
			mark = ", " + f.Unreliable
		}
		switch f.Verdict {
		case answer.Same:
			same++
			continue
		case answer.NotValid:
			invalid++
		}
		open = append(open, f)
	}
	within := "the same, within " + format.InPercent(g.Margin) + mark
	if same == len(g.Findings) {
		return reason{says: within}
	}
	why, because := commonReason(open)
	switch {
	case because == answer.Forecast:
		return reason{says: "undecided; more rounds would decide, if this estimate holds",
			because: because}
	case invalid == len(g.Findings):
		return reason{says: "not valid: " + why, because: because}
	case same > 0 && same+invalid == len(g.Findings):
		return reason{says: within + ", or not valid: " + why, because: because}
	case same > 0:
		return reason{says: "no variant is better or worse" + mark}
	}
	return reason{says: "undecided: " + why, because: because}
}

// commonReason is the reason of all findings, with its kind. Forecasts are one kind, although each
// has its own number.
func commonReason(all []answer.Finding) (why, because string) {
	why, because = all[0].Why, all[0].Because
	for _, f := range all[1:] {
		if f.Because != because || f.Why != why && because != answer.Forecast {
			because = ""
		}
		if f.Why != why {
			why = "for several reasons (-v)"
		}
	}
	return why, because
}

// unsaid are the cautions that neither the findings nor the sentence says; with details, all that
// the findings do not say. A caution that the sentence says has its reasons.
func unsaid(s format.Style, a answer.Answer) (all []answer.Caution) {
	unreliable := slices.ContainsFunc(a.Cautions, answer.Caution.IsManyUnreliable)
	for _, c := range a.Cautions {
		switch {
		case c.Kind == answer.Unloaded, c.Kind == answer.Open, c.Kind == answer.NotCompared, c.Said:
			continue
		case s.Detail:
		case c.Kind == answer.AboveNoise && showsNoise(a), c.Kind == answer.Disturbed && unreliable:
			continue
		case c.Kind == answer.GradeF && c.Kind == a.Withheld && len(c.Reasons) > 0:
			c.Says, c.Reasons = digits.Capital(strings.Join(c.Reasons, "; ")), nil
		}
		all = append(all, c)
	}
	return all
}

// showsNoise reports whether a reason on the first screen is the noise of the machine.
func showsNoise(a answer.Answer) bool {
	if len(a.Groups) == 0 {
		return false
	}
	first := a.Groups[0].Findings
	for _, i := range answer.Shown(first, mostRows) {
		if first[i].Because == answer.AboveNoise {
			return true
		}
	}
	others := undecidedLines(a.Groups[1:])
	return slices.ContainsFunc(others[:min(len(others), mostOthers)], func(r reason) bool {
		return r.because == answer.AboveNoise
	})
}
