package grade

import (
	"dyno/internal/lab"
	"dyno/internal/result"
	"dyno/internal/say"
	"dyno/internal/setting"
)

// remedies are what a user can change in an experiment's file about a reason of the generator's
// verdict. Package report has the remedies for a command line.
var remedies = map[result.Cause]string{
	result.Busy:         "give it more CPUs (design: {cpus: {generator: LIST}}), or clients",
	result.ScenarioTime: "have it do less in a step, or give more CPUs (design: {cpus: ...})",
	result.SendLag:      "give it CPUs of its own (design: {cpus: ...}), or lower the level's rate",
	result.Unscheduled:  "give it CPUs of its own (design: {cpus: ...})",
	result.Spacing:      "give it CPUs of its own (design: {cpus: ...}), or lower the level's rate",
	result.Files:        "raise the limit (ulimit -n), or give the level fewer connections",
	result.Dropped:      "raise its backlog and net.core.somaxconn",
	result.Unserved:     "give a longer warmup (design: {warmup: {min: ...}}), or fewer connections",
	result.Little:       "give the level no requests, so that its window is design.measure",
	result.TooShort:     "give a longer window (design: {measure: ...}), or the level more requests",
}

// GeneratorReasons are the reasons of the generator's verdict. If the trial belongs to an
// experiment, each has its remedy in the file. Results from before result.Doubt contain the remedy
// in the reason.
func GeneratorReasons(t *lab.Trial) []string {
	g := t.Result.Generator
	all := make([]string, len(g.Reasons))
	for i, reason := range g.Reasons {
		all[i] = reason
		if i < len(g.Doubts) {
			if f := t.Result.FactOf(g.Doubts[i]); f != nil && t.Arm != "" {
				if advice := say.Advice(f.Remedies, setting.Key); advice != "" {
					all[i] += "; " + advice
				}
				continue
			}
		}
		if t.Arm != "" {
			all[i] = InFileWords(reason)
		}
		if i < len(g.Doubts) && g.Doubts[i].Kind != result.Fault && t.Arm != "" {
			remedy := remedies[g.Doubts[i].Cause]
			if g.Doubts[i].Cause == result.NeverSent {
				remedy = say.Advice(t.Result.Shortage().Remedies(), setting.Key)
			}
			if remedy != "" {
				all[i] += "; " + remedy
			}
		}
	}
	return all
}
