// Package runfacts finds the warnings of a run that need only what the load counted, such as when
// errors began or where answers were delayed, or the environment in which it ran.
//
//	lost.go         addresses and servers that were lost
//	ratesapart.go   rates that were counted otherwise
//	runfacts.go     all facts; errors, redirects, delayed answers, the proxy of the environment
//	streams.go      streams that were gathered, bunched, or too long for the warm-up
package runfacts

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/redirect"
	"dyno/internal/engine/scenario"
	"dyno/internal/fact"
	"dyno/internal/result/durations"
	"dyno/internal/say"
)

// Of are the facts of a run.
func Of(r *loadresult.Result) (all []fact.Fact) {
	for _, find := range []func(*loadresult.Result) *fact.Fact{ProxyUnused, ErrorsSince, Unfinished,
		RedirectsOnly, RedirectsAway, DelayedAck, IterationsCut} {
		if f := find(r); f != nil {
			all = append(all, *f)
		}
	}
	return append(append(all, Streams(r)...), LostAddresses(r)...)
}

// IsInVerdict reports whether the sentence of a run's verdict says a fact.
func IsInVerdict(f fact.Fact) bool {
	switch a := f.Args.(type) {
	case fact.ErrorsSince, fact.AnswerUnfinished:
		return true
	case fact.AddressLost:
		return say.Gone(f) != "" && a.Name == "" // else the warning says more
	}
	return false
}

const (
	fewErrors = 0.01 // share of the requests, at most, before errors began
	nearlyAll = 0.99 // at least, afterwards
	leastSeen = 10   // requests before, and afterwards: fewer show nothing

	someOfLast = 0.05 // at least, of the second in which they began, if that is the last
)

// ProxyUnused says that a proxy, by which others reach the server that r could not, is not used.
func ProxyUnused(r *loadresult.Result) *fact.Fact {
	for _, g := range r.Each() {
		name := g.Proxy
		if g.Host == nil {
			name = g.Plan.Target.ProxyVariable(os.Getenv)
		}
		if name != "" && g.Plan.Proxy == "" && g.Ended == loadresult.Unreachable {
			return &fact.Fact{Severity: fact.Error, Args: fact.ProxyUnused{Variable: name},
				Remedies: []fact.Remedy{{Setting: "proxy", Value: fact.Some}}}
		}
	}
	return nil
}

// ErrorsSince finds errors that began during the window and stayed.
func ErrorsSince(r *loadresult.Result) *fact.Fact {
	var wrong []uint16 // statuses
	for _, f := range r.Failures {
		code, err := strconv.ParseUint(f.Detail, 10, 16)
		if err == nil && f.Phase == loadresult.Expect && !slices.Contains(wrong, uint16(code)) {
			wrong = append(wrong, uint16(code))
		}
	}
	return errorsSince(r.Intervals, wrong)
}

