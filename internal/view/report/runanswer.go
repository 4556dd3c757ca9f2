package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"dyno/internal/digits"
	"dyno/internal/engine/loadplan"
	"dyno/internal/fact"
	"dyno/internal/result"
	"dyno/internal/say"
	"dyno/internal/view/answer"
	"dyno/internal/view/format"
)

// RunAnswer is what the report of a run says first: the server's part, then the generator's.
func RunAnswer(r *result.Result) answer.Answer { return RunAnswerIn(r, r.Voice()) }

// RunAnswerIn is RunAnswer in another voice than that of a command line.
func RunAnswerIn(r *result.Result, v say.Voice) answer.Answer {
	a := answer.Answer{Sentence: serverSentence(r, v), Conditions: runConditions(r),
		Cautions: runCautions(r, v), Numbers: runNumbers(r)}
	if clause := generatorClause(r); clause != "" {
		a.Sentence += "; " + clause
	}
	other := func(c answer.Caution) bool { return c.Kind != answer.OneRun }
	if !slices.ContainsFunc(a.Cautions, other) && len(a.Cautions) > 0 {
		a.Cautions[0].Says += "; nothing else speaks against it, and " + notTheLimit
	}
	a.Judge(notTheLimit)
	a.Next, _ = nextStep(r, a, v)
	a.SayOnce()
	return a
}

const (
	tailFactor = 20  // p99 is that many times p50: a sentence says "but"
	stallLeast = 1e4 // µs that requests waited for a connection
)

// serverSentence is what the server did.
func serverSentence(r *result.Result, v say.Voice) string {
	if r.Answers() == 0 {
		why := r.Cause
		if why == "" && len(r.Errors) > 0 {
			why = detailText(r, r.Errors[0], v)
		}
		return strings.TrimSuffix("Nothing was answered: "+format.PlainLine(why), ": ")
	}
	s := heldText(r)
	if share := r.FailedShare(); share >= result.FailingShare {
		s = fmt.Sprintf("%s of the requests failed%s", format.Percentage(share, 2), firstError(r, v))
		if r.Latency != nil && r.Latency.Count > 0 {
			s += "; the others: " + tailText(r.Latency)
		}
	}
	if share, failing := r.FailedIterations(); failing {
		s = fmt.Sprintf("%s of the iterations failed; %s", format.Percentage(share, 2), s)
	}
	s = goneLead(r) + s + sinceText(r) + goneText(r)
	if missed := MissedObjectives(r.Objectives); missed != "" {
		s += "; missed: " + missed
	}
	isMet := func(o result.Outcome) bool { return o.Met }
	if met := namedObjectives(r.Objectives, isMet); met != "" {
		s += "; met: " + met
	}
	if why := r.Partial(); why != "" {
		s += "; only a part of what was planned: " + format.PlainLine(why)
	}
	return s
}

// goneLead is since when there was no server any more, before what else was measured; "" if there
// was one at the end.
func goneLead(r *result.Result) string {
	facts := r.Facts
	if none := r.FindNoServer(); none != nil { // older results do not have it
		facts = append(slices.Clone(facts), *none)
	}
	for _, f := range facts {
		if gone := say.Gone(f); gone != "" {
			return format.PlainLine(gone) + "; "
		}
	}
	return ""
}

// sinceText is since when nearly all requests failed; "" if they did not, or from the start on, or
// if it is said why.
func sinceText(r *result.Result) string {
	if f, since, found := fact.Find[fact.ErrorsSince](r.Facts); found &&
		(since.Status > 0 || goneLead(r) == "") {
		return "; " + say.Sentence(f)
	}
	return ""
}

// goneText is for how long there was no server, or how many connections of a closed workload had
// none; "" if that is too short to matter, or if it is said anyway.
func goneText(r *result.Result) string {
	none := r.FindNoServer()
	switch {
	case goneLead(r) != "":
		return ""
	case r.Model == result.OpenLoop && wasGone(r):
		return fmt.Sprintf("; for %s of %s no connection could be opened",
			format.Seconds(r.Window.OutageS), format.Seconds(r.Window.MeasuredS))
	case none != nil && r.Partial() == "":
		return "; " + format.PlainLine(say.Sentence(*none))
	}
	return ""
}

