package fleet

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/result"
)

// Limits of what a machine and a load can do: CPUs, and retries of one request (load gives up
// before).
const (
	cpusMax    = 1 << 13
	retriesMax = 128
)

// A claim is a number that only the final has, and that the controller checks against what is
// possible: it must be between 0 and max. what is what it counts, with its unit, and stands after
// the number.
type claim struct {
	what       string
	value, max float64
}

// checkPlausible returns why numbers of a final cannot be true, or nil. It knows the time that
// passed by the controller's clock, the plan, the reports and the machine. all is how long the
// load can have lasted, in seconds: warm-up, window and drain.
func (r *fleetRun) checkPlausible(m *member, part *result.Result, all float64) error {
	q, open := part.Requests, r.plan.Open()
	switch loadresult.Ending(part.Ended) {
	case loadresult.ByDuration:
		if whole := time.Duration(m.part.Duration).Seconds(); part.Window.MeasuredS != whole {
			return fmt.Errorf("its result is of %v s, and says that it went on for all %v s",
				part.Window.MeasuredS, whole)
		}
	case loadresult.Interrupted, loadresult.Aborted:
		if !r.stopped && m.lost == "" {
			return errors.New("its load ended early, and nobody had it end")
		}
	case loadresult.ByRequests, loadresult.Gone, loadresult.Unserved, loadresult.Unreachable:
	case loadresult.Stopped, loadresult.Faulted:
		if r.plan.Script == nil {
			return errors.New("a script ended its load, and the plan has none")
		}
	default:
		return errors.New("its load ended in a way that there is not")
	}
	told := []bool{q.Late != nil, q.SentAfter != nil, q.LateMax != nil}
	if !r.plan.CountsIterations() { // else they are those of iterations
		told = append(told, q.Due != nil, q.Waiting != nil)
	}
	if slices.Contains(told, !open) {
		return errors.New("its result is of another model of load")
	}
	if err := r.checkScenario(part); err != nil {
		return err
	}
	for _, c := range slices.Concat(m.timeClaims(part, all), r.countClaims(m, part, all),
		m.costClaims(part, all), probeClaims(m.part, part, all), r.scenarioClaims(m, part, all)) {
		if c.value < 0 || c.value > c.max {
			return fmt.Errorf("its result cannot be true: %.6g %s, and possible are 0 to %.6g", c.value,
				c.what, c.max)
		}
	}
	if !sameDistribution(m.reported.service, part.Service) {
		return errors.New("its service times are not those that it has reported")
	}
	return nil
}

// longestWindow returns how long a window can be that began at most elapsed seconds ago, in
// seconds. With a number of requests, it ends with the last reported second, or when the schedule
// has the next request.
func (m *member) longestWindow(elapsed float64) float64 {
	p := m.part
	if p.Duration > 0 {
		return min(elapsed, time.Duration(p.Duration).Seconds())
	}
	most := min(elapsed, m.reported.sum.To.Seconds()+1) // an empty interval is not reported
	if p.Open() {
		const gaps = 64 // of a Poisson law one in 10²⁷ is as long
		most += gaps / max(p.Offered().PerSecond(), 1e-3)
	}
	return most
}

