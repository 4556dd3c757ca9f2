// Package workload makes the plan of a load from an experiment's file: what a variant is sent, at a
// level, on a server.
//
//	faults.go      what keeps requests from being sent, with its place in the file: lab check
//	hurl.go        workloads that are a Hurl file
//	inputs.go      data, Hurl file and script, read once
//	lua.go         workloads that are a script in Lua
//	otherpath.go   paths of URLs that nobody asks for
//	plan.go        the plan
//	requests.go    the requests of the other workloads
//	secrets.go     does the experiment have secrets?
package workload

import (
	"errors"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/onestep"
	"dyno/internal/engine/requests"
	"dyno/internal/lab/experiment"
)

// settleMax is how long the load runs at most on its new connections before its window begins. The
// server is warm by then, but the connections are not.
const settleMax = 500 * time.Millisecond

// SettlingTime is a quarter of the window of e, at most settleMax.
func SettlingTime(e *experiment.Experiment) time.Duration {
	return min(settleMax, time.Duration(e.Design.Measure)/4)
}

// DrainTime is for how long the answers of a trial of a level are waited for at most: after its
// warm-up, as package run makes it, and after its window.
func DrainTime(e *experiment.Experiment, l experiment.Level) time.Duration {
	p, err := e.Settings(l)
	if err != nil {
		return 0 // it is refused when the plan is made
	}
	drain := time.Duration(min(p.Drain, p.Timeout))
	switch {
	case e.Design.Warmup.Max == 0:
		return drain
	case p.Stream.IsSet():
		return 2 * drain
	}
	return drain + min(drain, time.Second)
}

// Plan is the measured load of a level on a server.
func Plan(e *experiment.Experiment, f *Inputs, l experiment.Level, w experiment.Workload,
	url string, cpus []int) (loadplan.Plan, error) {
	u, err := requests.Parse(url)
	if err != nil {
		return loadplan.Plan{}, err
	}
	p := loadplan.DefaultPlan()
	p.Target, p.CPUs = u.Target, cpus
	if err := errors.Join(l.SetPlan(&p), w.SetPlan(&p)); err != nil {
		return loadplan.Plan{}, err
	}
	if l.HTTP == experiment.HTTPAuto && !p.OnlyHTTP2() && !u.Target.FastCGI { // the check uses it too
		p.HTTP = experiment.HTTP11
	}
	if p.OnlyHTTP3() { // its library's goroutines run on all CPUs of the process
		p.CPUs = nil
	}
	p.Threads = GeneratorThreads(l, cpus)
	p.Duration = loadplan.Seconds(e.Design.Measure)
	if p.Reconnect != 1 { // otherwise connections are always new
		p.Warmup = loadplan.Seconds(SettlingTime(e))
	}
	if p.Requested > 0 {
		p.Duration, p.Warmup = 0, 0 // all requests are counted
	}
	if err := f.setRequests(e, &p, w, u, url); err != nil {
		return loadplan.Plan{}, err
	}
	return p, p.Check()
}

// setRequests has a plan send what a workload says to the server at a URL, which is u, too.
func (f *Inputs) setRequests(e *experiment.Experiment, p *loadplan.Plan, w experiment.Workload,
	u requests.URL, url string) (err error) {
	if w.Hurl != "" {
		return f.setSession(e, p, w, url)
	}
	if w.Script != "" {
		return f.setScript(e, p, w, u)
	}
	if p.Requests, err = buildRequests(e, f, w, u); err != nil {
		return err
	}
	f.fillPlan(p, w)
	return onestep.SetScenario(p, f.table)
}

// fillPlan has a plan fill holes from what a workload says, for the users that it has.
func (f *Inputs) fillPlan(p *loadplan.Plan, w experiment.Workload) {
	p.SetVariables(variables(w))
	if w.Data != "" {
		p.Rows = f.rows
	}
	p.FitThreads()
}

// GeneratorThreads is the number of threads of a generator on cpus, at a level.
func GeneratorThreads(l experiment.Level, cpus []int) int {
	n := l.Threads
	if n == 0 {
		n = max(len(cpus), 1)
	}
	return min(n, int(l.Connections))
}

// Of is what a variant is sent, and what of.
func Of(e *experiment.Experiment, v experiment.Variant) experiment.Workload {
	w := v.Sent()
	if v.Request != nil {
		w.RequestsFile, w.URLs = "", "" // a script has the request as its own
	}
	w.Expect = v.Expected()
	return w
}
