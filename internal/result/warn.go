package result

import (
	"cmp"
	"math"
	"slices"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/fact"
	"dyno/internal/result/runfacts"
	"dyno/internal/say"
	"dyno/internal/setting"
)

// lossShare is the share of requests missing from latency above which a reader
// is told.
const lossShare = 0.01

// retriedLeast is the share of requests that were sent again, in percent, above which a reader is
// told.
const retriedLeast = 0.1

// warnings are what one must know to read r rightly, other than about the
// generator: that responses were not what one would take them for, and
// whatever latency does not include.
func warnings(r *Result) (all []string) {
	for _, f := range cautions(r) {
		all = append(all, say.Text(f, r.Voice()))
	}
	return all
}

// cautions are warnings as facts.
func cautions(r *Result) (all []fact.Fact) {
	if f := r.findErrorAnswers(); f != nil {
		all = append(all, *f)
	}
	all = append(all, r.findRefused()...)
	for _, f := range []*fact.Fact{r.findRowsLeft(), r.findFailed(), r.findUnanswered(),
		r.findBacklog()} {
		if f != nil {
			all = append(all, *f)
		}
	}
	if e := r.FCGIStderr; e != nil {
		all = append(all, fact.Fact{Severity: fact.Warning,
			Args: fact.ApplicationStderr{Bytes: e.Bytes, First: runfacts.FirstLine(e.Text)}})
	}
	if r.AreRetriesTold() {
		all = append(all, *r.retriesTold())
	}
	if f := r.findNotRetried(); f != nil {
		all = append(all, *f)
	}
	if q := r.Requests; q.FailedAfter > 0 {
		all = append(all, fact.Fact{Severity: fact.Warning,
			Args: fact.StepsFailedAfter{Steps: q.StepsAfter, Failed: q.FailedAfter}})
	}
	return all
}

// SentAgain is how many requests were sent again, and why.
func (r *Result) SentAgain() fact.Retries {
	n := r.Requests.Retried
	return fact.Retries{Count: n, Percent: r.percentSent(n), Of: retriesOf(r.Retries),
		Peer: r.Plan.Peer()}
}

// retriesTold is SentAgain as a warning. Where each connection was closed after the same number of
// requests, a load that closes them itself loses none.
func (r *Result) retriesTold() *fact.Fact {
	a := r.SentAgain()
	f := told(a)
	var after, count int64
	for _, k := range a.Of {
		if !k.IsAfterAnswers() || k.Least != k.Most || after != 0 && after != k.Most {
			return f
		}
		after, count = k.Most, count+k.Count
	}
	if count < fact.OftenClosed {
		return f
	}
	inFlight := int64(max(r.Plan.Pipeline, r.Plan.Streams)) // of a connection
	if after >= inFlight && after < math.MaxInt32 && after != int64(r.Plan.Reconnect) {
		f.Remedies = []fact.Remedy{{Setting: "reconnect", Value: setting.ReconnectText(int(after))}}
	}
	return f
}

// percentSent is how many percent of the requests sent so many are.
func (r *Result) percentSent(n int64) float64 {
	return 100 * float64(n) / float64(max(r.Requests.Sent, 1))
}

func retriesOf(all loadresult.Retries) (of []fact.Retry) {
	for _, k := range all {
		of = append(of, fact.Retry{Method: k.Method, Why: k.Why, Count: k.Count, Least: k.Least,
			Most: k.Most, Twice: k.Why == loadresult.RetryClosed && !loadplan.IsIdempotent(k.Method)})
	}
	return of
}

// findNotRetried finds that requests failed that would have been sent again, were their methods
// idempotent.
func (r *Result) findNotRetried() *fact.Fact {
	found := fact.NotRetried{Of: retriesOf(r.NotRetried), Peer: r.Plan.Peer()}
	for _, k := range r.NotRetried {
		found.Count += k.Count
	}
	found.Percent = r.percentSent(found.Count)
	if found.Percent <= retriedLeast || r.Plan.Resend != loadplan.ResendIdempotent {
		return nil
	}
	return told(found, fact.Remedy{Setting: "retry-unsafe", Value: fact.Some})
}

// AreRetriesTold reports whether a warning says what SentAgain has.
func (r *Result) AreRetriesTold() bool { return r.SentAgain().Percent > retriedLeast }

