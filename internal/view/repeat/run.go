package repeat

import (
	"slices"
	"strconv"
	"strings"

	"dyno/internal/result"
	"dyno/internal/setting"
)

// Run is the command that repeats a result's load, with these words more, and what of the load it
// leaves out.
func Run(r *result.Result, more ...string) (line, lost string) {
	words := slices.Concat([]string{"dyno", "run"}, more, Fleet(r))
	for _, o := range r.Objectives {
		words = append(words, slo(o.Expr)...)
	}
	if slices.ContainsFunc(r.Objectives, func(o result.Outcome) bool { return o.Aborted != nil }) {
		words = append(words, "--abort-on-slo")
	}
	watching, all := Watching(r)
	line, lost = Command(r.Plan, append(words, watching...)...)
	return line, joined(append(all, lost))
}

// slo is the flag of an objective.
func slo(expr string) []string { return []string{"--slo", setting.ShellQuote(expr)} }

// joined is what a command leaves out, in one line.
func joined(lost []string) string {
	return strings.Join(slices.DeleteFunc(lost, func(one string) bool { return one == "" }), "; ")
}

// Fleet are the flags that have the same agents make the load; none without a fleet.
func Fleet(r *result.Result) []string {
	if r.Fleet == nil {
		return nil
	}
	name := func(a result.Agent) string { return a.Name }
	return []string{"--fleet", setting.ShellQuote(JoinComma(r.Fleet.Agents, name))}
}

// Watching are the flags that have the server watched as it was, and what of that may not be
// the same another time, or was not kept.
func Watching(r *result.Result) (words, lost []string) {
	if r.Server != nil {
		for _, one := range r.Server.Watch {
			words = append(words, "--watch", setting.ShellQuote(one))
			if _, err := strconv.Atoi(one); err == nil {
				lost = append(lost, "process "+one+", whose number another program may have by now")
			}
		}
	}
	if r.Profile != nil {
		lost = append(lost, "the address of --pprof")
	}
	return words, lost
}
