package live

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/observe/probe"

	"github.com/prometheus/client_golang/prometheus"
)

// A Metric is one of those that a run has: its name, what it means, and its labels.
type Metric struct {
	Name, Help string
	Kind       prometheus.ValueType // of a histogram: 0
	Labels     []string
}

// The metrics of a run. A counter counts what belongs to the measured window, from its start, but
// for the server's CPU time, which is counted from when it was first watched.
var (
	runInfo = Metric{"dyno_run_info", "1; the labels say which run it is.",
		prometheus.GaugeValue, []string{"version", "target", "workload"}}
	windowTime = Metric{"dyno_window_seconds",
		"Time since the measured window began, at the end of the last interval.",
		prometheus.GaugeValue, nil}
	offeredRate = Metric{"dyno_offered_rate",
		"Open workload: requests due a second in the last interval; with a scenario, iterations.",
		prometheus.GaugeValue, nil}
	requestsSent = Metric{"dyno_requests_sent_total", "Requests sent; with a scenario, its steps.",
		prometheus.CounterValue, nil}
	requestsCompleted = Metric{"dyno_requests_completed_total", "Requests that were answered rightly.",
		prometheus.CounterValue, nil}
	requestsFailed = Metric{"dyno_requests_failed_total",
		"Requests that failed, answers with a status that is an error included.",
		prometheus.CounterValue, nil}
	requestsInFlight = Metric{"dyno_requests_in_flight", "Requests sent and not answered yet.",
		prometheus.GaugeValue, nil}
	responses = Metric{"dyno_responses_total", "Answers by status code.",
		prometheus.CounterValue, []string{"code"}}
	failuresByKind = Metric{"dyno_failures_total",
		"Failures of connections and requests by phase and kind.",
		prometheus.CounterValue, []string{"phase", "kind"}}
	iterationsCompleted = Metric{"dyno_iterations_completed_total",
		"Scenario: iterations that ended without a failure.", prometheus.CounterValue, nil}
	iterationsFailed = Metric{"dyno_iterations_failed_total", "Scenario: iterations that failed.",
		prometheus.CounterValue, nil}
	iterationTime = Metric{"dyno_iteration_seconds",
		"Scenario: time of iterations that completed, from the intended start to the end.", 0, nil}
	checks = Metric{"dyno_checks_total", "Checks of responses by name and outcome: passed or failed.",
		prometheus.CounterValue, []string{"check", "outcome"}}
	users = Metric{"dyno_users", "Users, where their number changes.",
		prometheus.GaugeValue, nil}
	bytesReceived = Metric{"dyno_received_bytes_total", "Bytes received on connections.",
		prometheus.CounterValue, nil}
	bytesSent = Metric{"dyno_sent_bytes_total", "Bytes sent on connections.",
		prometheus.CounterValue, nil}
	latency = Metric{"dyno_latency_seconds",
		"Latency of requests answered rightly: from the intended start to the end.",
		0, nil}
	errorLatency = Metric{"dyno_error_latency_seconds",
		"Latency of answers that were errors: from the intended start to the end.", 0, nil}
	serviceTime = Metric{"dyno_service_time_seconds",
		"Service time of requests answered rightly: from the actual sending to the end.",
		0, nil}
	firstEvent = Metric{"dyno_first_event_seconds",
		"Streams: time from the intended start to the first event.", 0, nil}
	eventGap = Metric{"dyno_event_gap_seconds",
		"Streams: time between two arrivals of events.", 0, nil}
	eventsReceived = Metric{"dyno_events_total", "Streams: events that count, received in the window.",
		prometheus.CounterValue, nil}
	tokensReceived = Metric{"dyno_tokens_total",
		"Streams: tokens by the server's count, of those that ended in the window.",
		prometheus.CounterValue, nil}
	streamsStalled = Metric{"dyno_streams_stalled_total",
		"Streams that were given up because of a silence.", prometheus.CounterValue, nil}
	streamsCut = Metric{"dyno_streams_cut_total",
		"Streams that had begun and not ended when the run, or their timeout, did.",
		prometheus.CounterValue, nil}
	requestsGood = Metric{"dyno_requests_good_total", "--goodput: requests that kept all limits.",
		prometheus.CounterValue, nil}
	serverCPU = Metric{"dyno_server_cpu_seconds_total",
		"--watch: CPU time of the process and those that it starts, since it was first watched.",
		prometheus.CounterValue, []string{"process"}}
	serverMemory = Metric{"dyno_server_memory_bytes",
		"--watch: memory of the process and those that it starts: PSS, or RSS without it.",
		prometheus.GaugeValue, []string{"process"}}
	generatorBusy = Metric{"dyno_generator_busy_ratio",
		"Share of the last interval in which dyno's busiest thread had something to do.",
		prometheus.GaugeValue, nil}
	generatorLag = Metric{"dyno_generator_send_lag_max_seconds",
		"Open workload: the most by which dyno itself sent late in the last interval.",
		prometheus.GaugeValue, nil}
)

