package say

import (
	"fmt"

	"dyno/internal/digits"
	"dyno/internal/fact"
)

// generatorSentence is Sentence for the generator's doubts about itself; "" of another kind.
func generatorSentence(f fact.Fact) string {
	isLimit := f.Severity == fact.Error
	switch a := f.Args.(type) {
	case fact.Steal:
		return fmt.Sprintf("the hypervisor gave %.1f %% of the CPUs' time to others: repeat it, or "+
			"use a machine of its own", a.Percent)
	case fact.StoodStill:
		return standstillSentence(a)
	case fact.CPUQuota:
		return quotaSentence(a)
	case fact.Busy:
		if isLimit {
			return fmt.Sprintf("the generator was busy %.0f %% of the time: this is its limit, "+
				"not (only) the server's", a.Percent)
		}
		return fmt.Sprintf("the generator was busy %.0f %% of the time, which is near its "+
			"limit: some of the latency is its own", a.Percent)
	case fact.ScenarioBusy:
		return scenarioSentence(a, isLimit)
	case fact.SendLag:
		return fmt.Sprintf("the generator sent 1 %% of the requests more than %s late, which "+
			"counts as latency (mean %s)", digits.Micros(a.P99US), digits.Micros(a.MeanUS))
	case fact.ProbeLag:
		return fmt.Sprintf("the generator sent 1 %% of the probe's requests more than %s "+
			"late, which counts as their latency (mean %s)", digits.Micros(a.P99US),
			digits.Micros(a.MeanUS))
	case fact.Unscheduled:
		return fmt.Sprintf("a thread of the generator waited for a CPU %.0f %% of the "+
			"time, while other programs ran there", a.Percent)
	case fact.Scheduling:
		return fmt.Sprintf("goroutines that could run waited for a CPU, 1 %% of them %s or "+
			"longer, several times in each request, which counts as latency (mean %s): give CPUs of its "+
			"own, or another machine", digits.Micros(a.P99US), digits.Micros(a.MeanUS))
	case fact.GCPause:
		return fmt.Sprintf("garbage collection stopped the generator for up to %s: the "+
			"highest latencies may be its own", digits.Micros(a.LongestUS))
	case fact.RuntimeStop:
		return fmt.Sprintf("the Go runtime stopped the generator for up to %s: the highest "+
			"latencies may be its own", digits.Micros(a.LongestUS))
	case fact.TooShort:
		return shortSentence(a)
	}
	return loadSentence(f)
}

// loadSentence is Sentence for what the load was, if not the one that was asked for, and for what
// it ran short of; "" of another kind.
func loadSentence(f fact.Fact) string {
	switch a := f.Args.(type) {
	case fact.Ended:
		return endedSentence(a)
	case fact.Outage:
		says := "rate and percentiles say nothing of that time"
		if a.Open {
			says = "what was due then waited for one, which is in its latency, or was never sent"
		}
		return fmt.Sprintf("for %s of the window no connection could be opened%s: %s",
			digits.Micros(a.OutageUS), inBrackets(a.Why), says)
	case fact.NeverSent:
		what, done := "requests", "sent"
		if a.Iterations {
			what, done = "iterations", "begun"
		}
		return fmt.Sprintf("%s %% of the %s due were never %s: the "+
			"latencies are those of a lower rate", digits.Significant(a.Percent, 3), what, done)
	case fact.Unserved:
		never := "never completed a request"
		if a.Unopened {
			never = "could not be opened"
		}
		return fmt.Sprintf("%s of %s connections %s: the load was that of the others",
			count(a.Missing), count(a.Of), never)
	case fact.Arrivals:
		if a.A2 > 0 {
			return fmt.Sprintf("arrivals were not poisson: Anderson and Darling's A² is %.1f for "+
				"%s spans, and chance exceeds 6.0 once in a thousand", a.A2, count(a.Spans))
		}
		return fmt.Sprintf("arrivals were not evenly spaced: 1 span in 20 was off by %.0f %% "+
			"or more", a.Off)
	case fact.NoPort:
		return "no local port was left for a connection, " + digits.Plural(a.Times, "time") + ": widen " +
			"net.ipv4.ip_local_port_range, or keep connections alive"
	case fact.NoFile:
		return "no file descriptor was left for a connection, " + digits.Plural(a.Times, "time")
	case fact.TimeWait:
		return fmt.Sprintf("%s sockets were in TIME_WAIT, of %s local ports: "+
			"connections may soon find none; widen net.ipv4.ip_local_port_range, or keep "+
			"connections alive", count(a.Sockets), count(a.Ports))
	case fact.Dropped:
		return fmt.Sprintf("a server's queue of connections was full on this machine, "+
			"%s, and so some waited for 200 ms or more", digits.Plural(a.Times, "time"))
	case fact.Resent:
		return fmt.Sprintf("%s TCP segments were lost and sent again by this machine, "+
			"while %s completed: the network, or a queue that is full, is in the "+
			"highest latencies", count(a.Segments), digits.Plural(a.Answers, "request"))
	case fact.Little:
		return littleSentence(a)
	}
	return ""
}

