// Package runfacts finds what a reader of a run must know, of what the run counted and of the
// environment in which it ran.
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
	return append(all, LostAddresses(r)...)
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

// Merge are the facts of a run that several generators made, from those of each, and from their
// seconds added up.
func Merge(parts [][]fact.Fact, seconds []Second) (all []fact.Fact) {
	if f := errorsSince(seconds); f != nil {
		all = append(all, *f)
	}
	unfinished, redirects := fact.AnswerUnfinished{}, fact.RedirectsOnly{}
	redirected, held, cut := 0, []fact.Fact(nil), fact.IterationsCut{}
	var remedies []fact.Remedy
	for _, f := range slices.Concat(parts...) {
		switch a := f.Args.(type) {
		case fact.AnswerUnfinished:
			switch { // what timed out comes before what the end of the run cut, as in one run
			case unfinished.Count == 0 || unfinished.AtEnd && !a.AtEnd:
				unfinished = a
			case unfinished.AtEnd == a.AtEnd:
				unfinished.Count += a.Count
			}
		case fact.RedirectsOnly:
			redirected++
			remedies = f.Remedies
			redirects.Status = append(redirects.Status, a.Status...)
		case fact.IterationsCut:
			a.Unfinished, a.Started = a.Unfinished+cut.Unfinished, a.Started+cut.Started
			a.TimeUS = max(a.TimeUS, cut.TimeUS)
			cut = a
		case fact.ProxyUnused:
			if !slices.ContainsFunc(all, func(g fact.Fact) bool { return g.Args == f.Args }) {
				all = append(all, f)
			}
		case fact.DelayedAck:
			held = append(held, f)
		}
	}
	if unfinished.Count > 0 {
		all = append(all, fact.Fact{Severity: fact.Error, Args: unfinished})
	}
	all = append(all, mergeAway(parts)...)
	if redirected == len(parts) {
		slices.Sort(redirects.Status)
		redirects.Status = slices.Compact(redirects.Status)
		all = append(all, fact.Fact{Severity: fact.Warning, Args: redirects, Remedies: remedies})
	}
	if cut.Unfinished > 0 {
		all = append(all, fact.Fact{Severity: fact.Warning, Args: cut,
			Remedies: []fact.Remedy{{Setting: "drain", Value: fact.Higher}}})
	}
	if len(held) == len(parts) { // that of the first stands for all
		all = append(all, held[0])
	}
	return append(all, mergeLost(parts)...)
}

// mergeAway is RedirectsAway of all parts. It is an error only if it is one of each.
func mergeAway(parts [][]fact.Fact) []fact.Fact {
	all := fact.Fact{Severity: fact.Error}
	var away fact.RedirectsAway
	for _, part := range parts {
		f, of, _ := fact.Find[fact.RedirectsAway](part)
		if away.Count += of.Count; f.Severity != fact.Error {
			all.Severity = fact.Warning
		}
	}
	if all.Args = away; away.Count == 0 {
		return nil
	}
	return []fact.Fact{all}
}

const (
	fewErrors = 0.01 // share of the requests, at most, before errors began
	nearlyAll = 0.99 // at least, afterwards
	leastSeen = 10   // requests before, and afterwards: fewer show nothing

	someOfLast = 0.05 // at least, of the second in which they began, if that is the last
)

// ProxyUnused says that a proxy, by which others reach the server that r could not, is not used.
func ProxyUnused(r *loadresult.Result) *fact.Fact {
	name := r.Plan.Target.ProxyVariable(os.Getenv)
	if name == "" || r.Ended != loadresult.Unreachable {
		return nil
	}
	return &fact.Fact{Severity: fact.Error, Args: fact.ProxyUnused{Variable: name}}
}

// ErrorsSince finds errors that began during the window and stayed.
func ErrorsSince(r *loadresult.Result) *fact.Fact {
	all := make([]Second, len(r.Intervals))
	for i, iv := range r.Intervals {
		all[i] = Second{To: iv.To, Right: iv.Completed, Wrong: iv.Failed, Status: map[string]int64{}}
		for _, f := range iv.Failures {
			if f.Phase == loadresult.Expect {
				all[i].Status[f.Detail] += f.Count
			}
		}
	}
	return errorsSince(all)
}

// A Second is what became of requests in an interval, which begins when the one before ends.
type Second struct {
	To           time.Duration // after the window's start
	Right, Wrong int64
	Status       map[string]int64 // of answers whose status was wrong, by code
}

// errorsSince finds errors that began in one of the seconds of a window and stayed: almost none
// before, nearly all afterwards. Within that second, the share of right answers tells when. Of the
// last second it is said how many of its requests failed.
func errorsSince(all []Second) *fact.Fact {
	first, right, wrong, since := 0, int64(0), int64(0), time.Duration(0)
	for ; first < len(all); first++ {
		if s := all[first]; float64(s.Wrong) > fewErrors*float64(s.Right+s.Wrong) {
			break
		}
		right, wrong, since = right+all[first].Right, wrong+all[first].Wrong, all[first].To
	}
	if first == len(all) || right < leastSeen {
		return nil
	}
	begin, rest, start := all[first], all[first:], since
	if begin.Right > 0 {
		share := float64(begin.Right) / float64(begin.Right+begin.Wrong)
		since += time.Duration(share * float64(begin.To-since))
		rest = rest[1:]
	}
	good, bad, answered, status := together(rest)
	least := nearlyAll
	if bad < leastSeen && begin.Right > 0 && wrong == 0 { // of the last second only all is known
		since, least = start, someOfLast
		good, bad, answered, status = together(all[first:])
	}
	if bad < leastSeen || float64(bad) < least*float64(good+bad) {
		return nil
	}
	found := fact.ErrorsSince{SinceS: since.Seconds(), Percent: 100 * float64(bad) / float64(good+bad)}
	for code, n := range status {
		if float64(n) >= nearlyAll*float64(max(answered, bad)) {
			found.Status, _ = strconv.Atoi(code)
			found.Percent = min(100*float64(n)/float64(good+bad), 100)
		}
	}
	return &fact.Fact{Severity: fact.Error, Args: found}
}

// together are the requests of some seconds: how many were right and wrong, how many of the wrong
// had an answer, and with which status. A request may expect what is an error of others.
func together(all []Second) (good, bad, answered int64, status map[string]int64) {
	status = map[string]int64{}
	for _, s := range all {
		good, bad = good+s.Right, bad+s.Wrong
		for code, n := range s.Status {
			status[code], answered = status[code]+n, answered+n
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
	if r.Plan.Parts == 0 && !r.Plan.OnlyHTTP3() { // an agent loads the server alone
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
func DelayedAck(r *loadresult.Result) *fact.Fact {
	if r.Total == nil || r.FirstByte == nil || r.Plan.Target.Unix != "" || r.Plan.HTTP == "3" ||
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
