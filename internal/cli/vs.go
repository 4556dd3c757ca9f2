package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dyno/internal/fairness"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	labrun "dyno/internal/lab/run"
	"dyno/internal/lab/versus"
	"dyno/internal/lab/workload"
	"dyno/internal/setting"
	"dyno/internal/view/labanswer"
	"dyno/internal/view/labreport"
)

// This file is dyno vs: an experiment that is composed from the command line, and run as dyno lab
// run would.

const vsBegin = `A and B are commands that start servers, with {port} where they take their port, or
URLs of servers that are running. The first is what the others are compared with.

  dyno vs './old --port {port}' './new --port {port}'         two builds
  dyno vs http://127.0.0.1:8080/ http://127.0.0.1:8081/       two servers that are running
  dyno vs --git main HEAD --build 'go build -o {out}/srv .' \
          --run '{out}/srv -listen 127.0.0.1:{port}'          two revisions

`

const vsNotes = `A command is split as a shell splits it. Pipes, variables, redirections and
patterns are left to sh -c. NAME=VALUE before the program sets a variable. Commands run in this
folder; {dir} is a private folder that is empty at each start. A FILE.hurl among the words is what
users do. The result is an ordinary experiment: its file, report.html and all trials lie in one
folder. Edit the file vs.yaml there, and run it with dyno lab run.
Exit codes: 0 a verdict for each server, 1 with --max-regression one is worse by that much, 2 bad
usage, 3 no verdict yet, or trials that must not be relied on (with --max-regression: its gate is
inconclusive), 4 nothing to compare: a server did not start, its session or all its trials fail, or
answers differ, 5 a fault of dyno, 130 interrupted.
`

var vsExamples = []string{
	"dyno vs './old --port {port}' './new --port {port}'",
	"dyno vs http://127.0.0.1:8080/ http://127.0.0.1:8081/ -c 20 --allow etag,last-modified",
	"dyno vs --git main HEAD --build 'go build -o {out}/srv .' --run '{out}/srv -port {port}'",
}

// vsFile is the name of the experiment's file in its folder, for people to edit. The one beside it
// is part of what was measured.
const vsFile = "vs.yaml"

// compareServers is dyno vs.
func compareServers(s streams, args []string) int {
	ctx, end := untilInterrupted()
	f, faults := readVs(ctx, args)
	end()
	if f.help {
		return s.printHelp("vs")
	}
	if len(faults) > 0 {
		return s.refuseFlags("vs", faults)
	}
	for {
		code, again := s.runVersus(context.Background(), f)
		if !again {
			return code
		}
	}
}

// errUnfit ends an experiment in which a server cannot be compared.
var errUnfit = errors.New("a server cannot be compared")

// runVersus composes the experiment and runs it until ctx ends. It is to be run again if the user
// allows that answers differ.
func (s streams) runVersus(ctx context.Context, f *vsFlags) (code int, again bool) {
	e, err := f.compose(s.writeRemark)
	if err != nil {
		return s.refuseFlags("vs", joinedErrors(err)), false
	}
	lf := labFlags{output: f.output, verbose: f.verbose, secrets: f.secrets, versus: true}
	if err := lf.makeFolder(e.Name); err != nil {
		return s.failWith(exitUsage, err), false
	}
	e.Here, e.File = lf.output, filepath.Join(lf.output, vsFile)
	whole, lose := context.WithCancelCause(ctx)
	defer lose(nil)
	l, stop, err := lf.newLab(e, lose)
	if err = errors.Join(err, widenPath()); err != nil {
		return s.refuseFlags("vs", joinedErrors(err)), false
	}
	defer stop()
	intent := l.Intent()
	if missing := missingServers(intent.Arms); len(missing) > 0 {
		os.Remove(lf.output) // nothing is in it
		return s.failWith(exitUnreachable, errors.Join(missing...)), false
	}
	running, end := interruptedBy(whole)
	defer end()
	progress := newVsProgress(s, l, labreport.ExtentLines(intent), f.verbose)
	l.Tell = func(ev labrun.Event) {
		if ev.Step == "unfit" {
			lose(errUnfit) // what it is about is in the record
			return
		}
		progress.showEvent(ev)
	}
	r, err := l.Run(running)
	progress.end()
	switch {
	case r == nil && errors.Is(err, labrun.ErrNothingLeft):
		return s.failWith(exitUnreachable, err), false
	case r == nil:
		return s.failWith(exitUsage, err), false
	}
	r.Dir = l.Dir
	if !r.Checked { // what was built would be built again
		err = errors.Join(err, os.RemoveAll(filepath.Join(l.Dir, labrun.BuildFolder)))
	}
	if errors.Is(context.Cause(whole), errUnfit) {
		return s.failUnfit(f, r)
	}
	return s.concludeVersus(l, r, err, context.Cause(whole), lf), false
}

