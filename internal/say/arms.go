package say

import (
	"fmt"
	"slices"
	"strings"

	"dyno/internal/digits"
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
		return fmt.Sprintf("CPU %d stands in design.cpus for both the generator and the servers", a.CPU)
	}
	return ""
}

// unavailable say why a variant cannot be loaded here.
var unavailable = map[fact.Unavailable]string{
	fact.NotThen: "it was not available when the servers were checked; to begin anew, call " +
		"dyno lab rerun",
	fact.OwnKernel: "sysctl works only inside a private network, and a fleet's load comes from " +
		"outside it: set the parameters on the machine, and leave out sysctl",
	fact.OwnGenerator: "its generator is a program of this machine, which a fleet cannot run",
}

func sessionFailed(a fact.SessionFailed) string {
	all := slices.Clone(a.Failures)
	if len(a.Status) > 0 {
		codes := make([]string, len(a.Status))
		for i, s := range a.Status {
			codes[i] = s.Code + " (" + digits.Times(s.Count) + ")"
		}
		all = append(all, "in all, it answered with status "+Listed(codes))
	}
	if len(all) == 0 {
		all = []string{"no response came"}
	}
	return "the session with its server failed: " + strings.Join(all, "; ")
}

func armMend(a fact.ArmMend) string {
	const same = "to compare the variant all the same, write fairness: {mode: warn} in the file"
	switch a.By {
	case fact.ListenThere:
		return "its server listens on " + a.At + ", not on the port that dyno chose: write {port} in " +
			"its command ({{port}} in a file), or give the variant a url"
	case fact.StartIt:
		return "start the server, or correct its URL"
	case fact.NoOutput:
		return "the server wrote no output"
	case fact.SeeOutput:
		return "the server's output is in " + a.File
	case fact.SeeSession:
		return "to see each request and answer, start the server and call dyno scenario run -v " +
			a.File + " --variable base=URL, with the same --data, --variable, --auth and -u"
	case fact.AllowAll:
		return same
	}
	return fmt.Sprintf("%s; to allow that %s may differ, write fairness: {allow: [%s]}", same,
		Listed(a.Aspects), strings.Join(a.Allowed, ", "))
}

// tried are the settings of the generator.
var tried = map[fact.Tried]string{
	fact.HalfThreads:   "half the threads",
	fact.DoubleThreads: "double the threads",
	fact.OtherRing:     "another ring (io_uring, epoll)",
	fact.WithWrk:       "wrk",
}

// untried say why they are not tried.
var untried = map[fact.Untried]string{
	fact.RingUnknown:   "the first trial failed, so the ring in use is not known",
	fact.RingOnly:      "there is none on this platform, or for this protocol",
	fact.NotInstalled:  "it is not installed",
	fact.NoServed:      "the variant lacks the key \"served\", by which dyno judges other generators",
	fact.NoSuchLoad:    "it cannot make this load",
	fact.MoreThanGET:   "the workload is more than GET requests to one URL",
	fact.OfThisMachine: "it can load only from this machine and its network",
}

func settingSkipped(a fact.SettingSkipped) string {
	why := untried[a.Why]
	if a.Why == fact.ForConnections {
		why = "the generator has " + digits.Plural(int64(a.Threads), "thread")
		if a.Setting == fact.DoubleThreads {
			why += ", and the load " + digits.Plural(int64(a.Connections), "connection")
		}
	}
	return tried[a.Setting] + ", because " + why
}
