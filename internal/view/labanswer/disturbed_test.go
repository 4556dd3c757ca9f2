package labanswer

import (
	"strings"
	"testing"

	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/stats"
	"dyno/internal/view/answer"
)

// What held the generator up is said once, with what it was; and trials that are unreliable for that
// have no caution of their own, unless they are most.
func TestDisturbedIsSaidOnce(t *testing.T) {
	reason := func(grade lab.Grade, a fact.Args) lab.Reason {
		return lab.Reason{Grade: grade, Says: "busy", Fact: &fact.Fact{Args: a}}
	}
	waits := reason(lab.GradeB, fact.Unscheduled{Percent: 9})
	late := reason(lab.GradeF, fact.SentInTime{Percent: 98, OwnDelay: true})
	failing := reason(lab.GradeF, fact.AnswersLacking{Failed: 5, Sent: 100})
	failing.Server = true
	for name, c := range map[string]struct {
		bad  int // trials of grade F
		why  lab.Reason
		want []string // of the cautions, those about trials
	}{
		"disturbed": {0, late, []string{"Other programs took the generator's CPU in 12 of 12 trials"}},
		"and F for it": {2, late, []string{"Other programs took the generator's CPU in 12 of 12 trials; 2 trials were of grade F: " +
			"2.0 % of the requests due were not sent in time, because the generator was late, although connections were free"}},
		"F for the server": {1, failing, []string{"1 of 12 trials is unreliable (grade F): 5 of 100 requests failed",
			"Other programs took the generator's CPU in 12 of 12 trials"}},
		"most of grade F": {12, late, []string{"12 of 12 trials are unreliable (grade F): 2.0 % of the requests due were not sent in time, because the " +
			"generator was late, although connections were free"}},
	} {
		one := compared("throughput", "b", 0.65, 0.55, 0.85, stats.Different)
		one.Disturbed = 2
		r := record(one)
		for i := range r.Trials {
			r.Trials[i].Grade, r.Trials[i].Reasons = lab.GradeB, []lab.Reason{waits}
			if i < c.bad {
				r.Trials[i].Grade, r.Trials[i].Reasons = lab.GradeF, []lab.Reason{waits, c.why}
			}
		}
		var got []string
		for _, one := range Of(r).Cautions {
			if one.Kind == answer.GradeF || one.Kind == answer.Disturbed {
				got = append(got, one.Text())
			}
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}
