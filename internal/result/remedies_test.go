package result

import (
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/observe/probe"
	"dyno/internal/say"
	"dyno/internal/setting"
)

// A remedy does not tell to give what was given: it says which way to change it, and names what the load has. That there
// was no server is nothing that settings would mend.
func TestRemediesOfDoubts(t *testing.T) {
	warm := func(r *Result) { r.Plan.Warmup = loadplan.Seconds(1e9) }
	counted := func(r *Result) { r.Plan.Requested = 100 }
	replayed := func(r *Result) { r.Plan.Replay, r.Model = loadplan.Seconds(1e9), OpenLoop }
	pinned := func(r *Result) { r.Plan.CPUs = []int{1} }
	open := func(r *Result) { r.Model, r.Generator.Little = OpenLoop, nil }
	unserved := func(r *Result) { r.Connections.Served = 7 }
	idle := func(r *Result) { r.Generator.Little = set(0.8) }
	lag := func(r *Result) { r.Generator.SendLagP99 = set(11_000.0) }
	crowded := func(r *Result) { r.Generator.Unscheduled, r.Generator.CPUWait = 30, 90 }
	never := func(r *Result) { open(r); r.Requests.Waiting = set(int64(50_000)) }
	short := func(r *Result) { r.Window.MeasuredS = 0.5 }
	dropped := func(r *Result) {
		r.Latency.P999, r.Generator.Machine = 250e3, &probe.HostUse{ListenOverflow: 3}
	}
	busy := func(r *Result) { r.Generator.BusyPercent, r.Host.CPUs = 98, 2 }
	const speed = "lower the speed of the replay (dyno from access-log --replay)"
	for name, c := range map[string]struct {
		change    []func(*Result)
		flag, key string
	}{
		"unserved": {[]func(*Result){unserved}, "see the errors, or give --warmup, or measure for longer (-d), or lower -c",
			"see the errors, or give a longer warmup (design: {warmup: {min: ...}}), or measure for longer (design: {measure: ...}), " +
				"or lower the level's connections"},
		"unserved, warm":     {[]func(*Result){unserved, warm}, "see the errors, or give a longer --warmup, or measure for longer (-d), or lower -c", "-"},
		"unserved, counted":  {[]func(*Result){unserved, counted}, "see the errors, or give --warmup, or raise -n, or lower -c", "-"},
		"unopened, replayed": {[]func(*Result){func(r *Result) { r.Connections.Opened = 7 }, replayed}, "see the errors, or lower -c", "-"},
		"unopened":           {[]func(*Result){func(r *Result) { r.Connections.Opened = 7 }, open}, "see the errors, or lower -c", "-"},
		"not poisson": {[]func(*Result){open, func(r *Result) { r.Generator.Arrivals = &Arrivals{Spans: 2000, A2: set(69.5)} }},
			"give the generator CPUs of its own (--cpus), or lower -R", "-"},
		"uneven": {[]func(*Result){open, func(r *Result) { r.Generator.Arrivals = &Arrivals{Spans: 2000, OffP95: set(72.5)} }},
			"give the generator CPUs of its own (--cpus), or lower -R", "-"},
		"idle": {[]func(*Result){idle}, "give --warmup", "give a longer warmup (design: {warmup: {min: ...}})"},
		"idle, counted": {[]func(*Result){idle, counted, warm}, "give a longer --warmup, or give -d in place of -n",
			"give a longer warmup (design: {warmup: {min: ...}}), or leave out the level's requests, so that design.measure sets its window"},
		"more than all":  {[]func(*Result){func(r *Result) { r.Generator.Little = set(1.05) }}, "", ""},
		"late, closed":   {[]func(*Result){lag}, "give the generator CPUs of its own (--cpus)", "give the generator CPUs of its own (design: {cpus: ...})"},
		"late":           {[]func(*Result){lag, open}, "give the generator CPUs of its own (--cpus), or lower -R", "-"},
		"late, pinned":   {[]func(*Result){lag, open, pinned}, "give the generator other CPUs (--cpus), or lower -R", "-"},
		"late, replayed": {[]func(*Result){lag, open, replayed}, "give the generator CPUs of its own (--cpus), or " + speed, "-"},
		"crowded":        {[]func(*Result){crowded}, "free the generator's CPUs of other work, or give the generator CPUs of its own (--cpus)", "-"},
		"crowded, pinned": {[]func(*Result){crowded, pinned}, "free the generator's CPUs of other work, or give the generator other CPUs (--cpus)",
			"free the generator's CPUs of other work, or give the generator other CPUs (design: {cpus: ...})"},
		"never":           {[]func(*Result){never}, "raise -c, or lower -R", "raise the level's connections, or lower the level's rate"},
		"never, replayed": {[]func(*Result){never, replayed}, "raise -c, or " + speed, "-"},
		"never, gone":     {[]func(*Result){never, func(r *Result) { r.Window.OutageS = 5 }}, "", ""},
		"never, gone for a moment": {[]func(*Result){never, func(r *Result) { r.Window.OutageS = 0.1 }}, "raise -c, or lower -R",
			"-"},
		"gone": {[]func(*Result){silentFor(4.3, func(*Result) {})}, "", ""},
		"short": {[]func(*Result){short}, "measure for longer (-d), or raise -n",
			"measure for longer (design: {measure: ...}), or raise the level's requests"},
		"short, replayed":  {[]func(*Result){short, replayed}, "replay more of the log", "-"},
		"dropped":          {[]func(*Result){dropped}, "raise the server's backlog and net.core.somaxconn, or give --connect-rate", "raise the server's backlog and net.core.somaxconn"},
		"dropped, limited": {[]func(*Result){dropped, func(r *Result) { r.Plan.ConnectRate = 9e6 }}, "raise the server's backlog and net.core.somaxconn, or lower --connect-rate", "-"},
		"busy":             {[]func(*Result){busy}, "add threads (-t)", "add threads (the level's threads), or add clients (design: {clients: ...})"},
		"busy, pinned": {[]func(*Result){busy, pinned}, "give the generator more CPUs (--cpus)",
			"give the generator more CPUs (design: {cpus: {generator: LIST}}), or add clients (design: {clients: ...})"},
		"busy on all": {[]func(*Result){busy, func(r *Result) { r.Generator.Threads = 2 }}, "give the generator more CPUs, or use another machine", "-"},
		"busy, at a quota": {[]func(*Result){busy, func(r *Result) { r.Generator.Machine = &probe.HostUse{Quota: 0.5} }},
			"raise the CPU quota of the generator's cgroup, or use another machine", "-"},
	} {
		r := sound()
		for _, change := range c.change {
			change(r)
		}
		r.judgeGenerator()
		all := r.ReasonFacts()
		if len(all) == 0 {
			t.Fatalf("%s: %q", name, r.Generator.Reasons)
		}
		f := all[len(all)-1]
		if got := say.Advice(f, r.Voice()); got != c.flag {
			t.Errorf("%s: %s: %q", name, f.Kind(), got)
		}
		if got := say.Advice(f, setting.Key); got != c.key && c.key != "-" {
			t.Errorf("%s: in the file: %q", name, got)
		}
	}
}
