package labanswer

import (
	"fmt"
	"slices"
	"strings"

	"dyno/internal/lab"
	"dyno/internal/view/answer"
	"dyno/internal/view/format"
)

// A Standing is what an experiment says of one variant by all measures: one verdict, and why.
type Standing struct {
	Variant string
	Verdict answer.Verdict
	Says    string // the measures that decide, with their changes and intervals
	Rest    string // the measures that a verdict does not cover: "undecided: p99 latency"; "": none
	Leads   string // the change by the first measure that the generator does not limit; "": none
	More    int    // rounds that would decide, if the estimate holds; 0: unknown, or not needed
	MoreOf  string // the measure that they would decide

	Unreliable bool // the trials must not be relied on, so the verdict is withheld
}

// IsDecided reports whether the trials say what a variant is.
func (s Standing) IsDecided() bool {
	return !s.Unreliable && !slices.Contains([]answer.Verdict{answer.Undecided, answer.NotValid,
		answer.Refused}, s.Verdict)
}

// AreDecided reports whether the trials say of each variant what it is.
func AreDecided(all []Standing) bool {
	return !slices.ContainsFunc(all, func(s Standing) bool { return !s.IsDecided() })
}

// Standings are those of all variants but the baseline, in the order of the experiment's file. A
// variant is worse if users see that, in times or rates; else it is better or worse by the first
// measure that decides. Measures that say the contrary are named. It is the same if the first
// measure says so that the generator does not limit. A is the answer of the experiment.
func Standings(r *lab.Record, a answer.Answer) (all []Standing) {
	for _, arm := range r.Arms {
		if arm.Control || arm.Baseline == "" {
			continue
		}
		all = append(all, standingOf(r, a, arm.Name))
	}
	for _, f := range a.NotLoaded {
		all = append(all, Standing{Variant: f.Variant, Verdict: answer.Refused, Says: f.Why})
	}
	return all
}

// A placed is a finding and what it is about.
type placed struct {
	answer.Finding
	of, metric string
}

func standingOf(r *lab.Record, a answer.Answer, variant string) Standing {
	s := Standing{Variant: variant, Verdict: answer.Undecided}
	if f := spoiledFact(r, variant); f != nil { // figures are not those of the load
		s.Verdict, s.Says, s.Unreliable = answer.Worse, spoiledText(r, *f), !isStarved(*f)
		return s
	}
	var decided, same, open []placed
	var invalid []placed
	for _, g := range inFileOrder(r, a.Groups) {
		for _, f := range g.Findings {
			p := placed{f, g.Name, g.Metric}
			if f.Variant != variant {
				continue
			}
			if s.Leads == "" && f.Verdict != answer.NotValid {
				s.Leads = changeOf(p)
			}
			switch {
			case f.IsDecided():
				decided = append(decided, p)
			case f.Verdict == answer.Same:
				same = append(same, p)
			case f.Verdict == answer.NotValid:
				invalid = append(invalid, p)
			default:
				open = append(open, p)
			}
		}
	}
	isFirst := func(p placed) bool { // no measure before it is open
		return len(open) == 0 || p.Comparison < open[0].Comparison
	}
	switch {
	case len(decided) > 0:
		decided = worstFirst(r, decided)
		s.Verdict = decided[0].Verdict
		s.Says, s.Rest = changesText(decided, s.Verdict), restText(open, invalid)
	case len(same) > 0 && isFirst(same[0]):
		s.Verdict = answer.Same
		s.Says, s.Rest = namesText(same)+" "+same[0].Why, restText(open, invalid)
	case len(open) > 0:
		s.Says = changeOf(open[0])
		if p := forecast(open); p.More > 0 && p.More <= mostRounds {
			s.More, s.MoreOf = p.More, p.of
		}
		if s.More == 0 {
			s.Says += ": " + open[0].Why
		}
		s.Rest = tailText(open[1:], s.MoreOf)
	case len(invalid) > 0:
		s.Verdict, s.Says = answer.NotValid, boundWhy
	default:
		s.Says = "nothing was measured" + whyFailed(r, variant)
	}
	s.Unreliable = a.Unreliable != "" && s.IsDecided()
	return s
}

// whyFailed is why the first trial of a variant that failed did.
func whyFailed(r *lab.Record, variant string) string {
	for _, t := range r.Trials {
		if t.Arm == variant && t.Failure != nil {
			return ": " + format.ClipText(format.PlainLine(t.Failure.Reason), 120)
		}
	}
	return ""
}

// inFileOrder are the groups in the order in which the experiment's file names measures.
func inFileOrder(r *lab.Record, groups []answer.Group) []answer.Group {
	all := slices.Clone(groups)
	slices.SortStableFunc(all, func(x, y answer.Group) int {
		return metricPlace(r, x.Metric) - metricPlace(r, y.Metric)
	})
	return all
}

// changesText has the findings with a verdict, then those with the other one.
func changesText(all []placed, v answer.Verdict) string {
	var with, against []string
	for _, p := range all {
		if p.Verdict == v {
			with = append(with, changeOf(p))
		} else {
			against = append(against, changeOf(p))
		}
	}
	text := strings.Join(with, ", ")
	if len(against) > 0 {
		text += fmt.Sprintf("; but %s: %s", all[slices.IndexFunc(all, func(p placed) bool {
			return p.Verdict != v
		})].Verdict, strings.Join(against, ", "))
	}
	return text
}

func changeOf(p placed) string {
	s := strings.TrimSpace(fmt.Sprintf("%s %s %s", p.of, p.Effect, p.Interval))
	if p.IsDecided() && p.Why != "" {
		s += ", " + p.Why
	}
	return s
}

func namesText(all []placed) string {
	var names []string
	for _, p := range all {
		names = append(names, p.of)
	}
	return format.PlainLine(fewNames(names))
}

// restText names measures without a verdict.
func restText(open, invalid []placed) string {
	var parts []string
	if len(open) > 0 {
		parts = append(parts, "undecided: "+namesText(open))
	}
	if len(invalid) > 0 {
		parts = append(parts, "not valid: "+namesText(invalid))
	}
	return strings.Join(parts, "; ")
}

// tailText is why a percentile of latency is undecided that users feel, where nothing is decided
// and the first measure is another; "" if there is none. What would decide one measure is said.
func tailText(open []placed, forecast string) string {
	at := slices.IndexFunc(open, func(p placed) bool { return strings.Contains(p.metric, "p99") })
	if at < 0 {
		return ""
	}
	s := changeOf(open[at])
	if open[at].of != forecast {
		s += ": " + open[at].Why
	}
	return s
}

// forecast is the first finding that a possible number of rounds would decide, or else the first.
func forecast(all []placed) placed {
	for _, p := range all {
		if p.More > 0 && p.More <= mostRounds {
			return p
		}
	}
	return all[0]
}
