package run

import (
	"context"
	"dyno/internal/lab"
	"slices"
	"strings"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/lab/experiment"
	"dyno/internal/lab/workload"
)

// ceilingTime is how long each ceiling is measured.
const ceilingTime = time.Second

// nullServer is an experiment whose only server does almost nothing.
const nullServer = `
version: 1
name: ceiling
variants:
  "null":
    processes: [{cmd: "{{dyno}} target --listen {{address}}:{{port}}"}]
    url: http://{{address}}:{{port}}/
`

// measureCeilings measures what the generator reaches at each closed level. A ceiling that cannot
// be measured is left out, because it serves only for comparison.
func (r *running) measureCeilings(ctx context.Context) {
	var variants []experiment.Variant
	for _, a := range r.arms {
		variants = append(variants, a.variant)
	}
	for _, l := range ceilingLevels(r.Experiment, variants) {
		if ctx.Err() != nil {
			return
		}
		r.Tell(Event{Step: "ceiling", Level: l.Name})
		if x, ok := r.measureCeiling(ctx, l); ok {
			r.record.Ceilings = append(r.record.Ceilings, lab.Ceiling{Level: l.Name, Throughput: x})
		}
	}
}

// ceilingLevels are the levels that have a ceiling: closed ones, unless a variant brings its own
// generator, or a protocol is spoken that the null server does not speak.
func ceilingLevels(e *experiment.Experiment, all []experiment.Variant) []experiment.Level {
	none := func(v experiment.Variant) bool {
		scheme, _, _ := strings.Cut(string(v.URL), "://")
		return v.Generator != nil || scheme == "h2c" || strings.HasPrefix(scheme, "fcgi") ||
			v.HTTP == experiment.HTTP2 || v.HTTP == experiment.HTTP3
	}
	if slices.ContainsFunc(all, none) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(e.Levels), func(l experiment.Level) bool {
		return l.IsOpen() || l.IsSearch() || l.HTTP == experiment.HTTP2 || l.HTTP == experiment.HTTP3
	})
}

func (r *running) measureCeiling(ctx context.Context, l experiment.Level) (float64, bool) {
	e, err := experiment.Read("ceiling", strings.NewReader(nullServer))
	if err != nil {
		panic(err) // it is a constant
	}
	l = l.Direct() // the null server knows nothing of proxies
	l.Requests = 0
	stand, err := r.start(ctx, Setting{Variant: experiment.Expand(e)[0], Level: l,
		Trial: lab.FileName("ceiling", l.Name), Aside: true})
	if err != nil {
		return 0, false
	}
	defer stand.Stop()
	p, err := workload.Plan(r.Experiment, new(workload.Inputs), l, experiment.Workload{}, stand.URL(),
		r.record.CPUs.Generator)
	if err != nil {
		return 0, false
	}
	p.Duration = loadplan.Seconds(ceilingTime)
	result, err := r.runnerFor(stand)(ctx, p, func(loadresult.Interval) {})
	if err != nil || result.Requests.Completed == 0 {
		return 0, false
	}
	return result.Rate.Completed, true
}
