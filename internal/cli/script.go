package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/luascript"
	"dyno/internal/fault"
	"dyno/internal/objective"
	"dyno/internal/result"
	"dyno/internal/result/scripted"
)

// This file is about --script: Lua with wrk's API.

// A scriptFlags is the script of a run.
type scriptFlags struct {
	file    string
	source  string   // once it is read
	args    []string // of its function init: what follows --
	maker   *luascript.Maker
	printed scriptOutput
}

// A scriptOutput holds what a script prints until it is known where that goes.
type scriptOutput struct {
	lock sync.Mutex
	to   io.Writer // nil: not known yet
	held bytes.Buffer
}

// Write writes or holds b.
func (o *scriptOutput) Write(b []byte) (int, error) {
	o.lock.Lock()
	defer o.lock.Unlock()
	if o.to == nil {
		return o.held.Write(b)
	}
	return o.to.Write(b)
}

// release writes what is held, and all that follows.
func (o *scriptOutput) release(to io.Writer) error {
	o.lock.Lock()
	defer o.lock.Unlock()
	_, err := o.held.WriteTo(to)
	o.to = to
	return err
}

// releaseScript has a script print to stdout, or to stderr if the JSON goes there.
func (s streams) releaseScript(f *runFlags) error {
	switch {
	case f.tui: // which has the terminal until it ends
		return nil
	case f.onlyJSON():
		return f.script.printed.release(s.err)
	}
	return f.script.printed.release(s.out)
}

// takeArgs takes what follows -- off the words of the command line, as wrk does: if the URL follows
// it, too, then what follows the URL.
func (f *scriptFlags) takeArgs(p *parsed) {
	if f.file == "" || p.after == 0 {
		return
	}
	at := max(len(p.words)-p.after, 1)
	f.args, p.words = p.words[at:], p.words[:at]
}

// setScriptUnless is setScript if there are no faults yet: the script may print, so it runs only if
// all else is right. Then it is known which checks and metrics the run has.
func (f *runFlags) setScriptUnless(faults []error) []error {
	if len(faults) > 0 {
		return faults
	}
	names := objective.Names{}
	if f.script.file != "" {
		if faults = f.setScript(); len(faults) > 0 {
			return faults
		}
		var all bool
		names.Counters, names.Histograms, all = f.script.maker.Measured()
		names.More = !all
	}
	names.Checks = f.plan.Checks
	for _, o := range f.objectives {
		if err := o.Unknown(names); err != nil {
			faults = append(faults, loadplan.Flaw{Setting: "--slo",
				Problem: fmt.Sprintf("%s: %v", o.Expr, err)})
		}
		if lacks := o.Lacks(&f.plan); lacks != nil {
			lacks.Setting = "--slo"
			faults = append(faults, f.heard(*lacks))
		}
	}
	return faults
}

// markStreams reads the script, if there is one, and has the plan know of the streams that it marks
// by dyno.stream. Nothing of the script runs.
func (f *runFlags) markStreams() (faults []error) {
	if f.script.file == "" {
		return nil
	}
	var err error
	if f.script.source, err = readText(f.script.file); err != nil {
		return []error{loadplan.Flaw{Setting: "--script", Problem: fault.Text(err)}}
	}
	format, err := luascript.StreamFormat(f.script.file, f.script.source)
	if err != nil {
		return []error{err}
	}
	mark := fmt.Sprintf("dyno.stream(%q)", format)
	if faults = f.otherFormat(format, "script", mark); format != "" && len(faults) == 0 {
		f.plan.Stream.Format, f.plan.Stream.Marked = format, true
	}
	return faults
}

// setScript has the script make its requests instead of those of the command line, of which it
// knows the first.
func (f *runFlags) setScript() []error {
	if f.plan.HasTemplates() || f.plan.HasHoles() {
		return []error{loadplan.Flaw{Setting: "--script", Problem: "makes requests itself, so the URL, " +
			"headers and body have no {{holes}}"}}
	}
	if f.plan.Seed == 0 {
		f.plan.Seed = loadplan.DrawSeed()
	}
	p := &f.plan
	u, _ := url.Parse(p.Target.URL)
	if u == nil || u.Host == "" {
		u = &url.URL{Scheme: "http", Host: "localhost"}
	}
	c := luascript.Config{Name: f.script.file, Source: f.script.source, Args: f.script.args,
		Request: p.Requests[0].Request, URL: p.Target.URL, Scheme: u.Scheme, Host: u.Hostname(),
		Port: u.Port(), HTTP2: f.defaults.HTTP2, Pipelines: !f.maySpeakHTTP2(),
		Threads: min(p.Threads, p.Connections), Seed: p.Seed, Output: &f.script.printed,
		Getenv: f.filling.environment,
		Lookup: func() ([]netip.AddrPort, error) { return lookUpTarget(p.Target) }}
	m, err := luascript.Compile(c)
	if err != nil {
		return []error{err}
	}
	m.SetPlan(p)
	p.Addresses = m.Addresses()
	p.Environment = f.filling.taken
	f.script.maker = m
	return joinedErrors(p.Check())
}

