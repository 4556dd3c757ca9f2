package say

import (
	"fmt"

	"dyno/internal/digits"
	"dyno/internal/fact"
)

// generatorPhrase is the sentence for the generator's doubts about itself; empty of another kind.
func generatorPhrase(f fact.Fact) phrase {
	isLimit := f.Severity == fact.Error
	switch a := f.Args.(type) {
	case fact.Steal:
		return phrased("the hypervisor gave %v of the CPUs' time to other machines: measure again, or "+
			"use a machine that shares no CPU", percent(a.Percent, 1))
	case fact.StoodStill:
		return standstillPhrase(a)
	case fact.CPUQuota:
		return quotaPhrase(a)
	case fact.Busy:
		if isLimit {
			return phrased("the generator was busy %v of the time: it was at its limit, and the server "+
				"may do more", percent(a.Percent, 0))
		}
		return phrased("the generator was busy %v of the time, near its limit: some of the latency is "+
			"the generator's", percent(a.Percent, 0))
	case fact.ScenarioBusy:
		return scenarioPhrase(a, isLimit)
	case fact.SendLag:
		return phrased("the generator sent 1 % of the requests more than %v late: the latency (mean "+
			"%v) contains this delay", micros(a.P99US), micros(a.MeanUS))
	case fact.ProbeLag:
		return phrased("the generator sent 1 % of the probe's requests more than %v late: their "+
			"latency (mean %v) contains this delay", micros(a.P99US), micros(a.MeanUS))
	case fact.ReadLag:
		of, median := "gaps between events", a.GapUS
		if a.FirstUS > 0 {
			of, median = "times to the first event", a.FirstUS
		}
		return phrased("1 % of the events may have waited %v or longer until the generator read them: "+
			"the wait is in the %v, whose median is %v", micros(a.P99US), of, micros(median))
	case fact.Unscheduled:
		return phrased("a thread of the generator waited for a CPU %v of the time, while other "+
			"programs ran there", percent(a.Percent, 0))
	case fact.Scheduling:
		return phrased("the generator's goroutines wait for a CPU several times in each request, and 1 "+
			"% of these waits took %v or longer: they are in the latency, whose mean is %v; give the "+
			"generator CPUs of its own, or use another machine", micros(a.P99US), micros(a.MeanUS))
	case fact.GCPause:
		return phrased("garbage collection stopped the generator for up to %v: the highest latencies "+
			"may contain this delay", micros(a.LongestUS))
	case fact.RuntimeStop:
		return phrased("the Go runtime stopped the generator for up to %v: the highest latencies may "+
			"contain this delay", micros(a.LongestUS))
	case fact.TooShort:
		return shortPhrase(a)
	}
	return loadPhrase(f)
}

// loadPhrase is the sentence for what the load was, if not the one that was asked for, and for what
// it ran short of; empty of another kind.
func loadPhrase(f fact.Fact) phrase {
	switch a := f.Args.(type) {
	case fact.Ended:
		return endedPhrase(a)
	case fact.Outage:
		says := "the rate and the percentiles do not describe that time"
		if a.Open {
			says = "requests that were due then were sent late, as their latency shows, or never"
		}
		return phrased("no connection could be opened for %v of the window%v: %v", micros(a.OutageUS),
			inBrackets(a.Why), says)
	case fact.NeverSent:
		what, done := "requests", "sent"
		if a.Iterations {
			what, done = "iterations", "begun"
		}
		return phrased("%v of the %v due were never %v: the latencies are those of a lower rate",
			significant(a.Percent, 3), what, done)
	case fact.Unserved:
		return phrased("%v of %v connections %v: the others alone made the load", counts(a.Missing),
			counts(a.Of), unserved(a.Unopened))
	case fact.Arrivals:
		if a.A2 > 0 {
			return phrased("requests did not start at random times (Poisson): A² (Anderson-Darling) of the "+
				"%v gaps between them is %v; with true Poisson arrivals it is above 6.0 in 1 of 1,000 runs",
				counts(a.Spans), number(a.A2, fmt.Sprintf("%.1f", a.A2)))
		}
		return phrased("requests did not start evenly spaced: 1 in 20 of the gaps between them was off "+
			"by %v or more", percent(a.Off, 0))
	case fact.NoPort:
		return phrased("no local port was left for a connection, %v: widen "+
			"net.ipv4.ip_local_port_range, or keep connections alive", plural(a.Times, "time"))
	case fact.NoFile:
		return phrased("no file descriptor was left for a connection, %v", plural(a.Times, "time"))
	case fact.TimeWait:
		return phrased("%v sockets were in TIME_WAIT, and there are only %v local ports: connections "+
			"may soon find no free port; widen net.ipv4.ip_local_port_range, or keep connections alive",
			counts(a.Sockets), counts(a.Ports))
	case fact.Dropped:
		return phrased("a listen queue on this machine was full %v: some connections waited for 200 ms "+
			"or more", plural(a.Times, "time"))
	case fact.Resent:
		return phrased("%v TCP segments of this machine were lost and sent again, while %v completed: "+
			"the wait for them is in the highest latencies; the network, or a full queue, is the cause",
			counts(a.Segments), plural(a.Answers, "request"))
	case fact.Little:
		return littlePhrase(a)
	}
	return phrase{}
}

