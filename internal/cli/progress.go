package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/view/format"
	"dyno/internal/view/report"

	"golang.org/x/term"
)

// A progress shows a run in progress: on a terminal as a line that is replaced each second; with -v
// as a table with a line a second; otherwise only the target and the duration.
type progress struct {
	w     io.Writer // of a table or a live line
	table bool
	live  bool
	total int64
	plan  loadplan.Plan

	window time.Duration // 0: until all requests are sent
}

func newProgress(s streams, f *runFlags) *progress {
	p := &progress{w: s.err, plan: f.plan, table: f.verbose, window: time.Duration(f.plan.Duration),
		live: isTerminal(s.err) && os.Getenv("TERM") != "dumb"}
	switch {
	case f.quiet:
		p.live = false
	case p.table:
		p.live = false
		fmt.Fprintln(p.w, report.SecondHeader(f.plan))
	default:
		fmt.Fprintln(p.w, report.PlanText(f.plan))
	}
	return p
}

// clearLine moves to the beginning of the line and erases it.
const clearLine = "\r\x1b[K"

// showInterval shows an interval of the window. Later intervals are in the report.
func (p *progress) showInterval(iv loadresult.Interval) {
	if p.window > 0 && iv.From >= p.window {
		return
	}
	p.total += iv.Completed
	switch {
	case p.table:
		fmt.Fprintln(p.w, report.SecondLine(p.plan, iv, p.total))
	case p.live:
		liveLine{p.w}.show(report.LiveLine(iv) + report.ActiveUsers(p.plan, iv))
	}
}

// endDisplay removes what should not stay on the terminal.
func (p *progress) endDisplay() error {
	if p.live {
		liveLine{p.w}.erase()
	}
	return nil
}

// A liveLine is a line of a terminal that is written over.
type liveLine struct{ w io.Writer }

// show replaces the line.
func (l liveLine) show(text string) {
	l.erase()
	fmt.Fprint(l.w, format.Clip(text, cmp.Or(terminalWidth(l.w), 80)-1))
}

// erase makes room for the next line.
func (l liveLine) erase() { io.WriteString(pastOutlet(l.w), clearLine) }

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, isFile := behindOutlet(stream).(*os.File)
	return isFile && term.IsTerminal(int(f.Fd()))
}

// terminalWidth is the width of the terminal that w writes to; 0 if it is none, or the width is
// unknown.
func terminalWidth(w io.Writer) int {
	width, _ := sizeOf(w)
	return width
}

// terminalSize is how wide and how high the terminal is that w writes to; 80 × 24 if it does not
// say.
func terminalSize(w io.Writer) (width, height int) {
	width, height = sizeOf(w)
	return cmp.Or(width, 80), cmp.Or(height, 24)
}

// sizeOf is the size of the terminal that w writes to; 0 if it is none, or does not say.
func sizeOf(w io.Writer) (width, height int) {
	if !isTerminal(w) {
		return 0, 0
	}
	width, height, err := term.GetSize(int(pastOutlet(w).(*os.File).Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
}
