package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"dyno/internal/digits"
	"dyno/internal/engine/loadresult"
	"dyno/internal/fact"
	"dyno/internal/result"
	"dyno/internal/say"
	"dyno/internal/view/answer"
	"dyno/internal/view/document"
	"dyno/internal/view/format"
)

// What a brief report has at most, so that it fits on the smallest of screens.
const (
	mostLines      = 20
	mostKinds      = 2 // of errors
	mostObjectives = 3
	mostDoubts     = 2
	mostWarnings   = 2
)

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

// LoadText is the load as it was asked for.
func LoadText(r *result.Result) string {
	if r.Model != result.OpenLoop {
		return ModelText(r)
	}
	return "open, " + arrivalsText(r.Plan, offeredRate(r)) + ", " +
		format.Plural(int64(r.Plan.Connections), "connection") + usersText(r)
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

// briefRows are the lines of a brief report, in their order.
func briefRows(r *result.Result, s format.Style) (all []document.Row) {
	add := func(name, text string) { all = append(all, document.Row{Name: name, Text: text}) }
	a := RunAnswer(r)
	add("load", LoadText(r)+spanText(r.Window))
	if r.Answers() == 0 {
		return append(append(all, deadRows(r, a, s)...), storedRow(r)...)
	}
	all = append(all, document.Row{Name: "verdict", Text: serverVerdict(r), Tone: boxColor(r, a)})
	doubted := r.Generator.Verdict != result.OK
	if isServers(r) || !doubted && stallText(r) != "" {
		all = append(all, stepRow(a))
	}
	if doubted {
		all = append(all, generatorRow(r, s))
		if !isServers(r) {
			all = append(all, stepRow(a))
		}
	}
	all = append(append(all, objectiveRows(r, s)...), warningRows(a, s)...)
	add("rate", rateText(r))
	add("requests", requestsText(r.Requests, retriedText(r)))
	if rows := r.Plan.Rows; rows != nil {
		add("data", rowsText(rows))
	}
	if text := briefLatency(r); text != "" {
		add("latency", text)
	}
	if d := r.ServiceApart(); d != nil && d.Count > 0 && stallText(r) != "" {
		add("service", "from sending, without the wait: "+quantilesText(d, FirstQuantiles...))
	}
	all = append(all, streamRows(r)...)
	all = append(append(all, errorRows(r, s)...), scenarioRows(r)...)
	if v := r.Server; v != nil && len(v.Processes) > 0 {
		add("server", watchedOn(v)+briefUsage(v.Processes[0]))
		all = append(all, othersOfName(r)...)
	}
	if p := r.Profile; p != nil {
		add("profile", profileText(p))
	}
	if p := r.Probe; p != nil {
		add("probe", probeText(p))
	}
	if r.Fleet != nil {
		add("fleet", fleetText(r.Fleet))
	}
	if !doubted {
		all = append(all, generatorRow(r, s))
	}
	return append(all, storedRow(r)...)
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
	if why := earlyEnding(r); why != "" && !gone {
		text += "; " + why
	}
	return text
}

// boxColor is the colour of a run's verdict: that of the box, and green if it only says that one
// run has no interval, or that few requests failed.
func boxColor(r *result.Result, a answer.Answer) format.Color {
	switch {
	case a.Box == answer.Bad:
		return format.Red
	case a.Box == answer.Doubt || earlyEnding(r) != "":
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
	if early := earlyEnding(r); early != "" {
		why = early
	}
	switch {
	case found && unfinished.AtEnd && len(r.Errors) == 0:
		why += fmt.Sprintf(": %s (%s)", say.Sentence(f), digits.Times(unfinished.Count))
	case r.Cause != "":
		why += ": " + format.PlainLine(r.Cause)
	case len(r.Errors) > 0:
		most := mostFrequent(r.Errors)
		why += ": " + format.PlainLine(most.Phase) + ": " + errorLine(r, most, r.Voice())
	case r.Requests.Sent > 0:
		why += fmt.Sprintf(": %s sent in %s", format.Plural(r.Requests.Sent, "request"),
			format.Seconds(r.Window.MeasuredS+r.Window.DrainedS))
	}
	return why
}

// deadRows are of a run without an answer: what happened, and what to do.
func deadRows(r *result.Result, a answer.Answer, s format.Style) (all []document.Row) {
	all = append(all, document.Row{Name: "verdict", Text: deadVerdict(r), Tone: format.Red})
	all = append(all, objectiveRows(r, s)...)
	said := r.Cause != "" || len(r.Errors) > 0 // of the most frequent kind
	name := "errors"
	for i, row := range errorRows(r, s) {
		if i > 0 || !said {
			row.Name, name = name, ""
			all = append(all, row)
		}
	}
	return append(append(all, stepRow(a)), warningRows(a, s)...)
}

// stepRow is what to do next: in words, if the same run is to be repeated with another setting.
func stepRow(a answer.Answer) document.Row {
	row := document.Row{Name: "next", Text: digits.Capital(cmp.Or(a.Next.Short, a.Next.Says))}
	if a.Next.Short == "" {
		row.Command = a.Next.Command
	}
	return row
}

// generatorRow is the generator's self-check, with its reasons.
func generatorRow(r *result.Result, s format.Style) document.Row {
	row := document.Row{Name: "generator", Text: verdictText(r), Tone: verdictColor(r)}
	if r.Generator.NotJudged() {
		row.Tone = format.Yellow
	}
	if r.Generator.BusyPercent > 0 && !s.Detail { // which another row has
		row.Text += "; busy " + format.Percent(r.Generator.BusyPercent)
	}
	if lag := r.Generator.SendLagP99; lag != nil && !s.Detail {
		row.Text += ", 1 % sent more than " + format.Micros(*lag) + " late"
		if stallText(r) != "" {
			row.Text += ", waits for a " + freeThing(r) + " not counted"
		}
	}
	if lag := r.Generator.ReadLagP99; lag != nil && !s.Detail {
		row.Text += ", 1 % of the events unread for more than " + format.Micros(*lag)
	}
	if r.Generator.NotJudged() {
		return row
	}
	row.Items = reasonsBut(r, func(d result.Doubt) bool { // the verdict says it
		return d.Cause == result.NoServer && goneText(r) != ""
	})
	most := atMost(mostDoubts, s)
	if n := len(row.Items) - most; n > 0 {
		row.Items = row.Items[:most]
		row.Items[most-1] += fmt.Sprintf(" (%s more with -v)", format.Plural(int64(n), "reason"))
	}
	return row
}

// verdictColor is the colour of the generator's self-check.
func verdictColor(r *result.Result) format.Color {
	c, known := map[string]format.Color{result.OK: format.Green,
		result.ClientBound: format.Red}[r.OwnVerdict()]
	if !known || c == format.Green && r.Generator.Verdict != result.OK {
		c = format.Yellow
	}
	return c
}

// objectiveRows are the objectives, those that were missed first.
func objectiveRows(r *result.Result, s format.Style) (all []document.Row) {
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
			return append(all, document.Row{Text: fmt.Sprintf("%s more with -v",
				format.Plural(int64(n), "objective"))})
		}
		c := format.Green
		if o.IsUndecided() {
			c = format.Yellow
		} else if !o.Met {
			c = format.Red
		}
		all = append(all, document.Row{Name: "objective", Text: objectiveText(o), Tone: c})
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
	return of + quantilesText(d, FirstQuantiles...) + overText(r, d)
}

// overText says whom a distribution's values that are only known to be higher are of.
func overText(r *result.Result, d *result.Distribution) string {
	if !d.IsOver(100) {
		return ""
	}
	if r.Model != result.OpenLoop { // whose waits count as often as there would have been answers
		return `; "over": connections that had no answer`
	}
	n := d.Over.Count
	s := fmt.Sprintf(`; "over": %s without an answer`, format.Plural(n, "request"))
	if w := r.Requests.Waiting; w != nil && *w > 0 && *w <= n {
		s += fmt.Sprintf(", %s of them never sent", format.Count(*w))
	}
	return s
}

// errorRows are the errors by kind, each with the beginning of its first answer.
func errorRows(r *result.Result, s format.Style) (all []document.Row) {
	if r.Requests.Errors == 0 && len(r.Errors) == 0 {
		return []document.Row{{Name: "errors", Text: "none; status " + statusCodes(r)}}
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
		all = append(all, document.Row{Name: name, Text: kindText(r, e), Tone: format.Red})
	}
	if n := len(sorted) - most; n > 0 {
		all = append(all, document.Row{Text: fmt.Sprintf("and %s: -v",
			format.Plural(int64(n), "kind"))})
	}
	return all
}

// kindText is a kind of error in a line.
func kindText(r *result.Result, e result.Error) string {
	what := format.PlainLine(e.Kind)
	if e.Kind == "status" {
		what = "status " + format.PlainLine(e.Detail)
	} else if e.Detail != "" {
		what = format.PlainLine(e.Phase) + ": " + detailText(r, e, r.Voice())
	}
	if e.Phase == "check" {
		what = "check " + format.PlainLine(e.Kind) + ": " + format.PlainLine(e.Detail)
	}
	s := fmt.Sprintf("%s: %s", what, digits.Times(e.Count))
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

// warningRows are the warnings that no other line says.
func warningRows(a answer.Answer, s format.Style) (all []document.Row) {
	for _, c := range a.Cautions {
		if c.Kind == answer.Warning {
			if c.Remedy != "" {
				c.Says += "; " + c.Remedy
			}
			all = append(all, document.Aside("warning", c.Says))
		}
	}
	most := shown(len(all), mostWarnings, s)
	if n := len(all) - most; n > 0 {
		all = append(all[:most:most], document.Row{Text: fmt.Sprintf("and %s: -v",
			format.Plural(int64(n), "warning"))})
	}
	return all
}

// storedRow says where the result is.
func storedRow(r *result.Result) []document.Row {
	if r.ID == "" {
		return nil
	}
	return []document.Row{{Name: "stored", Text: format.PlainLine(r.ID) +
		"; more: dyno report last -v; page: dyno report last -o run.html"}}
}
