package result

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/fact"
	"dyno/internal/result/durations"
	"dyno/internal/result/runfacts"
)

// startsApart is how far apart the starts of parts may lie until a reader is told.
const startsApart = 100 * time.Millisecond

// Merge makes one result of the results of generators that loaded at once, each with its part of
// one plan (see loadplan.Plan.Split). Counts add up. Percentiles are those of all requests, from
// the sum of the histograms. What the parts do not keep, the whole does not have: percentiles of a
// second or a route that several parts served are absent, and the send lag at p99 is that of the
// worst part. The window begins with the first part's and is as long as the longest.
func Merge(all []*Result) (*Result, error) {
	plans := make([]loadplan.Plan, len(all))
	for i, r := range all {
		plans[i] = r.Plan
		if err := r.checkSums(); err != nil {
			return nil, fmt.Errorf("merging results: %w", err)
		}
	}
	plan, err := loadplan.Join(plans)
	if err != nil {
		return nil, fmt.Errorf("merging results: %w", err)
	}
	all = slices.SortedFunc(slices.Values(all), func(a, b *Result) int {
		return cmp.Compare(a.Plan.Part, b.Plan.Part)
	})
	m := &Result{Format: Format, Dyno: all[0].Dyno, Plan: plan, Model: all[0].Model,
		Host: all[0].Host, Traffic: Traffic{Status: map[string]int64{}, Errors: []Error{}},
		Series: []Point{}}
	m.Ended, m.Cause = mergeEnds(all)
	m.Window = mergeWindows(all)
	m.addCounts(all)
	m.mergeSeries(all)
	m.setSeriesUsers()
	m.mergeRoutes(all)
	if err := cmp.Or(m.mergeScenario(all), m.mergeDistributions(all)); err != nil {
		return nil, fmt.Errorf("merging results: %w", err)
	}
	m.mergeGenerators(all)
	if plan.Open() {
		if !plan.CountsIterations() {
			offered := plan.Offered().PerSecond()
			m.Rate.Offered = &offered
		}
	} else {
		m.setClosed()
		if m.Connections.Asked < plan.Connections { // a part did not report its connections
			m.Generator.Little = nil
		}
	}
	m.countUnanswered(all)
	m.judgeGenerators(all)
	m.Warnings = slices.Concat(mergedNotices(all), noteUnknownIterations(m, all), warnings(m))
	found := make([][]fact.Fact, len(all))
	for i, r := range all {
		found[i] = r.Facts
	}
	m.addRunFacts(runfacts.Merge(found, m.seconds()))
	m.Facts = append(m.Facts, cautions(m)...)
	return m, nil
}

// mergeEnds is why the parts ended. While one continues, the load does; the ends of the others are
// among the reasons.
func mergeEnds(all []*Result) (ended, cause string) {
	order := []loadresult.Ending{loadresult.Lost, loadresult.Unreachable, loadresult.Gone,
		loadresult.Unserved, loadresult.ByRequests, loadresult.Stopped, loadresult.ByDuration,
		loadresult.Aborted, loadresult.Interrupted, loadresult.Faulted}
	last := slices.MaxFunc(all, func(a, b *Result) int {
		return cmp.Compare(slices.Index(order, loadresult.Ending(a.Ended)),
			slices.Index(order, loadresult.Ending(b.Ended)))
	})
	return last.Ended, last.Cause
}

// mergeWindows is the window of all parts.
func mergeWindows(all []*Result) Window {
	w := slices.MinFunc(whoseWindowBegan(all), compareBegin).Window
	connections := 0
	w.UnavailableS, w.UnavailableLongestS, w.UnavailableFromS = 0, 0, nil
	for _, r := range all {
		w.MeasuredS = max(w.MeasuredS, r.Window.MeasuredS)
		w.DrainedS = max(w.DrainedS, r.Window.DrainedS)
		w.OutageS = min(w.OutageS, r.Window.OutageS) // there is no outage while one part has a connection
		if r.Connections.Asked == 0 {
			continue // it did not report its connections
		}
		connections += r.Plan.Connections
		w.UnavailableS += r.Window.UnavailableS * float64(r.Plan.Connections)
		if longest := r.Window.UnavailableLongestS; longest > w.UnavailableLongestS {
			w.UnavailableLongestS, w.UnavailableFromS = longest, r.Window.UnavailableFromS
		}
	}
	w.UnavailableS = toMicroseconds(1e9*w.UnavailableS/float64(max(connections, 1))) / 1e6
	return w
}

