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
	"dyno/internal/engine/metric"
	"dyno/internal/fact"
	"dyno/internal/redact"
	"dyno/internal/result/durations"
	"dyno/internal/result/plansecrets"
	"dyno/internal/result/runfacts"
	"dyno/internal/result/streamed"
	"dyno/internal/result/unanswered"
	"dyno/internal/say"
)

// From converts what a run counted into the stored form, and judges the generator, or those of its
// parts. The plan has plain marks in place of secrets: see RestorePlan. version is the version of
// dyno that measured. An error means that the requests of the plan could not be written as JSON, or
// that parts do not add up: faults of dyno.
func From(r *loadresult.Result, version string) (*Result, error) {
	plan, err := StoredPlan(r.Plan)
	if err != nil {
		return nil, err
	}
	var parts []*Result
	for _, p := range r.Parts {
		part, err := OfPart(p, plan, version)
		if err == nil {
			err = part.CheckSums()
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return FromParts(r, parts, plan, version)
}

// StoredPlan is a plan as From stores it.
func StoredPlan(p loadplan.Plan) (loadplan.Plan, error) {
	stored := plansecrets.Stored(p, redact.PlainMark)
	return stored, stored.SetData()
}

// FromParts is From of a load whose plan and parts were converted before.
func FromParts(r *loadresult.Result, parts []*Result, plan loadplan.Plan, version string) (
	*Result, error) {
	out, err := newResult(r, plan, version)
	if err != nil {
		return nil, err
	}
	if parts == nil {
		parts = []*Result{out}
	}
	out.countUnanswered(parts)
	out.setRoutes(r, parts)
	out.judgeGenerators(parts)
	out.Warn(slices.Concat(r.Notices, apartFacts(r), unknownIterations(out, parts),
		untimedRoutes(r), cautions(out), runfacts.Of(r))...)
	return out, nil
}

// newResult converts what r counted, but for what was not answered and what a reader must know.
func newResult(r *loadresult.Result, plan loadplan.Plan, version string) (*Result, error) {
	total := r.Total
	if total == nil { // nothing was ever sent
		total = metric.NewCounters()
	}
	out := &Result{Format: Format, Dyno: version, Plan: plan,
		Model: ClosedLoop, Ended: string(r.Ended),
		Window: Window{Rates: RatesEnded, Started: r.Started.UTC(), WarmupS: r.Warmed.Seconds(),
			MeasuredS: r.Measured.Seconds(), DrainedS: r.Drained.Seconds(),
			OutageS: time.Duration(r.Outage).Seconds()},
		Requests: Requests{Sent: total.Sent, Completed: total.Completed, Errors: total.Failed,
			Unfinished: r.Unfinished, Retried: r.Retried, Warmup: r.Warmup,
			WarmupLost: r.WarmupLost, WarmupInWindow: total.Early + total.EarlyErrors,
			Held: r.Held, Unanswered: r.Unanswered, RedirectTotals: r.RedirectTotals},
		Rate: Rate{Sent: perSecond(total.Sent-r.SentAfter, r.Measured),
			Completed:  perSecond(total.Completed+total.Early-r.CompletedAfter, r.Measured),
			Handshakes: handshakeRate(r), ErrorAnswers: errorAnswerRate(r, total)},
		Traffic: Traffic{Status: countByStatus(total), Errors: NewErrors(r.Failures),
			Bytes:       Bytes{total.Written, total.Received, total.Bodies},
			Connections: newConnections(r), Retries: r.Retries, NotRetried: r.NotRetried,
			Samples: r.Samples},
		Series:    newPoints(r.Intervals),
		Generator: newGenerator(r, total),
		Observed:  Observed{FCGIStderr: newStderr(r)},
	}
	if out.Host = ThisHost(); r.Host != nil {
		out.Host = *r.Host
	}
	if len(r.Samples) > 0 {
		marked := Result{Traffic: out.Traffic} // whose errors are out's
		marked.redactSamples(plansecrets.NewAnswers(r.Plan, redact.PlainMark, r.Samples), unchanged)
	}
	out.setDistributions(r, total)
	out.Stream, out.Generator.ReadLagP99 = streamed.From(r.Plan.Stream.Format, total.Stream,
		r.Rain, r.Measured)
	out.Goodput = streamed.NewGoodput(r.Plan.Goodput, total.GoodCounts, total.Sent+r.Waiting,
		r.Measured)
	out.setScenario(r)
	var err error
	if out.Probe, err = newProbe(r.Probe, version); err != nil {
		return nil, fmt.Errorf("the probe's: %w", err)
	}
	switch r.Ended {
	case loadresult.Gone, loadresult.Unserved, loadresult.Unreachable, loadresult.Faulted:
		out.Cause = r.Cause
	}
	if r.Plan.Open() {
		out.setOpen(r)
	} else {
		out.setUnavailable(r)
		out.setClosed()
		out.setLinger(r.Lingered)
	}
	out.setSeriesUsers()
	return out, nil
}

// Warn adds facts, and to the warnings what they say. Those in the sentence of the verdict are no
// warnings.
func (r *Result) Warn(all ...fact.Fact) {
	for _, f := range all {
		r.Facts = append(r.Facts, f)
		if isWarning(f) {
			r.Warnings = append(r.Warnings, say.Text(f, r.Voice()))
		}
	}
}

// isWarning reports whether a fact that is no reason of the generator's self-check is a warning.
func isWarning(f fact.Fact) bool {
	_, watched := f.Args.(fact.OthersOfName) // which the report says of the server
	return !watched && !runfacts.IsInVerdict(f)
}

// WarningFacts are the facts that the warnings say, one for each. They are nil for a result of an
// older dyno, which kept some warnings as sentences alone.
func (r *Result) WarningFacts() (all []fact.Fact) {
	for _, f := range r.Facts {
		if !isOfGenerator(f) && isWarning(f) {
			all = append(all, f)
		}
	}
	if len(all) != len(r.Warnings) {
		return nil
	}
	return all
}

// WarningsIn are the warnings in a voice; as they are if some are sentences alone.
func (r *Result) WarningsIn(v say.Voice) []string {
	facts := r.WarningFacts()
	if facts == nil {
		return r.Warnings
	}
	all := make([]string, len(facts))
	for i, f := range facts {
		all[i] = say.Text(f, v)
	}
	return all
}

// setOpen sets what only an open workload has.
func (r *Result) setOpen(from *loadresult.Result) {
	late, after := from.Late, from.SentAfter
	worst := toMicroseconds(float64(from.LateMax))
	r.Model, r.Requests.Late, r.Requests.LateMax = OpenLoop, &late, &worst
	if r.Requests.SentAfter = &after; !from.Plan.CountsIterations() { // else Iterations has them
		offered, waiting := from.Plan.Offered().PerSecond(), from.Waiting
		due := r.Requests.Sent + waiting
		r.Rate.Offered, r.Requests.Waiting, r.Requests.Due = &offered, &waiting, &due
		r.Requests.Waited = unanswered.Waited(from.Waited)
	}
	if lag := from.Lag; lag != nil && lag.Count > 0 {
		v := lag.View()
		p50, p99 := toMicroseconds(float64(v.Quantile(0.5))), toMicroseconds(float64(v.Quantile(0.99)))
		p999, longest := toMicroseconds(float64(v.Quantile(0.999))), toMicroseconds(float64(lag.Max))
		r.Generator.SendLagP50, r.Generator.SendLagP99 = &p50, &p99
		r.Generator.SendLagP999, r.Generator.SendLagMax = &p999, &longest
	}
	r.Generator.Arrivals = newArrivals(&from.Law)
}

// newArrivals compares arrivals with their distribution; nil if nothing is known.
func newArrivals(law *loadresult.Law) *Arrivals {
	if a2, n := law.AndersonDarling(); n > 0 {
		a2 = roundHundredths(a2)
		return &Arrivals{Spans: n, A2: &a2}
	}
	if law.Off == nil || law.Off.Count == 0 {
		return nil
	}
	off := roundHundredths(float64(law.Off.View().Quantile(0.95)) / 1e4)
	return &Arrivals{Spans: law.Off.Count, OffP95: &off}
}

// setClosed sets what only a closed workload has.
func (r *Result) setClosed() {
	if r.Latency != nil && r.Service == nil {
		service := *r.Latency // every request was sent when it was due
		r.Service = &service
	}
	if r.Answers() == 0 || r.Plan.MayIdle() || r.Connections.Asked < r.Plan.Connections {
		return
	}
	busy := 0.0 // mean number of busy connections
	for _, d := range []*Distribution{r.Latency, r.ErrorLatency} {
		if d != nil {
			busy += d.Mean / 1e6 * r.Rate.AnswersPerSecond() * float64(d.Count) / float64(r.Answers())
		}
	}
	little := math.Round(busy/float64(r.inFlight())*1e4) / 1e4
	r.Generator.Little = &little
}

// setUnavailable sets for how long there was no server. Less than a microsecond counts as nothing.
func (r *Result) setUnavailable(from *loadresult.Result) {
	each := toMicroseconds(float64(from.Unavailable)/float64(max(asked(from), 1))) / 1e6
	if each <= 0 {
		return
	}
	since := time.Duration(from.UnavailableSince).Seconds()
	r.Window.UnavailableS, r.Window.UnavailableFromS = each, &since
	r.Window.UnavailableLongestS = time.Duration(from.UnavailableMost).Seconds()
}

// SentLater reports whether requests were sent later than they were due, so that service time
// differs from latency. In a closed workload these are requests that waited for a new connection.
func (r *Result) SentLater() bool {
	return r.Model == OpenLoop || r.Latency != nil && r.Service != nil &&
		r.Service.HDR != r.Latency.HDR
}

// ServiceApart is service time if it differs from latency.
func (r *Result) ServiceApart() *Distribution {
	if !r.SentLater() {
		return nil
	}
	return r.Service
}

func (r *Result) setDistributions(from *loadresult.Result, total *metric.Counters) {
	for _, d := range []struct {
		from *metric.Histogram
		to   **Distribution
	}{
		{total.Latency, &r.Latency},
		{lookupHistogram(from), &r.Phases.DNS},
		{total.Service, &r.Service},
		{total.ErrorLatency, &r.ErrorLatency},
		{from.FirstByte, &r.Phases.FirstByte},
		{from.Connect, &r.Phases.Connect},
		{mergedCounts(from.FullTLS, from.ResumedTLS), &r.Phases.TLS},
		{from.FullTLS, &r.Phases.TLSFull},
		{from.ResumedTLS, &r.Phases.TLSResumed},
	} {
		if d.from != nil && d.from.Count > 0 {
			*d.to = durations.New(d.from)
		}
	}
}

// handshakeRate is the rate of handshakes, if the plan opens connections again and again.
func handshakeRate(r *loadresult.Result) *float64 {
	if !r.Plan.Target.TLS || r.Plan.Reconnect == 0 {
		return nil
	}
	rate := perSecond(r.Handshakes, r.Measured)
	return &rate
}

// errorAnswerRate is the rate of answers that were errors; nil if there were none.
func errorAnswerRate(r *loadresult.Result, total *metric.Counters) *float64 {
	n := total.ErrorLatency.Count + total.EarlyErrors
	if n == 0 {
		return nil
	}
	rate := perSecond(n-r.ErrorsAfter, r.Measured)
	return &rate
}

// mergedCounts is the sum of two histograms.
func mergedCounts(a, b *metric.Histogram) *metric.Histogram {
	if a == nil || b == nil {
		return nil
	}
	sum := metric.NewHistogram(metric.Coarse)
	sum.Merge(a)
	sum.Merge(b)
	return sum
}

// lookupHistogram is a histogram of each generator's one look-up of a name, if there was one.
func lookupHistogram(r *loadresult.Result) *metric.Histogram {
	var h *metric.Histogram
	for _, g := range r.Each() {
		if g.DNS <= 0 {
			continue
		}
		if h == nil {
			h = metric.NewHistogram(metric.Fine)
		}
		h.Record(int64(g.DNS))
	}
	return h
}

func countByStatus(s *metric.Counters) map[string]int64 {
	m := map[string]int64{}
	for code, n := range s.Status {
		if n > 0 {
			m[fmt.Sprintf("%03d", code)] = n
		}
	}
	return m
}

// NewError is a failure as a result has it.
func NewError(f loadresult.Failure) Error {
	return Error{Phase: string(f.Phase), Kind: f.Kind, Address: f.Address, Detail: f.Detail,
		Count: f.Count, Status: int(f.Status), Remedies: f.Remedies}
}

// Text is what the error says, with what can be done about it.
func (e Error) Text(v say.Voice) string { return say.WithAdvice(e.Detail, e.Remedies, v) }

// NewErrors are failures as a result has them, the most frequent first.
func NewErrors(from []loadresult.Failure) []Error {
	all := make([]Error, len(from))
	for i, f := range from {
		all[i] = NewError(f)
	}
	sortErrors(all)
	return all
}

// sortErrors sorts errors, the most frequent first, and consequences of other errors last.
func sortErrors(all []Error) {
	slices.SortStableFunc(all, func(a, b Error) int {
		switch behind := a.IsConsequence(); {
		case behind == b.IsConsequence():
			return cmp.Compare(b.Count, a.Count)
		case behind:
			return 1
		}
		return -1
	})
}

// IsConsequence reports whether an error only follows from another.
func (e Error) IsConsequence() bool { return e.Kind == loadresult.Behind }

func newConnections(r *loadresult.Result) Connections {
	if len(r.WholeParts()) == 0 {
		return Connections{}
	}
	c := Connections{Asked: asked(r), Opened: r.Opened, Served: r.Served,
		Reconnects: r.Reconnects, AddressTotals: r.WithErrors()}
	if r.Plan.Target.TLS {
		full, resumed := r.TLSFull, r.TLSResumed
		c.TLSFull, c.TLSResumed = &full, &resumed
		for t, n := range r.Terms {
			c.TLS = append(c.TLS, Terms{t.Version, t.Cipher, t.Group, n})
		}
		sortTerms(c.TLS)
	}
	if len(r.Protocols) > 0 {
		c.Protocols = r.Protocols
	}
	if r.Protocols[loadplan.HTTP2]+r.Protocols[loadplan.HTTP3] > 0 {
		room := r.Room
		c.Streams = &room
	}
	return c
}

// inFlight is how many requests a closed workload has in flight.
func (r *Result) inFlight() int { return r.Plan.Connections * r.slotsPerConnection() }

// slotsPerConnection is how many requests a connection has in flight at most.
func (r *Result) slotsPerConnection() int {
	if r.Connections.Streams != nil {
		return *r.Connections.Streams
	}
	return r.Plan.Pipeline
}

// newStderr is what FastCGI applications wrote to stderr; nil if nothing.
func newStderr(r *loadresult.Result) *Stderr {
	if r.StderrBytes == 0 {
		return nil
	}
	return &Stderr{strings.ToValidUTF8(string(r.Stderr), "\ufffd"), r.StderrBytes}
}

func newPoints(from []loadresult.Interval) []Point {
	all := []Point{}
	for _, i := range from {
		all = append(all, PointOf(i))
	}
	return all
}

// setSeriesUsers sets how many users there were at the end of each interval. A part has none of its
// own: the numbers are those of the whole load.
func (r *Result) setSeriesUsers() {
	for i := range r.Series {
		if p := &r.Series[i]; r.Plan.Parts < 2 {
			p.Users = r.Plan.UsersAt(time.Duration(p.T * 1e9))
		}
	}
}

// PointOf converts an interval into the stored form.
func PointOf(i loadresult.Interval) Point {
	return Point{T: i.To.Seconds(), Sent: i.Sent, Completed: i.Completed,
		Errors: i.Failed, LatencyTimes: i.LatencyTimes, InFlight: i.InFlight,
		EarlyCounts: i.EarlyCounts, Received: i.Received, Written: i.Written,
		Status: countByCode(i.Status), Heat: i.Heat, ByPart: i.ByPart,
		Iterations: i.Iterations, IterationsFailed: i.IterationsFailed, Events: i.Events,
		StreamTimes: i.StreamTimes}
}

// countByCode counts the answers of an interval by status code; nil if there were none.
func countByCode(of map[uint16]int64) map[string]int64 {
	if len(of) == 0 {
		return nil
	}
	m := map[string]int64{}
	for code, n := range of {
		m[fmt.Sprintf("%03d", code)] = n
	}
	return m
}

func newGenerator(r *loadresult.Result, total *metric.Counters) Generator {
	g := Generator{BusyPercent: roundHundredths(100 * r.Busy),
		GCPauseMax:    toMicroseconds(float64(r.GCPauseMax)),
		StopMax:       toMicroseconds(float64(r.StopMax)),
		SchedulingP99: toMicroseconds(float64(r.GoroutineWait)),
		Unscheduled:   roundHundredths(100 * r.Unscheduled), CPUWait: toMicroseconds(float64(r.CPUWait)),
		LocalPorts: r.Ports,
		Standstill: newStandstill(r.StandstillTotals, total.Sent),
		Ring:       r.Ring}
	for _, p := range r.Each() {
		g.Threads += min(p.Plan.Threads, p.Plan.Connections) // no thread without one
	}
	if n := answersInWindow(r.WholeParts()); n > 0 {
		g.CPUPerRequest = toMicroseconds(float64(r.CPU) / float64(n))
	}
	if r.Measured > 0 {
		g.CPUPercent = roundHundredths(100 * float64(r.CPU) / float64(r.Measured))
	}
	if r.Measured > 0 && r.Scenario != nil {
		took := roundHundredths(100 * float64(r.Scenario.TookMost) / float64(r.Measured))
		g.ScenarioPercent = &took
	}
	return g
}

// perSecond is the rate of n in the time d, in 1/s, rounded to the thousandth.
func perSecond(n int64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return math.Round(float64(n)/d.Seconds()*1000) / 1000
}

// toMicroseconds converts ns to µs, rounded to the nanosecond.
func toMicroseconds(ns float64) float64 { return durations.Micros(ns) }

func roundHundredths(f float64) float64 { return math.Round(f*100) / 100 }
