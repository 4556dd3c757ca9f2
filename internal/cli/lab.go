package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dyno/internal/dynohome"
	"dyno/internal/engine/loadplan"
	"dyno/internal/fairness"
	"dyno/internal/fleet/bus"
	"dyno/internal/lab"
	"dyno/internal/lab/design"
	"dyno/internal/lab/experiment"
	"dyno/internal/lab/judge"
	labrun "dyno/internal/lab/run"
	"dyno/internal/lab/workload"
	"dyno/internal/remote"
	"dyno/internal/server"
	"dyno/internal/setting"
	"dyno/internal/view/labanswer"
	"dyno/internal/view/labreport"
	"dyno/internal/view/page"
)

// labFlags is the command line of dyno lab run.
type labFlags struct {
	helpFlag
	quick  bool
	output string
	resume string
	seed   uint64
	rounds roundsFlag
	fleet  fleetFlags

	verbose  bool
	imported bool
	secrets  secretFlags
	versus   bool // a comparison of dyno vs, which reports as that does
}

func (f *labFlags) groups() []group {
	return []group{f.fleet.fleetGroup(), {"Flags", []option{
		{"quick", "", "", "few rounds and short windows: to see whether it works, too short\n" +
			"for a verdict",
			setSwitch(&f.quick)},
		{"output", "o", "DIR", "folder for trials and report (one in the store)", setText(&f.output)},
		{"resume", "", "DIR", "go on where an experiment stopped", setText(&f.resume)},
		{"seed", "", "N", "of the order of trials (the file's, else drawn, and stored)",
			storeParsed(&f.seed, setting.ParseSeed)},
		{"rounds", "", "N|+N", "trials of each variant at each level, in place of the file's; +N:\n" +
			"so many more than an experiment that is resumed has", f.rounds.parse},
		detailOption(&f.verbose),
		importedOption(&f.imported),
		f.secrets.secretOption(),
		showSecretsOption(&f.secrets.show),
		{"help", "h", "", "this", setSwitch(&f.help)},
	}}}
}

// detailOption is -v of what runs an experiment.
func detailOption(to *bool) option {
	return option{"verbose", "v", "", "at the end everything: trials, fairness, latency, method",
		setSwitch(to)}
}

const labNotes = `FILE describes the experiment: dyno lab init writes one to begin with, and
dyno schema lab prints its JSON Schema. NAME is one that ships with dyno: dyno
lab list. The folder gets a file for each trial when the trial is over,
experiment.json with all that they say, report.md, and report.html: one page.
Exit codes: 0 done, 1 the gate found a regression or an objective was missed, 2
bad usage or a bad file, 3 the gate is inconclusive, the trials cannot decide a
gate or an objective, or an agent was lost, 4 nothing was measured or is left to
compare, 5 a fault of dyno, 130 interrupted: then, and without an agent, dyno
lab run --resume DIR goes on.
`

// labRun is dyno lab run.
func labRun(s streams, args []string) int {
	var f labFlags
	p := parseOptions(args, f.groups())
	if f.help {
		return s.printHelp("lab run")
	}
	e, faults := f.readExperiment(p, s.writeRemark)
	if len(faults) > 0 {
		return s.refuseFlags("lab run", faults)
	}
	if dir := cmp.Or(f.resume, folderOfFile(p)); dir != "" && !f.imported && lab.IsImported(dir) {
		return s.refuseImported(dir, e)
	}
	if f.seed != 0 {
		e.Design.Seed = int64(f.seed)
	}
	if f.quick && f.resume == "" {
		e = design.Quick(e)
	}
	if f.rounds.n > 0 {
		e = design.WithRounds(e, f.rounds.n)
	}
	f.versus = f.resume != "" && isVersus(f.resume)
	return s.runExperiment(context.Background(), e, f)
}