// whoseWindowBegan are the parts whose window began, which decide when the load began; all parts if
// none did.
func whoseWindowBegan(all []*Result) []*Result {
	never := func(r *Result) bool { return r.Window.MeasuredS == 0 }
	some := slices.DeleteFunc(slices.Clone(all), never)
	if len(some) == 0 {
		return all
	}
	return some
}

// windowBegin is when the window began.
func (r *Result) windowBegin() time.Time {
	return r.Window.Started.Add(time.Duration(r.Window.WarmupS * 1e9))
}

// compareBegin compares when windows began.
func compareBegin(a, b *Result) int { return a.windowBegin().Compare(b.windowBegin()) }

// countInWindow is how many requests or iterations a rate of r stands for.
func (r *Result) countInWindow(rate float64) int64 {
	return int64(math.Round(rate * r.Window.MeasuredS))
}

// length is how long the window was.
func (w Window) length() time.Duration { return time.Duration(math.Round(w.MeasuredS * 1e9)) }

// addCounts adds up all counts.
func (m *Result) addCounts(all []*Result) {
	var sent, completed, wrong, shaken int64 // in the window, as rates count
	var handshakes, errors *float64
	place := map[Error]int{}
	for _, r := range all {
		m.Probe = cmp.Or(m.Probe, r.Probe) // only one part has it
		sent += r.countInWindow(r.Rate.Sent)
		completed += r.countInWindow(r.Rate.Completed)
		if r.Rate.ErrorAnswers != nil {
			wrong += r.countInWindow(*r.Rate.ErrorAnswers)
			errors = new(float64)
		}
		if r.Rate.Handshakes != nil {
			shaken += r.countInWindow(*r.Rate.Handshakes)
			handshakes = new(float64)
		}
		m.Requests.Add(r.Requests)
		m.Retries.AddRetries(r.Retries)
		for code, n := range r.Status {
			m.Status[code] += n
		}
		m.Bytes.Sent += r.Bytes.Sent
		m.Bytes.Received += r.Bytes.Received
		m.Bytes.Bodies += r.Bytes.Bodies
		m.Connections.addPart(r.Connections)
		m.FCGIStderr = m.FCGIStderr.addPart(r.FCGIStderr)
		for _, e := range r.Errors {
			m.countError(e, place)
		}
	}
	sortErrors(m.Errors)
	length := m.Window.length()
	if handshakes != nil {
		*handshakes = perSecond(shaken, length)
	}
	if errors != nil {
		*errors = perSecond(wrong, length)
	}
	m.Rate = Rate{Sent: perSecond(sent, length), Completed: perSecond(completed, length),
		Handshakes:   handshakes,
		ErrorAnswers: errors}
}

// Add adds the counts of part. LateMax is that of the later one.
func (q *Requests) Add(part Requests) {
	q.Sent += part.Sent
	q.Completed += part.Completed
	q.Errors += part.Errors
	q.Unfinished += part.Unfinished
	q.Held += part.Held
	q.Unanswered = slices.Clone(q.Unanswered)
	q.Unanswered.AddAll(part.Unanswered)
	q.Retried += part.Retried
	q.AddRedirects(part.RedirectTotals)
	q.Warmup += part.Warmup
	q.WarmupLost += part.WarmupLost
	q.WarmupInWindow += part.WarmupInWindow
	q.Due = addPresent(q.Due, part.Due)
	q.Waiting = addPresent(q.Waiting, part.Waiting)
	q.Waited = durations.Together(slices.Concat(q.Waited, part.Waited)...)
	q.Late = addPresent(q.Late, part.Late)
	q.SentAfter = addPresent(q.SentAfter, part.SentAfter)
	q.StepsAfter += part.StepsAfter
	q.FailedAfter += part.FailedAfter
	q.LateMax = maxPresent(q.LateMax, part.LateMax)
}

func (c *Connections) addPart(part Connections) {
	c.Asked += part.Asked
	c.Opened += part.Opened
	c.Served += part.Served
	c.Reconnects += part.Reconnects
	c.TLSFull = addPresent(c.TLSFull, part.TLSFull)
	c.TLSResumed = addPresent(c.TLSResumed, part.TLSResumed)
	for _, t := range part.TLS {
		same := func(known Terms) bool { known.Count = t.Count; return known == t }
		if i := slices.IndexFunc(c.TLS, same); i >= 0 {
			c.TLS[i].Count += t.Count
		} else {
			c.TLS = append(c.TLS, t)
		}
	}
	sortTerms(c.TLS)
	for name, n := range part.Protocols {
		if c.Protocols == nil {
			c.Protocols = map[string]int64{}
		}
		c.Protocols[name] += n
	}
	if c.Streams == nil || part.Streams != nil && *part.Streams > *c.Streams {
		c.Streams = part.Streams
	}
}

