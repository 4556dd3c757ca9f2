package labanswer

import (
	"fmt"
	"path/filepath"
	"slices"

	"dyno/internal/lab"
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
	dir := folderOf(r)
	resume := "dyno lab run --resume " + format.ShellQuote(dir)
	rerun := "dyno lab rerun " + format.ShellQuote(dir)
	file := r.File
	if file == "" {
		file = r.Name
	}
	again := "dyno lab run " + format.ShellQuote(file)
	refused := slices.IndexFunc(a.NotLoaded, func(f answer.Finding) bool { return f.Remedy != "" })
	switch {
	case r.State == lab.Interrupted || r.State == lab.Running || r.State == lab.Failed:
		return step("go on where it stopped", resume)
	case judge.LeavesNothing(r) && refused >= 0:
		f := a.NotLoaded[refused]
		return step(format.PlainLine(f.Variant)+": "+f.Remedy, again)
	case r.Quick:
		return step("run it in full, which is what its verdicts are meant for", again)
	case a.Has(answer.SelfDiffers) || a.Has(answer.Disturbed) || areUnreliable(a):
		return step("run it again when nothing else is at work on this machine", rerun)
	case a.Has(answer.GateMissed) && r.Gate.Verdict == lab.Regression:
		return step("see where the time goes: the profiles and all tables", showCommand(dir))
	case refused >= 0:
		f := a.NotLoaded[refused]
		return step(format.PlainLine(f.Variant)+": "+f.Remedy, again)
	case a.Has(answer.FewRounds):
		n := judge.MinRounds - r.RoundsRun()
		return step(fmt.Sprintf("%s more, which is the least for a verdict",
			format.Plural(int64(n), "round")), fmt.Sprintf("%s --rounds +%d", resume, n))
	}
	return undecidedStep(a, commands{again, rerun, resume, showCommand(dir)})
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

func showCommand(dir string) string { return "dyno lab show " + format.ShellQuote(dir) }

// commands are what a step may run: the experiment anew, from its folder, for longer; its report.
type commands struct{ again, rerun, resume, show string }

// undecidedStep is what would decide what is undecided, if anything.
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
	case len(a.Groups) == 0 || !decided:
		return step("longer windows (design.measure) or fewer comparisons narrow the intervals",
			run.again)
	}
	return step("nothing more is needed; all tables are in the text report", run.show)
}
