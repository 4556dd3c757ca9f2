package cli

import (
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

	"dyno/internal/engine/load"
	"dyno/internal/fairness"
	"dyno/internal/fleet/bus"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/lab/judge"
	labrun "dyno/internal/lab/run"
	"dyno/internal/remote"
	"dyno/internal/result"
	"dyno/internal/server"
	"dyno/internal/view/page"
	"dyno/internal/view/report"
)

// labFlags is the command line of dyno lab run.
type labFlags struct {
	helpFlag
	quick  bool
	output string
	resume string
	seed   uint64
	fleet  fleetFlags

	secrets     secretFlags
	showSecrets bool
}

func (f *labFlags) groups() []group {
	return []group{f.fleet.group(), {"Flags", []option{
		{"quick", "", "", "few rounds and short windows: whether it works, not what it says",
			on(&f.quick)},
		{"output", "o", "DIR", "folder for trials and report (one in the store)", word(&f.output)},
		{"resume", "", "DIR", "go on where an experiment stopped", word(&f.resume)},
		{"seed", "", "N", "of the order of trials (the file's, else drawn, and stored)",
			into(&f.seed, parseSeed)},
		f.secrets.option(),
		showing(&f.showSecrets),
		{"help", "h", "", "this", on(&f.help)},
	}}}
}

const labNotes = `FILE describes the experiment: dyno lab init writes one to begin with, and
dyno schema lab prints its JSON Schema. NAME is one that ships with dyno: dyno
lab list. The folder gets a file for each trial when the trial is over,
experiment.json with all that they say, report.md, and report.html: one page.
Exit codes: 0 done, 1 the gate found a regression or an objective was missed, 2
bad usage or a bad file, 3 the gate is inconclusive, or an agent was lost, 4
nothing was measured or is left to compare, 5 a fault of dyno, 130 interrupted: then, and
without an agent, dyno lab run --resume DIR goes on.
`

// labRun is dyno lab run.
func labRun(s streams, args []string) int {
	var f labFlags
	p := parse(args, f.groups())
	if f.help {
		return s.help("lab run")
	}
	e, faults := f.experiment(p, s.remark)
	if len(faults) > 0 {
		return s.refuse("lab run", faults)
	}
	if f.seed != 0 {
		e.Design.Seed = int64(f.seed)
	}
	if f.quick {
		e = experiment.Quick(e)
	}
	return s.experiment(context.Background(), e, f)
}

// experiment finds and reads what is to be run.
func (f *labFlags) experiment(p parsed, note func(string)) (*experiment.Experiment, []error) {
	faults := append(p.faults, f.fleet.settle(p.given, false)...)
	switch {
	case f.resume != "" && len(p.words) > 0:
		faults = append(faults, fmt.Errorf("--resume %s: says already which experiment", f.resume))
	case f.resume != "" && (f.output != "" || f.quick || f.seed != 0):
		faults = append(faults, errors.New("--resume: goes on as was begun; give it alone"))
	case f.resume == "" && !p.tried["resume"] && len(p.words) != 1:
		faults = append(faults, fmt.Errorf("one FILE or NAME is wanted; %d given", len(p.words)))
	}
	if faults = append(faults, unmarkable(f.showSecrets)...); len(faults) > 0 {
		return nil, faults
	}
	if f.resume == "" {
		e, err := openExperiment(p.words[0])
		if err == nil {
			e, err = f.secrets.fill(e, false, note)
		}
		return e, flatten(err)
	}
	old, err := judge.Reopen(f.resume, func(e *experiment.Experiment) (*experiment.Experiment, error) {
		return f.secrets.fill(e, true, note)
	})
	if err != nil {
		return nil, flatten(err)
	}
	f.output, f.quick = f.resume, old.Quick
	return old.Experiment, f.fleet.resume(old.Fleet)
}

// folder reads the experiment whose folder is the one word there must be.
func (p parsed) folder() (*lab.Record, []error) { return p.reopened(nil) }

