// Package runfacts finds what a reader of a run must know, of what the run counted and of the
// environment in which it ran.
package runfacts

import (
	"os"
	"time"

	"dyno/internal/engine/loadresult"
	"dyno/internal/fact"
)

const (
	fewErrors = 0.01 // share of the requests, at most, before errors began
	nearlyAll = 0.99 // at least, afterwards
	leastSeen = 10   // requests before, and afterwards: fewer show nothing
)

// ProxyUnused says that a proxy, by which others reach the server that r could not, is not used.
func ProxyUnused(r *loadresult.Result) *fact.Fact {
	name := r.Plan.Target.ProxyVariable(os.Getenv)
	if name == "" || r.Ended != loadresult.Unreachable {
		return nil
	}
	return &fact.Fact{Severity: fact.Error, Args: fact.ProxyUnused{Variable: name}}
}

// ErrorsSince finds errors that began during the window and stayed: almost none before, nearly all
// afterwards. Within the interval in which they began, the share of right answers tells when.
func ErrorsSince(r *loadresult.Result) *fact.Fact {
	first, right := 0, int64(0)
	for ; first < len(r.Intervals); first++ {
		if iv := r.Intervals[first]; float64(iv.Failed) > fewErrors*float64(iv.Completed+iv.Failed) {
			break
		}
		right += r.Intervals[first].Completed
	}
	if first == len(r.Intervals) || right < leastSeen {
		return nil
	}
	begin, rest := r.Intervals[first], r.Intervals[first:]
	since := begin.From
	if begin.Completed > 0 {
		share := float64(begin.Completed) / float64(begin.Completed+begin.Failed)
		since += time.Duration(share * float64(begin.To-begin.From))
		rest = rest[1:]
	}
	var good, bad, answered int64
	status := map[uint16]int64{}
	for _, iv := range rest {
		good, bad = good+iv.Completed, bad+iv.Failed
		for code, n := range iv.Status {
			if !r.Plan.Expects(code) {
				status[code], answered = status[code]+n, answered+n
			}
		}
	}
	if bad < leastSeen || float64(bad) < nearlyAll*float64(good+bad) {
		return nil
	}
	found := fact.ErrorsSince{SinceS: since.Seconds(), Percent: 100 * float64(bad) / float64(good+bad)}
	for code, n := range status {
		if float64(n) >= nearlyAll*float64(max(answered, bad)) {
			found.Status = int(code)
			found.Percent = min(100*float64(n)/float64(good+bad), 100)
		}
	}
	return &fact.Fact{Severity: fact.Error, Args: found}
}
