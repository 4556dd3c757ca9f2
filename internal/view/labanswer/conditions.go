package labanswer

import (
	"fmt"
	"slices"
	"time"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/view/answer"
	"dyno/internal/view/format"
	"dyno/internal/view/report"
)

// conditionsOf are what an experiment's answer holds for.
func conditionsOf(r *lab.Record, groups []answer.Group) (all []string) {
	if r.Fleet != nil {
		all = append(all, "load from "+format.PlainLine(r.Fleet.String()))
	}
	all = append(all, report.MachineShort(r.Host))
	all = append(all, trialsText(r))
	if len(groups) > 0 {
		if g := groups[0]; g.Noise != "" {
			all = append(all, "noise: "+g.Noise+" in "+MeasureName(g.Metric))
		} else if slices.ContainsFunc(r.Arms, func(a lab.Arm) bool { return a.Control }) {
			all = append(all, "noise: not known (too few rounds)")
		} else {
			all = append(all, "noise: not known (no A/A)")
		}
	}
	return append(all, versionsText(r)...)
}

// trialsText is how much was measured.
func trialsText(r *lab.Record) string {
	s := fmt.Sprintf("%s, %s", format.Plural(int64(r.RoundsRun()), "round"),
		format.Plural(int64(len(r.Trials)), "trial"))
	if window := WindowText(r, " with a window of "); window != "" {
		return s + window + " each"
	}
	return s
}

// WindowText is how long a trial measures, behind lead; "" if a number of requests says that.
func WindowText(r *lab.Record, lead string) string {
	counted := func(l experiment.Level) bool { return l.Requests > 0 }
	if r.Experiment == nil || r.Experiment.Design.Measure == 0 ||
		slices.ContainsFunc(r.Experiment.Levels, counted) {
		return ""
	}
	return lead + format.Exact3(time.Duration(r.Experiment.Design.Measure).Seconds()) + " s"
}

// versionsText are the versions of what was compared, each once.
func versionsText(r *lab.Record) (all []string) {
	const most = 3
	for _, a := range r.Arms {
		if v := format.Clip(format.PlainLine(a.Version), 40); v != "" && !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all[:min(len(all), most)]
}
