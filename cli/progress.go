package cli

import (
	"fmt"
	"io"
	"os"

	"dyno/load"
	"dyno/report"

	"golang.org/x/term"
)

// A progress shows a run under way: on a terminal a line that replaces the one
// before; with -v a table, a line a second; else where it goes and for how long.
type progress struct {
	w     io.Writer // of a table or a live line
	table bool
	live  bool
	total int64
}

func newProgress(s streams, f *runFlags) *progress {
	p := &progress{w: s.err, table: f.verbose, live: isTerminal(s.err)}
	switch {
	case f.quiet:
		p.live = false
	case p.table:
		p.live = false
		fmt.Fprintln(p.w, report.SecondHeader())
	default:
		fmt.Fprintf(p.w, "%s, %s\n", f.plan.Target.URL, extent(f.plan))
	}
	return p
}

// extent is how much a plan asks for, in words.
func extent(p load.Plan) string {
	s := fmt.Sprintf("%d connections", p.Connections)
	if p.Connections == 1 {
		s = "1 connection"
	}
	if p.Open() {
		s += fmt.Sprintf(", %v requests/s", p.Rate.PerSecond())
	}
	if p.Requested > 0 {
		s += fmt.Sprintf(", %d requests", p.Requested)
	}
	if p.Duration > 0 {
		s += ", " + p.Duration.String()
	}
	if p.Warmup > 0 {
		s += " after " + p.Warmup.String() + " of warm-up"
	}
	return s
}

// clearLine goes to the line's beginning and erases it.
const clearLine = "\r\x1b[K"

func (p *progress) second(iv load.Interval) {
	if !iv.Warmup {
		p.total += iv.Completed
	}
	switch {
	case p.table:
		fmt.Fprintln(p.w, report.Second(iv, p.total))
	case p.live:
		fmt.Fprint(p.w, clearLine+report.Live(iv))
	}
}

// end leaves the terminal as if nothing had been shown that does not stay.
func (p *progress) end() {
	if p.live {
		fmt.Fprint(p.w, clearLine)
	}
}

// isTerminal reports whether what is written to w is seen at once.
func isTerminal(w io.Writer) bool {
	f, isFile := w.(*os.File)
	return isFile && term.IsTerminal(int(f.Fd()))
}