// maySpeakHTTP2 reports whether connections may speak HTTP/2 or 3, in which requests cannot follow
// each other in one text.
func (f *runFlags) maySpeakHTTP2() bool {
	return f.defaults.HTTP2 || f.plan.Target.TLS && f.plan.HTTP == loadplan.Auto
}

// lookUpTarget finds the addresses of a target.
func lookUpTarget(t loadplan.Target) (all []netip.AddrPort, err error) {
	if a, is := t.LiteralAddress(); is {
		return []netip.AddrPort{a}, nil
	}
	const most = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", t.Host)
	for _, a := range found {
		if at := netip.AddrPortFrom(a.Unmap(), t.Port); !slices.Contains(all, at) {
			all = append(all, at)
		}
	}
	return all, err
}

// scriptRunner is run with a script that begins anew in each run but the first.
func (f *runFlags) scriptRunner(run result.Runner) result.Runner {
	if f.script.maker == nil {
		return run
	}
	first := true
	return func(ctx context.Context, p loadplan.Plan,
		each func(loadresult.Interval)) (*result.Result, error) {
		if !first {
			again, err := f.script.maker.Again()
			if err != nil {
				return nil, err
			}
			p.Scenario = again
		}
		first = false
		r, err := run(ctx, p, each)
		if err == nil && r.Ended == string(loadresult.Faulted) {
			return nil, loadplan.Flaw{Setting: "--script", Problem: r.Cause}
		}
		return r, err
	}
}

// finishScript calls the script's function done. It returns the exit code: code, if that goes well.
func (s streams) finishScript(f *runFlags, r *result.Result, code int) int {
	if f.script.maker == nil || r.Ended == string(loadresult.Faulted) {
		return code
	}
	summary, err := summarize(r)
	if f.tui && err == nil {
		err = f.script.printed.release(s.out)
	}
	if err == nil {
		err = f.script.maker.Done(summary)
	}
	if err != nil {
		s.writeLine("dyno: %s", fault.Text(err))
		if code != exitInterrupted && code != exitFault {
			code = exitUsage
		}
	}
	return code
}

// summarize is what a script is told of a result.
func summarize(r *result.Result) (s luascript.Summary, err error) {
	s = luascript.Summary{Duration: r.Window.MeasuredS * 1e6, Bytes: r.Bytes.Received,
		Requests: int64(math.Round(r.Rate.AnswersPerSecond() * r.Window.MeasuredS))} // as wrk counts them
	for status, n := range r.Status {
		if status > "399" {
			s.Status += n
		}
	}
	for _, e := range r.Errors {
		switch loadresult.Phase(e.Phase) {
		case loadresult.DNS, loadresult.Connect, loadresult.TLSPhase:
			s.Connect += e.Count
		case loadresult.Read, loadresult.Protocol:
			s.Read += e.Count
		case loadresult.Write:
			s.Write += e.Count
		case loadresult.Timeout:
			s.Timeout += e.Count
		}
	}
	if d := r.Latency; d != nil {
		s.Latency = luascript.Statistics{Min: d.Min, Max: d.Max, Mean: d.Mean, Stdev: d.Stdev}
		h, err := d.Histogram()
		if err != nil {
			return s, err
		}
		for ns, n := range h.ToSparse().ValueCounts() {
			at := min(max(float64(ns)/1e3, d.Min), d.Max)
			s.Latency.Values = append(s.Latency.Values, luascript.Value{At: at, Count: n})
		}
	}
	var rates []float64
	for i, point := range r.Series {
		from := 0.0
		if i > 0 {
			from = r.Series[i-1].T
		}
		if length := point.T - from; length > 0 && point.T <= r.Window.MeasuredS {
			rates = append(rates, float64(point.Answered())/length/float64(max(r.Plan.Threads, 1)))
		}
	}
	slices.Sort(rates)
	s.Rates = luascript.NewStatistics(rates)
	for _, c := range r.Checks {
		s.Checks = append(s.Checks, luascript.Check(c))
	}
	s.Measures, err = scripted.Named(r.Metrics)
	return s, err
}
