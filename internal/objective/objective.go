// Package objective judges results by conditions such as "p99<20ms", and ends a run that will miss
// one. Package result has the Outcome, which is stored.
//
//	enough.go      how many values a percentile takes
//	guard.go       ends a run that will miss an objective
//	metric.go      names of metrics
//	objective.go   reads p99<20ms, and judges a result
//	users.go       metrics of scenarios
package objective

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"dyno/internal/digits"
	"dyno/internal/result"
)

// An Objective is a condition that a result should meet, such as "p99<20ms".
type Objective struct {
	Expr string

	name  string
	of    func(r *result.Result) (value float64, ok bool)
	op    string
	limit float64
	kind  kind
	live  bool // it can be judged each second
}

// A kind is the kind of quantity of an objective.
type kind int

const (
	durations kind = iota // in µs
	shares                // in percent
	counts
	rates // 1/s
	plain // without a unit
)

var unitOf = map[kind]string{durations: "us", shares: "percent", rates: "per_s"}

// The name of a check or a metric may have blanks.
var expression = regexp.MustCompile(`^\s*((?:checks|metric)\.[^<>=!]*[^\s<>=!]|[^\s<>=!]+)` +
	`\s*(<=|>=|<|>|=+|!=)?\s*(.*?)\s*$`)

// blankedUnit is a number with blanks before its unit.
var blankedUnit = regexp.MustCompile(`^([0-9.]+)\s+([a-zµ%/]+)$`)

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
// tls_resumed, first_byte and probe; of a scenario iteration, of those that completed, and
// failed_iteration), of a route as route.login.p99, or one of errors, rps and cpu, which is the
// watched server's time for a request; or checks, the share of a scenario's checks that passed,
// and checks.NAME that of one; or metric.NAME, a counter of a script, and metric.NAME.p99 and the
// like of a histogram. OP is <, <=, > or >=. LIMIT is a duration with its unit, for errors a number
// or a percentage of what was sent, for checks a percentage, for rps and metrics a number. An error
// says at which column, from 1, it went wrong.
func Parse(s string) (Objective, error) {
	at := func(column int, format string, args ...any) (Objective, error) {
		return Objective{}, fmt.Errorf("%q, column %d: "+format, append([]any{s, column + 1}, args...)...)
	}
	m := expression.FindStringSubmatchIndex(s)
	if m == nil {
		return at(0, "an objective is wanted, as p99<20ms, errors<0.1%% or rps>=10000")
	}
	name, limit := s[m[2]:m[3]], blankedUnit.ReplaceAllString(s[m[6]:m[7]], "$1$2")
	if m[4] < 0 {
		return at(m[3], "<, <=, > or >= is wanted")
	}
	op := s[m[4]:m[5]]
	if !slices.Contains([]string{"<", "<=", ">", ">="}, op) {
		return at(m[4], "%q is not <, <=, > or >=", op)
	}
	o := Objective{Expr: name + op + limit, name: name, op: op}
	var err error
	if o.of, o.kind, err = parseQuantity(name); err != nil {
		return at(m[2], "%v", err)
	}
	o.live = isLive(name)
	if o.kind == counts && strings.HasSuffix(limit, "%") {
		o.kind, o.of = shares, failedShare
	}
	if o.limit, err = o.kind.parseLimit(limit); err != nil {
		return at(m[6], "%v", err)
	}
	return o, nil
}

