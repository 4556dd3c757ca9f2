package chart

import (
	"strings"
	"testing"

	"dyno/internal/lab"
	"dyno/internal/view/answer"
	"dyno/internal/view/payload"
)

// A verdict that must not be relied on has an open dot and says so, also one of the same.
func TestUnreliableIsDrawn(t *testing.T) {
	for _, v := range []answer.Verdict{answer.Same, answer.Worse} {
		for _, unreliable := range []bool{true, false} {
			g := answer.Group{Findings: []answer.Finding{{Variant: "b", Verdict: v}}}
			if unreliable {
				g.Findings[0].Unreliable = answer.ButUnreliable
			}
			e := experiment{&payload.Experiment{Record: new(lab.Record)}}
			e.Record.Verdicts = []lab.Comparison{{Ratio: 1.4}}
			view := e.decideView(0, g)
			open := false
			for _, m := range view.Marks {
				open = open || m.Kind == Dot && m.Shape == Ring
			}
			if says := view.Rows[0].Said(); open != unreliable || strings.HasSuffix(says, answer.ButUnreliable) != unreliable {
				t.Errorf("%s, unreliable %v: open dot %v, %q", v, unreliable, open, says)
			}
		}
	}
}