// readExperiment finds and reads the experiment to run.
func (f *labFlags) readExperiment(p parsed, note func(string)) (*experiment.Experiment, []error) {
	faults := append(p.faults, f.fleet.setGiven(p.given, false)...)
	switch {
	case f.resume != "" && len(p.words) > 0:
		faults = append(faults, fmt.Errorf("--resume %s: says already which experiment", f.resume))
	case f.resume != "" && (f.output != "" || f.quick || f.seed != 0):
		faults = append(faults, errors.New("--resume: goes on as was begun; give it alone"))
	case f.resume == "" && f.rounds.more:
		faults = append(faults, fmt.Errorf("--rounds +%d: adds to an experiment that --resume goes on "+
			"with", f.rounds.n))
	case f.resume == "" && !p.tried["resume"] && len(p.words) != 1:
		faults = append(faults, fmt.Errorf("one FILE or NAME is wanted; %d given", len(p.words)))
	}
	if len(faults) > 0 {
		return nil, faults
	}
	if f.resume == "" {
		e, err := openExperiment(p.words[0])
		if err == nil {
			e, err = f.secrets.fillSecrets(e, false, note)
		}
		return e, joinedErrors(err)
	}
	old, err := judge.Reopen(f.resume, func(e *experiment.Experiment) (*experiment.Experiment, error) {
		return f.secrets.fillSecrets(e, true, note)
	})
	if err != nil {
		return nil, joinedErrors(err)
	}
	f.output, f.quick = f.resume, old.Quick
	if err := f.rounds.resume(old); err != nil {
		return nil, joinedErrors(err)
	}
	return old.Experiment, f.fleet.resumeFleet(old.Fleet)
}

// openRecord reads the record of the experiment whose folder is the only word.
func (p parsed) openRecord() (*lab.Record, []error) { return p.reopenRecord(nil) }

// reopenRecord is openRecord with an experiment that fill completes.
func (p parsed) reopenRecord(fill judge.Filler) (*lab.Record, []error) {
	if len(p.words) != 1 {
		p.faults = append(p.faults, fmt.Errorf("one folder is wanted; %d given", len(p.words)))
	}
	if len(p.faults) > 0 {
		return nil, p.faults
	}
	r, err := judge.Reopen(p.words[0], fill)
	return r, joinedErrors(err)
}

// labRerun is dyno lab rerun: the same experiment, in the same order, in a new folder.
func labRerun(s streams, args []string) int {
	var f rerunFlags
	p := parseOptions(args, f.groups())
	if f.help {
		return s.printHelp("lab rerun")
	}
	old, faults := p.reopenRecord(func(e *experiment.Experiment) (*experiment.Experiment, error) {
		return f.secrets.fillSecrets(e, false, s.writeRemark)
	})
	if len(faults) > 0 {
		return s.refuseFlags("lab rerun", faults)
	}
	if !f.imported && lab.IsImported(p.words[0]) {
		return s.refuseImported(p.words[0], old.Experiment)
	}
	if old.Fleet != nil {
		fmt.Fprintln(s.err, "dyno: its loads were made by a fleet, and now are by this machine alone")
	}
	return s.runExperiment(context.Background(), old.Experiment,
		labFlags{output: f.output, quick: old.Quick, rounds: roundsFlag{n: old.Rounds},
			secrets: secretFlags{show: f.secrets.show}, verbose: f.verbose,
			versus: isVersus(p.words[0])})
}

// rerunFlags is the command line of dyno lab rerun.
type rerunFlags struct {
	helpFlag
	output   string
	verbose  bool
	imported bool
	secrets  secretFlags
}

func (f *rerunFlags) groups() []group {
	return []group{{"Flags", []option{
		{"output", "o", "DIR", "folder for trials and report (one in the store)", setText(&f.output)},
		detailOption(&f.verbose),
		importedOption(&f.imported),
		f.secrets.secretOption(),
		showSecretsOption(&f.secrets.show),
		{"help", "h", "", "this", setSwitch(&f.help)},
	}}}
}

