package lab

import (
	"fmt"
	"strings"
)

// Environment is what an experiment ran on, as names and values in a fixed order. Where two
// experiments differ in it, that may be why their results differ. Names are unique. What was not
// known is left out.
func (r *Record) Environment() (all []Fact) {
	say := func(name, format string, args ...any) {
		if value := fmt.Sprintf(format, args...); value != "" {
			all = append(all, Fact{name, value})
		}
	}
	say("dyno", "%s", r.Dyno)
	say("experiment's file (SHA-256)", "%s", r.SHA256)
	say("quick", "%v", r.Quick)
	h := r.Host
	say("system", "%s", strings.TrimSpace(h.OS+" "+h.Kernel))
	say("architecture", "%s", h.Arch)
	say("CPU", "%s", h.CPU)
	say("CPUs", "%d: generator %v, server %v", h.CPUs, r.CPUs.Generator, r.CPUs.Server)
	say("Go that built dyno", "%s", h.Go)
	for _, f := range r.Machine {
		if f.Name != LoadAverage { // it depends on what was running, not on the machine
			all = append(all, f)
		}
	}
	for _, a := range r.Arms {
		say("version of "+a.Name, "%s", a.Version)
	}
	return append(all, programFacts(r.Programs)...)
}

// programFacts are the executables. Those with the same process and name make one fact.
func programFacts(programs []ArmProgram) (all []Fact) {
	at := map[string]int{}
	for _, p := range programs {
		name := fmt.Sprintf("program of %s, process %s: %s (SHA-256)", p.Arm, p.Process, p.Executable())
		sum := p.SHA256
		if sum == "" {
			sum = "not readable"
		}
		if i, again := at[name]; again {
			all[i].Value += " and " + sum
			continue
		}
		at[name] = len(all)
		all = append(all, Fact{name, sum})
	}
	return all
}

const LoadAverage = "load average at the start"
