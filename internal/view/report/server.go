package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"dyno/internal/observe/probe"
	"dyno/internal/observe/profile"
	"dyno/internal/result"
)

// serverFacts are what the server used, and the machine besides, where it was
// watched.
func serverFacts(r *result.Result) (all []Fact) {
	if s := r.Server; s != nil && len(s.Processes) > 0 {
		all = append(all, Fact{"server", at(s) + used(s.Processes[0])},
			Fact{"machine", at(s) + machineUse(s)})
		if unknown := slices.ContainsFunc(shown(s), func(v probe.Value) bool {
			return !v.OK()
		}); unknown && len(s.Unavailable) > 0 {
			all = append(all, Fact{"n/a", plain(strings.Join(s.Unavailable, "; "))})
		}
	}
	if p := r.Profile; p != nil {
		all = append(all, Fact{"profile", profiled(p)})
	}
	return all
}

// at is where s was watched, if that was not beside the generator.
func at(s *result.Server) string {
	if s.Agent == "" {
		return ""
	}
	return "on agent " + plain(s.Agent) + ": "
}

// shown are the values of the facts.
func shown(s *result.Server) []probe.Value {
	u, h := s.Processes[0], s.Host
	return []probe.Value{u.CPU, u.Wait, u.Memory, u.Threads, u.FDs, h.Steal, h.Foreign}
}

// used is what all of the server used.
func used(u result.Usage) string {
	return fmt.Sprintf("%s CPU a request: %s user, %s system; waited for a CPU %s a request; "+
		"%s of a core, %s of memory, %s threads, %s file descriptors", known(u.CPU, micros),
		known(u.User, micros), known(u.System, micros), known(u.Wait, micros),
		known(u.Percent, percent), known(u.Memory, size), known(u.Threads, exact3),
		known(u.FDs, exact3))
}

// machineUse is what may have disturbed, and the sampler is among it.
func machineUse(s *result.Server) string {
	of := s.Host.WallS * 1e7 * float64(s.Host.CPUs) // ns that are 1 %
	h := s.Host
	others := h.Foreign // which on some kernels has the interrupts in it
	for _, interrupts := range []probe.Value{h.SoftIRQ, h.IRQ} {
		if interrupts.OK() {
			others -= interrupts * probe.Value(of)
		}
	}
	share := func(ns float64) string { return percent(math.Max(ns, 0) / of) }
	return fmt.Sprintf("busy %s of all CPUs, by others at least %s, stolen %s; sampling took %s "+
		"of a core", known(h.Busy, share), known(others, share), known(h.Steal, percent),
		known(s.Sampler.Share, percent))
}

// known is v as show shows it, or that it is not to be had.
func known(v probe.Value, show func(float64) string) string {
	if !v.OK() {
		return "n/a"
	}
	return show(float64(v))
}

// processes has a row for each part of the server, when there are several.
func processes(r *result.Result) table {
	if r.Server == nil || len(r.Server.Processes) <= 2 { // all together is the only one
		return nil
	}
	t := table{{"server", "pid", "CPU/req", "user", "system", "waited", "core", "memory", "threads",
		"fds"}}
	for _, u := range r.Server.Processes {
		name, pid := plain(u.Name), fmt.Sprint(u.PID)
		if name == "" {
			name, pid = "all", ""
		}
		t = append(t, []string{Clip(name, longestTitle), pid, known(u.CPU, micros),
			known(u.User, micros), known(u.System, micros), known(u.Wait, micros),
			known(u.Percent, percent), known(u.Memory, size), known(u.Threads, exact3),
			known(u.FDs, exact3)})
	}
	return t
}

const (
	longestTitle = 40 // characters of a process's
	topFunctions = 10 // of a profile, in text
)

// profiled is where a profile came from, and where it is.
func profiled(p *result.Profile) string {
	s := fmt.Sprintf("%s, %s, %s", plain(string(p.Kind)), seconds(p.DurationS),
		Many(p.Samples, "sample"))
	if p.Samples == 0 {
		s += ": the server was idle"
	}
	if p.File != "" {
		s += "; go tool pprof " + plain(p.File)
	}
	return s
}

// functions are those in which the server spent most time, itself and with what
// it called.
func functions(r *result.Result) table {
	if r.Profile == nil || len(r.Profile.Top) == 0 {
		return nil
	}
	share := func(p profile.Part) string { return percent(100 * p.Share) }
	t := table{{"flat", "cum", "function"}}
	for _, l := range r.Profile.Top[:min(topFunctions, len(r.Profile.Top))] {
		t = append(t, []string{share(l.Flat), share(l.Cumulative), plain(l.Function)})
	}
	return t
}
