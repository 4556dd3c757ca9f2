package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"dyno/internal/engine/loadresult"
	"dyno/internal/fact"
	"dyno/internal/result"
	"dyno/internal/say"
	"dyno/internal/view/answer"
	"dyno/internal/view/format"
)

// What a brief report has at most, so that it fits on the smallest of screens.
const (
	mostLines      = 20
	mostFacts      = mostLines - 2 // the head and a blank line
	mostFactLines  = 3             // of one fact
	mostKinds      = 2             // of errors
	mostObjectives = 3
	mostDoubts     = 2
	mostWarnings   = 2
)

// A briefFact is a line of a brief report, in a colour.
type briefFact struct {
	Fact
	color format.Color
}

// writeBrief writes the answer of a run: the server's part first, then whether the generator can be
// trusted, then a line for each kind of figure. It takes at most mostLines lines, unless the style
// wants detail.
func writeBrief(d *format.Document, s format.Style, r *result.Result) {
	all, width := briefFacts(r, s), s.LineWidth()
	if n := len(all) - mostFacts; n > 0 && !s.Detail {
		all = append(all[:mostFacts-1:mostFacts-1],
			briefFact{Fact{"more", fmt.Sprintf("%d more lines: -v", n+1)}, ""})
	}
	each := lineLimits(all, width-format.NameWidth, s)
	head := firstLines(MethodAndURL(r), width+2, 1)[0]
	if s.Detail {
		head = MethodAndURL(r) + ", " + transportText(r)
	}
	fmt.Fprintf(d, "%s\n\n", s.Paint(format.Bold, head))
	for i, f := range all {
		name := f.Name
		for _, line := range firstLines(f.Text, width-format.NameWidth, each[i]) {
			if f.color != "" {
				line = s.Paint(f.color, line)
			}
			fmt.Fprintf(d, "  %-*s%s\n", format.NameWidth, name, line)
			name = ""
		}
	}
}

// lineLimits are how many lines each fact may have: those that take most lose some, the last first,
// until all have mostLines.
func lineLimits(all []briefFact, width int, s format.Style) []int {
	each, taken, sum := make([]int, len(all)), make([]int, len(all)), 2
	for i, f := range all {
		each[i] = atMost(mostFactLines, s)
		taken[i] = len(firstLines(f.Text, width, each[i]))
		sum += taken[i]
	}
	for ; sum > mostLines && !s.Detail; sum-- {
		longest := 0
		for i, n := range taken {
			if n >= taken[longest] {
				longest = i
			}
		}
		taken[longest]--
		each[longest] = taken[longest]
	}
	return each
}

// atMost is a limit, which does not apply where the style wants detail.
func atMost(n int, s format.Style) int {
	if s.Detail {
		return math.MaxInt32
	}
	return n
}

// shown is how many of so many are shown: no line says that one more is not.
func shown(all, most int, s format.Style) int {
	if most = atMost(most, s); all == most+1 {
		return all
	}
	return most
}

// firstLines are the first n lines of a text; the last of them ends in … if there are more.
func firstLines(text string, width, n int) []string {
	all := format.FirstLines(text, width, n)
	if n > mostFactLines {
		return all
	}
	for i, line := range all {
		all[i] = format.Clip(line, width) // of a word longer than a line
	}
	return all
}

// LoadText is the load as it was asked for.
func LoadText(r *result.Result) string {
	connections := format.Plural(int64(r.Plan.Connections), "connection")
	if r.Model != result.OpenLoop {
		return "closed, " + connections + usersText(r)
	}
	return "open, " + arrivalsText(r.Plan, offeredRate(r)) + ", " + connections + usersText(r)
}

// spanText is how long was measured.
func spanText(w result.Window) string {
	if w.MeasuredS == 0 {
		return ""
	}
	s := ", " + briefSeconds(w.MeasuredS)
	if w.WarmupS > 0 {
		s += " after " + briefSeconds(w.WarmupS) + " of warm-up"
	}
	return s
}