// timeClaims returns the claims about durations.
func (m *member) timeClaims(part *result.Result, all float64) (claims []claim) {
	const us, edge = 1e6, 1.01 // histograms are exact to a hundredth
	w, g := part.Window, part.Generator
	claims = []claim{
		{"s of warm-up", w.WarmupS, time.Duration(m.part.Warmup).Seconds() + 1e-6},
		{"s of the window without a server", w.OutageS, w.MeasuredS + 1},
		{"s of the window without connections", w.UnavailableS, w.MeasuredS + 1},
		{"s at most without a connection", w.UnavailableLongestS, w.MeasuredS + 1},
		{"s until there were no connections", valueOrZero(w.UnavailableFromS), w.MeasuredS + 1},
		{"µs late at most", valueOrZero(part.Requests.LateMax), all * us},
		{"µs of garbage collection at most", g.GCPauseMax, all * us},
		{"µs without running at most", g.StopMax, all * us},
		{"s stood still", g.StoodStillS, all},
		{"µs stood still at most", g.StoodStillMax, all * us},
		{"s until it stood still", valueOrZero(g.StoodStillFromS), all},
		{"µs until a goroutine ran", g.SchedulingP99, all * us * edge},
		{"µs until a thread ran", g.CPUWait, all * us},
		{"µs sent late by half", valueOrZero(g.SendLagP50), all * us * edge},
		{"µs sent late by 1 %", valueOrZero(g.SendLagP99), all * us * edge},
		{"µs sent late by 1 in 1,000", valueOrZero(g.SendLagP999), all * us * edge},
		{"µs sent late at most", valueOrZero(g.SendLagMax), all * us},
	}
	opening := all + time.Duration(m.part.Connecting).Seconds() +
		orderTimeout.Seconds() // before the load
	for what, d := range map[string]*result.Distribution{"a look-up": part.Phases.DNS,
		"a connection": part.Phases.Connect, "a handshake": part.Phases.TLS,
		"a full handshake": part.Phases.TLSFull, "a resumed handshake": part.Phases.TLSResumed,
		"a first byte": part.Phases.FirstByte} {
		if d != nil {
			claims = append(claims, claim{"µs for " + what, d.Max, opening * us})
		}
	}
	for _, route := range part.Routes {
		claims = append(claims, claim{"µs on average of a route", route.Mean, all * us * edge},
			claim{"µs at p50 of a route", route.P50, all * us * edge},
			claim{"µs at p90 of a route", route.P90, all * us * edge},
			claim{"µs at p99 of a route", route.P99, all * us * edge},
			claim{"µs at most of a route", route.Max, all * us * edge})
	}
	return claims
}

// countClaims returns the claims about counts.
func (r *fleetRun) countClaims(m *member, part *result.Result, all float64) (claims []claim) {
	q, c, w := part.Requests, part.Connections, part.Window
	sent, dialed := float64(q.Sent), float64(c.Asked)+countPerSecondMax*all
	warm := countPerSecondMax * w.WarmupS
	if r.plan.Open() {
		claims = append(claims, claim{"requests sent late", float64(*q.Late), sent},
			claim{"requests sent after the window", float64(*q.SentAfter), sent})
	}
	steps := len(m.part.Steps) // as many as the scenario likes
	if r.plan.Open() && steps == 0 {
		peak := r.peakOf(m)
		warm = arrivalsMax(peak, w.WarmupS)
		claims = append(claims, claim{"requests due", float64(*q.Due), arrivalsMax(peak, w.MeasuredS)},
			claim{"requests never sent", float64(*q.Waiting), float64(*q.Due)})
	}
	if m.part.Requested > 0 && steps == 0 {
		claims = append(claims, claim{"requests", sent, float64(m.part.Requested)})
	}
	handshakes := countOrZero(c.TLSFull) + countOrZero(c.TLSResumed)
	follow := float64(m.part.Follow)
	claims = append(claims, claim{"requests sent again", float64(q.Retried), retriesMax * sent},
		claim{"redirects followed", float64(q.Redirects), follow * sent},
		claim{"redirects followed before the window", float64(q.WarmupRedirects), follow * warm},
		claim{"requests before the window", float64(q.Warmup), warm},
		claim{"requests lost before the window", float64(q.WarmupLost), float64(q.Warmup)},
		claim{"requests held through the window", float64(q.Held), float64(q.Warmup)},
		claim{"requests of the warm-up answered in the window", float64(q.WarmupInWindow),
			float64(q.Warmup)},
		claim{"requests delayed as it stood still", float64(part.Generator.Delayed), sent},
		claim{"steps after the window", float64(q.StepsAfter),
			countPerSecondMax * min(all, float64(steps)*all)},
		claim{"steps failed after the window", float64(q.FailedAfter), float64(q.StepsAfter)},
		claim{"connections asked for", float64(c.Asked), float64(m.part.Connections)},
		claim{"connections that served", float64(c.Served), float64(c.Asked)},
		claim{"connections opened", float64(c.Opened), dialed},
		claim{"connections opened again", float64(c.Reconnects), float64(c.Opened)},
		claim{"handshakes", handshakes, dialed},
		claim{"routes", float64(len(part.Routes)),
			float64(min(max(m.part.Asks(), steps), loadresult.RoutesMax))})
	for _, n := range c.Protocols {
		claims = append(claims, claim{"connections of a protocol", float64(n), float64(c.Opened)})
	}
	for _, t := range c.TLS {
		claims = append(claims, claim{"handshakes of one kind", float64(t.Count), handshakes})
	}
	for _, route := range part.Routes {
		claims = append(claims,
			claim{"requests of a route completed", float64(route.Completed), float64(q.Completed)},
			claim{"requests of a route failed", float64(route.Errors), float64(q.Errors)})
	}
	for _, e := range part.Errors {
		claims = append(claims, claim{"failures of a kind", float64(e.Count),
			dialed + countPerSecondMax*all}, claim{"status of an error", float64(e.Status), 999})
	}
	if c.Streams != nil {
		claims = append(claims, claim{"streams at once", float64(*c.Streams), loadplan.MaxStreams})
	}
	return append(append(claims, unansweredClaims(m.part, part, all)...),
		r.rateClaims(m, part, handshakes)...)
}

