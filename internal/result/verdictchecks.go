package result

import (
	"fmt"
	"math"

	"dyno/internal/digits"
	"dyno/internal/engine/loadresult"
)

// Thresholds of the generator's verdict on itself. They follow the validity
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

func checkEnded(r *Result) (string, string) {
	measured := formatMicroseconds(r.Window.MeasuredS * 1e6)
	switch loadresult.Ending(r.Ended) {
	case loadresult.Unreachable:
		return Suspect, "nothing was measured: no connection could be opened (" + r.Cause + ")"
	case loadresult.Gone:
		return Suspect, fmt.Sprintf("the load ended after %v because no connection could be "+
			"opened any more (%s): the server was gone for the rest", measured, r.Cause)
	case loadresult.Unserved:
		return Suspect, fmt.Sprintf("the load ended after %v because the server ended each connection "+
			"without an answer, again and again (%s)", measured, r.Cause)
	case loadresult.Interrupted:
		return Suspect, fmt.Sprintf("interrupted after %v: this is a part of the run that was "+
			"planned", measured)
	case loadresult.Faulted:
		return Suspect, fmt.Sprintf("the script ended the load after %v: %s", measured, r.Cause)
	case loadresult.Lost:
		return OK, "" // Together reports it
	}
	if r.Answers() == 0 {
		reason := "nothing was measured: no request completed"
		if len(r.Errors) > 0 {
			reason += " (" + r.Errors[0].Detail + ")"
		}
		return Suspect, reason
	}
	return OK, ""
}

func checkOutage(r *Result) (string, string) {
	if r.Window.OutageS == 0 || !r.Applied() { // checkNoServer reports it
		return OK, ""
	}
	says := "rate and percentiles say nothing of that time"
	if r.Model == OpenLoop {
		says = "what was due then waited for one, which is in its latency, or was never sent"
	}
	return Suspect, fmt.Sprintf("for %v of the window no connection could be opened%s: %s",
		formatMicroseconds(r.Window.OutageS*1e6), r.firstCause(), says)
}

func checkNeverSent(r *Result) (string, string) {
	never, _, begun := r.Backlog()
	waiting, due := float64(never), float64(never+begun)
	if waiting <= neverSentSuspect*due {
		return OK, ""
	}
	what, done, _ := r.Counted()
	return Suspect, fmt.Sprintf("%s %% of the %s due were never %s: the "+
		"latencies are those of a lower rate", digits.Significant(100*waiting/due, 3), what, done)
}

func checkBusy(r *Result) (string, string) {
	switch b := r.Generator.BusyPercent; {
	case r.Answers() == 0:
		return OK, "" // Ended reports it
	case r.scenarioTakesMost():
		return OK, "" // checkScenarioTime reports it
	case b >= busyBound:
		return ClientBound, fmt.Sprintf("the generator was busy %.0f %% of the time: this is its limit, "+
			"not (only) the server's", b)
	case b >= busySuspect:
		return Suspect, fmt.Sprintf("the generator was busy %.0f %% of the time, which is near its "+
			"limit: some of the latency is its own", b)
	}
	return OK, ""
}

// scenarioTakesMost reports whether the scenario takes most of the time of the thread in which it
// takes the longest.
func (r *Result) scenarioTakesMost() bool {
	took := r.Generator.ScenarioPercent
	return took != nil && *took > scenarioMost*r.Generator.BusyPercent
}

// checkScenarioTime is checkBusy of a generator that is busy with what its users do.
func checkScenarioTime(r *Result) (string, string) {
	b := r.Generator.BusyPercent
	if r.Answers() == 0 || !r.scenarioTakesMost() || b < busySuspect {
		return OK, ""
	}
	with, whose := "the scenario itself", "the scenario's"
	if len(r.Plan.Steps) == 0 {
		with, whose = "filling requests and checking answers", "the generator's"
	}
	verdict, says := Suspect, "some of the latency is "+whose
	if b >= busyBound {
		verdict, says = ClientBound, "this is "+whose+" limit, not (only) the server's"
	}
	return verdict, fmt.Sprintf("a thread was busy %.0f %% of the time, %.0f %% with %s: %s", b,
		*r.Generator.ScenarioPercent, with, says)
}

func checkSendLag(r *Result) (string, string) {
	d := r.mainLatency()
	if r.Generator.SendLagP99 == nil || d == nil {
		return OK, ""
	}
	lag, mean := *r.Generator.SendLagP99, d.Mean
	verdict := OK
	switch {
	case lag > max(lagBound, lagBoundShare*mean):
		verdict = ClientBound
	case lag > max(lagSuspect, lagSuspectShare*mean):
		verdict = Suspect
	}
	return verdict, fmt.Sprintf("the generator sent 1 %% of the requests more than %v late, which "+
		"counts as latency (mean %v)",
		formatMicroseconds(lag), formatMicroseconds(mean))
}

