package cli

import (
	"fmt"
	"time"

	"dyno/internal/lab"
	labrun "dyno/internal/lab/run"
	"dyno/internal/view/labreport"
)

// labProgress prints an experiment's steps, one a line. They are seconds apart.
type labProgress struct {
	say   func(format string, args ...any)
	began time.Time
	first int // trials that were already done at the start
	seen  bool
}

func (p *labProgress) showEvent(e labrun.Event) {
	switch e.Step {
	case "build", "check":
		p.say("%s %s", e.Step, e.Arm)
	case "unfit":
		p.say("%s is not loaded: %s", e.Arm, e.Remark)
	case "ceiling":
		p.say("the generator's own ceiling at %s", e.Level)
	case "profile":
		p.say("profile %s at %s: %s", e.Arm, e.Level, e.Remark)
	case "trial":
		if !p.seen {
			p.seen, p.began, p.first = true, time.Now(), e.Done
		}
	case "done":
		p.finishLine(e)
	}
}

func (p *labProgress) finishLine(e labrun.Event) {
	t := e.Trial
	round := fmt.Sprintf("round %d", e.Round)
	if e.Round >= lab.ConfirmingRound {
		round = fmt.Sprintf("confirming %d", e.Round-lab.ConfirmingRound+1)
	}
	if t.Attempt > 1 {
		round += " again"
	}
	line := fmt.Sprintf("%*d/%d  %s  %s at %s: ", len(fmt.Sprint(e.Of)), e.Done, e.Of, round, e.Arm,
		e.Level)
	if t.Failure != nil {
		line += "FAILED: " + t.Failure.Phase + ": " + t.Failure.Reason
	} else {
		line += labreport.TrialLine(t) + ", grade " + string(t.Grade)
	}
	if n := e.Done - p.first; e.Of > e.Done && n > 0 {
		left := time.Since(p.began) / time.Duration(n) * time.Duration(e.Of-e.Done)
		line += fmt.Sprintf("   (%v left)", left.Round(time.Second))
	}
	p.say("%s", line)
}
