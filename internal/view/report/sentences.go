package report

import (
	"slices"
	"strconv"
	"strings"

	"dyno/internal/capacity"
	"dyno/internal/result"
	"dyno/internal/view/document"
	"dyno/internal/view/format"
	"dyno/internal/view/method"
	"dyno/internal/view/repeat"
)

// Sentences are what the reports say of a result, for a page to show as it is: nothing is worded
// twice. All of it is plain text.
type Sentences struct {
	What       string         `json:"what"` // is sent, and where
	How        string         `json:"how"`
	Model      string         `json:"model"`
	Verdict    string         `json:"verdict"` // the generator's on itself
	Reasons    []string       `json:"reasons,omitempty"`
	Warnings   []string       `json:"warnings,omitempty"`
	Objectives []string       `json:"objectives"` // each with how it came out
	Facts      []document.Row `json:"facts"`      // the rest, line by line
	Machine    string         `json:"machine"`    // that made the load
	Methods    []string       `json:"methods"`    // how it was measured, and what the numbers are
	Command    string         `json:"command"`    // that repeats it
	Lost       string         `json:"lost,omitempty"`
	Unanswered string         `json:"unanswered,omitempty"` // in which seconds they are
	Agents     []string       `json:"agents,omitempty"`     // of a fleet: how each fared
}

// RunSentences is what there is to say of a result.
func RunSentences(r *result.Result) Sentences {
	s := Sentences{What: MethodAndURL(r), How: transportText(r), Model: ModelText(r),
		Verdict: verdictText(r),
		Reasons: []string{}, Warnings: []string{}, Objectives: []string{}, Machine: Machine(r.Host),
		Methods: method.Of(r, windowText(r))}
	if !r.Generator.NotJudged() { // else the verdict's sentence has it
		s.Reasons = append(s.Reasons, Reasons(r)...)
	}
	for _, warning := range r.Warnings {
		s.Warnings = append(s.Warnings, format.PlainLine(warning))
	}
	for _, o := range r.Objectives {
		s.Objectives = append(s.Objectives, objectiveText(o))
	}
	s.Facts = factRows(r)[1:] // Model is the first
	s.Unanswered = unansweredText(r)
	if r.Fleet != nil {
		for _, a := range r.Fleet.Agents {
			s.Agents = append(s.Agents, agentStatusDetail(a))
		}
	}
	s.Command, s.Lost = repeat.Run(r)
	return s
}

// SearchSentences is what there is to say of a search: Verdict is the rate that it found, Reasons
// why it ended so, and Facts what its probes' values do not say, by the probe's number.
func SearchSentences(s *capacity.Search) Sentences {
	all := Sentences{What: format.PlainLine(s.Plan.Target.URL), How: searchText(s),
		Verdict: CertifiedText(s),
		Reasons: []string{format.PlainLine(s.Reason)}, Warnings: searchWarnings(s),
		Machine: Machine(s.Host)}
	told := probeNotes(s.Probes)
	for i, text := range told.texts {
		var probes []string
		for k, notes := range told.of {
			if slices.Contains(notes, i+1) {
				probes = append(probes, strconv.Itoa(k+1))
			}
		}
		name := "probe " + strings.Join(probes, ", ")
		all.Facts = append(all.Facts, document.Row{Name: name, Text: text})
	}
	all.Methods = method.Search
	all.Command, all.Lost = repeat.Search(s, s.Plan.Duration)
	return all
}

// searchStep is what to do after a search; none if it found nothing.
func searchStep(s *capacity.Search) []document.Row {
	says, command, lost := repeat.AfterSearch(s)
	if says == "" {
		return nil
	}
	return []document.Row{{Name: "next", Text: withLost(says, lost), Command: command}}
}

// CurveSentences is what there is to say of a sweep: Verdict is its peak, and Facts the law.
func CurveSentences(c *capacity.Curve) Sentences {
	all := Sentences{What: format.PlainLine(c.Plan.Target.URL), Verdict: PeakText(c),
		Reasons: []string{}, Warnings: []string{}, Machine: Machine(c.Host), Methods: method.Sweep,
		How: sweepText(c)}
	all.Facts = lawRows(c)
	for _, f := range curveDoubts(c) {
		all.Warnings = append(all.Warnings, f.Text)
	}
	all.Command, all.Lost = repeat.Sweep(c)
	return all
}

// unansweredText says that seconds have only what was answered, if requests had no answer.
func unansweredText(r *result.Result) string {
	if r.Latency == nil || !r.Latency.IsOver(100) {
		return ""
	}
	return "requests that had no answer are in no second"
}
