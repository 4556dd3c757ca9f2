package page

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	pprof "github.com/google/pprof/profile"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/fairness"
	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"dyno/internal/observe/probe"
	"dyno/internal/observe/profile"
	"dyno/internal/result"
	"dyno/internal/server"
)

// What a fixture's names are: one that a page must not take for markup, and letters of other
// scripts.
const (
	hostileArm = "other n=<img src=x onerror=alert(1)>"
	scripts    = "сервер-日本語-عربي"
)

// fixtureFile is the experiment that fixtures are of.
const fixtureFile = `
version: 1
name: fixture
description: "a generated experiment: <b>bold</b> & ünïcödé"
published:
  source: made up by a test
  figures:
    - {variant: go, level: c100, metric: throughput, value: 510, unit: req/s}
    - {variant: "other n=<img src=x onerror=alert(1)>", level: c100, metric: throughput, value: 460, unit: req/s}
    - {variant: "other n=<img src=x onerror=alert(1)>", level: c100, metric: p99, failed: it never ended}
design: {rounds: %d, seed: 7, baseline: go, measure: 60s, metrics: [throughput, cpu, p50, p99]}
levels: [%s]
profile: {cpu: 5s}
factors: {n: ["<img src=x onerror=alert(1)>"]}
variants:
  go: {description: "сервер-日本語-عربي", processes: [{cmd: "true"}], url: "http://127.0.0.1:1/"}
  other: {processes: [{cmd: "true {{n}}"}], url: "http://127.0.0.1:1/"}
`

// An experimenter makes the folder of an experiment that nobody ran: two variants and the control
// at a closed and an open level, the same for the same rounds.
type experimenter struct {
	t       testing.TB
	dir     string
	rounds  int
	seconds int // of each window
	levels  []string
	more    []string // names of further variants
	story   *story   // in place of the usual variants and figures, if there is one
	random  *rand.Rand
	clock   time.Time
}

// usualLevels are a closed and an open one.
var usualLevels = []string{"c100", "r500"}

// levelFile is a level as the file has it: c and its connections, or r and its rate.
func levelFile(name string) string {
	if name[0] == 'r' {
		return fmt.Sprintf("{name: %s, connections: 100, rate: %s, arrival: poisson}", name, name[1:])
	}
	return fmt.Sprintf("{name: %s, connections: %s}", name, name[1:])
}

// experimentFolder is that of a complete experiment at the usual levels.
func experimentFolder(t testing.TB, rounds, seconds int) string {
	t.Helper()
	return experimentAt(t, rounds, seconds, usualLevels)
}

// experimentAt is that of a complete experiment.
func experimentAt(t testing.TB, rounds, seconds int, levels []string) string {
	t.Helper()
	return newExperimenter(t, rounds, seconds, levels).experiment()
}