// All is every metric, in the order of the documentation.
func All() []Metric {
	return []Metric{runInfo, windowTime, offeredRate, requestsSent, requestsCompleted,
		requestsFailed, requestsInFlight, responses, failuresByKind, latency, errorLatency,
		serviceTime, bytesReceived, bytesSent, iterationsCompleted, iterationsFailed, iterationTime,
		checks, users, firstEvent, eventGap, eventsReceived, tokensReceived, streamsStalled,
		streamsCut, requestsGood, serverCPU, serverMemory, generatorBusy, generatorLag}
}

func (m Metric) desc() *prometheus.Desc {
	return prometheus.NewDesc(m.Name, m.Help, m.Labels, nil)
}

// bounds are the upper bounds of the buckets of latency, in s: 20 µs to 50 s, three a decade.
var bounds = []float64{0.00002, 0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02,
	0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50}

// A buckets is a histogram of durations.
type buckets struct {
	count uint64
	sum   float64  // s
	upTo  []uint64 // durations up to each of bounds
}

// add adds durations in ns. One that lies across a bound, as a bucket of metric has it, counts as
// its longest: it is off by 0.1 % at most.
func (b *buckets) add(s metric.Sparse) {
	if b.upTo == nil {
		b.upTo = make([]uint64, len(bounds))
	}
	b.count += uint64(s.Count)
	b.sum += s.Sum.Float64() / 1e9
	for ns, n := range s.ValueCounts() {
		first, _ := slices.BinarySearch(bounds, float64(ns)/1e9)
		for i := first; i < len(bounds); i++ {
			b.upTo[i] += uint64(n)
		}
	}
}

// A failureKind is the labels of a failure.
type failureKind struct{ phase, kind string }

// Metrics are the metrics of one run. It is a prometheus.Collector, and may be read while it is
// added to.
type Metrics struct {
	plan      loadplan.Plan
	version   string
	mutex     sync.Mutex
	total     loadresult.Interval // of all intervals; its distributions are empty
	last      loadresult.Interval
	failures  map[failureKind]int64
	latency   buckets
	errors    buckets // latency of errors
	service   buckets
	iteration buckets
	streams   metric.StreamCounts
	first     buckets // of streams
	gap       buckets
	watched   func() []probe.Reading // of the server; nil: it is not watched
}

// NewMetrics returns the metrics of a run of p that has not begun. version is dyno's. What p has of
// secrets is in them; plansecrets.Stored takes it out.
func NewMetrics(p loadplan.Plan, version string) *Metrics {
	m := &Metrics{plan: p, version: version, failures: map[failureKind]int64{}}
	m.total.Checks = make([]metric.Outcomes, len(p.Checks)) // 0 before the first
	return m
}

// Watch has the metrics tell of the server what readings returns. It must be quick.
func (m *Metrics) Watch(readings func() []probe.Reading) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.watched = readings
}