// heldText is the rate, and what latency it had.
func heldText(r *result.Result) string {
	rate, what := r.Rate.Completed, "requests/s"
	if i := r.Iterations; i != nil {
		rate, what = i.Rate.Completed, "iterations/s"
	} else if r.Stream != nil {
		what = "streams/s"
	}
	if d := r.Latency; d != nil && d.Count == 1 && r.Iterations == nil {
		return "1 request, answered after " + format.Micros(d.Max)
	}
	s, joined := fmt.Sprintf("%s %s on %s", format.Digits3(rate), what, servedText(r)), ", but "
	if offered := r.Offered(); offered != nil {
		s = fmt.Sprintf("%s %s held", format.Exact3(*offered), what)
		if _, cut, found := fact.Find[fact.IterationsCut](r.Facts); found {
			s = fmt.Sprintf("%s %s were begun in time, and %s of %s had not ended after the drain",
				format.Exact3(*offered), what, format.Count(cut.Unfinished), format.Count(cut.Started))
		} else if held := isHeld(r, *offered, rate); held && isBelow(r, *offered, rate) &&
			r.FailedShare() < result.FailingShare {
			s += fmt.Sprintf(", of which %s/s had an answer in the window", format.Digits3(rate))
		} else if !held {
			s = fmt.Sprintf("%s %s were offered and %s completed", format.Exact3(*offered), what,
				format.Digits3(rate))
			joined = ", and "
		}
	}
	d := r.Latency
	if d == nil || d.Count == 0 {
		return s
	}
	if r.Stream != nil {
		return s + ", " + streamTail(r.Stream)
	}
	if !hasP99(d) {
		return s + ", " + tailText(d)
	}
	if stall := stallText(r); stall != "" {
		return s + joined + "p99 is " + percentileText(d, "p99") + ": " + stall
	}
	if d.P50 > 0 && d.P99 >= tailFactor*d.P50 {
		return s + joined + fmt.Sprintf("p99 is %s where p50 is %s", percentileText(d, "p99"),
			percentileText(d, "p50"))
	}
	return s + ", " + tailText(d)
}

// servedText is the number of connections, and how many of them were served if not all were.
func servedText(r *result.Result) string {
	all := format.Plural(int64(r.Plan.Connections), "connection")
	if n, _ := r.Unused(); n > 0 && r.Model == result.ClosedLoop && r.Connections.Served > 0 {
		return fmt.Sprintf("only %s of %s", format.Count(int64(r.Connections.Served)), all)
	}
	return all
}

// hasP99 reports whether a distribution has a p99: no table of a report has one of fewer values.
func hasP99(d *result.Distribution) bool {
	i := slices.IndexFunc(Quantiles, func(q Quantile) bool { return q.Name == "p99" })
	return Quantiles[i].PercentileCell(d) != format.TooFew
}

// tailText is the p99 of a distribution, or its maximum if there are too few values for one.
func tailText(d *result.Distribution) string {
	if !hasP99(d) {
		return "max " + percentileText(d, "max")
	}
	return "p99 " + percentileText(d, "p99")
}

// isHeld reports whether an offered rate was held: what was due was sent in time, and as much was
// completed as was due. Where that is not known the rates are compared, with room for arrivals that
// are drawn, which may be fewer by chance.
func isHeld(r *result.Result, offered, completed float64) bool {
	share, known := r.InTime()
	if known && share < 1-result.FailingShare || wasGone(r) {
		return false
	}
	if r.FailedShare() >= result.FailingShare {
		return true
	}
	if (r.Plan.Replay > 0 || r.Plan.Requested > 0) && isProlonged(r, offered) {
		return false
	}
	due, done := r.Requests.Due, r.Requests.Completed
	if i := r.Iterations; i != nil {
		due, done = i.Due, i.Completed
	}
	if due != nil && len(r.Fleet.Lost()) == 0 { // nobody knows what was due at an agent that was lost
		return float64(done) >= (1-result.FailingShare)*float64(*due)
	}
	return !isBelow(r, offered, completed)
}

// isProlonged reports whether a window that lasts until all was answered took longer than what was
// due in it at a rate, and the longest answer.
func isProlonged(r *result.Result, offered float64) bool {
	due := r.Requests.Due
	if i := r.Iterations; i != nil {
		due = i.Due
	}
	if due == nil || r.Service == nil || offered <= 0 {
		return false
	}
	most := float64(*due)/offered + r.Service.Answered().Max/1e6
	return r.Window.MeasuredS > (1+result.FailingShare)*most && isBelow(r, offered, r.Rate.Completed)
}

func wasGone(r *result.Result) bool {
	return r.Window.OutageS > result.FailingShare*r.Window.MeasuredS
}

// isBelow reports whether a rate is below another, with room for arrivals that are drawn.
func isBelow(r *result.Result, offered, completed float64) bool {
	room := result.FailingShare
	if r.Plan.Arrival == loadplan.Poisson {
		room = max(room, 3/math.Sqrt(max(offered*r.Window.MeasuredS, 1)))
	}
	return completed < offered*(1-room)
}

// stallText is how many requests waited because all connections were busy; "" if that does not
// matter, or the generator caused it.
func stallText(r *result.Result) string {
	late, worst := r.Requests.Late, r.Requests.LateMax
	if late == nil || worst == nil || *worst < stallLeast || r.OwnDelay() {
		return ""
	}
	d := r.MainLatency()
	if d == nil || float64(*late) < 0.01*float64(d.Count) || *worst < d.P99/2 {
		return "" // neither that few nor waits that short make a p99
	}
	what, free := "request", freeThing(r)
	if free == "user" {
		what = "iteration"
	}
	return fmt.Sprintf("%s waited for a free %s, up to %s", format.Plural(*late, what), free,
		format.Micros(*worst))
}

