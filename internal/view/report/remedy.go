package report

import (
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
// command line. Results from before result.Doubt say that themselves.
func Reasons(r *result.Result) []string {
	all := make([]string, len(r.Generator.Reasons))
	for i, reason := range r.Generator.Reasons {
		all[i] = format.PlainLine(reason)
		if i < len(r.Generator.Doubts) {
			if remedy := remedyOf(r, r.Generator.Doubts[i]); remedy != "" {
				all[i] += "; " + remedy
			}
		}
	}
	return all
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
	return generatorWord(r.Generator.Verdict, r.Generator.NotJudged())
}

func generatorWord(verdict string, notJudged bool) string {
	if notJudged {
		return "not judged"
	}
	return format.PlainLine(verdict)
}
