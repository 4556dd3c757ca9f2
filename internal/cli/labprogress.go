package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	labrun "dyno/internal/lab/run"
	"dyno/internal/server"
	"dyno/internal/view/format"
	"dyno/internal/view/labreport"
)

// labProgress prints an experiment's steps, one a line. They are seconds apart. On a terminal a
// table takes the place of the trials' lines. It is drawn between trials, never during a load.
type labProgress struct {
	say   func(format string, args ...any)
	began time.Time
	first int // trials that were already done at the start
	seen  bool
	table *liveTable // nil: lines only

	waited map[server.Waiting]bool // for what it was said that it is waited for
}

// newLabProgress shows the experiment whose folder is dir; with details in lines only.
func (s streams) newLabProgress(dir string, details bool) *labProgress {
	p := &labProgress{say: s.writeLine, began: time.Now()}
	if isTerminal(s.err) && os.Getenv("TERM") != "dumb" && !details {
		p.table = &liveTable{w: s.err, follower: judge.Follow(dir)}
	}
	return p
}

// end removes the table, for the report to take its place.
func (p *labProgress) end() {
	if p.table != nil {
		p.table.erase()
	}
}

func (p *labProgress) showEvent(e labrun.Event) {
	if p.table != nil {
		p.table.erase() // lines go above it
		defer p.table.drawAfter(e)
	}
	switch e.Step {
	case "build", "check":
		p.say("%s %s", e.Step, e.Arm)
	case "waiting":
		p.noteWaiting(e.Waiting)
	case "unfit":
		first, others, _ := strings.Cut(e.Remark, "\n") // as of a build, or what a server wrote
		p.say("%q is not tested: %s", e.Arm, first)
		for line := range strings.Lines(others) {
			p.say("    %s", strings.TrimRight(line, "\n"))
		}
	case "pilot":
		p.say("the capacity of %s, for the rates", e.Arm)
	case "ceiling":
		p.say("the generator's own ceiling at %s", e.Level)
	case "profile":
		p.say("profile %s at %s: %s", e.Arm, e.Level, e.Remark)
	case "trial":
		if !p.seen {
			p.seen, p.began, p.first = true, time.Now(), e.Done
		}
	case "done":
		if p.table == nil || e.Trial.Failure != nil {
			p.finishLine(e)
		}
	}
}

// A liveTable is what the trials so far say, on a terminal, drawn anew in the same place. It reads
// the folder as the dashboard does.
type liveTable struct {
	w        io.Writer
	follower *judge.Follower
	last     *judge.Progress // nil: nothing can be read yet
	drawn    int             // lines that are on the terminal
}

// drawAfter draws the table after a step. What the trials say is computed when one has ended.
func (t *liveTable) drawAfter(e labrun.Event) {
	if e.Step == "done" || t.last == nil {
		if p, err := t.follower.ReadProgress(); err == nil { // the run itself reports what it cannot read
			t.last = p
		}
	}
	now := ""
	switch e.Step {
	case "trial":
		now = fmt.Sprintf("%s at %s, round %d", e.Arm, e.Level, e.Round)
	case "done":
		now = fmt.Sprintf("%s at %s: %s, grade %s", e.Arm, e.Level, labreport.TrialLine(e.Trial),
			e.Trial.Grade)
	}
	if t.last == nil || now == "" {
		return
	}
	width, height := terminalSize(t.w)
	style := format.Style{Width: width}
	for _, line := range labreport.LiveTable(t.last, now, style, height-2) {
		fmt.Fprintln(t.w, format.Clip(line, width-1))
		t.drawn++
	}
}

// erase removes the table from the terminal.
func (t *liveTable) erase() {
	if t.drawn > 0 {
		fmt.Fprintf(pastOutlet(t.w), "\x1b[%dF\x1b[J", t.drawn)
	}
	t.drawn = 0
}

// noteWaiting says what is waited for, once: every trial starts its server anew, perhaps on another
// port.
func (p *labProgress) noteWaiting(w server.Waiting) {
	once := w
	if w.Log == "" {
		once.URL = ""
	}
	if p.waited[once] {
		return
	}
	if p.waited == nil {
		p.waited = map[server.Waiting]bool{}
	}
	p.waited[once] = true
	switch {
	case w.Log != "":
		p.say("waiting for %s to write %q …", w.Process, w.Log)
	case strings.HasPrefix(w.URL, "fcgi"):
		p.say("waiting for %s to accept a connection at %s …", w.Process, w.URL)
	default:
		with := ""
		if w.Status != "" {
			with = " with status " + w.Status
		}
		p.say("waiting for %s to answer at %s%s …", w.Process, w.URL, with)
	}
}

func (p *labProgress) finishLine(e labrun.Event) {
	t := e.Trial
	round := fmt.Sprintf("round %d", e.Round)
	if e.Round >= lab.SensitivityRound {
		round = fmt.Sprintf("trying the generator %d", e.Round-lab.SensitivityRound+1)
	} else if e.Round >= lab.ConfirmingRound {
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
