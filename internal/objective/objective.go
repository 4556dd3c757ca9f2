// Package objective judges results by conditions such as "p99<20ms", and ends a run that will miss
// one. Package result has the Outcome, which is stored.
//
//	guard.go       ends a run that will miss an objective
//	metric.go      names of metrics; their other names, such as ttft, are in engine/goodput
//	objective.go   reads p99<20ms, and judges a result
//	proof.go       do the counts prove a miss?
//	search.go      what a search for the highest load asks of an objective
//	unjudged.go    failed requests that no objective counts
//	streams.go     streams of events, and goodput
//	users.go       metrics of scenarios
package objective

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"dyno/internal/engine/goodput"
	"dyno/internal/fact"
	"dyno/internal/lazyregexp"
	"dyno/internal/result"
	"dyno/internal/say"
)

// An Objective is a condition that a result should meet, such as "p99<20ms".
type Objective struct {
	Expr string

	quantity
	op    string
	limit float64
	live  bool // it can be judged each second
}

// A quantity is what an objective is about.
type quantity struct {
	name    string  // as it was written
	whose   string  // of which distribution, or what else: latency, route, checks, rps and the like
	percent float64 // which percentile of it, if that is known without a result; else 0
	kind    kind
	of      func(r *result.Result) reading

	number *result.StreamNumber // that it is, of all requests or of a route; nil: it is none
}

// A reading is the value of a quantity in a result.
type reading struct {
	value float64
	ok    bool // there is a value
	over  bool // it is only known to be higher, because requests had no answer
	vague bool // what they add to it is not known

	percent float64 // of a percentile
	known   int64   // of a percentile: of how many values, answered or not

	answers func() float64 // the value of what was answered; nil: that is the value
	most    func() float64 // the most that a value that is over can be; nil: that is unknown
}

// plain is the reading of a quantity that is known, if ok.
func plain(of func(r *result.Result) (value float64, ok bool)) func(*result.Result) reading {
	return func(r *result.Result) reading {
		value, ok := of(r)
		return reading{value: value, ok: ok}
	}
}

// A kind is the kind of quantity of an objective.
type kind int

const (
	times  kind = iota // in µs
	shares             // in percent
	counts
	rates   // 1/s
	numbers // without a unit
)

var unitOf = map[kind]string{times: "us", shares: "percent", rates: "per_s"}

// The name of a check, a metric or a route may have blanks.
var expression = lazyregexp.New(`^\s*((?:checks|metric|route)\.[^<>=!]*[^\s<>=!]|[^\s<>=!]+)` +
	`\s*(<=|>=|<|>|=+|!=)?\s*(.*?)\s*$`)

// blankedUnit is a number with blanks before its unit.
var blankedUnit = lazyregexp.New(`^([0-9.]+)\s+([a-zµ%/]+)$`)

// ParseList reads one objective, or several with commas between them, such as "p99<20ms,
// errors<1%". A comma in the name of a check separates nothing, if all of s is one objective.
func ParseList(s string) ([]Objective, error) {
	whole, err := Parse(s)
	if err == nil {
		return []Objective{whole}, nil
	}
	for i, c := range s {
		if c != ',' {
			continue
		}
		first, bad := Parse(s[:i])
		if bad != nil {
			continue
		}
		rest, err := ParseList(s[i+1:])
		if err != nil {
			return nil, err
		}
		return append([]Objective{first}, rest...), nil
	}
	return nil, err
}

