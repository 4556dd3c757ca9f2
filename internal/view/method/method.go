// Package method is how results are measured, for a reader who wants to doubt them.
// docs/measuring.md has the same at length.
//
//	addresses.go   what went to each address of a name
//	method.go      how a run, a search and a sweep are measured
package method

import (
	"fmt"

	"dyno/internal/engine/loadplan"
	"dyno/internal/result"
	"dyno/internal/view/format"
)

// Of is how a run was measured. The window is in words.
func Of(r *result.Result, window string) []string {
	all := []string{modelMethod(r), windowMethod(r, window),
		"Every request is timed with the monotonic clock, on its own, and counted in a histogram of " +
			"three significant digits; percentiles are read from that histogram, never averaged, and " +
			"none is shown that no measured value exceeds. The spectrum ends where fewer than ten " +
			"values lie beyond it.",
		"Nothing is corrected afterwards: what failed or was given up has no latency and is counted " +
			"apart, and requests sent are completed + errors + unfinished. Answers that are errors by " +
			"their status (400 and above, unless --expect says otherwise) have a distribution of their " +
			"own, error latency.",
		"These are the numbers of one run, so they have no intervals: how much they differ from run to " +
			"run is what dyno lab run measures, and dyno compare judges.",
		"The generator judges itself by how busy its threads were, how late it sent, its pauses, and " +
			"whether rate, latency and connections fit each other (Little's law). ok says that the " +
			"numbers are the server's, not that they are good."}
	if r.Iterations != nil {
		all = append(all, scenarioMethod)
	}
	if r.Fleet != nil {
		all = append(all, fleetMethod(r.Fleet))
	}
	if r.Server != nil {
		all = append(all, "The server's processes were sampled beside the load; CPU time per request is "+
			"what they used in the window, divided by the requests answered in it.")
	}
	return all
}

const scenarioMethod = "Users go through a scenario; one passage is an iteration, and its " +
	"requests are steps. The load model is of iterations: one is due, and its first step with it; " +
	"each further step is due when its user has thought after the answer before. Latency is of " +
	"steps, each from due to done; the time of an iteration is from due to its end, with all " +
	"thinking. A step or check that fails ends its iteration, unless the scenario goes on, and " +
	"failed iterations have a distribution of their own."

func modelMethod(r *result.Result) string {
	if r.Model != result.OpenLoop {
		return "Closed loop: a connection sends its next request when it has the answer to the last. " +
			"So latency, from due to done, is service time, from sent to done, unless a new connection " +
			"had to be opened first: that wait is latency. A slow server is asked less."
	}
	law := "at even intervals"
	if r.Plan.Arrival == loadplan.Poisson {
		law = fmt.Sprintf("independent of one another (Poisson, seed %d)", r.Plan.Seed)
	}
	if r.Plan.Replay > 0 {
		law = "each at the time that the requests file has for it"
	}
	return "Open loop: requests are due " + law + ", whatever the server does. Latency is from the " +
		"instant a request was due to the end of its answer, so that waiting for a slow server is in " +
		"it; service time is from the instant it was sent."
}

func windowMethod(r *result.Result, window string) string {
	s := "A request belongs to the window if it was due in it: " + window + "."
	if r.Window.Rates == result.RatesEnded {
		s += " Rates count the answers that came in it."
	}
	if d := r.Plan.Drain; d > 0 {
		s += fmt.Sprintf(" After the window, what was due in it had up to %v to end.", d)
	}
	return s
}

// Search is how a search for a rate measures.
var Search = []string{
	"Every probe is a run of its own at one rate, an open loop. A rate passes if the upper bound of " +
		"what was measured meets the objective, and fails if the lower one does not; what lies between " +
		"is measured longer, and again.",
	"Bounds hold with 95 % each: of a percentile, from drawing the probe's seconds again and " +
		"again, and from the number of requests; the wider is taken. Other objectives are judged " +
		"by their value.",
	"The rate that was found is confirmed by a longer run of its own, because of several probes " +
		"near the limit the one that passes is likely to have been lucky.",
	"A probe in which the generator was the limit says nothing of the server.",
}

// Sweep is how a sweep measures.
var Sweep = []string{
	"Every point is a run of its own; each round has all levels, in a random order of its own, so " +
		"that what drifts meanwhile does not look like the load's effect.",
	"The law is Gunther's universal scalability law, fitted by least squares with no parameter " +
		"below 0: X(N) = γN / (1 + σ(N−1) + κN(N−1)). Beyond the range that was measured it says " +
		"nothing.",
	"Intervals are at 95 %, from drawing whole rounds again and again; they need 8 rounds.",
	"Points in which the generator was the limit, or nothing was completed, are no part of the law.",
}

// fleetMethod is how several machines were made to be one generator.
func fleetMethod(f *result.Fleet) string {
	return fmt.Sprintf("%s made the load together, each with its share by weight of one schedule, "+
		"so that all numbers of the command are totals. They began at one instant of the controller's "+
		"monotonic clock, from which each agent's is known by the quickest of 32 round trips; no wall "+
		"clock is used. Each reports every second, numbered and acknowledged, and at last all of it "+
		"again: the result is the sum of the latter, and is held against the former. Percentiles are "+
		"read from the sum of the agents' histograms.", format.Plural(int64(len(f.Agents)), "machine"))
}
