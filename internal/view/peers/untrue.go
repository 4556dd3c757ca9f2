package peers

import (
	"fmt"
	"math"

	"dyno/internal/digits"
	"dyno/internal/fact"
	"dyno/internal/result"
	"dyno/internal/say"
)

// Untrue is a line about what the other tool would have reported of this run that is not so; "" if
// nothing is known. asked are what the command line alone gives away, the gravest first.
func Untrue(run Run, r *result.Result, asked []string) string {
	all := append(untrueOf(run, r), asked...)
	if len(all) == 0 {
		return ""
	}
	return all[0]
}

// untrueOf is what the result gives away, the gravest first.
func untrueOf(run Run, r *result.Result) (all []string) {
	note := func(is bool, format string, args ...any) {
		if is {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	tool := run.Tool
	ok, answers := int64(0), r.Answers()
	for status, n := range r.Status {
		if status < "400" {
			ok += n
		}
	}
	_, away, led := fact.Find[fact.RedirectsAway](r.Facts)
	note(led, "%d requests were redirected to another server, which %s would follow; dyno run "+
		"--follow-to does", away.Count, tool)
	which := "every answer was an error by its status"
	if ok > 0 {
		which = digits.Significant(100*float64(answers-ok)/float64(answers), 2) +
			" % of the answers were errors by their status"
	}
	note(float64(answers-ok) >= result.FailingShare*float64(max(answers, 1)) && tool != "wrk2",
		"%s; %s counts them in its rate and its latencies, and so do the numbers above", which, tool)
	unused := lacking(r)
	note(unused.Missing > 0 && answers > 0, "%s; %s does not say so", say.Plain(unused), tool)
	note(tool == "ab" && !run.Varied && run.Method != "HEAD" && run.Document.Length > 0 &&
		r.Bytes.Bodies != run.Document.Length*answers, "bodies differ in length; ab without -l "+
		"counts each of another length than the first as failed")
	note(r.Generator.Verdict == result.ClientBound, "the generator was the limit, so the numbers are "+
		"not the server's; %s does not say so", tool)
	hidden := r.Requests.Errors + r.Requests.Unfinished
	note(tool == "go-meter" && hidden > 0, "%d requests failed; go-meter counts such errors and "+
		"does not show them", hidden)
	if l, s := r.Latency, r.Service; l != nil && s != nil && run.reportsService() {
		note(l.P99 > s.P99*1.1, "p99 is %s from when requests were due; %s counts from when they were "+
			"sent, which is %s", microtime(l.P99), tool, microtime(s.P99))
	}
	if tool == "wrk2" {
		note(run.Duration.Seconds() <= 10, "all of the run is measured; wrk2 throws the first 10 s away")
	}
	if l := r.Latency; l != nil && tool == "wrk" && r.Model == result.ClosedLoop {
		stall := longestGap(r)
		note(stall > 0, "for %.1f s nothing was answered, which a closed workload hardly shows in its "+
			"percentiles; dyno run -R does", stall)
	}
	return all
}

// reportsService reports whether the tool counts latency from the sending.
func (r Run) reportsService() bool { return r.Tool == "hey" || r.Tool == "oha" }

// longestGap is for how many seconds in a row nothing was answered; 0 if there were less than one.
func longestGap(r *result.Result) (longest float64) {
	last, gap := 0.0, 0.0
	for _, p := range r.Series {
		if length := p.T - last; p.Answered() == 0 && p.Errors == 0 && p.T <= r.Window.MeasuredS+1e-3 {
			gap += length
		} else {
			gap = 0
		}
		last = p.T
		longest = math.Max(longest, gap)
	}
	if longest < 1 {
		return 0
	}
	return longest
}

// lacking are the connections that took no part in a load.
func lacking(r *result.Result) fact.ConnectionsLacking {
	missing, unopened := r.Unused()
	return fact.ConnectionsLacking{Missing: missing, Of: int64(r.Connections.Asked),
		Unopened: unopened}
}
