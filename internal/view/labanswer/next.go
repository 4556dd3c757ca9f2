package labanswer

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/lab/judge"
	"dyno/internal/view/answer"
	"dyno/internal/view/format"
)

// mostRounds is how many rounds more are worth advising: beyond that another design is needed.
// mostForRest is likewise where something is decided already.
const (
	mostRounds  = 200
	mostForRest = 30
)

// nextStep is one concrete step after an experiment, by what keeps its answer from being better.
func nextStep(r *lab.Record, a answer.Answer) answer.Step {
	run := commandsOf(r)
	refused := slices.IndexFunc(a.NotLoaded, func(f answer.Finding) bool { return f.Remedy != "" })
	switch {
	case judge.LeavesNothing(r) && refused >= 0:
		return refusedStep(r, a.NotLoaded[refused], run)
	case judge.LeavesNothing(r):
		return step("see why the variants were not loaded", run.show)
	case r.State == lab.Interrupted || r.State == lab.Running || r.State == lab.Failed:
		return step("go on where it stopped", run.resume)
	case r.Quick:
		return step("run it in full: --quick is too short for a verdict", run.again)
	case a.Has(answer.SelfDiffers) || a.Has(answer.Disturbed) || areUnreliable(a):
		return step("run it again when nothing else is at work on this machine", run.rerun)
	case a.Has(answer.GateMissed) && r.Gate.Verdict == lab.Regression:
		return step("see where the time goes: the profiles and all tables", run.show)
	case a.Has(answer.Planned):
		return plannedStep(r, run)
	case a.Has(answer.FewRounds):
		n := judge.MinRounds - r.RoundsRun()
		return step(fmt.Sprintf("%s more, which is the least for a verdict",
			format.Plural(int64(n), "round")), fmt.Sprintf("%s --rounds +%d", run.resume, n))
	}
	if s := undecidedStep(a, run); s.Says != "" {
		return s
	}
	if refused >= 0 {
		return refusedStep(r, a.NotLoaded[refused], run)
	}
	switch {
	case r.Experiment != nil && r.Experiment.Design.Screen && len(judge.StandingOut(r)) > 0:
		return step("run all combinations of the factors that stand out", "dyno lab init --from "+
			format.ShellQuote(folderOf(r)))
	case len(a.Groups) == 0:
		return step("write a second variant into the file, to compare with", run.again)
	case weight(a.Groups[0]) < 2:
		return step("longer windows (design.measure) or fewer comparisons narrow the intervals",
			run.again)
	}
	return cautionStep(a, run)
}

// refusedStep is what has to be done before a variant can be loaded: to install a program, after
// which the experiment goes on, or to change its file. An experiment that ships with dyno has its
// file in its folder.
func refusedStep(r *lab.Record, f answer.Finding, run commands) answer.Step {
	says := "for " + format.PlainLine(f.Variant) + ", " + f.Remedy
	missing := slices.ContainsFunc(r.Arms, func(a lab.Arm) bool {
		return a.Name == f.Variant && len(a.Missing) > 0
	})
	_, err := experiment.OpenShipped(r.File)
	switch {
	case missing && judge.LeavesNothing(r):
		return step(says, run.resume)
	case !missing && err == nil && r.Dir != "":
		file := filepath.Join(folderOf(r), lab.FilesFolder, "experiment.yaml")
		return step(says, "dyno lab run "+format.ShellQuote(file))
	}
	return step(says, run.again)
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
			switch {
			case strings.HasPrefix(c.Remedy, "see "):
				command = run.show
			case strings.HasPrefix(c.Remedy, "run it again"):
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

// areUnreliable reports whether so many trials are unreliable that more of them would not help.
func areUnreliable(a answer.Answer) bool {
	return slices.ContainsFunc(a.Cautions, func(c answer.Caution) bool {
		return c.Kind == answer.GradeF && c.Severity == answer.Bad
	})
}

// step is a step with its command; "" where nothing needs to be run.
func step(says, command string) answer.Step {
	return answer.Step{Says: says, Command: command}
}

// commands are what a step may run: the experiment anew, from its folder, for longer; its report.
type commands struct{ again, rerun, resume, show string }

func commandsOf(r *lab.Record) commands {
	dir, file := format.ShellQuote(folderOf(r)), r.File
	if file == "" {
		file = r.Name
	}
	if file == "" {
		file = "FILE"
	}
	return commands{again: "dyno lab run " + format.ShellQuote(file), rerun: "dyno lab rerun " + dir,
		resume: "dyno lab run --resume " + dir, show: "dyno lab show -v " + dir}
}

// undecidedStep is what would decide what is undecided, if anything; zero if nothing would.
func undecidedStep(a answer.Answer, run commands) answer.Step {
	more, of := 0, ""
	for _, g := range a.Groups {
		for _, f := range g.Findings {
			if f.More > 0 && f.More <= mostRounds && (more == 0 || f.More < more) {
				more, of = f.More, g.Name+" of "+format.PlainLine(f.Variant)
			}
		}
	}
	decided := len(a.Groups) > 0 && weight(a.Groups[0]) > 1
	switch {
	case more > 0 && !decided:
		return step(fmt.Sprintf("about %s more would decide %s, if this estimate holds",
			format.Plural(int64(more), "round"), of), fmt.Sprintf("%s --rounds +%d", run.resume, more))
	case a.Has(answer.AtLimit):
		return step("the generator is the limit, and more rounds will not help: compare CPU per "+
			"request, or give the generator more CPUs (design: {cpus: ...})", run.again)
	case a.Has(answer.AboveNoise) && !decided:
		return step("the machine's noise hides the effect: run it on a quieter machine, or with a "+
			"longer design.measure", run.rerun)
	case more > 0 && more <= mostForRest:
		return step(fmt.Sprintf("about %s more would decide %s too, if this estimate holds",
			format.Plural(int64(more), "round"), of), fmt.Sprintf("%s --rounds +%d", run.resume, more))
	}
	return answer.Step{}
}
