package result

import (
	"fmt"
	"slices"
	"strings"

	"dyno/internal/digits"
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
func warnings(r *Result) []string {
	var all []string
	tell := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }

	warnErrors(r, tell)
	warnRefused(r, tell)
	warnRows(r, tell)
	warnLosses(r, tell)
	for _, f := range cautions(r) {
		all = append(all, say.Text(f, r.Voice()))
	}
	return all
}

// cautions are the warnings that are facts.
func cautions(r *Result) (all []fact.Fact) {
	if f := r.findBacklog(); f != nil {
		all = append(all, *f)
	}
	if e := r.FCGIStderr; e != nil {
		all = append(all, fact.Fact{Severity: fact.Warning,
			Args: fact.ApplicationStderr{Bytes: e.Bytes, First: runfacts.FirstLine(e.Text)}})
	}
	share := 100 * float64(r.Requests.Retried) / float64(max(r.Requests.Sent, 1))
	if share > retriedLeast {
		found := fact.Retries{Count: r.Requests.Retried, Percent: share}
		for _, k := range r.Retries {
			found.Of = append(found.Of, fact.Retry{Method: k.Method, Why: k.Why, Count: k.Count,
				Twice: k.Why == loadresult.RetryClosed && !loadplan.IsIdempotent(k.Method)})
		}
		all = append(all, fact.Fact{Severity: fact.Warning, Args: found})
	}
	if q := r.Requests; q.FailedAfter > 0 {
		all = append(all, fact.Fact{Severity: fact.Warning,
			Args: fact.StepsFailedAfter{Steps: q.StepsAfter, Failed: q.FailedAfter}})
	}
	return all
}

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

// countText is a count as people read it: 1,234,567.
func countText(n int64) string { return loadresult.CountText(n) }

// orZero is a number that may be absent.
func orZero[T int64 | float64](v *T) T {
	if v == nil {
		return 0
	}
	return *v
}

// warnLosses says what share of the requests latency tells nothing of, besides the errors
// of warnErrors. When that is all of them there is no latency, and the verdict says so.
func warnLosses(r *Result, say func(string, ...any)) {
	if r.Answers() == 0 {
		return
	}
	sent := float64(r.Requests.Sent)
	if n := r.Requests.Errors - r.ErrorAnswers(); float64(n) > lossShare*sent {
		say("%.1f %% of the requests failed: latency is that of the others", 100*float64(n)/sent)
	}
	if n := r.Requests.Unfinished; float64(n) > lossShare*sent {
		mend := "; give a longer --drain"
		if r.Ended != string(loadresult.ByDuration) && r.Ended != string(loadresult.ByRequests) {
			mend = "" // it did not end by itself
		}
		say("%.1f %% of the requests were unanswered at the end of the drain: mean latency is that "+
			"of the others, which were faster%s", 100*float64(n)/sent, mend)
	}
}

// warnErrors says loudly that answers were errors: a server that only fails is often the
// fastest.
func warnErrors(r *Result, say func(string, ...any)) {
	var codes, checks []string
	for _, e := range r.Errors {
		check := "check " + e.Kind
		if e.Status > 0 {
			check += fmt.Sprintf(": answered %d", e.Status)
		}
		switch {
		case e.Phase == string(loadresult.Expect) && !slices.Contains(codes, e.Detail):
			codes = append(codes, e.Detail)
		case e.Phase == string(loadresult.Check) && !e.isRefusal() && !slices.Contains(checks, check):
			checks = append(checks, check)
		}
	}
	slices.Sort(codes)
	slices.Sort(checks)
	list, mend := strings.Join(slices.Concat(codes, checks), ", "), ""
	if with := r.Plan.StatusSetting(); with != "" && len(codes) > 0 {
		mend = "; if these are right answers, name them with " + with
	}
	switch n := r.ErrorAnswers(); {
	case r.OnlyErrors():
		say("EVERY answer was an error (%s)%s", list, mend)
	case float64(n) > lossShare*float64(r.Requests.Sent):
		say("%s answers (%.2f %%) were errors (%s): latency leaves them out, error latency has "+
			"them%s", countText(n), 100*float64(n)/float64(r.Answers()), list, mend)
	}
}

// warnRows says that rows were not sent, of which each was to be sent once.
func warnRows(r *Result, say func(string, ...any)) {
	begun := r.Requests.Sent + r.Refused()
	if r.Iterations != nil {
		begun = r.Iterations.Started
	}
	if d := r.Plan.Rows; d != nil && d.Order == "once" && begun > 0 && begun < r.Plan.Requested {
		say("the run ended before %s of %s rows of %s were sent", countText(r.Plan.Requested-begun),
			countText(r.Plan.Requested), d.File)
	}
}

// warnRefused says that requests were not sent because of their values or for want of rows. They
// are none of Requests.Errors, as they are none of those sent.
func warnRefused(r *Result, say func(string, ...any)) {
	for _, e := range r.Errors {
		if e.isRefusal() {
			say("%s %s due and not sent: %s", digits.Plural(e.Count, "request"), digits.Were(e.Count),
				e.Detail)
		}
	}
}