// Add adds an interval.
func (m *Metrics) Add(iv loadresult.Interval) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for _, f := range iv.Failures {
		m.failures[failureKind{string(f.Phase), readable(f.Kind)}] += f.Count
	}
	m.latency.add(iv.Latency)
	m.errors.add(iv.ErrorLatency)
	m.service.add(iv.Served())
	m.iteration.add(iv.IterationTime)
	if s := iv.Stream; s != nil {
		m.streams.AddCounts(&s.StreamCounts)
		m.first.add(s.First())
		m.gap.add(s.Gap())
	}
	m.last = iv
	counts := iv
	counts.Failures = nil // they are in m.failures
	m.total.Add(counts)
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	for _, all := range All() {
		to <- all.desc()
	}
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	value := func(of Metric, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(of.desc(), of.Kind, v, labels...)
	}
	workload := "closed"
	if m.plan.Open() {
		workload = "open"
		value(offeredRate, *offered(&m.plan, m.last))
		value(generatorLag, m.last.LagMax.Seconds())
	}
	value(runInfo, 1, m.version, m.plan.Target.URL, workload)
	value(windowTime, m.last.To.Seconds())
	value(requestsSent, float64(m.total.Sent))
	value(requestsCompleted, float64(m.total.Completed))
	value(requestsFailed, float64(m.total.Failed))
	value(requestsInFlight, float64(m.last.InFlight))
	value(bytesReceived, float64(m.total.Received))
	value(bytesSent, float64(m.total.Written))
	value(generatorBusy, m.last.Busy)
	if m.plan.CountsIterations() {
		value(iterationsCompleted, float64(m.total.Iterations))
		value(iterationsFailed, float64(m.total.IterationsFailed))
		to <- m.iteration.metric(iterationTime)
	}
	m.collectStreams(to, value)
	for _, c := range checkCounts(&m.plan, m.total.Checks) {
		value(checks, float64(c.Passed), c.Name, "passed")
		value(checks, float64(c.Failed), c.Name, "failed")
	}
	if m.plan.Ramps() {
		value(users, float64(m.plan.UsersAt(m.last.To)))
	}
	for code, n := range m.total.Status {
		value(responses, float64(n), strconv.Itoa(int(code)))
	}
	for f, n := range m.failures {
		value(failuresByKind, float64(n), f.phase, f.kind)
	}
	if m.watched != nil {
		for _, tree := range m.watched() {
			if tree.CPU.OK() {
				value(serverCPU, float64(tree.CPU)/1e9, readable(tree.Name))
			}
			if tree.Memory.OK() {
				value(serverMemory, float64(tree.Memory), readable(tree.Name))
			}
		}
	}
	to <- m.latency.metric(latency)
	to <- m.errors.metric(errorLatency)
	to <- m.service.metric(serviceTime)
}

// collectStreams is the part of Collect of streams of events, and of good requests.
func (m *Metrics) collectStreams(to chan<- prometheus.Metric,
	value func(Metric, float64, ...string)) {
	if m.plan.Goodput != "" {
		value(requestsGood, float64(m.total.Good))
	}
	if m.plan.Stream.IsSet() {
		value(eventsReceived, float64(m.streams.Received))
		value(tokensReceived, float64(m.streams.ReceivedTokens))
		value(streamsStalled, float64(m.streams.Stalled))
		value(streamsCut, float64(m.streams.Cut))
		to <- m.first.metric(firstEvent)
		to <- m.gap.metric(eventGap)
	}
}

// readable is a text that a label may have.
func readable(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func (b *buckets) metric(of Metric) prometheus.Metric {
	upTo := make(map[float64]uint64, len(bounds))
	for i, bound := range bounds {
		upTo[bound] = 0
		if b.upTo != nil {
			upTo[bound] = b.upTo[i]
		}
	}
	return prometheus.MustNewConstHistogram(of.desc(), b.count, b.sum, upTo)
}
