package result

import (
	"math"
	"slices"

	"dyno/internal/engine/loadresult"
	"dyno/internal/fact"
)

// Thresholds of the generator's self-check. They follow the validity
// gates of the literature (Nighthawk, Lancet, web-frameworks' use of Little's
// law) where there are any.
const (
	busySuspect = 80.0 // percent: above it, requests wait noticeably before the thread
	busyBound   = 95.0

	scenarioMost = 0.5 // share of the busy time; above it the scenario is what takes the time

	// A send lag is the generator's own delay, and part of the measured latency. Below a millisecond
	// it comes from the machine's timers and wake-ups. Above, its weight depends on the latency.
	lagSuspect      = 1000.0  // µs at p99, and
	lagSuspectShare = 0.1     // of the mean latency
	lagBound        = 10000.0 // µs at p99, and
	lagBoundShare   = 0.5

	pauseSuspect      = 1000.0 // µs of the longest, and
	pauseSuspectShare = 0.1    // of p99

	littleSuspect    = 0.03 // share by which rate × latency may differ from the connections
	littleBound      = 0.1
	neverSentSuspect = 0.001 // share of the requests due that were never sent

	littleTurns = 100 // requests for each connection so that its first and last do not matter

	leastMeasured  = 1.0 // s: see Result.TooShort
	leastCompleted = 100
)

// worseVerdict is the worse of two verdicts.
func worseVerdict(a, b string) string {
	if a == ClientBound || b == OK {
		return a
	}
	return b
}

// told is a fact that makes the verdict suspect.
func told(args fact.Args, remedies ...fact.Remedy) *fact.Fact {
	return &fact.Fact{Severity: fact.Warning, Args: args, Remedies: remedies}
}

// graded is a fact about a value that makes the verdict suspect or, above another limit,
// client-bound; nil if it is above neither.
func graded(value, suspect, bound float64, args fact.Args, remedies ...fact.Remedy) *fact.Fact {
	f := told(args, remedies...)
	switch {
	case value > bound:
		f.Severity = fact.Error
	case !(value > suspect):
		return nil
	}
	return f
}

func findEnded(r *Result) *fact.Fact {
	a := fact.Ended{MeasuredUS: r.Window.MeasuredS * 1e6, Peer: r.Plan.Peer()}
	var remedies []fact.Remedy
	if len(r.Errors) > 0 {
		remedies = r.Errors[0].Remedies
	}
	switch end := loadresult.Ending(r.Ended); {
	case end == loadresult.Lost:
		return nil // Together reports it
	case slices.Contains([]loadresult.Ending{loadresult.Unreachable, loadresult.Gone,
		loadresult.Unserved, loadresult.Interrupted, loadresult.Faulted}, end):
		a.How, a.Why = r.Ended, r.Cause
	case r.Answers() > 0:
		return nil
	case len(r.Errors) > 0:
		a.Why = r.Errors[0].Detail
	}
	return told(a, remedies...)
}

func findOutage(r *Result) *fact.Fact {
	if r.Window.OutageS == 0 || !r.Applied() { // findNoServer reports it
		return nil
	}
	a := fact.Outage{OutageUS: r.Window.OutageS * 1e6, Open: r.Model == OpenLoop}
	if e := r.firstFailure(); e != nil {
		a.Why = e.Detail
		return told(a, e.Remedies...)
	}
	return told(a)
}

func findNeverSent(r *Result) *fact.Fact {
	never, _, begun := r.Backlog()
	waiting, due := float64(never), float64(never+begun)
	if waiting <= neverSentSuspect*due {
		return nil
	}
	return told(fact.NeverSent{Iterations: r.Plan.CountsIterations(), Percent: 100 * waiting / due},
		r.Shortage().Remedies()...)
}

func findBusy(r *Result) *fact.Fact {
	if r.Answers() == 0 || r.scenarioTakesMost() { // findEnded or findScenarioTime reports it
		return nil
	}
	return r.gradedBusy(r.busy())
}

