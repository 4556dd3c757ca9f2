package cli

import (
	"fmt"
	"os"
	"strings"
	"time"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/lab/judge"
	labrun "dyno/internal/lab/run"
	"dyno/internal/view/format"
	"dyno/internal/view/labanswer"
)

// vsProgress shows what the trials so far say of each server, so that one sees intervals narrow. On
// a terminal it is one line, which is written over; elsewhere it is a few lines, and with details a
// line for each step. It decides nothing, so looking at it costs nothing: when the rounds end is
// known before the first.
type vsProgress struct {
	steps  labProgress // lines: what is built, and trials that fail; with details every step
	live   *liveLine   // nil: lines only
	follow *judge.Follower
	plan   string    // is printed when the servers were checked, before the first load; "": it was
	all    bool      // details
	rounds int       // 0: until the intervals are narrow
	began  time.Time // the first trial, in this round
	first  int
	round  int    // that of the trial that runs; 0: none yet
	again  bool   // it was said that trials are measured again
	now    string // what the live line is to say
	shown  string // what it says; "": it is not there
}

// newVsProgress shows the experiment of l, whose plan is said in some lines.
func newVsProgress(s streams, l *labrun.Lab, plan string, all bool) *vsProgress {
	p := &vsProgress{steps: labProgress{say: s.writeLine, began: time.Now()}, all: all, plan: plan,
		follow: judge.Follow(l.Dir)}
	if d := l.Experiment.Design; d.Precision == 0 {
		p.rounds = d.Rounds
	}
	if isTerminal(s.err) && os.Getenv("TERM") != "dumb" && !all {
		p.live = &liveLine{s.err}
	}
	return p
}

// end removes the live line.
func (p *vsProgress) end() {
	if p.live != nil && p.shown != "" {
		p.live.erase()
	}
	p.shown = ""
}

func (p *vsProgress) showEvent(e labrun.Event) {
	if p.plan != "" && (e.Step == "ceiling" || e.Step == "trial") {
		p.end()
		for line := range strings.Lines(p.plan) {
			p.steps.say("%s", strings.TrimSuffix(line, "\n"))
		}
		p.plan = ""
	}
	failed := e.Step == "done" && e.Trial.Failure != nil
	if p.all || failed || e.Step == "build" || e.Step == "waiting" || e.Step == "unfit" {
		p.end() // lines go above it
		p.steps.showEvent(e)
	}
	switch e.Step {
	case "check":
		p.now = "checking " + e.Arm
	case "ceiling":
		p.now = "measuring the generator alone"
	case "trial":
		p.noteRound(e.Round)
	case "done":
		p.noteTrial(e)
	}
	if p.live != nil && p.now != p.shown {
		p.live.show(format.PlainLine(p.now))
		p.shown = p.now
	}
}

// noteTrial notes what a trial adds: to a round, or to those that are measured again.
func (p *vsProgress) noteTrial(e labrun.Event) {
	if e.Trial.Attempt > 1 && !p.again {
		p.again = true
		p.now = fmt.Sprintf("running %s again: the machine disturbed some of them",
			format.Plural(int64(e.Of-e.Done+1), "trial")) // others are their pairs
		if p.all {
			p.steps.say("%s", p.now)
		}
	}
}

// noteRound notes of which round a trial begins. With the first of a round the one before is over;
// trials that are repeated are of earlier ones, and a gate's second batch has no rounds of its own.
func (p *vsProgress) noteRound(round int) {
	switch {
	case p.round == 0:
		p.began, p.first, p.now = time.Now(), round, fmt.Sprintf("round %d", round)
	case round <= p.round || round >= lab.ConfirmingRound:
		return
	default:
		p.showRound(p.round)
	}
	p.round = round
}

// showRound says what the rounds so far show. What cannot be read is left out, because the report
// follows.
func (p *vsProgress) showRound(round int) {
	if p.live == nil && !p.all && !p.isShown(round) {
		return
	}
	now, err := p.follow.ReadProgress()
	if err != nil {
		return
	}
	var servers []string
	for _, one := range labanswer.Standings(now.Record, labanswer.Of(now.Record)) {
		servers = append(servers, format.PlainLine(one.Variant)+" "+one.Leads)
	}
	p.now = fmt.Sprintf("round %d", round)
	if p.rounds > 0 {
		p.now += fmt.Sprintf(" of %d", p.rounds)
	}
	p.now += ": " + strings.Join(servers, "; ")
	if p.rounds > round {
		each := time.Since(p.began) / time.Duration(max(1, round-p.first+1))
		left := each * time.Duration(p.rounds-round)
		p.now += fmt.Sprintf("   (%v left)", left.Round(time.Second))
	}
	if p.live == nil {
		p.steps.say("%s", p.now)
	}
}

// isShown reports whether a round has a line where lines stay: after each quarter of the rounds but
// the last, which the report follows. Where their number is open, each time they have doubled.
func (p *vsProgress) isShown(round int) bool {
	if p.rounds > 0 {
		return round < p.rounds && 4*round/p.rounds > 4*(round-1)/p.rounds
	}
	least := round / experiment.LeastRounds
	return round%experiment.LeastRounds == 0 && least&(least-1) == 0
}