// unansweredClaims returns the claims about waits for answers that did not come.
func unansweredClaims(p loadplan.Plan, part *result.Result, all float64) (claims []claim) {
	const s = 1e9 // ns
	q, slots := part.Requests, float64(p.Connections*p.Depth())
	claims = []claim{{"kinds of waits", float64(len(q.Unanswered)), loadresult.WaitsMost}}
	waited := q.Waited
	if part.Iterations != nil {
		waited = slices.Concat(waited, part.Iterations.Waited)
	}
	for _, b := range waited {
		claims = append(claims, claim{"µs until it was given up", b.US, all * 1e6})
	}
	for _, w := range q.Unanswered[:min(len(q.Unanswered), loadresult.WaitsMost)] {
		claims = append(claims, claim{"ns until it gave up", float64(w.After), all * s},
			claim{"requests without an answer", float64(w.Requests), float64(q.Errors + q.Unfinished)},
			claim{"requests without all of an answer", float64(w.Begun), float64(w.Requests)},
			claim{"ns of slots without an answer", float64(w.Slots),
				slots * (part.Window.MeasuredS + 1) * s},
			claim{"ns of slots without all of one", float64(w.SlotsBegun), float64(w.Slots)})
	}
	return claims
}

// rateClaims returns the claims about rates in the window. Outside the window are requests that
// were sent after it, which an open workload counts, and answers to them and to those that were in
// flight at its end.
func (r *fleetRun) rateClaims(m *member, part *result.Result, handshakes float64) (claims []claim) {
	const rounded = 1.001 // and one more
	q, in := part.Requests, part.Window.MeasuredS
	late, early := countOrZero(q.SentAfter), m.reported.sum.EarlyCounts
	after := late + float64(m.part.Connections*m.part.Depth())
	if !r.plan.Open() {
		late = after
	}
	if len(m.part.Steps) > 0 { // the last iterations of users may have any number of steps
		late, after = float64(q.Sent), float64(q.Sent)
	}
	if in == 0 {
		return nil // all rates are 0, or of nothing
	}
	for _, x := range []struct {
		what           string
		rate, n, after float64
	}{
		{"requests sent in the window", part.Rate.Sent, float64(q.Sent), late},
		{"requests completed in the window", part.Rate.Completed, float64(q.Completed + early.Early),
			after},
		{"errors in the window", valueOrZero(part.Rate.ErrorAnswers),
			float64(part.ErrorAnswers() + early.EarlyErrors), after},
	} {
		claims = append(claims, claim{x.what, x.rate * in, x.n*rounded + 1 + in},
			claim{"fewer " + x.what, max(x.n-x.rate*in, 0), x.after + x.n*(rounded-1) + 1 + in})
	}
	return append(claims, claim{"handshakes in the window", valueOrZero(part.Rate.Handshakes) * in,
		handshakes*rounded + 1 + in})
}