// briefSeconds is a time with no zeros behind whole seconds.
func briefSeconds(s float64) string {
	if rounded := float64(int64(s + 0.05)); s >= 1 && s-rounded < 0.05 && rounded-s < 0.05 {
		return format.Count(int64(rounded)) + " s"
	}
	return format.Seconds(s)
}

// briefFacts are the lines of a brief report, in their order.
func briefFacts(r *result.Result, s format.Style) (all []briefFact) {
	add := func(c format.Color, name, text string) {
		all = append(all, briefFact{Fact{name, text}, c})
	}
	a := RunAnswer(r)
	add("", "load", LoadText(r)+spanText(r.Window))
	if r.Answers() == 0 {
		all = append(append(all, deadFacts(r, a, s)...), storedFact(r)...)
		return all
	}
	add(boxColor(r, a), "verdict", serverVerdict(r))
	if isServers(r) {
		all = append(all, stepFact(a))
	}
	doubted := r.Generator.Verdict != result.OK
	if doubted {
		all = append(all, generatorFacts(r, s)...)
	}
	all = append(append(all, objectiveFacts(r, s)...), warningFacts(a, s)...)
	add("", "rate", rateText(r))
	add("", "requests", requestsText(r.Requests))
	if rows := r.Plan.Rows; rows != nil {
		add("", "data", rowsText(rows))
	}
	if text := briefLatency(r); text != "" {
		add("", "latency", text)
	}
	all = append(all, errorFacts(r, s)...)
	for _, f := range scenarioFacts(r) {
		add("", f.Name, f.Text)
	}
	if v := r.Server; v != nil && len(v.Processes) > 0 {
		add("", "server", watchedOn(v)+briefUsage(v.Processes[0]))
		for _, f := range othersOfName(r) {
			add("", f.Name, f.Text)
		}
	}
	if p := r.Profile; p != nil {
		add("", "profile", profileText(p))
	}
	if p := r.Probe; p != nil {
		add("", "probe", probeText(p))
	}
	if r.Fleet != nil {
		add("", "fleet", fleetText(r.Fleet))
	}
	if !doubted {
		all = append(all, generatorFacts(r, s)...)
	}
	return append(all, storedFact(r)...)
}

// runVerdict is the verdict on a run where no colour says it.
func runVerdict(r *result.Result) string {
	missed := MissedObjectives(r.Objectives)
	switch {
	case r.Answers() == 0:
		return deadVerdict(r)
	case missed != "":
		return serverVerdict(r) + "; MISSED " + missed
	}
	return serverVerdict(r)
}

// serverVerdict is what the server did. What the lines below say of objectives and kinds of errors
// is not in it.
func serverVerdict(r *result.Result) string {
	text, of := heldText(r), "them"
	if share := r.FailedShare(); share >= result.FailingShare {
		of = "the iterations"
		text = fmt.Sprintf("FAILING: %s of the requests", format.Percentage(share, 2))
		if f, a, found := fact.Find[fact.ErrorAnswers](r.Facts); found && a.All {
			text = format.PlainLine(say.Text(f, r.Voice()))
		}
	}
	if share, failing := r.FailedIterations(); failing {
		text += fmt.Sprintf("; %s of %s failed", format.Percentage(share, 2), of)
	}
	lead := goneLead(r)
	text = lead + text + sinceText(r) + goneText(r)
	gone := lead != "" && r.Ended == string(loadresult.Gone)
	if why, early := earlyEndings[r.Ended]; early && !gone {
		text += "; " + why
	}
	return text
}

// boxColor is the colour of a run's verdict: that of the box, and green if it only says that one
// run has no interval, or that few requests failed.
func boxColor(r *result.Result, a answer.Answer) format.Color {
	_, early := earlyEndings[r.Ended]
	switch {
	case a.Box == answer.Bad:
		return format.Red
	case a.Box == answer.Doubt || early:
		return format.Yellow
	}
	return format.Green
}