// Parse reads NAME OP LIMIT; blanks between these, and before a unit, do not matter. NAME is a
// statistic of latency (min, mean, max, stdev or a percentile such as p99 or p99.95), the same of
// another distribution as service.p99 (also error_latency, dns, connect, tls, tls_full,
// tls_resumed, first_byte and probe; of streams first_event or ttft, gap, and token_time or tpot;
// of a scenario iteration, of those that completed, and failed_iteration), of a route as
// route.login.p99, route.chat.gap.p99 or route.chat.good, or one of errors, rps and cpu, the
// watched server's time for a request; or checks, the share of a scenario's checks that passed,
// and checks.NAME that of one; or metric.NAME, a counter of a script, and metric.NAME.p99 and the
// like of a histogram. OP is <, <=, > or >=. LIMIT is a duration with its unit, for errors a number
// or a percentage of what was sent, for checks a percentage, for rps and metrics a number. An error
// says at which column, from 1, it went wrong.
func Parse(s string) (Objective, error) {
	at := func(column int, format string, args ...any) (Objective, error) {
		return Objective{}, fmt.Errorf("%q, column %d: "+format, append([]any{s, column + 1}, args...)...)
	}
	m := expression().FindStringSubmatchIndex(s)
	if m == nil {
		return at(0, "%v", say.Wrong(fact.Wanted{What: fact.AnObjective}))
	}
	name, limit := s[m[2]:m[3]], blankedUnit().ReplaceAllString(s[m[6]:m[7]], "$1$2")
	if m[4] < 0 {
		return at(m[3], "<, <=, > or >= is wanted")
	}
	op := s[m[4]:m[5]]
	if !slices.Contains([]string{"<", "<=", ">", ">="}, op) {
		return at(m[4], "%q is not <, <=, > or >=", op)
	}
	o := Objective{Expr: name + op + limit, op: op}
	var err error
	if o.quantity, err = parseQuantity(name); err != nil {
		return at(m[2], "%v", err)
	}
	o.live = o.isLive()
	if o.kind == counts && strings.HasSuffix(limit, "%") {
		o.kind, o.of = shares, plain(failedShare)
	}
	if o.limit, err = o.kind.parseLimit(limit); err != nil {
		return at(m[6], "%v", err)
	}
	return o, nil
}

