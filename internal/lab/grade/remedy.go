package grade

import (
	"dyno/internal/lab"
	"dyno/internal/say"
	"dyno/internal/setting"
)

// GeneratorReasons are the reasons of the generator's self-check. If the trial belongs to an
// experiment, each has what can be done about it in the file. Results of an older dyno have reasons
// that are no facts, for which nothing is advised.
func GeneratorReasons(t *lab.Trial) []string {
	all, facts := make([]string, len(t.Result.Generator.Reasons)), t.Result.ReasonFacts()
	for i, reason := range t.Result.Generator.Reasons {
		all[i] = reason
		if t.Arm == "" || facts == nil {
			continue
		}
		if advice := say.Advice(facts[i], setting.Key); advice != "" {
			all[i] += "; " + advice
		}
	}
	return all
}
