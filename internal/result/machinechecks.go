package result

import (
	"math"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/fact"
	"dyno/internal/observe/probe"
)

// Thresholds of what the machine did to the generator. docs/measuring.md has the runs from which
// they were derived.
const (
	stealSuspect       = 1.0 // percent of all CPUs' time: other virtual machines used the CPU
	unscheduledSuspect = 5.0 // percent of the window, and
	unscheduledBound   = 25.0
	unscheduledLeast   = 20.0   // µs on average: waking a thread takes 5 to 10
	timeWaitSuspect    = 0.8    // share of the local ports
	stopSuspect        = 1000.0 // µs, and
	stopSuspectShare   = 0.1    // of p99
	resentSuspect      = 0.001  // of the requests, because p99.9 then consists of these, and
	resentLeast        = 10     // segments, because other programs may have sent them
	retransmission     = 200e3  // µs: Linux waits at least as long before it sends a segment again
	lawSuspect         = 6.0    // A² that chance exceeds once in a thousand times, and
	lawSuspectShare    = 0.01   // of the spans: by how much they are off, whatever their number
	spacingSuspect     = 25.0   // percent of a span, for 1 span in 20
)

// AddObserved adds what rec, a recording made on this machine while r was measured, shows of the
// window. It then judges the generator again.
func (r *Result) AddObserved(rec *probe.Recording) {
	from := r.windowBegin()
	use := rec.Host(from, from.Add(time.Duration(r.Window.MeasuredS*1e9)))
	r.Generator.Machine = &use
	r.judgeGenerator()
}

// lawDistance is how far arrivals are from their distribution, whatever their number.
func (a *Arrivals) lawDistance() float64 {
	switch {
	case a.A2 != nil && a.Spans > 0:
		return *a.A2 / float64(a.Spans)
	case a.OffP95 != nil:
		return *a.OffP95
	}
	return 0
}

// hostUse is what the machine did; all values are unknown if it was not watched.
func (r *Result) hostUse() probe.HostUse {
	if r.Generator.Machine == nil {
		return probe.HostUse{}
	}
	return *r.Generator.Machine
}

func findSteal(r *Result) *fact.Fact {
	taken := float64(r.hostUse().Steal)
	if !(taken > stealSuspect) { // it may be unknown
		return nil
	}
	return told(fact.Steal{Percent: taken})
}

// throttled is how often the CPU quota of the generator's cgroup stopped it, and for how long each
// of its threads was stopped, about, in µs: the kernel adds up the CPUs.
func (r *Result) throttled() (times int64, us float64) {
	m := r.hostUse()
	n := math.Round(float64(m.Throttlings))
	if !(n > 0) { // it may be unknown
		return 0, 0
	}
	threads := max(min(r.Generator.Threads, m.CPUs), 1)
	return int64(n), float64(m.Throttled) / 1e3 / float64(threads)
}

// quotaStopped reports whether it was a CPU quota that stopped the generator, where it stood still.
func (r *Result) quotaStopped() bool {
	n, us := r.throttled()
	return n > 0 && us >= r.Generator.StoodStillS*1e6/2
}

// findQuota finds that a CPU quota stopped the generator. Like a standstill, it delays all that was
// in flight or due meanwhile.
func findQuota(r *Result) *fact.Fact {
	n, us := r.throttled()
	if n == 0 {
		return nil
	}
	p99 := 0.0
	if d := r.MainLatency(); d != nil {
		p99 = d.P99
	}
	each, of := us/float64(n), us/1e6/max(r.Window.MeasuredS, 1e-9)
	f := fact.Fact{Severity: fact.Warning,
		Args: fact.CPUQuota{CPUs: r.hostUse().Quota, Periods: n, TotalUS: us}}
	still := judgeStandstill(r)
	explained := still != nil && r.quotaStopped()
	switch {
	case of > standstillBound, explained && still.Severity == fact.Error,
		of >= standstillP99 && each > max(standstillShort, standstillMostP99*p99):
		f.Severity = fact.Error
	case explained, of > standstillSuspect, each > max(pauseSuspect, pauseSuspectShare*p99):
	default:
		return nil
	}
	return &f
}

// Disturbed reports whether other programs, or a CPU quota, kept a thread of the generator from its
// CPU for longer than waking it takes.
func (g *Generator) Disturbed() bool {
	return g.CPUWait >= unscheduledLeast && g.Unscheduled > unscheduledSuspect
}

// findUnscheduled finds too few CPUs for all running threads. A thread that waits for a CPU does
// not notice an answer.
func findUnscheduled(r *Result) *fact.Fact {
	// The kernel counts the time in which a quota stopped a thread as waiting, too.
	stopped := max(float64(r.hostUse().Throttled), 0) / 1e9 / max(r.Window.MeasuredS, 1e-9)
	share := r.Generator.Unscheduled
	if stopped > 0 { // it may be unknown
		share = max(share-100*stopped, 0)
	}
	if !r.Generator.Disturbed() {
		return nil
	}
	return graded(share, unscheduledSuspect, unscheduledBound, fact.Unscheduled{Percent: share},
		r.ownCPUs())
}

