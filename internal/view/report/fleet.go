package report

import (
	"fmt"
	"slices"
	"strings"

	"dyno/internal/result"
	"dyno/internal/view/format"
)

// fleetText is how well the machines of a fleet made one load.
func fleetText(f *result.Fleet) string {
	s := format.Plural(int64(len(f.Agents)), "agent")
	if f.StartSpread != nil {
		s += ", started within " + format.Micros(*f.StartSpread)
	}
	s += ", clocks known to ±" + format.Micros(f.OffsetBound)
	if f.DriftBound > 0 {
		s += ", their drift to ±" + format.Micros(f.DriftBound)
	}
	s += fmt.Sprintf(", %s of %s agent-seconds covered; ", format.Exact3(f.Covered),
		format.Exact3(f.Planned))
	if f.AddsUp {
		return s + "reports = agents = run"
	}
	return s + "the numbers DO NOT ADD UP"
}

// agentTable are the machines of a fleet, a row each.
func agentTable(f *result.Fleet) format.Table {
	if f == nil {
		return nil
	}
	t := format.Table{{"agent", "weight", "connections", "sent", "completed", "errors", "late",
		"clock ±"}}
	looked := slices.ContainsFunc(f.Agents, func(a result.Agent) bool { return a.Drift != nil })
	if looked { // at the clocks, while the load ran
		t[0] = append(t[0], "drift")
	}
	t[0] = append(t[0], "covered", "")
	known := func(us *float64) string {
		if us == nil {
			return "–"
		}
		return format.Micros(*us)
	}
	for _, a := range f.Agents {
		bound := "–"
		if a.OffsetBound > 0 {
			bound = format.Micros(a.OffsetBound)
		}
		row := []string{format.PlainLine(a.Name), format.Count(int64(a.Weight)),
			format.Count(int64(a.Connections)),
			format.Count(a.Requests.Sent), format.Count(a.Requests.Completed),
			format.Count(a.Requests.Errors), known(a.Late), bound}
		if looked {
			row = append(row, strings.Replace(known(a.Drift), "-", "−", 1))
		}
		t = append(t, append(row, format.Seconds(a.Covered), agentStatus(a)))
	}
	return t
}

// agentsReported says how many agents of a fleet reported their final numbers; it is empty if all
// did. some is true if at least one did, and without a fleet.
func agentsReported(f *result.Fleet) (of string, some bool) {
	if f == nil {
		return "", true
	}
	n := 0
	for _, a := range f.Agents {
		if a.Final {
			n++
		}
	}
	if n == len(f.Agents) {
		return "", true
	}
	return fmt.Sprintf(" (of %d of %d agents; the others did not tell)", n, len(f.Agents)), n > 0
}

// noneReported is printed in place of a number that no agent of a fleet reported.
const noneReported = "not known: no agent reported it"

// agentStatus is what a row of agents says besides numbers.
func agentStatus(a result.Agent) string {
	switch {
	case a.Lost != "":
		return "LOST"
	case !a.Final:
		return "the sum of its reports"
	case a.AddsUp != nil && !*a.AddsUp:
		return "DOES NOT ADD UP"
	}
	return ""
}

// agentStatusDetail is agentStatus with the reason, for whoever has the room.
func agentStatusDetail(a result.Agent) string {
	s := agentStatus(a)
	if a.Lost == "" {
		return s
	}
	if a.LostAfter != nil {
		s += " after " + format.Seconds(*a.LostAfter)
	}
	return s + ": " + format.PlainLine(a.Lost)
}
