package say

import (
	"strconv"

	"dyno/internal/digits"
	"dyno/internal/fact"
	"dyno/internal/stats"
)

// trialPhrase is the sentence for a doubt about a trial; empty of another kind.
func trialPhrase(args fact.Args) (p phrase) {
	switch a := args.(type) {
	case fact.TrialFailed:
		return phrased("the trial failed (%v: %v)", a.Phase, a.Why)
	case fact.MachineEvent:
		if a.Of == fact.SlowedByHeat {
			return phrased("CPUs were slowed down %v because they were hot", plural(a.Count, "time"))
		}
		return phrased("%v %v", counts(a.Count), events[a.Of])
	case fact.MachineShare:
		return sharePhrase(a)
	case fact.AnswersLacking:
		return lackingPhrase(a)
	case fact.RequestsRefused:
		return phrased("%v %v due but not sent: %v", plural(a.Count, "request"), digits.Were(a.Count),
			a.Why)
	case fact.AnswerChanged:
		return phrased("after the load the server answers otherwise: %v was %v and is %v", a.Aspect,
			a.Before, a.After)
	case fact.SizeDiffers:
		return phrased("%v bytes were received for each request, but %v when the server was checked",
			number(a.Bytes, digits.Rounded(a.Bytes, 0)), number(a.Checked, digits.Rounded(a.Checked, 0)))
	case fact.SentInTime:
		return inTimePhrase(a)
	case fact.NotSteady:
		p = phrased("the trial was not steady after %v of warm-up", seconds(a.WarmupS, 1))
		if a.Varied > 0 {
			p = phrased("%v: throughput varied by %v", p, percent(a.Varied, 1))
		}
		return p
	case fact.SecondsShow:
		return phrased("the trial's throughput, second by second, shows %v", show(a.What))
	case fact.ColdWindow:
		return phrased("the first %v of the trial's window were still warm-up (MSER-5): without them "+
			"throughput would be %v higher", seconds(a.CutS, 0), percent(a.Higher, 1))
	case fact.LoadLacking:
		return phrased("%v of the load could not be applied: connections were gone and could not be "+
			"opened again, or waited for an answer until the end", significant(a.Percent, 3))
	case fact.ConnectionsLacking:
		return phrased("%v of %v connections %v", counts(a.Missing), counts(a.Of), unserved(a.Unopened))
	case fact.CountsDiffer:
		return phrased("the server counted %v requests, but the clients together sent %v",
			counts(a.Server), counts(a.Clients))
	case fact.ServerKilled:
		return phrased("the process %v had to be killed", strconv.Quote(a.Process))
	}
	return phrase{}
}

// show is what the seconds of a trial show, as an object.
func show(what string) string {
	switch what {
	case string(stats.WarmUp), string(stats.Slowdown):
		return "a " + what
	}
	return what
}

// events are what the system counted, after how often.
var events = map[fact.Event]string{
	fact.QueueFull:     "connections were dropped because a listener's queue was full",
	fact.PacketDropped: "packets were dropped by the kernel",
	fact.SegmentResent: "TCP segments were sent again",
}

// sharePhrase says what deprived a trial, and of how much.
func sharePhrase(a fact.MachineShare) phrase {
	share := amount{value: a.Percent, text: digits.Two(a.Percent), unit: " %"}
	switch a.By {
	case fact.ByHost:
		return phrased("the hypervisor took %v of the CPUs' time", share)
	case fact.ByQuota:
		return phrased("the CPU quota of dyno's cgroup took %v of the CPUs' time, in %v", share,
			plural(a.Periods, "period"))
	case fact.ByMemory:
		return phrased("processes waited for memory %v of the time (PSI)", share)
	}
	share.least = true
	return phrased("other programs used at least %v of the machine's CPUs", share)
}

// lackingPhrase says how many requests failed or had no answer, and which checks failed.
func lackingPhrase(a fact.AnswersLacking) phrase {
	p := phrased("%v of %v requests failed", counts(a.Failed), counts(a.Sent))
	switch {
	case a.Unanswered > 0 && a.Failed > 0:
		p = phrased("%v and %v had no answer at the end", p, counts(a.Unanswered))
	case a.Unanswered > 0:
		p = phrased("%v of %v requests had no answer at the end", counts(a.Unanswered), counts(a.Sent))
	}
	for i, c := range a.Checks {
		between := ", "
		if i == 0 {
			between = " (checks that failed: "
		}
		p = phrased("%v%v%v: %v", p, between, strconv.Quote(c.Name), counts(c.Count))
	}
	if len(a.Checks) > 0 {
		p.add(")")
	}
	return p
}

// inTimePhrase says how much was sent in time, and why no more.
func inTimePhrase(a fact.SentInTime) phrase {
	what, begun, why := "requests", "sent", phrased("%v", Shortage(a.Shortage))
	if a.Iterations {
		what, begun = "iterations", "begun"
	}
	if a.OwnDelay {
		why = phrased("the generator was late, although connections were free")
	}
	return phrased("%v of the %v due were not %v in time, because %v", percent(100-a.Percent, 1), what,
		begun, why)
}

// unserved says why connections took no part in a load.
func unserved(unopened bool) string {
	if unopened {
		return "could not be opened"
	}
	return "never completed a request"
}
