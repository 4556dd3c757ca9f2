package report

import (
	"cmp"
	"slices"

	"dyno/internal/result"
	"dyno/internal/say"
	"dyno/internal/view/format"
	"dyno/internal/view/repeat"
)

// remedies are what can be done about a reason of the generator's verdict where a load is
// described by flags. An experiment's file has others: see package lab.
var remedies = map[result.Cause]string{
	result.ScenarioTime: "have it do less in a step, or add threads (-t) where there are CPUs",
	result.SendLag:      "give it CPUs of its own",
	result.Unscheduled:  "free its CPUs of other work, or give it CPUs of its own (--cpus)",
	result.Spacing:      "give the generator CPUs of its own",
	result.Files:        "raise the limit (ulimit -n), or lower -c",
	result.ProbeLag:     "lower -t, or give more CPUs",
	result.TooShort:     "give a longer -d or a larger -n",
}

// Reasons are those of the generator's verdict on itself, with what can be done about each on the
// command line: those that justify the verdict first. Results from before result.Doubt say that
// themselves.
func Reasons(r *result.Result) []string {
	return reasonsBut(r, func(result.Doubt) bool { return false })
}

// reasonsBut are Reasons without those of some doubts.
func reasonsBut(r *result.Result, without func(result.Doubt) bool) []string {
	all := make([]string, 0, len(r.Generator.Reasons))
	for _, i := range reasonOrder(r) {
		reason := format.PlainLine(r.Generator.Reasons[i])
		if i < len(r.Generator.Doubts) {
			d := r.Generator.Doubts[i]
			if without(d) {
				continue
			}
			if remedy := remedyOf(r, d); remedy != "" {
				reason += "; " + remedy
			}
		}
		all = append(all, reason)
	}
	return all
}

// reasonOrder is the order in which the reasons of the generator's verdict are said: those about
// the generator itself first, the worst of each first.
func reasonOrder(r *result.Result) []int {
	order, doubts := make([]int, len(r.Generator.Reasons)), r.Generator.Doubts
	for i := range order {
		order[i] = i
	}
	if len(doubts) != len(order) {
		return order
	}
	rank := func(d result.Doubt) int {
		rank := slices.Index([]string{result.ClientBound, result.Suspect, result.OK}, d.Verdict)
		if !r.IsOwn(d) {
			rank += 3
		}
		return rank
	}
	slices.SortStableFunc(order, func(i, k int) int {
		return cmp.Compare(rank(doubts[i]), rank(doubts[k]))
	})
	return order
}

func remedyOf(r *result.Result, d result.Doubt) string {
	if f := r.FactOf(d); f != nil {
		return say.Advice(f.Remedies, r.Voice())
	}
	switch {
	case d.Cause == result.NeverSent:
		return say.Advice(r.Shortage().Remedies(), r.Voice())
	case d.Cause == result.Busy && r.AtQuota():
		return "raise the CPU quota of its cgroup, or use another machine"
	case d.Cause == result.Busy && r.Generator.Threads < r.Host.CPUs:
		return "add threads (-t)"
	case d.Cause == result.Busy:
		return "give it more CPUs, or another machine"
	case d.Kind == result.Fault:
		return "" // no flag mends dyno
	case d.Cause == result.TooShort && r.Plan.Replay > 0:
		return "replay more of the log"
	case d.Cause == result.Dropped && r.Plan.ConnectRate > 0:
		return "raise its backlog and net.core.somaxconn, or lower --connect-rate"
	case d.Cause == result.Dropped:
		return "raise its backlog and net.core.somaxconn, or give --connect-rate"
	case d.Cause == result.Unserved && r.Plan.Replay > 0: // which has no warm-up
		return "see the errors, or lower -c"
	case d.Cause == result.Unserved && r.Plan.Requested > 0:
		return "see the errors, give " + moreWarmup(r) + " or a larger -n, or lower -c"
	case d.Cause == result.Unserved:
		return "see the errors, give " + moreWarmup(r) + " or a longer -d, or lower -c"
	case d.Cause == result.Little && r.Plan.Requested > 0:
		return "give " + moreWarmup(r) + ", or -d in place of -n"
	case d.Cause == result.Little:
		return "give " + moreWarmup(r)
	case d.Cause == result.Unscheduled && len(r.Plan.CPUs) > 0:
		return "free its CPUs of other work, or give it others (--cpus)"
	case r.Model == result.OpenLoop && (d.Cause == result.SendLag || d.Cause == result.Spacing):
		return remedies[d.Cause] + ", or " + repeat.Lowered(r.Plan)
	}
	return remedies[d.Cause]
}

// moreWarmup is the setting that lets connections begin before the window.
func moreWarmup(r *result.Result) string {
	if r.Plan.Warmup > 0 {
		return "a longer --warmup"
	}
	return "--warmup"
}

// GeneratorWord is the generator's verdict on itself in a word or two.
func GeneratorWord(r *result.Result) string {
	return generatorWord(r.OwnVerdict(), r.Generator.NotJudged())
}

func generatorWord(verdict string, notJudged bool) string {
	if notJudged {
		return "not judged"
	}
	return format.PlainLine(verdict)
}
