package labanswer

import (
	"fmt"
	"path/filepath"
	"slices"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/lab/judge"
	"dyno/internal/setting"
	"dyno/internal/view/answer"
	"dyno/internal/view/format"
)

// mostRounds is how many rounds more are worth advising: beyond that another design is needed.
// mostForRest is from how many on another step comes first, where something is decided already.
const (
	mostRounds  = 200
	mostForRest = 30
)

// nextStep is one concrete step after an experiment, by what keeps its answer from being better.
func nextStep(r *lab.Record, a answer.Answer) answer.Step {
	run := commandsOf(r)
	refused := slices.IndexFunc(a.NotLoaded, func(f answer.Finding) bool { return f.Remedy != "" })
	more, _ := roundsNeeded(r, a.Groups)
	switch {
	case judge.LeavesNothing(r) && refused >= 0:
		return refusedStep(r, a.NotLoaded[refused], run)
	case judge.LeavesNothing(r) && len(judge.FailedArms(r)) > 0:
		return step("see why trials failed, in the table of trials", run.show)
	case judge.LeavesNothing(r):
		return step("see why the variants were not tested", run.show)
	case r.State == lab.Interrupted || r.State == lab.Running || r.State == lab.Failed:
		return step("go on where it stopped", run.resume)
	case r.Quick:
		return step("run it in full: --quick is too short for a verdict", run.again)
	case slices.ContainsFunc(a.Cautions, isUseless):
		return step("see why the server spoiled its trials, in the table of trials", run.show)
	case needsQuiet(a.Cautions):
		s := step("run it again when nothing else is at work on this machine", run.rerun)
		if s.Remedy = s.Says; a.Has(answer.FewRounds) {
			s.Says += fmt.Sprintf(", then add rounds until it has the %d that a verdict takes",
				experiment.LeastRounds)
		}
		return s
	case a.Has(answer.GateMissed) && r.Gate.Verdict == lab.Regression:
		return step("see where the time goes: the profiles and all tables", run.show)
	case a.Has(answer.Planned) && (more == 0 || r.State != lab.OverBudget):
		return plannedStep(r, run)
	case a.Has(answer.FewRounds):
		n := experiment.LeastRounds - r.RoundsRun()
		return step(fmt.Sprintf("%s more, which is the least for a verdict",
			format.Plural(int64(n), "round")), fmt.Sprintf("%s --rounds +%d", run.resume, n))
	}
	if s := undecidedStep(r, a, run, mostForRest); s.Says != "" {
		return s
	}
	if refused >= 0 {
		return refusedStep(r, a.NotLoaded[refused], run)
	}
	if s := undecidedStep(r, a, run, mostRounds); s.Says != "" {
		return s
	}
	switch {
	case r.Experiment != nil && r.Experiment.Design.Screen && len(judge.StandingOut(r)) > 0:
		return step("run all combinations of the factors that stand out", "dyno lab init --from "+
			setting.ShellQuote(folderOf(r)))
	case len(a.Groups) == 0:
		return step("write a second variant into the file, to compare with", run.again)
	case weight(a.Groups[0]) < 2 || a.Box == answer.Note && a.Has(answer.Open):
		return step("longer windows (design.measure) or fewer comparisons narrow the intervals",
			run.again)
	}
	return cautionStep(a, run)
}

// refusedStep is what has to be done before a variant can be tested: to install a program, after
// which the experiment goes on, or to change its file. An experiment that ships with dyno has its
// file in its folder.
func refusedStep(r *lab.Record, f answer.Finding, run commands) answer.Step {
	var names []string
	for _, other := range notLoaded(r) {
		if other.Remedy == f.Remedy {
			names = append(names, format.PlainLine(other.Variant))
		}
	}
	step := func(command string) answer.Step {
		return answer.Step{Says: "for " + fewNames(names) + ", " + f.Remedy, Command: command,
			Remedy: f.Remedy}
	}
	missing := slices.ContainsFunc(r.Arms, func(a lab.Arm) bool {
		return a.Name == f.Variant && len(a.Missing) > 0
	})
	_, err := experiment.OpenShipped(r.File)
	switch {
	case missing && judge.LeavesNothing(r):
		return step(run.resume)
	case !missing && err == nil && r.Dir != "":
		file := filepath.Join(folderOf(r), lab.FilesFolder, "experiment.yaml")
		return step("dyno lab run " + setting.ShellQuote(file))
	}
	return step(run.again)
}

// plannedStep runs the trials that are lacking. A budget of time that was used up would end them at
// once, but a number of rounds has none.
func plannedStep(r *lab.Record, run commands) answer.Step {
	if r.State == lab.OverBudget && r.Experiment != nil && r.Experiment.Design.Precision == 0 {
		return step("run the rounds that design.budget left no time for",
			fmt.Sprintf("%s --rounds %d", run.resume, r.Experiment.Design.Rounds))
	}
	return step("run the trials that are lacking", run.resume)
}

