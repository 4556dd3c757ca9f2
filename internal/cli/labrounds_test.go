package cli

import (
	"testing"

	"dyno/internal/lab"
)

// N is how many rounds there are in all, +N how many more than there are; an experiment that is
// resumed keeps what an earlier session was given.
func TestRoundsFlag(t *testing.T) {
	old := &lab.Record{Progress: lab.Progress{Rounds: 9}}
	for round := range 6 {
		old.Trials = append(old.Trials, lab.TrialSummary{Slot: lab.Slot{Round: round + 1}},
			lab.TrialSummary{Slot: lab.Slot{Round: lab.ConfirmingRound + round}})
	}
	for _, c := range []struct {
		given string
		all   int
		fault bool
	}{{"", 9, false}, {"12", 12, false}, {"+6", 12, false}, {"6", 6, false}, {"5", 0, true}, {"+995", 0, true}} {
		var f roundsFlag
		if c.given != "" {
			if err := f.parse(c.given); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.resume(old); (err != nil) != c.fault || err == nil && (f.n != c.all || f.more) {
			t.Errorf("--rounds %q: %d rounds in all, %v", c.given, f.n, err)
		}
	}
	for _, bad := range []string{"0", "-1", "+0", "++1", "x", "", "1001", "1.5"} {
		if err := new(roundsFlag).parse(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