// gradedBusy is the fact that the generator is busy, with what it is busy with; nil if it is not.
func (r *Result) gradedBusy(args fact.Args) *fact.Fact {
	f := told(args, r.moreTime()...)
	switch b := r.Generator.BusyPercent; {
	case b < busySuspect:
		return nil
	case b >= busyBound:
		f.Severity = fact.Error
	}
	return f
}

// busy is how busy the generator was, and whether it could have had more CPUs.
func (r *Result) busy() fact.Busy {
	return fact.Busy{Percent: r.Generator.BusyPercent, AtQuota: r.atQuota(),
		AllCPUs: r.Generator.Threads >= r.Host.CPUs}
}

// moreTime are the settings that give the generator more time.
func (r *Result) moreTime() (all []fact.Remedy) {
	switch {
	case r.atQuota(), r.Generator.Threads >= r.Host.CPUs:
	case len(r.Plan.CPUs) > 0 && r.Generator.Threads >= len(r.Plan.CPUs):
		all = append(all, fact.Remedy{Setting: "cpus", Value: fact.Higher})
	default:
		all = append(all, fact.Remedy{Setting: "threads", Value: fact.Higher})
	}
	return append(all, fact.Remedy{Setting: "clients", Value: fact.Higher})
}

// ownCPUs is the remedy where others took the generator's CPUs.
func (r *Result) ownCPUs() fact.Remedy {
	if len(r.Plan.CPUs) > 0 {
		return fact.Remedy{Setting: "cpus", Value: fact.Other}
	}
	return fact.Remedy{Setting: "cpus", Value: fact.Some}
}

// inTime are the remedies where requests left late.
func (r *Result) inTime() []fact.Remedy {
	all := []fact.Remedy{r.ownCPUs()}
	if r.Model == OpenLoop {
		all = append(all, fact.Remedy{Setting: "rate", Value: fact.Lower})
	}
	return all
}

// moreWarmup is the remedy where connections begin in the window.
func (r *Result) moreWarmup() fact.Remedy {
	if r.Plan.Warmup > 0 {
		return fact.Remedy{Setting: "warmup", Value: fact.Higher}
	}
	return fact.Remedy{Setting: "warmup", Value: fact.Some}
}

// scenarioTakesMost reports whether the scenario takes most of the time of the thread in which it
// takes the longest.
func (r *Result) scenarioTakesMost() bool {
	took := r.Generator.ScenarioPercent
	return took != nil && *took > scenarioMost*r.Generator.BusyPercent
}

// findScenarioTime is findBusy of a generator that is busy with what its users do.
func findScenarioTime(r *Result) *fact.Fact {
	if r.Answers() == 0 || !r.scenarioTakesMost() {
		return nil
	}
	return r.gradedBusy(fact.ScenarioBusy{Busy: r.busy(), Scenario: *r.Generator.ScenarioPercent,
		Steps: len(r.Plan.Steps) > 0})
}

func findReadLag(r *Result) *fact.Fact {
	if r.Stream == nil || r.Stream.First == nil || r.Generator.ReadLagP99 == nil {
		return nil
	}
	lag := fact.ReadLag{P99US: *r.Generator.ReadLagP99}
	if d := r.Stream.Gap; d != nil {
		lag.GapUS = d.P50
	} else { // each stream is one arrival
		lag.FirstUS = r.Stream.First.P50
	}
	if lag.P99US < max(lagSuspect, lagSuspectShare*(lag.GapUS+lag.FirstUS)) {
		return nil
	}
	return told(lag, r.moreTime()...)
}

func findSendLag(r *Result) *fact.Fact {
	d := r.MainLatency()
	if r.Generator.SendLagP99 == nil || d == nil {
		return nil
	}
	lag, mean := *r.Generator.SendLagP99, d.Mean
	return graded(lag, max(lagSuspect, lagSuspectShare*mean), max(lagBound, lagBoundShare*mean),
		fact.SendLag{P99US: lag, MeanUS: mean}, r.inTime()...)
}

func findNoPort(r *Result) *fact.Fact {
	n := r.countErrors("no-port")
	return graded(float64(n), 0, math.Inf(1), fact.NoPort{Times: n})
}

