package labreport

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"dyno/internal/view/format"
)

// A live table says how far an experiment is, what is being done, and what is known so far, in as
// many lines as there is room for, none wider than the terminal.
func TestLiveTable(t *testing.T) {
	r := eight()
	r.State = lab.Running
	r.Experiment.Design.Rounds = 10
	p := &judge.Progress{Record: r, Queue: make([]lab.Slot, 56), Left: 7*time.Minute + 300*time.Millisecond}
	whole := strings.Join(LiveTable(p, "gzip-off at c100, round 7", format.Style{Width: 100}, 60), "\n") + "\n"
	golden(t, "eight.live", []byte(whole))
	for _, width := range []int{40, 80, 160} {
		for _, most := range []int{3, 12, 22} {
			lines := LiveTable(p, "gzip-off at c100, round 7", format.Style{Width: width}, most)
			if len(lines) > most {
				t.Errorf("%d lines, where there is room for %d", len(lines), most)
			}
			for _, line := range lines {
				if n := utf8.RuneCountInString(line); n > max(width, 60) {
					t.Errorf("%d columns on a terminal of %d: %q", n, width, line)
				}
			}
		}
	}
	empty := &judge.Progress{Record: &lab.Record{Progress: lab.Progress{Name: "\x1b[2Jx"}}}
	text := strings.Join(LiveTable(empty, "", format.Style{}, 10), "\n")
	if !strings.Contains(text, "nothing can be compared yet") || strings.Contains(text, "\x1b") {
		t.Errorf("of nothing: %q", text)
	}
}
