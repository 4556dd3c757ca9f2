package experiment

import (
	"fmt"
	"slices"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/objective"
	"dyno/internal/result"
)

// A Metric is a quantity of a trial that verdicts can be about.
type Metric string

// Metrics are all metrics. Latencies come from the run's merged histogram. cpu is the server's CPU
// time per request, memory its peak, and generator_cpu the generator's CPU time per request.
var Metrics = []Metric{Throughput, "cpu", "generator_cpu", "mean", "p50", "p75", "p90", "p95",
	"p99", "p99.9", "max", "memory", Capacity, CapacityOf(Connections), CapacityOf(Users),
	FirstEventP50, FirstEventP99, "gap_p50", GapP99, "token_time_p50", "token_time_p99",
	"events", "tokens", "cpu_event", "good", Goodput}

// Metrics of streams of events, and that of the limits of single requests.
const (
	FirstEventP50 Metric = "first_event_p50"
	FirstEventP99 Metric = "first_event_p99"
	GapP99        Metric = "gap_p99"
	Goodput       Metric = "goodput"
)

// StreamMetrics are those of a design that names none, where answers are streams: what their users
// wait for. Each metric costs the others some of their power.
var StreamMetrics = []Metric{Throughput, "cpu", FirstEventP50, FirstEventP99, GapP99}

// Capacity is the rate that a search found. Levels that search a rate are judged by it alone.
const Capacity Metric = "capacity"

// CapacityOf is the metric of levels that search along an axis.
func CapacityOf(axis string) Metric {
	if axis == Connections || axis == Users {
		return Capacity + "_" + Metric(axis)
	}
	return Capacity
}

// IsCapacity reports whether a search finds the metric.
func (m Metric) IsCapacity() bool { return strings.HasPrefix(string(m), string(Capacity)) }

// Throughput is the rate of completed requests.
const Throughput Metric = "throughput"

// lacks is which key of the workload a metric needs that is not there; "" if none.
func (m Metric) lacks(w Workload) string {
	switch name := string(m); {
	case strings.HasPrefix(name, "good"):
		if len(w.Goodput) == 0 {
			return "workload.goodput"
		}
	case strings.HasPrefix(name, "gap_"), strings.HasPrefix(name, "token"),
		strings.Contains(name, "event"):
		if w.Stream.Format == "" {
			return "workload.stream"
		}
		var p loadplan.Plan // keys that cannot be set have faults of their own
		if w.SetPlan(&p) == nil && strings.HasPrefix(name, "token") && p.Stream.LacksTokens(name) != nil {
			return "workload.stream.tokens"
		}
	}
	return ""
}

// IsLatency reports whether the metric is the mean, the maximum or a percentile of the latency, or
// of another time of requests.
func (m Metric) IsLatency() bool {
	last := m[strings.LastIndexByte(string(m), '_')+1:]
	return m == "mean" || m == "max" || strings.HasPrefix(string(last), "p")
}

// UnmarshalText parses the name of a metric.
func (m *Metric) UnmarshalText(b []byte) error {
	if *m = Metric(b); !slices.Contains(Metrics, *m) {
		return unknownMetric(string(b), metricNames(Metrics)...)
	}
	return nil
}

// unknownMetric is the error of a text that is not allowed.
func unknownMetric(s string, allowed ...string) error {
	return fmt.Errorf("%q is not a metric%s", s, orAllowed(s, allowed))
}

// metricNames converts names to strings.
func metricNames[S ~string](all []S) []string {
	plain := make([]string, len(all))
	for i, s := range all {
		plain[i] = string(s)
	}
	return plain
}

// An Objective is a condition for each trial, such as p99<20ms, with the syntax of dyno run.
type Objective string

// UnmarshalText reads METRIC<LIMIT, or with >, <= or >=. Several with commas between them stay
// together until separateObjectives.
func (o *Objective) UnmarshalText(b []byte) error {
	all, err := objective.ParseList(string(b))
	exprs := make([]string, len(all))
	for i, one := range all {
		exprs[i] = one.Expr
	}
	*o = Objective(strings.Join(exprs, ","))
	return err
}

// separateObjectives returns the objectives one by one.
func separateObjectives(given []Objective) (all []Objective) {
	for _, o := range given {
		parsed, err := objective.ParseList(string(o))
		if err != nil { // the file's faults name it
			continue
		}
		for _, one := range parsed {
			all = append(all, Objective(one.Expr))
		}
	}
	return all
}

// Judge evaluates the objective for a result.
func (o Objective) Judge(r *result.Result) result.Outcome {
	parsed, err := objective.Parse(string(o))
	if r == nil || err != nil {
		return result.Outcome{Expr: string(o)}
	}
	return parsed.Judge(r)
}
