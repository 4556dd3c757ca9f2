package say

import (
	"fmt"
	"slices"
	"strings"

	"dyno/internal/fact"
)

// armSentence is Sentence for variants that cannot be tested, and for what is not tried with them;
// "" of another kind.
func armSentence(args fact.Args) string {
	switch a := args.(type) {
	case fact.ArmUnavailable:
		return unavailable[a.Why]
	case fact.SessionFailed:
		return sessionFailed(a)
	case fact.ArmMend:
		return armMend(a)
	case fact.SettingSkipped:
		return settingSkipped(a)
	case fact.CPUInBoth:
		return fmt.Sprintf("CPU %d is in both sets of design.cpus", a.CPU)
	}
	return ""
}

// unavailable say why a variant cannot be loaded here.
var unavailable = map[fact.Unavailable]string{
	fact.NotThen: "it was not when the servers were checked; dyno lab rerun begins anew",
	fact.OwnKernel: "its kernel parameters are those of a private network, which a fleet does not " +
		"reach; set them on the machine, and leave out sysctl",
	fact.OwnGenerator: "its generator is a program of this machine, and not of a fleet",
}

func sessionFailed(a fact.SessionFailed) string {
	all := slices.Clone(a.Failures)
	for i, s := range a.Status {
		code := s.Code
		if s.Count > 1 {
			code += fmt.Sprintf(" (%d times)", s.Count)
		}
		if i == 0 {
			all = append(all, "the server answered with "+code)
			continue
		}
		all[len(all)-1] += ", " + code
	}
	if len(all) == 0 {
		all = []string{"no response came"}
	}
	return "its session fails: " + strings.Join(all, "; ")
}

func armMend(a fact.ArmMend) string {
	const same, warn = "to compare it all the same, write ", "fairness: {mode: warn}"
	switch a.By {
	case fact.ListenThere:
		return "its command must take the port that dyno chooses, {port} in dyno vs and {{port}} in a " +
			"file; or say by its url where it answers: " + a.At
	case fact.StartIt:
		return "start it, or mend its URL"
	case fact.NoOutput:
		return "it wrote nothing"
	case fact.SeeOutput:
		return "what it wrote is in " + a.File
	case fact.SeeSession:
		return "to see each request and answer, start the server and call dyno scenario run -v " +
			a.File + " --variable base=URL, with the same --data, --variable, --auth and -u"
	case fact.AllowAll:
		return same + warn + " in the file"
	}
	return fmt.Sprintf("%s%s in the file, or add %s to what fairness allows, as allow: [%s]", same,
		warn, strings.Join(a.Aspects, ", "), strings.Join(a.Allowed, ", "))
}

// tried are the settings of the generator.
var tried = map[fact.Tried]string{
	fact.HalfThreads:   "half the threads",
	fact.DoubleThreads: "double the threads",
	fact.OtherRing:     "another ring",
	fact.WithWrk:       "wrk",
}

// untried say why they are not tried.
var untried = map[fact.Untried]string{
	fact.RingUnknown:   "the first trial failed, so the ring in use is not known",
	fact.RingOnly:      "there is none on this platform, or for this protocol",
	fact.NotInstalled:  "it is not installed",
	fact.NoServed:      "the variant has no served:, by which other generators are judged",
	fact.NoSuchLoad:    "it has no such load",
	fact.MoreThanGET:   "the workload is more than a GET of url",
	fact.OfThisMachine: "it is a program of this machine and its network",
}

func settingSkipped(a fact.SettingSkipped) string {
	why := untried[a.Why]
	if a.Why == fact.ForConnections {
		why = fmt.Sprintf("it has %d, for %d connections", a.Threads, a.Connections)
	}
	return tried[a.Setting] + ": " + why
}