// costClaims returns the claims about what the load took of its machine.
func (m *member) costClaims(part *result.Result, all float64) []claim {
	g, in := part.Generator, part.Window.MeasuredS
	cpu := all * float64(min(max(m.hello.Host.CPUs, 1), cpusMax)) // s
	busy := 100.0
	if g.Ring == loadplan.HTTP3Ring && in > 0 { // of all its CPUs, also after the window
		busy = 100 * all / in
	}
	spans, a2, off := 0.0, 0.0, 0.0
	if a := g.Arrivals; a != nil {
		spans, a2, off = float64(a.Spans), valueOrZero(a.A2), valueOrZero(a.OffP95)
	}
	return []claim{
		{"s of CPU", g.CPUPercent / 100 * in, cpu},
		{"s of CPU in requests", g.CPUPerRequest / 1e6 * part.Rate.AnswersPerSecond() * in, cpu},
		{"% busy", g.BusyPercent, busy},
		{"% waiting for a CPU", g.Unscheduled, 100},
		{"local ports", float64(g.LocalPorts), 1 << 16},
		{"threads", float64(g.Threads), float64(min(m.part.Connections, loadplan.MaxThreads))},
		{"spans between arrivals", spans, float64(part.Requests.Sent)},
		{"as A² of the arrivals", a2, 16 * spans}, // each value as far off as it can be
		{"% off the law", off, float64(all) * 1e9 * 100},
	}
}

// probeWindowMin is how short the window of a probe with requests can be, in seconds: no connection
// carries one and is lost within a microsecond.
const probeWindowMin = 1e-6

// probeClaims returns the claims about the probe, the light load that runs with the main one.
func probeClaims(p loadplan.Plan, part *result.Result, all float64) []claim {
	b := part.Probe
	if b == nil {
		return nil
	}
	q, in := b.Requests, part.Window.MeasuredS
	most := arrivalsMax(p.Probe.PerSecond(), all)
	sent, completed := claim{"requests of the probe in the window", b.Rate.Sent * in, most + 1 + in},
		claim{"requests of the probe completed in the window", b.Rate.Completed * in, most + 1 + in}
	if len(b.Errors) > 0 { // its window may be its own: until all its connections were lost
		sent = claim{"requests of the probe in a microsecond", b.Rate.Sent * probeWindowMin,
			float64(q.Sent)}
		completed = claim{"requests of the probe completed in a microsecond",
			b.Rate.Completed * probeWindowMin, float64(q.Completed)}
	}
	claims := []claim{
		{"requests of the probe", float64(q.Sent), most},
		{"requests of the probe completed", float64(q.Completed), float64(q.Sent)},
		{"requests of the probe failed", float64(q.Errors), float64(q.Sent - q.Completed)},
		{"requests of the probe due", countOrZero(q.Due), most},
		{"requests of the probe never sent", countOrZero(q.Waiting), most},
		{"requests of the probe sent late", countOrZero(q.Late), float64(q.Sent)},
		{"connections of the probe", float64(b.Connections.Asked), float64(p.ProbeConnections())},
		sent, completed,
		{"µs late at most of the probe", valueOrZero(b.SendLagMax), all * 1e6},
	}
	for _, d := range []*result.Distribution{b.Latency, b.Service, b.ErrorLatency} {
		if d != nil {
			claims = append(claims, claim{"latencies of the probe", float64(d.Count), float64(q.Sent)},
				claim{"µs of latency of the probe", d.Max, all * 1e6})
		}
	}
	return claims
}

// arrivalsMax returns how many arrivals are possible in so many seconds at a rate: ten standard
// deviations of a Poisson process above the mean.
func arrivalsMax(rate, seconds float64) float64 {
	n := rate * seconds
	return n + 10*math.Sqrt(n) + 10
}

// valueOrZero and countOrZero return 0 for a value that is absent.
func valueOrZero(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}

func countOrZero(n *int64) float64 {
	if n == nil {
		return 0
	}
	return float64(*n)
}
