package run

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/lab/workload"
	"dyno/internal/say"
)

// fewestTried is how many rounds try the settings of the generator: as many as an interval needs,
// and no more than that, for they only show what the generator does to one cell.
const fewestTried = experiment.LeastRounds

// trySettings measures one cell again with other settings of the generator: the baseline at the
// first level that searches nothing. The settings of a round run in random order.
func (r *running) trySettings(ctx context.Context) error {
	if !r.Experiment.Design.Sensitivity {
		return nil
	}
	a, l, ok := r.sensitiveCell()
	if !ok {
		return nil
	}
	first := lab.Slot{Round: lab.SensitivityRound, Position: 1, Level: l.Name,
		Arm: lab.SettingArm(a.Name, lab.AsAsked)}
	r.tuned = []*arm{tunedArm(a, lab.AsAsked, func(*loadplan.Plan) {})}
	r.planned = len(r.trials) + 1
	if err := r.runTrial(ctx, first, 1); err != nil {
		return err
	}
	r.tuned = append(r.tuned, r.otherSettings(a, l, r.ringOf(first))...)
	var cells []lab.CellKey
	for _, t := range r.tuned {
		cells = append(cells, lab.CellKey{Arm: t.Name, Level: l.Name})
	}
	r.planned = len(r.trials) + fewestTried*len(cells) - 1
	for round := range fewestTried {
		slots := lab.OrderRound(experiment.Interleaved, r.record.Seed, lab.SensitivityRound+round, cells)
		if err := r.runRound(ctx, slots); err != nil {
			return err
		}
	}
	return nil
}

// sensitiveCell is the baseline, if it is loaded, or else the first arm, at the first level that
// has a load of its own.
func (r *running) sensitiveCell() (a *arm, l experiment.Level, ok bool) {
	arms, baseline := r.loadableArms(), r.Experiment.Design.Baseline
	if len(arms) == 0 {
		return nil, l, false
	}
	a = arms[max(slices.IndexFunc(arms, func(a *arm) bool {
		return a.variant.Of == baseline || a.Name == baseline
	}), 0)]
	for _, l = range r.Experiment.Levels {
		if !l.IsSearch() {
			return a, l, a.variant.Generator == nil
		}
	}
	return a, l, false
}

// ringOf is the ring that the trial of a slot used; "" if it failed.
func (r *running) ringOf(s lab.Slot) string {
	for _, t := range r.trials {
		if t.Slot.Key(t.Attempt) == s.Key(1) && t.Result != nil {
			return t.Result.Generator.Ring
		}
	}
	return ""
}

// tunedArm is an arm whose load has another setting of the generator.
func tunedArm(a *arm, name string, tune func(*loadplan.Plan)) *arm {
	b := *a
	b.Name, b.tune = lab.SettingArm(a.Name, name), tune
	return &b
}

// insteadOf is the name of a setting in the place of another.
func insteadOf(one, another string) string { return one + " instead of " + another }

// otherSettings are the settings that are tried: half and double the threads, the other ring, no
// pipelining where there is some, and wrk. What cannot be tried is noted.
func (r *running) otherSettings(a *arm, l experiment.Level, ring string) (all []*arm) {
	s := &lab.Sensitivity{}
	r.record.Sensitive = s
	skip := func(f fact.SettingSkipped) {
		s.Skipped = append(s.Skipped, say.Plain(f))
	}
	threads := workload.GeneratorThreads(l, r.record.CPUs.Generator)
	for _, n := range []int{threads / 2, 2 * threads} {
		if n < 1 || n > int(l.Connections) {
			which := map[bool]fact.Tried{true: fact.HalfThreads, false: fact.DoubleThreads}[n < threads]
			skip(fact.SettingSkipped{Setting: which, Why: fact.ForConnections, Threads: threads,
				Connections: int(l.Connections)})
			continue
		}
		name := insteadOf(fmt.Sprint(n, " threads"), fmt.Sprint(threads))
		all = append(all, tunedArm(a, name, func(p *loadplan.Plan) { p.Threads = n }))
	}
	other := map[string]string{"epoll": "uring", "uring": "epoll"}[ring]
	switch {
	case ring == "":
		skip(fact.SettingSkipped{Setting: fact.OtherRing, Why: fact.RingUnknown})
	case other == "":
		skip(fact.SettingSkipped{Setting: fact.OtherRing, Why: fact.RingOnly})
	default:
		all = append(all, tunedArm(a, insteadOf(other, ring),
			func(p *loadplan.Plan) { p.Ring = other }))
	}
	if l.Pipeline > 1 {
		all = append(all, tunedArm(a, "no pipelining", func(p *loadplan.Plan) { p.Pipeline = 1 }))
	}
	wrk, why := r.wrkArm(a, l)
	if why != "" {
		skip(fact.SettingSkipped{Setting: fact.WithWrk, Why: why})
		return all
	}
	return append(all, wrk)
}

// wrkArm is an arm that wrk loads; why is why there is none. It is judged by the server's count, as
// every foreign generator, so the server needs to have one.
func (r *running) wrkArm(a *arm, l experiment.Level) (wrk *arm, why fact.Untried) {
	_, err := exec.LookPath("wrk")
	w, d := r.workload(a), r.Experiment.Design
	plain := w.RequestsFile == "" && w.URLs == "" && w.Hurl == "" && w.Data == "" &&
		w.Request.Method == "" && w.Request.Body == "" && w.Request.BodyFile == "" &&
		len(w.Request.Headers) == 0 && w.Request.Path == "" && w.Auth == ""
	switch {
	case err != nil:
		return nil, fact.NotInstalled
	case a.variant.Served == "":
		return nil, fact.NoServed
	case l.Beyond("connections", "threads", "timeout", "requests", "http", "retry_unsafe") ||
		!wrkSpeaks(a.variant, l):
		return nil, fact.NoSuchLoad
	case !plain:
		return nil, fact.MoreThanGET
	case r.Fleet != nil || d.Clients.Count > 1 || d.Clients.Isolate == experiment.NetNS ||
		len(a.variant.Sysctl) > 0:
		return nil, fact.OfThisMachine
	}
	wrk = tunedArm(a, insteadOf("wrk", "dyno"), nil)
	wrk.variant.Generator = &experiment.Generator{Served: a.variant.Served,
		Cmd: experiment.Command{"wrk", "-t", "{{threads}}", "-c", "{{connections}}", "-d", "1h",
			experiment.Template(a.variant.URL)}}
	wrk.variant.Served = ""
	return wrk, ""
}

// wrkSpeaks reports whether wrk, which knows HTTP/1.1 over TCP alone, speaks the protocol of a
// variant at a level.
func wrkSpeaks(v experiment.Variant, l experiment.Level) bool {
	scheme, _, _ := strings.Cut(string(v.URL), "://")
	version := v.LevelOf(l).HTTP
	return (version == experiment.HTTPAuto || version == experiment.HTTP11) &&
		(scheme == "http" || scheme == "https")
}

// sensitivityTime is how long the settings take, if five of them are tried.
func sensitivityTime(e *experiment.Experiment) time.Duration {
	if !e.Design.Sensitivity {
		return 0
	}
	d, settings := e.Design, 5
	one := startTime + time.Duration(d.Warmup.Min+d.Measure+d.Cooldown)
	return time.Duration(fewestTried*settings) * one
}