// findScheduling finds how long goroutines waited for a CPU, if the protocol's library uses
// goroutines. Each request waits several times, and its latency includes that.
func findScheduling(r *Result) *fact.Fact {
	d := r.MainLatency()
	if r.isOverTCP() || d == nil {
		return nil
	}
	wait, mean := r.Generator.SchedulingP99, d.Mean
	return graded(wait, max(lagSuspect, lagSuspectShare*mean), math.Inf(1),
		fact.Scheduling{P99US: wait, MeanUS: mean})
}

// isOverTCP reports whether the kernel's TCP sockets and segments matter. HTTP/3 uses none.
func (r *Result) isOverTCP() bool { return r.Generator.Ring != loadplan.HTTP3Ring }

// showsRetransmits reports whether latencies show that TCP sent segments again. The kernel counts
// those of all programs on the machine, so they may not be ours.
func (r *Result) showsRetransmits() bool {
	d := r.MainLatency()
	return r.isOverTCP() && (d != nil && d.P999 >= retransmission ||
		r.Phases.Connect != nil && r.Phases.Connect.Max >= retransmission)
}

// findDropped finds connections that the kernel of this machine rejected, if the server runs here.
func findDropped(r *Result) *fact.Fact {
	n := float64(r.hostUse().ListenOverflow)
	if !(n > 0) || !r.showsRetransmits() { // it may be unknown
		return nil
	}
	slower := fact.Remedy{Setting: "connect-rate", Value: fact.Some}
	if r.Plan.ConnectRate > 0 {
		slower.Value = fact.Lower
	}
	return told(fact.Dropped{Times: int64(n)}, slower)
}

// findResent finds segments that this machine sent again. They are too few to matter in a mean,
// and can make up a high percentile.
func findResent(r *Result) *fact.Fact {
	n, all := float64(r.hostUse().Retransmits), float64(r.Answers())
	if !(n > resentSuspect*all) || n < resentLeast || !r.showsRetransmits() {
		return nil
	}
	return told(fact.Resent{Segments: int64(n), Answers: r.Answers()})
}

// findTimeWait finds that ports nearly ran out. A port cannot be used for a minute after dyno
// closed its connection.
func findTimeWait(r *Result) *fact.Fact {
	waiting, ports := float64(r.hostUse().TimeWait), int64(r.Generator.LocalPorts)
	if ports == 0 || !(waiting > timeWaitSuspect*float64(ports)) || r.Plan.Reconnect == 0 ||
		!r.isOverTCP() {
		return nil
	}
	return told(fact.TimeWait{Sockets: int64(waiting), Ports: ports})
}

// findStops finds long stops by the Go runtime other than garbage collection.
func findStops(r *Result) *fact.Fact {
	stop, d := r.Generator.StopMax, r.MainLatency()
	if d == nil || stop <= max(stopSuspect, stopSuspectShare*d.P99) ||
		r.Generator.GCPauseMax > max(pauseSuspect, pauseSuspectShare*d.P99) {
		return nil
	}
	return told(fact.RuntimeStop{LongestUS: stop})
}

// findArrivals finds that requests did not leave when they should, if that was up to the generator.
func findArrivals(r *Result) *fact.Fact {
	a := r.Generator.Arrivals
	switch {
	case a == nil:
	case a.A2 != nil && *a.A2 > lawSuspect && a.lawDistance() > lawSuspectShare:
		return told(fact.Arrivals{Spans: int64(a.Spans), A2: *a.A2}, r.inTime()...)
	case a.OffP95 != nil && *a.OffP95 > spacingSuspect:
		return told(fact.Arrivals{Spans: int64(a.Spans), Off: *a.OffP95}, r.inTime()...)
	}
	return nil
}

// findProbeLag is findSendLag for the probe.
func findProbeLag(r *Result) *fact.Fact {
	if r.Probe == nil || r.Probe.SendLagP99 == nil || r.Probe.Latency == nil {
		return nil
	}
	a := fact.SendLag{P99US: *r.Probe.SendLagP99, MeanUS: r.Probe.Latency.Mean}
	return graded(a.P99US, max(lagSuspect, lagSuspectShare*a.MeanUS), math.Inf(1),
		fact.ProbeLag{SendLag: a}, fact.Remedy{Setting: "threads", Value: fact.Lower})
}

// atQuota reports whether the generator has as many threads as the CPU quota of its cgroup keeps
// running.
func (r *Result) atQuota() bool {
	q := r.hostUse().Quota
	return q > 0 && float64(r.Generator.Threads) >= q
}
