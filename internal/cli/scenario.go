package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"dyno/internal/engine/load"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/scenario"
	"dyno/internal/engine/session"
	"dyno/internal/result/plansecrets"
	"dyno/internal/view/format"
)

// This file is dyno scenario: what one does a hundred times while writing a Hurl file, or a script.

// A scenarioFlags is the command line of scenario check and scenario run.
type scenarioFlags struct{ runFlags }

func newScenarioFlags() *scenarioFlags { return &scenarioFlags{*newRunFlags()} }

// checkGroups are the options of scenario check.
func (f *scenarioFlags) checkGroups() []group {
	return []group{{"Variables",
		pickOptions(f.groups(), "variable", "variables-file", "data", "data-order", "help")}}
}

// runGroups are the options of scenario run.
func (f *scenarioFlags) runGroups() []group {
	all := f.groups()
	own := pickOptions(all, "requests", "timeout", "http", "verbose", "show-secrets", "user", "auth")
	own[0] = own[0].saying("how many iterations, one after the other (1)")
	own[2] = own[2].saying("auto, 1.0, 1.1, 2 or 3 (auto)")
	own[3] = own[3].saying("show each request and response")
	resumes := func(o option) bool { return o.long == "tls-resume" } // of a load
	tls := titled(all, "TLS")
	tls.options = slices.DeleteFunc(tls.options, resumes)
	way := pickOptions(all, "proxy", "connect-to", "connect-timeout", "proxy-protocol",
		"accept-encoding")
	return []group{{"Run", own}, f.checkGroups()[0], {"Connections", way}, tls}
}

// scenarioCheck is dyno scenario check.
func scenarioCheck(s streams, args []string) int {
	f := newScenarioFlags()
	p := parseOptions(args, f.checkGroups())
	if f.help {
		return s.printHelp("scenario check")
	}
	if f.takeScript(&p) {
		return s.scriptCheck(f, p)
	}
	faults := append(p.faults, f.readScenario(&p)...)
	_, hasBase := f.filling.variables[session.BaseVariable]
	if !hasBase {
		f.setVariable(session.BaseVariable, "http://base.invalid")
	}
	m, wrong := f.compileIf(faults, func(c *session.Config) { c.Unknown = true })
	if faults = append(faults, wrong...); len(faults) > 0 {
		return s.refuseFlags("scenario check", faults)
	}
	names := []string{}
	for _, name := range f.hurlFiles {
		names = append(names, filepath.Base(name))
	}
	n := len(m.Checks) - scenario.OwnChecks(m.Checks)
	return s.printText(fmt.Sprintf("%s: %s, %s\n", strings.Join(names, ", "),
		format.Plural(int64(len(m.Steps)), "request"), format.Plural(int64(n), "check")))
}

// setVariable adds a variable that nobody gave.
func (f *scenarioFlags) setVariable(name, value string) {
	if f.filling.variables == nil {
		f.filling.variables = map[string]string{}
	}
	f.filling.variables[name] = value
	f.plan.SetVariables(f.filling.variables)
}

// readScenario reads what both verbs have: files, variables and data.
func (f *scenarioFlags) readScenario(p *parsed) (faults []error) {
	if len(p.words) == 0 {
		faults = append(faults, loadplan.Flaw{Setting: "FILE",
			Problem: "none is given; write one, as login.hurl or visit.lua"})
	}
	for i, w := range p.words {
		if !strings.EqualFold(filepath.Ext(w), hurlEnding) {
			faults = append(faults, loadplan.Flaw{Setting: w, Problem: "does not end in " + hurlEnding +
				" or " + luaEnding})
			p.words[i] = ""
		}
	}
	if len(faults) == 0 {
		faults = f.takeHurl(p)
	}
	return append(faults, f.readFilling(p.given)...)
}

// compileIf compiles the files if there are no faults yet.
func (f *scenarioFlags) compileIf(faults []error, change func(*session.Config)) (*session.Maker,
	[]error) {
	if len(faults) > 0 {
		return nil, nil
	}
	return f.compileHurl(change)
}

// scenarioRun is dyno scenario run.
func scenarioRun(s streams, args []string) int {
	f := newScenarioFlags()
	f.plan.Requested, f.plan.Duration, f.plan.Connections, f.plan.Threads = 1, 0, 1, 1
	p := parseOptions(args, f.runGroups())
	if f.help {
		return s.printHelp("scenario run")
	}
	if f.takeScript(&p) {
		return s.scriptRun(f, p)
	}
	faults := append(p.faults, f.readScenario(&p)...)
	f.setSender()
	if len(faults) == 0 {
		faults = f.setTarget(p)
	}
	show := &shownSteps{to: s.out, bodies: f.verbose, keep: f.planReplacer()}
	m, wrong := f.compileIf(faults, func(c *session.Config) { c.Observe = show.step })
	if faults = append(faults, wrong...); len(faults) == 0 {
		m.SetPlan(&f.plan)
		faults = append(joinedErrors(f.plan.Check()), markFaults(f.showSecrets)...)
		show.secrets = plansecrets.Values(f.plan)
	}
	if len(faults) > 0 {
		return s.refuseFlags("scenario run", faults)
	}
	ctx, end := untilInterrupted()
	defer end()
	r, err := load.Run(ctx, f.plan, func(loadresult.Interval) {})
	if err != nil {
		return s.failNotRun(err)
	}
	return s.showIterations(ctx, r, show)
}

// showIterations says what became of the iterations, and returns the exit code.
func (s streams) showIterations(ctx context.Context, r *loadresult.Result, show *shownSteps) int {
	t := r.Scenario
	switch {
	case show.err != nil:
		return s.writeExitCode(show.err)
	case ctx.Err() != nil:
		return exitInterrupted
	case t == nil || show.steps == 0 && t.Failed == 0:
		return s.failWith(exitUnreachable, errors.New("no response came: "+r.Cause))
	}
	for _, f := range r.Failures {
		if f.Phase == loadresult.Check && f.Kind == "value" { // of what was not sent
			show.write("FAILED " + f.Detail + "\n")
		}
	}
	code := s.printText(fmt.Sprintf("%s: %d completed, %d failed\n",
		format.Plural(t.Started, "iteration"), t.Completed, t.Failed+t.Unfinished))
	if code == exitOK && t.Completed < t.Started {
		return exitMissed
	}
	return code
}
