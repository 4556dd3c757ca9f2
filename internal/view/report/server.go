package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"dyno/internal/fact"
	"dyno/internal/observe/probe"
	"dyno/internal/observe/profile"
	"dyno/internal/result"
	"dyno/internal/say"
	"dyno/internal/setting"
	"dyno/internal/view/document"
	"dyno/internal/view/format"
)

// serverRows are what the server used, and the machine besides, where it was
// watched.
func serverRows(r *result.Result) (all []document.Row) {
	if s := r.Server; s != nil && len(s.Processes) > 0 {
		all = append(all,
			document.Row{Name: "server", Text: watchedOn(s) + usageText(s.Processes[0])},
			document.Row{Name: "machine", Text: watchedOn(s) + machineText(s)})
		all = append(all, othersOfName(r)...)
		u, h := s.Processes[0], s.Host
		values := []probe.Value{u.CPU, u.Wait, u.Memory, u.Threads, u.FDs, h.Steal, h.Foreign}
		if unknown := slices.ContainsFunc(values, func(v probe.Value) bool {
			return !v.OK()
		}); unknown && len(s.Unavailable) > 0 {
			all = append(all, document.Row{Name: "n/a",
				Text: format.PlainLine(strings.Join(s.Unavailable, "; "))})
		}
	}
	if p := r.Profile; p != nil {
		all = append(all, document.Row{Name: "profile", Text: profileText(p)})
	}
	return all
}

// othersOfName are processes that have a name that was to be watched, and were not watched.
func othersOfName(r *result.Result) (all []document.Row) {
	for _, f := range r.Facts {
		if _, is := f.Args.(fact.OthersOfName); is {
			all = append(all, document.Row{Name: "watched",
				Text: format.PlainLine(say.Text(f, setting.Flag))})
		}
	}
	return all
}

// watchedOn is where s was watched, if that was not beside the generator.
func watchedOn(s *result.Server) string {
	if s.Agent == "" {
		return ""
	}
	return "on agent " + format.PlainLine(s.Agent) + ": "
}

// usageText is what all of the server used.
func usageText(u result.Usage) string {
	return fmt.Sprintf("%s CPU/request: %s user, %s system; waited for a CPU %s per request; "+
		"%s of a core, %s of memory, %s threads, %s file descriptors", ValueOrNA(u.CPU, format.Micros),
		ValueOrNA(u.User, format.Micros), ValueOrNA(u.System, format.Micros),
		ValueOrNA(u.Wait, format.Micros),
		ValueOrNA(u.Percent, format.Percent), ValueOrNA(u.Memory, format.Size),
		ValueOrNA(u.Threads, format.Exact3), ValueOrNA(u.FDs, format.Exact3))
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
	share := func(ns float64) string { return format.Percent(math.Max(ns, 0) / of) }
	return fmt.Sprintf("busy %s of all CPUs, by others at least %s, stolen %s; sampling took %s "+
		"of a core", ValueOrNA(h.Busy, share), ValueOrNA(others, share),
		ValueOrNA(h.Steal, format.Percent), ValueOrNA(s.Sampler.Share, format.Percent))
}

// ValueOrNA is v as show shows it, or that it is not to be had.
func ValueOrNA(v probe.Value, show func(float64) string) string {
	if !v.OK() {
		return "n/a"
	}
	return show(float64(v))
}

// processTable has a row for each part of the server, when there are several.
func processTable(r *result.Result) format.Table {
	if r.Server == nil || len(r.Server.Processes) <= 2 { // all together is the only one
		return nil
	}
	t := format.Table{{"server", "pid", "CPU/req", "user", "system", "waited", "core", "memory",
		"threads", "fds"}}
	for _, u := range r.Server.Processes {
		name, pid := format.PlainLine(u.Name), fmt.Sprint(u.PID)
		if name == "" {
			name, pid = "all", ""
		}
		t = append(t, []string{format.Clip(name, longestTitle), pid, ValueOrNA(u.CPU, format.Micros),
			ValueOrNA(u.User, format.Micros), ValueOrNA(u.System, format.Micros),
			ValueOrNA(u.Wait, format.Micros),
			ValueOrNA(u.Percent, format.Percent), ValueOrNA(u.Memory, format.Size),
			ValueOrNA(u.Threads, format.Exact3), ValueOrNA(u.FDs, format.Exact3)})
	}
	return t
}

const (
	longestTitle = 40 // characters of a process's
	topFunctions = 10 // of a profile, in text
)

// profileText is where a profile came from, and where it is.
func profileText(p *result.Profile) string {
	s := fmt.Sprintf("%s, %s, %s", format.PlainLine(string(p.Kind)), format.Seconds(p.DurationS),
		format.Plural(p.Samples, "sample"))
	if p.Samples == 0 {
		s += ": the server was idle"
	}
	if p.File != "" {
		s += "; go tool pprof " + format.PlainLine(p.File)
	}
	return s
}

// functionTable are those in which the server spent most time, itself and with what
// it called.
func functionTable(r *result.Result) format.Table {
	if r.Profile == nil || len(r.Profile.Top) == 0 {
		return nil
	}
	share := func(p profile.Part) string { return format.Percent(100 * p.Share) }
	t := format.Table{{"flat", "cum", "function"}}
	for _, l := range r.Profile.Top[:min(topFunctions, len(r.Profile.Top))] {
		t = append(t, []string{share(l.Flat), share(l.Cumulative), format.PlainLine(l.Function)})
	}
	return t
}
