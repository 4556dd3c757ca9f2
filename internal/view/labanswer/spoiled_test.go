package labanswer

import (
	"strings"
	"testing"

	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"dyno/internal/stats"
	"dyno/internal/view/answer"
)

// Trials that a variant's own server spoiled are no doubt of the machine: the variant is worse, the
// others keep their verdicts, and no quieter machine is asked for. Of a baseline all verdicts are
// withheld. Where the machine was busy, too, it is said.
func TestSpoiledByServer(t *testing.T) {
	starved := lab.Reason{Grade: lab.GradeF, Says: "12 of 16 connections never completed a request", Server: true, Starved: 12, Asked: 16}
	failing := lab.Reason{Grade: lab.GradeF, Says: "5 of 900 requests failed and 0 had no answer at the end", Server: true}
	busy := lab.Reason{Grade: lab.GradeF, Says: "other programs used at least 60 % of the machine's CPUs", Passing: true}
	for name, c := range map[string]struct {
		arm        string
		reasons    []lab.Reason
		sentence   string
		unreliable bool // all of it
		verdict    answer.Verdict
		withheld   bool // b's
	}{
		"starved": {"b", []lab.Reason{failing, starved}, "The server of \"b\" left 12 of 16 connections without an answer in all 6 of its trials; this " +
			"happened in none of 12 trials of other variants; nothing else disturbed the machine", false, answer.Worse, false},
		"failing": {"b", []lab.Reason{failing}, "The server of \"b\" spoiled all 6 of its trials (5 of 900 requests failed and 0 had no answer at the end); this " +
			"happened in none of 12 trials of other variants; nothing else disturbed the machine", false, answer.Worse, true},
		"the baseline": {"go", []lab.Reason{starved}, "Do not rely on this, because the server of \"go\" left 12 of 16 connections without an answer in all 6 of its trials", true,
			answer.Better, true},
		"the machine, too": {"b", []lab.Reason{starved, busy}, "Do not rely on this, because 6 of 18 trials are unreliable (grade F)", true, answer.Worse, false},
		// Its server was slow because the machine was.
		"slow on a busy machine": {"b", []lab.Reason{failing, busy}, "Do not rely on this, because 6 of 18 trials are unreliable (grade F)", true, answer.Better, true},
		"the machine":            {"b", []lab.Reason{busy}, "Do not rely on this, because 6 of 18 trials are unreliable (grade F)", true, answer.Better, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := record(compared("cpu", "b", 0.8, 0.7, 0.9, stats.Different), compared("cpu", "c", 0.9, 0.85, 0.95, stats.Different))
			r.Trials = nil
			for round := 1; round <= 6; round++ {
				for _, arm := range []string{"go", "b", "c"} {
					one := lab.TrialSummary{Slot: lab.Slot{Arm: arm, Level: "c10", Round: round}, Attempt: 1, Grade: lab.GradeA}
					if arm == c.arm {
						one.Grade, one.Reasons = lab.GradeF, c.reasons
					}
					r.Trials = append(r.Trials, one)
				}
			}
			r.Facts = judge.SpoiledFacts(r)
			a := Of(r)
			if !strings.HasPrefix(a.Sentence, c.sentence) || (a.Unreliable != "") != c.unreliable {
				t.Errorf("%q, unreliable: %q", a.Sentence, a.Unreliable)
			}
			if quiet := strings.Contains(a.Next.Says, "nothing else is at work"); quiet != strings.Contains(c.sentence, "grade F") {
				t.Errorf("next: %s", a.Next.Says)
			}
			all := map[string]Standing{}
			for _, s := range Standings(r, a) {
				all[s.Variant] = s
			}
			if s := all["b"]; s.Verdict != c.verdict || s.Unreliable != c.withheld {
				t.Errorf("b: %+v", s)
			}
			if s := all["c"]; s.Verdict != answer.Better || s.Unreliable != c.unreliable {
				t.Errorf("c: %+v", s)
			}
		})
	}
}