// parseLimit parses a limit of this kind.
func (k kind) parseLimit(s string) (float64, error) {
	number, wanted, whole := s, fact.Wanted{What: fact.ANumber, Got: s}, true
	switch k {
	case times:
		d, err := time.ParseDuration(s)
		if err != nil || d < 0 || !strings.ContainsAny(s, "nuµmsh") {
			return 0, say.Wrong(fact.Wanted{What: fact.ADuration, Got: s})
		}
		return float64(d) / 1e3, nil
	case shares:
		wanted.What = fact.APercentage
		number, whole = strings.CutSuffix(s, "%")
	case counts:
		wanted.What = fact.EitherNumber
	case rates:
		number = strings.TrimSuffix(s, "/s")
	}
	factor := 1.0
	if digits, kilo := strings.CutSuffix(number, "k"); kilo && k != shares {
		number, factor = digits, 1000
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || !whole || !(f >= 0 && f <= 1e15) || strings.ContainsAny(number, "xXpP_") {
		return 0, say.Wrong(wanted)
	}
	if wanted.More = k == shares && f > 100; wanted.More {
		return 0, say.Wrong(wanted)
	}
	return f * factor, nil
}

// parseQuantity finds the quantity that a name means.
func parseQuantity(name string) (quantity, error) {
	if n := streamNumber(name); n != nil {
		return quantity{name: name, whose: name, kind: numberKind(n), number: n, of: plain(n.Of)}, nil
	}
	switch name {
	case "rps":
		return quantity{name: name, whose: name, kind: rates, of: plain(completedRate)}, nil
	case "cpu":
		return quantity{name: name, whose: name, kind: times, of: plain(serverCPUPerRequest)}, nil
	case "errors":
		return quantity{name: name, whose: name, kind: counts, of: plain(failedCount)}, nil
	}
	if rest, is := strings.CutPrefix(name, "route."); is {
		return parseRouted(name, rest)
	}
	if of, err := parseChecks(name); of != nil || err != nil {
		return quantity{name: name, whose: "checks", kind: shares, of: plain(of)}, err
	}
	if of, err := parseMetric(name); of != nil || err != nil {
		return quantity{name: name, whose: "metric", kind: numbers, of: of}, err
	}
	q := quantity{name: name, whose: "latency", kind: times}
	statistic := name
	if whose, rest, dotted := strings.Cut(name, "."); dotted && !isPercentile(name) {
		q.whose, statistic = cmp.Or(goodput.Aliases[whose], whose), rest
	}
	of := distributions[q.whose]
	if t := streamTime(q.whose); t != nil {
		of = ofStream(t.Of)
	}
	if q.whose == "itl" {
		return q, errors.New(`"itl" is the gap of vLLM's benchmark and the token time of AIPerf's: ` +
			"write gap or token_time")
	}
	if of == nil {
		return q, fmt.Errorf("%q is not one of latency, service, error_latency, dns, "+
			"connect, tls, tls_full, tls_resumed, first_byte, probe, iteration, failed_iteration, "+
			"first_event, gap, token_time, checks, metric and route", q.whose)
	}
	read, percent, err := parseStatistic(statistic)
	q.percent, q.of = percent, func(r *result.Result) reading {
		if d := of(r); d != nil && d.Count > 0 {
			return read(d)
		}
		return reading{}
	}
	return q, err
}

// distributions are those that objectives name, besides result.StreamTimes.
var distributions = map[string]func(*result.Result) *result.Distribution{
	"latency":     func(r *result.Result) *result.Distribution { return r.Latency },
	"service":     func(r *result.Result) *result.Distribution { return r.Service },
	"dns":         func(r *result.Result) *result.Distribution { return r.Phases.DNS },
	"connect":     func(r *result.Result) *result.Distribution { return r.Phases.Connect },
	"tls":         func(r *result.Result) *result.Distribution { return r.Phases.TLS },
	"tls_full":    func(r *result.Result) *result.Distribution { return r.Phases.TLSFull },
	"tls_resumed": func(r *result.Result) *result.Distribution { return r.Phases.TLSResumed },
	"first_byte":  func(r *result.Result) *result.Distribution { return r.Phases.FirstByte },
	"probe":       probeLatency,

	"error_latency":    func(r *result.Result) *result.Distribution { return r.ErrorLatency },
	"iteration":        (*result.Result).IterationTime,
	"failed_iteration": (*result.Result).FailedIterationTime,
}

// isPercentile reports whether a name, which may contain a dot, begins like a percentile.
func isPercentile(name string) bool {
	return len(name) > 1 && name[0] == 'p' && '0' <= name[1] && name[1] <= '9'
}

// isLive reports whether the quantity is known each second.
func (q quantity) isLive() bool {
	switch q.whose {
	case "latency", "service", "iteration", "checks", "rps", "errors":
		return true
	}
	return false
}

// parseStatistic finds the statistic of a distribution that a name means, and which percentile that
// is, or 0.
func parseStatistic(name string) (func(*result.Distribution) reading, float64, error) {
	switch name {
	case "min":
		return func(d *result.Distribution) reading {
			if o := d.Over; o != nil && o.US < d.Min {
				return reading{value: o.US, ok: true, over: true, answers: func() float64 { return d.Min }}
			}
			return reading{value: d.Min, ok: true}
		}, 0, nil
	case "mean":
		return func(d *result.Distribution) reading {
			return reading{value: d.LeastMean(), ok: true, over: d.Over != nil,
				answers: func() float64 { return d.Mean }}
		}, 0, nil
	case "stdev":
		return func(d *result.Distribution) reading {
			return reading{value: d.Stdev, ok: true, vague: d.Over != nil}
		}, 0, nil
	case "max":
		return func(d *result.Distribution) reading {
			return reading{value: d.Max, ok: true, over: d.IsOver(100),
				answers: func() float64 { return d.Answered().Max }}
		}, 0, nil
	}
	digits, is := strings.CutPrefix(name, "p")
	percent, err := strconv.ParseFloat(digits, 64)
	plain := strings.Trim(digits, "0123456789.") == ""
	if !is || !plain || err != nil || percent <= 0 || percent >= 100 {
		return nil, 0, noStatistic(name)
	}
	return func(d *result.Distribution) reading {
		value, ok := d.Percentile(percent)
		return reading{value: value, ok: ok, over: d.IsOver(percent), percent: percent, known: d.Known(),
			most: func() float64 { return d.Most(percent) },
			answers: func() float64 {
				value, _ := d.Answered().Percentile(percent)
				return value
			}}
	}, percent, nil
}

// parseRouted finds the quantity of a route that a whole name means: NAME.STATISTIC, where NAME may
// contain dots. A route of which a generator could not tell the latency has none.
func parseRouted(whole, name string) (q quantity, err error) {
	q = quantity{name: whole, whose: "route", kind: times}
	values := map[string]struct {
		percent float64
		of      func(result.Route) float64
	}{
		"mean": {0, func(r result.Route) float64 { return r.Over.LeastMean(r.Completed, r.Mean) }},
		"p50":  {50, func(r result.Route) float64 { return r.P50 }},
		"p90":  {90, func(r result.Route) float64 { return r.P90 }},
		"p99":  {99, func(r result.Route) float64 { return r.P99 }},
		"max":  {100, func(r result.Route) float64 { return r.Max }},
	}
	dot := strings.LastIndexByte(name, '.')
	is, known := values[name[dot+1:]]
	if n := streamNumber(name[dot+1:]); dot > 0 && n != nil {
		q.kind, q.number, q.of = numberKind(n), n, ofRouteNumber(name[:dot], n)
		return q, nil
	}
	if dot < 1 || !known {
		return q, fmt.Errorf("of a route there are mean, p50, p90, p99 and max, of its streams also " +
			"first_event.p99 and the like, good, goodput, events and tokens: write route.NAME.p99")
	}
	q.of = func(r *result.Result) reading {
		for _, route := range r.Routes {
			if got, is := ofRouteStreams(&route, name[:dot], name[dot+1:]); is {
				return got
			}
			if value := is.of(route); route.Name == name[:dot] && value > 0 {
				over := route.Over != nil && is.percent == 0 || route.IsOver(is.percent, value)
				return reading{value: value, ok: true, over: over, percent: is.percent,
					known: route.Known()}
			}
		}
		return reading{}
	}
	return q, nil
}

// probeLatency is the latency of the probe.
func probeLatency(r *result.Result) *result.Distribution {
	if r.Probe == nil {
		return nil
	}
	return r.Probe.Latency
}

// serverCPUPerRequest is the server's CPU time per request, in µs, if it was watched.
func serverCPUPerRequest(r *result.Result) (float64, bool) {
	if r.Server == nil || len(r.Server.Processes) == 0 || !r.Server.Processes[0].CPU.OK() {
		return 0, false
	}
	return float64(r.Server.Processes[0].CPU), true
}

// unsentRequests is how many requests of the window were due and never sent: for want of a
// connection or a user, or because a value did not fit its place. Of an iteration that was never
// begun it is the first.
func unsentRequests(r *result.Result) int64 {
	waiting, _, _ := r.Backlog()
	return waiting + r.Refused()
}

// failedRequests is how many requests of the window failed, were not answered, or were never sent.
func failedRequests(r *result.Result) int64 {
	return r.Requests.Errors + r.Requests.Unfinished + unsentRequests(r)
}

// failedCount is failedRequests.
func failedCount(r *result.Result) (float64, bool) { return float64(failedRequests(r)), true }

// completedRate is how many requests completed in a second.
func completedRate(r *result.Result) (float64, bool) { return r.Rate.Completed, true }

// failedShare is their share of all requests that were due, in percent.
func failedShare(r *result.Result) (float64, bool) {
	due := r.Requests.Sent + unsentRequests(r)
	return 100 * float64(failedRequests(r)) / float64(max(due, 1)), due > 0
}

// nothingDue reports whether r is a run that ended before any of its requests was due: no address
// could be reached. A rate or a number of errors of 0 says nothing of its server.
func nothingDue(r *result.Result) bool {
	return r.Ended != "" && r.Requests.Sent+unsentRequests(r) == 0
}

// Judge evaluates the objective for r. An objective of errors, checks or rps is missed if a closed
// workload had no server for more than 1 % of the window, whatever was counted in the rest of it.
// A value that is only known to be higher, because requests had no answer, proves that a ceiling is
// missed, or that a floor is met; the most that it can be may prove the opposite. A percentile that
// so few values cannot have is undecided, if their longest meets it.
func (o Objective) Judge(r *result.Result) result.Outcome {
	out, _ := o.JudgeWhole(r)
	return out
}

// JudgeWhole is Judge, with what the value does not cover, which it notes; nil if there is nothing.
func (o Objective) JudgeWhole(r *result.Result) (out result.Outcome, lacks fact.Args) {
	if out, lacks = o.judge(r); lacks != nil {
		out.Note = say.Plain(lacks)
	}
	return out, lacks
}

func (o Objective) judge(r *result.Result) (out result.Outcome, lacks fact.Args) {
	got := o.of(r)
	out = result.Outcome{Expr: o.Expr, Unit: unitOf[o.kind]}
	if !got.ok || nothingDue(r) {
		return out, o.unmeasured(r)
	}
	out.Value, out.Met, out.Over = &got.value, o.Meets(got.value), got.over
	if lacks = r.NotApplied(); lacks != nil && o.kind != times {
		out.Met = false
	}
	switch needs := got.needs(); {
	case got.vague, got.over && out.Met == o.IsUpperBound() &&
		(got.most == nil || o.Meets(got.most()) != out.Met):
		out.Met, out.Undecided = false, result.NoAnswers
	case out.Met && needs > 0:
		out.Met, out.Undecided, out.Needs = false, result.FewValues, needs
	}
	alone := got.answers != nil && o.Meets(got.answers()) // what was answered would meet it
	if !out.Met && (alone || out.Undecided == result.NoAnswers || got.over && got.answers == nil) {
		if missing := o.missing(r); missing != nil {
			lacks = missing
		}
	}
	return out, lacks
}

// needs is how many values a percentile takes: as many as that one lies beyond it. It is 0 if there
// are so many. With fewer, the percentile is only the longest of them.
func (got reading) needs() int64 {
	if got.percent <= 0 || got.percent >= 100 {
		return 0
	}
	// A little more than 1 of 100 exceeds p99, in floating point.
	if least := int64(math.Ceil(100/(100-got.percent) - 1e-6)); got.known < least {
		return least
	}
	return 0
}

// Meets reports whether a value, in the unit of Outcome, meets the objective.
func (o Objective) Meets(value float64) bool {
	switch c := cmp.Compare(value, o.limit); o.op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return cmp.Compare(value, o.limit) >= 0
}

// IsUpperBound reports whether the objective is one. More load makes such an objective harder
// to meet, never easier.
func (o Objective) IsUpperBound() bool { return o.op == "<" || o.op == "<=" }

// Limit is the value that the objective compares with, in the unit of Outcome.
func (o Objective) Limit() float64 { return o.limit }

// OfErrors reports whether the objective is about requests that failed.
func (o Objective) OfErrors() bool { return o.whose == "errors" }

// Quantity is what the objective is about, as it was written.
func (o Objective) Quantity() string { return o.name }

// missing is how many requests, or iterations, had no answer; nil if all had one.
func (o Objective) missing(r *result.Result) fact.Args {
	if o.whose == "iteration" {
		d := r.IterationTime()
		return fact.AnswersMissing{Count: d.Known() - d.Count, Of: d.Known(), Iterations: true,
			By: fact.ByDrain, DeadlineUS: r.Window.DrainedS * 1e6}
	}
	if r.Stream != nil && slices.Contains([]string{"gap", result.TokenTime}, o.whose) {
		return r.Stream.Unended()
	}
	return r.Missing()
}
