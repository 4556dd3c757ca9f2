package workload

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/luascript"
	"dyno/internal/engine/requests"
	"dyno/internal/fault"
	"dyno/internal/lab/experiment"
)

// This file is about experiments whose workload is a script in Lua.

// readScript reads the script of an experiment, if it has one.
func (f *Inputs) readScript(e *experiment.Experiment) error {
	name := e.Workload.Script
	if name == "" {
		return nil
	}
	in, err := e.Open(name)
	if err != nil {
		return e.FaultIn("workload.script", "", 0, fault.Text(err))
	}
	defer in.Close()
	const most = 1 << 20
	b, err := io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && len(b) > most {
		err = fmt.Errorf("%s is longer than %d KiB", name, most>>10)
	}
	if err != nil {
		return e.FaultIn("workload.script", "", 0, fault.Text(err))
	}
	f.script = string(b)
	return nil
}

// errScriptHoles is the fault of a request with templates beside a script.
var errScriptHoles = errors.New("the script makes the requests, so path, headers and body have " +
	"no {{holes}}")

// setScript gives a plan the script of a workload. The workload's request is what the script knows
// as wrk.method, wrk.path, wrk.headers and wrk.body. What the script prints goes nowhere. All
// trials draw the same random numbers, so that all variants are sent the same.
func (f *Inputs) setScript(e *experiment.Experiment, p *loadplan.Plan, w experiment.Workload,
	u requests.URL) (err error) {
	if p.Requests, err = buildRequests(e, f, w, u); err != nil {
		return err
	}
	if p.HasTemplates() || p.HasHoles() {
		return errScriptHoles
	}
	f.fillPlan(p, w)
	at, err := url.Parse(p.Target.URL)
	if err != nil {
		return err
	}
	http2 := p.OnlyHTTP2() || p.OnlyHTTP3()
	m, err := luascript.Compile(luascript.Config{Name: w.Script, Source: f.script, Args: w.ScriptArgs,
		Request: p.Requests[0].Request, URL: p.Target.URL, Scheme: at.Scheme, Host: at.Hostname(),
		Port: at.Port(), HTTP2: http2,
		Pipelines: !http2 && !(p.Target.TLS && p.HTTP == loadplan.Auto),
		Threads:   p.Threads, Seed: uint64(e.Design.Seed), Lookup: literal(p.Target)})
	if err != nil {
		return err
	}
	m.SetPlan(p)
	p.Addresses = m.Addresses()
	return marksFault(w, p.Stream.Format)
}

// literal is the address of a target whose host is one; others have none that scripts could choose.
func literal(t loadplan.Target) func() ([]netip.AddrPort, error) {
	return func() ([]netip.AddrPort, error) {
		if a, is := t.LiteralAddress(); is {
			return []netip.AddrPort{a}, nil
		}
		return nil, nil
	}
}

// scriptFaults are the faults of an experiment whose workload is a script.
func scriptFaults(e *experiment.Experiment, f *Inputs) (faults []error) {
	for _, v := range experiment.Expand(e) {
		if v.Generator != nil {
			faults = append(faults, e.FaultIn(experiment.PathOf("variants", v.Of)+".generator", "", 0,
				"another program runs no script; leave the generator out"))
		}
	}
	if f.script == "" || len(e.Levels) == 0 {
		return faults
	}
	w := e.Workload
	var err error
	if w, err = w.ExpandVariables(nil); err != nil {
		return faults // it names a variable that is not set, and so is not available
	}
	_, err = Plan(e, f, e.Levels[0], w, "http://localhost/", nil)
	for _, one := range joined(err) {
		if _, placed := errors.AsType[fault.Fault](one); placed {
			faults = append(faults, one)
		} else {
			faults = append(faults, e.FaultIn("workload.script", "", 0, one.Error()))
		}
	}
	return faults
}