// reopened is folder, whose experiment fill completes.
func (p parsed) reopened(fill judge.Filler) (*lab.Record, []error) {
	if len(p.words) != 1 {
		p.faults = append(p.faults, fmt.Errorf("one folder is wanted; %d given", len(p.words)))
	}
	if len(p.faults) > 0 {
		return nil, p.faults
	}
	r, err := judge.Reopen(p.words[0], fill)
	return r, flatten(err)
}

// labRerun is dyno lab rerun: the same experiment, in the same order, elsewhere.
func labRerun(s streams, args []string) int {
	var f rerunFlags
	p := parse(args, f.groups())
	if f.help {
		return s.help("lab rerun")
	}
	p.faults = append(p.faults, unmarkable(f.showSecrets)...)
	old, faults := p.reopened(func(e *experiment.Experiment) (*experiment.Experiment, error) {
		return f.secrets.fill(e, false, s.remark)
	})
	if len(faults) > 0 {
		return s.refuse("lab rerun", faults)
	}
	if old.Fleet != nil {
		fmt.Fprintln(s.err, "dyno: its loads were made by a fleet, and now are by this machine alone")
	}
	return s.experiment(context.Background(), old.Experiment,
		labFlags{output: f.output, quick: old.Quick, showSecrets: f.showSecrets})
}

// rerunFlags is the command line of dyno lab rerun.
type rerunFlags struct {
	helpFlag
	output      string
	secrets     secretFlags
	showSecrets bool
}

func (f *rerunFlags) groups() []group {
	return []group{{"Flags", []option{
		{"output", "o", "DIR", "folder for trials and report (one in the store)", word(&f.output)},
		f.secrets.option(),
		showing(&f.showSecrets),
		{"help", "h", "", "this", on(&f.help)},
	}}}
}