func checkPorts(r *Result) (string, string) {
	return checkExhausted(r, "no-port", "no local port was left for a connection, %s times: widen "+
		"net.ipv4.ip_local_port_range, or keep connections alive")
}

func checkFiles(r *Result) (string, string) {
	return checkExhausted(r, "no-file", "no file descriptor was left for a connection, %s times")
}

func checkExhausted(r *Result, kind, reason string) (string, string) {
	var n int64
	for _, e := range r.Errors {
		if e.Kind == kind {
			n += e.Count
		}
	}
	if n == 0 {
		return OK, ""
	}
	return Suspect, fmt.Sprintf(reason, countText(n))
}

// Unused is how many of the requested connections took no part in the load, and what they never
// did: "never completed a request" or "could not be opened". A load of few requests needs no more
// connections than requests. An open workload does not need all its connections, however many
// requests there are, and neither do users who think: there it counts those that were never opened.
func (r *Result) Unused() (missing int64, what string) {
	c := r.Connections
	if r.Model == OpenLoop || r.Plan.MayIdle() {
		return max(int64(c.Asked)-(c.Opened-c.Reconnects), 0), "could not be opened"
	}
	depth, all := max(int64(r.slotsPerConnection()), 1), r.Requests.Sent+r.Requests.Warmup
	needed := min(int64(c.Asked), (all+depth-1)/depth)
	return max(needed-int64(c.Served), 0), "never completed a request"
}

// checkUnserved finds requested connections that took no part in the load.
func checkUnserved(r *Result) (string, string) {
	missing, what := r.Unused()
	if missing == 0 || r.Answers() == 0 {
		return OK, ""
	}
	c := r.Connections
	return Suspect, fmt.Sprintf("%s of %s connections %s: the load was that of the others",
		countText(missing), countText(int64(c.Asked)), what)
}

// checkLittle applies Little's law. In a closed workload every connection always has a request in
// flight, so rate times mean latency is the number of connections. The law finds nothing if
// connections pause by design or by failure. If nothing failed, the time without a server is that
// of requests that were not answered, which have no latency.
func checkLittle(r *Result) (string, string) {
	turns := littleTurns * int64(r.inFlight())
	applies := r.Generator.Little != nil && r.Plan.Reconnect == 0 && r.Requests.Errors == 0 &&
		r.Connections.Reconnects == 0 && r.Connections.Served == r.Connections.Asked &&
		len(r.Errors) == 0 && r.Requests.Completed >= turns
	if !applies {
		return OK, ""
	}
	// What began in the window may end after it, by one latency at most.
	edge := r.Latency.Max / 1e6 / r.Window.MeasuredS
	share, silent := r.inFlightShare(), ""
	verdict, miss := OK, math.Abs(share-1)-edge
	unanswered := r.Requests.Unfinished + r.Requests.WarmupLost
	if unanswered > 0 {
		silent = "requests that were never answered, to "
	}
	// Each of these kept its place, one of all in flight, for the whole window at most.
	explained := float64(unanswered) / float64(max(r.inFlight(), 1))
	switch {
	case miss-explained > littleBound:
		verdict = ClientBound
	case miss > littleSuspect:
		verdict = Suspect
	}
	if share > 1 {
		return verdict, fmt.Sprintf("rate × mean latency is %.2f of what %s connections can have "+
			"in flight: one of them is measured wrong; report it as a fault of dyno",
			share, countText(int64(r.Connections.Asked)))
	}
	return verdict, fmt.Sprintf("connections had a request in flight only %.0f %% of the time, "+
		"by rate × mean latency: the rest went to %sconnecting, to threads that had done their part of "+
		"the requests early, or to the generator itself", 100*share, silent)
}

// inFlightShare is the share of the time of all connections in which a closed workload had requests
// in flight, by Little's law. In the time without a server these were not answered.
func (r *Result) inFlightShare() float64 { return *r.Generator.Little + r.Unavailable() }

func checkPauses(r *Result) (string, string) {
	pause := r.Generator.GCPauseMax
	if d := r.mainLatency(); d == nil || pause <= max(pauseSuspect, pauseSuspectShare*d.P99) {
		return OK, ""
	}
	return Suspect, fmt.Sprintf("garbage collection stopped the generator for up to %v: the "+
		"highest latencies may be its own", formatMicroseconds(pause))
}

func formatMicroseconds(us float64) string { return digits.Micros(us) }