// addPart adds up the bytes and keeps the first text.
func (e *Stderr) addPart(part *Stderr) *Stderr {
	if e == nil || part == nil {
		return cmp.Or(e, part)
	}
	return &Stderr{cmp.Or(e.Text, part.Text), e.Bytes + part.Bytes}
}

// addPresent is the sum of the values that are present; nil if neither is.
func addPresent(a, b *int64) *int64 {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	n := *a + *b
	return &n
}

// countError adds e to the errors of the same kind, whose index is in place.
func (m *Result) countError(e Error, place map[Error]int) {
	kind := e
	if kind.Count, kind.Sample = 0, ""; e.Phase != string(loadresult.Expect) {
		kind.Detail = ""
	}
	at, known := place[kind]
	if !known {
		place[kind] = len(m.Errors)
		m.Errors = append(m.Errors, e)
		return
	}
	m.Errors[at].Count += e.Count
	m.Errors[at].Sample = cmp.Or(m.Errors[at].Sample, e.Sample)
}

// mergeSeries adds up the seconds: all windows begin together.
func (m *Result) mergeSeries(all []*Result) {
	for _, r := range all {
		for i, p := range r.Series {
			if i == len(m.Series) {
				m.Series = append(m.Series, Point{})
			}
			m.Series[i].addPart(p)
		}
	}
	if len(all) > 1 && len(all)*len(m.Series) <= byPartMost {
		m.notePartRates(all)
	}
}

// byPartMost is how many counts by part a series has at most, about a megabyte of JSON: an hour of
// 36 generators, eleven minutes of 200. A longer series has none.
const byPartMost = 1 << 17

// notePartRates sets what each part completed in each interval. The sum does not show which part
// was slow or stopped.
func (m *Result) notePartRates(all []*Result) {
	for i := range m.Series {
		by := make([]*int64, len(all))
		for k, r := range all {
			if i < len(r.Series) {
				n := r.Series[i].Completed
				by[k] = &n
			}
		}
		m.Series[i].ByPart = by
	}
}

func (p *Point) addPart(part Point) {
	switch {
	case p.Completed == 0:
		p.P50, p.P99 = part.P50, part.P99
	case part.Completed > 0:
		p.P50, p.P99 = 0, 0 // unknown
	}
	p.Mean = weightedMean(p.Mean, p.Completed, part.Mean, part.Completed)
	p.T, p.Max = max(p.T, part.T), max(p.Max, part.Max)
	p.Sent += part.Sent
	p.Completed += part.Completed
	p.Errors += part.Errors
	p.AddEarly(part.EarlyCounts)
	p.InFlight += part.InFlight
	p.Iterations += part.Iterations
	p.IterationsFailed += part.IterationsFailed
	p.Received += part.Received
	p.Written += part.Written
	p.Heat = p.Heat.Plus(part.Heat)
	for code, n := range part.Status {
		if p.Status == nil {
			p.Status = map[string]int64{}
		}
		p.Status[code] += n
	}
}

// weightedMean is the mean of n values with mean a and k values with mean b, both in µs.
func weightedMean(a float64, n int64, b float64, k int64) float64 {
	if n+k == 0 {
		return 0
	}
	return toMicroseconds(1e3 * (a*float64(n) + b*float64(k)) / float64(n+k))
}

func (m *Result) mergeRoutes(all []*Result) {
	place := map[string]int{}
	for _, r := range all {
		for _, route := range r.Routes {
			at, known := place[route.Name]
			if !known {
				at = len(m.Routes)
				place[route.Name] = at
				m.Routes = append(m.Routes, Route{Name: route.Name})
			}
			m.Routes[at].addPart(route)
		}
	}
}

func (r *Route) addPart(part Route) {
	switch {
	case r.Completed == 0:
		r.P50, r.P90, r.P99 = part.P50, part.P90, part.P99
	case part.Completed > 0:
		r.P50, r.P90, r.P99 = 0, 0, 0 // unknown
	}
	r.Mean = weightedMean(r.Mean, r.Completed, part.Mean, part.Completed)
	r.Max, r.Over = max(r.Max, part.Max), r.Over.With(part.Over)
	r.Completed += part.Completed
	r.Errors += part.Errors
}