// inBrackets is why, in brackets, if it is known.
func inBrackets(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

// endedSentence says why a load ended, or that nothing was answered.
func endedSentence(a fact.Ended) string {
	after := digits.Micros(a.MeasuredUS)
	switch a.How {
	case "unreachable":
		return "nothing was measured: no connection could be opened (" + a.Why + ")"
	case "gone":
		return fmt.Sprintf("the load ended after %s because no connection could be "+
			"opened any more (%s): the server was gone for the rest", after, a.Why)
	case "unserved":
		return fmt.Sprintf("the load ended after %s because the server ended each connection "+
			"without an answer, again and again (%s)", after, a.Why)
	case "interrupted":
		return "interrupted after " + after + ": this is a part of the run that was planned"
	case "faulted":
		return "the script ended the load after " + after + ": " + a.Why
	}
	return "nothing was measured: no request completed" + inBrackets(a.Why)
}

// scenarioSentence says how much of its time a generator spent with what users do.
func scenarioSentence(a fact.ScenarioBusy, isLimit bool) string {
	with, whose := "the scenario itself", "the scenario's"
	if !a.Steps {
		with, whose = "filling requests and checking answers", "the generator's"
	}
	says := "some of the latency is " + whose
	if isLimit {
		says = "this is " + whose + " limit, not (only) the server's"
	}
	return fmt.Sprintf("a thread was busy %.0f %% of the time, %.0f %% with %s: %s", a.Percent,
		a.Scenario, with, says)
}

// littleSentence says how Little's law is broken.
func littleSentence(a fact.Little) string {
	if a.Ratio > 1 {
		return fmt.Sprintf("rate × mean latency is %.2f of what %s connections can have "+
			"in flight: one of them is measured wrong; report it as a fault of dyno", a.Ratio,
			count(a.Connections))
	}
	silent := ""
	if a.Unanswered {
		silent = "requests that were never answered, to "
	}
	return fmt.Sprintf("connections had a request in flight only %.0f %% of the time, "+
		"by rate × mean latency: the rest went to %sconnecting, to threads that had done their part of "+
		"the requests early, or to the generator itself", 100*a.Ratio, silent)
}

// shortSentence says how little was measured, and how much it takes.
func shortSentence(a fact.TooShort) string {
	got := digits.Plural(a.Answers, "answer")
	if a.Failures > 0 {
		got += " and " + digits.Plural(a.Failures, "failure")
	}
	got += " in " + digits.Micros(a.WindowUS)
	if a.WindowUS >= a.LeastWindowUS {
		return fmt.Sprintf("only %s: too few for percentiles, and it takes at least %d", got,
			a.LeastAnswers)
	}
	return fmt.Sprintf("too short to judge: %s; it takes at least %d answers and a window of at "+
		"least %s", got, a.LeastAnswers, digits.Micros(a.LeastWindowUS))
}