// cautionStep is what can be done about the worst caution.
func cautionStep(a answer.Answer, run commands) answer.Step {
	for _, c := range a.Cautions {
		if c.Severity == answer.Note {
			break
		}
		if c.Remedy != "" {
			command := run.again
			switch c.Way {
			case answer.ReadTables:
				command = run.show
			case answer.RunAgain:
				command = run.rerun
			}
			return step(c.Remedy, command)
		}
	}
	if len(a.Cautions) > 0 && a.Cautions[0].Severity != answer.Note {
		return step("see what speaks against it, with all tables", run.show)
	}
	return step("nothing more is needed; all tables are in the text report", run.show)
}

// folderOf is the folder of an experiment, wherever a command is run.
func folderOf(r *lab.Record) string {
	full, err := filepath.Abs(r.Dir)
	if r.Dir == "" || err != nil {
		return "DIR"
	}
	return full
}

// step is a step with its command; "" where nothing needs to be run.
func step(says, command string) answer.Step {
	return answer.Step{Says: says, Command: command}
}

// commands are what a step may run: the experiment anew, from its folder, for longer; its report.
type commands struct{ again, rerun, resume, show string }

// rerunCommand is what runs an experiment again, from its folder: in the store if it lies there,
// else into a folder beside.
func rerunCommand(r *lab.Record) string {
	dir := folderOf(r)
	command := "dyno lab rerun " + setting.ShellQuote(dir)
	if r.Dir == "" {
		return command
	}
	if to := lab.FolderBeside(dir); to != "" {
		command += " -o " + setting.ShellQuote(to)
	}
	return command
}

func commandsOf(r *lab.Record) commands {
	dir, file := setting.ShellQuote(folderOf(r)), r.File
	if file == "" {
		file = r.Name
	}
	if file == "" {
		file = "FILE"
	}
	return commands{again: "dyno lab run " + setting.ShellQuote(file), rerun: rerunCommand(r),
		resume: "dyno lab run --resume " + dir, show: "dyno lab show -v " + dir}
}

// undecidedStep is what would decide what is undecided, if anything; zero if nothing would. Where
// something is decided already it advises no more rounds than most.
func undecidedStep(r *lab.Record, a answer.Answer, run commands, most int) answer.Step {
	decided := len(a.Groups) > 0 && weight(a.Groups[0]) > 1
	n, of := roundsNeeded(r, a.Groups)
	switch {
	case n > 0 && !decided:
		return step(fmt.Sprintf("about %s more would decide %s, if this estimate holds",
			format.Plural(int64(n), "round"), of), fmt.Sprintf("%s --rounds +%d", run.resume, n))
	case a.Has(answer.AtLimit):
		s := step("more rounds will not help: "+boundRemedy(r), run.again)
		s.Rate, s.Remedy = rateBelowLimit(r), boundRemedy(r)
		return s
	case a.Has(answer.AboveNoise) && !decided:
		return step("the machine's noise hides the effect: run it on a quieter machine, or with a "+
			"longer design.measure", run.rerun)
	case n > 0 && n <= most:
		return step(fmt.Sprintf("about %s more would also decide %s, if this estimate holds",
			format.Plural(int64(n), "round"), of), fmt.Sprintf("%s --rounds +%d", run.resume, n))
	}
	return answer.Step{}
}

// roundsNeeded is how many rounds, or runs, would decide all that is in reach of the first measure
// that has anything undecided; of is what they decide. The measure of the sentence is the first; if
// nothing is decided by it, no other is looked at, so that sentence and step have one number.
func roundsNeeded(r *lab.Record, groups []answer.Group) (n int, of string) {
	inReach := func(f answer.Finding) bool { return f.More > 0 && f.More <= mostRounds }
	for i, g := range groups {
		for _, f := range g.Findings {
			if inReach(f) {
				n = max(n, f.More)
			}
		}
		if n > 0 || i == 0 && weight(g) < 2 {
			groups = groups[i:]
			break
		}
	}
	if n == 0 {
		return 0, ""
	}
	var here, also []lab.Comparison // that are decided
	for i, g := range groups {
		for _, f := range g.Findings {
			switch {
			case !inReach(f) || f.More > n:
			case i == 0:
				here = append(here, r.Verdicts[f.Comparison])
			default:
				also = append(also, r.Verdicts[f.Comparison])
			}
		}
	}
	every := func(lab.Comparison) bool { return true }
	if len(here)+len(also) <= mostNamed {
		return n, scopeOf(r, append(here, also...), every)
	}
	of = scopeOf(r, here, every)
	if len(also) > 0 {
		of += fmt.Sprintf(" (and %d other comparisons)", len(also))
	}
	return n, of
}