// findBacklog finds that an open loop was asked for more than came of it. One or two requests that
// were due just before the window's end do not make that so.
func (r *Result) findBacklog() *fact.Fact {
	waiting, after, sent := r.Backlog()
	if waiting == 0 && float64(after) <= lossShare*float64(sent) {
		return nil
	}
	short := r.Shortage()
	return &fact.Fact{Severity: fact.Warning, Remedies: short.Remedies(), Args: fact.NotInTime{
		Iterations: r.Plan.CountsIterations(), Never: waiting, After: after, Shortage: short}}
}

// Voice is how settings are called on the command line of r's load.
func (r *Result) Voice() say.Voice { return setting.VoiceOf(&r.Plan) }

// orZero is a number that may be absent.
func orZero[T int64 | float64](v *T) T {
	if v == nil {
		return 0
	}
	return *v
}

// findFailed finds that requests failed without an answer, of which latency tells nothing. If all
// did, there is no latency, and the verdict says so.
func (r *Result) findFailed() *fact.Fact {
	sent, n := float64(r.Requests.Sent), float64(r.Requests.Errors-r.ErrorAnswers())
	if r.Answers() == 0 || n <= lossShare*sent {
		return nil
	}
	return told(fact.RequestsFailed{Percent: 100 * n / sent})
}

// findUnanswered finds that requests had no answer in time.
func (r *Result) findUnanswered() *fact.Fact {
	sent, n := float64(r.Requests.Sent), float64(r.Requests.Unfinished)
	if r.Answers() == 0 || n <= lossShare*sent {
		return nil
	}
	f := told(fact.RequestsUnanswered{Percent: 100 * n / sent})
	switch loadresult.Ending(r.Ended) {
	case loadresult.ByDuration, loadresult.ByRequests: // it ended by itself
		f.Remedies = []fact.Remedy{{Setting: "drain", Value: fact.Higher}}
	}
	return f
}

// findErrorAnswers finds that answers were errors: a server that only fails is often the fastest.
func (r *Result) findErrorAnswers() *fact.Fact {
	n := r.ErrorAnswers()
	if !r.OnlyErrors() && float64(n) <= lossShare*float64(r.Requests.Sent) {
		return nil
	}
	var codes, ends []string
	var checks []fact.CheckMissed
	for _, e := range r.Errors {
		check := fact.CheckMissed{Name: e.Kind, Status: e.Status}
		switch {
		case e.Phase == string(loadresult.Expect) && !slices.Contains(codes, e.Detail):
			codes = append(codes, e.Detail)
		case e.Phase == string(loadresult.Stream) && !slices.Contains(ends, "stream "+e.Kind):
			ends = append(ends, "stream "+e.Kind)
		case e.Phase == string(loadresult.Check) && !e.isRefusal() && !slices.Contains(checks, check):
			checks = append(checks, check)
		}
	}
	slices.Sort(codes)
	slices.Sort(ends)
	slices.SortFunc(checks, func(a, b fact.CheckMissed) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), a.Status-b.Status)
	})
	refused := r.Plan.Proxy != "" && slices.Contains(codes, "407")
	f := told(fact.ErrorAnswers{Count: n, Percent: 100 * float64(n) / float64(max(r.Answers(), 1)),
		All: r.OnlyErrors(), Of: slices.Concat(codes, ends), Checks: checks, ProxyRefuses: refused})
	if with := r.Plan.StatusSetting(); with != "" && len(codes) > 0 && !refused {
		f.Remedies = []fact.Remedy{{Setting: with, Value: fact.Some}}
	}
	return f
}

// findRowsLeft finds that rows were not sent, of which each was to be sent once.
func (r *Result) findRowsLeft() *fact.Fact {
	begun, d := r.Requests.Sent+r.Refused(), r.Plan.Rows
	if r.Iterations != nil {
		begun = r.Iterations.Started
	}
	if d == nil || d.Order != "once" || begun == 0 || begun >= r.Plan.Requested {
		return nil
	}
	return told(fact.RowsLeft{Left: r.Plan.Requested - begun, Of: r.Plan.Requested, File: d.File})
}

// findRefused finds requests that were not sent because of their values or for want of rows. They
// are none of Requests.Errors, as they are none of those sent.
func (r *Result) findRefused() (all []fact.Fact) {
	for _, e := range r.Errors {
		if e.isRefusal() {
			all = append(all, *told(fact.RequestsRefused{Count: e.Count, Why: e.Detail},
				e.Remedies...))
		}
	}
	return all
}