func newExperimenter(t testing.TB, rounds, seconds int, levels []string) *experimenter {
	t.Helper()
	return &experimenter{t: t, dir: t.TempDir(), rounds: rounds, seconds: seconds, levels: levels,
		random: rand.New(rand.NewPCG(1, 2)), clock: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
}

// experiment writes the folder.
func (f *experimenter) experiment() string {
	f.t.Helper()
	for _, sub := range []string{"trials", "profiles"} {
		f.check(os.MkdirAll(filepath.Join(f.dir, sub), 0o755))
	}
	var file []string
	for _, l := range f.levels {
		file = append(file, levelFile(l))
	}
	text := fmt.Appendf(nil, fixtureFile, f.rounds, strings.Join(file, ", "))
	if f.story != nil {
		text = []byte(f.story.file(f.rounds, strings.Join(file, ", ")))
	}
	for _, name := range f.more {
		text = fmt.Appendf(text, "  %s: {processes: [{cmd: \"true\"}], url: \"http://127.0.0.1:1/\"}\n", name)
	}
	f.check(os.WriteFile(filepath.Join(f.dir, "experiment.yaml"), text, 0o600))
	r := f.record()
	for _, name := range f.more {
		r.Arms = append(r.Arms, lab.Arm{Name: name, Baseline: "go"})
	}
	if f.story != nil {
		f.story.describe(r)
	}
	f.write("experiment.json", r) // it says that it is running: then all is computed from the trials
	for round := range f.rounds {
		for _, level := range f.levels {
			for i, arm := range r.Arms {
				if len(arm.Missing) > 0 || arm.Unfit != "" {
					continue
				}
				f.trial(round+1, i+1, arm.Name, level)
			}
		}
	}
	done, err := judge.Open(f.dir)
	f.check(err)
	done.State, done.Ended = lab.Complete, f.clock
	if f.story != nil && f.story.gate {
		f.story.decide(done)
	}
	f.write("experiment.json", done)
	return f.dir
}

func (f *experimenter) check(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *experimenter) write(name string, v any) {
	f.t.Helper()
	b, err := json.Marshal(v)
	f.check(err)
	f.check(os.WriteFile(filepath.Join(f.dir, name), b, 0o600))
}

func (f *experimenter) record() *lab.Record {
	percent := 4.2
	table := &fairness.Table{Reference: "go", Variants: []string{"go", hostileArm}, Rows: []fairness.Row{
		{Aspect: "status", Why: "work", Cells: []fairness.Cell{{Value: "200", State: fairness.Equal},
			{Value: "200", State: fairness.Equal}}},
		{Aspect: "header_bytes", Why: "bytes cost", Cells: []fairness.Cell{
			{Value: "120", State: fairness.Equal},
			{Value: "125 " + scripts, State: fairness.Allowed, Percent: &percent}}},
		{Aspect: "body", Why: "<script>alert(2)</script>", Cells: []fairness.Cell{
			{Value: "hello", State: fairness.Equal}, {Value: "</script>", State: fairness.Violating}}},
		{Aspect: "gomaxprocs", Why: "it is what may be compared", Cells: []fairness.Cell{
			{Value: "1", State: fairness.Shown}, {Value: "8", State: fairness.Shown}}},
	}}
	r := &lab.Record{Format: lab.ExperimentFormat,
		Progress: lab.Progress{Dyno: "test", Name: "fixture", State: lab.Running, Started: f.clock,
			Seed: 7},
		Definition: lab.Definition{File: "fixture.yaml", Here: f.dir},
		Setup: lab.Setup{Host: result.ThisHost(),
			Machine: []lab.Fact{{Name: "clock source", Value: "tsc"}, {Name: "mitigation", Value: hostileArm}},
			CPUs:    server.Split{Server: []int{1}, Generator: []int{0}, Apart: true}},
		Preparation: lab.Preparation{Checked: true,
			Arms: []lab.Arm{{Name: "go", Description: scripts}, {Name: "go (A/A)", Control: true, Baseline: "go"},
				{Name: hostileArm, Baseline: "go"}},
			Fairness: table, Ceilings: []lab.Ceiling{{Level: f.levels[0], Throughput: 123456}}}}
	for i, arm := range []string{"go", hostileArm} {
		for _, level := range f.levels[:min(len(f.levels), 2)] {
			p := f.profile(i)
			file := filepath.Join("profiles", fmt.Sprintf("%d-%s-cpu.pb.gz", i, level))
			f.check(profile.Save(filepath.Join(f.dir, file), p))
			r.Profiles = append(r.Profiles, lab.TakenProfile{Arm: arm, Level: level, Kind: "cpu", By: "pprof",
				File: file, Slowdown: 1.05, Top: profile.Top(p, 15)})
		}
	}
	r.Profiles = append(r.Profiles, lab.TakenProfile{Arm: "go", Level: "c100", Kind: "heap",
		Problem: "no pprof " + scripts})
	return r
}

// profile has some hundred stacks, of which a variant has more than the baseline.
func (f *experimenter) profile(variant int) *profile.Profile {
	p := &profile.Profile{SampleType: []*pprof.ValueType{{Type: "samples", Unit: "count"},
		{Type: "cpu", Unit: "nanoseconds"}}, PeriodType: &pprof.ValueType{Type: "cpu", Unit: "nanoseconds"},
		Period: 1e7, DefaultSampleType: "cpu"}
	locations := map[string]*pprof.Location{}
	at := func(name string) *pprof.Location {
		if locations[name] == nil {
			fn := &pprof.Function{ID: uint64(len(p.Function) + 1), Name: name, Filename: "x.go"}
			p.Function = append(p.Function, fn)
			l := &pprof.Location{ID: fn.ID, Line: []pprof.Line{{Function: fn, Line: 1}}}
			p.Location, locations[name] = append(p.Location, l), l
		}
		return locations[name]
	}
	for i := range 400 {
		stack := []*pprof.Location{at(fmt.Sprintf("leaf.%d", i%37)), at(fmt.Sprintf("middle.%d", i%11)),
			at(fmt.Sprintf("net/http.(*conn).serve%d", i%3)), at("runtime.main")}
		if variant == 1 && i%5 == 0 {
			stack = append([]*pprof.Location{at("encode<b>" + scripts)}, stack...)
		}
		n := int64(1 + f.random.IntN(9))
		p.Sample = append(p.Sample, &pprof.Sample{Location: stack, Value: []int64{n, n * 1e7}})
	}
	return p
}

// trial writes one trial.
func (f *experimenter) trial(round, position int, arm, level string) {
	open := level[0] == 'r'
	size, err := strconv.ParseFloat(level[1:], 64)
	f.check(err)
	slower := 1.0
	if arm == hostileArm {
		slower = 1.1
	}
	spread := 0.01
	if f.story != nil {
		slower, spread = f.story.slower[arm], f.story.spread
	}
	noise := math.Exp(spread * f.random.NormFloat64())
	rate := 550 * size / (size + 10) / slower * noise // 500 at 100 connections
	if open {
		rate = size
	}
	plan := loadplan.DefaultPlan()
	plan.Target.URL, plan.Target.Port = "http://127.0.0.1:8080/", uint16(20000+f.random.IntN(9999))
	plan.Connections = 100
	if !open {
		plan.Connections = int(size)
	}
	window := f.clock.Add(4 * time.Second)
	r := &result.Result{Format: result.Format, Dyno: "test", Plan: plan, Model: result.ClosedLoop,
		Ended: "duration", Host: result.ThisHost(),
		Traffic: result.Traffic{Status: map[string]int64{"200": 1}},
		Window:  result.Window{Started: window, MeasuredS: float64(f.seconds)}}
	if open {
		r.Model, r.Rate.Offered = result.OpenLoop, &rate
	}
	f.exchanges(r, rate, slower*noise, open)
	cpu := probe.Value(50 * slower * noise)
	r.Server = &result.Server{Host: f.host(), Sampler: probe.Cost{Share: 0.8, CPU: 1, PerSample: 1}}
	r.Server.Processes = []result.Usage{usage("", cpu), usage("nginx", cpu*0.4),
		usage("app", cpu*0.6)}
	r.Generator = result.Generator{Verdict: result.OK, Ring: "epoll", Threads: 1, BusyPercent: 30}
	r.Connections = result.Connections{Asked: 100, Opened: 100, Served: 100}
	t := &lab.Trial{Format: lab.TrialFormat, ID: fmt.Sprintf("r%03d-%d-%s", round, position, level),
		Attempt: 1, Slot: lab.Slot{Round: round, Position: position, Arm: arm, Level: level},
		Started: f.clock, TookS: float64(f.seconds) + 5, ReadyS: 0.4 + 0.1*slower, Result: r,
		Warmup: &lab.Warmup{TookS: 3, Steady: lab.Yes, CoV: 0.01,
			Rates: []float64{rate * 0.4, rate * 0.8, rate * 0.99}},
		Programs: []lab.Program{{Process: "app", Path: "/srv/" + hostileArm, SHA256: "00ff",
			Args: []string{"app", scripts}, Count: 1}},
		Wire: 125, Meanwhile: f.recording(window), Grade: lab.GradeA,
		Transient: &lab.Transient{CutS: float64(min(round%4, f.seconds/2)), Settled: true, Change: 0.004 * float64(round%4),
			Errors: 1.5 * float64(round%4)}}
	switch {
	case f.story != nil:
		f.story.finish(t)
	case round == 2 && arm == hostileArm:
		t.Grade = lab.GradeB
		t.Reasons = []lab.Reason{{Grade: lab.GradeB, Says: "the machine's host took 2.1 % of the CPUs' time",
			Passing: true}}
	case round == 3 && arm == "go" && open:
		t.Grade = lab.GradeF
		t.Reasons = []lab.Reason{{Grade: lab.GradeF, Says: "3 of 30000 requests failed " + hostileArm}}
	}
	f.write(filepath.Join("trials", t.ID+".json"), t)
	f.clock = f.clock.Add(time.Duration(f.seconds+6) * time.Second)
}

func usage(name string, cpu probe.Value) result.Usage {
	return result.Usage{Name: name, CPU: cpu, User: cpu * 0.3, System: cpu * 0.7, Wait: 1,
		Percent: cpu * 500 / 1e4, Memory: 12e6, RSS: 14e6, Count: 1, Threads: 8, FDs: 110,
		Voluntary: 1e5, Involuntary: 1e3, Read: 0, Written: 0}
}

func (f *experimenter) host() probe.HostUse {
	v := func(mean float64) probe.Value { return probe.Value(mean * f.random.ExpFloat64()) }
	return probe.HostUse{CPUs: 2, WallS: float64(f.seconds), Busy: probe.Value(f.seconds) * 9e8,
		User: 15, Sys: 25, SoftIRQ: 5, Idle: 54, Steal: v(0.3), Foreign: v(0.02) * 1e9,
		PressureCPU: v(6), PressureMemory: 0, PressureIO: v(0.1)}
}

// exchanges fills in durations with a tail, and the seconds of the window.
func (f *experimenter) exchanges(r *result.Result, rate, slower float64, open bool) {
	latency, service := metric.NewHistogram(metric.Fine), metric.NewHistogram(metric.Fine)
	second := metric.NewHistogram(metric.Fine)
	for s := range f.seconds {
		second.Reset()
		n := int64(rate * (1 + 0.01*f.random.NormFloat64()))
		for range n {
			us := 400 * slower * math.Exp(0.25*f.random.NormFloat64())
			if f.random.IntN(300) == 0 {
				us *= 1 + 12*f.random.ExpFloat64()
			}
			service.Record(int64(us * 1e3))
			if open {
				us += 60 * f.random.ExpFloat64()
			}
			second.Record(int64(us * 1e3))
		}
		latency.Merge(second)
		r.Series = append(r.Series, result.Point{T: float64(s + 1), Sent: n, Completed: n,
			LatencyTimes: loadresult.LatencyTimes{P50: 400, P99: 900, Max: float64(second.Max) / 1e3}, InFlight: 100, Received: n * 125})
		r.Requests.Sent += n
	}
	r.Requests.Completed = r.Requests.Sent
	r.Rate.Sent = float64(r.Requests.Sent) / float64(f.seconds)
	r.Rate.Completed = r.Rate.Sent
	r.Bytes = result.Bytes{Sent: 60 * r.Requests.Sent, Received: 125 * r.Requests.Sent}
	r.Latency, r.Service = f.distribution(latency), f.distribution(service)
}

func (f *experimenter) distribution(h *metric.Histogram) *result.Distribution {
	v := h.View()
	q := func(q float64) float64 { return float64(v.Quantile(q)) / 1e3 }
	return &result.Distribution{Count: h.Count, Min: float64(h.Min) / 1e3, Mean: h.Mean() / 1e3,
		Stdev: v.Stdev() / 1e3, P50: q(0.5), P75: q(0.75), P90: q(0.9), P95: q(0.95), P99: q(0.99),
		P999: q(0.999), P9999: q(0.9999), Max: float64(h.Max) / 1e3, HDR: h.EncodeHDR()}
}

// recording has the series of a proxy and what is behind it, at a Sampler's paces.
func (f *experimenter) recording(window time.Time) *probe.Recording {
	r := &probe.Recording{Started: window.Add(-200 * time.Millisecond), Every: 0.2,
		Unavailable: []string{"host.temperature: not there on this machine"}}
	type mean struct {
		name string
		of   float64
	}
	group := func(every float64, of probe.Series, unit string, means ...mean) {
		var at []float64
		for t := every; t < float64(f.seconds)+0.5; t += every {
			at = append(at, t)
		}
		for _, m := range means {
			s := of
			s.Name, s.Unit, s.T = of.Name+m.name, unit, at
			for range at {
				s.V = append(s.V, m.of*math.Exp(0.1*f.random.NormFloat64()))
			}
			r.Series = append(r.Series, s)
		}
	}
	host := probe.Series{Name: "host."}
	group(0.2, host, "%", mean{"cpu.user", 15}, mean{"cpu.sys", 25}, mean{"cpu.softirq", 5}, mean{"cpu.irq", 0},
		mean{"cpu.idle", 54}, mean{"cpu.iowait", 0}, mean{"cpu.steal", 0.3})
	group(0.2, host, "1/s", mean{"context_switches", 25000}, mean{"forks", 1})
	group(1, host, "", mean{"load1", 1.2}, mean{"load5", 1}, mean{"load15", 0.8}, mean{"procs_running", 2})
	group(1, host, "%", mean{"psi.cpu", 6}, mean{"psi.memory", 0}, mean{"psi.io", 0.1})
	group(1, host, "bytes/s", mean{"net.lo.received", 3e7}, mean{"net.lo.sent", 3e7}, mean{"net.other.sent", 0})
	group(1, host, "1/s", mean{"net.lo.packets_received", 8e4}, mean{"tcp.retransmits", 0})
	group(5, host, "", mean{"tcp.established", 200}, mean{"tcp.time_wait", 12}, mean{"tcp.listen", 4})
	group(0.2, probe.Series{Name: "dyno."}, "%", mean{"cpu", 30})
	for _, tree := range []string{"nginx", "app"} {
		group(0.2, probe.Series{Name: "tree.", Of: tree}, "%", mean{"cpu", 60}, mean{"cpu.user", 20})
		group(1, probe.Series{Name: "tree.", Of: tree}, "bytes", mean{"rss", 5e7}, mean{"pss", 4e7})
		for pid := range 3 {
			of := probe.Series{Name: "process.", Of: tree + ": worker process", Tree: tree, PID: 4000 + pid}
			group(0.2, of, "%", mean{"cpu", 20}, mean{"cpu.user", 7})
			group(1, of, "bytes", mean{"rss", 1.6e7}, mean{"pss", 1.2e7})
			group(1, of, "", mean{"threads", 8}, mean{"fds", 110})
			group(1, of, "1/s", mean{"switches.voluntary", 1e4}, mean{"switches.involuntary", 80})
			group(1, of, "%", mean{"runqueue.wait", 3})
		}
	}
	return r
}
