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
	parts := remedies(f.Remedies, v)
	if first := besides(f.Args); first != "" {
		parts = append([]string{first}, parts...)
	}
	return strings.Join(parts, ", or ")
}

// remedies are those that a voice has words for.
func remedies(all []fact.Remedy, v Voice) (parts []string) {
	for _, r := range all {
		if part := v(r.Setting, r.Value); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// WithAdvice is a text, such as that of an error, with what can be done about it.
func WithAdvice(text string, all []fact.Remedy, v Voice) string {
	if parts := remedies(all, v); len(parts) > 0 {
		return text + "; " + strings.Join(parts, ", or ")
	}
	return text
}

// Error is an error's text with what can be done about it (fact.RemediesOf).
func Error(err error, v Voice) string { return WithAdvice(err.Error(), fact.RemediesOf(err), v) }

// besides is what can be done that is no setting of a load; "" if there is nothing.
func besides(args fact.Args) string {
	switch a := args.(type) {
	case fact.Busy:
		return freeTime(a)
	case fact.ScenarioBusy:
		less := "have the scenario do less in a step"
		if !a.Steps {
			less = "fill and check less"
		}
		if free := freeTime(a.Busy); free != "" {
			return less + ", or " + free
		}
		return less
	case fact.Unscheduled:
		return "free the generator's CPUs of other work"
	case fact.ProbeLag:
		return "give the generator more CPUs"
	case fact.NoFile:
		return "raise the limit (ulimit -n)"
	case fact.Dropped:
		return "raise the server's backlog and net.core.somaxconn"
	case fact.RedirectsOnly:
		return "load the URL they lead to"
	case fact.Unserved:
		return "see the errors"
	}
	return ""
}

// freeTime is what gives a generator time, if it is no setting.
func freeTime(a fact.Busy) string {
	switch {
	case a.AtQuota:
		return "raise the CPU quota of the generator's cgroup, or use another machine"
	case a.AllCPUs:
		return "give the generator more CPUs, or use another machine"
	}
	return ""
}
