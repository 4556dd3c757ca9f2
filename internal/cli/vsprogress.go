package cli

import (
	"fmt"
	"strings"
	"time"

	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	labrun "dyno/internal/lab/run"
	"dyno/internal/view/format"
	"dyno/internal/view/labanswer"
)

// vsProgress prints a line for each round: what the trials so far say of each server, so that one
// sees intervals narrow. It decides nothing, so looking at it costs nothing: when the rounds end is
// known before the first.
type vsProgress struct {
	steps  labProgress // what is not a trial, and trials that fail
	follow *judge.Follower
	all    bool // each trial, too
	cells  int  // trials of a round
	rounds int  // 0: until the intervals are narrow
	began  time.Time
	again  bool // it was said that trials are measured again
}

func newVsProgress(s streams, l *labrun.Lab, all bool) *vsProgress {
	p := &vsProgress{steps: labProgress{say: s.writeLine, began: time.Now()}, all: all,
		follow: judge.Follow(l.Dir)}
	if d := l.Experiment.Design; d.Precision == 0 {
		p.rounds = d.Rounds
	}
	for range l.Intent().Arms {
		p.cells++
	}
	if l.Experiment.Design.AA {
		p.cells++
	}
	return p
}

func (p *vsProgress) showEvent(e labrun.Event) {
	switch {
	case e.Step == "trial" && p.began.IsZero():
		p.began = time.Now()
	case e.Step != "done" || p.all || e.Trial.Failure != nil:
		p.steps.showEvent(e)
	}
	if e.Step == "done" && e.Trial.Attempt > 1 && !p.again {
		p.again = true
		p.steps.say("running %s again: the machine disturbed some of them", // others are their pairs
			format.Plural(int64(e.Of-e.Done+1), "trial"))
	}
	firstBatch := e.Step == "done" && e.Trial.Attempt == 1 && e.Round < lab.ConfirmingRound
	if firstBatch && e.Done == e.Round*p.cells {
		p.showRound(e.Round)
	}
}

// showRound says what the rounds so far show. What cannot be read is left out, because the report
// follows.
func (p *vsProgress) showRound(round int) {
	now, err := p.follow.ReadProgress()
	if err != nil {
		return
	}
	var servers []string
	for _, one := range labanswer.Standings(now.Record, labanswer.Of(now.Record)) {
		servers = append(servers, format.PlainLine(one.Variant)+" "+one.Leads)
	}
	line := fmt.Sprintf("round %d", round)
	if p.rounds > 0 {
		line += fmt.Sprintf(" of %d", p.rounds)
	}
	line += ": " + strings.Join(servers, "; ")
	if p.rounds > round {
		left := time.Since(p.began) / time.Duration(round) * time.Duration(p.rounds-round)
		line += fmt.Sprintf("   (%v left)", left.Round(time.Second))
	}
	p.steps.say("%s", line)
}
