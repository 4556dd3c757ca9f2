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
		all = append(all, Fact{"server", watchedOn(s) + usageText(s.Processes[0])},
			Fact{"machine", watchedOn(s) + machineText(s)})
		if unknown := slices.ContainsFunc(serverValues(s), func(v probe.Value) bool {
			return !v.OK()
		}); unknown && len(s.Unavailable) > 0 {
			all = append(all, Fact{"n/a", plainLine(strings.Join(s.Unavailable, "; "))})
		}
	}
	if p := r.Profile; p != nil {
		all = append(all, Fact{"profile", profileText(p)})
	}
	return all
}

// watchedOn is where s was watched, if that was not beside the generator.
func watchedOn(s *result.Server) string {
	if s.Agent == "" {
		return ""
	}
	return "on agent " + plainLine(s.Agent) + ": "
}

// serverValues are the values of the facts.
func serverValues(s *result.Server) []probe.Value {
	u, h := s.Processes[0], s.Host
	return []probe.Value{u.CPU, u.Wait, u.Memory, u.Threads, u.FDs, h.Steal, h.Foreign}
}

// usageText is what all of the server used.
func usageText(u result.Usage) string {
	return fmt.Sprintf("%s CPU a request: %s user, %s system; waited for a CPU %s a request; "+
		"%s of a core, %s of memory, %s threads, %s file descriptors", valueOrNA(u.CPU, microsText),
		valueOrNA(u.User, microsText), valueOrNA(u.System, microsText), valueOrNA(u.Wait, microsText),
		valueOrNA(u.Percent, percentText), valueOrNA(u.Memory, sizeText), valueOrNA(u.Threads, exact3),
		valueOrNA(u.FDs, exact3))
}

// machineText is what may have disturbed, and the sampler is among it.
func machineText(s *result.Server) string {
	of := s.Host.WallS * 1e7 * float64(s.Host.CPUs) // ns that are 1 %
	h := s.Host
	others := h.Foreign // which on some kernels has the interrupts in it
	for _, interrupts := range []probe.Value{h.SoftIRQ, h.IRQ} {
		if interrupts.OK() {
			others -= interrupts * probe.Value(of)
		}
	}
	share := func(ns float64) string { return percentText(math.Max(ns, 0) / of) }
	return fmt.Sprintf("busy %s of all CPUs, by others at least %s, stolen %s; sampling took %s "+
		"of a core", valueOrNA(h.Busy, share), valueOrNA(others, share), valueOrNA(h.Steal, percentText),
		valueOrNA(s.Sampler.Share, percentText))
}

// valueOrNA is v as show shows it, or that it is not to be had.
func valueOrNA(v probe.Value, show func(float64) string) string {
	if !v.OK() {
		return "n/a"
	}
	return show(float64(v))
}

// processTable has a row for each part of the server, when there are several.
func processTable(r *result.Result) table {
	if r.Server == nil || len(r.Server.Processes) <= 2 { // all together is the only one
		return nil
	}
	t := table{{"server", "pid", "CPU/req", "user", "system", "waited", "core", "memory", "threads",
		"fds"}}
	for _, u := range r.Server.Processes {
		name, pid := plainLine(u.Name), fmt.Sprint(u.PID)
		if name == "" {
			name, pid = "all", ""
		}
		t = append(t, []string{Clip(name, longestTitle), pid, valueOrNA(u.CPU, microsText),
			valueOrNA(u.User, microsText), valueOrNA(u.System, microsText), valueOrNA(u.Wait, microsText),
			valueOrNA(u.Percent, percentText), valueOrNA(u.Memory, sizeText), valueOrNA(u.Threads, exact3),
			valueOrNA(u.FDs, exact3)})
	}
	return t
}

const (
	longestTitle = 40 // characters of a process's
	topFunctions = 10 // of a profile, in text
)

// profileText is where a profile came from, and where it is.
func profileText(p *result.Profile) string {
	s := fmt.Sprintf("%s, %s, %s", plainLine(string(p.Kind)), secondsText(p.DurationS),
		Plural(p.Samples, "sample"))
	if p.Samples == 0 {
		s += ": the server was idle"
	}
	if p.File != "" {
		s += "; go tool pprof " + plainLine(p.File)
	}
	return s
}

// functionTable are those in which the server spent most time, itself and with what
// it called.
func functionTable(r *result.Result) table {
	if r.Profile == nil || len(r.Profile.Top) == 0 {
		return nil
	}
	share := func(p profile.Part) string { return percentText(100 * p.Share) }
	t := table{{"flat", "cum", "function"}}
	for _, l := range r.Profile.Top[:min(topFunctions, len(r.Profile.Top))] {
		t = append(t, []string{share(l.Flat), share(l.Cumulative), plainLine(l.Function)})
	}
	return t
}
