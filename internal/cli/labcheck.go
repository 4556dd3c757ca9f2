package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"dyno/internal/lab/design"
	"dyno/internal/lab/experiment"
	"dyno/internal/lab/judge"
	labrun "dyno/internal/lab/run"
	"dyno/internal/view/labreport"
)

// labCheckFlags is the command line of dyno lab check.
type labCheckFlags struct {
	helpFlag
	start bool
}

func (f *labCheckFlags) groups() []group {
	return []group{{"Flags", []option{
		{"start", "", "", "start each variant once, and compare the answers, without load",
			setSwitch(&f.start)},
		{"help", "h", "", "this", setSwitch(&f.help)},
	}}}
}

// labCheck is dyno lab check: it reports every fault of a file, and the plan.
func labCheck(s streams, args []string) int {
	var f labCheckFlags
	p := parseOptions(args, f.groups())
	if f.help {
		return s.printHelp("lab check")
	}
	if len(p.words) == 0 {
		p.faults = append(p.faults, errors.New("a FILE is wanted, or several"))
	}
	if len(p.faults) > 0 {
		return s.refuseFlags("lab check", p.faults)
	}
	if err := widenPath(); err != nil {
		return s.refuseFlags("lab check", []error{err})
	}
	codes := map[int]bool{}
	for _, name := range p.words {
		codes[s.checkExperiment(name, f.start)] = true
	}
	for _, code := range gravestFirst {
		if codes[code] {
			return code
		}
	}
	return exitOK
}

// gravestFirst are the exit codes of a check: of several files the gravest one counts.
var gravestFirst = []int{exitInterrupted, exitFault, exitUsage, exitUnreachable, exitUntrusted}

// checkExperiment checks an experiment, and starts its variants if that is wanted.
func (s streams) checkExperiment(name string, start bool) int {
	e, err := openExperiment(name)
	if err == nil && start {
		e, err = (&secretFlags{}).fillSecrets(e, false, s.writeRemark)
	}
	if err != nil {
		return s.failWith(exitUsage, err)
	}
	if start {
		return s.rehearse(e)
	}
	quick := (&labrun.Lab{Experiment: design.Quick(e)}).Intent()
	_, err = fmt.Fprintf(s.out, "%s  --quick: %s\n",
		labreport.IntentText((&labrun.Lab{Experiment: e}).Intent()), labreport.ExtentText(quick))
	if err != nil {
		return s.writeExitCode(err)
	}
	return exitOK
}

// rehearse starts each variant once, in a folder that is kept only if one of them cannot be
// compared.
func (s streams) rehearse(e *experiment.Experiment) int {
	parent, err := os.MkdirTemp("", "dyno-check-")
	if err != nil {
		return s.failWith(exitUsage, err)
	}
	f := labFlags{output: filepath.Join(parent, e.Name)}
	whole, lose := context.WithCancelCause(context.Background())
	defer lose(nil)
	l, stop, err := f.newLab(e, lose)
	if err != nil {
		os.RemoveAll(parent)
		return s.failWith(exitUsage, err)
	}
	defer stop()
	ctx, end := interruptedBy(whole)
	defer end()
	l.Tell = func(labrun.Event) {}
	r, err := l.Rehearse(ctx)
	if ctx.Err() != nil {
		os.RemoveAll(parent)
		return exitInterrupted
	}
	if r == nil {
		os.RemoveAll(parent)
		if errors.Is(err, labrun.ErrNothingLeft) {
			return s.failWith(exitUnreachable, err)
		}
		return s.failWith(exitUsage, err)
	}
	if wrote := labreport.Rehearsal(s.out, r); wrote != nil {
		return s.writeExitCode(wrote)
	}
	if err == nil && judge.Unloaded(r) == "" {
		os.RemoveAll(parent)
		return exitOK
	}
	s.writeLine("dyno: what the servers printed is in %s", filepath.Join(f.output, "output"))
	switch {
	case errors.Is(err, labrun.ErrNothingLeft):
		return exitUnreachable
	case err != nil:
		return s.failWith(exitFault, err)
	}
	return exitUntrusted
}
