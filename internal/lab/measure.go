package lab

import (
	"math"
	"slices"
	"strings"

	"dyno/internal/lab/experiment"
	"dyno/internal/result"
)

// A Measure is a number that a trial may have.
type Measure struct {
	Name, Unit string
	Better     int // 1: more is; -1: less is
	of         func(t *Trial) float64
	over       func(t *Trial) bool // whether it is only known to be higher; nil: it is known
}

// Value is the measure's value in a trial; ok is false where there is none.
func (m Measure) Value(t *Trial) (value float64, ok bool) {
	if t.Failure != nil || t.Result == nil {
		return 0, false
	}
	if m.isOfSearch() != (t.Search != nil) || t.Search != nil && m.Name != t.Search.metric() {
		return 0, false // a search's other values are those of one of its loads
	}
	value = m.of(t)
	return value, value > 0 && !math.IsInf(value, 0) // and so not NaN
}

// IsOver reports whether a trial's value is only known to be higher: requests had no answer.
func (m Measure) IsOver(t *Trial) bool { return m.over != nil && m.Has(t) && m.over(t) }

func (m Measure) isOfSearch() bool { return experiment.Metric(m.Name).IsCapacity() }

func certified(t *Trial) float64 { return t.Search.Highest() }

// CPU is the server's CPU time per request, the measure with the least noise.
var CPU = Measure{Name: "cpu", Unit: "µs/req", Better: -1, of: func(t *Trial) float64 {
	return float64(t.serverUse().CPU)
}}

// CountsAnswers reports whether the measure is a rate, or a quotient or product of one.
func (m Measure) CountsAnswers() bool {
	return m.Unit == CPU.Unit || m.Name == InFlight || strings.HasSuffix(m.Unit, "/s")
}

// InFlight is the name of the measure of requests in flight on average: rate × mean latency
// (Little's law; Little, Operations Research 9, 1961). It is that of what was answered. What had no
// answer was in flight besides: how much of the window is not known, so the sum is only known to be
// higher.
const InFlight = "in_flight"

// Measures are all measures, in the order in which they are shown.
var Measures = slices.Concat(requestMeasures, searchMeasures, StreamMeasures)

// searchMeasures are those of searches along other axes than the rate.
var searchMeasures = []Measure{
	{Name: string(experiment.CapacityOf(experiment.Connections)), Unit: experiment.Connections,
		Better: 1, of: certified},
	{Name: string(experiment.CapacityOf(experiment.Users)), Unit: experiment.Users, Better: 1,
		of: certified},
}

var requestMeasures = []Measure{
	{Name: "throughput", Unit: "req/s", Better: 1, of: func(t *Trial) float64 {
		return t.Result.Rate.Completed
	}},
	{Name: string(experiment.Capacity), Unit: "req/s", Better: 1, of: certified},
	CPU,
	{Name: "generator_cpu", Unit: "µs/req", Better: -1, of: func(t *Trial) float64 {
		return t.Result.Generator.CPUPerRequest
	}},
	{Name: "host_cpu", Unit: "µs/req", Better: -1, of: hostCPU},
	{"mean", "µs", -1, func(t *Trial) float64 { return latencyOf(t).LeastMean() }, hasUnanswered},
	percentile("p50", latencyOf, 50),
	percentile("p75", latencyOf, 75),
	percentile("p90", latencyOf, 90),
	percentile("p95", latencyOf, 95),
	percentile("p99", latencyOf, 99),
	percentile("p99.9", latencyOf, 99.9),
	percentile("max", latencyOf, 100),
	{Name: "iterations", Unit: "iter/s", Better: 1, of: func(t *Trial) float64 {
		if t.Result.Iterations == nil {
			return 0
		}
		return t.Result.Iterations.Rate.Completed
	}},
	percentile("iteration_p50", iterationTimes, 50),
	percentile("iteration_p99", iterationTimes, 99),
	{Name: "checks", Unit: "%", Better: 1, of: func(t *Trial) float64 {
		share, _ := t.Result.Passed("")
		return 100 * share
	}},
	{Name: memory, Unit: "MB", Better: -1, of: func(t *Trial) float64 {
		return float64(t.serverUse().Memory) / 1e6
	}},
	{InFlight, "requests", -1, func(t *Trial) float64 {
		return t.Result.Rate.Completed * latencyOf(t).Mean / 1e6
	}, hasUnanswered},
	{Name: "bytes", Unit: "bytes/req", Better: -1, of: func(t *Trial) float64 {
		n, received := t.CountInWindow()
		if n == 0 {
			n, received = t.Result.Answers(), t.Result.Bytes.Received
		}
		return float64(received) / float64(max(n, 1))
	}},
}

// DependsOnLoad reports whether the measure depends on the generator too (throughput, latency), and
// is not only a cost per request.
func (m Measure) DependsOnLoad() bool {
	return !slices.Contains([]string{"cpu", "cpu_event", "generator_cpu", "host_cpu", "memory",
		"bytes"}, m.Name)
}

// MeasureNamed returns the measure of that name.
func MeasureNamed(name string) (Measure, bool) {
	for _, m := range Measures {
		if m.Name == name {
			return m, true
		}
	}
	return Measure{}, false
}

// percentile is the measure of a percentile of a distribution; 100 is its maximum. A tail is 0 of a
// trial that has too few values for it: it is judged in all trials together then.
func percentile(name string, of func(*Trial) *result.Distribution, percent float64) Measure {
	tail, isTail := tails[name]
	return Measure{name, "µs", -1, func(t *Trial) float64 {
		if isTail && of(t).Known() < tail.Least() {
			return 0
		}
		us, _ := of(t).Percentile(percent)
		return us
	}, func(t *Trial) bool { return of(t).IsOver(percent) }}
}

// latencyOf is the latency of a trial; empty if it measured none.
func latencyOf(t *Trial) *result.Distribution {
	if t.Result.Latency == nil {
		return new(result.Distribution)
	}
	return t.Result.Latency
}

// iterationTimes are the times of the iterations that completed; empty if there are none.
func iterationTimes(t *Trial) *result.Distribution {
	if d := t.Result.IterationTime(); d != nil {
		return d
	}
	return new(result.Distribution)
}

func hasUnanswered(t *Trial) bool { return latencyOf(t).Over != nil }

// hostCPU is the busy time of the whole machine per request. It includes what the kernel does for
// the server outside its processes, and all other programs. It is meaningless for a server on
// another machine.
func hostCPU(t *Trial) float64 {
	if len(t.ServerProcesses()) == 0 {
		return 0
	}
	done := t.Result.Rate.AnswersPerSecond() * t.Result.Window.MeasuredS
	return float64(t.Result.Server.Host.Busy) / 1e3 / max(done, 1)
}

// ServerProcesses is what the server's processes used; the first is their sum. It is empty if the
// server was not watched.
func (t *Trial) ServerProcesses() []result.Usage {
	if t.Result == nil || t.Result.Server == nil {
		return nil
	}
	return t.Result.Server.Processes
}

// serverUse is the use of all the server's processes together.
func (t *Trial) serverUse() result.Usage {
	if all := t.ServerProcesses(); len(all) > 0 {
		return all[0]
	}
	return result.Usage{}
}

// Has reports whether a trial has a value of the measure.
func (m Measure) Has(t *Trial) bool {
	_, ok := m.Value(t)
	return ok
}
