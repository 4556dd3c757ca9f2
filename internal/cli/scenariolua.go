package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/result"
	"dyno/internal/view/format"
	"dyno/internal/view/report"
	"dyno/internal/view/sample"
)

// This file is dyno scenario with a script in Lua, in place of Hurl files.

// luaEnding is the end of a script's name.
const luaEnding = ".lua"

// unloadedURL is the server that a script sees which is only checked. Nothing is sent there.
const unloadedURL = "http://127.0.0.1/"

// takeScript takes a script off the words of the command line. It reports whether there is one.
func (f *scenarioFlags) takeScript(p *parsed) bool {
	i := slices.IndexFunc(p.words, func(w string) bool {
		return strings.EqualFold(filepath.Ext(w), luaEnding)
	})
	if i < 0 || i >= len(p.words)-p.after {
		return false
	}
	f.script.file = p.words[i]
	p.words = slices.Delete(p.words, i, i+1)
	n := len(p.words) - p.after
	f.script.args, p.words, p.after = p.words[n:], p.words[:n], 0
	return true
}

// readScript reads what follows a script: a URL, from which its requests are made. It compiles the
// script, whose functions setup and init run.
func (f *scenarioFlags) readScript(p parsed) (faults []error) {
	f.setDefaults(p.given)
	faults = append(slices.Clone(p.faults), f.setTarget(p)...)
	for _, name := range []string{"variable", "variables-file", "data"} {
		if p.given[name] {
			faults = append(faults, loadplan.Flaw{Setting: "--" + name,
				Problem: "is for Hurl files; what follows -- are the arguments of a script"})
		}
	}
	if len(faults) > 0 {
		return faults
	}
	faults = f.textFaults(p)
	var wrong []error
	f.plan.Requests, wrong = f.readRequests(nil)
	faults = append(append(faults, wrong...), f.markStreams()...)
	f.setStreamDefaults(p.given)
	faults = append(faults, joinedErrors(f.plan.Check())...)
	return f.setScriptUnless(faults)
}

// scriptCheck says what is wrong with a script, or what it has.
func (s streams) scriptCheck(f *scenarioFlags, p parsed) int {
	if len(p.words) == 0 {
		p.words = []string{unloadedURL}
	}
	if faults := f.readScript(p); len(faults) > 0 {
		return s.refuseFlags("scenario check", faults)
	}
	if err := s.releaseScript(&f.runFlags); err != nil {
		return s.writeExitCode(err)
	}
	counters, histograms, all := f.script.maker.Measured()
	has := []string{strings.Join(f.script.maker.Functions(), ", ")}
	if has[0] == "" {
		has[0] = "one request, always the same"
	}
	for _, some := range []struct {
		names []string
		of    string
	}{{f.plan.Checks, "check"}, {counters, "counter"}, {histograms, "histogram"}} {
		if len(some.names) > 0 {
			has = append(has, format.Plural(int64(len(some.names)), some.of))
		}
	}
	if !all {
		has = append(has, "and others whose names it computes")
	}
	return s.printText(fmt.Sprintf("%s: %s\n", filepath.Base(f.script.file), strings.Join(has, ", ")))
}

// scriptRun runs a script on one connection, and shows each request and response.
func (s streams) scriptRun(f *scenarioFlags, p parsed) int {
	f.plan.Show = int(min(f.plan.Requested, loadplan.ShowMost))
	faults := f.readScript(p)
	if len(faults) == 0 {
		faults = markFaults(f.showSecrets)
	}
	if len(faults) > 0 {
		return s.refuseFlags("scenario run", faults)
	}
	if err := s.releaseScript(&f.runFlags); err != nil {
		return s.writeExitCode(err)
	}
	ctx, end := untilInterrupted()
	defer end()
	r, err := f.carryOutPlan(ctx, f.plan, runHere)
	if err != nil {
		return s.failNotRun(err)
	}
	code := s.printText(f.scriptSteps(r))
	switch {
	case code != exitOK:
		return code
	case ctx.Err() != nil:
		return exitInterrupted
	case r.Ended == string(loadresult.Faulted):
		return s.refuseFlags("scenario run", []error{loadplan.Flaw{Setting: "--script",
			Problem: r.Cause}})
	case r.Answers() == 0:
		code = exitUnreachable
	case r.Requests.Completed < r.Requests.Sent:
		code = exitMissed
	}
	return s.finishScript(&f.runFlags, r, code)
}

// scriptSteps is what a run of a script showed: requests with -v, errors, checks and metrics.
func (f *scenarioFlags) scriptSteps(r *result.Result) string {
	var b strings.Builder
	if shown, _ := sample.Split(r.Samples); f.verbose {
		_ = sample.Shown(&b, shown) // a builder has no errors
	}
	for _, e := range r.Errors {
		fmt.Fprintf(&b, "FAILED %s %s, %s: %s\n", e.Phase, e.Kind, format.Plural(e.Count, "time"),
			e.Text(r.Voice()))
	}
	for _, c := range r.Checks {
		state := "ok"
		switch {
		case c.Failed > 0:
			state = "FAILED"
		case c.Passed == 0:
			state = "not made"
		}
		fmt.Fprintf(&b, "%-6s %s: %d of %d passed\n", state, c.Name, c.Passed, c.Passed+c.Failed)
	}
	for _, m := range r.Metrics {
		switch {
		case m.Value != nil:
			fmt.Fprintf(&b, "%s: %s\n", m.Name, report.MetricText(*m.Value))
		case m.Values != nil:
			fmt.Fprintf(&b, "%s: %s, mean %s, max %s\n", m.Name, format.Plural(m.Values.Count, "value"),
				report.MetricText(m.Values.Mean), report.MetricText(m.Values.Max))
		}
	}
	q := r.Requests
	fmt.Fprintf(&b, "%s: %d completed, %d failed\n", format.Plural(q.Sent, "request"), q.Completed,
		q.Errors+q.Unfinished)
	return b.String()
}