// makeFolder makes the folder of a comparison. One whose servers did not start, so that nothing was
// measured, can be given again once the command is mended.
func (f *labFlags) makeFolder(name string) (err error) {
	if f.output != "" {
		err = lab.ClearUnbegun(f.output, vsFile, labrun.BuildFolder)
	}
	if err == nil {
		f.output, err = f.chooseFolder(name)
	}
	if err == nil {
		err = os.MkdirAll(f.output, 0o755)
	}
	return err
}

// compose is the experiment, complete and checked. What is wrong with it is at the flags that it
// was composed of.
func (f *vsFlags) compose(note func(string)) (*experiment.Experiment, error) {
	text, err := f.compared.File()
	if err != nil {
		return nil, err
	}
	e, err := experiment.Read(vsFile, bytes.NewReader(text))
	if err == nil {
		err = workload.Check(e)
	}
	if err != nil {
		return nil, inVsFlags(err)
	}
	return f.secrets.fillSecrets(e, false, note)
}

// missingServers are the servers that cannot be started here, each with the reason.
func missingServers(arms []lab.Arm) (all []error) {
	for _, a := range arms {
		if len(a.Missing) > 0 {
			all = append(all, fmt.Errorf("%s: %s", a.Name, strings.Join(a.Missing, "; ")))
		}
	}
	return all
}

// isVersus reports whether a folder has a comparison of dyno vs.
func isVersus(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, vsFile))
	return err == nil && info.Mode().IsRegular()
}

// concludeVersus prints what speaks against the answer, the next step, and a line for each server.
// With details the whole report of dyno lab run comes first.
func (s streams) concludeVersus(l *labrun.Lab, r *lab.Record, err, lost error, f labFlags) int {
	if r.State != lab.Complete && r.State != lab.OverBudget || !r.HasMeasured() ||
		errors.Is(err, labrun.ErrNothingLeft) {
		f.versus = false // there are no such lines
		return s.concludeExperiment(l, r, err, lost, f)
	}
	code := s.concludeExperiment(l, r, err, lost, f)
	a := labanswer.Of(r)
	all := labanswer.Standings(r, a)
	if f.verbose {
		fmt.Fprintf(s.err, "  experiment: %s\n", setting.ShellQuote(filepath.Join(l.Dir, vsFile)))
	}
	err = labreport.Standings(s.out, r.Experiment.Design.Baseline, all, a.Unreliable,
		s.reportStyle())
	if err != nil {
		return s.writeExitCode(err)
	}
	if code == exitOK && r.Gate == nil && (!labanswer.AreDecided(all) || a.IsBad()) {
		return exitUntrusted // a gate says itself whether it is decided
	}
	return code
}

// writeVersus writes what stands above the line for each server.
func (s streams) writeVersus(r *lab.Record) error {
	a := labanswer.Of(r)
	next := a.Next
	switch {
	case labanswer.AreDecided(labanswer.Standings(r, a)) && !a.IsBad():
		next.Says, next.Command = "", "" // it is answered
	case next.Rate > 0:
		next.Says, next.Command = fmt.Sprintf("give -R %.0f to dyno vs: below the "+
			"generator's limit, latency and CPU per request can be compared", next.Rate), ""
	}
	return labreport.Versus(s.out, r, a, next, s.reportStyle())
}

