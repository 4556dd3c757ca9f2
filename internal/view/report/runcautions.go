package report

import (
	"fmt"

	"dyno/internal/digits"
	"dyno/internal/fact"
	"dyno/internal/result"
	"dyno/internal/say"
	"dyno/internal/view/answer"
	"dyno/internal/view/format"
)

// mostErrors is how many kinds of errors a caution names.
const mostErrors = 3

// runCautions are all that speak against the numbers of a run, each once.
func runCautions(r *result.Result, v say.Voice) (all []answer.Caution) {
	for _, o := range r.Objectives {
		c := answer.Caution{Kind: answer.Objectives, Severity: answer.Bad, Says: objectiveText(o)}
		if o.IsUndecided() {
			c.Severity = answer.Doubt
		}
		if !o.Met {
			all = append(all, c)
		}
	}
	share := r.FailedShare()
	if n := r.Requests.Errors; n > 0 && share < result.FailingShare {
		all = append(all, answer.Caution{Kind: answer.Failing, Severity: answer.Note,
			Says: fmt.Sprintf("%s of %s failed: latency is that of the others", format.Count(n),
				format.Plural(r.Requests.Sent, "request"))})
	}
	if share >= result.FailingShare {
		c := answer.Caution{Kind: answer.Failing, Severity: answer.Bad,
			Says: fmt.Sprintf("%s of the requests failed: latency is that of the others",
				format.Percentage(share, 2))}
		if r.OnlyErrors() {
			c.Says = "Every answer was an error: latency is that of errors"
		}
		errors := requestErrors(r)
		for _, e := range errors[:min(len(errors), mostErrors)] {
			c.Reasons = append(c.Reasons, errorLine(r, e, v))
		}
		c.Said = !r.OnlyErrors() && len(errors) == 1 // the sentence has the first
		if with := r.Plan.StatusSetting(); with != "" && len(r.Status) > 0 {
			c.Remedy = v(with, fact.Some)
		}
		all = append(all, c)
	}
	if share, failing := r.FailedIterations(); failing {
		c := answer.Caution{Kind: answer.Failing, Severity: answer.Bad,
			Says: fmt.Sprintf("%s of the iterations failed", format.Percentage(share, 2))}
		for _, check := range r.Checks {
			if check.Failed > 0 {
				c.Reasons = append(c.Reasons, fmt.Sprintf("check %s failed %s",
					format.PlainLine(check.Name), digits.Times(check.Failed)))
			}
		}
		all = append(all, c)
	}
	if why := r.Partial(); why != "" && r.Answers() > 0 && r.Generator.Verdict == result.OK {
		all = append(all, answer.Caution{Kind: answer.Incomplete, Severity: answer.Doubt,
			Says: "Only a part of what was planned was measured: " + format.PlainLine(why)})
	}
	all = append(append(all, generatorCautions(r, v)...), warningCautions(r, v)...)
	if r.Answers() > 0 {
		all = append(all, answer.Caution{Kind: answer.OneRun, Severity: answer.Note,
			Says: "One run: how much the next one would differ is not known"})
	}
	return all
}

// haveFailed reports whether iterations failed that matter, on this machine: agents keep no
// answers.
func haveFailed(r *result.Result) bool {
	_, failing := r.FailedIterations()
	return failing && r.Fleet == nil
}

// generatorCautions are the generator's doubts about itself, with what can be done about each.
func generatorCautions(r *result.Result, v say.Voice) (all []answer.Caution) {
	g := r.Generator
	for i, reason := range g.Reasons {
		c := answer.Caution{Kind: answer.Generator, Severity: answer.Doubt,
			Says: digits.Capital(orUnknown(format.PlainLine(reason)))}
		if g.Verdict == result.ClientBound {
			c.Severity = answer.Bad
		}
		if i < len(g.Doubts) {
			d := g.Doubts[i]
			c.Severity, c.Remedy = doubtSeverity(d), remedyOf(r, i, v)
			c.Kind = doubtKind(d)
		}
		if r.Answers() == 0 {
			c.Kind, c.Severity = answer.Unanswered, answer.Bad
		}
		all = append(all, c)
	}
	if len(g.Reasons) == 0 && g.Verdict != result.OK {
		all = append(all, answer.Caution{Kind: answer.Generator, Severity: answer.Doubt,
			Says: digits.Capital(orUnknown(verdictText(r)))})
	}
	return all
}

// orUnknown is a text, or a word where there is none.
func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func doubtSeverity(d result.Doubt) answer.Severity {
	switch {
	case d.Verdict == result.ClientBound:
		return answer.Bad
	case d.Verdict == result.OK && d.Kind != result.Short: // too short shows nothing
		return answer.Note
	}
	return answer.Doubt
}

func doubtKind(d result.Doubt) string {
	kinds := map[result.Kind]string{result.Limit: answer.AtLimit, result.HeldUp: answer.Disturbed,
		result.OtherLoad: answer.OtherLoad}
	if kind, known := kinds[d.Kind]; known {
		return kind
	}
	return answer.Generator
}

// warningCautions are the warnings that no other caution says.
func warningCautions(r *result.Result, v say.Voice) (all []answer.Caution) {
	facts := r.WarningFacts()
	for i, text := range r.Warnings {
		c := answer.Caution{Kind: answer.Warning, Severity: answer.Doubt, Says: text}
		if facts != nil {
			if isSaidElsewhere(r, facts[i]) {
				continue
			}
			c.Says, c.Remedy = say.Sentence(facts[i]), format.PlainLine(say.Advice(facts[i], v))
		}
		c.Says = digits.Capital(orUnknown(format.PlainLine(c.Says)))
		all = append(all, c)
	}
	return all
}

// isSaidElsewhere reports whether a warning about failed requests has a caution about these, or one
// about requests that were not sent in time is a doubt.
func isSaidElsewhere(r *result.Result, f fact.Fact) bool {
	switch f.Args.(type) {
	case fact.ErrorAnswers, fact.RequestsFailed:
		return r.FailedShare() >= result.FailingShare
	case fact.NotInTime:
		return hasDoubt(r, result.NeverSent)
	}
	return false
}