func findNoFile(r *Result) *fact.Fact {
	n := r.countErrors("no-file")
	return graded(float64(n), 0, math.Inf(1), fact.NoFile{Times: n},
		fact.Remedy{Setting: "connections", Value: fact.Lower})
}

// countErrors counts the errors of a kind.
func (r *Result) countErrors(kind string) (n int64) {
	for _, e := range r.Errors {
		if e.Kind == kind {
			n += e.Count
		}
	}
	return n
}

// Unused is how many of the requested connections took no part in the load. They were never opened,
// or they never completed a request. A load of few requests needs no more connections than
// requests. An open workload does not need all its connections, however many requests there are,
// and neither do users who think: there it counts those that were never opened.
func (r *Result) Unused() (missing int64, unopened bool) {
	c := r.Connections
	if r.Model == OpenLoop || r.Plan.MayIdle() {
		return max(int64(c.Asked)-(c.Opened-c.Reconnects), 0), true
	}
	depth, all := max(int64(r.slotsPerConnection()), 1), r.Requests.Sent+r.Requests.Warmup
	needed := min(int64(c.Asked), (all+depth-1)/depth)
	return max(needed-int64(c.Served), 0), false
}

// findUnserved finds requested connections that took no part in the load.
func findUnserved(r *Result) *fact.Fact {
	missing, unopened := r.Unused()
	if missing == 0 || r.Answers() == 0 {
		return nil
	}
	var all []fact.Remedy
	if !unopened && r.Plan.Replay == 0 { // which has no warm-up
		longer := fact.Remedy{Setting: "duration", Value: fact.Higher}
		if r.Plan.Requested > 0 {
			longer.Setting = "requests"
		}
		all = append(all, r.moreWarmup(), longer)
	}
	return told(fact.Unserved{Missing: missing, Of: int64(r.Connections.Asked), Unopened: unopened},
		append(all, fact.Remedy{Setting: "connections", Value: fact.Lower})...)
}

// findLittle applies Little's law. In a closed workload every connection always has a request in
// flight, so rate times mean latency is the number of connections. The law finds nothing if
// connections pause by design or by failure. If nothing failed, the time without a server is that
// of requests that were not answered, which have no latency.
func findLittle(r *Result) *fact.Fact {
	turns := littleTurns * int64(r.inFlight())
	applies := r.Generator.Little != nil && r.Plan.Reconnect == 0 && r.Requests.Errors == 0 &&
		r.Connections.Reconnects == 0 && r.Connections.Served == r.Connections.Asked &&
		len(r.Errors) == 0 && r.Requests.Completed >= turns
	if !applies {
		return nil
	}
	// What began in the window may end after it, by one latency at most.
	edge := r.Latency.Max / 1e6 / r.Window.MeasuredS
	share := r.inFlightShare()
	unanswered := r.Requests.Unfinished + r.Requests.WarmupLost
	a := fact.Little{Ratio: share, Connections: int64(r.Connections.Asked), Unanswered: unanswered > 0}
	var remedies []fact.Remedy
	if share <= 1 { // else it is a fault of dyno
		remedies = append(remedies, r.moreWarmup())
		if r.Plan.Requested > 0 {
			remedies = append(remedies, fact.Remedy{Setting: "requests", Value: fact.None})
		}
	}
	// Each of the unanswered kept its place, one of all in flight, for the whole window at most.
	explained := float64(unanswered) / float64(max(r.inFlight(), 1))
	return graded(math.Abs(share-1)-edge, littleSuspect, littleBound+explained, a, remedies...)
}

// inFlightShare is the share of the time of all connections in which a closed workload had requests
// in flight, by Little's law. In the time without a server these were not answered.
func (r *Result) inFlightShare() float64 { return *r.Generator.Little + r.Unavailable() }

func findPauses(r *Result) *fact.Fact {
	pause := r.Generator.GCPauseMax
	if d := r.MainLatency(); d == nil || pause <= max(pauseSuspect, pauseSuspectShare*d.P99) {
		return nil
	}
	return told(fact.GCPause{LongestUS: pause})
}