// failUnfit reports servers that cannot be compared. If their answers differ it asks on a terminal
// whether they may, and says otherwise how to allow it.
func (s streams) failUnfit(f *vsFlags, r *lab.Record) (code int, again bool) {
	differs, keep := false, f.conducted
	for _, a := range r.Arms {
		if a.Unfit == "" || a.Control {
			continue
		}
		if a.Answer != nil && r.Fairness != nil {
			differs = true
			continue
		}
		why := a.Name + " cannot be compared: " + a.Unfit
		fmt.Fprintf(s.err, "dyno: %s\n", indented(why))
		if a.Remedy != "" {
			s.writeLine("dyno: %s", a.Remedy)
			why += "; " + a.Remedy
		}
		s.noteError(why)
		keep = true // its output, which the message names
	}
	if !differs {
		return exitUnreachable, false
	}
	aspects := s.showDifferences(r, f.verbose)
	whole := slices.Concat(f.compared.Allow, aspects)
	allow := strings.Join(whole, ",")
	question := fmt.Sprintf("Compare them nevertheless (--allow %s)? [y/N] ", allow)
	again = s.asksUser() && s.confirms(question)
	if again || !keep { // nothing was measured, and -o can be given again
		if err := f.clearFolder(r.Dir); err != nil {
			return s.failWith(exitUsage, err), false
		}
	}
	if again {
		f.compared.Allow = whole
		return exitOK, true
	}
	return s.failWith(exitUnreachable, fmt.Errorf("the servers do not answer alike, so their times "+
			"do not compare; mend that, or compare them nevertheless with --allow %s%s", allow,
			errorsAllowed(r, aspects))),
		false
}

// errorsAllowed says which answers count as errors if the status may differ; "" if none does.
func errorsAllowed(r *lab.Record, allowed []string) string {
	if !slices.Contains(allowed, "status") {
		return ""
	}
	var codes []string
	for _, a := range r.Arms {
		if a.Control || a.Answer == nil {
			continue
		}
		for _, code := range a.Answer.AllStatuses() {
			text := strconv.Itoa(code)
			if code >= 400 && !slices.Contains(codes, text) {
				codes = append(codes, text)
			}
		}
	}
	if len(codes) == 0 {
		return ""
	}
	return fmt.Sprintf(" (an answer of %s counts as an error, unless --expect names it)",
		strings.Join(codes, " or "))
}

// clearFolder empties the folder of a comparison, and removes it if it is not the user's.
func (f *vsFlags) clearFolder(dir string) error {
	err := lab.Folder{Dir: dir}.Clear()
	if f.output == "" {
		err = errors.Join(err, os.Remove(dir))
	}
	return err
}

// showDifferences shows how answers differ from those of the first server, and returns what has to
// be allowed besides what is allowed already. Without all, differences that follow from others are
// left out.
func (s streams) showDifferences(r *lab.Record, all bool) (aspects []string) {
	var asked []fairness.Asked
	for _, a := range r.Arms {
		if !a.Control && a.Answer != nil {
			asked = append(asked, fairness.Asked{Variant: a.Name, Answer: a.Answer})
		}
	}
	allowed := r.Experiment.Fairness.Allow
	for _, a := range r.Arms {
		if a.Control || a.Unfit == "" || a.Answer == nil {
			continue
		}
		fewest, enough := fairness.Fewest(r.Fairness.Reference, a.Name, asked, allowed)
		fmt.Fprintf(s.err, "%s does not answer as %s does:\n", a.Name, r.Fairness.Reference)
		for _, v := range r.Fairness.Violations() {
			if v.Variant == a.Name && (all || !enough || slices.Contains(fewest, v.Aspect)) {
				fmt.Fprintf(s.err, "  %-16s %s (%s), and %s (%s)\n", v.Aspect, oneLine(v.Reference),
					r.Fairness.Reference, oneLine(v.Value), a.Name)
			}
		}
		if !enough {
			fewest = []string{versus.AllowAll}
		}
		for _, name := range fewest {
			if !slices.Contains(aspects, name) {
				aspects = append(aspects, name)
			}
		}
	}
	return aspects
}

// asksUser reports whether there is somebody to be asked.
func (s streams) asksUser() bool { return isTerminal(s.in) && isTerminal(s.err) }

// confirms asks a question, and reports whether the answer is yes.
func (s streams) confirms(question string) bool {
	fmt.Fprint(s.err, question)
	line, _ := bufio.NewReader(s.in).ReadString('\n') // without a line the answer is no
	return slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(line)))
}

// indented is a text of several lines, all but the first indented.
func indented(text string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    ")
}