// deadVerdict is what happened in a run without an answer.
func deadVerdict(r *result.Result) string {
	why := "no request was answered"
	f, unfinished, found := fact.Find[fact.AnswerUnfinished](r.Facts)
	if found {
		why = "no request was answered completely"
	}
	if early := earlyEndings[r.Ended]; early != "" {
		why = early
	}
	switch {
	case found && unfinished.AtEnd && len(r.Errors) == 0:
		why += fmt.Sprintf(": %s (%s)", say.Sentence(f), timesText(unfinished.Count))
	case r.Cause != "":
		why += ": " + format.PlainLine(r.Cause)
	case len(r.Errors) > 0:
		most := mostFrequent(r.Errors)
		why += ": " + format.PlainLine(most.Phase) + ": " + errorLine(r, most)
	case r.Requests.Sent > 0:
		why += fmt.Sprintf(": %s sent in %s", format.Plural(r.Requests.Sent, "request"),
			format.Seconds(r.Window.MeasuredS+r.Window.DrainedS))
	}
	return why
}

// deadFacts are of a run without an answer: what happened, and what to do.
func deadFacts(r *result.Result, a answer.Answer, s format.Style) (all []briefFact) {
	all = append(all, briefFact{Fact{"verdict", deadVerdict(r)}, format.Red})
	all = append(all, objectiveFacts(r, s)...)
	said := r.Cause != "" || len(r.Errors) > 0 // of the most frequent kind
	name := "errors"
	for i, f := range errorFacts(r, s) {
		if i > 0 || !said {
			f.Name, name = name, ""
			all = append(all, f)
		}
	}
	return append(append(all, stepFact(a)), warningFacts(a, s)...)
}

// stepFact is what to do next: in words, if the same run is to be repeated with another setting.
func stepFact(a answer.Answer) briefFact {
	text := sentenceStart(cmp.Or(a.Next.Short, a.Next.Says))
	if a.Next.Command != "" && a.Next.Short == "" {
		text += ": " + a.Next.Command
	}
	return briefFact{Fact{"do", text}, ""}
}

// generatorFacts are the generator's verdict on itself, with its reasons.
func generatorFacts(r *result.Result, s format.Style) (all []briefFact) {
	color := verdictColor(r)
	text := verdictText(r)
	if r.Generator.NotJudged() {
		color = format.Yellow
	}
	if r.Generator.BusyPercent > 0 {
		text += "; busy " + format.Percent(r.Generator.BusyPercent)
	}
	if lag := r.Generator.SendLagP99; lag != nil {
		text += ", sent late by p99 " + format.Micros(*lag)
	}
	all = append(all, briefFact{Fact{"generator", text}, color})
	reasons := reasonsBut(r, func(d result.Doubt) bool { // the verdict says it
		return d.Cause == result.NoServer && goneText(r) != ""
	})
	if r.Generator.NotJudged() {
		reasons = nil
	}
	most := atMost(mostDoubts, s)
	for i, reason := range reasons[:min(len(reasons), most)] {
		if n := len(reasons) - most; n > 0 && i == most-1 {
			reason += fmt.Sprintf(" (%s more with -v)", format.Plural(int64(n), "reason"))
		}
		all = append(all, briefFact{Fact{"", "- " + reason}, ""})
	}
	return all
}

// verdictColor is the colour of the generator's verdict.
func verdictColor(r *result.Result) format.Color {
	c, known := map[string]format.Color{result.OK: format.Green,
		result.ClientBound: format.Red}[r.OwnVerdict()]
	if !known || c == format.Green && r.Generator.Verdict != result.OK {
		c = format.Yellow
	}
	return c
}

// objectiveFacts are the objectives, those that were missed first.
func objectiveFacts(r *result.Result, s format.Style) (all []briefFact) {
	sorted := slices.Clone(r.Objectives)
	slices.SortStableFunc(sorted, func(x, y result.Outcome) int {
		switch {
		case x.Met == y.Met:
			return 0
		case y.Met:
			return -1
		}
		return 1
	})
	for i, o := range sorted {
		if n := len(sorted) - i; i >= atMost(mostObjectives, s) && n > 1 {
			return append(all, briefFact{Fact{"", fmt.Sprintf("%s more with -v",
				format.Plural(int64(n), "objective"))}, ""})
		}
		c := format.Green
		if o.IsUndecided() {
			c = format.Yellow
		} else if !o.Met {
			c = format.Red
		}
		all = append(all, briefFact{Fact{"objective", objectiveText(o)}, c})
	}
	return all
}

