package experiment

import (
	"fmt"
	"slices"

	"dyno/internal/result"
)

// A Metric is a quantity of a trial that is judged.
type Metric string

// Metrics are all that can be judged. The latencies are those of the run's
// merged histogram; cpu is the server's time for a request, memory its peak, and
// generator_cpu what a request costs whoever sends it.
var Metrics = []Metric{"throughput", "cpu", "generator_cpu", "mean", "p50", "p75", "p90", "p95",
	"p99", "p99.9", "max", "memory"}

// UnmarshalText reads the name of one.
func (m *Metric) UnmarshalText(b []byte) error {
	if *m = Metric(b); !slices.Contains(Metrics, *m) {
		return unknownMetric(string(b), metricNames(Metrics)...)
	}
	return nil
}

// unknownMetric says that a text is none of those allowed.
func unknownMetric(s string, allowed ...string) error {
	return fmt.Errorf("%q is not a metric%s", s, orAllowed(s, allowed))
}

// metricNames are strings of whatever type, as plain ones.
func metricNames[S ~string](all []S) []string {
	plain := make([]string, len(all))
	for i, s := range all {
		plain[i] = string(s)
	}
	return plain
}

// An Objective is what each trial is to meet, as p99<20ms: one of dyno run's.
type Objective string

// UnmarshalText reads METRIC<LIMIT, or with >, <= or >=.
func (o *Objective) UnmarshalText(b []byte) error {
	parsed, err := result.ParseObjective(string(b))
	*o = Objective(parsed.Expr)
	return err
}

// Judge says how a result stands to the objective.
func (o Objective) Judge(r *result.Result) result.Outcome {
	parsed, err := result.ParseObjective(string(o))
	if r == nil || err != nil {
		return result.Outcome{Expr: string(o)}
	}
	return parsed.Judge(r)
}