// openExperiment reads a file, or an experiment that ships with dyno. Its requests are such that
// the laboratory can send them.
func openExperiment(name string) (*experiment.Experiment, error) {
	e, err := readExperimentFile(name)
	if err == nil {
		err = workload.Check(e)
	}
	return e, err
}

func readExperimentFile(name string) (*experiment.Experiment, error) {
	info, err := os.Stat(name)
	switch {
	case err == nil && !info.IsDir():
		return experiment.ReadFile(name)
	case err == nil && !isShipped(name):
		return nil, folderFault(name)
	case strings.ContainsAny(name, `/\`), strings.HasSuffix(name, ".yaml"),
		strings.HasSuffix(name, ".yml"):
		return experiment.ReadFile(name)
	}
	return experiment.OpenShipped(name)
}

// folderFault explains what a folder can be used for where a file is expected.
func folderFault(name string) error {
	if _, err := judge.Open(name); err != nil {
		return fmt.Errorf("%s is a folder; give the path of an experiment's file", name)
	}
	return fmt.Errorf("%s is the folder of an experiment that was run; dyno lab run --resume %s goes "+
		"on with it, and dyno lab rerun %s begins anew", name, name, name)
}

// isShipped reports whether an experiment of that name ships with dyno.
func isShipped(name string) bool {
	return slices.Contains(experiment.ShippedNames(), name)
}

// runExperiment runs e until it is done, interrupted, or an agent is missing, or until whole ends.
// Then it reports.
func (s streams) runExperiment(whole context.Context, e *experiment.Experiment, f labFlags) int {
	whole, lose := context.WithCancelCause(whole)
	defer lose(nil)
	l, stop, err := f.newLab(e, lose)
	if err = errors.Join(err, widenPath()); errors.Is(err, bus.ErrUnreachable) {
		return s.failWith(busExitCode(err), err)
	} else if err != nil {
		return s.refuseFlags("lab run", joinedErrors(err))
	}
	defer stop()
	show, endDisplay := s.showExperiment(l, f)
	ctx, end := interruptedBy(whole)
	defer end()
	l.Tell = show
	record, err := l.Run(ctx)
	endDisplay()
	if record == nil && errors.Is(err, labrun.ErrNothingLeft) {
		return s.failWith(exitUnreachable, err)
	}
	if record == nil {
		return s.failWith(exitUsage, err)
	}
	record.Dir = l.Dir
	if f.versus {
		return s.concludeVersus(l, record, err, context.Cause(whole), f)
	}
	return s.concludeExperiment(l, record, err, context.Cause(whole), f)
}

// showExperiment returns what shows the steps of an experiment, and what removes from a terminal
// what should not stay.
func (s streams) showExperiment(l *labrun.Lab, f labFlags) (show func(labrun.Event), end func()) {
	if f.versus {
		p := newVsProgress(s, l, labreport.ExtentLines(l.Intent()), f.verbose)
		return p.showEvent, p.end
	}
	fmt.Fprint(s.err, labreport.IntentText(l.Intent()))
	p := s.newLabProgress(l.Dir, f.verbose)
	return p.showEvent, p.end
}

// concludeExperiment writes the reports and returns the exit code. lost is why the experiment had
// to stop; nil if it did not.
func (s streams) concludeExperiment(l *labrun.Lab, r *lab.Record, err, lost error, f labFlags) int {
	style := s.reportStyle()
	style.Detail = f.verbose
	err = errors.Join(err, writeFile(filepath.Join(l.Dir, "report.md"), func(w io.Writer) error {
		return labreport.ExperimentMarkdown(w, r)
	}))
	if f.versus && !f.verbose {
		err = errors.Join(err, s.writeVersus(r))
	} else {
		err = errors.Join(err, labreport.Experiment(s.out, r, style))
	}
	s.writePage(l.Dir, l.History)
	switch {
	case errors.Is(err, labrun.ErrNothingLeft):
		return s.failWith(exitUnreachable, err)
	case r.State == lab.Interrupted && errors.Is(lost, errWithout):
		return s.failWith(exitUntrusted, lost)
	case r.State == lab.Interrupted:
		s.writeError("interrupted; go on with: dyno lab run --resume " + l.Dir)
		return exitInterrupted
	case err != nil:
		return s.failUnstored(l.Dir, err)
	case !r.HasMeasured():
		return s.failWith(exitUnreachable, errors.New("no trial measured anything"))
	}
	if code, err := experimentCode(r); err != nil {
		return s.failWith(code, err)
	}
	return exitOK
}

// experimentCode is the exit code by what an experiment was to decide, and why it is not 0. A gate
// has one verdict, which every report has. The gate checks whether its trials are reliable, and
// whether the baseline differs from itself in what it judges. An objective is decided if each
// trial decides it and the machine spoiled few, or if it was missed in one of the others.
func experimentCode(r *lab.Record) (code int, err error) {
	gate, missed := r.Gate, r.MissedObjective()
	undecided := func(o lab.ObjectiveCount) bool { return o.Undecided }
	switch {
	case gate != nil && gate.Verdict == lab.Undecided:
		return exitUntrusted, fmt.Errorf("gate: %s", gate.Explain())
	case gate != nil && gate.Verdict == lab.Regression:
		return exitMissed, fmt.Errorf("gate: %s", gate.Explain())
	case missed != "":
		return exitMissed, fmt.Errorf("objective missed: %s", missed)
	}
	if i := slices.IndexFunc(r.Objectives, undecided); i >= 0 {
		o := r.Objectives[i]
		return exitUntrusted, fmt.Errorf("objectives: neither met nor missed: %s of %s at %s: %s",
			o.Expr, o.Arm, o.Level, labanswer.WhyUndecided(o))
	}
	return exitOK, nil
}

// failUnstored reports an experiment that err ended: what could not be written can be written
// later.
func (s streams) failUnstored(dir string, err error) int {
	if _, is := errors.AsType[*fs.PathError](err); !is {
		return s.failWith(exitFault, err)
	}
	return s.failWith(exitUsage, errors.Join(err,
		fmt.Errorf("once it can be stored, go on with: dyno "+
			"lab run --resume %s", dir)))
}

// writePage writes the page of the experiment in dir, with earlier ones from history. A failure is
// only reported, because the experiment is complete without a page.
func (s streams) writePage(dir, history string) {
	err := writeFile(filepath.Join(dir, "report.html"), func(w io.Writer) error {
		return page.Experiment(w, dir, history)
	})
	if err != nil {
		s.writeLine("dyno: no report.html: %v", err)
	}
}

// experimentFolder is the path of a new folder in the store, for an experiment that begins now.
func experimentFolder(home, name string) string {
	now := time.Now().UTC() // to the microsecond: two may start at once
	dir := name + now.Format("-20060102-150405") + fmt.Sprintf("-%05x", now.Nanosecond()/1000)
	return filepath.Join(home, dynohome.Experiments, dir)
}

// chooseFolder is the absolute path of the folder of an experiment of that name: of one that goes
// on, or a new one.
func (f *labFlags) chooseFolder(name string) (string, error) {
	dir := f.output
	if dir == "" {
		home, err := dynohome.Dir()
		if err != nil {
			return "", err
		}
		// It is private, whatever the mode of the folder within it.
		if err := os.MkdirAll(filepath.Join(home, dynohome.Experiments), 0o700); err != nil {
			return "", fmt.Errorf("storing the experiment: %w; name another place with DYNO_HOME, "+
				"or a folder with -o", err)
		}
		dir = experimentFolder(home, name)
	}
	if f.resume == "" {
		if err := lab.CheckNew(dir); err != nil {
			return "", err
		}
	}
	return filepath.Abs(dir)
}

// newLab is what an experiment is run with. If an agent is missing while it runs, lose is called.
func (f *labFlags) newLab(e *experiment.Experiment, lose context.CancelCauseFunc) (l *labrun.Lab,
	stop func(), err error) {
	dir, err := f.chooseFolder(e.Name)
	if err != nil {
		return nil, nil, err
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("finding dyno itself: %w", err)
	}
	cpus, err := labrun.SplitCPUs(e.Design.CPUs)
	if err != nil {
		return nil, nil, err
	}
	if f.fleet.isAsked() { // the agents are the clients
		e.Design.Clients = experiment.Clients{Count: 1, Isolate: experiment.NoNamespace}
	}
	stage := &labrun.Stage{Output: filepath.Join(dir, "output"),
		Build: filepath.Join(dir, labrun.BuildFolder),
		Dyno:  exe, Supervisor: []string{exe, "supervise"}, Worker: []string{exe, "worker"},
		CPUs: cpus, Clients: e.Design.Clients, Ring: ringHere}
	l = &labrun.Lab{Experiment: e, Quick: f.quick, Rounds: f.rounds.n, Dir: dir,
		Resume: f.resume != "", Dyno: exe,
		Version: loadplan.Version, CPUs: cpus, Supervisor: stage.Supervisor,
		Load: runHere, Start: stage.Start, Ask: fairness.Ask,
		Watch: labrun.Watch, Keep: newMarks(f.secrets.show)}
	if home, err := dynohome.Dir(); err == nil { // else there is no history
		l.History = filepath.Join(home, dynohome.Experiments)
	}
	if f.versus {
		l.Source = vsFile
	}
	leave, err := f.fleet.setLabFleet(l, stage, lose)
	if err != nil || e.Design.Isolation != experiment.Shared {
		return l, leave, err
	}
	shared := &labrun.SharedStage{Stage: stage}
	l.Start = shared.Start
	return l, func() { shared.Close(); leave() }, nil
}

// superviseServers is the hidden verb by which dyno starts servers.
func superviseServers(s streams, args []string) int {
	if err := server.Supervise(args); err != nil {
		return s.failWith(exitFault, err)
	}
	return exitOK
}

// runWorker is the hidden verb by which dyno starts generators.
func runWorker(s streams, args []string) int {
	if len(args) > 0 {
		return s.refuseFlags("worker", tooManyWords(args, 0))
	}
	ctx, stop := untilInterrupted()
	defer stop()
	if err := remote.RunWorker(ctx, s.in, pastOutlet(s.out)); err != nil {
		return s.failWith(exitFault, err)
	}
	return exitOK
}

// labList is dyno lab list: it lists the experiments that ship with dyno.
func labList(s streams, args []string) int {
	var f helpFlag
	p := parseOptions(args, f.groups())
	if f.help {
		return s.printHelp("lab list")
	}
	if faults := append(p.faults, p.extraWords(0)...); len(faults) > 0 {
		return s.refuseFlags("lab list", faults)
	}
	return s.writeExitCode(labreport.Shipped(s.out, experiment.Shipped()))
}

// printVerbs lists the verbs of a group, such as dyno lab, when none was given.
func (s streams) printVerbs(group string, args []string) int {
	w, code := s.err, exitUsage
	if len(args) > 0 && (args[0] == "-h" || args[0] == "--help") {
		w, code = s.out, exitOK
	} else if len(args) > 0 {
		fmt.Fprintf(w, "dyno: %s has no %q\n", group, args[0])
	}
	fmt.Fprint(w, map[string]string{"lab": labBegin, "fleet": fleetBegin}[group])
	for _, v := range verbs() {
		if strings.HasPrefix(v.name, group+" ") {
			fmt.Fprintf(w, "  %-34s %s\n", strings.TrimSpace("dyno "+v.name+" "+v.args), v.does)
		}
	}
	return code
}
