package experiment

import (
	"fmt"
	"slices"
	"strings"
)

// A Metric is a quantity of a trial that is judged.
type Metric string

// Metrics are all that can be judged. The latencies are those of the run's
// merged histogram; cpu is the server's time for a request, memory its peak.
var Metrics = []Metric{"throughput", "cpu", "mean", "p50", "p75", "p90", "p95", "p99", "p99.9",
	"max", "memory"}

// UnmarshalText reads the name of one.
func (m *Metric) UnmarshalText(b []byte) error {
	if *m = Metric(b); !slices.Contains(Metrics, *m) {
		return notMetric(string(b), names(Metrics)...)
	}
	return nil
}

// notMetric says that a text is none of those allowed.
func notMetric(s string, allowed ...string) error {
	return fmt.Errorf("%q is not a metric%s", s, orAllowed(s, allowed))
}

// names are strings of whatever type, as plain ones.
func names[S ~string](all []S) []string {
	plain := make([]string, len(all))
	for i, s := range all {
		plain[i] = string(s)
	}
	return plain
}

// An Objective is a limit that a trial must keep, such as p99<20ms.
type Objective struct {
	Metric string  // mean, max, p50 to p99.99, cpu, errors, rps
	Less   bool    // the value must be below Limit, else above
	OrSame bool    // may be Limit itself
	Limit  float64 // microseconds of latencies and cpu, a share of errors, rps a second
	text   string
}

// objectives are what can be limited, and in which unit.
var objectives = map[string]string{
	"mean": "time", "max": "time", "p50": "time", "p75": "time", "p90": "time", "p95": "time",
	"p99": "time", "p99.9": "time", "p99.99": "time", "cpu": "time",
	"errors": "share", "rps": "rate",
}

// String is the objective as it was written.
func (o Objective) String() string { return o.text }

// MarshalText is String.
func (o Objective) MarshalText() ([]byte, error) { return []byte(o.text), nil }

// UnmarshalText reads METRIC<LIMIT, or with >, <= or >=.
func (o *Objective) UnmarshalText(b []byte) error {
	s := string(b)
	at := strings.IndexAny(s, "<>")
	if at < 0 {
		return fmt.Errorf("%q is not an objective; write one as p99<20ms, errors<0.1%% or rps>10000", s)
	}
	limit, same := strings.CutPrefix(s[at+1:], "=")
	*o = Objective{Metric: strings.TrimSpace(s[:at]), Less: s[at] == '<', OrSame: same, text: s}
	limit = strings.TrimSpace(limit)
	switch objectives[o.Metric] {
	case "time":
		var d Duration
		err := d.UnmarshalText([]byte(limit))
		o.Limit = float64(d) / 1e3
		return err
	case "share":
		var share Share
		err := share.UnmarshalText([]byte(limit))
		o.Limit = float64(share)
		return err
	case "rate":
		var r Rate
		err := r.UnmarshalText([]byte(limit))
		o.Limit = float64(r)
		return err
	}
	known := make([]string, 0, len(objectives))
	for name := range objectives {
		known = append(known, name)
	}
	slices.Sort(known)
	return fmt.Errorf("%q cannot be limited%s", o.Metric, orAllowed(o.Metric, known))
}