// distributions are all distributions of a result, with their names.
var distributions = []struct {
	of string
	at func(*Result) **Distribution
}{
	{"latency", func(r *Result) **Distribution { return &r.Latency }},
	{"service", func(r *Result) **Distribution { return &r.Service }},
	{"error latency", func(r *Result) **Distribution { return &r.ErrorLatency }},
	{"dns", func(r *Result) **Distribution { return &r.Phases.DNS }},
	{"connect", func(r *Result) **Distribution { return &r.Phases.Connect }},
	{"tls", func(r *Result) **Distribution { return &r.Phases.TLS }},
	{"full tls", func(r *Result) **Distribution { return &r.Phases.TLSFull }},
	{"resumed tls", func(r *Result) **Distribution { return &r.Phases.TLSResumed }},
	{"first byte", func(r *Result) **Distribution { return &r.Phases.FirstByte }},
	{"iteration", func(r *Result) **Distribution { return &r.iterations().Time }},
	{"failed iteration", func(r *Result) **Distribution { return &r.iterations().FailedTime }},
}

// Mergeable returns why Merge cannot add r to other results, whatever these are; nil if it can.
func (r *Result) Mergeable() error {
	if err := r.checkSums(); err != nil {
		return err
	}
	for _, d := range distributions {
		if err := (*d.at(r)).Mergeable(d.of); err != nil {
			return err
		}
	}
	return nil
}

func (m *Result) mergeDistributions(all []*Result) (err error) {
	for _, d := range distributions {
		var parts []*Distribution
		for _, r := range all {
			parts = append(parts, *d.at(r))
		}
		if *d.at(m), err = durations.Merge(parts); err != nil {
			return fmt.Errorf("the %s histogram: %w", d.of, err)
		}
	}
	return nil
}

// maxPresent is the larger of the values that are present; nil if neither is.
func maxPresent(a, b *float64) *float64 {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

// mergeGenerators adds up what the generators used.
func (m *Result) mergeGenerators(all []*Result) {
	g := &m.Generator
	var completed int64
	var rings []string
	for _, r := range all {
		part := r.Generator
		n := r.countInWindow(r.Rate.AnswersPerSecond())
		if r.Connections.Asked == 0 { // its threads are unknown too
			n = 0
		}
		g.CPUPerRequest = weightedMean(g.CPUPerRequest, completed, part.CPUPerRequest, n)
		completed += n
		if m.Window.MeasuredS > 0 {
			g.CPUPercent += part.CPUPercent * r.Window.MeasuredS / m.Window.MeasuredS
		}
		g.BusyPercent = max(g.BusyPercent, part.BusyPercent)
		g.ScenarioPercent = maxPresent(g.ScenarioPercent, part.ScenarioPercent)
		g.SendLagP50 = maxPresent(g.SendLagP50, part.SendLagP50)
		g.SendLagP99 = maxPresent(g.SendLagP99, part.SendLagP99)
		g.SendLagP999 = maxPresent(g.SendLagP999, part.SendLagP999)
		g.SendLagMax = maxPresent(g.SendLagMax, part.SendLagMax)
		g.GCPauseMax = max(g.GCPauseMax, part.GCPauseMax)
		g.StopMax = max(g.StopMax, part.StopMax)
		g.SchedulingP99 = max(g.SchedulingP99, part.SchedulingP99)
		g.Unscheduled = max(g.Unscheduled, part.Unscheduled)
		g.CPUWait = max(g.CPUWait, part.CPUWait)
		g.LocalPorts = max(g.LocalPorts, part.LocalPorts)
		g.Standstill.addWorst(part.Standstill)
		g.Arrivals = worseArrivals(g.Arrivals, part.Arrivals)
		g.Threads += part.Threads
		if part.Ring != "" && !slices.Contains(rings, part.Ring) {
			rings = append(rings, part.Ring)
		}
	}
	g.CPUPercent = roundHundredths(g.CPUPercent)
	g.Ring = strings.Join(rings, "+")
}

// worseArrivals is the one that is further from its distribution, relative to its number of spans.
func worseArrivals(a, b *Arrivals) *Arrivals {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	if b.lawDistance() > a.lawDistance() {
		return b
	}
	return a
}

// mergedNotices are the warnings that the parts had before they were judged, each once, and a
// warning if they did not begin together.
func mergedNotices(all []*Result) (said []string) {
	first := slices.MinFunc(whoseWindowBegan(all), compareBegin).windowBegin()
	last := slices.MaxFunc(whoseWindowBegan(all), compareBegin).windowBegin()
	for _, r := range all {
		known := append(warnings(r), runfacts.Sentences(r.Facts)...)
		for _, w := range r.Warnings {
			if !slices.Contains(known, w) && !slices.Contains(said, w) {
				said = append(said, w)
			}
		}
	}
	if apart := last.Sub(first); apart > startsApart {
		said = append(said, fmt.Sprintf("the generators began %v apart: for so long at both ends "+
			"of the window not all of them loaded", formatMicroseconds(float64(apart.Microseconds()))))
	}
	return said
}