// parseLimit parses a limit of this kind.
func (k kind) parseLimit(s string) (float64, error) {
	number, wanted, whole := s, "a number is wanted, as 10000", true
	switch k {
	case durations:
		d, err := time.ParseDuration(s)
		if err != nil || d < 0 || !strings.ContainsAny(s, "nuµmsh") {
			return 0, fmt.Errorf("a duration with its unit is wanted, as 20ms, not %q", s)
		}
		return float64(d) / 1e3, nil
	case shares:
		wanted = "a percentage is wanted, as 0.1%"
		number, whole = strings.CutSuffix(s, "%")
	case counts:
		wanted = "a number or a percentage is wanted, as 0 or 0.1%"
	case rates:
		number = strings.TrimSuffix(s, "/s")
	}
	factor := 1.0
	if digits, kilo := strings.CutSuffix(number, "k"); kilo && k != shares {
		number, factor = digits, 1000
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || !whole || !(f >= 0 && f <= 1e15) || strings.ContainsAny(number, "xXpP_") {
		return 0, fmt.Errorf("%s, not %q", wanted, s)
	}
	if k == shares && f > 100 {
		return 0, fmt.Errorf("%s is more than all of them; %s", s, wanted)
	}
	return f * factor, nil
}

// parseQuantity finds the quantity that a name means.
func parseQuantity(name string) (func(*result.Result) (float64, bool), kind, error) {
	switch name {
	case "rps":
		return func(r *result.Result) (float64, bool) { return r.Rate.Completed, true }, rates, nil
	case "cpu":
		return serverCPUPerRequest, durations, nil
	case "errors":
		return func(r *result.Result) (float64, bool) {
			return float64(failedRequests(r)), true
		}, counts, nil
	}
	if rest, is := strings.CutPrefix(name, "route."); is {
		return parseRouted(rest)
	}
	if of, err := parseChecks(name); of != nil || err != nil {
		return of, shares, err
	}
	if of, err := parseMetric(name); of != nil || err != nil {
		return of, plain, err
	}
	of, statistic := distributions["latency"], name
	if whose, rest, dotted := strings.Cut(name, "."); dotted && !isPercentile(name) {
		statistic = rest
		of = distributions[whose]
		if of == nil {
			return nil, 0, fmt.Errorf("%q is not one of latency, service, error_latency, dns, "+
				"connect, tls, tls_full, tls_resumed, first_byte, probe, iteration, failed_iteration, "+
				"checks, metric and route", whose)
		}
	}
	value, err := parseStatistic(statistic)
	if err != nil {
		return nil, 0, err
	}
	return func(r *result.Result) (float64, bool) {
		if d := of(r); d != nil && d.Count > 0 {
			return value(d)
		}
		return 0, false
	}, durations, nil
}

// distributions are those that objectives name.
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

// isLive reports whether the quantity of that name is known each second.
func isLive(name string) bool {
	whose, _, dotted := strings.Cut(name, ".")
	ofAll := !dotted || isPercentile(name) ||
		slices.Contains([]string{"latency", "service", "iteration", "checks"}, whose)
	return name != "cpu" && ofAll
}

// parseStatistic finds the statistic of a distribution that a name means.
func parseStatistic(name string) (func(*result.Distribution) (float64, bool), error) {
	field := map[string]func(*result.Distribution) float64{
		"min":   func(d *result.Distribution) float64 { return d.Min },
		"mean":  func(d *result.Distribution) float64 { return d.Mean },
		"stdev": func(d *result.Distribution) float64 { return d.Stdev },
		"max":   func(d *result.Distribution) float64 { return d.Max },
	}[name]
	if field != nil {
		return func(d *result.Distribution) (float64, bool) { return field(d), true }, nil
	}
	digits, is := strings.CutPrefix(name, "p")
	percent, err := strconv.ParseFloat(digits, 64)
	plain := strings.Trim(digits, "0123456789.") == ""
	if !is || !plain || err != nil || percent <= 0 || percent >= 100 {
		return nil, fmt.Errorf("%q is not one of min, mean, stdev, max, errors, rps, checks and "+
			"percentiles such as p99 and p99.9; those of something else are named after it, as in "+
			"service.p99, connect.p99, first_byte.p99 and error_latency.p99", name)
	}
	return func(d *result.Distribution) (float64, bool) { return d.Percentile(percent) }, nil
}

// parseRouted finds the quantity of a route: NAME.STATISTIC, where NAME may contain dots.
func parseRouted(name string) (func(*result.Result) (float64, bool), kind, error) {
	values := map[string]func(result.Route) float64{
		"mean": func(r result.Route) float64 { return r.Mean },
		"p50":  func(r result.Route) float64 { return r.P50 },
		"p90":  func(r result.Route) float64 { return r.P90 },
		"p99":  func(r result.Route) float64 { return r.P99 },
		"max":  func(r result.Route) float64 { return r.Max },
	}
	dot := strings.LastIndexByte(name, '.')
	of := values[name[dot+1:]]
	if dot < 1 || of == nil {
		return nil, 0, fmt.Errorf("of a route there are mean, p50, p90, p99 and max: write " +
			"route.NAME.p99")
	}
	return func(r *result.Result) (float64, bool) {
		for _, route := range r.Routes {
			if route.Name == name[:dot] && route.Completed > 0 {
				return of(route), true
			}
		}
		return 0, false
	}, durations, nil
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
// A percentile of latency has requests that were not answered. One that so few values cannot have
// is undecided, if their longest meets it.
func (o Objective) Judge(r *result.Result) result.Outcome {
	value, ok := o.of(r)
	ok = ok && !nothingDue(r)
	out := result.Outcome{Expr: o.Expr, Unit: unitOf[o.kind]}
	if !ok {
		return out
	}
	out.Value, out.Met, out.Note = &value, o.Meets(value), r.NoteNoServer()
	if out.Note != "" && (o.kind != durations) {
		out.Met = false
	}
	out.Over = o.isOver(r)
	if late := o.noteUnanswered(r); !out.Met && late != "" {
		out.Note = late
	}
	if needs := o.needs(r); out.Met && needs > 0 {
		out.Met, out.Needs = false, needs
	}
	return out
}

// noteUnanswered is why a bound of latency is missed that all answers meet: so many requests had
// none that one of them is the percentile.
func (o Objective) noteUnanswered(r *result.Result) string {
	if r.Latency == nil || r.Latency.Over == nil || !o.Ceiling() || !o.isOfLatency() {
		return ""
	}
	answered := *r
	answered.Latency = r.Latency.Answered()
	if value, ok := o.of(&answered); ok && o.Meets(value) {
		return noteUnanswered(r)
	}
	return ""
}

// isOver reports whether the value is only known to be higher.
func (o Objective) isOver(r *result.Result) bool {
	q, is := o.Quantile()
	if !is {
		q = 1
	}
	return o.isOfLatency() && r.Latency.IsOver(100*q)
}

// isOfLatency reports whether the objective is about a percentile of latency, or the longest.
func (o Objective) isOfLatency() bool {
	_, is := o.Quantile()
	return is || o.name == "max" || o.name == "latency.max"
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

// Ceiling reports whether the objective is an upper bound. More load makes such an objective harder
// to meet, never easier.
func (o Objective) Ceiling() bool { return o.op == "<" || o.op == "<=" }

// Limit is the value that the objective compares with, in the unit of Outcome.
func (o Objective) Limit() float64 { return o.limit }

// OfErrors reports whether the objective is about requests that failed.
func (o Objective) OfErrors() bool { return o.name == "errors" }

// Quantile is the quantile of latency that the objective is about, between 0 and 1. ok is false if
// it is about anything else.
func (o Objective) Quantile() (q float64, ok bool) {
	digits, is := strings.CutPrefix(strings.TrimPrefix(o.name, "latency."), "p")
	percent, err := strconv.ParseFloat(digits, 64)
	return percent / 100, is && err == nil
}

// noteUnanswered says how many requests latency has that were not answered; "" if there are none.
func noteUnanswered(r *result.Result) string {
	if r.Latency == nil || r.Latency.Over == nil {
		return ""
	}
	if n := r.Requests.Held; n > 0 {
		return fmt.Sprintf("connections or streams without an answer in the whole window: %d", n)
	}
	over := r.Latency.Over
	return fmt.Sprintf("%d of %d requests had no answer %s s after the window", over.Count,
		r.Latency.Count+over.Count, digits.Significant(over.US/1e6, 2))
}
