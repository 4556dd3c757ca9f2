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
}

// Value is the measure's value in a trial; ok is false where there is none.
func (m Measure) Value(t *Trial) (value float64, ok bool) {
	if t.Failure != nil || t.Result == nil {
		return 0, false
	}
	if (t.Search != nil) != (m.Name == string(experiment.Capacity)) {
		return 0, false // a search's other values are those of one of its rates
	}
	value = m.of(t)
	return value, value > 0 // and so not NaN
}

// percents are the measures that are percentiles of latency, or of the time of iterations. 100 is
// the maximum.
var percents = map[string]float64{"p50": 50, "p75": 75, "p90": 90, "p95": 95, "p99": 99,
	"p99.9": 99.9, "max": 100, "iteration_p50": 50, "iteration_p99": 99}

// IsOver reports whether a trial's value is only known to be higher: it is that of a request that
// had no answer.
func (m Measure) IsOver(t *Trial) bool {
	if _, ok := m.Value(t); !ok {
		return false
	}
	d := t.Result.Latency
	percent, is := percents[m.Name]
	if !is {
		return (m.Name == "mean" || m.Name == InFlight) && d.Over != nil
	}
	if strings.HasPrefix(m.Name, "iteration_") {
		d = iterationTimes(t)
	}
	return d.IsOver(percent)
}

// CPU is the server's CPU time per request, the measure with the least noise.
var CPU = Measure{"cpu", "µs/req", -1, func(t *Trial) float64 { return float64(t.serverUse().CPU) }}

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
var Measures = []Measure{
	{"throughput", "req/s", 1, func(t *Trial) float64 { return t.Result.Rate.Completed }},
	{string(experiment.Capacity), "req/s", 1, func(t *Trial) float64 { return t.Search.Certified }},
	CPU,
	{"generator_cpu", "µs/req", -1, func(t *Trial) float64 {
		return t.Result.Generator.CPUPerRequest
	}},
	{"host_cpu", "µs/req", -1, hostCPU},
	{"mean", "µs", -1, latencyBy((*result.Distribution).LeastMean)},
	{"p50", "µs", -1, latencyBy(func(d *result.Distribution) float64 { return d.P50 })},
	{"p75", "µs", -1, latencyBy(func(d *result.Distribution) float64 { return d.P75 })},
	{"p90", "µs", -1, latencyBy(func(d *result.Distribution) float64 { return d.P90 })},
	{"p95", "µs", -1, latencyBy(func(d *result.Distribution) float64 { return d.P95 })},
	{"p99", "µs", -1, latencyBy(percentileBy(2, func(d *result.Distribution) float64 {
		return d.P99
	}))},
	{"p99.9", "µs", -1, latencyBy(percentileBy(3, func(d *result.Distribution) float64 {
		return d.P999
	}))},
	{"max", "µs", -1, latencyBy(func(d *result.Distribution) float64 { return d.Max })},
	{"iterations", "iter/s", 1, func(t *Trial) float64 {
		if t.Result.Iterations == nil {
			return 0
		}
		return t.Result.Iterations.Rate.Completed
	}},
	{"iteration_p50", "µs", -1, func(t *Trial) float64 { return iterationTimes(t).P50 }},
	{"iteration_p99", "µs", -1, func(t *Trial) float64 {
		return percentileBy(2, func(d *result.Distribution) float64 { return d.P99 })(iterationTimes(t))
	}},
	{"checks", "%", 1, func(t *Trial) float64 {
		share, _ := t.Result.Passed("")
		return 100 * share
	}},
	{memory, "MB", -1, func(t *Trial) float64 { return float64(t.serverUse().Memory) / 1e6 }},
	{InFlight, "requests", -1, func(t *Trial) float64 {
		if t.Result.Latency == nil {
			return 0
		}
		return t.Result.Rate.Completed * t.Result.Latency.Mean / 1e6
	}},
	{"bytes", "bytes/req", -1, func(t *Trial) float64 {
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
	return !slices.Contains([]string{"cpu", "generator_cpu", "host_cpu", "memory", "bytes"}, m.Name)
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

func latencyBy(of func(*result.Distribution) float64) func(*Trial) float64 {
	return func(t *Trial) float64 {
		if t.Result.Latency == nil {
			return 0
		}
		return of(t.Result.Latency)
	}
}

// iterationTimes are the times of the iterations that completed; empty if there are none.
func iterationTimes(t *Trial) *result.Distribution {
	if d := t.Result.IterationTime(); d != nil {
		return d
	}
	return new(result.Distribution)
}

// percentileBy is 0 if there are too few requests for a two-sided 95 % interval of the percentile.
// 99 % has two nines. Tails are judged in all trials together then.
func percentileBy(nines int,
	of func(*result.Distribution) float64) func(*result.Distribution) float64 {
	least := Tail{Quantile: 1 - math.Pow10(-nines)}.Least()
	return func(d *result.Distribution) float64 {
		if d.Known() < least {
			return 0
		}
		return of(d)
	}
}

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