// inBrackets is why, in brackets, if it is known.
func inBrackets(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

// endedPhrase says why a load ended, or that nothing was answered.
func endedPhrase(a fact.Ended) phrase {
	after := micros(a.MeasuredUS)
	switch a.How {
	case "unreachable":
		return phrased("nothing was measured: no connection could be opened (%v)", a.Why)
	case "gone":
		return phrased("the load ended after %v because no connection could be opened any more (%v): "+
			Peer(a.Peer)+" was gone for the rest", after, a.Why)
	case "unserved":
		return phrased("the load ended after %v because "+Peer(a.Peer)+" ended each connection "+
			"without an answer, again and again (%v)", after, a.Why)
	case "interrupted":
		return phrased("the run was interrupted after %v: this is only a part of the planned run", after)
	case "faulted":
		return phrased("the script ended the load after %v: %v", after, a.Why)
	}
	return phrased("nothing was measured: no request completed%v", inBrackets(a.Why))
}

// scenarioPhrase says how much of its time a generator spent with what users do.
func scenarioPhrase(a fact.ScenarioBusy, isLimit bool) phrase {
	with, whose := "the scenario itself", "the scenario's"
	if !a.Steps {
		with, whose = "filling requests and checking answers", "the generator's"
	}
	says := "some of the latency is " + whose
	if isLimit {
		says = "this is " + whose + " limit, and the server may do more"
	}
	return phrased("a thread was busy %v of the time, %v with %v: %v", percent(a.Percent, 0),
		percent(a.Scenario, 0), with, says)
}

// littlePhrase says how Little's law is broken.
func littlePhrase(a fact.Little) phrase {
	if a.Ratio > 1 {
		return phrased("rate × mean latency is %v times what %v connections can have in flight "+
			"(Little's law): the rate or the latency is wrong; report this as a fault of dyno",
			number(a.Ratio, fmt.Sprintf("%.2f", a.Ratio)), counts(a.Connections))
	}
	silent := ""
	if a.Unanswered {
		silent = "waited for answers that never came, "
	}
	return phrased("connections had a request in flight only %v of the time, as rate × mean latency "+
		"shows (Little's law): the rest of the time they %vwere connecting, had no requests left, or "+
		"waited for the generator", percent(100*a.Ratio, 0), silent)
}

// shortPhrase says how little was measured, and how much it takes.
func shortPhrase(a fact.TooShort) phrase {
	got := phrased("%v", plural(a.Answers, "answer"))
	if a.Failures > 0 {
		got = phrased("%v and %v", got, plural(a.Failures, "failure"))
	}
	got = phrased("%v in %v", got, micros(a.WindowUS))
	if a.WindowUS >= a.LeastWindowUS {
		return phrased("only %v: too few for percentiles, which take at least %v", got, a.LeastAnswers)
	}
	if a.Answers >= a.LeastAnswers {
		return phrased("too short to judge: %v; a verdict takes a window of at least %v", got,
			digits.Micros(a.LeastWindowUS))
	}
	return phrased("too short to judge: %v; a verdict takes at least %v answers and a window of at "+
		"least %v", got, a.LeastAnswers, digits.Micros(a.LeastWindowUS))
}

// standstillPhrase says for how long the generator stood still, since when, and how many requests
// that delayed.
func standstillPhrase(a fact.StoodStill) phrase {
	const why = ", because it was stopped or had no CPU"
	p := phrased("the generator stood still for %v, %v into the window"+why, micros(a.LongestUS),
		micros(a.SinceS*1e6))
	if a.TotalUS > 1.01*a.LongestUS {
		p = phrased("the generator stood still several times, for %v in all"+why+"; the longest stop "+
			"took %v and began %v into the window", micros(a.TotalUS), micros(a.LongestUS),
			micros(a.SinceS*1e6))
	}
	if a.Delayed > 0 {
		p = phrased("%v; the delay is in the latency of up to %v of the requests", p,
			significant(a.Delayed, 2))
	}
	p.add("; measure again")
	return p
}

// quotaPhrase says how often a CPU quota stopped the generator, and for how long.
func quotaPhrase(a fact.CPUQuota) phrase {
	of, times := "", phrased("once,")
	if a.CPUs > 0 {
		of = " of " + digits.Significant(a.CPUs, 3) + " CPUs"
	}
	if a.Periods > 1 {
		times = phrased("in %v periods,", counts(a.Periods))
	}
	return phrased("the generator's cgroup used up its CPU quota%v and was stopped %v for %v in all: "+
		"the stops are in the latency; raise the quota, or lower the load", of, times, micros(a.TotalUS))
}
