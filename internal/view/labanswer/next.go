package labanswer

import (
	"fmt"
	"slices"

	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"dyno/internal/view/answer"
	"dyno/internal/view/format"
)

// mostRounds is how many rounds more are worth advising. Beyond that another design is needed.
const mostRounds = 200

// nextStep is one concrete step after an experiment, by what keeps its answer from being better.
func nextStep(r *lab.Record, a answer.Answer) answer.Step {
	dir := r.Dir
	if dir == "" {
		dir = "DIR"
	}
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
	case a.Has(answer.SelfDiffers) || a.Has(answer.Disturbed):
		return step("run it again when nothing else is at work on this machine", rerun)
	case a.Has(answer.GateMissed) && r.Gate.Verdict == lab.Regression:
		return step("see where the time goes: the profiles and all tables", showCommand(dir))
	case refused >= 0:
		f := a.NotLoaded[refused]
		return step(format.PlainLine(f.Variant)+": "+f.Remedy, again)
	case a.Has(answer.FewRounds):
		n := judge.MinRounds - roundsRun(r)
		return step(fmt.Sprintf("%s more, which is the least for a verdict: set design.rounds to %d",
			format.Plural(int64(n), "round"), judge.MinRounds), again)
	}
	return undecidedStep(r, a, again, rerun, showCommand(dir))
}

// step is a step with its command; "" where nothing needs to be run.
func step(says, command string) answer.Step {
	return answer.Step{Says: says, Command: command}
}

func showCommand(dir string) string { return "dyno lab show " + format.ShellQuote(dir) }

// undecidedStep is what would decide what is undecided, if anything.
func undecidedStep(r *lab.Record, a answer.Answer, again, rerun, show string) answer.Step {
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
		return step(fmt.Sprintf("about %s more would decide %s, if this estimate holds: set "+
			"design.rounds to %d", format.Plural(int64(more), "round"), of, roundsRun(r)+more), again)
	case a.Has(answer.AtLimit):
		return step("the generator is the limit, and more rounds will not help: compare CPU per "+
			"request, or give the generator more CPUs (design: {cpus: ...})", again)
	case a.Has(answer.AboveNoise) && !decided:
		return step("the machine's noise hides the effect: run it on a quieter machine, or with a "+
			"longer design.measure", rerun)
	case more > 0:
		return step(fmt.Sprintf("about %s more would decide %s too, if this estimate holds: set "+
			"design.rounds to %d", format.Plural(int64(more), "round"), of, roundsRun(r)+more), again)
	case len(a.Groups) == 0 || !decided:
		return step("longer windows (design.measure) or fewer comparisons narrow the intervals", again)
	}
	return step("nothing more is needed; all tables are in the text report", show)
}