// openExperiment reads a file, or one that ships with dyno.
func openExperiment(name string) (*experiment.Experiment, error) {
	info, err := os.Stat(name)
	switch {
	case err == nil && !info.IsDir():
		return experiment.ReadFile(name)
	case err == nil && !ships(name):
		return nil, isFolder(name)
	case strings.ContainsAny(name, `/\`), strings.HasSuffix(name, ".yaml"),
		strings.HasSuffix(name, ".yml"):
		return experiment.ReadFile(name)
	}
	return experiment.Open(name)
}

// isFolder says what can be meant by a folder where an experiment is wanted.
func isFolder(name string) error {
	if _, err := judge.Open(name); err != nil {
		return fmt.Errorf("%s is a folder; give the path of an experiment's file", name)
	}
	return fmt.Errorf("%s is the folder of an experiment that was run; dyno lab run --resume %s goes "+
		"on with it, and dyno lab rerun %s begins anew", name, name, name)
}

// ships reports whether there is an experiment of that name inside dyno.
func ships(name string) bool {
	return slices.ContainsFunc(experiment.Shipped(), func(l experiment.Listing) bool {
		return l.Name == name
	})
}

// experiment runs e until it is done, interrupted, without an agent or whole ends, and
// reports.
func (s streams) experiment(whole context.Context, e *experiment.Experiment, f labFlags) int {
	whole, lose := context.WithCancelCause(whole)
	defer lose(nil)
	l, stop, err := f.lab(e, lose)
	if err = errors.Join(err, widenPath()); errors.Is(err, bus.ErrUnreachable) {
		return s.fail(busCode(err), err)
	} else if err != nil {
		return s.refuse("lab run", flatten(err))
	}
	defer stop()
	fmt.Fprint(s.err, report.IntentText(l.Intent()))
	ctx, end := interruptible(whole)
	defer end()
	progress := labProgress{say: s.say, began: time.Now()}
	l.Tell = progress.tell
	record, err := l.Run(ctx)
	if record == nil && errors.Is(err, labrun.ErrNothingLeft) {
		return s.fail(exitUnreachable, err)
	}
	if record == nil {
		return s.fail(exitUsage, err)
	}
	return s.conclude(l, record, err, context.Cause(whole))
}

// conclude writes the reports, and finds the exit code. lost is why the experiment had to stop,
// if it did.
func (s streams) conclude(l *labrun.Lab, r *lab.Record, err, lost error) int {
	err = errors.Join(err, writeFile(filepath.Join(l.Dir, "report.md"), func(w io.Writer) error {
		return report.ExperimentMarkdown(w, r)
	}))
	err = errors.Join(err, report.Experiment(s.out, r, s.style()))
	s.picture(l.Dir, l.History)
	fmt.Fprintf(s.out, "\n  stored in %s\n", l.Dir)
	switch {
	case errors.Is(err, labrun.ErrNothingLeft):
		return s.fail(exitUnreachable, err)
	case r.State == lab.Interrupted && errors.Is(lost, errWithout):
		return s.fail(exitUntrusted, lost)
	case r.State == lab.Interrupted:
		fmt.Fprintf(s.err, "dyno: interrupted; go on with: dyno lab run --resume %s\n", l.Dir)
		return exitInterrupted
	case err != nil:
		return s.unstored(l.Dir, err)
	case !r.HasMeasured():
		return s.fail(exitUnreachable, errors.New("no trial measured anything"))
	case r.Gate != nil && r.Gate.Verdict == lab.Undecided:
		return s.fail(exitUntrusted, fmt.Errorf("gate: %s", r.Gate.Explain()))
	case r.Gate != nil && r.Gate.Verdict == lab.Regression:
		return s.fail(exitMissed, fmt.Errorf("gate: %s", r.Gate.Explain()))
	case r.MissedObjective() != "":
		return s.fail(exitMissed, fmt.Errorf("objective missed: %s", r.MissedObjective()))
	}
	return exitOK
}

// unstored is an experiment that ended because of err: what could not be written can be later.
func (s streams) unstored(dir string, err error) int {
	if _, is := errors.AsType[*fs.PathError](err); !is {
		return s.fail(exitFault, err)
	}
	return s.fail(exitUsage, errors.Join(err, fmt.Errorf("once it can be stored, go on with: dyno "+
		"lab run --resume %s", dir)))
}

// picture writes the page of the experiment in dir, beside those in history. An experiment is
// none the worse without it, so that it is only said why there is none.
func (s streams) picture(dir, history string) {
	err := writeFile(filepath.Join(dir, "report.html"), func(w io.Writer) error {
		return page.Experiment(w, dir, history)
	})
	if err != nil {
		s.say("dyno: no report.html: %v", err)
	}
}

// experimentsFolder of the store has a folder for each experiment that was run.
const experimentsFolder = "experiments"

// experimentFolder is a new one in the store, for an experiment that begins now.
func experimentFolder(home, name string) string {
	now := time.Now().UTC() // to the microsecond: two may be started at once
	dir := name + now.Format("-20060102-150405") + fmt.Sprintf("-%05x", now.Nanosecond()/1000)
	return filepath.Join(home, experimentsFolder, dir)
}

// lab is what an experiment is run with. If an agent is missing while it runs, lose is called.
func (f *labFlags) lab(e *experiment.Experiment, lose context.CancelCauseFunc) (l *labrun.Lab,
	stop func(), err error) {
	dir := f.output
	if dir == "" {
		home, err := result.Home()
		if err != nil {
			return nil, nil, err
		}
		// Private, whatever the folder in it will be.
		if err := os.MkdirAll(filepath.Join(home, experimentsFolder), 0o700); err != nil {
			return nil, nil, fmt.Errorf("storing the experiment: %w; name another place with DYNO_HOME, "+
				"or a folder with -o", err)
		}
		dir = experimentFolder(home, e.Name)
	}
	if dir, err = filepath.Abs(dir); err != nil {
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
	if f.fleet.asked() { // whose agents are the clients
		e.Design.Clients = experiment.Clients{Count: 1, Isolate: experiment.NoNamespace}
	}
	stage := &labrun.Stage{Output: filepath.Join(dir, "output"), Build: filepath.Join(dir, "build"),
		Dyno: exe, Supervisor: []string{exe, "supervise"}, Worker: []string{exe, "worker"},
		CPUs: cpus, Clients: e.Design.Clients, Ring: ringHere}
	l = &labrun.Lab{Experiment: e, Quick: f.quick, Dir: dir, Resume: f.resume != "", Dyno: exe,
		Version: load.Version, CPUs: cpus, Supervisor: stage.Supervisor,
		Load: here, Start: stage.Start, Ask: fairness.Ask,
		Watch: labrun.Watch, Keep: marks(f.showSecrets)}
	if home, err := result.Home(); err == nil { // else there is no history
		l.History = filepath.Join(home, experimentsFolder)
	}
	leave, err := f.fleet.lend(l, stage, lose)
	if err != nil || e.Design.Isolation != experiment.Shared {
		return l, leave, err
	}
	shared := &labrun.SharedStage{Stage: stage}
	l.Start = shared.Start
	return l, func() { shared.Close(); leave() }, nil
}

// supervise is the hidden verb by which dyno starts servers.
func supervise(s streams, args []string) int {
	if err := server.Supervise(args); err != nil {
		return s.fail(exitFault, err)
	}
	return exitOK
}

// worker is the hidden verb by which dyno starts generators.
func worker(s streams, args []string) int {
	if len(args) > 0 {
		return s.refuse("worker", extra(args, 0))
	}
	ctx, stop := untilInterrupted()
	defer stop()
	if err := remote.RunWorker(ctx, s.in, pastOutlet(s.out)); err != nil {
		return s.fail(exitFault, err)
	}
	return exitOK
}

// labCheck is dyno lab check: every fault of a file, and what it would do.
func labCheck(s streams, args []string) int {
	var f helpFlag
	p := parse(args, f.groups())
	if f.help {
		return s.help("lab check")
	}
	if len(p.words) == 0 {
		p.faults = append(p.faults, errors.New("a FILE is wanted, or several"))
	}
	if len(p.faults) > 0 {
		return s.refuse("lab check", p.faults)
	}
	if err := widenPath(); err != nil {
		return s.refuse("lab check", []error{err})
	}
	code := exitOK
	for _, name := range p.words {
		e, err := openExperiment(name)
		if err != nil {
			for _, fault := range flatten(err) {
				s.say("dyno: %v", fault)
			}
			code = exitUsage
			continue
		}
		quick := (&labrun.Lab{Experiment: experiment.Quick(e)}).Intent()
		_, err = fmt.Fprintf(s.out, "%s  --quick: %s\n",
			report.IntentText((&labrun.Lab{Experiment: e}).Intent()), report.ExtentText(quick))
		if err != nil {
			return s.wrote(err)
		}
	}
	return code
}

// labInit is dyno lab init: a file to begin with.
func labInit(s streams, args []string) int {
	var f helpFlag
	p := parse(args, f.groups())
	if f.help {
		return s.help("lab init")
	}
	if faults := append(p.faults, p.extra(1)...); len(faults) > 0 {
		return s.refuse("lab init", faults)
	}
	name := "experiment.yaml"
	if len(p.words) == 1 {
		name = p.words[0]
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%s is there already; give another name", name)
	}
	if err == nil {
		_, err = file.Write(experiment.Starter())
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return s.fail(exitUsage, err)
	}
	return s.print(fmt.Sprintf("wrote %s; now\n  dyno lab check %s\n  dyno lab run --quick %s\n",
		name, name, name))
}

// labList is dyno lab list: what ships with dyno.
func labList(s streams, args []string) int {
	var f helpFlag
	p := parse(args, f.groups())
	if f.help {
		return s.help("lab list")
	}
	if faults := append(p.faults, p.extra(0)...); len(faults) > 0 {
		return s.refuse("lab list", faults)
	}
	return s.wrote(report.Shipped(s.out, experiment.Shipped()))
}

// verbsOf says what there is to dyno lab, or another group, when none of it was asked for.
func (s streams) verbsOf(group string, args []string) int {
	w, code := s.err, exitUsage
	if len(args) > 0 && (args[0] == "-h" || args[0] == "--help") {
		w, code = s.out, exitOK
	} else if len(args) > 0 {
		fmt.Fprintf(w, "dyno: %s has no %q\n", group, args[0])
	}
	for _, v := range verbs() {
		if strings.HasPrefix(v.name, group+" ") {
			fmt.Fprintf(w, "  %-34s %s\n", strings.TrimSpace("dyno "+v.name+" "+v.args), v.does)
		}
	}
	return code
}
