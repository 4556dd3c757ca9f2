package say

import (
	"strings"

	"dyno/internal/fact"
)

// A Voice says what to do with a setting, in the words of whoever described the load: "raise -c".
// The setting has its name of facts, and the value is fact.Higher, fact.Lower, or what to give. It
// is "" if the voice has no word for the setting. Package setting has the voices.
type Voice func(setting, value string) string

// Advice says what can be done about a fact: "raise the limit (ulimit -n), or lower -c". It is ""
// if there is nothing that a voice has words for.
func Advice(f fact.Fact, v Voice) string {
	var parts []string
	if first := besides(f.Args); first != "" {
		parts = append(parts, first)
	}
	for _, r := range f.Remedies {
		if part := v(r.Setting, r.Value); part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", or ")
}

// besides is what can be done that is no setting of a load; "" if there is nothing.
func besides(args fact.Args) string {
	switch a := args.(type) {
	case fact.Busy:
		return freeTime(a)
	case fact.ScenarioBusy:
		less := "have it do less in a step"
		if !a.Steps {
			less = "fill and check less"
		}
		if free := freeTime(a.Busy); free != "" {
			return less + ", or " + free
		}
		return less
	case fact.Unscheduled:
		return "free its CPUs of other work"
	case fact.ProbeLag:
		return "give it more CPUs"
	case fact.NoFile:
		return "raise the limit (ulimit -n)"
	case fact.Dropped:
		return "raise its backlog and net.core.somaxconn"
	case fact.Unserved:
		return "see the errors"
	}
	return ""
}

// freeTime is what gives a generator time, if it is no setting.
func freeTime(a fact.Busy) string {
	switch {
	case a.AtQuota:
		return "raise the CPU quota of its cgroup, or use another machine"
	case a.AllCPUs:
		return "give it more CPUs, or another machine"
	}
	return ""
}