// errorsSince finds errors that began in one of the seconds of a window and stayed: almost none
// before, nearly all afterwards. Within that second, the share of right answers tells when. Of the
// last second it is said how many of its requests failed. The statuses are those of wrong answers.
func errorsSince(all []loadresult.Interval, statuses []uint16) *fact.Fact {
	first, right, wrong, since := 0, int64(0), int64(0), time.Duration(0)
	for ; first < len(all); first++ {
		if s := all[first]; float64(s.Failed) > fewErrors*float64(s.Completed+s.Failed) {
			break
		}
		right, wrong, since = right+all[first].Completed, wrong+all[first].Failed, all[first].To
	}
	if first == len(all) || right < leastSeen {
		return nil
	}
	begin, rest, start := all[first], all[first:], since
	if begin.Completed > 0 {
		share := float64(begin.Completed) / float64(begin.Completed+begin.Failed)
		since += time.Duration(share * float64(begin.To-since))
		rest = rest[1:]
	}
	good, bad, answered, status := together(rest, statuses)
	least := nearlyAll
	if bad < leastSeen && begin.Completed > 0 && wrong == 0 { // of the last second only all is known
		since, least = start, someOfLast
		good, bad, answered, status = together(all[first:], statuses)
	}
	if bad < leastSeen || float64(bad) < least*float64(good+bad) {
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

// together are the requests of some seconds: how many were right and wrong, how many of the wrong
// had an answer, and with which status. A request may expect what is an error of others.
func together(all []loadresult.Interval, statuses []uint16) (good, bad, answered int64,
	status map[uint16]int64) {
	status = map[uint16]int64{}
	for _, s := range all {
		good, bad = good+s.Completed, bad+s.Failed
		for _, code := range statuses {
			status[code], answered = status[code]+s.Status[code], answered+s.Status[code]
		}
	}
	return good, bad, answered, status
}

// Unfinished finds answers that began and did not end: within the timeout or, if there are none of
// these, before the run did.
func Unfinished(r *loadresult.Result) *fact.Fact {
	var found *fact.AnswerUnfinished
	for _, f := range r.Failures {
		if f.Unfinished == nil {
			continue
		}
		if found == nil {
			first := *f.Unfinished
			found = &first
		}
		found.Count += f.Count
	}
	if found == nil {
		found = r.Cut
	}
	if found == nil {
		return nil
	}
	return &fact.Fact{Severity: fact.Error, Args: *found}
}

// RedirectsOnly finds that nothing but redirects came, unless the plan asks for them: by a status,
// by what it checks of answers, or by following them.
func RedirectsOnly(r *loadresult.Result) *fact.Fact {
	follower, can := r.Plan.Scenario.(interface{ Follows() bool })
	if r.Total == nil || len(r.Plan.Expect) > 0 || r.Plan.LeastChecks() > 0 ||
		r.Plan.Follow > 0 || can && follower.Follows() {
		return nil
	}
	var found fact.RedirectsOnly
	for code, n := range r.Total.Status {
		switch {
		case n == 0:
		case redirect.Is(uint16(code)):
			found.Status = append(found.Status, code)
		default:
			return nil
		}
	}
	if len(found.Status) == 0 {
		return nil
	}
	return &fact.Fact{Severity: fact.Warning, Args: found, Remedies: toFollow(&r.Plan)}
}

// toFollow is the setting that has redirects followed, of a plan that takes it.
func toFollow(p *loadplan.Plan) []fact.Remedy {
	if len(p.Hurl) > 0 || p.Script != nil || p.Replay > 0 || p.Pipeline > 1 ||
		p.Probe > 0 {
		return nil
	}
	return []fact.Remedy{{Setting: "follow", Value: "10"}}
}

// RedirectsAway finds that redirects led to an origin to which they are not followed.
func RedirectsAway(r *loadresult.Result) *fact.Fact {
	var found fact.RedirectsAway
	for _, f := range r.Failures {
		if f.Phase == loadresult.Check && f.Kind == scenario.RedirectsStay && r.Plan.Follow > 0 {
			found.Count += f.Count
		}
	}
	if found.Count == 0 {
		return nil
	}
	f := &fact.Fact{Severity: fact.Warning, Args: found}
	if r.Total != nil && r.Total.Completed == 0 {
		f.Severity = fact.Error
	}
	alone := r.Plan.Parts == 0 && len(r.Parts) == 0 // an agent loads the server, and nothing else
	if alone && !r.Plan.OnlyHTTP3() {
		f.Remedies = []fact.Remedy{{Setting: "follow-to", Value: "ORIGIN"}}
	}
	return f
}

const (
	ackStep  = 40 * time.Millisecond // Linux delays an acknowledgement for at least so long,
	ackSlack = 6 * time.Millisecond  // and for less than so much more
	ackSteps = 3                     // at most, that are recognised
	ackLeast = 20                    // answers
	ackBody  = 64 << 10              // bytes of the mean body at most: more take time by themselves
)

// DelayedAck finds that the median answer was held up between its first and its last byte as long
// as a server is that writes on a connection while Nagle's algorithm waits for an acknowledgement.
// A stream takes its time by itself; of streams the gaps tell (fact.GapsBunched).
func DelayedAck(r *loadresult.Result) *fact.Fact {
	if r.Total == nil || r.FirstByte == nil || r.Total.Stream != nil ||
		r.Plan.Target.Unix != "" || r.Plan.HTTP == "3" ||
		r.Plan.Follow > 0 { // first bytes are those of all answers
		return nil
	}
	last := r.Total.Service
	if last.Count == 0 { // it equals latency
		last = r.Total.Latency
	}
	if last.Count < ackLeast || r.Total.Failed > 0 || r.Total.Bodies > ackBody*last.Count {
		return nil
	}
	from, to := r.FirstByte.View().Quantile(0.5), last.View().Quantile(0.5)
	apart := time.Duration(to - from)
	steps := apart / ackStep
	if steps < 1 || steps > ackSteps || apart-steps*ackStep > steps*ackSlack {
		return nil
	}
	return &fact.Fact{Severity: fact.Warning, Args: fact.DelayedAck{
		FirstByteUS: durations.Micros(float64(from)), LastByteUS: durations.Micros(float64(to))}}
}

// FirstLine is the first line of s that says something, or what fits of it.
func FirstLine(s string) string {
	const most = 200
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return line
}

const cutLeast = 0.01 // share of the iterations

// IterationsCut finds iterations of an open workload that were begun when due and had not ended
// with the drain. What ends later is none of the completed, and no sign that the rate was too high.
func IterationsCut(r *loadresult.Result) *fact.Fact {
	t := r.Scenario
	if t == nil || !r.Plan.Open() || !r.Plan.CountsIterations() || r.Ended != loadresult.ByDuration ||
		r.Total == nil || r.Waiting+t.StartedAfter > 0 ||
		float64(t.Unfinished) <= cutLeast*float64(t.Started) {
		return nil
	}
	found := fact.IterationsCut{Unfinished: t.Unfinished, Started: t.Started,
		DrainUS: durations.Micros(float64(r.Drained))}
	if of := r.Total.IterationTime; of != nil && of.Count > 0 {
		found.TimeUS = durations.Micros(float64(of.View().Quantile(0.5)))
	}
	return &fact.Fact{Severity: fact.Warning, Args: found,
		Remedies: []fact.Remedy{{Setting: "drain", Value: fact.Higher}}}
}