// freeThing is what requests waited for if something was due and not sent.
func freeThing(r *result.Result) string {
	if r.Shortage().Of == fact.OfUsers {
		return "user"
	}
	return "connection"
}

// requestErrors are the errors of requests. Those of connections come before any request is sent.
func requestErrors(r *result.Result) (all []result.Error) {
	for _, e := range r.Errors {
		if !slices.Contains([]string{"dns", "connect", "tls"}, e.Phase) {
			all = append(all, e)
		}
	}
	return all
}

// firstError is the most frequent error of requests, with the beginning of its first answer.
func firstError(r *result.Result, v say.Voice) string {
	all := requestErrors(r)
	if len(all) == 0 {
		return ""
	}
	return ": " + errorLine(r, mostFrequent(all), v)
}

// mostFrequent is the most frequent of errors; the first of those that are as frequent. It is one
// that is a consequence of others only if there are no others.
func mostFrequent(all []result.Error) result.Error {
	causes := slices.DeleteFunc(slices.Clone(all), result.Error.IsConsequence)
	if len(causes) > 0 {
		all = causes
	}
	return slices.MaxFunc(all, func(a, b result.Error) int { return cmp.Compare(a.Count, b.Count) })
}

// runNumbers are the numbers of a run that are asked for first.
func runNumbers(r *result.Result) (all []answer.Number) {
	if r.Answers() == 0 {
		return nil
	}
	if i := r.Iterations; i != nil {
		all = append(all, answer.Number{Name: "iterations/s", Text: format.Digits3(i.Rate.Completed)})
	}
	all = append(all, answer.Number{Name: "requests/s", Text: format.Digits3(r.Rate.Completed)})
	for _, q := range Quantiles {
		if r.Latency != nil && slices.Contains(FirstQuantiles, q.Name) {
			all = append(all, answer.Number{Name: q.Name, Text: q.PercentileCell(r.Latency)})
		}
	}
	return append(all, answer.Number{Name: "errors", Text: format.Count(r.Requests.Errors)})
}

// detailText is what an error says, and where it was unless it was at the server.
func detailText(r *result.Result, e result.Error, v say.Voice) string {
	if r.Plan.OriginAt(e.Address) >= 0 {
		return format.PlainLine(e.Address) + ": " + format.PlainLine(e.Text(v))
	}
	return format.PlainLine(e.Text(v))
}

// errorLine is a kind of error in a line.
func errorLine(r *result.Result, e result.Error, v say.Voice) string {
	s := fmt.Sprintf("%s (%s)", say.ErrorName(detailText(r, e, v)), digits.Times(e.Count))
	if e.Sample != "" {
		s += ", first answer: " + format.Clip(format.PlainLine(e.Sample), 120)
	}
	return s
}

// generatorClause is what the generator did to the numbers; "" if nothing.
func generatorClause(r *result.Result) string {
	if r.Answers() == 0 {
		return ""
	}
	switch r.Generator.Bound() {
	case result.Limit:
		return "the generator was the limit, the server may do more"
	case result.HeldUp:
		return "the generator was delayed, so this is not the server alone"
	case "":
		return suspectClause(r)
	}
	return "this was not the load that was asked for"
}

// suspectClause is what a generator that is suspect says of itself; "" of one that is not, or that
// only measured too little to judge.
func suspectClause(r *result.Result) string {
	if r.Generator.Verdict != result.Suspect || r.Partial() != "" {
		return ""
	}
	for _, d := range r.Generator.Doubts {
		switch d.Kind {
		case result.HeldUp:
			return "the generator was delayed, so latency may be too high"
		case result.Limit:
			return "the generator was near its limit, so latency may be too high"
		case result.OtherLoad:
			return "this was not quite the load that was asked for"
		}
	}
	return ""
}

// runConditions are what the numbers of a run hold for.
func runConditions(r *result.Result) []string {
	all := []string{ModelText(r), transportText(r), format.Seconds(r.Window.MeasuredS) + " measured"}
	if w := r.Window.WarmupS; w > 0 {
		all[2] += " after " + format.Seconds(w) + " of warm-up"
	}
	if r.Answers() > 0 {
		all = append(all, "generator busy "+format.Percent(r.Generator.BusyPercent))
	}
	switch {
	case r.Fleet != nil:
		all = append(all, format.Plural(int64(len(r.Fleet.Agents)), "agent"))
	case r.Host.CPUs > 0:
		all = append(all, MachineShort(r.Host))
	}
	return all
}

// MachineShort is a machine in a few words: "2 CPUs (AMD EPYC), linux 6.18".
func MachineShort(h result.Host) string {
	s := format.Plural(int64(h.CPUs), "CPU")
	if h.CPU != "" {
		s += " (" + format.PlainLine(h.CPU) + ")"
	}
	kernel, _, _ := strings.Cut(h.Kernel, "-")
	return strings.TrimSpace(s + ", " + format.PlainLine(h.OS) + " " + format.PlainLine(kernel))
}