// briefLatency is latency in a line; that of errors if there is no other.
func briefLatency(r *result.Result) string {
	d, of := r.Latency, ""
	if d == nil || d.Count == 0 {
		d, of = r.ErrorLatency, "of errors: "
	}
	if d == nil || d.Count == 0 {
		return ""
	}
	var all []string
	for _, q := range Quantiles {
		if slices.Contains([]string{"p50", "p90", "p99", "p99.9", "max"}, q.Name) {
			all = append(all, q.Name+" "+q.PercentileCell(d))
		}
	}
	return of + strings.Join(all, ", ")
}

// errorFacts are the errors by kind, each with the beginning of its first answer.
func errorFacts(r *result.Result, s format.Style) (all []briefFact) {
	if r.Requests.Errors == 0 && len(r.Errors) == 0 {
		return []briefFact{{Fact{"errors", "none; status " + statusCodes(r)}, ""}}
	}
	sorted := slices.Clone(r.Errors)
	slices.SortStableFunc(sorted, func(x, y result.Error) int {
		return cmp.Compare(y.Count, x.Count)
	})
	most := shown(len(sorted), mostKinds, s)
	for i, e := range sorted[:min(len(sorted), most)] {
		name := ""
		if i == 0 {
			name = "errors"
		}
		all = append(all, briefFact{Fact{name, kindText(r, e)}, format.Red})
	}
	if n := len(sorted) - most; n > 0 {
		all = append(all, briefFact{Fact{"", fmt.Sprintf("and %s: -v",
			format.Plural(int64(n), "kind"))}, ""})
	}
	return all
}

// kindText is a kind of error in a line.
func kindText(r *result.Result, e result.Error) string {
	what := format.PlainLine(e.Kind)
	if e.Kind == "status" {
		what = "status " + format.PlainLine(e.Detail)
	} else if e.Detail != "" {
		what = format.PlainLine(e.Phase) + ": " + detailText(r, e)
	}
	if e.Phase == "check" {
		what = "check " + format.PlainLine(e.Kind) + ": " + format.PlainLine(e.Detail)
	}
	s := fmt.Sprintf("%s: %s", what, timesText(e.Count))
	if e.Sample != "" {
		s += ", first answer: " + format.Clip(format.PlainLine(e.Sample), 120)
	}
	return s
}

// statusCodes are the codes that were answered, and how often if there are several.
func statusCodes(r *result.Result) string {
	if len(r.Status) == 1 {
		return format.PlainLine(result.StatusCodes(r.Status)[0])
	}
	return statusText(r)
}

// briefUsage is what the server used, in one figure for each resource.
func briefUsage(u result.Usage) string {
	return fmt.Sprintf("%s CPU/request (%s of a core), %s of memory",
		ValueOrNA(u.CPU, format.Micros), ValueOrNA(u.Percent, format.Percent),
		ValueOrNA(u.Memory, format.Size))
}

// warningFacts are the warnings that no other line says.
func warningFacts(a answer.Answer, s format.Style) (all []briefFact) {
	for _, c := range a.Cautions {
		if c.Kind == answer.Warning {
			all = append(all, briefFact{Fact{"WARNING", c.Says}, format.Yellow})
		}
	}
	most := shown(len(all), mostWarnings, s)
	if n := len(all) - most; n > 0 {
		all = append(all[:most:most], briefFact{Fact{"", fmt.Sprintf("and %s: -v",
			format.Plural(int64(n), "warning"))}, ""})
	}
	return all
}

// storedFact says where the result is.
func storedFact(r *result.Result) []briefFact {
	if r.ID == "" {
		return nil
	}
	return []briefFact{{Fact{"stored", format.PlainLine(r.ID) +
		" (dyno report last -v, or -o run.html)"}, ""}}
}
